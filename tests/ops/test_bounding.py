"""Maximum, minimum and clipping by scalars of large arrays have the bits of NumPy's ufuncs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.math import bounding

SIZE = bounding.MIN_CLIPPED_ELEMENTS
DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int16", "int32", "uint32", "int64")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan, 3e-40, 120.0]


def elements_of(dtype, seed):
    """A large array in which all of SPECIAL occur, if the dtype has them."""
    rng = np.random.RandomState(seed)
    if np.dtype(dtype).kind == "f":
        return rng.choice(np.array(SPECIAL, dtype), SIZE + seed % 50)
    limits = np.iinfo(dtype)
    return rng.randint(max(limits.min, -1000), min(limits.max, 1000), SIZE + 3).astype(dtype)


def bits(x):
    return x.view(f"u{x.itemsize}")


def same(found, expected):
    """Whether the bits agree, but for the sign of NaN."""
    missing = np.isnan(expected) if expected.dtype.kind == "f" else np.zeros(expected.shape, bool)
    np.testing.assert_array_equal(bits(found)[~missing], bits(expected)[~missing])
    if missing.any():
        assert np.isnan(found[missing]).all()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(DTYPES), st.sampled_from(SPECIAL), st.sampled_from(SPECIAL), st.integers(0, 99)
)
def test_bits_are_the_ufuncs(dtype, low, high, seed):
    x = elements_of(dtype, seed)
    if x.dtype.kind != "f":
        low, high = (int(abs(n)) if np.isfinite(n) else 100 for n in (low, high))
    a, b = np.asarray(low, dtype), np.asarray(high, dtype)
    for name in ("maximum", "minimum"):
        ufunc, function = getattr(np, name), getattr(tf, name)
        graph = tf.function(function)
        for first, second in ((x, a), (a, x)):
            same(function(tf.constant(first), tf.constant(second)).numpy(), ufunc(first, second))
            same(graph(tf.constant(first), tf.constant(second)).numpy(), ufunc(first, second))
    clipped = np.minimum(np.maximum(x, a), b)
    same(tf.raw_ops.ClipByValue(t=x, clip_value_min=a, clip_value_max=b).numpy(), clipped)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("limits", [(-1, 2), (2, -1), (0, 1), (1, 1)])
def test_clipping_watched_and_not(dtype, limits):
    x = tf.constant(elements_of(dtype, 1))
    alone = tf.clip_by_value(x, *limits).numpy()
    with tf.GradientTape():
        watched = tf.clip_by_value(x, *limits).numpy()
    np.testing.assert_array_equal(alone, watched)
    traced = tf.function(lambda x: tf.clip_by_value(x, *limits))(x)
    np.testing.assert_array_equal(traced.numpy(), watched)


def test_the_operand_is_left_as_it_was():
    x = elements_of("float32", 3)
    kept = x.copy()
    tf.maximum(x, np.float32(0.0))
    tf.clip_by_value(x, -1.0, 1.0)
    np.testing.assert_array_equal(bits(x), bits(kept))
