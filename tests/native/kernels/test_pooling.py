"""Pooling and depthwise convolution, with their gradients, against the NumPy kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import depthwise_convolution
from intaglio.native.kernels.pooling import pooling
from intaglio.native.kernels.windows import Windows
from intaglio.opdef import machine_code
from intaglio.ops.nn import convolution_kernels, pooling_kernels, windows

size = st.integers(1, 9)
part = st.integers(1, 4)


@st.composite
def sliding(draw, gaps=False):
    """Windows, and the axes of rows and columns that they were made of."""
    width = draw(st.integers(1, 30) if gaps else size)
    height, channels = draw(size), draw(st.integers(1, 40))
    sizes, strides = (draw(part), draw(part)), (draw(part), draw(part))
    apart = (draw(part), draw(part)) if gaps else (1, 1)
    same = draw(st.booleans())
    reach = [(n - 1) * a + 1 for n, a in zip(sizes, apart, strict=True)]
    assume(same or (height >= reach[0] and width >= reach[1]))
    padding = "SAME" if same else "VALID"
    y, x = windows.axes((height, width), sizes, strides, apart, padding, ())
    places = (*sizes, *strides, y.before, x.before, *apart)
    w = Windows(2, height, width, channels, y.out, x.out, *places)
    return w, (y, x)


def some(shape, seed=0):
    """Small integers, of which sums are exact and many are equal."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def run(kernel, *arrays):
    assert kernel is not None
    return kernel(*arrays)


@settings(deadline=None, max_examples=100)
@given(sliding())
def test_pooling(case):
    w, (y, x) = case
    along = (
        windows.Axis(2, 1, 1, 1, 0, 0, 2),
        y,
        x,
        windows.Axis(w.channels, 1, 1, 1, 0, 0, w.channels),
    )
    images = some(w.in_shape)
    most = pooling_kernels.maximum(images, along)
    np.testing.assert_array_equal(run(pooling("maximum", w), images), most)
    d = some(w.out_shape, 1)
    wanted = pooling_kernels.maximum_gradient(images, most, d, along)
    got = run(pooling("maximum_gradient", w), images, most, d)
    np.testing.assert_array_equal(got, wanted)
    mean = pooling_kernels.mean(images, along)
    np.testing.assert_array_equal(run(pooling("mean", w), images), mean)
    wanted = pooling_kernels.mean_gradient(d, along)
    got = run(pooling("mean_gradient", w), d)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@settings(deadline=None, max_examples=100)
@given(sliding(gaps=True), st.integers(1, 5))
def test_depthwise_convolution(case, multiplier):
    w, along = case
    images, d = some(w.in_shape), some((*w.out_shape[:-1], w.channels * multiplier), 1)
    filters = some((w.window_height, w.window_width, w.channels, multiplier), 2)

    def kernel_of(make):
        return depthwise_convolution.with_multiplier(make, w, multiplier)

    wanted = convolution_kernels.depthwise(images, filters, along)
    got = run(kernel_of(depthwise_convolution.forward), images, filters)
    np.testing.assert_array_equal(got, wanted)
    wanted = convolution_kernels.depthwise_filter_gradient(images, d, along, multiplier)
    got = run(kernel_of(depthwise_convolution.filter_gradient), images, d)
    np.testing.assert_array_equal(got.reshape(wanted.shape), wanted)
    kernel = kernel_of(depthwise_convolution.input_gradient)
    if kernel is not None:
        wanted = convolution_kernels.depthwise_by_input(d, filters, along)
        np.testing.assert_array_equal(kernel(filters, d), wanted)


def test_nan_is_passed_over_and_the_search_begins_at_the_least_finite_number():
    w = Windows(1, 2, 4, 1, 1, 2, 2, 2, 2, 2, 0, 0)
    x = np.array([np.nan, 1, -np.inf, -np.inf, 2, np.nan, -np.inf, -np.inf], np.float32)
    least = np.finfo(np.float32).min
    got = run(pooling("maximum", w), x.reshape(1, 2, 4, 1))
    np.testing.assert_array_equal(got.ravel(), [2.0, least])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_large_ones_in_tf(monkeypatch, padding):
    """With and without machine code, through the public functions and their gradients."""

    def step(x, f):
        with tf.GradientTape() as tape:
            tape.watch([x, f])
            y = tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], padding)
            y = tf.nn.avg_pool2d(tf.nn.max_pool2d(y, 3, 2, padding), 2, 1, padding)
            loss = tf.reduce_sum(y * y)
        return y, *tape.gradient(loss, [x, f])

    x = tf.random.stateless_normal([3, 17, 19, 20], [1, 2])
    f = tf.random.stateless_normal([3, 3, 20, 1], [3, 4])
    wanted = step(x, f)
    monkeypatch.setattr(machine_code, "MIN_COMPILED_WORK", 1)
    for got, theirs in zip(step(x, f), wanted, strict=True):
        np.testing.assert_allclose(got, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 16, 21, 40])
def test_windows_of_two_by_two_side_by_side(channels):
    w = Windows(3, 8, 6, channels, 4, 3, 2, 2, 2, 2, 0, 0)
    sides = windows.axes((8, 6), (2, 2), (2, 2), (1, 1), "VALID", ())
    ends = (windows.Axis(n, 1, 1, 1, 0, 0, n) for n in (3, channels))
    along = (next(ends), *sides, next(ends))
    images, d = some(w.in_shape), some(w.out_shape, 1)
    images[0, 0, 0], images[1, 2:4, 2:4] = np.nan, np.nan
    most = pooling_kernels.maximum(images, along)
    np.testing.assert_array_equal(run(pooling("maximum", w), images), most)
    wanted = pooling_kernels.maximum_gradient(images, most, d, along)
    got = run(pooling("maximum_gradient", w), images, most, d)
    np.testing.assert_array_equal(got, wanted)
