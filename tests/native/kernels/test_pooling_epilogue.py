"""Convolutions that end with pooling: the same bits as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.native.kernels import convolution, winograd, winograd_pooling
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.pooling import pooling
from intaglio.native.kernels.pooling_epilogue import Pooling
from intaglio.native.kernels.windows import Windows
from intaglio.native.kernels.winograd_transforms import F2_TRANSFORM, F4_TRANSFORM
from intaglio.ops.fused import CUT

KINDS = [
    Pooling(),
    Pooling(whole=True),
    Pooling(argmax=True),
    Pooling(argmax=True, whole=True),
    Pooling(mean=True),
    Pooling(mean=True, whole=True),
]


def given(g):
    rng = np.random.default_rng(g.filters)
    x = rng.normal(size=(g.images, g.height, g.width, g.channels)).astype(np.float32)
    x[0, :6, :6, 0] = np.nan
    filters = rng.normal(size=(*g.window, g.channels, g.filters)).astype(np.float32)
    return x, filters, rng.normal(size=g.filters).astype(np.float32)


def places_of(y):
    """Where the first maximum of each window of 2x2 is, with what `pooled` says besides."""
    windows = np.stack([y[:, i::2, j::2] for i in (0, 1) for j in (0, 1)])
    there = np.where(np.isnan(windows), np.float32(-np.inf), windows)
    places = there.argmax(0)
    return np.where(there.max(0) > 0, places, places | CUT)


def check(g, kind, relu, run, finished):
    arrays = given(g)
    y = finished(*arrays)
    name = "mean" if kind.mean else "maximum"
    w = Windows(g.images, g.out_height, g.out_width, g.filters, g.out_height // 2, g.out_width // 2, 2, 2, 2, 2, 0, 0)  # fmt: skip
    wanted = [y] * kind.whole + [pooling(name, w)(y)]
    if kind.argmax:
        wanted.append(places_of(y))
    made = run(*arrays)
    assert len(made) == len(wanted)
    for got, want in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", [F2_TRANSFORM, F4_TRANSFORM])
@pytest.mark.parametrize("filters", [16, 21, 130])
def test_in_registers(kind, transform, filters):
    g = Geometry(3, 12, 8, 20, 12, 8, filters, 3, 3, 1, 1, 1, 1)
    run = winograd_pooling.forward(g, kind, transform, relu=True)
    finished = winograd.forward(g, transform, biased=True, relu=True)
    check(g, kind, True, run, finished)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("stride", [1, 2])
def test_in_cache(kind, relu, stride):
    if kind.argmax and not relu:
        pytest.skip("places are those after Relu")
    out = 40 // stride
    g = Geometry(2, 40, 40, 3, out, out, 21, 3, 3, stride, stride, 1, 1)
    run = convolution.pooled(g, relu, kind)
    check(g, kind, relu, run, convolution.finished(g, relu))


def test_what_has_no_windows_of_two_by_two():
    g = Geometry(2, 9, 8, 20, 9, 8, 16, 3, 3, 1, 1, 1, 1)
    assert convolution.pooled(g, True, Pooling()) is None
    assert winograd_pooling.forward(g, Pooling()) is None
    # Windows of the larger tiles must not end outside of the results.
    g = Geometry(2, 10, 10, 20, 10, 10, 16, 3, 3, 1, 1, 1, 1)
    assert winograd_pooling.forward(g, Pooling()) is not None
    assert winograd_pooling.forward(g, Pooling(), F4_TRANSFORM) is None
