"""Pooling of volumes, with its gradients, against the NumPy kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import volume_pooling
from intaglio.ops.nn import pooling_kernels, windows

axis = st.tuples(st.integers(1, 7), st.integers(1, 3), st.integers(1, 3))


def along_of(batch, axes, channels, padding):
    """The axes of windows over volumes."""
    sizes, ksize, strides = zip((batch, 1, 1), *axes, (channels, 1, 1), strict=True)
    return windows.axes(sizes, ksize, strides, (1,) * 5, padding, ())


def some(shape, seed=0):
    """Small integers, of which sums are exact and many are equal."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def run(name, along, *arrays):
    kernel = volume_pooling.volumes(name, along)
    assert kernel is not None
    return kernel(*arrays)


@settings(deadline=None, max_examples=60)
@given(axis, axis, axis, st.integers(1, 20), st.sampled_from(["SAME", "VALID"]))
def test_any_windows(deep, down, across, channels, padding):
    assume(padding == "SAME" or all([size >= window for size, window, _ in (deep, down, across)]))
    along = along_of(2, (deep, down, across), channels, padding)
    x = some([a.size for a in along])
    most = pooling_kernels.maximum(x, along)
    np.testing.assert_array_equal(run("maximum", along, x), most)
    d = some([a.out for a in along], 1)
    wanted = pooling_kernels.maximum_gradient(x, most, d, along, always=False)
    np.testing.assert_array_equal(run("maximum_gradient", along, x, most, d), wanted)
    mean = pooling_kernels.mean(x, along)
    np.testing.assert_allclose(run("mean", along, x), mean, rtol=1e-5, atol=1e-6)
    wanted = pooling_kernels.mean_gradient(d, along)
    np.testing.assert_allclose(run("mean_gradient", along, d), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("window", [2, 3])
def test_gradients_of_windows_of_nothing_but_nan_go_nowhere(window):
    along = along_of(1, [(4, window, 2)] * 3, 3, "SAME")
    x = some([a.size for a in along])
    x[0, :3, :3, :3, 0], x[0, :, :, :, 1] = np.nan, -np.inf
    most = pooling_kernels.maximum(x, along)
    np.testing.assert_array_equal(run("maximum", along, x), most)
    d = some(most.shape, 1) + 5
    wanted = pooling_kernels.maximum_gradient(x, most, d, along, always=False)
    np.testing.assert_array_equal(run("maximum_gradient", along, x, most, d), wanted)
    assert not wanted[..., 1].any()


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
def test_windows_of_nothing_but_nan_and_infinities_in_compiled_functions(dtype):
    """Their maximum is the least finite number of the dtype, with which the search begins."""
    x = np.full((1, 4, 4, 6, 2), -np.inf, np.float32)
    x[0, :3, :3, 0], x[0, 3, 3, 3, 0] = np.nan, 1
    x[0, 0, 0, 5, 1] = dtype.min

    def pooled(t):
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = tf.nn.max_pool3d(t, 2, 2, "SAME")
        return y, tape.gradient(y, t)

    t = tf.cast(tf.constant(x), dtype)
    wanted = pooled(t)
    assert tf.reduce_all(tf.math.is_finite(wanted[0]))
    compiled = tf.function(pooled, jit_compile=True)
    for got, expected in zip(compiled(t), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_windows_over_channels_are_left_to_numpy():
    along = windows.axes((1, 2, 2, 2, 4), (1, 1, 1, 1, 2), (1, 1, 1, 1, 2), (1,) * 5, "VALID", ())
    assert volume_pooling.volumes("maximum", along) is None


@pytest.mark.parametrize("layout", ["NDHWC", "NCDHW"])
def test_training_on_volumes_is_that_of_eager_calls(layout):
    """Strided convolutions and pooling of volumes, with all gradients, are one native function."""

    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            h = tf.nn.max_pool3d(tf.nn.conv3d(x, w, [1, 2, 2, 2, 1], "SAME"), 2, 2, "SAME")
            h = tf.nn.avg_pool3d(h, 2, 1, "SAME")
            if layout == "NCDHW":
                h = tf.transpose(h, [0, 4, 1, 2, 3])
                h = tf.nn.max_pool3d(h, 3, 1, "SAME", data_format=layout)
            loss = tf.reduce_sum(h * h)
        return h, *tape.gradient(loss, [x, w])

    x = tf.random.stateless_normal([2, 9, 10, 11, 3], [1, 2])
    w = tf.random.stateless_normal([3, 3, 3, 3, 5], [3, 4])
    compiled = tf.function(step, jit_compile=True)
    for got, wanted in zip(compiled(x, w), step(x, w), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    if layout == "NDHWC":
        assert "NumPy" not in compiled.compile_report()
