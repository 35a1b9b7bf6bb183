"""Statements between ops of the host: what is numeric there is machine code, and gives the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native import interpreting, tiers
from intaglio.native.passes import numeric_cores
from tests.native import background

from .programs import Outcome, examples, load, same
from .statements import arguments, programs
from .test_statements import state_of, tensors, variables


@pytest.fixture(params=["counted", "ahead", "parts"], scope="module", autouse=True)
def tier(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every region is a core. They change over soon, or have code before the first call, or in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numeric_cores, "MIN_CORE_OPS", 1)
        patch.setattr(numeric_cores, "is_profitable", lambda nodes, users: True)
        background.at_once(patch)
        patch.setattr(tiers, "HOT_SHARE", 0.0)
        patch.setattr(interpreting, "MIN_EXACT_OPS", 1)
        ahead = request.param == "ahead"
        patch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", float("inf") if ahead else 0.0)
        if request.param != "parts":
            patch.setattr(tiers, "MIN_CALLS", 1)
            patch.setattr(tiers, "MAX_CALLS", 1)
        least = float("inf") if request.param == "parts" else 0.0
        patch.setattr(tiers, "MIN_INTERPRETED_SECONDS", least)
        yield request.param


def batches(values: Any, count: int = 1) -> Any:
    return tf.data.Dataset.from_tensors(tuple(tensors(values))).repeat(count)


def exact(source: str) -> str:
    """The program without sines, of which native ones may differ from NumPy's in the last place."""
    return source.replace("tf.sin", "tf.abs")


@examples(0.5)
@given(programs(returns=False), st.lists(arguments, min_size=1, max_size=2), st.booleans())
def test_a_step_between_an_iterator_and_python(
    source: str, calls: list[Any], has_end: bool
) -> None:
    note(source)
    one, other = variables(), variables()
    eager, traced = load(exact(source), **one), load(exact(source), **other)
    seen: list[Any] = []

    @tf.function
    def step(iterator: Any) -> Any:
        a, b, v, i, j = next(iterator)
        result = traced(a, b, v, i, j)
        if has_end:
            tf.py_function(lambda x: seen.append(x.numpy()), [other["w"] + 0.0], [])
        return result

    def once(values: Any) -> Any:
        return step(iter(batches(values))), state_of(other)

    for values in calls * 5:
        want = Outcome(lambda v=values: (eager(*tensors(v)), state_of(one)))
        got = Outcome(lambda v=values: once(v))
        assert same(want, got), (values, want, got)
        if has_end and got.error is None:
            assert seen.pop() == other["w"].numpy()


@examples(0.5)
@given(programs(returns=False), st.lists(arguments, min_size=1, max_size=2))
def test_a_loop_over_a_dataset(source: str, calls: list[Any]) -> None:
    note(source)
    one, other = variables(), variables()
    eager, traced = load(exact(source), **one), load(exact(source), **other)

    @tf.function
    def loop(dataset: Any) -> None:
        for a, b, v, i, j in dataset:
            traced(a, b, v, i, j)

    def steps(values: Any) -> Any:
        for _ in range(3):
            eager(*tensors(values))
        return state_of(one)

    def staged(values: Any) -> Any:
        loop(batches(values, 3))
        return state_of(other)

    for values in calls * 3:
        want = Outcome(lambda v=values: steps(v))
        got = Outcome(lambda v=values: staged(v))
        assert same(want, got), (values, want, got)
