"""Gradients of a program checked against finite differences, first and second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf


def differences(f: Callable[[Any], Any], x: np.ndarray, step: float) -> np.ndarray:
    """The slopes of a scalar function by central differences."""
    slopes = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[at] = step
        above, below = f(tf.constant(x + moved)), f(tf.constant(x - moved))
        slopes[at] = (float(above) - float(below)) / (2 * step)
    return slopes


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of a scalar function, by a tape around the call."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def check(f: Callable[[Any], Any], program: Callable[[Any], Any], at: Any) -> None:
    """`f` gives what `program` gives eagerly; both orders of its gradient are right."""
    x = tf.constant(at)
    assert float(f(x)) == pytest.approx(float(program(x)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        first = gradient(f, x)
        square = tf.reduce_sum(first * first)
    second = tape.gradient(square, x)
    np.testing.assert_allclose(first, differences(f, at, 1e-6), rtol=1e-5, atol=1e-7)
    of_square = differences(lambda v: tf.reduce_sum(gradient(f, v) ** 2), at, 1e-5)
    np.testing.assert_allclose(second, of_square, rtol=1e-4, atol=1e-6)
