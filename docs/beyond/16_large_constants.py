"""Constants of a megabyte and more are listed with line, bytes and number of traces; equal ones share memory."""

import numpy as np

from intaglio import tf

table = np.ones((1000, 1000), np.float32)


@tf.function
def f(x):
    return tf.reduce_sum(tf.constant(table) * x)


f(tf.constant(1.0))
f(tf.constant([1.0]))
(constant,) = f.constants
assert (constant.bytes, constant.traces) == (4_000_000, 2)
assert constant.where.source == "return tf.reduce_sum(tf.constant(table) * x)"
assert str(constant).endswith("4.0 MB, in 2 traces")
