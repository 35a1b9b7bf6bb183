"""Rules of ops along axes: reductions, running sums, segments, normalised rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.opdef import raw
from intaglio.vectorize.rows import Row, Rows, again, shifted, swapped, vectorizes


@vectorizes(
    raw.All,
    raw.Any,
    raw.EuclideanNorm,
    raw.Max,
    raw.Mean,
    raw.Min,
    raw.Prod,
    raw.Sum,
    raw.ReduceJoin,
    raw.ArgMax,
    raw.ArgMin,
    raw.Cumprod,
    raw.Cumsum,
    raw.CumulativeLogsumexp,
    raw.ReverseV2,
)
def along(rows: Rows, node: Node, x: Row, axis: Row) -> Any:
    """The axes are one further on."""
    return again(node, [x.tensor, shifted(axis)])


@vectorizes(raw.Roll)
def roll(rows: Rows, node: Node, x: Row, shift: Row, axis: Row) -> Any:
    """The axes are one further on."""
    return again(node, [x.tensor, shift.same, shifted(axis)])


@vectorizes(raw.L2Loss)
def half_square(rows: Rows, node: Node, x: Row) -> Any:
    """Half the sum of the squares of each row."""
    half = np.asarray(0.5, x.spec.dtype.numpy)
    axes = np.arange(1, x.rank + 1, dtype=np.int32)
    return raw.Mul(raw.Sum(raw.Square(x.tensor), axes), half)


@vectorizes(raw.Softmax, raw.LogSoftmax)
def softmax(rows: Rows, node: Node, x: Row) -> Any:
    """Along the last dimension."""
    return again(node, [x.tensor])


@vectorizes(raw.BiasAddGrad)
def bias_gradient(rows: Rows, node: Node, x: Row) -> Any:
    """The sum over all dimensions of a row but that of the channels."""
    first = str(node.attrs["data_format"]).startswith("NC")
    channels = 2 if first else x.rank
    axes = [a for a in range(1, x.rank + 1) if a != channels]
    return raw.Sum(x.tensor, np.asarray(axes, np.int32))


@vectorizes(
    raw.UnsortedSegmentMax, raw.UnsortedSegmentMin, raw.UnsortedSegmentProd, raw.UnsortedSegmentSum
)
def unsorted_segments(rows: Rows, node: Node, data: Row, segments: Row, number: Row) -> Any:
    """Each row's segments get numbers of their own."""
    kind = segments.spec.dtype
    ids = rows.stack(segments)
    count = raw.Cast(number.same, DstT=kind)
    start = raw.Mul(rows.numbers(kind), count)
    for _ in range(segments.rank):
        start = raw.ExpandDims(start, np.int32(-1))
    zero = np.asarray(0, kind.numpy)
    own = raw.SelectV2(raw.Less(ids, zero), ids, raw.AddV2(ids, start))
    total = raw.Mul(raw.Cast(number.same, DstT=rows.count.dtype), rows.count)
    flat = node.op(rows.stack(data), own, total)
    shape = raw.Shape(flat)
    each = raw.Reshape(raw.Cast(number.same, DstT=rows.count.dtype), [1])
    rest = raw.StridedSlice(shape, [1], [0], [1], end_mask=1)
    return raw.Reshape(flat, raw.ConcatV2([rows.vector, each, rest], 0))


@vectorizes(raw.SegmentMax, raw.SegmentMean, raw.SegmentMin, raw.SegmentProd, raw.SegmentSum)
def segments(rows: Rows, node: Node, data: Row, ids: Row) -> Any:
    """Rows with the same segments: the rows go behind the dimension that is cut."""
    rank = data.rank + 1
    same = ids.same
    (found,) = again(node, [swapped(data.tensor, rank), same])
    return swapped(found, rank)
