"""On request Python numbers that are only data share one trace; of others the line that needs the value is named."""

import intaglio
from intaglio import tf


@tf.function
def step(x, rate, layers):
    for _ in range(layers):
        x = tf.tanh(x)
    return x * rate


x = tf.constant(1.0)
with intaglio.generalise("numbers"):
    for n in range(1, 13):
        step(x, n / 10, 2)
assert step.experimental_get_tracing_count() == 1
layers, rate = sorted(step.generalised)
assert rate.general
assert not layers.general
assert layers.where.source == "for _ in range(layers):"
