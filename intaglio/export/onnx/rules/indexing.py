"""Elements by their indices: gathered, scattered, one-hot, where a condition holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.export.onnx.builder import BOOL, INT64
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.values import Operand, dims_of, is_known, known, rank_of
from intaglio.opdef import late, raw, short_floats
from intaglio.ops.math.reduction import highest, lowest
from intaglio.ops.math.segments import finite_extreme


def gathered(builder: Any, params: Operand, indices: Operand, axis: int, batch_dims: int) -> Any:
    """The slices of an axis at indices; the first dimensions may be those of examples."""
    if not batch_dims:
        return builder.add("Gather", params, indices, axis=axis)
    rank, taken = rank_of(params), rank_of(indices)
    axis, batch_dims = axis % rank, batch_dims % taken
    front = [*range(batch_dims), axis]
    order = [*front, *[i for i in range(rank) if i not in front]]
    x = builder.transpose(params, order)
    rows = builder.unsqueeze(builder.int64(indices), [taken])
    found = builder.add("GatherND", x, rows, batch_dims=batch_dims)
    if axis == batch_dims:
        return found
    # Of [batch, indices, before, after] the dimensions before the axis go before the indices.
    inner = taken - batch_dims
    before = axis - batch_dims
    start = batch_dims + inner
    permutation = [*range(batch_dims), *range(start, start + before), *range(batch_dims, start)]
    return builder.transpose(found, [*permutation, *range(start + before, rank - 1 + inner)])


def gathered_by_rows(builder: Any, params: Operand, indices: Operand) -> Any:
    """The slices at rows of indices."""
    return builder.add("GatherND", params, builder.int64(indices))


@onnx_rule(raw.GatherV2)
def _gather(builder, params, indices, axis, batch_dims) -> Any:
    return gathered(builder, params, indices, int(known(axis, "the axis")), batch_dims)


@onnx_rule(raw.Gather)
def _gather_first(builder, params, indices) -> Any:
    return gathered(builder, params, indices, 0, 0)


@onnx_rule(raw.GatherNd)
def _gather_nd(builder, params, indices) -> Any:
    return gathered_by_rows(builder, params, indices)


def _scattered(op: Any, reduction: str) -> None:
    @onnx_rule(op)
    def rule(builder, tensor, indices, updates) -> Any:
        rows = builder.int64(indices)
        return builder.add("ScatterND", tensor, rows, updates, reduction=reduction)


for _op, _reduction in (
    (raw.TensorScatterUpdate, "none"),
    (raw.TensorScatterAdd, "add"),
    (raw.TensorScatterMax, "max"),
    (raw.TensorScatterMin, "min"),
):
    _scattered(_op, _reduction)


@onnx_rule(raw.TensorScatterSub)
def _scattered_difference(builder, tensor, indices, updates) -> Any:
    negative = builder.add("Neg", updates)
    return builder.add("ScatterND", tensor, builder.int64(indices), negative, reduction="add")


@onnx_rule(raw.ScatterNd)
def _scatter(builder, indices, updates, shape) -> Any:
    zeros = builder.filled(builder.int64(shape), 0, updates.dtype)
    return builder.add("ScatterND", zeros, builder.int64(indices), updates, reduction="add")


def _neutral(reduction: str, dtype: DType, finite: bool) -> Any:
    """What a segment begins with; extremes with an infinity, or the last finite number."""
    if reduction in ("add", "mul"):
        return 0 if reduction == "add" else 1
    if finite:
        return finite_extreme(dtype.numpy, smallest=reduction == "max")
    return lowest(dtype.numpy) if reduction == "max" else highest(dtype.numpy)


def _reduced(
    builder: Any, data: Operand, ids: Operand, count: Operand, reduction: str, start: Any
) -> Operand:
    """The rows of each of `count` segments put together."""
    taken = rank_of(ids)
    tail = [*range(taken, rank_of(data))]
    whole = builder.concat([count, builder.sizes(data, tail)]) if tail else count
    rows = builder.unsqueeze(ids, [taken])
    begun = builder.filled(whole, start, data.dtype)
    return builder.add("ScatterND", begun, rows, data, reduction=reduction)


def _widened(builder: Any, data: Operand) -> Operand:
    """The elements as those of the dtype that they are put together in."""
    return builder.cast(data, np.float32) if short_floats.is_short(np.dtype(data.dtype)) else data


def _segments(op: Any, reduction: str) -> None:
    @onnx_rule(op)
    def rule(builder, data, segment_ids, num_segments, node) -> Any:
        # One more segment takes what has a negative number.
        last, ids = builder.vector(num_segments), builder.int64(segment_ids)
        count = last + 1 if is_known(last) else builder.add("Add", last, np.array([1]))
        negative = builder.add("Less", ids, np.array(0), dtype=BOOL)
        ids = builder.add("Where", negative, last, ids, dtype=INT64)._replace(dims=dims_of(ids))
        start = _neutral(reduction, node.inputs[0].dtype, finite=True)
        found = _reduced(builder, _widened(builder, data), ids, count, reduction, start)
        found = builder.slice(found, np.array([0]), np.array([-1]), np.array([0]))
        return builder.cast(found, data.dtype)


for _op, _reduction in (
    (raw.UnsortedSegmentSum, "add"),
    (raw.UnsortedSegmentProd, "mul"),
    (raw.UnsortedSegmentMax, "max"),
    (raw.UnsortedSegmentMin, "min"),
):
    _segments(_op, _reduction)


def _sorted_segments(op: Any, reduction: str) -> None:
    @onnx_rule(op)
    def rule(builder, data, segment_ids, node) -> Any:
        """As many segments as the last number says. A model does not check that numbers rise."""
        ids, wide = builder.int64(segment_ids), _widened(builder, data)
        count = _count_of_sorted(builder, ids)
        start = _neutral(reduction, node.inputs[0].dtype, finite=False)
        found = _reduced(builder, wide, ids, count, reduction, start)
        if reduction in ("max", "min") or op is raw.SegmentMean:
            sizes = _sizes_of_segments(builder, ids, count, rank_of(data))
            if op is raw.SegmentMean:
                least = builder.add("Max", sizes, np.array(1, np.int64))
                found = builder.add("Div", found, builder.cast(least, wide.dtype))
            else:
                some = builder.add("Greater", sizes, np.array(0, np.int64), dtype=BOOL)
                zero = builder.scalar(0, wide)
                found = builder.add("Where", some, found, zero, dtype=wide.dtype)
        return builder.cast(found, data.dtype)


def _count_of_sorted(builder: Any, ids: Operand) -> Operand:
    """One more than the last of numbers that rise, 0 without any, in a vector of int64."""
    before = np.array([-1], np.int64)
    if is_known(ids):
        return np.concatenate([before, np.asarray(ids)])[-1:] + 1
    limits = np.array([-1]), np.array([np.iinfo(np.int64).max]), np.array([0])
    return builder.add("Add", builder.slice(builder.concat([before, ids]), *limits), np.array([1]))


def _sizes_of_segments(builder: Any, ids: Operand, count: Operand, rank: int) -> Operand:
    """How many elements each segment has, as a column beside rows of this rank."""
    one = np.array(1, np.int64)
    ones = builder.add("Expand", one, builder.shape(ids))._replace(dims=dims_of(ids))
    sizes = _reduced(builder, ones, ids, count, "add", 0)
    return builder.unsqueeze(sizes, [*range(1, rank)]) if rank > 1 else sizes


for _op, _reduction in (
    (raw.SegmentSum, "add"),
    (raw.SegmentMean, "add"),
    (raw.SegmentProd, "mul"),
    (raw.SegmentMax, "max"),
    (raw.SegmentMin, "min"),
):
    _sorted_segments(_op, _reduction)


@onnx_rule(raw.OneHot)
def _one_hot(builder, indices, depth, on_value, off_value, axis) -> Any:
    """By comparison: ONNX' operator counts negative indices from the end."""
    rank = rank_of(indices)
    place = axis if axis >= 0 else rank
    if np.dtype(indices.dtype).itemsize < 4:
        indices = builder.cast(indices, np.int32)
    size = builder.cast(depth, indices.dtype)
    numbers = builder.add(
        "Range", builder.scalar(0, indices), size, builder.scalar(1, indices), dtype=indices.dtype
    )
    after = [*range(1, rank - place + 1)]
    numbers = builder.unsqueeze(numbers, after) if after else numbers
    hot = builder.add("Equal", builder.unsqueeze(indices, [place]), numbers, dtype=BOOL)
    return builder.add("Where", hot, on_value, off_value, dtype=on_value.dtype)


@onnx_rule(raw.Where)
def _where(builder, condition) -> Any:
    number = condition
    if np.dtype(condition.dtype) != BOOL:
        zero = builder.scalar(0, condition)
        number = builder.add("Not", builder.add("Equal", condition, zero, dtype=BOOL))
    return builder.transpose(builder.add("NonZero", number, dtype=INT64), [1, 0])


@onnx_rule(raw.InvertPermutation)
def _inverse(builder, x) -> Any:
    size = builder.sizes(x, [0])
    numbers = builder.add(
        "Range", np.array(0), builder.squeeze(size, [0]), np.array(1), dtype=INT64
    )
    rows = builder.unsqueeze(builder.int64(x), [1])
    zeros = builder.filled(size, 0, INT64)
    return builder.cast(builder.add("ScatterND", zeros, rows, numbers), x.dtype)


@onnx_rule(raw.Unique)
def _unique(builder, x, out_idx: DType) -> Any:
    values, _, inverse = builder.several("Unique", [x], [None, INT64, INT64], sorted=0)
    return values, builder.cast(inverse, out_idx.numpy)


@onnx_rule(late.MatrixBandPart)
def _band(builder, input, num_lower, num_upper) -> Any:
    lower, upper = (int(known(v, "the number of diagonals")) for v in (num_lower, num_upper))
    found = input
    if upper >= 0:
        found = builder.add("Trilu", found, np.array(upper, np.int64), upper=0)
    if lower >= 0:
        found = builder.add("Trilu", found, np.array(-lower, np.int64), upper=1)
    return builder.add("Identity", found) if is_known(found) else found
