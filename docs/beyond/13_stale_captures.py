"""A changed global, variable of a closure or attribute that a trace has read is noticed: the call warns
with the old value, the new one and the line, makes another trace, or raises."""

import intaglio
from intaglio import tf


class Model:
    def __init__(self):
        self.k = 1

    @tf.function
    def scaled(self, x):
        return x * self.k


model = Model()
x = tf.constant(2)
assert int(model.scaled(x)) == 2
(read,) = model.scaled.captures
assert (read.name, read.before(), read.where.source) == ("self.k", "1", "return x * self.k")

model.k = 10
assert int(model.scaled(x)) == 2  # as in TensorFlow, with one warning

with intaglio.captures("error"):
    try:
        model.scaled(x)
    except intaglio.StaleCaptureError as e:
        assert f"self.k: 1 -> 10 (read at {read.where.short})" in str(e)
    else:
        raise AssertionError("no error")

with intaglio.captures("retrace"):
    assert int(model.scaled(x)) == 20
    model.k = 1
    assert int(model.scaled(x)) == 2  # the first trace again
    assert model.scaled.experimental_get_tracing_count() == 2
