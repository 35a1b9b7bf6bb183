"""Gradients of the functions are what finite differences say, eagerly and in graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.numpy_api import np_config

tnp = tf.experimental.numpy
X = np.array([[0.5, 1.25, 0.75], [1.5, 0.25, 2.0]])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(tnp, name)
        for name in (
            "sin",
            "tanh",
            "exp2",
            "log2",
            "log10",
            "cbrt",
            "sinc",
            "square",
            "sqrt",
            "reciprocal",
            "deg2rad",
            "abs",
            "sum",
            "prod",
            "mean",
            "var",
            "std",
            "max",
            "nansum",
            "nanmean",
            "cumsum",
            "cumprod",
            "average",
            "ptp",
            "ravel",
            "transpose",
            "flip",
            "tril",
            "diff",
            "sort",
        )
    },
    "hypot": lambda x: tnp.hypot(x, 2),
    "logaddexp": lambda x: tnp.logaddexp(x, 1),
    "logaddexp2": lambda x: tnp.logaddexp2(1.0, x),
    "power": lambda x: tnp.power(x, 3),
    "clip": lambda x: tnp.clip(x, 0.6, 1.4),
    "where": lambda x: tnp.where(x > 1, x * x, x),
    "take": lambda x: tnp.take(x, [0, 0, 3]),
    "take_along_axis": lambda x: tnp.take_along_axis(x, [[2, 0], [1, 1]], 1),
    "diag": lambda x: tnp.diag(x) * [1.0, 3.0],
    "diagonal": lambda x: tnp.diagonal(x, 1),
    "cross": lambda x: tnp.cross(x, [1.0, 2, 3]),
    "kron": lambda x: tnp.kron(x, x),
    "dot": lambda x: tnp.dot(x, tnp.transpose(x)),
    "vdot": lambda x: tnp.vdot(x, x),
    "tile": lambda x: tnp.tile(x, (2, 2)) * np.arange(24.0).reshape(4, 6),
    "roll": lambda x: tnp.roll(x, 1) * X,
    "einsum": lambda x: tnp.einsum("ij,kj->ik", x, x),
    "geomspace": lambda x: tnp.geomspace(x, 3.0, 4),
    "linspace": lambda x: tnp.linspace(x, 3.0, 4, axis=1) ** 2,
    "polyval": lambda x: tnp.polyval([1.0, 2, 3], x),
    "stack": lambda x: tnp.stack([x, x * x], 1),
}


def _slope(function: Callable[[Any], Any]) -> np.ndarray:
    step = 1e-6
    result = np.zeros(X.shape)
    for place in np.ndindex(X.shape):
        off = np.zeros(X.shape)
        off[place] = step
        ends = [np.sum(np.asarray(function(tf.constant(X + s * off)))) for s in (1, -1)]
        result[place] = (ends[0] - ends[1]) / (2 * step)
    return result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name: str) -> None:
    function = FUNCTIONS[name]

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(function(x))
        return tape.gradient(y, x)

    wanted = _slope(function)
    np.testing.assert_allclose(gradient(tf.constant(X)), wanted, atol=1e-5)
    spec = tf.TensorSpec([None, None], tf.float64)
    if name not in ("cross",):  # which counts components while tracing
        traced = tf.function(gradient, input_signature=[spec])
        np.testing.assert_allclose(traced(X), wanted, atol=1e-5)


def test_sinc_at_zero() -> None:
    x = tf.constant([0.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.sinc(x)
    np.testing.assert_allclose(tape.gradient(y, x), [0, -1], atol=1e-6)


def test_logaddexp_of_equal_numbers() -> None:
    x, y = tf.constant([1.0, np.inf]), tf.constant([1.0, np.inf])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tnp.logaddexp(x, y)
    assert z.numpy().tolist() == pytest.approx([1 + np.log(2), np.inf])
    slopes = [s.numpy().tolist() for s in tape.gradient(z, [x, y])]
    assert slopes == [[0.5, 0.5], [0.5, 0.5]]


def test_through_brackets_and_operators() -> None:
    tnp.experimental_enable_numpy_behavior()
    try:
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = (x[[0, 0, -1]] * tf.constant([1, 2, 3])).reshape(1, 3).T
        assert y.dtype is tf.float64
        slope = tf.convert_to_tensor(tape.gradient(y, x))
        np.testing.assert_allclose(slope, [3, 0, 3])
    finally:
        np_config.disable_numpy_behavior()
