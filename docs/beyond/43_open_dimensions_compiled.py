"""Compiled functions take open dimensions, and run what has no machine code in the interpreter: the report lists it."""

import numpy as np

from intaglio import tf


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, None])])
def f(x):
    return tf.reduce_sum(tf.nn.softmax(x) * tf.cast(tf.shape(x)[0], tf.float32), 1)


for rows in range(1, 40):
    found = f(tf.ones([rows, 3]))
    assert np.allclose(found.numpy(), rows)
assert f.experimental_get_tracing_count() == 1
assert "machine code" in f.compile_report()


@tf.function(jit_compile=True)
def mixed(x):
    return tf.unique(tf.cast(x * 2.0, tf.int32))[0]


assert mixed(tf.constant([1.0, 1.0, 2.0])).numpy().tolist() == [2, 4]
assert "Unique" in mixed.compile_report()
