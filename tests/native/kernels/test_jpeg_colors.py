"""Pixels of JPEG files from machine code are those of NumPy; windows are parts of the whole."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.native.kernels.jpeg_colors import FACTORS, smoothing
from intaglio.ops.image import jpeg

RNG = np.random.default_rng(0)
SIZES = [(1, 5), (2, 6), (3, 7), (5, 21), (16, 22), (17, 23), (33, 64), (9, 131), (200, 333)]
SUBSAMPLINGS = {(2, 1): "4:2:2", (2, 2): "4:2:0"}


def _planes(height, width, across, down):
    planes = RNG.integers(0, 256, (height, width, 3)).astype(np.uint8)
    colors = planes[::down, ::across, 1:]
    planes[..., 1:] = colors.repeat(down, 0)[:height].repeat(across, 1)[:, :width]
    return planes


@pytest.mark.parametrize("factors", FACTORS)
def test_the_same_pixels(factors, monkeypatch):
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    run = smoothing(*factors)
    assert run is not None
    for height, width in SIZES:
        if -(-width // factors[0]) < jpeg.MIN_SMOOTHED_COLUMNS:
            continue
        planes = _planes(height, width, *factors)
        np.testing.assert_array_equal(run(planes), jpeg._smoothed(planes, *factors))


def test_factors_without_a_kernel():
    assert smoothing(4, 1) is None


@pytest.mark.parametrize("factors", SUBSAMPLINGS)
@pytest.mark.parametrize("compiled", [True, False])
def test_a_window_is_a_part_of_the_image(factors, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    height, width = 37, 53
    file = io.BytesIO()
    pixels = _planes(height, width, *factors)
    Image.fromarray(pixels).save(file, "JPEG", subsampling=SUBSAMPLINGS[factors])
    data = file.getvalue()
    whole = tf.io.decode_jpeg(data).numpy()
    windows = [(0, 0, height, width), (0, 0, 1, 1), (36, 52, 1, 1), (1, 1, 2, 2), (35, 0, 2, 53)]
    for _ in range(20):
        top, left = RNG.integers(0, height), RNG.integers(0, width)
        windows.append(
            (top, left, RNG.integers(1, height - top + 1), RNG.integers(1, width - left + 1))
        )
    for top, left, rows, columns in windows:
        part = tf.io.decode_and_crop_jpeg(data, [top, left, rows, columns]).numpy()
        np.testing.assert_array_equal(part, whole[top : top + rows, left : left + columns])
