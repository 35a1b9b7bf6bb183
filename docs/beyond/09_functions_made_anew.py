"""On request functions that are made again and again with the same code and closure share their traces."""

import intaglio
from intaglio import tf

v = tf.Variable(2.0)


def make(k):
    @tf.function
    def f(x):
        return x * v * k

    return f


with intaglio.generalise("functions"):
    traces = 0
    for _ in range(10):
        f = make(3.0)
        assert float(f(tf.constant(1.0))) == 6.0
        traces += f.experimental_get_tracing_count()
    assert traces == 1
    assert float(make(4.0)(tf.constant(1.0))) == 8.0  # another closure
