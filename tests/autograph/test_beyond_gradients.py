"""Gradients through the forms that TensorFlow has not, against finite differences.

Each program is a scalar function of a vector of three, smooth around the points it is tried
at; the points take different paths through it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf

from .differences import check

F = tf.float64
POINTS = [
    np.array([0.31, 0.52, 0.83]),
    np.array([1.41, 1.13, 0.27]),
    np.array([-0.6, -1.2, 0.45]),
    np.array([2.3, 1.7, 3.1]),
]


def total(x: Any) -> Any:
    return tf.reduce_sum(x)


def return_from_a_tensor_loop(x: Any) -> Any:
    y = x
    for i in tf.range(4):
        y = y * x + tf.sin(x)
        if total(y) > 3.0:
            return total(y * y) * 0.5
        if i > 2:
            y = y * 0.5
    return total(y**3)


def return_from_nested_loops(x: Any) -> Any:
    y = x
    for v in x:
        for _ in tf.range(3):
            y = y * v + 0.1
            if total(y) > 2.0:
                return total(y * y)
        if v < -1.0:
            return total(y * x * x)
    return total(tf.exp(y * 0.3))


def return_from_a_while(x: Any) -> Any:
    y, k = x, 0
    while total(y * y) < 9.0:
        y = y * x + 0.2
        k += 1
        if k > 3:
            return total(tf.sin(y) * x)
    return total(y * x)


def structures_returned(x: Any) -> Any:
    def search(y: Any) -> Any:
        for _ in tf.range(3):
            y = y * y
            if total(y) > 1.5:
                return {"y": y * x, "z": (y[0], y[1] * x[2])}
        return {"y": y, "z": (x[0] * y[0], y[2])}

    found = search(x)
    return total(found["y"]) + found["z"][0] * found["z"][1]


def endless_with_a_break(x: Any) -> Any:
    y, k = x, 0
    while True:
        y = y * x + tf.cos(y)
        k += 1
        if total(y) > 4.0:
            break
        if k > 3:
            y = y * y
            break
    return total(y * x)


def python_loop_with_a_break(x: Any) -> Any:
    y = x
    steps = (tf.sin, tf.exp, tf.tanh, tf.square)
    for k, step in enumerate(steps):
        y = step(y) + x * float(k)
        if total(y) > 3.0:
            break
        if y[0] < 0.0:
            continue
        y = y * x
    return total(y * y)


def python_loop_with_a_return(x: Any) -> Any:
    y = x
    for power in (1, 2, 3):
        y = y + x**power
        if total(y) > 4.0:
            return total(y * x)
    return total(y**2)


def a_long_python_loop(x: Any) -> Any:
    y = x * 0.1
    for _ in range(20_000):
        y = y * 1.3 + x * x * 0.01
        if total(y * y) > 2.0:
            break
    return total(y * y)


def checked(x: Any) -> Any:
    y = x
    for i in tf.range(3):
        y = y * x
        if total(y) > 1e3:
            raise ValueError(f"too large: {total(y)} at {i}")
        assert tf.reduce_all(tf.math.is_finite(y)), f"not finite: {y}"
    if total(x) < -100.0:
        raise ValueError(f"{x}")
    else:  # noqa: RET506
        y = tf.sin(y)
    return total(y)


def none_at_first(x: Any) -> Any:
    best, scale = None, None
    for v in x:
        if best is None or v > best:
            best = v * v
    if total(x) > 2.0:
        scale = x * x
    if scale is not None:
        return total(scale) * best
    return best * total(x)


def recursive(x: Any) -> Any:
    def half(y: Any, depth: Any) -> Any:
        if depth > 4 or total(y * y) < 0.5:
            return y * y
        return half(y * 0.6, depth + 1) * x + y

    return total(half(x, 0))


PROGRAMS = [
    return_from_a_tensor_loop,
    return_from_nested_loops,
    return_from_a_while,
    structures_returned,
    endless_with_a_break,
    python_loop_with_a_break,
    python_loop_with_a_return,
    a_long_python_loop,
    checked,
    none_at_first,
    recursive,
]


@pytest.mark.parametrize("point", range(len(POINTS)))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients(program: Callable[[Any], Any], point: int) -> None:
    with intaglio.recursion():
        check(tf.function(program), program, POINTS[point])
