"""A thread runs functions eagerly, refuses new traces, or runs eagerly what has no trace; all functions or one, Keras'
own too, and those that `tf.data` calls for each element."""

import intaglio
from intaglio import tf


@tf.function
def f(x):
    return x + 1


f(tf.zeros([1]))
with intaglio.stance("no_new_traces"):
    f(tf.zeros([1]))
    try:
        f(tf.zeros([2]))
    except intaglio.NewTraceError as e:
        assert "x.shape[0] was 1, now 2" in str(e)
    else:
        raise AssertionError("no error")

with intaglio.stance("eager_on_miss", f):
    f(tf.zeros([2]))

with intaglio.stance("eager"):
    for n in range(5):
        f(tf.zeros([n]))
assert f.experimental_get_tracing_count() == 1

seen = []
with intaglio.stance("eager"):
    dataset = tf.data.Dataset.range(2).map(lambda x: seen.append(x) or x + 1)
assert [int(x) for x in dataset] == [1, 2]
assert [int(x.numpy()) for x in seen[1:]] == [0, 1]
