"""Convolutions and their gradients against the NumPy kernels, for every kind of geometry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native import convolution
from intaglio.native.convolution import Geometry


def exact(g, x, filters, d):
    """Result and gradients by sums over shifted images, in float64."""
    rows = (g.out_height - 1) * g.stride_y + g.window_height
    columns = (g.out_width - 1) * g.stride_x + g.window_width
    padded = np.zeros((g.images, rows + g.height, columns + g.width, g.channels))
    padded[:, g.top : g.top + g.height, g.left : g.left + g.width] = x
    result = np.zeros((g.images, g.out_height, g.out_width, g.filters))
    by_filters = np.zeros(filters.shape)
    by_padded = np.zeros(padded.shape)
    for i in range(g.window_height):
        for j in range(g.window_width):
            down = slice(i, i + (g.out_height - 1) * g.stride_y + 1, g.stride_y)
            across = slice(j, j + (g.out_width - 1) * g.stride_x + 1, g.stride_x)
            seen = padded[:, down, across]
            result += seen @ filters[i, j].astype(np.float64)
            by_filters[i, j] = np.tensordot(seen, d, ([0, 1, 2], [0, 1, 2]))
            by_padded[:, down, across] += d @ filters[i, j].T.astype(np.float64)
    inside = by_padded[:, g.top : g.top + g.height, g.left : g.left + g.width]
    return result, by_filters, inside


def check(g):
    rng = np.random.default_rng(g.height * 31 + g.filters)

    # Small integers: sums of their products are exact in float32.
    def some(*shape):
        return rng.integers(-4, 5, shape).astype(np.float32)

    x = some(g.images, g.height, g.width, g.channels)
    filters = some(g.window_height, g.window_width, g.channels, g.filters)
    d = some(g.images, g.out_height, g.out_width, g.filters)
    result, by_filters, by_images = exact(g, x, filters, d)
    forward = convolution.forward(g)
    assert forward is not None
    np.testing.assert_array_equal(forward(x, filters), result)
    run = convolution.by_filters(g)
    if run is not None:
        np.testing.assert_array_equal(run(x, d), by_filters)
    run = convolution.by_images(g)
    if run is not None:
        np.testing.assert_array_equal(run(filters, d), by_images)


sizes = st.integers(1, 12)
small = st.integers(1, 5)


@settings(deadline=None, max_examples=120)
@given(sizes, sizes, st.integers(1, 9), st.integers(1, 140), small, small, st.integers(1, 3), st.integers(1, 3), st.booleans())  # fmt: skip
def test_any_geometry(height, width, channels, filters, down, across, sy, sx, same):
    if same:
        oh, ow = -(-height // sy), -(-width // sx)
        top = max((oh - 1) * sy + down - height, 0) // 2
        left = max((ow - 1) * sx + across - width, 0) // 2
    else:
        assume(height >= down and width >= across)
        oh, ow, top, left = (height - down) // sy + 1, (width - across) // sx + 1, 0, 0
    check(
        Geometry(
            2, height, width, channels, oh, ow, filters, down, across, sy, sx, top, left
        )
    )


def test_images_of_several_bands():
    check(Geometry(3, 50, 40, 24, 50, 40, 16, 3, 3, 1, 1, 1, 1))


def test_images_that_are_too_wide_are_left_to_numpy():
    assert (
        convolution.forward(Geometry(1, 3, 9000, 16, 3, 9000, 1, 3, 3, 1, 1, 1, 1))
        is None
    )


def test_a_nan_stays_where_it_belongs():
    g = Geometry(1, 9, 9, 1, 9, 9, 1, 3, 3, 1, 1, 1, 1)
    x = np.zeros((1, 9, 9, 1), np.float32)
    x[0, 4, 4] = np.nan
    run = convolution.forward(g)
    assert run is not None
    assert np.isnan(run(x, np.ones((3, 3, 1, 1), np.float32))).sum() == 9


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [2, 1], [0, 3], [0, 0]]])
@pytest.mark.parametrize("strides", [1, 2])
def test_in_a_compiled_function(padding, strides):
    def step(x, filters):
        with tf.GradientTape() as tape:
            tape.watch([x, filters])
            y = tf.nn.conv2d(x, filters, strides, padding)
            loss = tf.reduce_sum(tf.tanh(y) * tf.range(1.0, 5.0))
        return y, *tape.gradient(loss, [x, filters])

    x = tf.random.stateless_normal([2, 9, 8, 3], [1, 2])
    filters = tf.random.stateless_normal([3, 2, 3, 4], [3, 4])
    compiled = tf.function(step, jit_compile=True)
    for _ in range(2):
        for got, wanted in zip(compiled(x, filters), step(x, filters), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("options", [{"dilations": 2}, {"data_format": "NCHW"}])
def test_what_is_left_to_numpy(options):
    x = tf.random.stateless_normal([2, 6, 6, 6], [1, 2])
    filters = tf.random.stateless_normal([2, 2, 6, 4], [3, 4])
    compiled = tf.function(
        lambda: tf.nn.conv2d(x, filters, 1, "VALID", **options), jit_compile=True
    )
    np.testing.assert_allclose(
        compiled(), tf.nn.conv2d(x, filters, 1, "VALID", **options), rtol=1e-5
    )
