"""On request a dimension is left open from the second size on, for all functions; what was decided is listed."""

import intaglio
from intaglio import tf


@tf.function
def f(x):
    return tf.reduce_sum(x, 0)


with intaglio.generalise("dimensions"):
    for n in range(1, 13):
        f(tf.ones([n, 3]))
assert f.experimental_get_tracing_count() == 2
assert [str(d) for d in f.generalised] == ["x.shape[0]: left open from the second size on"]
