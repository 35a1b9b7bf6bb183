"""A loop of Python that has made many nodes is named, with the loop of the graph to write instead."""

from intaglio import tf


@tf.function
def unrolled(x):
    for _ in range(64):
        x = tf.sin(x) + 1.0
    return x


@tf.function
def looped(x):
    for _ in tf.range(64):
        x = tf.sin(x) + 1.0
    return x


x = tf.constant([0.5])
assert unrolled(x).numpy().tolist() == looped(x).numpy().tolist()
(advice,) = unrolled.trace_profile().advice
assert "ran 64 times while tracing" in advice and "tf.range" in advice
assert looped.trace_profile().advice == ()
