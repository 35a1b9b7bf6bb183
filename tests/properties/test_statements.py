"""Statements: traced code does what the Python code does on tensors."""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same
from .statements import arguments, programs


def variables() -> dict[str, Any]:
    return {
        "w": tf.Variable(0.5),
        "n": tf.Variable(2),
        "m": tf.Variable([0.25, -0.5, 1.0]),
    }


def tensors(values: Any) -> list[Any]:
    a, b, v, i, j = values
    return [
        tf.constant(a),
        tf.constant(b),
        tf.constant(v),
        tf.constant(i),
        tf.constant(j),
    ]


def state_of(space: dict[str, Any]) -> list[Any]:
    return list(space.values())


def agree(source: str, calls: list[Any], allowed: Any = lambda error: False) -> None:
    """Calls in order, twice each, give the same and leave the variables the same."""
    one, other = variables(), variables()
    eager, traced = load(source, **one), tf.function(load(source, **other))
    for values in [*calls, *calls]:
        want = Outcome(lambda v=values: (eager(*tensors(v)), state_of(one)))
        got = Outcome(lambda v=values: (traced(*tensors(v)), state_of(other)))
        if got.error is not None and allowed(got.error):
            return
        assert same(want, got), (values, want, got)


@examples(3.0)
@given(programs(returns=False), st.lists(arguments, min_size=1, max_size=3))
def test_eager_and_traced_agree(source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls)
