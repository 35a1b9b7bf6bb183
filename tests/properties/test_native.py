"""Statements in native code: compiled functions do what the Python code does on tensors."""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same
from .statements import arguments, programs
from .test_statements import state_of, tensors, variables


def agree(source: str, calls: list[Any]) -> None:
    """Calls in order, twice each, give the same and leave the variables the same.

    Sines are left out: native ones may differ from NumPy's in the last place.
    """
    source = source.replace("tf.sin", "tf.abs")
    one, other = variables(), variables()
    eager = load(source, **one)
    compiled = tf.function(load(source, **other), jit_compile=True)
    for values in [*calls, *calls]:
        want = Outcome(lambda v=values: (eager(*tensors(v)), state_of(one)))
        got = Outcome(lambda v=values: (compiled(*tensors(v)), state_of(other)))
        assert same(want, got), (values, want, got)


@examples(1.0)
@given(programs(returns=False), st.lists(arguments, min_size=1, max_size=2))
def test_eager_and_native_agree(source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls)


@examples(0.5)
@given(programs(returns=True, variables=False), st.lists(arguments, min_size=1, max_size=2))
def test_returns_from_anywhere(source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls)


@examples(0.5)
@given(programs(returns=True, raises=True), st.lists(arguments, min_size=1, max_size=2))
def test_exceptions_and_assertions(source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls)
