"""Elements by their indices: gathered, scattered, one-hot, compressed, unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    element,
    like,
    rank,
    shape,
    size,
    tensor,
    transpose,
)
from intaglio.opdef import raw


def counted(indices: Any, count: Any) -> Any:
    """Indices of which negative ones count from the end."""
    indices = cast(tensor(indices), dtypes.int64)
    count = count if not isinstance(count, int) else np.int64(count)
    return raw.SelectV2(raw.Less(indices, np.int64(0)), raw.AddV2(indices, count), indices)


@operator("Gather")
def _gather(c, x, indices) -> Any:
    axis = c.attr("axis", 0) % rank(x)
    return raw.GatherV2(x, counted(indices, size(x, axis)), axis)


def _coordinates(x: Any, indices: Any, axis: int) -> Any:
    """The place of each element of `indices`, whose own entry is that of the axis."""
    own = shape(indices)
    places: list[Any] = []
    for i in range(rank(x)):
        if i == axis:
            places.append(indices)
            continue
        numbers = raw.Range(np.int64(0), own[i], np.int64(1))
        form = [1] * rank(x)
        form[i] = -1
        places.append(raw.BroadcastTo(raw.Reshape(numbers, np.array(form, np.int64)), own))
    return raw.Pack(places, axis=rank(x))


@operator("GatherElements")
def _gather_elements(c, x, indices) -> Any:
    axis = c.attr("axis", 0) % rank(x)
    return raw.GatherNd(x, _coordinates(x, counted(indices, size(x, axis)), axis))


@operator("GatherND")
def _gather_nd(c, x, indices) -> Any:
    batch = c.attr("batch_dims", 0)
    indices = counted(indices, shape(x)[batch:][: dims(indices)[-1]])
    if not batch:
        return raw.GatherNd(x, indices)
    own = shape(indices)
    places: list[Any] = []
    for i in range(batch):
        form = [1] * rank(indices)
        form[i] = -1
        numbers = raw.Reshape(raw.Range(np.int64(0), own[i], np.int64(1)), np.array(form, np.int64))
        whole = raw.ConcatV2([own[:-1], np.array([1], np.int64)], 0)
        places.append(raw.BroadcastTo(numbers, whole))
    return raw.GatherNd(x, raw.ConcatV2([*places, indices], rank(indices) - 1))


def scattered(x: Any, indices: Any, updates: Any, reduction: str) -> Any:
    """The elements with updates at rows of indices."""
    if reduction == "none":
        return raw.TensorScatterUpdate(x, indices, updates)
    if reduction == "add":
        return raw.TensorScatterAdd(x, indices, updates)
    if reduction == "max":
        return raw.TensorScatterMax(x, indices, updates)
    if reduction == "min":
        return raw.TensorScatterMin(x, indices, updates)
    # Products: the factors of each place multiplied first, among those that are updated.
    places = raw.UnsortedSegmentProd(
        raw.Reshape(updates, np.array([-1])),
        _flat_positions(x, indices),
        raw.Size(x, out_type=dtypes.int64),
    )
    return raw.Mul(x, raw.Reshape(places, shape(x)))


def _flat_positions(x: Any, indices: Any) -> Any:
    """The number of each updated element in the flat tensor."""
    numbers = raw.Reshape(
        raw.Range(np.int64(0), raw.Size(x, out_type=dtypes.int64), np.int64(1)), shape(x)
    )
    return raw.Reshape(raw.GatherNd(numbers, indices), np.array([-1]))


@operator("Scatter", "ScatterElements")
def _scatter_elements(c, x, indices, updates) -> Any:
    axis = c.attr("axis", 0) % rank(x)
    rows = _coordinates(x, counted(indices, size(x, axis)), axis)
    return scattered(x, rows, updates, c.attr("reduction", "none"))


@operator("ScatterND")
def _scatter_nd(c, x, indices, updates) -> Any:
    indices = counted(indices, shape(x)[: dims(indices)[-1]])
    return scattered(x, indices, updates, c.attr("reduction", "none"))


@operator("TensorScatter")
def _tensor_scatter(c, past, update, write=None) -> Any:
    axis = c.attr("axis", -2) % rank(past)
    count, whole = size(update, axis), size(past, axis)
    if not isinstance(count, int) or not isinstance(whole, int):
        raise ModelError("the lengths of the cache and its update must be known")
    if write is None:
        write = raw.Fill(shape(past)[:1], np.int64(0))
    places = raw.AddV2(raw.ExpandDims(cast(tensor(write), dtypes.int64), 1), np.arange(count))
    if c.attr("mode", "linear") == "circular":
        places = raw.FloorMod(places, np.int64(whole))
    form = [1] * rank(past)
    form[0], form[axis] = -1, count
    indices = raw.BroadcastTo(raw.Reshape(places, np.array(form, np.int64)), shape(update))
    return scattered(past, _coordinates(past, indices, axis), update, "none")


@operator("OneHot")
def _one_hot(c, indices, depth, values) -> Any:
    depth = cast(raw.Reshape(depth, np.zeros(0, np.int32)), dtypes.int32)
    indices = counted(indices, cast(depth, dtypes.int64))
    values = tensor(values)
    axis = c.attr("axis", -1)
    axis = axis + rank(indices) + 1 if axis < -1 else axis
    return raw.OneHot(indices, depth, values[1], values[0], axis=axis)


@operator("NonZero")
def _nonzero(c, x) -> Any:
    x = tensor(x)
    found = raw.Where(x if x.dtype is dtypes.bool_ else raw.NotEqual(x, like(0, x)))
    return transpose(found, [1, 0])


@operator("Compress")
def _compress(c, x, condition) -> Any:
    axis = c.attr("axis")
    places = raw.Reshape(raw.Where(condition), np.array([-1]))
    if axis is None:
        return raw.GatherV2(raw.Reshape(x, np.array([-1])), places, 0)
    return raw.GatherV2(x, places, axis % rank(x))


@operator("Unique")
def _unique(c, x) -> Any:
    """The values, where each is first, the number of the value of each element, and how many there are."""
    x = tensor(x)
    axis = c.attr("axis")
    along = 0 if axis is None else axis % rank(x)
    x = raw.Reshape(x, np.array([-1])) if axis is None else x
    axes = np.array([along], np.int64)
    values, places, counts = raw.UniqueWithCountsV2(x, axes, out_idx=dtypes.int64)
    total = size(x, along)
    total = np.int64(total) if isinstance(total, int) else total
    firsts = raw.UnsortedSegmentMin(
        raw.Range(np.int64(0), total, np.int64(1)), places, raw.Size(counts, out_type=dtypes.int64)
    )
    if c.attr("sorted", 1):
        order = _row_order(values, along)
        values, firsts, counts = (
            raw.GatherV2(values, order, along),
            raw.GatherV2(firsts, order, 0),
            raw.GatherV2(counts, order, 0),
        )
        places = raw.GatherV2(raw.InvertPermutation(order), places, 0)
    return values, firsts, places, counts


def _row_order(values: Any, axis: int) -> Any:
    """The order that sorts slices of an axis, by their first elements first."""
    perm = [axis, *[i for i in range(rank(values)) if i != axis]]
    rows = raw.Reshape(transpose(values, perm), np.array([dims(values)[axis] or -1, -1]))
    columns = dims(rows)[1]
    order = raw.Range(np.int64(0), shape(rows)[0], np.int64(1))
    if columns is None:
        columns = int(np.prod([d or 0 for i, d in enumerate(dims(values)) if i != axis]))
    for column in reversed(range(columns)):
        keys = raw.GatherV2(rows[:, column], order, 0)
        order = raw.GatherV2(order, ascending(keys), 0)
    return order


def ascending(keys: Any) -> Any:
    """The order that sorts a vector; equal elements stay in theirs."""
    count = raw.Size(keys, out_type=dtypes.int32)
    if element(keys) is dtypes.string:
        raise ModelError("sorting texts")
    wide = cast(keys, dtypes.float64)
    _, order = raw.TopKV2(raw.Neg(wide), count, sorted=True, index_type=dtypes.int64)
    return order


@operator("NonMaxSuppression")
def _suppressed(c, boxes, scores, most=None, overlap=None, least=None) -> Any:
    """Rows of batch, class and box."""
    batches, classes = dims(scores)[:2]
    if batches is None or classes is None:
        raise ModelError("the numbers of batches and classes must be known")
    most = (
        np.int32(0)
        if most is None
        else cast(raw.Reshape(most, np.zeros(0, np.int32)), dtypes.int32)
    )
    over = _limit(overlap, 0.0)
    score = _limit(least, -np.inf)
    found: list[Any] = []
    for b in range(batches):
        corners = tensor(boxes)[b]
        if c.attr("center_point_box", 0):
            half = raw.Mul(corners[:, 2:], np.float32(0.5))
            middle = corners[:, :2]
            corners = raw.ConcatV2([raw.Sub(middle, half), raw.AddV2(middle, half)], 1)
            corners = raw.GatherV2(corners, np.array([1, 0, 3, 2]), 1)
        for k in range(classes):
            kept = raw.NonMaxSuppressionV3(corners, tensor(scores)[b, k], most, over, score)
            column = raw.ExpandDims(cast(kept, dtypes.int64), 1)
            front = raw.BroadcastTo(
                np.array([[b, k]], np.int64), raw.Pack([shape(column)[0], np.int64(2)])
            )
            found.append(raw.ConcatV2([front, column], 1))
    return raw.ConcatV2(found, 0) if len(found) > 1 else found[0]


def _limit(value: Any, default: float) -> Any:
    if value is None:
        return np.float32(default)
    return raw.Reshape(value, np.zeros(0, np.int32))
