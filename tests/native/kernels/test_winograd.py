"""Convolutions of 3x3 in fewer multiplications: exact where sums are, and nearly as accurate."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import convolution, winograd, winograd_filter_gradient
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.kinds import select
from intaglio.native.kernels.winograd_transforms import F2_TRANSFORM, F4_TRANSFORM
from tests.native.convolutions import exact, integers


def geometry(images, height, width, channels, filters, top=1, left=1, below=1, right=1):
    """A convolution of images that are padded on four sides."""
    down, across = height + top + below - 2, width + left + right - 2
    return Geometry(images, height, width, channels, down, across, filters, 3, 3, 1, 1, top, left)


def shapes(g):
    """The shapes of images, filters and the result's gradient."""
    return (
        (g.images, g.height, g.width, g.channels),
        (3, 3, g.channels, g.filters),
        (g.images, g.out_height, g.out_width, g.filters),
    )


def check(g):
    x, filters, d = integers(g.height * 31 + g.filters, *shapes(g))
    result, filter_gradient, input_gradient = exact(g, x, filters, d)
    np.testing.assert_array_equal(winograd.forward(g)(x, filters), result)
    np.testing.assert_array_equal(
        winograd_filter_gradient.filter_gradient(g)(x, d), filter_gradient
    )
    gradient = winograd.input_gradient(g)
    if gradient is not None:
        np.testing.assert_array_equal(gradient(filters, d), input_gradient)
    fast = winograd.forward(g, F4_TRANSFORM)(x, filters)
    np.testing.assert_allclose(fast, result, rtol=0, atol=4e-6 * abs(result).max(initial=1))
    fast = winograd_filter_gradient.filter_gradient(g, F4_TRANSFORM)(x, d)
    np.testing.assert_allclose(
        fast, filter_gradient, rtol=0, atol=8e-6 * abs(filter_gradient).max(initial=1)
    )


sizes, pad = st.integers(1, 11), st.integers(0, 3)


@settings(deadline=None, max_examples=120)
@given(st.integers(1, 3), sizes, sizes, st.integers(1, 40), st.integers(1, 140), pad, pad, pad, pad)
def test_any_geometry(images, height, width, channels, filters, top, left, below, right):
    below, right = max(below, 3 - height - top), max(right, 3 - width - left)
    g = geometry(images, height, width, channels, filters, top, left, below, right)
    if winograd.is_for(g):
        check(g)
    else:  # windows or taps that see only padding have their zeros from other kernels
        assert winograd.forward(g) is None


@pytest.mark.parametrize(
    ("channels", "filters"), [(70, 70), (300, 70), (70, 9), (16, 16), (3, 130)]
)
def test_several_blocks(channels, filters):
    g = geometry(3, 17, 12, channels, filters)
    tiles = 3 * 9 * 6
    assert tiles > 2 * winograd.block_of(tiles, winograd.L1_TILE_BYTES // 100, 0)
    check(g)


def test_blocks_are_for_the_first_cache_if_they_fit():
    near, most = winograd.L1_TILE_BYTES // 4, winograd.MAX_SCRATCH_BYTES // 4
    assert winograd.block_of(10**6, near // 25, 0, 12) == 24
    assert winograd.block_of(10**6, near // 11, 0, 12) == 12
    assert winograd.block_of(10**6, near // 11, 0, 12, 48) == 48
    assert winograd.block_of(10**6, most // 25, 0, 8, 64) == 24
    assert winograd.block_of(30, 100, 0, 12) == 36
    assert winograd.block_of(10**6, most, 1) == 0


def test_channels_that_do_not_fit_the_cache():
    g = geometry(1, 16, 16, 4000, 16)
    assert winograd.forward(g) is winograd_filter_gradient.filter_gradient(g) is None


def test_bias_and_floor():
    g = geometry(2, 7, 9, 20, 37)
    x, filters, _ = integers(5, *shapes(g))
    bias = np.arange(-18, 19, dtype=np.float32)
    x[0, 3, 4, 5] = np.nan
    wanted = winograd.forward(g)(x, filters) + bias
    np.testing.assert_array_equal(winograd.forward(g, biased=True)(x, filters, bias), wanted)
    relu = winograd.forward(g, biased=True, relu=True)(x, filters, bias)
    np.testing.assert_array_equal(relu, np.maximum(wanted, 0))
    assert np.isnan(relu).any()


@pytest.mark.parametrize(
    "g",
    [
        Geometry(1, 9, 9, 4, 9, 9, 4, 3, 2, 1, 1, 1, 0),
        Geometry(1, 9, 9, 4, 5, 9, 4, 3, 3, 2, 1, 1, 1),
        geometry(0, 9, 9, 4, 4),
    ],
    ids=["window", "stride", "empty"],
)
def test_what_it_is_not_for(g):
    assert winograd.forward(g) is None


@pytest.mark.parametrize("channels", [16, 64, 300])
def test_errors_are_of_the_size_of_the_sums_errors(channels):
    g = geometry(2, 12, 12, channels, 32)
    rng = np.random.default_rng(channels)
    x, filters, d = (rng.normal(size=s).astype(np.float32) for s in shapes(g))
    wanted = exact(g, x, filters, d)[0]
    # What rounding errors are measured by: the sum of the products' magnitudes.
    scale = exact(g, abs(x), abs(filters), d)[0] * np.finfo(np.float32).eps
    errors = {
        how.__name__: np.sqrt(np.mean(np.square((how.forward(g)(x, filters) - wanted) / scale)))
        for how in (winograd, convolution)
    }
    ours, sums = (errors[how.__name__] for how in (winograd, convolution))
    assert ours < 2 * sums
    assert np.abs((winograd.forward(g)(x, filters) - wanted) / scale).max() < 4


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("where", [(0, 0), (4, 4), (4, 5), (5, 5), (8, 3)])
def test_what_is_not_finite_reaches_one_pixel_further(where, value):
    g = geometry(2, 9, 9, 3, 2)
    x, filters = integers(1, *shapes(g)[:2])
    filters[filters == 0] = 1.0
    run = winograd.forward(g)
    before = run(x, filters)
    x[(1, *where, 1)] = value
    after = run(x, filters)
    assert np.isfinite(after[0]).all()
    y, z = np.indices((9, 9))
    far = np.maximum(abs(y - where[0]), abs(z - where[1]))
    assert not np.isfinite(after[1][far <= 1]).any()
    np.testing.assert_array_equal(after[1][far > 2], before[1][far > 2])


def test_an_image_is_the_same_alone_as_among_others():
    g = geometry(5, 13, 14, 20, 70)
    rng = np.random.default_rng(0)
    x, filters, _ = (rng.normal(size=s).astype(np.float32) for s in shapes(g))
    whole = winograd.forward(g)(x, filters)
    alone = winograd.forward(g._replace(images=1))
    for image, wanted in zip(x, whole, strict=True):
        np.testing.assert_array_equal(alone(image[None], filters)[0], wanted)


@pytest.mark.parametrize(
    ("g", "faster"),
    [
        (geometry(64, 16, 16, 64, 64), True),
        (geometry(64, 7, 7, 512, 512), True),
        (geometry(64, 32, 32, 64, 3), True),
        (geometry(64, 32, 32, 3, 64), False),
        (geometry(1, 8, 8, 128, 128), False),
        (geometry(64, 3, 3, 64, 64), False),
        (geometry(64, 16, 16, 64, 64)._replace(window_width=1), False),
        (geometry(64, 16, 16, 64, 64)._replace(stride_x=2), False),
    ],
)
def test_when_it_pays(g, faster):
    assert winograd.is_profitable(g) == faster


def test_it_is_used_where_it_pays(monkeypatch):
    seen = []

    def note(of, name):
        make = getattr(of, name)

        def noted(g, transform, **options):
            seen.append(((name, *options), transform))
            return make(g, transform, **options)

        monkeypatch.setattr(of, name, noted)

    note(winograd, "forward")
    note(winograd_filter_gradient, "filter_gradient")
    select.cache_clear()
    x, filters = IMAGES, FILTERS
    first = step(x, filters)
    compiled = tf.function(step, jit_compile=True)
    for got, wanted in zip(compiled(x, filters), first, strict=True):
        np.testing.assert_array_equal(got, wanted)
    kinds = [("forward",), ("forward", "transposed"), ("filter_gradient",)]
    assert len(seen) == 3
    assert {kind for kind, transform in seen if transform is F2_TRANSFORM} == {*kinds}
    tf.config.experimental.enable_tensor_float_32_execution(True)
    for got, wanted in zip(compiled(x, filters), first, strict=True):
        largest = np.abs(wanted).max()
        assert 0 < np.abs(got - wanted).max() < 1e-5 * largest
    assert {kind for kind, transform in seen if transform is F4_TRANSFORM} == {*kinds}
    select.cache_clear()


IMAGES = tf.random.stateless_normal([4, 15, 20, 40], [1, 2])
FILTERS = tf.random.stateless_normal([3, 3, 40, 24], [3, 4])


def step(x, filters):
    with tf.GradientTape() as tape:
        tape.watch([x, filters])
        y = tf.nn.conv2d(x, filters, 1, "SAME")
        loss = tf.reduce_sum(y**2)
    return y, *tape.gradient(loss, [x, filters])


# A process computes convolutions of one number of filters alone, with no code on disk: products for
# other panels of columns are null in their tables, and calling them would end the process.
ONE_WIDTH = """
import sys
import os
import subprocess
import sys

import numpy as np
from intaglio.native.kernels import winograd, winograd_filter_gradient
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.winograd_transforms import F2_TRANSFORM, F4_TRANSFORM
columns = int(sys.argv[1])
g = Geometry(2, 12, 12, 7, 12, 12, columns, 3, 3, 1, 1, 1, 1)
x, w = np.ones((2, 12, 12, 7), "f"), np.ones((3, 3, 7, columns), "f")
for transform in (F2_TRANSFORM, F4_TRANSFORM):
    found = winograd.forward(g, transform)(x, w)
    np.testing.assert_allclose(found[:, 1:-1, 1:-1], 63, rtol=1e-5)
    found = winograd_filter_gradient.filter_gradient(g, transform)(x, np.ones(g.shape, "f"))
    np.testing.assert_allclose(found[1, 1], 2 * 12 * 12, rtol=1e-5)
assert len(winograd.cells_table()._defined) <= 2
"""


@pytest.mark.parametrize("columns", [3, 40, 64, 100])
def test_a_process_compiles_the_products_of_its_filters_alone(columns):
    environment = {**os.environ, "INTAGLIO_CACHE": ""}
    command = [sys.executable, "-c", ONE_WIDTH, str(columns)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
