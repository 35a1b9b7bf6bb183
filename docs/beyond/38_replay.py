"""A recorded call runs again up to a line, with its arguments and variables as they were, in the debugger too."""

import inspect
import os

import intaglio
from intaglio import tf

v = tf.Variable(3.0)


@tf.function
def step(x):
    scaled = x * v
    v.assign(0.0)
    return scaled + 1.0


with intaglio.record_calls() as recorded:
    step(tf.constant(2.0))
    step(tf.constant(5.0))
assert float(v) == 0.0

here = inspect.getsourcefile(step.python_function)
line = step.python_function.__code__.co_firstlineno + 3
stopped = step.replay(recorded.calls[0], until=f"{os.path.basename(here)}:{line}")
assert stopped.where.source == "v.assign(0.0)"
assert float(stopped.values["scaled"]) == 6.0
assert float(v) == 0.0
