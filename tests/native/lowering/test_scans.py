"""Running totals of machine code are those of NumPy's kernels, along any axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

TOLERANCE = {tf.float16: 4e-3, tf.bfloat16: 3e-2, tf.float32: 2e-6, tf.float64: 1e-13}


@pytest.mark.parametrize("dtype", TOLERANCE)
@settings(deadline=None, max_examples=25)
@given(
    shape=st.lists(st.sampled_from([1, 2, 3, 8, 17, 35]), min_size=1, max_size=3),
    data=st.data(),
    exclusive=st.booleans(),
    reverse=st.booleans(),
    seed=st.integers(0, 99),
)
def test_logarithms_of_sums(dtype, shape, data, exclusive, reverse, seed):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    random = np.random.RandomState(seed)
    x = random.choice([-np.inf, -300.0, -1.0, 0.0, 0.5, 2.0, 80.0], shape) + random.rand(*shape)
    x = tf.constant(x, dtype)

    def run(x):
        return tf.math.cumulative_logsumexp(x, axis, exclusive, reverse)

    compiled = tf.function(run, jit_compile=True)
    found, wanted = (tf.cast(f(x), tf.float64).numpy() for f in (compiled, run))
    assert "kernel" in compiled.compile_report()
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 4)


@pytest.mark.parametrize("shape", [(6,), (9, 6), (6, 20)])
def test_infinities_and_nans(shape):
    x = np.zeros(shape, np.float32)
    flat = x.reshape(-1)
    flat[1], flat[2], flat[4] = -np.inf, np.inf, np.nan
    for axis in range(len(shape)):

        def run(x, axis=axis):
            return tf.math.cumulative_logsumexp(x, axis)

        found = tf.function(run, jit_compile=True)(x)
        np.testing.assert_allclose(found, run(x), rtol=1e-6)


@settings(deadline=None, max_examples=40)
@given(
    shape=st.lists(st.sampled_from([1, 2, 5, 16, 33]), min_size=1, max_size=3),
    data=st.data(),
    exclusive=st.booleans(),
    reverse=st.booleans(),
)
def test_sums_and_products_have_the_same_bits(shape, data, exclusive, reverse):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    function = data.draw(st.sampled_from([tf.cumsum, tf.math.cumprod]))
    dtype = data.draw(st.sampled_from([tf.float32, tf.float64, tf.int32, tf.bfloat16]))
    x = tf.cast(np.random.RandomState(1).rand(*shape) * 3, dtype)

    def run(x):
        return function(x, axis, exclusive, reverse)

    found = tf.function(run, jit_compile=True)(x)
    assert found.numpy().tobytes() == run(x).numpy().tobytes()
