"""tensorflow_model_optimization: a model is pruned while it is trained, and weights are clustered."""

import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot

x = np.linspace(-1, 1, 32, dtype="float32").reshape(8, 4)
dense = tf.keras.layers.Dense(4, kernel_initializer=tf.keras.initializers.RandomNormal(seed=1))
model = tf.keras.Sequential([tf.keras.Input((4,)), dense])
schedule = tfmot.sparsity.keras.ConstantSparsity(0.5, 0, frequency=1)
pruned = tfmot.sparsity.keras.prune_low_magnitude(model, pruning_schedule=schedule)
pruned.compile("sgd", "mse")
history = pruned.fit(
    x, x, epochs=2, verbose=0, shuffle=False, callbacks=[tfmot.sparsity.keras.UpdatePruningStep()]
)
print("loss", np.round(history.history["loss"], 4).tolist())
stripped = tfmot.sparsity.keras.strip_pruning(pruned)
print("zeros", int(np.sum(stripped.get_weights()[0] == 0)))
clustered = tfmot.clustering.keras.cluster_weights(
    stripped, 3, tfmot.clustering.keras.CentroidInitialization.LINEAR
)
print(
    "clusters", len(np.unique(tfmot.clustering.keras.strip_clustering(clustered).get_weights()[0]))
)
