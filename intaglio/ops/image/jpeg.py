"""The pixels of JPEG files, with the requested transform and smoothing.

Pillow's decoder has two modes: an accurate transform with colour smoothed where it is stored
coarser, and a fast one (a "draft") without. The fast one with smoothing, which is TensorFlow's
default, builds on the second: colour is smoothed here, and becomes RGB, in the integers of the
IJG's library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef.machine_code import exact_kernel

# Of red, green and blue, in parts of 65536: 1.402, 0.34414, 0.71414 and 1.772.
RED, GREEN_BLUE, GREEN_RED, BLUE = 91881, 22554, 46802, 116130
HALF = 1 << 15


def prepare(image: Any, mode: str, ratio: int, fast: bool) -> None:
    """Tells an opened file's decoder what to do: the mode, one pixel of how many, the transform."""
    width, height = (-(-side // ratio) for side in image.size)
    image.draft(mode, image.size)
    # What `draft` does for a size that divides the image's own.
    tile = image.tile[0]
    codec, _, offset, options = tile
    settings = (codec, (0, 0, width, height), offset, options)
    image.tile = [type(tile)(*settings) if hasattr(tile, "_fields") else settings]
    image._size = (width, height)
    image.decoderconfig = (ratio, fast)


def is_draft(image: Any, ratio: int, fast: bool, smooth: bool) -> bool:
    """Which of the decoder's two modes is nearer to the requested one."""
    if ratio > 1 and _coarser(image) in ((2, 1), (1, 2)):
        return not smooth  # for there is one transform to fewer pixels
    return fast


def _coarser(image: Any) -> tuple[int, int]:
    """How many pixels across and down have one colour in the file."""
    layers = getattr(image, "layer", ())
    factors = [layer[1:3] for layer in layers]
    plain = [layer[0] for layer in layers] == list(b"RGB")  # colour is stored as it is
    plain = plain or image.info.get("adobe_transform") == 0
    alike = image.mode == "RGB" and factors[1:] == [(1, 1), (1, 1)]
    return factors[0] if alike and not plain else (1, 1)


# What smoothing a pixel costs without machine code, in units of `machine_code.MIN_TOTAL_WORK`.
WORK_PER_PIXEL = 16
# Fewer columns of colours are not smoothed.
MIN_SMOOTHED_COLUMNS = 3

# Top, left, height and width.
Window = tuple[int, int, int, int]


def smoothed_draft(image: Any, window: Window | None = None) -> np.ndarray | None:
    """RGB of the fast transform with smoothed colour; None for a file that stores all colour,
    or in a subsampling that is never smoothed. A window, of the whole size, spares the rest."""
    across, down = _coarser(image)
    if (across, down) not in ((2, 1), (2, 2), (1, 2)):
        return None
    prepare(image, "YCbCr", 1, True)
    planes = np.asarray(image)
    if window is None or (planes.shape[1] + 1) // 2 < MIN_SMOOTHED_COLUMNS:
        return _smoothed(planes, across, down)
    top, left, height, width = window
    # Colours beside the window count too; the smoothed colours start with the window's own.
    above, before = max(top // 2 * 2 - 2, 0), max(left // 2 * 2 - 2, 0)
    part = planes[above : top + height + 4, before : left + width + 4]
    if (part.shape[1] + 1) // 2 < MIN_SMOOTHED_COLUMNS:
        part, before = planes[above : top + height + 4], 0
    pixels = _smoothed(part, across, down)[top - above :, left - before :]
    return pixels[:height, :width]


def _smoothed(planes: np.ndarray, across: int, down: int) -> np.ndarray:
    """The pixels [height, width, 3] of planes of Y, Cb and Cr, with these chroma subsampling
    factors."""
    height, width = planes.shape[:2]
    if (width + across - 1) // across >= MIN_SMOOTHED_COLUMNS:
        run = exact_kernel("jpeg colors", WORK_PER_PIXEL * height * width, across, down)
        if run is not None:
            return run(planes)
    planes = planes.astype(np.int32)
    smooth = _across if down == 1 else _both if across == 2 else _down
    y, *colors = (planes[..., i] for i in range(3))
    cb, cr = (smooth(c[::down, ::across])[:height, :width] - 128 for c in colors)
    smoothed = [
        y + (RED * cr + HALF >> 16),
        y + (-GREEN_BLUE * cb - GREEN_RED * cr + HALF >> 16),
        y + (BLUE * cb + HALF >> 16),
    ]
    return np.clip(np.stack(smoothed, axis=-1), 0, 255).astype(np.uint8)


def _sides(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The elements before and after each element; at the ends the element itself."""
    padded = np.concatenate([x.take([0], axis), x, x.take([-1], axis)], axis=axis)
    count = x.shape[axis]
    return padded.take(range(count), axis), padded.take(range(2, count + 2), axis)


def _interleaved(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
    """The elements of two arrays alternating."""
    pair = np.stack([first, second], axis=axis + 1)
    shape = list(first.shape)
    shape[axis] *= 2
    return pair.reshape(shape)


def _across(x: np.ndarray) -> np.ndarray:
    """Twice as wide: three parts of the nearer and one of the farther; the ends are themselves."""
    if x.shape[1] <= 2:
        return np.repeat(x, 2, axis=1)
    before, behind = _sides(x, 1)
    return _interleaved(3 * x + before + 1 >> 2, 3 * x + behind + 2 >> 2, 1)


def _down(x: np.ndarray) -> np.ndarray:
    """Twice as high."""
    above, below = _sides(x, 0)
    return _interleaved(3 * x + above + 1 >> 2, 3 * x + below + 2 >> 2, 0)


def _both(x: np.ndarray) -> np.ndarray:
    """Twice as wide and as high, rounded once."""
    if x.shape[1] <= 2:
        return np.repeat(np.repeat(x, 2, axis=1), 2, axis=0)
    above, below = _sides(x, 0)
    rows = _interleaved(3 * x + above, 3 * x + below, 0)
    before, behind = _sides(rows, 1)
    return _interleaved(3 * rows + before + 8 >> 4, 3 * rows + behind + 7 >> 4, 1)
