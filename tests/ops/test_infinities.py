"""Roots and extremes of infinities and of zeros, the same in every mode; TensorFlow 2.21 was asked."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import machine_code

INF, NAN = np.inf, np.nan
FLOATS = ("float16", "bfloat16", "float32", "float64")


def in_every_mode(function: Any, *inputs: Any) -> list[Any]:
    """Results: eager, as a graph, compiled, and compiled for open shapes."""
    signature = [tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in inputs]
    modes = (
        function,
        tf.function(function),
        tf.function(function, jit_compile=True),
        tf.function(function, jit_compile=True, input_signature=signature),
    )
    return [tf.cast(mode(*inputs), tf.float64).numpy() for mode in modes]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("repeated", [1, 9])
def test_the_power_one_half_is_no_square_root(dtype: str, repeated: int) -> None:
    """`sqrt` of -0 is -0, and of -inf it is NaN; IEEE 754's `pow` has 0 and infinity."""
    x = tf.cast(np.tile([-INF, -0.0, 0.0, -1.0, 4.0, INF, NAN], repeated), dtype)
    want = np.tile([INF, 0.0, 0.0, NAN, 2.0, INF, NAN], repeated)
    for got in in_every_mode(lambda x: x**0.5, x):
        np.testing.assert_array_equal(got, want)
        assert not np.signbit(got[1])
    for got in in_every_mode(lambda x: tf.pow(x, tf.fill(tf.shape(x), tf.cast(0.5, dtype))), x):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("columns", [0, 1, 40])
@pytest.mark.parametrize("sign", [1, -1])
def test_extremes_of_segments_are_finite_at_least(dtype: str, columns: int, sign: int) -> None:
    """A segment of nothing but -inf has the lowest number as its maximum, as an empty one has."""
    reduce = tf.math.unsorted_segment_max if sign > 0 else tf.math.unsorted_segment_min
    lowest = sign * float(tf.cast(tf.as_dtype(dtype).min, tf.float64))
    data = np.array([-INF, -INF, 3.0, -INF, INF]) * sign
    rows = np.tile(data[:, np.newaxis], [1, columns]) if columns else data
    want = np.array([lowest, INF * sign, lowest])
    for got in in_every_mode(lambda x: reduce(x, [0, 0, 1, 1, 1], 3), tf.cast(rows, dtype)):
        np.testing.assert_array_equal(
            got, np.tile(want[:, np.newaxis], columns) if columns else want
        )


@pytest.mark.parametrize("shape", [(6,), (6, 3), (2, 130), (9, 700), (3000, 2), (70, 40)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
def test_extremes_of_segments_of_infinities(
    monkeypatch: pytest.MonkeyPatch,
    at_once: bool,
    largest: bool,
    dtype: str,
    shape: tuple[int, ...],
) -> None:
    """-inf is no larger than the largest finite number below 0, with which TensorFlow 2.21 begins."""
    least = 0 if at_once else 1 << 60  # work from which on the kernel itself is machine code
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", least)
    monkeypatch.setattr(machine_code, "MIN_COMPILED_WORK", least)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    sign = 1.0 if largest else -1.0
    x = np.full(shape, -np.inf * sign)
    x[1::3] = sign
    x = tf.cast(tf.constant(x), dtype)
    ids = tf.range(shape[0]) % 3
    function = tf.math.unsorted_segment_max if largest else tf.math.unsorted_segment_min
    limit = -sign * float(x.dtype.max)
    want = np.full((4, *shape[1:]), limit)
    want[1] = sign
    for order in (ids, tf.sort(ids)):
        rows = tf.gather(x, tf.argsort(ids, stable=True)) if order is not ids else x
        for run in (function, tf.function(function), tf.function(function, jit_compile=True)):
            got = tf.cast(run(rows, order, 4), tf.float64).numpy()
            np.testing.assert_array_equal(got, want)


ZEROS = np.array(list(itertools.product([0.0, -0.0, 1.0, -1.0, NAN, INF, -INF], repeat=2)))
EXTREMES: dict[str, Any] = {
    "maximum": tf.maximum,
    "minimum": tf.minimum,
    "maximum with 0": lambda x, y: tf.maximum(x, tf.zeros([], x.dtype)),
    "minimum of 0": lambda x, y: tf.minimum(tf.zeros([], x.dtype), y),
    "relu": lambda x, y: tf.nn.relu(x),
    "relu6": lambda x, y: tf.nn.relu6(x),
    "clip": lambda x, y: tf.clip_by_value(x, tf.cast(-1, x.dtype), tf.cast(0, x.dtype)),
    "leaky": lambda x, y: tf.nn.leaky_relu(x, 0.5),
    "maximum of products": lambda x, y: tf.maximum(x * y, x),
}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("repeated", [1, 400])
@pytest.mark.parametrize("at_once", [True, False])
def test_the_sign_of_zero_depends_on_the_operands_alone(
    monkeypatch: pytest.MonkeyPatch, at_once: bool, repeated: int, dtype: str, name: str
) -> None:
    """In small and large arrays, by NumPy and by machine code. Of float16 TensorFlow takes the first of
    two zeros wherever they stand, of others the first or the second; NumPy does that by the dtype."""
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0 if at_once else 1 << 60)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    x, y = (tf.cast(np.tile(ZEROS[:, i], repeated), dtype) for i in range(2))
    results = in_every_mode(EXTREMES[name], x, y)
    alone = np.concatenate(
        [in_every_mode(EXTREMES[name], x[i : i + 1], y[i : i + 1])[0] for i in range(len(ZEROS))]
    )
    for got in results:
        want = np.tile(alone, repeated)
        np.testing.assert_array_equal(got, want)
        known = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(want)[known])
    if dtype == "float16" and name in ("maximum", "minimum"):
        zeros = (ZEROS == 0).all(1)
        np.testing.assert_array_equal(np.signbit(alone)[zeros], np.signbit(ZEROS[zeros, 0]))
