"""Scattered maxima and minima of NaN, infinities and zeros: one update after the other, in all modes.

TensorFlow 2.21 was asked, for all dtypes and widths: an update replaces an element that is less (greater). So NaN
replaces nothing and is not replaced, and of zeros the first one stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.0, -0.0, 1.0, -1.0]


def _drawn(rng: Any, shape: tuple[int, ...]) -> Any:
    return rng.choice(NUMBERS if rng.random() < 0.6 else NUMBERS[3:], shape)


def _expected(old: Any, at: Any, updates: Any, largest: bool) -> Any:
    result = old.copy()
    for i, row in zip(at, updates, strict=True):
        better = result[i] < row if largest else row < result[i]
        result[i] = np.where(better, row, result[i])
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("largest", [False, True])
@settings(deadline=None, max_examples=12)
@given(
    seed=st.integers(0, 999),
    rows=st.integers(1, 20),
    count=st.integers(1, 40),
    width=st.sampled_from([(), (1,), (5,), (2, 17)]),
)
def test_updates_replace_what_they_exceed(dtype, largest, seed, rows, count, width) -> None:
    rng = np.random.default_rng(seed)
    old, updates = _drawn(rng, (rows, *width)), _drawn(rng, (count, *width))
    at = rng.integers(0, rows, count)
    name = "max" if largest else "min"
    variables = [tf.Variable(tf.cast(old, dtype)) for _ in range(2)]

    def f(x: Any, at: Any, updates: Any) -> Any:
        for v in variables:
            v.assign(x)
        getattr(variables[0], f"scatter_{name}")(tf.IndexedSlices(updates, at))
        getattr(variables[1], f"scatter_nd_{name}")(at[:, None], updates)
        tensor = getattr(tf, f"tensor_scatter_nd_{name}")(x, at[:, None], updates)
        return [tensor, *[tf.identity(v) for v in variables]]

    arguments = [tf.cast(old, dtype), tf.constant(at), tf.cast(updates, dtype)]
    want = _expected(old, at, updates, largest)
    for run in (f, tf.function(f), tf.function(f, jit_compile=True)):
        for found in run(*arguments):
            got = np.asarray(tf.cast(found, tf.float64))
            np.testing.assert_array_equal(got, want)
            known = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(want)[known])
