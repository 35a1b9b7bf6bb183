"""Breakpoints and debuggers stop on the program's lines, while a function is traced and when `f.debug` runs the same code on values."""

import sys

from intaglio import tf


@tf.function
def f(x):
    while x > 1.0:
        x = x / 2.0
    return x


here = f.python_function.__code__
lines = []


def step(frame, event, arg):
    if frame.f_code.co_filename != here.co_filename:
        return None
    if event == "line":
        lines.append(frame.f_lineno - here.co_firstlineno)
    return step


before = sys.gettrace()
sys.settrace(step)
try:
    traced = f(tf.constant(8.0))
    while_tracing, lines = lines, []
    value = f.debug(tf.constant(8.0))
finally:
    sys.settrace(before)
assert {2, 3, 4} <= set(while_tracing)
assert lines.count(3) == 3 and float(value) == float(traced) == 1.0
