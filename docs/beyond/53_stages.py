"""A function ahead of time, stage by stage: traced, optimized, compiled; each is printed, has a cost, is called and pickled."""

import pickle

from intaglio import tf


@tf.function
def f(x, w):
    return tf.nn.relu(x @ w) + 0.0 * tf.reduce_sum(w * 1.0)


traced = f.trace(tf.TensorSpec([8, 16]), tf.TensorSpec([16, 4]))
optimized = traced.optimize()
compiled = optimized.compile()
assert [s.state for s in (traced, optimized, compiled)] == ["traced", "optimized", "compiled"]
assert "MatMul" in str(traced) and str(traced) != str(optimized)
assert traced.cost().flops >= 2 * 8 * 16 * 4 and traced.cost().open == 0
assert compiled.cost().peak_bytes <= traced.cost().peak_bytes
x, w = tf.ones([8, 16]), tf.ones([16, 4])
assert compiled(x, w).numpy().tolist() == f(x, w).numpy().tolist()
(again,) = pickle.loads(pickle.dumps(compiled))(x, w)
assert again.numpy().tolist() == f(x, w).numpy().tolist()
