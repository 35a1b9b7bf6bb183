"""`return` and `break` under a tensor's condition work in loops of the graph and in Python's loops."""

from intaglio import tf


@tf.function
def first_above(values, limit):
    for value in values:
        if value > limit:
            return value
    return tf.constant(-1)


@tf.function
def doubled_up_to(x):
    for _ in range(10):  # a loop of Python
        x = x * 2
        if x > 50:
            break
    return x


values = tf.constant([1, 5, 8])
assert [int(first_above(values, tf.constant(n))) for n in (4, 9)] == [5, -1]
assert [int(doubled_up_to(tf.constant(n))) for n in (10, 1, 60)] == [80, 64, 120]
