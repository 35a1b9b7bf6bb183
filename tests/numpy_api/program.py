"""A program in the manner of the guides on tf.experimental.numpy; program.out is what TensorFlow prints.

path/to/python-with-tensorflow tests/numpy_api/program.py > tests/numpy_api/program.out
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

tnp.experimental_enable_numpy_behavior()

ones = tnp.ones([5, 3], dtype=tnp.float32)
print(ones.shape, ones.ndim, isinstance(ones, tnp.ndarray))
numbers = [tnp.asarray(1, dtype=d) for d in (np.int32, np.int64, np.float32, np.float64)]
for number in numbers:
    print([(number + other).dtype.name for other in numbers])
print((tnp.ones([2, 3]) + tnp.ones([3]) + tnp.ones([1, 2, 1])).shape)

x = tnp.arange(24).reshape(2, 3, 4)
print(x[1, tnp.newaxis, 1:3, ...].shape, x[:, (1, 0, 2, 1), :].shape)
print(x.max(axis=(0, 1)), tnp.concatenate([x[0], x[1]], axis=0).shape)


class Model:
    """Two layers."""

    def __init__(self) -> None:
        state = np.random.RandomState(0)
        self.hidden = tnp.asarray(state.rand(32, 64).astype(np.float32))
        self.output = tnp.asarray(state.rand(64, 3).astype(np.float32))
        self.bias = tnp.zeros([3], dtype=tnp.float32)

    def predict(self, inputs):
        """The output for rows of inputs."""
        layer = tnp.maximum(tnp.matmul(inputs, self.hidden), 0)
        return tnp.matmul(layer, self.output) + self.bias


result = Model().predict(tnp.ones([2, 32], dtype=tnp.float32))
print(
    result.shape, result.dtype, tf.function(Model().predict)(ones[:, :1] * np.ones(32, "f")).shape
)

print(np.sum(ones), type(np.sum(ones)).__name__, tnp.sum(np.ones([2, 3])))
print(np.multiply(ones, 2).dtype, np.arange(3) @ tnp.arange(3), [1, 2, 3] * tnp.arange(3))
print(tf.vectorized_map(lambda row: tnp.sum(row * row), ones))
with tf.GradientTape() as tape:
    weights = tnp.ones([3], dtype=tnp.float32)
    tape.watch(weights)
    squares = tnp.matmul(ones, weights) ** 2
print(tape.jacobian(squares, weights).shape)

print(tnp.isscalar(tnp.sum(ones)), float(tnp.mean(ones)), tnp.linspace(0, 1, 3).tolist())
print(
    tnp.sort(tnp.asarray([3, 1, 2]))[::-1], ones.T.shape, -ones[0], [int(v) for v in tnp.arange(3)]
)
variable = tf.Variable(ones)
variable.assign_add(tnp.ones([5, 3], dtype=tnp.float32))
print(tnp.sum(variable), (variable * 2.5).dtype, tnp.add(variable, 1).dtype, variable[0].shape)
print(tf.reduce_sum(tnp.ones(3)), tnp.einsum("ij->j", ones), sum(tnp.arange(4)))
for i, row in enumerate(tnp.eye(2)):
    print(i, row)
n = tnp.arange(1, 4)
print(5 - n, 2**n, 7 // n, 7 % n, 1 / n, n @ n, n == 2, n >= 2.5, +n, round(n * 0.35, 1))
