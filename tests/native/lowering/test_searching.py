"""Insertion points in machine code: every dtype, both sides, NaN, rows of any length."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

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
        right = [np.searchsorted(x, y, side) for x, y in zip(a, b, strict=True)]
        np.testing.assert_array_equal(found, right)
        assert "NumPy" not in search.compile_report()


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
