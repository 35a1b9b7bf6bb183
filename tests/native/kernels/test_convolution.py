"""Convolutions and their gradients against the NumPy kernels, for every kind of geometry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import col2im, convolution, im2col, strided_input_gradient
from intaglio.native.kernels.convolution import Geometry
from tests.native.convolutions import exact, integers


def check(g):
    deep = (g.depth,) if g.solid else ()
    x, filters, d = integers(
        g.height * 31 + g.filters,
        (g.images, *deep, g.height, g.width, g.channels),
        (*g.window, g.channels, g.filters),
        g.shape,
    )
    result, filter_gradient, input_gradient = exact(g, x, filters, d)
    for dtype in (np.float32, np.float64):
        x, filters, d = (a.astype(dtype) for a in (x, filters, d))
        forward = convolution.forward(g, dtype)
        assert forward is not None
        np.testing.assert_array_equal(forward(x, filters), result)
        for way in (convolution.filter_gradient, im2col.filter_gradient):
            run = way(g, dtype)
            if run is not None:
                np.testing.assert_array_equal(run(x, d), filter_gradient)
        run = im2col.forward(g, dtype)
        assert (run is None) == g.solid
        if run is not None:
            np.testing.assert_array_equal(run(x, filters), result)
        for way in (
            convolution.input_gradient,
            strided_input_gradient.input_gradient_by_phases,
            col2im.input_gradient_by_rows,
            col2im.input_gradient_at_once,
        ):
            run = way(g, dtype)
            if run is not None:
                np.testing.assert_array_equal(run(filters, d), input_gradient)


sizes = st.integers(1, 12)
small = st.integers(1, 5)


@settings(deadline=None, max_examples=120)
@given(
    sizes,
    sizes,
    st.integers(1, 9),
    st.integers(1, 140),
    small,
    small,
    st.integers(1, 3),
    st.integers(1, 3),
    st.booleans(),
)
def test_any_geometry(height, width, channels, filters, down, across, sy, sx, same):
    if same:
        oh, ow = -(-height // sy), -(-width // sx)
        top = max((oh - 1) * sy + down - height, 0) // 2
        left = max((ow - 1) * sx + across - width, 0) // 2
    else:
        assume(height >= down and width >= across)
        oh, ow, top, left = (height - down) // sy + 1, (width - across) // sx + 1, 0, 0
    check(Geometry(2, height, width, channels, oh, ow, filters, down, across, sy, sx, top, left))


SLIDING = st.tuples(*[st.integers(1, n) for n in (9, 3, 2, 3)], st.booleans())


@settings(deadline=None, max_examples=80)
@given(SLIDING, SLIDING, SLIDING, st.integers(1, 9), st.integers(1, 70), st.booleans())
def test_windows_with_gaps_and_over_volumes(z, y, x, channels, filters, solid):
    axes = []
    for size, window, stride, apart, same in (z, y, x):
        reach = (window - 1) * apart + 1
        assume(same or size >= reach)
        out = -(-size // stride) if same else (size - reach) // stride + 1
        before = max((out - 1) * stride + reach - size, 0) // 2 if same else 0
        axes.append((size, out, window, stride, before, apart))
    _, height, width = axes
    g = Geometry(
        2,
        height[0],
        width[0],
        channels,
        height[1],
        width[1],
        filters,
        *[n for pair in zip(height[2:], width[2:], strict=True) for n in pair],
    )
    check(g._replace(**dict(zip(DEEP, (True, *axes[0]), strict=True))) if solid else g)


DEEP = ("solid", "depth", "out_depth", "window_depth", "stride_z", "front", "apart_z")


def test_volumes_and_gaps_of_several_bands():
    volume = {"solid": True, "depth": 5, "out_depth": 3, "window_depth": 3}
    g = Geometry(2, 60, 40, 24, 60, 40, 16, 3, 3, 1, 1, 1, 1, **volume)
    assert g.band_rows < 60
    check(g)
    check(Geometry(2, 80, 60, 24, 80, 60, 16, 3, 3, 1, 1, 2, 2, 2, 2))


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_images_of_several_bands(stride):
    height, width = -(-100 // stride), -(-40 // stride)
    g = Geometry(3, 100, 40, 24, height, width, 16, 3, 3, stride, stride, 1, 1)
    assert g.band_rows < height
    check(g)


def along(size, window, stride, apart, same):
    """The length of a result, and the padding before."""
    reach = (window - 1) * apart + 1
    if not same:
        return (size - reach) // stride + 1, 0
    out = -(-size // stride)
    return out, max((out - 1) * stride + reach - size, 0) // 2


@pytest.mark.parametrize(
    ("height", "width", "channels", "window", "stride", "apart", "same"),
    [
        (1, 1067, 76, (1, 2), 1, 16, False),
        (1, 9001, 10, (1, 5), 1, 1, True),
        (1, 5003, 20, (1, 3), 1, 700, True),
        (3, 3000, 12, (3, 3), 2, 1, True),
        (5, 700, 40, (3, 3), 1, 2, True),
        (1, 40, 8000, (1, 3), 1, 1, True),
    ],
)
def test_rows_wider_than_the_buffer(height, width, channels, window, stride, apart, same):
    (oh, top), (ow, left) = (
        along(n, w, stride, apart, same) for n, w in zip((height, width), window, strict=True)
    )
    g = Geometry(
        2, height, width, channels, oh, ow, 3, *window, stride, stride, top, left, apart, apart
    )
    assert g.band_rows == 0
    assert 0 < g.span < ow
    assert (convolution.input_gradient(g) is not None) == (stride == 1)
    check(g)


def test_windows_larger_than_the_buffer_are_left_to_numpy():
    g = Geometry(1, 1, 9, 30000, 1, 9, 2, 1, 3, 1, 1, 0, 1)
    assert convolution.forward(g) is None
    assert convolution.filter_gradient(g) is None


@pytest.mark.parametrize("window", [1, 2, 3, 5])
@pytest.mark.parametrize("stride", [2, 3])
@pytest.mark.parametrize("before", [0, 1])
def test_strides_have_input_gradients(window, stride, before):
    out = (11 + before + window // 2 - window) // stride + 1
    g = Geometry(2, 11, 11, 5, out, out, 7, window, window, stride, stride, before, before)
    assert strided_input_gradient.input_gradient_by_phases(g) is not None
    check(g)


@pytest.mark.parametrize("before", [0, 2, 4])
@pytest.mark.parametrize("size", [(11, 8), (3, 17)])
def test_windows_that_see_nothing_of_an_image_give_nothing(size, before):
    height, width = size
    oh, ow = ((n + 2 * before - 2) // 2 + 1 for n in size)
    g = Geometry(3, height, width, 3, oh, ow, 5, 2, 2, 2, 2, before, before)
    assert col2im.input_gradient_by_rows(g) is not None
    assert col2im.input_gradient_at_once(g) is not None
    check(g)


@pytest.mark.parametrize("channels", [1, 3, 16, 17, 70])
def test_gradients_of_strides_some_rows_of_windows_at_a_time(channels):
    g = Geometry(2, 61, 83, channels, 31, 42, 9, 3, 3, 2, 2, 1, 1)
    assert 42 * 31 * 9 * channels > col2im.INITIAL_COLUMNS or channels == 1
    assert col2im.input_gradient_by_rows(g) is not None
    check(g)


@pytest.mark.parametrize("strides", [(1, 2), (2, 1), (2, 2), (3, 5)])
@pytest.mark.parametrize("size", [(9, 7), (4, 12), (1, 6)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pixels_that_windows_of_one_take(size, strides, dtype):
    out = [-(-n // s) for n, s in zip(size, strides, strict=True)]
    g = Geometry(3, *size, 5, *out, 18, 1, 1, *strides, 0, 0)
    x, filters, d = integers(1, (3, *size, 5), (1, 1, 5, 18), g.shape)
    result, filter_gradient, _ = exact(g, x, filters, d)
    x, filters, d = (a.astype(dtype) for a in (x, filters, d))
    forward = im2col.forward(g, dtype)
    gradient = im2col.filter_gradient(g, dtype)
    assert forward is not None
    assert gradient is not None
    np.testing.assert_array_equal(forward(x, filters), result)
    np.testing.assert_array_equal(gradient(x, d), filter_gradient)


def test_larger_and_padded_windows_are_others():
    taking = Geometry(2, 9, 9, 4, 5, 5, 4, 1, 1, 2, 2, 0, 0)
    assert im2col.skips(taking)
    for change in ({"window_width": 2}, {"top": 1}, {"out_height": 6}, {"solid": True}):
        assert not im2col.skips(taking._replace(**change))


def test_large_filters_are_read_once_or_left_to_products():
    few = Geometry(2, 3, 3, 512, 2, 2, 512, 3, 3, 2, 2, 1, 1)
    assert col2im.LARGE_FILTER_ELEMENTS < 9 * 512 * 512
    assert col2im.input_gradient(few) is not None
    check(few)
    assert col2im.input_gradient(few._replace(images=1 << 10)) is None


@pytest.mark.parametrize(
    "g",
    [
        Geometry(1, 5, 33, 256, 3, 17, 7, 3, 3, 2, 2, 1, 1),
        Geometry(2, 1, 4001, 5, 1, 2001, 7, 1, 5, 2, 2, 0, 2),
        Geometry(2, 1, 3000, 20, 1, 1500, 7, 1, 3, 2, 2, 0, 60, 1, 61),
        Geometry(1, 5, 900, 9, 3, 450, 3, 3, 3, 2, 2, 1, 0, 1, 1, True, 5, 3, 3, 2, 1),
    ],
)
def test_products_of_a_row_may_exceed_the_buffer(g):
    assert np.prod(g.window) * g.channels * g.out_width > col2im.INITIAL_COLUMNS
    assert col2im.input_gradient_by_rows(g) is not None
    check(g)


def test_products_of_a_window_may_not_exceed_the_buffer():
    g = Geometry(1, 9, 9, 1, 5, 5, 1, 3, 3, 2, 2, 1, 1)
    assert col2im.input_gradient_by_rows(g._replace(channels=col2im.SCRATCH_SIZE)) is None


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
def test_other_options_in_a_compiled_function(options):
    x = tf.random.stateless_normal([2, 6, 6, 6], [1, 2])
    filters = tf.random.stateless_normal([2, 2, 6, 4], [3, 4])
    compiled = tf.function(
        lambda: tf.nn.conv2d(x, filters, 1, "VALID", **options), jit_compile=True
    )
    np.testing.assert_allclose(
        compiled(), tf.nn.conv2d(x, filters, 1, "VALID", **options), rtol=1e-5
    )


ADVERSE = [
    ((1, 1, 4000, 16), (3, 3, 16, 16), 1, "SAME"),
    ((3, 4000, 1, 16), (3, 3, 16, 17), 1, "SAME"),
    ((7, 13, 9, 33), (3, 3, 33, 65), 1, "VALID"),
    ((2, 31, 57, 16), (3, 3, 16, 130), 1, [[0, 0], [3, 0], [0, 2], [0, 0]]),
    ((5, 17, 19, 48), (5, 5, 48, 16), 2, "SAME"),
    ((64, 9, 9, 16), (1, 1, 16, 16), 2, "SAME"),
    ((2, 40, 41, 17), (3, 3, 17, 33), 2, [[0, 0], [2, 1], [0, 3], [0, 0]]),
    ((0, 8, 8, 16), (3, 3, 16, 16), 1, "SAME"),
    ((4, 3, 3, 64), (3, 3, 64, 64), 1, "VALID"),
]


@pytest.mark.parametrize(("images", "filters", "stride", "padding"), ADVERSE)
def test_adverse_sizes_against_float64(images, filters, stride, padding):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s).astype(np.float32) for s in (images, filters)]

    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, stride, padding)
            loss = tf.reduce_sum(y * y)
        return [y, *tape.gradient(loss, [x, w])]

    wanted = step(*[tf.constant(a, tf.float64) for a in arrays])
    singles = [tf.constant(a) for a in arrays]
    for how in (step, tf.function(step, jit_compile=True)):
        for got, want in zip(how(*singles), wanted, strict=True):
            assert got.shape == want.shape
            largest = np.abs(want).max(initial=0.0)
            np.testing.assert_allclose(got, want, rtol=0, atol=2e-6 * largest)
