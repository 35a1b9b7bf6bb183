"""The traces of a function are a table: signature, calls, cost, bytes, how each runs and who called it."""

from intaglio import tf


@tf.function
def f(x, scale):
    return x * scale


f(tf.ones([2]), 2.0)
f(tf.ones([3]), 2.0)
one, two = f.traces
assert one.signature == "x: float32(2,), scale: 2.0"
assert two.milliseconds > 0 and two.where.source == "f(tf.ones([3]), 2.0)"
assert f.traces.bytes == one.bytes + two.bytes
assert "<table>" in f.traces._repr_html_()
