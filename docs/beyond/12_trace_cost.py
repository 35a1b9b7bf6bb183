"""Tracing an op takes a few dozen calls of Python's, and a gradient is built only where it is asked for."""

import sys

from intaglio import tf

calls = 0


def count(frame, event, arg):
    global calls
    calls += event == "call"


def traced(n):
    """The calls of Python functions that tracing n additions takes."""
    global calls

    def f(x):
        for _ in range(n):
            x = x + x
        return x

    function, spec = tf.function(f), tf.TensorSpec([4])
    before, calls = sys.getprofile(), 0
    sys.setprofile(count)
    try:
        trace = function.get_concrete_function(spec)
    finally:
        sys.setprofile(before)
    return calls, trace


traced(10)
few, _ = traced(100)
many, trace = traced(300)
assert (many - few) / 200 < 80

x = tf.ones([4])
trace(x)


def gradients():
    return [
        key for key in trace.frozen.derived if isinstance(key, tuple) and key[0] == "derivative"
    ]


assert not gradients()
with tf.GradientTape() as tape:
    tape.watch(x)
    y = trace(x)
tape.gradient(y, x)
assert len(gradients()) == 1
