"""Statements in native code: compiled functions do what the Python code does on tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native import interpreting, tiers
from tests.native import background

from .programs import Outcome, examples, load, same
from .statements import arguments, programs
from .test_statements import state_of, tensors, variables


@pytest.fixture(params=["jit", "ahead", "parts"], scope="module")
def tier(request: pytest.FixtureRequest) -> Iterator[str]:
    """Functions are compiled as that is asked for; or where it pays, always; or in parts, at once."""
    parts = request.param == "parts"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", 0.0 if parts else float("inf"))
        if parts:
            patch.setattr(tiers, "HOT_SHARE", 0.0)
            patch.setattr(tiers, "MIN_INTERPRETED_SECONDS", float("inf"))
            patch.setattr(interpreting, "MIN_EXACT_OPS", 1)
            background.at_once(patch)
        yield request.param


def agree(source: str, calls: list[Any], tier: str) -> None:
    """Calls in order, several times each, give the same and leave the variables the same.

    Sines stay NumPy's where parts are compiled. Elsewhere they are left out: native ones may differ from
    NumPy's in the last place.
    """
    jit_compile, rounds = True if tier == "jit" else None, 2
    if tier == "parts":  # the second call asks for the code
        rounds = 4
    else:
        source = source.replace("tf.sin", "tf.abs")
    one, other = variables(), variables()
    eager = load(source, **one)
    compiled = tf.function(load(source, **other), jit_compile=jit_compile)
    for values in calls * rounds:
        want = Outcome(lambda v=values: (eager(*tensors(v)), state_of(one)))
        got = Outcome(lambda v=values: (compiled(*tensors(v)), state_of(other)))
        assert same(want, got), (values, want, got)


@examples(1.0)
@given(programs(returns=False), st.lists(arguments, min_size=1, max_size=2))
def test_eager_and_native_agree(tier: str, source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls, tier)


@examples(0.5)
@given(programs(returns=True, variables=False), st.lists(arguments, min_size=1, max_size=2))
def test_returns_from_anywhere(tier: str, source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls, tier)


@examples(0.5)
@given(programs(returns=True, raises=True), st.lists(arguments, min_size=1, max_size=2))
def test_exceptions_and_assertions(tier: str, source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls, tier)
