"""Derivatives of any order of a function of one float64 tensor, and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import tf

Function = Callable[[Any], Any]


def derivative(function: Function, order: int) -> Function:
    """The gradient, or the gradient of that, and so on, by nested tapes."""
    if order == 0:
        return function

    def at(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(function, order - 1)(x)
        found = tape.gradient(y, x)
        return tf.zeros_like(x) if found is None else found

    return at


def assert_derivatives(function: Function, x: float, orders: int = 3) -> None:
    """Compares each order's gradient with differences of the order below."""
    step = 1e-5
    for order in range(1, orders + 1):
        lower = derivative(function, order - 1)
        above = np.asarray(lower(tf.constant(x + step, tf.float64)))
        below = np.asarray(lower(tf.constant(x - step, tf.float64)))
        expected = (above - below) / (2 * step)
        got = np.asarray(derivative(function, order)(tf.constant(x, tf.float64)))
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6, err_msg=f"order {order}")
