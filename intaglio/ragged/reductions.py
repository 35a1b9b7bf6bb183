"""Reductions of ragged tensors over axes, and of their rows by segments.

Follows https://www.tensorflow.org/api_docs/python/tf/math. Along the outermost axis and along
rows a reduction is one of segments: of values at one offset in their rows, or in one row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.opdef import convert, operators, raw
from intaglio.ragged import arranging, bounds, checks, core, elementwise
from intaglio.ragged.core import Ragged
from intaglio.ragged.partition import splits_of
from intaglio.trace.scopes import name_scope

Segments = Callable[[Any, Any, Any], Any]


def segments(op: Segments, data: Any, ids: Any, count: Any) -> Any:
    """The slices of `data` with one segment id, reduced elementwise."""
    if not isinstance(data, Ragged):
        return op(data, ids, count)
    dtype = data.row_splits.dtype
    lengths = raw.UnsortedSegmentMax(data.partition.row_lengths(), ids, count)
    # A segment without slices has an empty row.
    lengths = raw.Maximum(lengths, convert.to_tensor(0, dtype))
    splits: Any = splits_of(lengths)
    starts: Any = raw.GatherV2(raw.GatherV2(splits, ids, 0), data.partition.value_rowids(), 0)
    indices = starts + data.partition.offsets_in_rows()
    values = segments(op, data.values, indices, splits[-1])
    return core.from_splits(values, splits)


def unsorted(op: Segments) -> Callable[..., Any]:
    """`tf.math.unsorted_segment_...` of ragged tensors."""

    def reduce(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        data, ids = core.as_operand(data), core.as_operand(segment_ids)
        with name_scope(name or "RaggedSegment"):
            if isinstance(ids, Ragged):
                if not isinstance(data, Ragged):
                    raise ValueError("If segment_ids is ragged, then data must be ragged.")
                for a, b in zip(ids.nested_row_splits, data.nested_row_splits, strict=False):
                    checks.same_splits(a, b)
                values = data
                for _ in range(ids.ragged_rank):
                    values = values.values
                return segments(op, values, ids.flat_values, num_segments)
            kind = data.row_splits.dtype if isinstance(data, Ragged) else ids.dtype
            ids = core.as_index(ids, kind)
            checks.has_rank(ids, 1)
            return segments(op, data, ids, core.as_index(num_segments, kind))

    return reduce


def _mean_of_segments(data: Any, ids: Any, count: Any) -> Any:
    total = raw.UnsortedSegmentSum(data, ids, count)
    number = raw.UnsortedSegmentSum(raw.OnesLike(data), ids, count)
    return operators.truediv(total, number)


def _root_mean_of_segments(data: Any, ids: Any, count: Any) -> Any:
    total = raw.UnsortedSegmentSum(data, ids, count)
    number = raw.UnsortedSegmentSum(raw.OnesLike(data), ids, count)
    return raw.RealDiv(total, raw.Sqrt(number))


unsorted_sum = unsorted(raw.UnsortedSegmentSum)
unsorted_prod = unsorted(raw.UnsortedSegmentProd)
unsorted_max = unsorted(raw.UnsortedSegmentMax)
unsorted_min = unsorted(raw.UnsortedSegmentMin)
unsorted_mean = unsorted(_mean_of_segments)
unsorted_sqrt_n = unsorted(_root_mean_of_segments)


# -- along axes ----------------------------------------------------------------------


def _reduced(dense: Any, op: Segments, x: Any, axis: Any, keepdims: bool) -> Any:
    """`x` reduced along axes: by `dense` inside tensors, by segments along ragged axes."""
    if axis is None:
        result = dense(x.flat_values, None)
        rank = core.rank_of(x) or 0
        return raw.Reshape(result, np.ones(rank, np.int32)) if keepdims else result
    axes = _axes(axis, core.rank_of(x))
    for one in reversed(axes):
        x = _along(dense, op, x, one)
        if keepdims:
            x = arranging.expanded(x, one)
    return x


def _axes(axis: Any, rank: int | None) -> list[int]:
    if isinstance(axis, (list, tuple)):
        return sorted({checks.axis_of(a, rank) for a in axis})
    if isinstance(axis, np.ndarray) and axis.ndim:
        return _axes(axis.tolist(), rank)
    return [checks.axis_of(axis, rank)]


def _along(dense: Any, op: Segments, x: Any, axis: int) -> Any:
    if not isinstance(x, Ragged):
        return dense(x, [axis])
    rows = x.partition
    if axis == 0:
        widest = bounds.bounding_shape(x, 1)
        return segments(op, x.values, rows.offsets_in_rows(), widest)
    if axis == 1:
        return segments(op, x.values, rows.value_rowids(), rows.nrows())
    return x.with_values(_along(dense, op, x.values, axis - 1))


def _all_of(x: Any) -> Any:
    return raw.Range(np.int32(0), raw.Rank(x), np.int32(1))


def _dense(op: Any) -> Callable[[Any, Any], Any]:
    def reduce(x: Any, axes: Sequence[int] | None) -> Any:
        return op(x, _all_of(x) if axes is None else np.asarray(axes, np.int32))

    return reduce


def _reduction(op: Any, segment_op: Segments) -> Callable[..., Any]:
    dense = _dense(op)

    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None
    ) -> Any:
        with name_scope(name or "RaggedReduce"):
            return _reduced(dense, segment_op, input_tensor, axis, bool(keepdims))

    return reduce


reduce_sum = _reduction(raw.Sum, raw.UnsortedSegmentSum)
reduce_prod = _reduction(raw.Prod, raw.UnsortedSegmentProd)
reduce_max = _reduction(raw.Max, raw.UnsortedSegmentMax)
reduce_min = _reduction(raw.Min, raw.UnsortedSegmentMin)


def _as_integers(x: Any) -> Any:
    return elementwise.unary(lambda v: raw.Cast(v, DstT=dtypes.int32), x)


def _as_truths(x: Any) -> Any:
    def truth(v: Any) -> Any:
        return raw.NotEqual(v, convert.to_tensor(0, dtypes.int32))

    return elementwise.unary(truth, x) if isinstance(x, Ragged) else truth(x)


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None
) -> Any:
    """True where all truth values along the axes are."""
    return _as_truths(reduce_prod(_as_integers(input_tensor), axis, keepdims, name))


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None
) -> Any:
    """True where at least one truth value along the axes is."""
    return _as_truths(reduce_sum(_as_integers(input_tensor), axis, keepdims, name))


def _each(function: Callable[..., Any], *operands: Any) -> Any:
    """`function` of results of reductions, which are ragged alike or tensors."""
    first = operands[0]
    if not isinstance(first, Ragged):
        return function(*operands)
    return first.with_flat_values(function(*[x.flat_values for x in operands]))


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None
) -> Any:
    """The mean along the axes; of integers a floating-point number."""
    if axis is None:
        x = input_tensor
        found = raw.Mean(x.flat_values, _all_of(x.flat_values), name=name)
        return raw.Reshape(found, np.ones(core.rank_of(x) or 0, np.int32)) if keepdims else found
    total = reduce_sum(input_tensor, axis, keepdims, name)
    ones = elementwise.unary(raw.OnesLike, input_tensor)
    return _each(operators.truediv, total, reduce_sum(ones, axis, keepdims, name))


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None
) -> Any:
    """The mean square less the square of the mean along the axes."""
    square = elementwise.unary(raw.Square, input_tensor)
    mean = reduce_mean(input_tensor, axis, keepdims, name)
    return _each(
        lambda a, b: raw.Sub(a, raw.Square(b)), reduce_mean(square, axis, keepdims, name), mean
    )


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None
) -> Any:
    """The standard deviation along the axes."""
    return _each(raw.Sqrt, reduce_variance(input_tensor, axis, keepdims, name))


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None
) -> Any:
    """log(sum(exp(x))) along the axes, without overflow."""
    largest = reduce_max(input_tensor, axis, True)
    shifted = elementwise.binary(raw.Sub, input_tensor, largest)
    total = reduce_sum(elementwise.unary(raw.Exp, shifted), axis, keepdims, name)
    shift = reduce_max(input_tensor, axis, keepdims)
    return _each(lambda a, b: raw.AddV2(raw.Log(a), b), total, shift)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: Any = None,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """The strings along the axes joined."""

    def join(data: Any, ids: Any, count: Any) -> Any:
        return raw.UnsortedSegmentJoin(data, ids, count, separator=separator)

    def dense(x: Any, axes: Any) -> Any:
        reduced_axes = np.asarray([0], np.int32) if axes is None else np.asarray(axes, np.int32)
        return raw.ReduceJoin(x, reduced_axes, separator=separator)

    with name_scope(name or "RaggedReduceJoin"):
        return _reduced(dense, join, inputs, axis, bool(keepdims))
