"""Random programs of several lists: eager = graph = machine code = what changes over to it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note

from intaglio import tf
from intaglio.native import tiers

from .lists import programs
from .programs import Outcome, examples, load


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs of training are compiled after two calls, and change over after as many more."""
    monkeypatch.setattr(tiers, "MIN_CALLS", 2)
    monkeypatch.setattr(tiers, "MAX_CALLS", 2)
    monkeypatch.setattr(tiers, "MIN_INTERPRETED_SECONDS", 0.0)


def arguments(n: int) -> tuple[Any, ...]:
    x = np.linspace(-1.0, 1.5, 12, dtype=np.float32).reshape(3, 4)
    y = np.linspace(0.5, -1.0, 5, dtype=np.float32)
    return tf.constant(x), tf.constant(y), tf.constant(n)


def with_gradients(f: Any) -> Any:
    def both(x, y, n):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            results = f(x, y, n)
        return [*results, *tape.gradient(results, [x, y], unconnected_gradients="zero")]

    return both


def training(f: Any) -> Any:
    """The function, which changes a variable: such graphs become machine code by themselves."""
    calls = tf.Variable(0.0)

    def step(*args):
        calls.assign_add(1.0)
        return f(*args)

    return step


def close(want: Outcome, got: Outcome) -> bool:
    if want.error is not None or got.error is not None:
        return False
    return len(want.values) == len(got.values) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=2e-4, atol=2e-5)
        for a, b in zip(want.values, got.values, strict=True)
    )


def agree(source: str, gradients: bool) -> None:
    f = load(source)
    f = with_gradients(f) if gradients else f
    graph, compiled = tf.function(f), tf.function(f, jit_compile=True)
    hot = tf.function(training(f))
    for n in (2, 4, 3):
        given = arguments(n)
        want = Outcome(functools.partial(f, *given))
        for name, run in (("graph", graph), ("compiled", compiled), ("hot", hot), ("hot", hot)):
            got = Outcome(functools.partial(run, *given))
            assert close(want, got), (name, n, want, got)


@pytest.mark.usefixtures("soon")
@examples(0.6)
@given(programs())
def test_lists_are_the_same_however_they_run(source: str) -> None:
    note(source)
    agree(source, gradients=False)


@pytest.mark.usefixtures("soon")
@examples(0.3)
@given(programs())
def test_gradients_through_lists_are_the_same(source: str) -> None:
    note(source)
    agree(source, gradients=True)
