"""Convolution and its gradients as matrix products over arrays of windows.

Arrays are channels-last here, and filters have the shape (*window, channels in, channels
out), for any number of spatial dimensions. The batch is worked through in pieces whose
windows, written out as rows of a matrix, stay in the processor's cache.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from intaglio.opdef import short_floats
from intaglio.ops.compiled import select_kernel
from intaglio.ops.linalg.matmul import dot
from intaglio.ops.math.summation import add_reduce
from intaglio.ops.nn import windows
from intaglio.ops.nn.convolution_by_taps import seen_taps
from intaglio.ops.nn.windows import Axis

# Elements of the im2col matrix built at a time.
PIECE_ELEMENTS = 1 << 18
# With fewer channels than this, windows are copied element by element of the window
# (long runs along the rows) rather than window by window (runs of `channels` numbers).
MAX_SMALL_CHANNELS = 8
# From sums of this many terms on products are compiled code's.
MIN_LONG_ROW = 256


def taps(along: Sequence[Axis]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """The window's taps: the index in the window, and its slices of the padded array."""
    for index in itertools.product(*[range(a.window) for a in along]):
        slices = [a.slice_of(i) for a, i in zip(along, index, strict=True)]
        yield index, (slice(None), *slices)


def _pieces(batch: int, row: int) -> Iterator[slice]:
    step = max(1, PIECE_ELEMENTS // max(row, 1))
    for start in range(0, batch, step):
        yield slice(start, min(batch, start + step))


def _rows(x: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """The windows of a padded array as the rows of a matrix."""
    depth = prod([a.window for a in along]) * x.shape[-1]
    if not any(a.moves for a in along):
        return x.reshape(-1, depth)
    view = windows.patches(x, along)
    count = view.size // depth if depth else 0
    if x.shape[-1] < MAX_SMALL_CHANNELS:
        n = len(along)
        order = (*range(n + 1, 2 * n + 2), *range(n + 1))
        return view.transpose(order).reshape(depth, count).T
    return view.reshape(count, depth)


def _skips(along: Sequence[Axis]) -> bool:
    """True for windows of one element with strides."""
    return all(a.window == 1 and not a.padded for a in along) and any(a.stride > 1 for a in along)


def _taken(x: np.ndarray, along: Sequence[Axis]) -> tuple[np.ndarray, list[Axis]]:
    """The elements under windows of one element with strides, and such windows without strides."""
    seen = np.ascontiguousarray(x[:, *[a.slice_of(0) for a in along]])
    return seen, [Axis(a.out, 1, 1, 1, 0, 0, a.out) for a in along]


def _by_short_kernel(
    kind: str, along: Sequence[Axis], x: Sequence[int], shape: Sequence[int], *arrays: np.ndarray
) -> np.ndarray | None:
    """The kernel of a convolution of 16-bit floats with images and filters of these shapes, if
    there is one."""
    work = prod([*x[:1], *[a.out for a in along], *shape])
    run = select_kernel(kind, arrays[0].dtype, work, tuple(x), tuple(shape), tuple(along))
    return run and run(*arrays)


def forward(x: np.ndarray, filters: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """The convolution of (N, *S, C) with (*window, C, O): (N, *out, O)."""
    if x.dtype.itemsize == 2:
        result = _by_short_kernel("convolution", along, x.shape, filters.shape, x, filters)
        if result is not None:
            return result
        x, filters = short_floats.widened(x), short_floats.widened(filters)
    if _skips(along):
        x, along = _taken(x, along)
    outs = tuple([a.out for a in along])
    matrix = filters.reshape(prod(filters.shape[:-1]), filters.shape[-1])
    result = np.empty((len(x), *outs, filters.shape[-1]), x.dtype)
    if not result.size:
        return result
    if not matrix.size:
        result.fill(0)  # empty sums
        return result
    work = result.size * matrix.shape[0]
    run = select_kernel("convolution", x.dtype, work, x.shape, filters.shape, tuple(along))
    if run is not None:
        return run(x, filters)
    x = windows.padded(x, along)
    for piece in _pieces(len(x), prod(outs) * matrix.shape[0]):
        part = result[piece].reshape(-1, matrix.shape[1])
        rows = _rows(x[piece], along)
        if len(matrix) < MIN_LONG_ROW:
            np.matmul(rows, matrix, out=part)
        else:  # a copy of the result is little beside the product
            part[...] = dot(rows, matrix)
    return result


def filter_gradient(x: np.ndarray, d: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """The gradient of `forward` by the filters, for the gradient `d` (N, *out, O)."""
    if x.dtype.itemsize == 2:
        filters = (*[a.window for a in along], x.shape[-1], d.shape[-1])
        kind = "convolution filter gradient"
        result = _by_short_kernel(kind, along, x.shape, filters, x, d)
        if result is not None:
            return result
        x, d = short_floats.widened(x), short_floats.widened(d)
    if _skips(along):
        x, along = _taken(x, along)
    depth = prod([a.window for a in along]) * x.shape[-1]
    shape = (*[a.window for a in along], x.shape[-1], d.shape[-1])
    kind = "convolution filter gradient"
    run = select_kernel(kind, x.dtype, d.size * depth, x.shape, shape, tuple(along))
    if run is not None:
        return run(x, d)
    if not (d.size and depth and x.size):
        return np.zeros(shape, x.dtype)
    x = windows.padded(x, along)

    def part(piece: slice) -> np.ndarray:
        return dot(_rows(x[piece], along).T, d[piece].reshape(-1, d.shape[-1]))

    # Sums may be as large as the filters of deep layers: the first is not added to zeros.
    pieces = _pieces(len(x), prod(d.shape[1:-1]) * depth // 2)
    total = part(next(pieces))
    for piece in pieces:
        total += part(piece)
    return total.reshape(shape)


def by_input(d: np.ndarray, filters: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """The gradient of `forward` by its input, (N, *S, C)."""
    channels, outputs = filters.shape[-2:]
    shape = (len(d), *[a.size for a in along], channels)
    if d.dtype.itemsize == 2:
        kind = "convolution input gradient"
        result = _by_short_kernel(kind, along, shape, filters.shape, filters, d)
        if result is not None:
            return result
        d, filters = short_floats.widened(d), short_floats.widened(filters)
    kind, work = "convolution input gradient", d.size * filters.size // max(outputs, 1)
    run = select_kernel(kind, d.dtype, work, shape, filters.shape, tuple(along))
    if run is not None:
        return run(filters, d)
    if _skips(along):
        result = np.zeros(shape, d.dtype)
        seen = [Axis(a.out, 1, 1, 1, 0, 0, a.out) for a in along]
        result[:, *[a.slice_of(0) for a in along]] = by_input(d, filters, seen)
        return result
    if all(a.stride == 1 and _reversible(a) for a in along) and (
        outputs <= 2 * channels
        and channels >= MAX_SMALL_CHANNELS
        and filters.size <= d.size  # turning them round is a copy
    ):
        return _by_input_reversed(d, filters, along)
    shape = (len(d), *[a.before + a.size + a.after for a in along], channels)
    result = np.zeros(shape, d.dtype)
    if d.size:
        flat = d.reshape(-1, outputs)
        for index, slices in taps(along):
            part = dot(flat, filters[index].T)
            result[slices] += part.reshape(*d.shape[:-1], channels)
    return np.ascontiguousarray(result[windows.inside(along)])


def _reversible(a: Axis) -> bool:
    reach = (a.window - 1) * a.dilation
    return a.before <= reach and a.after <= reach


def _by_input_reversed(d: np.ndarray, filters: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """With stride 1 the gradient is the convolution with the rotated filters."""
    flipped = filters[tuple([slice(None, None, -1)] * len(along))].swapaxes(-1, -2)
    back = []
    for a in along:
        reach = (a.window - 1) * a.dilation
        after = a.size + reach - a.out - (reach - a.before)
        back.append(Axis(a.out, a.window, 1, a.dilation, reach - a.before, after, a.size))
    return forward(d, np.ascontiguousarray(flipped), back)


# -- groups ----------------------------------------------------------------------------


def _groups(x: np.ndarray, filters: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """The input and output channels of each group."""
    inner, outputs = filters.shape[-2:]
    groups = x.shape[-1] // inner
    each = outputs // groups
    for g in range(groups):
        yield slice(g * inner, (g + 1) * inner), slice(g * each, (g + 1) * each)


def grouped_forward(x: np.ndarray, filters: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """`forward`, the channels in groups if the filters are narrower than the input."""
    if x.shape[-1] == filters.shape[-2]:
        return forward(x, filters, along)
    work = len(x) * prod([a.out for a in along]) * filters.size
    run = select_kernel("convolution", x.dtype, work, x.shape, filters.shape, tuple(along))
    if run is not None:
        return run(x, filters)
    parts = [
        forward(np.ascontiguousarray(x[..., i]), filters[..., o], along)
        for i, o in _groups(x, filters)
    ]
    return np.concatenate(parts, -1)


def grouped_filter_gradient(
    x: np.ndarray, d: np.ndarray, along: Sequence[Axis], inner: int
) -> np.ndarray:
    """`by_filters` for filters of `inner` input channels."""
    if x.shape[-1] == inner:
        return filter_gradient(x, d, along)
    shape = (*[a.window for a in along], inner, d.shape[-1])
    work, kind = d.size * prod(shape[:-1]), "convolution filter gradient"
    run = select_kernel(kind, x.dtype, work, x.shape, shape, tuple(along))
    if run is not None:
        return run(x, d)
    groups = x.shape[-1] // inner
    each = d.shape[-1] // groups
    parts = [
        filter_gradient(
            np.ascontiguousarray(x[..., g * inner : (g + 1) * inner]),
            np.ascontiguousarray(d[..., g * each : (g + 1) * each]),
            along,
        )
        for g in range(groups)
    ]
    return np.concatenate(parts, -1)


def grouped_by_input(
    d: np.ndarray, filters: np.ndarray, along: Sequence[Axis], channels: int
) -> np.ndarray:
    """`by_input` for an input of `channels` channels."""
    inner, outputs = filters.shape[-2:]
    if inner == channels:
        return by_input(d, filters, along)
    groups = channels // inner
    each = outputs // groups
    shape = (len(d), *[a.size for a in along], channels)
    work, kind = d.size * filters.size // max(outputs, 1), "convolution input gradient"
    run = select_kernel(kind, d.dtype, work, shape, filters.shape, tuple(along))
    if run is not None:
        return run(filters, d)
    parts = [
        by_input(
            np.ascontiguousarray(d[..., g * each : (g + 1) * each]),
            np.ascontiguousarray(filters[..., g * each : (g + 1) * each]),
            along,
        )
        for g in range(groups)
    ]
    return np.concatenate(parts, -1)


# -- one filter for each channel -------------------------------------------------------


def depthwise(x: np.ndarray, filters: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """Each channel with its own filters (*window, C, M): (N, *out, C * M)."""
    channels, many = filters.shape[-2:]
    outs = [a.out for a in along]
    work = len(x) * prod(outs) * filters.size
    run = select_kernel("depthwise", x.dtype, work, x.shape, filters.shape, tuple(along))
    if run is not None:
        return run(x, filters)
    result = np.zeros((len(x), *outs, channels, many), x.dtype)
    for index, seeing, seen in seen_taps(along):
        result[seeing] += x[seen][..., None] * filters[index]
    return result.reshape(len(x), *outs, channels * many)


def depthwise_filter_gradient(
    x: np.ndarray, d: np.ndarray, along: Sequence[Axis], many: int
) -> np.ndarray:
    """The gradient of `depthwise` by the filters."""
    channels = x.shape[-1]
    shape = (*[a.window for a in along], channels, many)
    kind, work = "depthwise filter gradient", d.size * prod(shape[:-2])
    run = select_kernel(kind, x.dtype, work, x.shape, shape, tuple(along))
    if run is not None:
        return run(x, d).reshape(shape)
    result = np.empty(shape, x.dtype)
    d = d.reshape(*d.shape[:-1], channels, many)
    over = tuple(range(len(along) + 1))
    for index, seeing, seen in seen_taps(along):
        result[index] = add_reduce(x[seen][..., None] * d[seeing], over)
    return result


def depthwise_by_input(d: np.ndarray, filters: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """The gradient of `depthwise` by its input."""
    channels, many = filters.shape[-2:]
    images = (len(d), *[a.size for a in along], channels)
    kind, work = "depthwise input gradient", d.size * prod(filters.shape[:-2])
    run = select_kernel(kind, d.dtype, work, images, filters.shape, tuple(along))
    if run is not None:
        return run(filters, d)
    shape = (len(d), *[a.before + a.size + a.after for a in along], channels)
    result = np.zeros(shape, d.dtype)
    d = d.reshape(*d.shape[:-1], channels, many)
    for index, slices in taps(along):
        result[slices] += (d * filters[index]).sum(axis=-1)
    return np.ascontiguousarray(result[windows.inside(along)])
