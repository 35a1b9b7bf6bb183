"""Pooling: the greatest number, the mean or a norm of windows, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.operators.convolution import (
    Windows,
    channels_first,
    channels_last,
    windows,
)
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    element,
    is_float,
    like,
    rank,
    shape,
    tensor,
    transpose,
)
from intaglio.opdef import raw


def _outputs(c: Any, x: Any, w: Windows) -> list[int]:
    """The number of windows along each dimension; the last may begin before the end of the padding."""
    found: list[int] = []
    for i, extent in enumerate(dims(x)[2:]):
        if extent is None:
            raise ModelError("pooling on a dimension whose size is open")
        covered = extent + w.before[i] + w.after[i] - (w.sizes[i] - 1) * w.dilations[i] - 1
        count = covered // w.strides[i] + 1
        if c.attr("ceil_mode", 0):
            count = -(-covered // w.strides[i]) + 1
            if (count - 1) * w.strides[i] >= extent + w.before[i]:
                count -= 1
        found.append(count)
    return found


def _least(x: Any) -> Any:
    dtype = element(x)
    return np.asarray(-np.inf if is_float(x) else dtype.min, dtype.numpy)


def _taken(x: Any, w: Windows, outputs: list[int], value: Any) -> Any:
    """The elements of all windows: [batch, channels, outputs..., window]."""
    both = [[0, 0], [0, 0]]
    for i, extent in enumerate(dims(x)[2:]):
        end = (outputs[i] - 1) * w.strides[i] + (w.sizes[i] - 1) * w.dilations[i] + 1
        both.append([w.before[i], max(0, end - w.before[i] - (extent or 0))])
    x = raw.PadV2(x, np.array(both, np.int64), value)
    for i, count in enumerate(outputs):
        starts = np.arange(count) * w.strides[i]
        places = starts[:, None] + np.arange(w.sizes[i]) * w.dilations[i]
        x = raw.GatherV2(x, places.astype(np.int64), 2 + 2 * i)
    n = len(outputs)
    order = [0, 1, *[2 + 2 * i for i in range(n)], *[3 + 2 * i for i in range(n)]]
    x = transpose(x, order)
    sizes = raw.ConcatV2([shape(x)[: 2 + n], np.array([int(np.prod(w.sizes))], np.int64)], 0)
    return raw.Reshape(x, sizes)


@operator("MaxPool")
def _max_pool(c, x) -> Any:
    x = tensor(x)
    w = windows(c, x, c.ints("kernel_shape"))
    plain = rank(x) == 4 and is_float(x) and c.outputs == 1 and not c.attr("ceil_mode", 0)
    if plain and all(d == 1 for d in w.dilations):
        both = np.array([[0, 0], *zip(w.before, w.after, strict=True), [0, 0]], np.int64)
        images = raw.PadV2(channels_last(x), both, _least(x))
        sizes: Any = {"ksize": [1, *w.sizes, 1], "strides": [1, *w.strides, 1], "padding": "VALID"}
        return channels_first(raw.MaxPool(images, **sizes))
    outputs = _outputs(c, x, w)
    taken = _taken(x, w, outputs, _least(x))
    axis = np.array([rank(taken) - 1])
    found = raw.Max(taken, axis)
    if c.outputs == 1:
        return found
    numbers = _numbers(x, c.attr("storage_order", 0))
    places = _taken(numbers, w, outputs, np.int64(-1))
    best = raw.ArgMax(taken, rank(taken) - 1, output_type=dtypes.int64)
    hot = raw.OneHot(best, np.int32(int(np.prod(w.sizes))), np.int64(1), np.int64(0))
    return found, raw.Sum(raw.Mul(hot, places), axis)


def _numbers(x: Any, column_major: int) -> Any:
    """The number of each element in the flat tensor."""
    sizes: Any = dims(x)
    if None in sizes:
        raise ModelError("positions of maxima in a tensor whose shape is open")
    if column_major:
        front, space = sizes[:2], sizes[2:]
        inner = np.arange(int(np.prod(space))).reshape(space[::-1]).transpose()
        outer = np.arange(int(np.prod(front))) * int(np.prod(space))
        return tensor((outer[:, None] + inner.reshape(-1)).reshape(sizes))
    return tensor(np.arange(int(np.prod(sizes)), dtype=np.int64).reshape(sizes))


@operator("AveragePool")
def _average_pool(c, x) -> Any:
    x = tensor(x)
    w = windows(c, x, c.ints("kernel_shape"))
    outputs = _outputs(c, x, w)
    taken = _taken(x, w, outputs, like(0, x))
    total = raw.Sum(taken, np.array([rank(taken) - 1]))
    ones = np.ones((1, 1, *[d or 0 for d in dims(x)[2:]]))
    if c.attr("count_include_pad", 0):
        both = [(0, 0), (0, 0), *zip(w.before, w.after, strict=True)]
        ones = np.pad(ones, both, constant_values=1)
        w = w._replace(before=[0] * len(outputs), after=[0] * len(outputs))
    counts = raw.Sum(_taken(tensor(ones), w, outputs, np.float64(0)), np.array([rank(taken) - 1]))
    return raw.RealDiv(total, cast(counts, element(x)))


@operator("LpPool")
def _norm_pool(c, x) -> Any:
    x = tensor(x)
    w = windows(c, x, c.ints("kernel_shape"))
    taken = _taken(x, w, _outputs(c, x, w), like(0, x))
    return _norm(taken, np.array([rank(taken) - 1]), c.attr("p", 2), False)


def _norm(x: Any, axes: Any, p: float, keep: bool) -> Any:
    power = raw.Pow(raw.Abs(x), like(p, x))
    return raw.Pow(raw.Sum(power, axes, keep_dims=keep), like(1 / p, x))


def _global(name: str, run: Any) -> None:
    @operator(name)
    def rule(c, x) -> Any:
        return run(c, tensor(x), np.arange(2, rank(x)))


_global("GlobalMaxPool", lambda c, x, axes: raw.Max(x, axes, keep_dims=True))
_global("GlobalAveragePool", lambda c, x, axes: raw.Mean(x, axes, keep_dims=True))
_global("GlobalLpPool", lambda c, x, axes: _norm(x, axes, c.attr("p", 2), True))


@operator("MaxUnpool")
def _max_unpool(c, x, places, sizes=None) -> Any:
    kernel = c.ints("kernel_shape")
    strides = c.ints("strides") or [1] * len(kernel)
    pads = c.ints("pads") or [0] * (2 * len(kernel))
    own = list(dims(x))
    for i, extent in enumerate(own[2:]):
        if extent is None:
            raise ModelError("the shape of what is unpooled must be known")
        own[2 + i] = (extent - 1) * strides[i] + kernel[i] - pads[i] - pads[len(kernel) + i]
    count = int(np.prod([d or 0 for d in own]))
    flat = raw.ScatterNd(
        raw.Reshape(places, np.array([-1, 1])), raw.Reshape(x, np.array([-1])), np.array([count])
    )
    found = raw.Reshape(flat, np.array(own, np.int64))
    if sizes is None:
        return found
    wanted = c.ints("sizes", sizes)
    both = [[0, max(0, w - (d or 0))] for w, d in zip(wanted, own, strict=True)]
    return raw.Pad(found, np.array(both, np.int64))
