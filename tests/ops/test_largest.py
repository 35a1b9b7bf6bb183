"""The largest elements of rows and the coordinates of what is true, by steps that large arrays take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.array import sorting

DTYPES = ("int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64")
# Arrays of numbers, of few different ones, of the least one, of NaN and infinities.
KINDS = ("any", "few", "least", "special")


def array_of(dtype: str, kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    floating = np.dtype(dtype).kind == "f"
    if kind == "least":
        return np.full(shape, -np.inf if floating else np.iinfo(dtype).min).astype(dtype)
    x = np.abs(draw.standard_normal(shape) * (2 if kind == "few" else 100)).astype(dtype)
    if kind == "special" and floating:
        x[draw.random(shape) < 0.9] = -np.inf
        x[draw.random(shape) < 0.3] = -0.0
        x[draw.random(shape) < 0.9] = np.nan
    return x


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(DTYPES),
    st.sampled_from(KINDS),
    st.sampled_from([(100, 200), (20, 3, 80), (5000,), (3, 4096)]),
    st.integers(1, 6),
    st.integers(0, 100),
)
def test_the_largest_of_large_arrays_are_the_first_of_the_sorted(dtype, kind, shape, k, seed):
    x = array_of(dtype, kind, shape, seed)
    values, order = sorting.largest(x, k)
    expected = sorting.descending(x)[..., :k]
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, -1))


def test_rows_of_few_larger_elements_are_not_selected_by_repeated_argmin():
    x = np.full((40, 200), np.nan, np.float32)
    x[:, ::50] = 1.0
    assert sorting._by_repeated_argmin(x, 4) is not None
    assert sorting._by_repeated_argmin(x, 5) is None
    assert tf.math.top_k(x, 5).indices.numpy()[0].tolist() == [0, 50, 100, 150, 1]


@pytest.mark.parametrize("dtype", ["bool", "float32", "int8", "bfloat16", "complex64"])
@pytest.mark.parametrize("shape", [(8192,), (300, 20), (7, 9, 100), (3, 4, 5, 90), (600, 8)])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_coordinates_of_large_arrays(dtype, shape, share):
    condition = np.random.default_rng(0).random(shape) < share
    found = tf.where(tf.cast(condition, dtype))
    assert found.dtype == tf.int64
    np.testing.assert_array_equal(found, np.argwhere(condition))
