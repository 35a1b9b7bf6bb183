"""A block, or the environment, limits how often functions are traced again: the call beyond raises with the cause of every
trace, warns, or runs eagerly; for each function or each line that calls it."""

import intaglio
from intaglio import tf


@tf.function
def f(x):
    return x + 1


with intaglio.retrace_budget(2):
    for n in range(3):
        f(tf.zeros([n]))
    try:
        f(tf.zeros([3]))
    except intaglio.RetraceBudgetError as e:
        assert "x.shape[0] was 0, now 1" in str(e)
        assert "x.shape[0] was 2, now 3" in str(e)
    else:
        raise AssertionError("no error")

with intaglio.retrace_budget(0, "eager", per="call_site"):
    assert f(tf.zeros([4])).shape == [4]
assert f.experimental_get_tracing_count() == 3
