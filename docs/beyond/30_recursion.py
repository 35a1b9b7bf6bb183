"""A function may call itself as deep as a tensor decides, on request; with gradients, and a limit that is named."""

import intaglio
from intaglio import tf


@tf.function
def power(x, n):
    if n == 0:
        return tf.ones_like(x)
    return x * power(x, n - 1)


with intaglio.recursion():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, tf.constant(5))
    assert (float(y), float(tape.gradient(y, x))) == (32.0, 80.0)
    try:
        power(x, tf.constant(-1))
    except Exception as e:
        assert "deep" in str(e) or "depth" in str(e), e
    else:
        raise AssertionError("no error")
