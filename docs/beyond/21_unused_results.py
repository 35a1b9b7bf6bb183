"""A result without which the call does nothing is missed where it is not used: the error has the line, and what to write."""

import intaglio
from intaglio import tf


@tf.function
def f(x):
    found = tf.TensorArray(tf.float32, 1)
    found.write(0, x)
    return found.stack()


try:
    f(tf.constant(1.0))
except ValueError as e:
    assert "the result of `found.write(0, x)` is not used" in str(e)
    assert "Write `found = found.write(0, x)`" in str(e)
else:
    raise AssertionError("no error")
with intaglio.strict():  # as in TensorFlow: without a word
    tf.function(f.python_function)(tf.constant(1.0))
