"""Reductions of what is broadcast: along whole dimensions, alone and with other operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

SHAPE = (5, 33)
X = np.linspace(-2.0, 3.0, 5 * 33).reshape(SHAPE)
REDUCTIONS = (tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_mean, tf.reduce_prod)
AXES = (None, 0, 1)
PARTS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("row", lambda x: x[:1]),
    ("vector", lambda x: x[0]),
    ("column", lambda x: x[:, 1:2]),
    ("number", lambda x: x[2, 3]),
    ("single", lambda x: x[3:4, 4:5]),
)
USES: tuple[tuple[str, Callable[[Any, Any], Any]], ...] = (
    ("alone", lambda b, x: b),
    ("scaled", lambda b, x: b * 0.5),
    ("of a function", lambda b, x: tf.abs(b) + 1.0),
    ("with itself", lambda b, x: b * b - b),
    ("with all", lambda b, x: b + x),
    ("with a column", lambda b, x: b + x[:, :1]),
    ("with a row", lambda b, x: b * x[1]),
)


def broadcasts(part: Callable[[Any], Any]) -> list[Callable[[Any], Any]]:
    """Ways to broadcast a part of x to its shape."""
    return [
        lambda x: tf.broadcast_to(part(x), SHAPE),
        lambda x: tf.broadcast_to(part(x), tf.shape(x)),
        lambda x: tf.broadcast_to(tf.exp(part(x) * 0.1), SHAPE),
        lambda x: part(x) + tf.zeros(SHAPE, x.dtype),
    ]


@pytest.mark.parametrize("part", [p for _, p in PARTS], ids=[n for n, _ in PARTS])
@pytest.mark.parametrize("use", [u for _, u in USES], ids=[n for n, _ in USES])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_a_reduction_is_of_the_broadcast_shape(part: Any, use: Any, dtype: str) -> None:
    def f(x: Any) -> Any:
        results: list[Any] = []
        for broadcast in broadcasts(part) if dtype != "int32" else broadcasts(part)[:2]:
            value = use(broadcast(x), x) if dtype != "int32" else broadcast(x) * x[:, :1]
            results += [reduce(value, axis) for reduce in REDUCTIONS for axis in AXES]
        return results

    x = tf.constant((X * 2).astype(dtype) if dtype == "int32" else X.astype(dtype))
    for compiled in (
        tf.function(f, jit_compile=True),
        tf.function(f, jit_compile=True, input_signature=[tf.TensorSpec([None, 33], dtype)]),
    ):
        for want, got in zip(f(x), compiled(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-4)


def test_what_is_broadcast_is_a_result_too() -> None:
    def f(x: Any) -> Any:
        b = tf.broadcast_to(x[:1], SHAPE)
        c = tf.broadcast_to(x[:, 2:3], SHAPE)
        return b, tf.reduce_sum(b, 0), tf.reduce_max(c, 1), tf.reduce_sum(b * c, 0), c

    x = tf.constant(X, tf.float32)
    for want, got in zip(f(x), tf.function(f, jit_compile=True)(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5)


def test_one_reduction_absorbs_a_broadcast_and_another_takes_it() -> None:
    def f(x: Any) -> Any:
        b = tf.broadcast_to(x[:1], SHAPE)
        y = tf.abs(b)
        sums = [tf.reduce_sum(v, 0) for v in (b * x, b, y, y + x, y * 2.0)]
        return sums, tf.reduce_max(y, 0), tf.reduce_max(b - x, 0)

    x = tf.constant(X, tf.float32)
    compiled = tf.function(f, jit_compile=True)
    for want, got in zip(tf.nest.flatten(f(x)), tf.nest.flatten(compiled(x)), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_reduction_for_an_assignment_that_another_overwrites(axis: int | None) -> None:
    shape = tf.reduce_sum(tf.zeros(SHAPE), axis).shape
    variable = tf.Variable(tf.zeros(shape))

    @tf.function(jit_compile=True)
    def f(x: Any, y: Any) -> Any:
        variable.assign(tf.reduce_mean(tf.tanh(x), axis))
        variable.assign(tf.reduce_mean(tf.tanh(y), axis))
        return x + 1.0

    x = tf.constant(X, tf.float32)
    f(x, x * 2.0)
    np.testing.assert_allclose(
        variable, tf.reduce_mean(tf.tanh(x * 2.0), axis), rtol=2e-5, atol=1e-6
    )
