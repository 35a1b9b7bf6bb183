"""tensornetwork: networks of tensors contracted with the TensorFlow backend, and split."""

import numpy as np
import tensorflow as tf
import tensornetwork as tn

tn.set_default_backend("tensorflow")
a = tn.Node(np.arange(6.0).reshape(2, 3))
b = tn.Node(np.arange(12.0).reshape(3, 4))
c = tn.Node(np.ones(4))
edges = [a[1] ^ b[0], b[1] ^ c[0]]
result = tn.contractors.greedy([a, b, c])
print("contracted", np.asarray(result.tensor).tolist())
print("ncon", np.asarray(tn.ncon([np.eye(2), np.ones((2, 3))], [[-1, 1], [1, -2]])).tolist())
matrix = tn.Node(np.array([[3.0, 0.0], [0.0, 2.0]]))
left, right, dropped = tn.split_node(matrix, [matrix[0]], [matrix[1]])
print("split", np.round(np.abs((left @ right).tensor), 4).tolist())


@tf.function
def energy(x):
    first, second = tn.Node(x), tn.Node(x)
    first[0] ^ second[0]
    first[1] ^ second[1]
    return (first @ second).tensor


x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = energy(x)
print("energy", float(y), tape.gradient(y, x).numpy().tolist())
