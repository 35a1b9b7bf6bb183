"""Images: resized along each axis by a matrix of weights, and sampled at places of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    ints,
    is_float,
    known,
    like,
    rank,
    shape,
    tensor,
    transpose,
)
from intaglio.opdef import raw

_NEAREST: dict[str, Callable[[Any], Any]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


class _Axis(NamedTuple):
    """An axis that is resized: its size, the new one, the scale, and the part of it that is taken."""

    size: int
    output: int
    scale: float
    start: float
    end: float


def _positions(axis: _Axis, mode: str) -> np.ndarray:
    """Where each element of the result is in the axis."""
    i = np.arange(axis.output, dtype=np.float64)
    size, scale = axis.size, axis.scale
    whole = size * scale
    if mode == "half_pixel_symmetric":
        middle = size / 2 * (1 - axis.output / whole)
        return middle + (i + 0.5) / scale - 0.5
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and whole != 1):
        return (i + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return np.full_like(i, -0.5)
    if mode == "align_corners":
        return i * (size - 1) / (whole - 1) if whole != 1 else np.zeros_like(i)
    if mode == "asymmetric":
        return i / scale
    if mode != "tf_crop_and_resize":
        raise ModelError(f"the coordinates {mode!r}")
    if axis.output == 1:
        return np.full_like(i, (axis.start + axis.end) * (size - 1) / 2)
    step = (axis.end - axis.start) * (size - 1) / (whole - 1)
    return axis.start * (size - 1) + i * step


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """The cubic kernel with the free coefficient a."""
    d = np.abs(distance)
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d < 1, inner, np.where(d < 2, outer, 0.0))


def _weights(c: Any, axis: _Axis, places: np.ndarray) -> np.ndarray:
    """The share of each element of the axis in each of the result: [output, size]."""
    linear = c.attr("mode", "nearest") == "linear"
    reach, a = (1, 0.0) if linear else (2, c.attr("cubic_coeff_a", -0.75))
    shrink = min(axis.scale, 1.0) if c.attr("antialias", 0) else 1.0
    start = int(np.floor(-reach / shrink) + 1)
    offsets = np.arange(start, 2 - start)
    base = np.ceil(places) - 1
    distance = (offsets - (places - base)[:, None]) * shrink
    shares = np.clip(1 - np.abs(distance), 0, 1) if linear else _cubic(distance, a)
    index = (base[:, None] + offsets).astype(int)
    if c.attr("exclude_outside", 0):
        shares = np.where((index >= 0) & (index < axis.size), shares, 0)
    if c.attr("exclude_outside", 0) or c.attr("antialias", 0):
        shares = shares / shares.sum(axis=1, keepdims=True)
    found = np.zeros((axis.output, axis.size))
    rows = np.broadcast_to(np.arange(axis.output)[:, None], index.shape)
    np.add.at(found, (rows, np.clip(index, 0, axis.size - 1)), shares)
    return found


def _resized(c: Any, x: Any, axes: dict[int, _Axis]) -> Any:
    kind = x.dtype
    mode = c.attr(
        "coordinate_transformation_mode", "half_pixel" if c.version >= 11 else "asymmetric"
    )
    nearest = c.attr("mode", "nearest") == "nearest"
    outside = None
    if not nearest and not (is_float(x) and kind.size >= 4):
        x = cast(x, dtypes.float32)
    for number, axis in axes.items():
        places = _positions(axis, mode)
        if mode == "tf_crop_and_resize":
            beyond = (places < 0) | (places > axis.size - 1)
            form = [1] * rank(x)
            form[number] = -1
            beyond = beyond.reshape(form)
            outside = beyond if outside is None else outside | beyond
        if nearest:
            rounding = c.attr("nearest_mode", "round_prefer_floor" if c.version >= 11 else "floor")
            index = np.clip(_NEAREST[rounding](places), 0, axis.size - 1).astype(np.int64)
            x = raw.GatherV2(x, index, number)
        elif axis.size != axis.output or axis.scale != 1 or axis.start != 0:
            x = _multiplied(x, _weights(c, axis, places), number)
    if outside is not None and outside.any():
        x = raw.SelectV2(outside, like(c.attr("extrapolation_value", 0.0), x), x)
    return _back(x, kind)


def _back(x: Any, kind: Any) -> Any:
    """The numbers in the dtype of the images, rounded if these are integers."""
    if x.dtype is kind or kind.is_floating:
        return cast(x, kind)
    bounds = np.float32(kind.min), np.float32(kind.max)
    return cast(raw.Minimum(raw.Maximum(raw.Rint(x), bounds[0]), bounds[1]), kind)


def _multiplied(x: Any, weights: np.ndarray, axis: int) -> Any:
    """The sums along an axis, each with its weights."""
    order = [i for i in range(rank(x)) if i != axis] + [axis]
    matrix = weights.T.astype(x.dtype.numpy)
    found = raw.BatchMatMulV2(transpose(x, order), matrix)
    return transpose(found, np.argsort(order))


def _fixed(x: Any) -> list[int]:
    sizes = dims(x)
    if None in sizes:
        raise ModelError("resizing a tensor whose shape is open")
    return [d or 0 for d in sizes]


@operator("Resize", "Upsample")
def _resize(c, x, *rest) -> Any:
    x = tensor(x)
    sizes_of_x = dims(x)
    # Before version 11 the scales are the second input, or an attribute.
    operands = rest if c.version >= 11 else (None, rest[0] if rest else None)
    roi, scales, sizes = [*operands, None, None, None][:3]
    axes = [a % len(sizes_of_x) for a in c.attr("axes", range(len(sizes_of_x)))]
    if c.version < 9 and scales is None:
        scales = np.array(c.attr("scales"))
    part = (
        None if roi is None or not np.size(known(roi, "the region")) else known(roi, "the region")
    )
    factors: list[float] = []
    if scales is not None and dims(scales)[0]:
        factors = [float(s) for s in known(scales, "the scales").reshape(-1)]
    # An open dimension that stays as it is, as that of a batch.
    stays = {a for a, f in zip(axes, factors, strict=False) if f == 1 and sizes_of_x[a] is None}
    if any([sizes_of_x[a] is None for a in axes if a not in stays]):
        raise ModelError("resizing a dimension whose size is open")
    own = [d or 0 for d in sizes_of_x]
    if factors:
        outputs = [int(np.floor(own[a] * f)) for a, f in zip(axes, factors, strict=True)]
    else:
        outputs, factors = _sized(c, own, axes, ints(sizes, "the sizes"))
    found: dict[int, _Axis] = {}
    for i, (a, output, factor) in enumerate(zip(axes, outputs, factors, strict=True)):
        begin, end = (part[i], part[len(axes) + i]) if part is not None else (0.0, 1.0)
        if a not in stays:
            found[a] = _Axis(own[a], output, factor, float(begin), float(end))
    return _resized(c, x, found)


def _sized(
    c: Any, own: Sequence[int], axes: Sequence[int], sizes: Sequence[int]
) -> tuple[list[int], list[float]]:
    """The sizes of the result, and the scales; with a policy one scale for all axes."""
    policy = c.attr("keep_aspect_ratio_policy", "stretch")
    factors = [s / own[a] for a, s in zip(axes, sizes, strict=True)]
    if policy == "stretch":
        return list(sizes), factors
    one = min(factors) if policy == "not_larger" else max(factors)
    return [int(np.floor(one * own[a] + 0.5)) for a in axes], [one] * len(axes)


# -- sampling at places of a grid --------------------------------------------------------------


def _reflected(x: Any, low: float, high: float) -> Any:
    """Places outside mirrored at the bounds, as often as it takes."""
    span = high - low
    if span <= 0:
        return raw.ZerosLike(x)
    distance = raw.FloorMod(raw.Sub(x, like(low, x)), like(2 * span, x))
    folded = raw.Minimum(distance, raw.Sub(like(2 * span, x), distance))
    return raw.AddV2(folded, like(low, x))


def _neighbours(mode: str, place: Any) -> list[tuple[Any, Any]]:
    """The whole numbers around a place, and their weights."""
    if mode in ("nearest",):
        return [(raw.Rint(place), like(1, place))]
    base = raw.Floor(place)
    part = raw.Sub(place, base)
    one = like(1, place)
    if mode in ("bilinear", "linear"):
        return [(base, raw.Sub(one, part)), (raw.AddV2(base, one), part)]
    found: list[tuple[Any, Any]] = []
    for offset in (-1, 0, 1, 2):
        distance = raw.Abs(raw.Sub(part, like(offset, place)))
        found.append((raw.AddV2(base, like(offset, place)), _cubic_share(distance, offset)))
    return found


def _cubic_share(d: Any, offset: int) -> Any:
    a = like(-0.75, d)
    square = raw.Mul(d, d)
    cube = raw.Mul(square, d)
    if offset in (0, 1):
        inner = raw.Sub(raw.Mul(like(1.25, d), cube), raw.Mul(like(2.25, d), square))
        return raw.AddV2(inner, like(1, d))
    outer = raw.Sub(raw.Mul(a, cube), raw.Mul(raw.Mul(like(5, d), a), square))
    outer = raw.AddV2(outer, raw.Mul(raw.Mul(like(8, d), a), d))
    return raw.Sub(outer, raw.Mul(like(4, d), a))


@operator("GridSample")
def _grid_sample(c, x, grid) -> Any:
    """Images at places from -1 to 1 along each spatial dimension, the last one first."""
    x, grid = tensor(x), tensor(grid)
    sizes = _fixed(x)[2:]
    corners, padding = c.attr("align_corners", 0), c.attr("padding_mode", "zeros")
    mode = c.attr("mode", "linear" if c.version >= 20 else "bilinear")
    images = transpose(x, [0, *range(2, rank(x)), 1])
    grid = cast(grid, x.dtype)
    choices: list[list[tuple[Any, Any]]] = []
    for i, size in enumerate(sizes):
        place = grid[..., len(sizes) - 1 - i]
        low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
        half = like((size - 1) / 2 if corners else size / 2, place)
        place = raw.Mul(raw.AddV2(place, like(1, place)), half)
        place = place if corners else raw.Sub(place, like(0.5, place))
        if padding == "border":
            place = raw.Minimum(raw.Maximum(place, like(0, place)), like(size - 1, place))
        elif padding == "reflection":
            place = _reflected(place, low, high)
        choices.append(
            [_inside(n, w, size, padding, (low, high)) for n, w in _neighbours(mode, place)]
        )
    total = None
    for combination in itertools.product(*choices):
        index = raw.Pack([cast(n, dtypes.int64) for n, _ in combination], axis=rank(grid) - 1)
        weight = combination[0][1]
        for _, other in combination[1:]:
            weight = raw.Mul(weight, other)
        part = raw.Mul(_taken(images, index), raw.ExpandDims(weight, -1))
        total = part if total is None else raw.AddV2(total, part)
    return transpose(total, [0, rank(x) - 1, *range(1, rank(x) - 1)])


def _inside(
    place: Any, weight: Any, size: int, padding: str, bounds: tuple[float, float]
) -> tuple[Any, Any]:
    """A whole number within the axis; outside of it there are zeros, or the padding's elements."""
    if padding == "reflection":
        place = raw.Rint(_reflected(place, *bounds))
    last = like(size - 1, place)
    clipped = raw.Minimum(raw.Maximum(place, like(0, place)), last)
    if padding == "zeros":
        weight = raw.Mul(weight, cast(raw.Equal(place, clipped), place.dtype))
    else:
        weight = raw.Mul(weight, raw.OnesLike(place))
    return clipped, weight


def _taken(images: Any, index: Any) -> Any:
    """The elements of each example at its own rows of indices."""
    own = shape(index)
    form = [1] * rank(index)
    form[0] = -1
    numbers = raw.Reshape(raw.Range(np.int64(0), own[0], np.int64(1)), np.array(form, np.int64))
    front = raw.ConcatV2([own[:-1], np.array([1], np.int64)], 0)
    rows = raw.ConcatV2([raw.BroadcastTo(numbers, front), index], rank(index) - 1)
    return raw.GatherNd(images, rows)


@operator("RoiAlign")
def _region_align(c, x, regions, batch) -> Any:
    """The mean, or the greatest, of samples in each bin of regions of images."""
    x, regions = tensor(x), tensor(regions)
    rows, columns = c.attr("output_height", 1), c.attr("output_width", 1)
    ratio, scale = c.attr("sampling_ratio", 0), c.attr("spatial_scale", 1.0)
    half = c.attr(
        "coordinate_transformation_mode", "half_pixel" if c.version >= 16 else "output_half_pixel"
    )
    if not ratio:
        raise ModelError(
            "a region's number of samples that follows from its size: sampling_ratio=0"
        )
    corners = raw.Mul(regions, like(scale, regions))
    corners = raw.Sub(corners, like(0.5, corners)) if half == "half_pixel" else corners
    height, width = _fixed(x)[2:]
    places: list[tuple[Any, int]] = []
    for low, high, count, size in ((1, 3, rows, height), (0, 2, columns, width)):
        start, extent = corners[:, low], raw.Sub(corners[:, high], corners[:, low])
        extent = extent if half == "half_pixel" else raw.Maximum(extent, like(1, extent))
        steps = (np.arange(count * ratio) + 0.5) / (count * ratio)
        along = raw.Mul(raw.ExpandDims(extent, 1), steps.astype(x.dtype.numpy))
        places.append((raw.AddV2(raw.ExpandDims(start, 1), along), size))
    images = transpose(raw.GatherV2(x, cast(batch, dtypes.int64), 0), [0, 2, 3, 1])
    found = _bilinear(images, places, c.attr("mode", "avg") == "max")
    own = raw.ConcatV2(
        [shape(found)[:1], np.array([rows, ratio, columns, ratio]), shape(found)[-1:]], 0
    )
    bins = raw.Reshape(found, own)
    reduce = raw.Max if c.attr("mode", "avg") == "max" else raw.Mean
    return transpose(reduce(bins, np.array([2, 4])), [0, 3, 1, 2])


def _bilinear(images: Any, places: Sequence[tuple[Any, int]], largest: bool) -> Any:
    """Images at all pairs of places along rows and columns; of what is outside, 0."""
    sides: list[list[tuple[Any, Any]]] = []
    for number, (place, size) in enumerate(places):
        within = raw.LogicalAnd(
            raw.GreaterEqual(place, like(-1, place)), raw.LessEqual(place, like(size, place))
        )
        inside = raw.Minimum(raw.Maximum(place, like(0, place)), like(size - 1, place))
        base = raw.Floor(inside)
        part = raw.Sub(inside, base)
        last = raw.Minimum(raw.AddV2(base, like(1, base)), like(size - 1, base))
        keep = cast(within, place.dtype)
        shares = [raw.Mul(raw.Sub(like(1, part), part), keep), raw.Mul(part, keep)]
        sides.append(
            [
                (raw.ExpandDims(i, 2 - number), raw.ExpandDims(w, 2 - number))
                for i, w in zip((base, last), shares, strict=True)
            ]
        )
    total = None
    for (row, first), (column, second) in itertools.product(*sides):
        whole = raw.BroadcastArgs(raw.Shape(row), raw.Shape(column))
        index = raw.Pack(
            [cast(raw.BroadcastTo(v, whole), dtypes.int64) for v in (row, column)], axis=3
        )
        part = raw.Mul(_taken(images, index), raw.ExpandDims(raw.Mul(first, second), -1))
        total = part if total is None else (raw.Maximum if largest else raw.AddV2)(total, part)
    return total
