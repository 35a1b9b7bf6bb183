"""The op and the line that first gave a NaN or an infinity are named, with the iteration and the inputs, in compiled functions too."""

import intaglio
from intaglio import tf


@tf.function(jit_compile=True)
def f(x):
    for _ in tf.range(5):
        x = tf.sqrt(x - 1.0)
    return x


try:
    with intaglio.check_nans():
        f(tf.constant([10.0, 300.0]))
except intaglio.NonFiniteError as e:
    assert (e.op, e.kind) == ("Sqrt", "NaN")
    assert e.where.source == "x = tf.sqrt(x - 1.0)"
    assert e.path[0].startswith("in iteration 3 of the loop")
else:
    raise AssertionError("no error")
