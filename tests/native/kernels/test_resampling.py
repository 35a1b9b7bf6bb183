"""Images resampled by machine code have NumPy's bits, whatever the method and the sizes."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code
from intaglio.ops.image import resampling

RNG = np.random.default_rng(0)
SHAPES = [
    ((1, 1, 1, 1), (3, 3)), ((2, 5, 7, 3), (11, 4)), ((3, 20, 30, 1), (19, 31)), ((1, 64, 48, 3), (70, 33)),
    ((2, 33, 17, 5), (33, 40)), ((0, 4, 4, 3), (2, 2)), ((1, 100, 3, 2), (7, 90)),
]  # fmt: skip
METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]  # fmt: skip


def _both(call, monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    found = call()
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    return found, call()


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_resize(method, antialias, monkeypatch):
    for shape, size in SHAPES:
        x = RNG.standard_normal(shape).astype(np.float32)
        with monkeypatch.context() as patch:
            got, wanted = _both(
                lambda x=x, size=size: tf.image.resize(
                    x, size, method, antialias=antialias
                ).numpy(),
                patch,
            )
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("make", [resampling.linear, resampling.cubic])
def test_gradients_and_views(make, monkeypatch):
    for (n, height, width, channels), (rows, columns) in SHAPES:
        taps = [make(height, rows, False, True), make(width, columns, False, True)]
        down, across = map(resampling.transposed, taps)
        d = RNG.standard_normal((n, columns, rows, channels)).astype(np.float32)
        with monkeypatch.context() as patch:
            got, wanted = _both(
                lambda d=d, down=down, across=across: resampling.resample(
                    d.transpose(0, 2, 1, 3), down, across, np.float32
                ),
                patch,
            )
        np.testing.assert_array_equal(got, wanted)
