"""tensorflow_graphics: rotations, and a loss between point sets with its gradient."""

import numpy as np
import tensorflow as tf
from tensorflow_graphics.geometry.transformation import quaternion, rotation_matrix_3d
from tensorflow_graphics.nn.loss import chamfer_distance

angles = tf.constant([[0.1, 0.2, 0.3], [0.0, 1.0, -1.0]])
q = quaternion.from_euler(angles)
print("quaternion", np.round(q, 5).tolist())
print("rotated", np.round(quaternion.rotate(tf.ones([2, 3]), q), 5).tolist())
matrix = rotation_matrix_3d.from_euler(angles)
print("valid", np.asarray(rotation_matrix_3d.is_valid(matrix)).tolist())
a, b = tf.reshape(tf.range(12.0), [4, 3]), tf.reshape(tf.range(9.0), [3, 3]) + 0.5
with tf.GradientTape() as tape:
    tape.watch(a)
    loss = chamfer_distance.evaluate(a, b)
print("chamfer", round(float(loss), 5), np.round(tape.gradient(loss, a), 5).tolist())
