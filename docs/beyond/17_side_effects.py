"""What a function did to Python's world while it was traced is listed with its line, is an error on request,
or is repeated at each call where it is a counter."""

import intaglio
from intaglio import tf


class Model:
    calls = 0


model, log = Model(), []


@tf.function
def f(x):
    model.calls += 1
    log.append("called")
    print("tracing")
    return x


x = tf.constant(1)
f(x)
assert [e.kind for e in f.side_effects] == ["attribute", "container", "print"]
assert "model.calls += 1: ran once, when the function was traced" in str(f.side_effects[0])

with intaglio.effects("replay"):
    for _ in range(9):
        f(x)
assert model.calls == 10

with intaglio.effects("error"):
    try:
        f(tf.constant(1.0))
    except intaglio.SideEffectError as e:
        assert "model.calls += 1" in str(e)
    else:
        raise AssertionError("no error")
