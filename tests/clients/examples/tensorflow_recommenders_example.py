"""tensorflow_recommenders: a retrieval task, its loss, and a brute-force index."""

import numpy as np
import tensorflow as tf
import tensorflow_recommenders as tfrs

queries = tf.reshape(tf.sin(tf.range(12.0)), [3, 4])
candidates = tf.reshape(tf.cos(tf.range(20.0)), [5, 4])
task = tfrs.tasks.Retrieval(
    metrics=tfrs.metrics.FactorizedTopK(
        tf.data.Dataset.from_tensor_slices(candidates).batch(2), ks=(1, 3)
    )
)
print("loss", round(float(task(queries, candidates[:3])), 5))
print("metrics", [round(float(m.result()), 4) for m in task.metrics])
index = tfrs.layers.factorized_top_k.BruteForce(k=2)
index.index(candidates, tf.constant(["a", "b", "c", "d", "e"]))
scores, names = index(queries)
print("top", np.round(scores, 4).tolist(), names.numpy().tolist())
cross = tfrs.layers.dcn.Cross(kernel_initializer="ones")
print("cross", np.round(cross(queries, queries), 4).tolist())
