"""Pooling of NaN and infinities as TensorFlow 2.21, which was asked, in all modes.

Maxima pass over NaN and begin at the least finite number; of a window that has nothing above it the gradient
goes to the first element, in three dimensions nowhere. With argmaxes the search begins at the first element.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

NAN, INF = np.nan, np.inf
LEAST = {name: float(getattr(tf, name).min) for name in ("float16", "bfloat16", "float32")}


def _modes(function: Any) -> list[Any]:
    return [function, tf.function(function), tf.function(function, jit_compile=True)]


def _image(rows: list[list[float]], dtype: str, channels: int) -> Any:
    x = np.repeat(np.array(rows)[None, :, :, None], channels, axis=3)
    return tf.cast(tf.constant(x), dtype)


LOW = "the least finite number"

# Rows, and for windows of 2x2 side by side: maxima, gradients by the input of gradients 1.
CASES: dict[str, tuple[list[list[Any]], list[Any], list[int]]] = {
    "NaN only": ([[NAN, NAN, 1, 2], [NAN, NAN, 3, 4]], [None, 4], [0, 7]),
    "-inf only": ([[-INF, -INF, 1, 2], [-INF, -INF, 3, 4]], [None, 4], [0, 7]),
    "both": ([[NAN, -INF, 1, 2], [-INF, NAN, 3, 4]], [None, 4], [0, 7]),
    "some NaN": ([[NAN, 2, 1, NAN], [3, NAN, 3, 3]], [3, 3], [4, 6]),
    "inf": ([[NAN, INF, INF, INF], [3, NAN, 3, INF]], [INF, INF], [1, 2]),
    "least": ([[-INF, LOW, NAN, -INF], [-INF, NAN, LOW, LOW]], [None, None], [1, 6]),
}


@pytest.mark.parametrize("channels", [1, 16, 35])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("case", CASES)
def test_maxima_and_where_their_gradients_go(case: str, dtype: str, channels: int) -> None:
    rows, maxima, indices = CASES[case]
    rows = [[LEAST[dtype] if x is LOW else x for x in row] for row in rows]

    def run(x: Any) -> Any:
        y = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return y, tf.raw_ops.MaxPoolGrad(
            orig_input=x, orig_output=y, grad=tf.ones_like(y),
            ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID",
        )  # fmt: skip

    want = [LEAST[dtype] if m is None else m for m in maxima]
    hits = np.isin(np.arange(8), indices).astype(float)
    for mode in _modes(run):
        y, d = (np.asarray(t).astype(np.float64) for t in mode(_image(rows, dtype, channels)))
        np.testing.assert_array_equal(y.reshape(2, channels), np.array([want] * channels).T)
        np.testing.assert_array_equal(d.reshape(8, channels), np.array([hits] * channels).T)


@pytest.mark.parametrize("window", [2, 3])
def test_overlapping_and_padded_windows(window: int) -> None:
    x = _image([[NAN] * 3, [NAN] * 3, [NAN, NAN, 1]], "float32", 8)
    padding, want = {
        2: ("VALID", [[1, 1, 0], [1, 0, 0], [0, 0, 1]]),
        3: ("SAME", [[3, 1, 0], [1, 0, 0], [0, 0, 4]]),
    }[window]

    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.nn.max_pool2d(x, window, 1, padding))
        return tape.gradient(total, x)

    for mode in _modes(run):
        got = mode(x).numpy()[0, :, :, 0]
        assert got.sum() == np.sum(want)
        assert got[2, 2] == want[2][2]


def test_infinite_gradients_are_not_multiplied() -> None:
    x = _image([[1, 2, 1, 2], [3, 4, 3, 4]], "float32", 1)
    y = tf.nn.max_pool2d(x, 2, 2, "VALID")
    options: Any = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    for mode in _modes(
        lambda d: tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=d, **options)
    ):
        got = mode(tf.reshape(tf.constant([INF, NAN]), [1, 1, 2, 1])).numpy().ravel()
        np.testing.assert_array_equal(got, [0, 0, 0, 0, 0, INF, 0, NAN])


@pytest.mark.parametrize(
    ("elements", "value", "index"),
    [
        ([NAN, NAN, NAN, NAN], NAN, 0),
        ([NAN, 1, 2, NAN], NAN, 0),
        ([1, NAN, 2, NAN], 2, 2),
        ([-INF] * 4, -INF, 0),
        ([-INF, -INF, -1, -INF], -1, 2),
    ],
)
def test_argmaxes(elements: list[float], value: float, index: int) -> None:
    x = tf.reshape(tf.constant(elements), [1, 2, 2, 1])
    for mode in _modes(lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")):
        y, found = mode(x)
        np.testing.assert_array_equal(y.numpy().ravel(), [value])
        assert found.numpy().item() == index


@pytest.mark.parametrize("value", [NAN, -INF])
def test_dilation_passes_over_nan_and_erosion_too(value: float) -> None:
    x = tf.fill([1, 2, 2, 1], value)
    options: Any = {"strides": [1] * 4, "padding": "VALID", "data_format": "NHWC"}
    least = LEAST["float32"]
    for mode in _modes(
        lambda x: tf.nn.dilation2d(x, tf.zeros([2, 2, 1]), dilations=[1] * 4, **options)
    ):
        assert mode(x).numpy().item() == least
        mixed = tf.tensor_scatter_nd_update(x, [[0, 1, 0, 0]], [5.0])
        assert mode(mixed).numpy().item() == 5.0


@settings(max_examples=60)
@given(
    seed=st.integers(0, 999), size=st.integers(2, 7), window=st.integers(1, 3),
    stride=st.integers(1, 3), padding=st.sampled_from(["SAME", "VALID"]), channels=st.sampled_from([1, 17]),
)  # fmt: skip
def test_modes_agree(
    seed: int, size: int, window: int, stride: int, padding: str, channels: int
) -> None:
    rng = np.random.default_rng(seed)
    window = min(window, size)
    x = rng.choice(
        [NAN, -INF, INF, 1.0, -2.0], (2, size, size, channels), p=[0.5, 0.3, 0.05, 0.1, 0.05]
    )

    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.max_pool2d(x, window, stride, padding)
            total = tf.reduce_sum(tf.where(tf.math.is_finite(y), y, 0.0))
        return y, tape.gradient(total, x)

    want, *others = ([t.numpy() for t in mode(tf.constant(x, tf.float32))] for mode in _modes(run))
    for got in others:
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
