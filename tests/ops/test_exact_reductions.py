"""Reductions of numbers whose order does not matter give what NumPy gives, whatever the axes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.math import exact_reduction

DIMS = st.lists(st.sampled_from([0, 1, 2, 3, 5, 16, 17, 40, 130]), max_size=4).filter(
    lambda dims: np.prod(dims, dtype=int) <= 20000
)
OPS = [
    ("reduce_max", np.maximum, tf.uint8),
    ("reduce_max", np.maximum, tf.float32),
    ("reduce_max", np.maximum, tf.bfloat16),
    ("reduce_min", np.minimum, tf.int16),
    ("reduce_min", np.minimum, tf.float64),
    ("reduce_sum", np.add, tf.float32),
    ("reduce_sum", np.add, tf.complex64),
    ("reduce_prod", np.multiply, tf.float64),
    ("reduce_sum", np.add, tf.int8),
    ("reduce_sum", np.add, tf.int64),
    ("reduce_prod", np.multiply, tf.int32),
    ("reduce_any", np.logical_or, tf.bool),
    ("reduce_all", np.logical_and, tf.bool),
]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(exact_reduction, "MIN_ELEMENTS", 1)


@pytest.mark.parametrize(("name", "ufunc", "dtype"), OPS)
@settings(deadline=None, max_examples=60)
@given(dims=DIMS, data=st.data(), keepdims=st.booleans(), seed=st.integers(0, 99))
def test_reductions(name, ufunc, dtype, dims, data, keepdims, seed):
    axes = data.draw(
        st.lists(st.sampled_from(range(len(dims))), unique=True) if dims else st.just([])
    )
    assume(0 not in dims or ufunc not in (np.maximum, np.minimum))
    values = np.random.RandomState(seed).randint(0, 3, dims)
    x = np.asarray(values).astype(dtype.as_numpy_dtype)
    found = getattr(tf, name)(x, axes, keepdims=keepdims).numpy()
    wide = x.astype(np.float64 if x.dtype.kind not in "iubc" else x.dtype)
    options = {"dtype": x.dtype} if x.dtype.kind in "iu" else {}
    wanted = ufunc.reduce(wide, axis=tuple(axes), keepdims=keepdims, **options)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(found, np.asarray(wanted).dtype), wanted)


@pytest.mark.parametrize("at", [0, 1, 50, 99])
@pytest.mark.parametrize("axis", [0, 1, [0, 1]])
def test_a_nan_stays(at, axis):
    x = np.random.RandomState(0).randn(100, 3).astype(np.float32)
    x[at, 1] = np.nan
    for function, ufunc in ((tf.reduce_max, np.maximum), (tf.reduce_min, np.minimum)):
        axes = tuple(np.atleast_1d(axis).tolist())
        np.testing.assert_array_equal(function(x, axis), ufunc.reduce(x, axis=axes))


def test_what_is_not_contiguous():
    x = np.arange(6000, dtype=np.int32).reshape(20, 100, 3)
    turned = tf.transpose(tf.constant(x), [2, 0, 1])
    np.testing.assert_array_equal(tf.reduce_max(turned, [1, 2]), x.max((0, 1)))
    np.testing.assert_array_equal(
        tf.reduce_sum(tf.constant(x)[:, ::2], [0, 1]), x[:, ::2].sum((0, 1))
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64"])
@pytest.mark.parametrize("shape", [(1000, 5), (300, 3, 4), (40, 60, 2)])
@pytest.mark.parametrize("axis", [0, 1, [0, 1]])
def test_sums_of_negative_zeros_are_zero(dtype, shape, axis):
    found = tf.reduce_sum(-tf.zeros(shape, dtype), axis).numpy()
    assert not np.signbit(found.real).any()


@pytest.mark.parametrize("shape", [(1000, 9), (90, 7, 13), (40, 60, 2), (2, 3, 900)])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max"])
def test_rounding_errors_are_those_of_few_operations(shape, name):
    x = np.random.default_rng(0).uniform(0.5, 1.5, shape)
    for axis in range(len(shape)):
        found = getattr(tf, f"reduce_{name}")(tf.constant(x, tf.float32), axis)
        np.testing.assert_allclose(found, getattr(np, name)(x, axis), rtol=shape[axis] * 1.2e-7)
