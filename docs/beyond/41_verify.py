"""A call is run eagerly, as a graph, optimized and as machine code; what differs is named with its op and line."""

import intaglio
from intaglio import tf


class Model:
    rate = 1.0

    @tf.function
    def step(self, x):
        y = tf.tanh(x)
        return y * self.rate


model, x = Model(), tf.constant([1.0, 2.0])
assert intaglio.verify(model.step, x)
with intaglio.stance("verify"):  # all calls of the block
    model.step(x)

model.rate = 2.0
with intaglio.captures("freeze"):
    found = intaglio.verify(model.step, x)
(difference,) = found.differences
assert (difference.mode, difference.reference, difference.op) == ("graph", "eager", "Mul")
assert difference.where.source == "return y * self.rate"
