"""A name may be None before a branch or loop of the graph, and a tensor after it; reading what is not there has its own error."""

from intaglio import tf


@tf.function
def best(values, limit):
    found = None
    for value in values:
        if value > limit and (found is None or value > found):
            found = value
    if found is None:
        return tf.constant(-1)
    return found


assert [int(best(tf.constant([1, 5, 3]), tf.constant(n))) for n in (2, 9)] == [5, -1]


@tf.function
def careless(flag):
    x = None
    if flag:
        x = tf.constant(1)
    return x + 1


assert int(careless(tf.constant(True))) == 2
try:
    careless(tf.constant(False))
except tf.errors.InvalidArgumentError as e:
    assert "x" in e.message and "None" in e.message, e.message
else:
    raise AssertionError("no error")
