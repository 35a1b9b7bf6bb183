"""Gradients of first and second order through the statements that only AutoGraph has a graph for.

Each program is a scalar function of a 2x3 matrix in float64, smooth around where it is tried.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .differences import check

F = tf.float64
POINTS = {
    "above": np.random.RandomState(3).rand(2, 3),
    "below": -np.random.RandomState(4).rand(2, 3),
}


def total(x: Any) -> Any:
    return tf.reduce_sum(x)


def sign(x: Any) -> Any:
    return tf.cast(total(x) > 0.0, tf.int32)


def matched(x: Any) -> Any:
    match sign(x):
        case 0:
            y = tf.sin(x)
        case 1 if x[0, 0] > 2.0:
            y = x
        case _:
            y = x**3
    return total(y * x)


def bound_in_a_test(x: Any) -> Any:
    if (s := total(x)) > 0.0:
        return s**3
    return s * s * 2.0


def for_and_else(x: Any) -> Any:
    y = x
    for i in tf.range(4):
        y = y * x
        if total(x) < 0.0 and i > 1:
            break
    else:
        y = tf.exp(y)
    return total(y)


def while_and_else(x: Any) -> Any:
    y, i = x, 0
    while i < 3 + sign(x):
        y = y * (x + 1.0)
        i += 1
    else:
        y = y * y
    return total(y)


def rows_of_a_ragged_tensor(x: Any) -> Any:
    rows = tf.RaggedTensor.from_row_splits(tf.reshape(x, [6]), [0, 2, 2, 5, 6])
    y = tf.constant(1.0, F)
    for row in rows:
        y = y * (2.0 + total(row**2))
    return y


def an_iterator(x: Any) -> Any:
    y = total(x**2)
    numbers = iter(tf.data.Dataset.range(4))
    for k in numbers:
        if k == 3:
            break
        y = tf.sin(y) * (1.0 + tf.cast(k, F)) + total(x)
    return y


def datasets_zipped_and_counted(x: Any) -> Any:
    y = total(x)
    one, two = tf.data.Dataset.range(3), tf.data.Dataset.range(5, 9)
    for i, (a, b) in enumerate(zip(one, two, strict=False)):
        y = y * tf.cast(a + b, F) * 0.1 + total(x**2) * tf.cast(i, F)
    return y


def a_list_that_grows(x: Any) -> Any:
    found = []
    for row in x:
        found.append(total(row**2))
        if total(row) > 0.0:
            found.append(total(row**3))
    y = tf.stack(found)
    return total(y * y) * found[0] + found[-1]


def a_list_that_shrinks(x: Any) -> Any:
    pending, y = [total(x)], total(x) * 0.0
    while pending:
        v = pending.pop()
        y = y + v**3
        if abs(v) > 0.3:
            pending.append(v / 2.0)
            pending.append(v / 3.0)
    return y


def items_of_a_list_that_grows(x: Any) -> Any:
    rows = [x[0]]
    for i in tf.range(3):
        rows.append(rows[-1] * x[1] + rows[0])
        rows[0] = rows[0] * x[0] * tf.cast(i + 1, F)
    return total(rows[0]) + total(rows[3])


class Momentum:
    """Keeps a state that its method changes."""

    def __init__(self, x: Any) -> None:
        self.speed = x * 0.0
        self.turns = 0

    def step(self, x: Any) -> Any:
        self.speed = 0.5 * self.speed + x**2
        self.turns += 1
        return x + self.speed


def state_of_an_object(x: Any) -> Any:
    state = Momentum(x)
    for _ in tf.range(3):
        x = 0.3 * state.step(x)
    return total(x) * total(state.speed) + tf.cast(state.turns, F)


def shared_variables(x: Any) -> Any:
    y = x

    def grow(by: Any) -> None:
        nonlocal y
        y = y * by

    i = 0
    while i < 2 + sign(x):
        grow(x)
        i += 1
    return total(y)


def built_in_functions(x: Any) -> Any:
    rows = sorted(x[0])
    y = max(total(x), total(x) * 0.5) * min(rows[0], rows[2] * 2.0)
    for i in range(sign(x) + 1):
        y = y * abs(total(x[1])) + len(x) * total(x[1, : i + 1])
    return y + sum([total(x**2), total(x**3)])


def chained_comparisons(x: Any) -> Any:
    y = x**2
    if 0.0 < total(x) < 100.0 and not x[0, 0] > 5.0:
        y = y * x
    return total(y)


@dataclasses.dataclass
class Pair:
    """Two values."""

    first: Any
    second: Any


def data_classes(x: Any) -> Any:
    pair = Pair(x, x * 2.0)
    for _ in tf.range(2):
        pair = Pair(pair.second * x, pair.first + x)
    if total(x) > 0.0:
        pair.first = pair.first * x
    return total(pair.first * pair.second)


def optional_values(x: Any) -> Any:
    best = None
    for row in x:
        v = total(row**2)
        if best is None or v > best:
            best = v
    return x[0, 0] if best is None else best**2


def items_of_a_dictionary(x: Any) -> Any:
    table = {"a": total(x), "b": total(x**2)}
    for _ in tf.range(3):
        table["a"] = table["a"] * 0.5 + table["b"]
        if total(x) > 0.0:
            table["b"] = tf.sin(table["a"])
    return table["a"] * table["b"]


def rows_mapped(x: Any) -> Any:
    def one(row: Any) -> Any:
        if total(row) > 0.0:
            return row**3
        return row**2

    return total(tf.map_fn(one, x) * x)


def returned_out_of_datasets(x: Any) -> Any:
    y = total(x)
    for k in tf.data.Dataset.range(5):
        y = y * total(x) * 0.5
        if k == 2:
            return y**2
        for row in x:
            y = y + total(row**2)
            if total(row) < 0.0:
                break
    return y


PROGRAMS: list[Callable[[Any], Any]] = [
    matched, bound_in_a_test, for_and_else, while_and_else, rows_of_a_ragged_tensor, an_iterator,
    datasets_zipped_and_counted, a_list_that_grows, a_list_that_shrinks, items_of_a_list_that_grows,
    state_of_an_object, shared_variables, built_in_functions, chained_comparisons, data_classes,
    optional_values, items_of_a_dictionary, rows_mapped, returned_out_of_datasets,
]  # fmt: skip


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_are_differences(program: Any, point: str) -> None:
    check(tf.function(program), program, POINTS[point])
