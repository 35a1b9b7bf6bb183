"""Where the extreme of a row or column is, by machine code: the index that the kernel gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.lowering.scans import MAX_SHORT_ROW, MIN_SHORT_ROWS

DTYPES = (
    tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.uint8, tf.int32, tf.int64, tf.bool,
)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 3 * MIN_SHORT_ROWS),
    st.integers(1, MAX_SHORT_ROW + 2),
    st.sampled_from([0, 1, 2, -1]),
    st.sampled_from([tf.int32, tf.int64]),
)
def test_the_first_of_equal_ones(dtype, seed, rows, length, axis, output_type) -> None:
    draw = np.random.default_rng(seed)
    shape = (rows, 3, length)
    if dtype.is_floating:
        x = draw.integers(-3, 4, shape).astype(np.float64)  # of which many are equal
        odd = draw.choice([np.nan, np.inf, -np.inf], shape)
        x = np.where(draw.uniform(size=shape) < draw.choice([0.0, 0.2, 1.0]), odd, x)
    elif dtype is tf.bool:
        x = draw.integers(0, 2, shape)
    else:
        x = draw.integers(dtype.min, dtype.max, shape, dtype.as_numpy_dtype, endpoint=True)
        x = np.where(draw.uniform(size=shape) < 0.3, draw.choice([dtype.min, dtype.max]), x)
    x = tf.constant(x.astype(dtype.as_numpy_dtype))

    def both(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.argmax(x, axis, output_type), tf.argmin(x, axis, output_type)

    compiled = tf.function(both, jit_compile=True)
    for got, want in zip(compiled(x), both(x), strict=True):
        assert got.dtype == output_type
        np.testing.assert_array_equal(got, want)
