"""Ops on rows give for all rows together what they give for each row alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.array import sorting

SIZES = st.integers(1, 20)


@given(
    st.integers(0, 2**32), st.integers(1, 3 * sorting.MIN_ROWS_TOGETHER), SIZES, SIZES,
    st.sampled_from(["float16", "float32", "float64", "int8", "int32", "int64", "uint64"]),
    st.sampled_from(["left", "right"]), st.booleans(),
)  # fmt: skip
def test_values_are_searched_for_in_many_rows(seed, count, size, wanted, dtype, side, in_order):
    draw = np.random.default_rng(seed)
    rows, values = (draw.integers(0, 9, (count, n)).astype(dtype) for n in (size, wanted))
    if in_order:
        rows.sort(1)
    if np.dtype(dtype).kind == "f":
        for x in (rows, values):
            x[draw.random(x.shape) < 0.1] = draw.choice([np.nan, np.inf, -np.inf, -0.0])
    found = tf.searchsorted(rows, values, side=side).numpy()
    assert found.shape == (count, wanted)
    for row, one, places in zip(rows, values, found, strict=True):
        np.testing.assert_array_equal(tf.searchsorted(row, one, side=side), places)


@given(
    st.integers(0, 2**32), st.integers(1, 20), SIZES, SIZES,
    st.sampled_from(["int32", "int64"]),
    st.sampled_from([None, "int32", "int64", "float32", "float64"]), st.booleans(),
)  # fmt: skip
def test_integers_are_counted_in_many_rows(seed, rows, size, most, dtype, weighted, binary):
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 25, (rows, size)).astype(dtype)
    binary = binary and weighted is None
    weights = None if weighted is None else draw.normal(size=values.shape).astype(weighted)
    options: Any = {"minlength": most, "maxlength": most, "binary_output": binary}
    found = tf.math.bincount(values, weights, axis=-1, **options)
    assert found.shape == (rows, most)
    for i in range(rows):
        one = None if weights is None else weights[i]
        np.testing.assert_array_equal(tf.math.bincount(values[i], one, **options), found[i])
