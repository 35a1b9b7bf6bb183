"""The error about a variable that each call would make has the lines of both, and what to keep it as; on request each line makes its variable once."""

import intaglio
from intaglio import tf


class Layer:
    def __init__(self):
        self.w = None

    @tf.function
    def scaled(self, x):
        self.w = tf.Variable(2.0)
        return x * self.w


try:
    Layer().scaled(tf.constant(3.0))
except ValueError as e:
    notes = "\n".join(e.__notes__)
    assert "Make self.w once" in notes and "The first trace has made 1, in" in notes
else:
    raise AssertionError("no error")

with intaglio.variables("once_per_site"):
    layer = Layer()
    for x in (tf.constant(3.0), tf.constant([3.0]), tf.constant(4.0)):
        layer.scaled(x)
    first = layer.w
    layer.scaled(tf.constant([[1.0]]))
    assert layer.w is first
