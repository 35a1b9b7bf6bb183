"""Indices and shapes are checked in every mode, in machine code too: nothing is read outside of an array."""

from intaglio import tf

x = tf.constant([1.0, 2.0, 3.0])


def third(i):
    return tf.gather(x, i)


for jit in (None, True):
    f = tf.function(third, jit_compile=jit)
    for _ in range(3):
        assert float(f(tf.constant(2))) == 3.0
        try:
            f(tf.constant(3))
        except tf.errors.InvalidArgumentError as e:
            assert "indices = 3 is not in [0, 3)" in e.message
        else:
            raise AssertionError("no error")
