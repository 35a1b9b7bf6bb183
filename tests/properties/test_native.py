"""Statements in native code: compiled functions do what the Python code does on tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native import tiers

from .programs import Outcome, examples, load, same
from .statements import arguments, programs
from .test_statements import state_of, tensors, variables


@pytest.fixture(params=[True, None], scope="module", ids=["jit", "ahead"])
def jit_compile(request: pytest.FixtureRequest) -> Iterator[bool | None]:
    """Functions are compiled as that is asked for, or where it pays: always."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", float("inf"))
        yield request.param


def agree(source: str, calls: list[Any], jit_compile: bool | None) -> None:
    """Calls in order, twice each, give the same and leave the variables the same.

    Sines are left out: native ones may differ from NumPy's in the last place.
    """
    source = source.replace("tf.sin", "tf.abs")
    one, other = variables(), variables()
    eager = load(source, **one)
    compiled = tf.function(load(source, **other), jit_compile=jit_compile)
    for values in [*calls, *calls]:
        want = Outcome(lambda v=values: (eager(*tensors(v)), state_of(one)))
        got = Outcome(lambda v=values: (compiled(*tensors(v)), state_of(other)))
        assert same(want, got), (values, want, got)


@examples(1.0)
@given(programs(returns=False), st.lists(arguments, min_size=1, max_size=2))
def test_eager_and_native_agree(jit_compile: bool | None, source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls, jit_compile)


@examples(0.5)
@given(programs(returns=True, variables=False), st.lists(arguments, min_size=1, max_size=2))
def test_returns_from_anywhere(jit_compile: bool | None, source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls, jit_compile)


@examples(0.5)
@given(programs(returns=True, raises=True), st.lists(arguments, min_size=1, max_size=2))
def test_exceptions_and_assertions(jit_compile: bool | None, source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls, jit_compile)
