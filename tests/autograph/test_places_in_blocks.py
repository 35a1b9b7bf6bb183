"""Attributes, items and shared variables that staged blocks set: None at first, new, or Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .test_data_in_blocks import flat


class Span:
    """Remembers the least and the largest value it has seen."""

    least: Any
    most: Any
    last: Any

    def __init__(self) -> None:
        self.least = None
        self.most = None
        self.last = None

    def see(self, v: Any) -> None:
        if self.least is None or v < self.least:
            self.least = v
        if self.most is None:  # noqa: SIM114  both branches are tried
            self.most = v
        elif v > self.most:
            self.most = v

    def step(self, v: Any) -> Any:
        if self.last is None:
            d = v * 0
        else:
            d = v - self.last
        self.last = v * 2
        return d


def named_attribute(xs: Any) -> Any:
    span = Span()
    for v in xs:
        if span.most is None or v > span.most:
            span.most = v
    return -100 if span.most is None else span.most


def named_item(xs: Any) -> Any:
    table: dict[str, Any] = {"most": None}
    for v in xs:
        if table["most"] is None or v > table["most"]:
            table["most"] = v
    if table["most"] is not None:
        return table["most"] * 2
    return -100


def in_methods(xs: Any) -> Any:
    span = Span()
    for v in xs:
        span.see(v)
    for v in xs:
        span.see(v * 2)
    if span.least is None:
        return -100, -100
    return span.most - span.least, span.most


def differences(xs: Any) -> Any:
    span, total = Span(), 0
    for v in xs:
        total += span.step(v)
    return total


def in_a_closure(xs: Any) -> Any:
    most = None

    def see(v: Any) -> None:
        nonlocal most
        most = v if most is None or v > most else most

    for v in xs:
        see(v)
    return -100 if most is None else most


def in_a_branch(xs: Any) -> Any:
    table: dict[str, Any] = {"first": None}
    if tf.size(xs) > 1:
        table["first"] = xs[0]
    return -100 if table["first"] is None else table["first"]


def in_methods_under_a_condition(xs: Any) -> Any:
    span = Span()
    for v in xs:
        if v > 0:
            span.see(v)
    return -100 if span.least is None else span.least


def arrays_changed_in_place(xs: Any) -> Any:
    a, b, table = (np.zeros(2, np.int32), np.ones(2, np.int32), {"c": np.ones(2, np.int32)})
    if tf.size(xs) > 1:
        a += 1
        b *= 4
        table["c"] -= 5
    for _ in tf.range(2):
        a += 2
    return a, b, table["c"]


def variables_seen_early(xs: Any) -> Any:
    def read() -> Any:
        return k + tf.size(xs)

    if tf.size(xs) > 1:
        k = 1
    else:
        k = 2
    total = read()
    for i in tf.range(2):
        k = 5 if i > 0 else 7
        total += read()
    return total, read()


PROGRAMS = [
    named_attribute,
    named_item,
    in_methods,
    differences,
    in_a_closure,
    in_a_branch,
    in_methods_under_a_condition,
    arrays_changed_in_place,
    variables_seen_early,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_traced_equals_eager(program: Callable[..., Any]) -> None:
    spec = tf.TensorSpec([None], tf.int32)
    traced = tf.function(program, input_signature=[spec])
    for values in ([-3, -2], [5, 1, 7], [2], []):
        xs = tf.constant(values, tf.int32)
        assert flat(traced(xs)) == flat(program(xs))


def test_locations_that_a_loop_is_the_first_to_set() -> None:
    """Without an iteration Python has none; the graph raises, as TensorFlow's does (recorded)."""

    def an_item(n: Any) -> Any:
        table = {}
        for i in tf.range(n):
            table["k"] = i
        return table

    def an_attribute(n: Any) -> Any:
        span = Span()
        for i in tf.range(n):
            span.new = i  # type: ignore[attr-defined]  # that it is new is the point
        return span.new + 1  # type: ignore[attr-defined]  # likewise

    for function in (an_item, an_attribute):
        traced = tf.function(function)
        assert flat(traced(tf.constant(3))) == flat(function(tf.constant(3)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="must iterate at least once"):
            traced(tf.constant(0))


def test_variables_that_hold_other_objects_in_each_branch() -> None:
    """A closure made earlier would see what was traced last: it is reported instead."""

    def a_function(x: Any) -> Any:
        call = lambda: chosen(x)  # noqa: E731
        if x > 0:
            chosen = tf.abs
        else:
            chosen = tf.negative
        return call()

    def a_text(x: Any) -> Any:
        read = lambda: tf.constant(name)  # noqa: E731
        if x > 0:
            name = "pos"
        else:
            name = "neg"
        return read()

    def a_list_of_functions(x: Any) -> Any:
        found = []
        if x > 0:
            found.append(lambda v: v + 1)
        return len(found)

    for function in (a_function, a_text, a_list_of_functions):
        with pytest.raises(TypeError, match="differs between the main and the else branch"):
            tf.function(function)(tf.constant(1))


def test_variables_that_hold_other_objects_and_are_not_read() -> None:
    @tf.function
    def f(x: Any) -> Any:
        call = lambda v: step(v)  # noqa: E731
        if x > 0:
            step = lambda v: v + 1  # noqa: E731
            x = call(x)
        else:
            step = lambda v: v - 1  # noqa: E731
            x = call(x)
        return x

    assert [int(f(tf.constant(v))) for v in (3, -3)] == [4, -4]
