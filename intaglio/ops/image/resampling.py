"""Separable resampling: which elements along an axis make up each new one, and how much of each.

Resizing an image is one linear map along its rows and one along its columns. A map is kept as
`Taps`: for every new element K old indices and their weights. The gradient of a map is the
transposed map, in the same form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.opdef.machine_code import exact_kernel

# The cost of a tap without machine code, in units of `machine_code.MIN_TOTAL_WORK`.
WORK_PER_TAP = 2
# Images are resampled in blocks of about this many bytes: intermediate results fit into the cache.
BLOCK = 1 << 20


class Taps(NamedTuple):
    """The linear map along one axis: `indices` and `weight` have shape (K, new size).

    `between` marks two taps whose weights are 1 - t and t: they are computed as
    a + (b - a) * t, by which equal neighbours give exactly themselves.
    """

    indices: np.ndarray
    weight: np.ndarray
    size: int
    between: bool = False

    @property
    def out(self) -> int:
        """The number of new elements."""
        return self.indices.shape[1]

    @property
    def is_identity(self) -> bool:
        """True if the map is the identity."""
        return (
            self.out == self.size
            and bool((self.indices[0] == np.arange(self.size)).all())
            and bool((self.weight[0] == 1).all() and (self.weight[1:] == 0).all())
        )


def resample(images: np.ndarray, rows: Taps, columns: Taps, dtype: Any) -> np.ndarray:
    """Images [n, height, width, channels] resampled along both axes, computed in `dtype`."""
    count, _, _, channels = images.shape
    result = np.empty((count, rows.out, columns.out, channels), dtype)
    if not result.size:
        return result
    flat = np.repeat(columns.indices * channels, channels, axis=1)
    flat += np.tile(np.arange(channels), columns.out)
    along = columns._replace(indices=flat, weight=np.repeat(columns.weight, channels, axis=1))
    step = max(1, BLOCK // max(1, images[0].size * 4))
    for start in range(0, count, step):
        block = images[start : start + step].astype(dtype, copy=False)
        part = result[start : start + step]
        _both(
            block.reshape(len(block), rows.size, -1),
            rows,
            along,
            part.reshape(len(part), rows.out, -1),
        )
    return result


def _both(block: np.ndarray, rows: Taps, columns: Taps, out: np.ndarray) -> None:
    """Rows first where that leaves fewer of them: columns are the dearer axis."""
    if rows.out < rows.size:
        _applied(_applied(block, rows, 1), columns, 2, out)
    else:
        _applied(_applied(block, columns, 2), rows, 1, out)


def _applied(x: np.ndarray, taps: Taps, axis: int, out: np.ndarray | None = None) -> np.ndarray:
    """The map along an axis of [images, rows, elements]."""
    weight = taps.weight.astype(x.dtype, copy=False)
    if x.dtype == np.float32 and (out is None or out.flags.c_contiguous):
        size = x.size // x.shape[axis] * taps.out
        run = exact_kernel("resampling", WORK_PER_TAP * len(taps.indices) * size)
        if run is not None:
            return run(x, taps.indices, weight, axis, taps.between, out)
    if axis == 1:
        weight = weight[:, :, None]
    first = _taken(x, taps.indices[0], axis)
    if taps.between:
        other = _taken(x, taps.indices[1], axis)
        # A view is left as it is, a copy is written over.
        other = np.subtract(other, first, out=None if other.base is not None else other)
        other *= weight[1]
        return np.add(other, first, out=out)
    total = np.multiply(first, weight[0], out=out)
    part = np.empty_like(total)
    for index, factor in zip(taps.indices[1:], weight[1:], strict=True):
        total += np.multiply(_taken(x, index, axis), factor, out=part)
    return total


def _taken(x: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """The elements at `index`, as a view where the index is a slice of whole rows."""
    if axis == 1 and len(index) > 1:
        step = int(index[1] - index[0])
        if step > 0 and (np.diff(index) == step).all():
            return x[:, index[0] : index[-1] + 1 : step]
    return x.take(index, axis=axis, mode="clip")


def transposed(taps: Taps) -> Taps:
    """The map of gradients: from new elements back to the old ones."""
    weights = _weights(taps)
    old, new = taps.indices.reshape(-1), np.tile(np.arange(taps.out), len(taps.indices))
    order = np.argsort(old, kind="stable")
    counts = np.bincount(old, minlength=taps.size)
    first = np.cumsum(counts) - counts
    tap = np.arange(len(old)) - first[old[order]]
    most = max(1, int(counts.max(initial=0)))
    # Taps that an element does not need repeat one that it has, at weight 0.
    lead = np.zeros(taps.size, np.intp)
    lead[counts > 0] = new[order][first[counts > 0]]
    index = np.tile(lead, (most, 1))
    weight = np.zeros((most, taps.size), weights.dtype)
    index[tap, old[order]] = new[order]
    weight[tap, old[order]] = weights.reshape(-1)[order]
    return Taps(index, weight, taps.out)


def _weights(taps: Taps) -> np.ndarray:
    if not taps.between:
        return taps.weight
    return np.stack([1 - taps.weight[1], taps.weight[1]])


# -- maps ------------------------------------------------------------------------------


def scale_of(size: int, out: int, align_corners: bool) -> np.float32:
    """How many old elements one step among the new ones is."""
    if align_corners and out > 1:
        return np.float32((size - 1) / np.float32(out - 1))
    return np.float32(size) / np.float32(out)


def _coordinates(size: int, out: int, align: bool, half: bool) -> np.ndarray:
    """The coordinates of the new elements among the old ones."""
    scale, steps = scale_of(size, out, align), np.arange(out, dtype=np.float32)
    if half:
        return (steps + np.float32(0.5)) * scale - np.float32(0.5)
    return steps * scale


@functools.lru_cache(maxsize=256)
def linear(size: int, out: int, align: bool, half: bool) -> Taps:
    """Between the two nearest elements."""
    at = _coordinates(size, out, align, half)
    low = np.floor(at)
    lower = np.maximum(low, 0).astype(np.intp)
    upper = np.minimum(np.ceil(at), size - 1).astype(np.intp)
    part = at - low
    index = np.stack([np.minimum(lower, size - 1), upper])
    return Taps(index, np.stack([1 - part, part]), size, between=True)


@functools.lru_cache(maxsize=256)
def nearest(size: int, out: int, align: bool, half: bool) -> Taps:
    """The nearest element."""
    scale, steps = scale_of(size, out, align), np.arange(out, dtype=np.float32)
    if half:
        at = np.maximum(np.floor((steps + np.float32(0.5)) * scale), 0)
    elif align:
        at = np.floor(steps * scale + np.float32(0.5))
    else:
        at = np.floor(steps * scale)
    index = np.minimum(at, size - 1).astype(np.intp)[None]
    return Taps(index, np.ones((1, out), np.float32), size)


# The cubic's weights are read from a table of so many steps between two elements.
STEPS = 1024


@functools.cache
def _cubic_table(a: float) -> tuple[np.ndarray, np.ndarray]:
    """The cubic convolution kernel of Keys at distances [0, 1] and [1, 2]."""
    x = np.arange(STEPS + 1) / np.float64(STEPS)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near.astype(np.float32), far.astype(np.float32)


@functools.lru_cache(maxsize=256)
def cubic(size: int, out: int, align: bool, half: bool) -> Taps:
    """A cubic through the four nearest elements.

    With half pixel centers the kernel is that of Keys (a = -0.5), and elements outside the image
    have weight 0; without, a is -0.75 and the border is repeated.
    """
    at = _coordinates(size, out, align, half)
    low = np.floor(at)
    offset = np.rint((at - low) * np.float32(STEPS)).astype(np.intp)
    near, far = _cubic_table(-0.5 if half else -0.75)
    weight = np.stack([far[offset], near[offset], near[STEPS - offset], far[STEPS - offset]])
    wanted = low.astype(np.intp) + np.arange(-1, 3)[:, None]
    index = np.clip(wanted, 0, size - 1)
    if half:
        weight = np.where(wanted == index, weight, np.float32(0))
        weight = _normalised(weight)
    return Taps(index, weight, size)


def _normalised(weight: np.ndarray) -> np.ndarray:
    total = weight.sum(axis=0, dtype=np.float32)
    large = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    return np.where(large, weight / np.where(large, total, np.float32(1)), weight)


@functools.lru_cache(maxsize=256)
def area(size: int, out: int, align: bool) -> Taps:
    """The mean over the stretch of old elements that a new one covers."""
    scale, steps = scale_of(size, out, align), np.arange(out, dtype=np.float32)
    begin, end = steps * scale, (steps + np.float32(1)) * scale
    first = np.floor(begin).astype(np.intp)
    last = np.ceil(end).astype(np.intp)
    most = max(1, int((last - first).max(initial=1)))
    wanted = first + np.arange(most)[:, None]
    low, high = wanted.astype(np.float32), (wanted + 1).astype(np.float32)
    inside = np.where(high > end, end - low, np.float32(1))
    cut = np.where(high > end, scale, high - begin)
    weight = np.where(low < begin, cut, inside) * (wanted < last)
    weight = (weight / scale).astype(np.float32)
    return Taps(np.clip(wanted, 0, size - 1), weight, size)


# -- kernels of any reach --------------------------------------------------------------


def _lanczos(radius: float) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        angle = np.pi * np.where(x <= 1e-3, np.float32(1), x)
        value = radius * np.sin(angle) * np.sin(angle / radius) / (angle * angle)
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, value))

    return kernel


def _gaussian(x: np.ndarray) -> np.ndarray:
    return np.where(x >= 1.5, 0, np.exp(-x * x / (2 * 0.5 * 0.5)))


def _box(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.where(x < 1, 1 - x, 0)


def _keys(x: np.ndarray) -> np.ndarray:
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell(x: np.ndarray) -> np.ndarray:
    near = (7 / 6 * x - 2) * x * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


# The kernels by name: how far each reaches, and its weight at a distance.
KERNELS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _keys),
    "mitchellcubic": (2.0, _mitchell),
}


@functools.lru_cache(maxsize=256)
def weighted(
    size: int, out: int, scale: float, translation: float, kernel: str, antialias: bool
) -> Taps:
    """New elements at (old + translation) * scale, weighed by a kernel around each.

    With `antialias` the kernel is stretched as far as the image is shrunk.
    """
    radius, function = KERNELS[kernel]
    inverse = np.float32(1) / np.float32(scale)
    stretch = max(inverse, np.float32(1)) if antialias else np.float32(1)
    shift = -inverse * np.float32(translation)
    at = (np.arange(out, dtype=np.float32) + np.float32(0.5)) * inverse + shift
    reach = np.float32(radius) * stretch
    half = np.float32(0.5)
    first = np.clip(np.ceil(at - reach - half), 0, size - 1).astype(np.intp)
    last = np.clip(np.floor(at + reach - half), 0, size - 1).astype(np.intp)
    outside = (at < 0) | (at > size)
    first[outside], last[outside] = 0, -1
    most = max(1, int((last - first + 1).max(initial=1)))
    wanted = first + np.arange(most)[:, None]
    distance = np.abs((wanted + half - at).astype(np.float32) / stretch)
    weight = np.where(wanted <= last, function(distance).astype(np.float32), 0)
    return Taps(np.minimum(wanted, size - 1), _normalised(weight), size)
