"""Convolutions of 3x3 in fewer multiplications: exact where sums are, and nearly as accurate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native import convolution, offers, winograd
from intaglio.native.convolution import Geometry
from tests.native.convolutions import exact, integers


def geometry(images, height, width, channels, filters, top=1, left=1, below=1, right=1):
    """A convolution of images that are padded on four sides."""
    down, across = height + top + below - 2, width + left + right - 2
    return Geometry(
        images, height, width, channels, down, across, filters, 3, 3, 1, 1, top, left
    )


def shapes(g):
    """The shapes of images, filters and the result's gradient."""
    return (
        (g.images, g.height, g.width, g.channels),
        (3, 3, g.channels, g.filters),
        (g.images, g.out_height, g.out_width, g.filters),
    )


def check(g):
    x, filters, d = integers(g.height * 31 + g.filters, *shapes(g))
    result, _, by_images = exact(g, x, filters, d)
    np.testing.assert_array_equal(winograd.forward(g)(x, filters), result)
    gradient = convolution.by_images(g, winograd.forward)
    if gradient is not None:
        np.testing.assert_array_equal(gradient(filters, d), by_images)


sizes, pad = st.integers(1, 11), st.integers(0, 3)


@settings(deadline=None, max_examples=120)
@given(st.integers(1, 3), sizes, sizes, st.integers(1, 40), st.integers(1, 140), pad, pad, pad, pad)  # fmt: skip
def test_any_geometry(
    images, height, width, channels, filters, top, left, below, right
):
    below, right = max(below, 3 - height - top), max(right, 3 - width - left)
    check(geometry(images, height, width, channels, filters, top, left, below, right))


@pytest.mark.parametrize("channels", [70, 1000])
def test_several_blocks(channels):
    g = geometry(3, 17, 12, channels, 70)
    tiles = 3 * 9 * 6
    assert tiles > 2 * winograd.MOST
    check(g)


def test_channels_that_do_not_fit_the_cache():
    assert winograd.forward(geometry(1, 16, 16, 4000, 16)) is None


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
        how.__name__: np.sqrt(
            np.mean(np.square((how.forward(g)(x, filters) - wanted) / scale))
        )
        for how in (winograd, convolution)
    }
    ours, sums = (errors[how.__name__] for how in (winograd, convolution))
    assert ours < 2 * sums
    assert np.abs((winograd.forward(g)(x, filters) - wanted) / scale).max() < 4


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("where", [(0, 0), (4, 4), (4, 5), (5, 5), (8, 3)])
def test_what_is_not_finite_spreads_one_pixel_further(where, value):
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
    assert winograd.pays(g) == faster


def test_it_is_used_where_it_pays(monkeypatch):
    seen = []
    forward = winograd.forward
    monkeypatch.setattr(winograd, "forward", lambda g: seen.append(g) or forward(g))
    offers.offer.cache_clear()

    def step(x, filters):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.nn.conv2d(x, filters, 1, "SAME") ** 2)
        return tape.gradient(loss, x)

    x = tf.random.stateless_normal([4, 15, 18, 40], [1, 2])
    filters = tf.random.stateless_normal([3, 3, 40, 24], [3, 4])
    compiled = tf.function(step, jit_compile=True)
    np.testing.assert_array_equal(compiled(x, filters), step(x, filters))
    assert [(g.channels, g.filters) for g in seen] == [(40, 24), (24, 40)]
