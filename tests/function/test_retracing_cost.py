"""A trace costs the same however many there are: counted in calls of Python functions, not in time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf
from intaglio.function import cache

BEFORE, COUNTED = 600, 20
# How much more the later traces may cost: containers that grow are copied now and then.
TOLERANCE = 1.05


class Thing:
    """An object that is an argument by its identity."""


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions of Python and C are called."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


things = [Thing() for _ in range(BEFORE + 4 * COUNTED)]
X = tf.ones([2])
ARGUMENTS: dict[str, Callable[[int], Any]] = {
    "numbers": lambda i: i,
    "texts": lambda i: f"text {i}",
    "lengths": lambda i: tf.zeros([i + 1]),
    "ranks of lists": lambda i: [X] * (i % 7) + [tf.zeros([i + 1])],
    "dicts": lambda i: {"a": X, "b": {"c": i}},
    "objects": lambda i: things[i],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ARGUMENTS)
def test_a_trace_costs_the_same_after_hundreds(kind: str) -> None:
    make = ARGUMENTS[kind]
    given = [make(i) for i in range(BEFORE + 4 * COUNTED)]
    f = tf.function(lambda value: X + 1.0)
    g = tf.function(lambda value: X + 1.0, autograph=False)
    for one in (f, g):
        for value in given[:COUNTED]:
            one(value)
        few = calls_of(lambda one=one: [one(v) for v in given[COUNTED : 2 * COUNTED]])
        for value in given[2 * COUNTED : -COUNTED]:
            one(value)
        many = calls_of(lambda one=one: [one(v) for v in given[-COUNTED:]])
        assert one.experimental_get_tracing_count() == len(given)
        assert many <= TOLERANCE * few


@pytest.mark.filterwarnings("ignore")
def test_objects_that_are_gone_are_forgotten() -> None:
    f = tf.function(lambda value: X + 1.0)
    kept = [Thing() for _ in range(5)]
    for thing in kept:
        f(thing)
    for _ in range(200):
        f(Thing())
    assert len(f._cache) <= 4 * len(kept)
    traced = f.experimental_get_tracing_count()
    for thing in kept:
        f(thing)
    assert f.experimental_get_tracing_count() == traced


def test_general_traces_are_found_among_many() -> None:
    f = tf.function(lambda x: x + 1.0)
    for length in range(1, 30):
        f.get_concrete_function(tf.TensorSpec([length]))
    vector = f.get_concrete_function(tf.TensorSpec([None]))
    anything = f.get_concrete_function(tf.TensorSpec(None))
    rows = f.get_concrete_function(tf.TensorSpec([None, 3]))
    count = f.experimental_get_tracing_count()
    assert f.get_concrete_function(tf.TensorSpec([50])) is vector
    assert f.get_concrete_function(tf.TensorSpec([2, 2, 2])) is anything
    assert f.get_concrete_function(tf.TensorSpec([2, 3])) is rows
    assert f.get_concrete_function(tf.TensorSpec([7])) is not vector
    assert f.experimental_get_tracing_count() == count


def test_a_new_trace_is_found_by_calls_that_had_another() -> None:
    table = cache.TraceCache()

    def key(*dims: int | None) -> Any:
        return ((), tf.TensorSpec(dims))

    table.add(key(None, None), "any")
    assert table.find(key(2, 3)) == "any"
    table.add(key(None, 3), "three")
    assert table.find(key(2, 3)) == "three"
    assert table.find(key(2, 4)) == "any"
    table.add(key(2, 3), "own")
    assert table.find(key(2, 3)) == "own"
    assert [*table] == ["any", "three", "own"]
