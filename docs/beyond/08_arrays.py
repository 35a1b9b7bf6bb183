"""Arrays of NumPy are arguments without a copy or a slow path, and results are never parts of them; arguments that are converted at each call are named."""

import numpy as np

import intaglio
from intaglio import tf


@tf.function
def f(x):
    return tf.reshape(x, [-1]), x * 2.0


x = np.ones((64, 64), np.float32)
for _ in range(20):
    flat, doubled = f(x)
general = f.traces[0].general_calls
flat, doubled = f(x)
assert f.traces[0].general_calls == general and general < 20  # no binding, no conversion
x[:] = 5.0
assert float(flat[0]) == 1.0 and float(doubled[0, 0]) == 2.0
assert intaglio.overhead(f, x).path == "generated Python"


@tf.function(input_signature=[tf.TensorSpec([3])])
def g(x):
    return x + 1.0


for _ in range(20):
    g([1.0, 2.0, 3.0])
assert (
    g.explain().notes[-1].startswith("slow calls: x is converted or compared at each of them, 20")
)
