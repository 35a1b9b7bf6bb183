"""Gradients through every converted form, of first and second order, in float64.

Each program is a scalar function of a 2x3 matrix, smooth around the points it is tried at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .differences import check, gradient

F = tf.float64
POINTS = [np.random.RandomState(k).rand(2, 3) for k in range(2)] + [
    -np.random.RandomState(9).rand(2, 3)
]


def total(x: Any) -> Any:
    return tf.reduce_sum(x)


def if_elif_else(x: Any) -> Any:
    if total(x) > 3.2:
        y = x**3
    elif total(x) > 0.0:
        y = tf.sin(x) * x
    else:
        y = x * x * 2.0
    return total(y * x)


def if_in_if(x: Any) -> Any:
    y = x * x
    if total(x) > 0.0:
        y = y * x
        if x[0, 0] > 0.5:
            y = tf.exp(y)
        y = y + x**2
    return total(y)


def one_branch_without_it(x: Any) -> Any:
    y = tf.zeros([2, 3], F)
    if total(x) > 0.0:
        y = x**3
    return total(y + x**2)


def conditional_expression(x: Any) -> Any:
    y = x**3 if total(x) > 0.0 else x**2
    return total(y if x[0, 0] > 0.5 else y * x)


def and_or_not(x: Any) -> Any:
    y = x * x
    if total(x) > 0.0 and total(x * x) > 0.5 and not x[0, 1] < 0.1:
        y = y * x
    if total(x) < -100.0 or total(y) > 0.3:
        y = y * y
    return total(y)


def early_returns(x: Any) -> Any:
    if total(x) < 0.0:
        return total(x**3)
    y = x * x
    if total(y) > 1.5:
        if y[0, 0] > 0.1:
            return total(y * x)
        return total(y * y)
    return total(tf.sin(y))


def while_loop(x: Any) -> Any:
    y, i = x, 0
    while i < 3:
        y = y * x + tf.sin(y)
        i += 1
    return total(y)


def turns_by_value(x: Any) -> Any:
    y, n = x * 0.1, 0
    while total(y * y) < 2.0 and n < 20:
        y = y * 1.7 + x * x * 0.3
        n += 1
    return total(y)


def no_turns(x: Any) -> Any:
    y, i = x * x, tf.constant(5)
    while i < 3:
        y = y * x
        i += 1
    return total(y * x)


def for_over_rows(x: Any) -> Any:
    state = tf.zeros([3], F)
    for row in x:
        state = state * row + row**3
    return total(state)


def for_over_range(x: Any) -> Any:
    y = x
    for i in tf.range(3):
        y = y * x * tf.cast(i + 1, F)
    return total(y)


def for_over_range_down(x: Any) -> Any:
    y = x
    for i in tf.range(1, -1, -1):
        y = y * x[i]
    return total(y)


def for_over_dataset(x: Any) -> Any:
    y = x
    for i in tf.data.Dataset.range(3):
        y = y * x + tf.cast(i, F)
    return total(y)


def breaks(x: Any) -> Any:
    y = x
    for _ in tf.range(5):
        if total(y * y) < 0.05:
            break
        y = y * x
    return total(y)


def break_in_while(x: Any) -> Any:
    y = x
    while True and total(x) < 100.0:
        y = y * x
        if total(y * y) < 0.02:
            break
        y = y * 0.5
    return total(y * x)


def continues(x: Any) -> Any:
    y = x
    for i in tf.range(4):
        if i % 2 == 0:
            continue
        y = y * x + tf.sin(y)
    return total(y)


def return_in_a_loop(x: Any) -> Any:
    for i in tf.range(3):
        if total(x) > 0.0:
            return total(x**3) * tf.cast(i + 2, F)
        return total(x**2)
    return total(x)


def loop_in_if(x: Any) -> Any:
    y = x
    if total(x) > 0.0:
        for _ in tf.range(2):
            y = y * x
    else:
        while total(y * y) > 0.1:
            y = y * 0.5 * x
    return total(y)


def loops_in_loops_in_if(x: Any) -> Any:
    y = x
    if total(x) > -100.0:
        for i in tf.range(2):
            for j in tf.range(3):
                if i < j:
                    y = y * x[i, j] + x
                else:
                    y = y + x[i, j] ** 2
    return total(y * y) * 0.01


def first_set_in_the_loop(x: Any) -> Any:
    for i in tf.range(3):
        y = x ** tf.cast(i + 1, F)
    return total(y)


def item_state(x: Any) -> Any:
    table, items = {"y": x, "n": tf.constant(0)}, [x, x * x]
    for i in tf.range(3):
        table["y"] = table["y"] * x
        table["n"] = i
        items[0] = items[0] * items[1]
        if i > 1:
            items[1] = items[1] + table["y"]
    return total(table["y"] + items[0] * items[1])


class Cell:
    def __init__(self, y: Any) -> None:
        self.y = y


def attribute_state(x: Any) -> Any:
    cell = Cell(x)
    while total(cell.y * cell.y) > 0.1:
        cell.y = cell.y * x * 0.5
        if cell.y[0, 0] > 0.2:
            cell.y = cell.y * cell.y
    return total(cell.y * x)


def structures(x: Any) -> Any:
    pair = (x, {"a": x * x})
    for _ in tf.range(2):
        pair = (pair[1]["a"], {"a": pair[0] * x})
    return total(pair[0] * pair[1]["a"])


def calls(x: Any) -> Any:
    def powered(y: Any, n: Any) -> Any:
        result = tf.ones_like(y)
        while n > 0:
            result = result * y
            n -= 1
        return result

    return total(powered(x, 3) if total(x) > 0.0 else powered(x, tf.constant(2)))


def comprehension_of_loops(x: Any) -> Any:
    def step(row: Any) -> Any:
        return row**3 if total(row) > 0.5 else row**2

    return total(tf.stack([step(x[i]) for i in range(2)]))


def hidden_in_try_and_with(x: Any) -> Any:
    try:
        with tf.name_scope("inner"):
            y = x**3 if total(x) > 0.0 else x
            for _ in tf.range(2):
                y = y * x
    finally:
        z = x
    return total(y * z)


PROGRAMS: list[Callable[[Any], Any]] = [
    if_elif_else, if_in_if, one_branch_without_it, conditional_expression, and_or_not,
    early_returns, while_loop, turns_by_value, no_turns, for_over_rows, for_over_range,
    for_over_range_down, for_over_dataset, breaks, break_in_while, continues,
    return_in_a_loop, loop_in_if, loops_in_loops_in_if, first_set_in_the_loop, item_state,
    attribute_state, structures, calls, comprehension_of_loops, hidden_in_try_and_with,
]  # fmt: skip


@pytest.mark.parametrize("at", POINTS, ids=["a", "b", "c"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_are_differences(program: Any, at: Any) -> None:
    check(tf.function(program), program, at)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_in_converted_code(program: Any) -> None:
    """The tape is in the function as well: forward, gradient and second gradient traced."""
    x = tf.constant(POINTS[0])

    @tf.function
    def both(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            first = gradient(program, x)
            square = total(first * first)
        return first, tape.gradient(square, x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        first = gradient(program, x)
        square = total(first * first)
    traced = both(x)
    np.testing.assert_allclose(traced[0], first, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(traced[1], tape.gradient(square, x), rtol=1e-10)


def test_variables_in_branches_and_loops() -> None:
    v = tf.Variable(np.float64(1.5))

    @tf.function
    def f(x: Any) -> Any:
        y = x
        for i in tf.range(3):
            if i > 0:
                y = y * v
            else:
                y = y + v * v
        return y

    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = f(tf.constant(2.0, F))
        first = tape.gradient(y, v)
    # y = (2 + v^2) v^2
    assert float(first) == pytest.approx(4 * 1.5 + 4 * 1.5**3)
    assert float(outer.gradient(first, v)) == pytest.approx(4 + 12 * 1.5**2)
