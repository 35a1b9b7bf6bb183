"""Insertion points in machine code: every dtype, both sides, NaN, rows of any length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.array import sorting

DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_any_length(dtype, side):
    rng = np.random.default_rng(4)
    search = tf.function(
        lambda a, b: tf.searchsorted(a, b, side, out_type=tf.int64), jit_compile=True
    )
    for rows, length, count in ((3, 1, 40), (2, 7, 33), (4, 64, 17), (5, 129, 100)):
        a = np.sort(rng.integers(0, 60, (rows, length)).astype(dtype), axis=1)
        b = rng.integers(0, 60, (rows, count)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            a[:, -1] = np.nan
            b[:, ::5] = np.nan
            b[:, 1::7] = -np.inf
        found = search(tf.constant(a), tf.constant(b))
        right = [_bounds(x, y, side) for x, y in zip(a, b, strict=True)]
        np.testing.assert_array_equal(found, right)
        assert "NumPy" not in search.compile_report()


def _bounds(row, wanted, side):
    """The steps of C++'s `lower_bound` and `upper_bound`, which TensorFlow takes, for each value."""
    found = []
    for value in wanted:
        first, left = 0, len(row)
        while left:
            half = left // 2
            element = row[first + half]
            if element < value if side == "left" else not value < element:
                first, left = first + half + 1, left - half - 1
            else:
                left = half
        found.append(first)
    return found


# Where NaN are, and where elements are out of order, TensorFlow 2.21 has these numbers.
ASKED = [
    ([1.0, np.nan, 3.0, 2.0, np.nan, -np.inf, np.inf], "left", [0, 0, 1, 0, 6]),
    ([1.0, np.nan, 3.0, 2.0, np.nan, -np.inf, np.inf], "right", [2, 2, 6, 7, 7]),
    ([np.nan, 1.0, 2.0], "left", [0, 0, 2, 0, 3]),
    ([np.nan, np.nan], "right", [2, 2, 2, 2, 2]),
    ([0.0, -0.0, 0.0, -0.0], "left", [0, 4, 4, 0, 4]),
]


@pytest.mark.parametrize(("row", "side", "wanted"), ASKED)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_tensorflow_answered(row, side, wanted, dtype):
    row = tf.cast(row, dtype)
    values = tf.cast([0.0, 1.0, 2.0, np.nan, np.inf], dtype)
    for jit in (None, False, True):
        search = tf.searchsorted if jit is None else tf.function(tf.searchsorted, jit_compile=jit)
        np.testing.assert_array_equal(search(row, values, side), wanted)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_rows_out_of_order_in_every_mode(data):
    """Also rows that are so long that nothing looks whether they are in order."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 20)))
    dtype = data.draw(st.sampled_from(["int32", "uint8", "float32", "float64", "float16"]))
    length, count = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 60))
    a = rng.integers(0, 9, (2, length)).astype(dtype)
    b = rng.integers(0, 9, (2, count)).astype(dtype)
    if data.draw(st.booleans()):
        a.sort(1)
    if np.dtype(dtype).kind == "f":
        some = np.array([np.nan, np.inf, -0.0], dtype)
        for x in (a, b):
            chosen = rng.random(x.shape) < data.draw(st.sampled_from([0, 0.1, 0.5]))
            x[chosen] = rng.choice(some, np.count_nonzero(chosen))
    for side in ("left", "right"):
        want = np.reshape([_bounds(x, y, side) for x, y in zip(a, b, strict=True)], (2, count))
        traced = tf.function(tf.searchsorted)
        compiled = tf.function(tf.searchsorted, jit_compile=True)
        operands = (tf.constant(a), tf.constant(b), side)
        for run in (tf.searchsorted, traced, compiled):
            np.testing.assert_array_equal(run(*operands), want)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sorting, "MAX_CHECKED_ROW", 0)
            patch.setattr(sorting, "MAX_CHECKED_PER_VALUE", 0)
            np.testing.assert_array_equal(tf.searchsorted(*operands), want)


def test_resampling_in_a_loop():
    """Particles chosen by their weights, as filters do."""

    def resampled(x, u):
        for i in tf.range(4):
            total = tf.cumsum(tf.nn.softmax(-x * x))
            at = tf.minimum(tf.searchsorted(total, u[i]), 299)
            x = tf.gather(x, at) * 0.9
        return x

    rng = np.random.default_rng(6)
    x = tf.constant(rng.normal(size=300).astype("f4"))
    u = tf.constant(np.sort(rng.uniform(0.01, 0.99, (4, 300)), axis=1).astype("f4"))
    traced = tf.function(resampled, jit_compile=True)
    off = np.abs(traced(x, u) - resampled(x, u)) > 1e-5
    # The last bits of sums decide about few of them.
    assert np.mean(off) < 0.02
    assert "NumPy" not in traced.compile_report()
