"""`intaglio.generalise("functions")`: equal functions share their traces, where it is safe."""

from __future__ import annotations

from typing import Any

import pytest

import intaglio
from intaglio import tf
from intaglio.function import sharing


@pytest.fixture(autouse=True)
def shared() -> Any:
    with intaglio.generalise("functions"):
        yield


SCALE = 2.0


def ran(make: Any, *args: Any) -> tuple[list[Any], int]:
    """What three functions made alike give, and how often their Python ran."""
    results: list[Any] = []
    traced = 0
    for _ in range(3):
        f = make()
        results.append(f(*args).numpy().tolist())
        traced += f.experimental_get_tracing_count()
    return results, traced


def test_made_in_a_loop() -> None:
    v = tf.Variable([1.0])

    def make() -> Any:
        @tf.function
        def step(x: Any) -> Any:
            return x * v * SCALE

        return step

    assert ran(make, tf.constant([3.0])) == ([[6.0]] * 3, 1)
    v.assign([2.0])
    assert ran(make, tf.constant([3.0])) == ([[12.0]] * 3, 0)


def test_later_traces_are_shared_too() -> None:
    def make() -> Any:
        return tf.function(lambda x: x + 1)

    first, second = make(), make()
    first(tf.constant(1))
    second(tf.constant([1]))
    assert (first.experimental_get_tracing_count(), second.experimental_get_tracing_count()) == (
        1,
        1,
    )
    assert first(tf.constant([2])).numpy().tolist() == [3]
    assert len(first._list_all_concrete_functions()) == 2
    with intaglio.trace_cache(max_traces=2):
        pass
    assert len(second._list_all_concrete_functions()) <= 2


@pytest.mark.parametrize("autograph", [True, False])
def test_other_closures_have_their_own(autograph: bool) -> None:
    def make(k: Any) -> Any:
        return tf.function(lambda x: x * k, autograph=autograph)

    assert [int(make(k)(tf.constant(3))) for k in (1, 2, 1, 2)] == [3, 6, 3, 6]


def test_other_options_and_defaults_have_their_own() -> None:
    def make(k: int, jit: bool | None) -> Any:
        def f(x: Any, n: int = k) -> Any:
            return x * n

        return tf.function(f, jit_compile=jit)

    made = [(k, jit) for k in (1, 2) for jit in (None, True)]
    functions = [make(*m) for m in made]
    assert [int(f(tf.constant(3))) for f in functions] == [3, 3, 6, 6]
    assert all(f.experimental_get_tracing_count() == 1 for f in functions)


def test_a_global_that_has_changed() -> None:
    global SCALE
    before = SCALE

    def make() -> Any:
        return tf.function(lambda x: x + SCALE)

    try:
        assert float(make()(tf.constant(1.0))) == 3.0
        SCALE = 5.0
        assert float(make()(tf.constant(1.0))) == 6.0
    finally:
        SCALE = before


def test_side_effects_happen_for_each() -> None:
    calls: list[int] = []

    def make() -> Any:
        @tf.function
        def f(x: Any) -> Any:
            calls.append(1)
            return x

        return f

    assert ran(make, tf.constant(1)) == ([1, 1, 1], 3)
    assert len(calls) == 3


def test_variables_are_made_for_each() -> None:
    def make() -> Any:
        kept: list[Any] = []

        @tf.function
        def f(x: Any) -> Any:
            if not kept:
                kept.append(tf.Variable(0))
            return kept[0].assign_add(x)

        return f

    results, _ = ran(make, tf.constant(1))
    assert results == [1, 1, 1]


def test_random_numbers_begin_anew_for_each() -> None:
    def numbers() -> Any:
        tf.random.set_seed(1)
        return tf.function(lambda: tf.random.uniform([2]))().numpy().tolist()

    assert numbers() == numbers()


def _adding(k: int) -> Any:
    return tf.function(lambda x: x + k)


def test_off_by_default() -> None:
    with intaglio.generalise("numbers"):
        assert ran(lambda: tf.function(lambda x: x - 1), tf.constant(1)) == ([0, 0, 0], 3)


def test_functions_that_are_dropped_do_not_pile_up() -> None:
    for i in range(sharing.MAX_FUNCTIONS + 10):
        _adding(i)(tf.constant(1))
    assert len(sharing._published) <= sharing.MAX_FUNCTIONS
