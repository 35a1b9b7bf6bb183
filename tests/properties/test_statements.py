"""Statements: traced code does what the Python code does on tensors."""

from __future__ import annotations

import copy
import pickle
from concurrent import futures
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same
from .statements import arguments, programs


def variables() -> dict[str, Any]:
    return {"w": tf.Variable(0.5), "n": tf.Variable(2), "m": tf.Variable([0.25, -0.5, 1.0])}


def tensors(values: Any) -> list[Any]:
    a, b, v, i, j = values
    return [tf.constant(a), tf.constant(b), tf.constant(v), tf.constant(i), tf.constant(j)]


def state_of(space: dict[str, Any]) -> list[Any]:
    return list(space.values())


def agree(source: str, calls: list[Any]) -> None:
    """Calls in order, three times each, give the same and leave the variables the same.

    The third time the trace has been optimised, with its branches and bodies.
    """
    one, other = variables(), variables()
    eager, traced = load(source, **one), tf.function(load(source, **other))
    for values in [*calls, *calls, *calls]:
        want = Outcome(lambda v=values: (eager(*tensors(v)), state_of(one)))
        got = Outcome(lambda v=values: (traced(*tensors(v)), state_of(other)))
        assert same(want, got), (values, want, got)


@examples(3.0)
@given(programs(returns=False), st.lists(arguments, min_size=1, max_size=3))
def test_eager_and_traced_agree(source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls)


@examples(1.5)
@given(programs(returns=True), st.lists(arguments, min_size=1, max_size=2))
def test_returns_from_anywhere(source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls)


@examples(1.5)
@given(programs(returns=True, raises=True), st.lists(arguments, min_size=1, max_size=2))
def test_exceptions_and_assertions(source: str, calls: list[Any]) -> None:
    note(source)
    agree(source, calls)


@examples(0.5)
@given(programs(returns=False, variables=False), st.lists(arguments, min_size=2, max_size=4))
def test_threads_share_traces(source: str, calls: list[Any]) -> None:
    note(source)
    function = load(source)
    traced = tf.function(function)
    with futures.ThreadPoolExecutor(len(calls)) as pool:
        running = [
            pool.submit(Outcome, lambda v=values: traced(*tensors(v)))
            for values in [*calls, *calls]
        ]
        got = [task.result() for task in running]
    assert traced.experimental_get_tracing_count() == 1
    for values, result in zip([*calls, *calls], got, strict=True):
        assert same(Outcome(lambda v=values: function(*tensors(v))), result)


@examples(0.5)
@given(programs(returns=False), arguments)
def test_nested_functions_and_copies(source: str, values: Any) -> None:
    note(source)
    one, other, third = variables(), variables(), variables()
    eager, inner = load(source, **one), tf.function(load(source, **other))
    outer = tf.function(lambda *a: inner(*a))
    copied = tf.function(load(source, **third))
    for _ in range(3):
        want = Outcome(lambda: (eager(*tensors(values)), state_of(one)))
        got = Outcome(lambda: (outer(*tensors(values)), state_of(other)))
        assert same(want, got), (want, got)
        sent = pickle.loads(pickle.dumps(tensors(values)))
        got = Outcome(lambda s=sent: (copied(*copy.deepcopy(s)), state_of(third)))
        assert same(want, got), (want, got)
