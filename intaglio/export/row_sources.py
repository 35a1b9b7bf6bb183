"""What gives as many rows as data says: loops find them, in arrays for all that there may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import FLOATING, DType, bool_, float32, float64, int32, int64
from intaglio.export import assertions
from intaglio.export.assertions import asserted
from intaglio.export.loop_rules import loops, suppressed
from intaglio.export.rules import Rules, refused
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.native.analysis.list_elements import element_within
from intaglio.opdef import late, raw
from intaglio.optimize.element_bounds import bounds_of

# Distinct elements are searched for among those before: of more it takes too long.
MAX_UNIQUE = 4096
# Of a number of rows that nothing is known about there is memory for so many; more are an error.
MAX_UNKNOWN = 4096
# The memory for the elements of such a list, at most.
MAX_BYTES = 1 << 24


class Count(NamedTuple):
    """How many rows there are, a vector of one int64, and how many there may be."""

    number: Any
    most: int


class Rows(NamedTuple):
    """An array with as many rows as there may be, the first of which are the value.

    Dimension `axis` has `group` elements for each row.
    """

    array: Any
    length: Count
    axis: int = 0
    group: int = 1


# What the open outputs of an op are, and outputs of known shapes, in their order.
Source = Callable[[Node, Sequence[Any]], Sequence[Any]]
SOURCES: Rules[Source] = Rules()


@SOURCES.of(raw.Where)
def _where(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    return [where(inputs[0])]


def where(x: Any) -> Rows:
    """The indices of what is true, or not zero. Raises NoRule if there are no elements."""
    dims = tuple([d for d in x.dims or () if d is not None])
    size, rank = int(np.prod(dims)), len(dims)
    if not size or not rank:
        raise refused("it is a scalar, or has no elements", "tf.cond")
    mask = x if x.dtype is bool_ else raw.NotEqual(x, np.zeros((), x.dtype.numpy))
    inputs = [mask, np.array(dims, np.int64)]
    outputs = [(int64, (size, rank)), (int64, (1,))]
    found, count = loops("selection:where", inputs, outputs, [], size, rank)
    return Rows(found, Count(count, size))


@SOURCES.of(raw.DynamicPartition)
def _partitions(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """The parts that have each of the numbers."""
    data, numbers = inputs
    size, rest = math.prod(numbers.dims), data.dims[len(numbers.dims) :]
    inside = raw.LogicalAnd(
        raw.GreaterEqual(numbers, np.int32(0)), raw.Less(numbers, np.int32(len(node.outputs)))
    )
    asserted(inside, assertions.PARTITION_OUT_OF_RANGE)
    flat = raw.Reshape(data, np.array([size, *rest], np.int32))
    numbers = raw.Reshape(numbers, np.array([size], np.int32))
    parts: list[Rows] = []
    for number, _ in enumerate(node.outputs):
        places = where(raw.Equal(numbers, np.int32(number)))
        index = raw.Reshape(places.array, np.array([size], np.int32))
        parts.append(places._replace(array=raw.GatherV2(flat, index, np.int32(0))))
    return parts


@SOURCES.of(raw.Unique, late.UniqueWithCounts)
def _distinct(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    (x,) = inputs
    return distinct(node, x, np.array(x.dims, np.int64))


def distinct(node: Node, x: Any, number: Any) -> Sequence[Any]:
    """The distinct elements of the first ones of a vector, so many; which each is, and how often there are."""
    size, index = int(np.prod(x.dims or ())), node.outputs[1].dtype
    if not 0 < size <= MAX_UNIQUE or x.dtype in FLOATING[:2] or not _has_elements(x):
        raise refused(
            f"distinct elements are found among up to {MAX_UNIQUE} numbers of 8 to 64 bits",
            "tf.sort, and compare neighbours",
        )
    outputs = [(x.dtype, (size,)), (index, (size,)), (index, (size,)), (int64, (1,))]
    values, positions, counts, found = loops("selection:unique", [x, number], outputs, [], size)
    count = Count(found, size)
    results = [Rows(values, count), positions, Rows(counts, count)]
    return results[: len(node.outputs)]


def _has_elements(x: SymbolicTensor) -> bool:
    return (
        x.dtype.is_numpy_compatible and x.dtype.numpy.kind in "iuf" and x.dtype.size in (1, 2, 4, 8)
    )


@SOURCES.of(
    late.NonMaxSuppression,
    late.NonMaxSuppressionV2,
    late.NonMaxSuppressionV3,
    late.NonMaxSuppressionV4,
)
def _kept_boxes(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    chosen, count = suppressed(node, inputs, padded=False)
    rows = Rows(chosen, Count(raw.Cast(count, DstT=int64), chosen.dims[0]))
    return [rows, raw.Reshape(count, np.zeros(0, np.int32))][: len(node.outputs)]


@SOURCES.of(late.NonMaxSuppressionWithOverlaps)
def _kept_by_overlaps(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    overlaps, scores, limit, threshold, least = inputs
    (size,) = scores.dims
    if not size or overlaps.dims != (size, size):
        raise refused("there are no boxes, or overlaps of others", "tf.zeros([0], tf.int32)")
    asserted(raw.GreaterEqual(limit, np.int32(0)), assertions.NEGATIVE_OUTPUT_SIZE)
    outputs = [(int32, (size,)), (int64, (1,))]
    arrays = [overlaps, scores, limit, threshold, least]
    chosen, count = loops("selection:suppress_by_overlaps", arrays, outputs, [], size)
    return [Rows(chosen, Count(count, size))]


@SOURCES.of(raw.Range)
def _numbers(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Numbers up to a limit that is data."""
    start, limit, delta = inputs
    kind = node.outputs[0].dtype
    if kind not in FLOATING[2:] and not kind.is_integer:
        raise refused("numbers are integers, float32 or float64", "tf.cast of a range of these")
    wide: DType = float64 if kind.is_floating else int64
    begin, end, step = (raw.Cast(v, DstT=wide) for v in (start, limit, delta))
    zero = np.zeros((), wide.numpy)
    upwards = raw.LogicalAnd(raw.Greater(step, zero), raw.LessEqual(begin, end))
    downwards = raw.LogicalAnd(raw.Less(step, zero), raw.GreaterEqual(begin, end))
    fits = raw.LogicalOr(upwards, downwards)
    asserted(fits, assertions.RANGE_WITHOUT_END)
    if kind.is_floating:
        number = raw.Ceil(raw.RealDiv(raw.Sub(end, begin), step))
    else:
        number = raw.Neg(raw.FloorDiv(raw.Sub(begin, end), step))
    number = raw.Maximum(raw.Cast(number, DstT=int64), np.int64(0))
    count = counted(number, _most_numbers(inputs))
    steps = raw.Const(value=np.arange(count.most).astype(kind.numpy), dtype=kind)
    return [Rows(raw.AddV2(start, raw.Mul(steps, delta)), count)]


def _most_numbers(inputs: Sequence[Any]) -> int | None:
    """How many numbers a range may have, if something is known about its ends."""
    begin, end, step = [bounds_of(v) for v in inputs]
    if begin is None or end is None or step is None or step.low <= 0:
        return None
    return max(int(-((begin.low - end.high) // step.low)), 0)


def counted(number: Any, most: int | None, limit: int = MAX_UNKNOWN) -> Count:
    """A count of rows; where nothing is known about it, one that may not be too large."""
    if most is None or most > limit:
        most = limit
        asserted(raw.LessEqual(number, np.int64(most)), assertions.too_many(most))
    return Count(raw.Reshape(number, np.array([1], np.int32)), most)


@SOURCES.of(raw.TopKV2)
def _greatest(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """As many as data says, of all in order."""
    value, wanted = inputs
    most = value.dims[-1]
    if not math.prod(value.dims):
        raise refused("there are no elements", "tf.zeros")
    number = raw.Reshape(raw.Cast(wanted, DstT=int64), np.array([1], np.int32))
    within = raw.LogicalAnd(
        raw.GreaterEqual(number, np.int64(0)), raw.LessEqual(number, np.int64(most))
    )
    asserted(within, assertions.FEWER_THAN_K)
    found = node.op(value, raw.Const(value=np.int32(most), dtype=wanted.dtype), **node.attrs)
    count = Count(number, most)
    return [Rows(array, count, len(value.dims) - 1) for array in found]


# -- sequences of labels --------------------------------------------------------------------------


@SOURCES.of(late.CTCBeamSearchDecoder)
def _decoded(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Each path as a sparse matrix of labels."""
    x, steps = inputs
    time, batch, classes = x.dims
    attrs, kind = node.attrs, x.dtype
    width, paths = attrs["beam_width"], attrs["top_paths"]
    if not time * batch * classes or steps.dims != (batch,) or paths > width:
        raise refused("there are no elements, or more paths than beams", "a larger beam_width")
    asserted(raw.LessEqual(steps, np.int32(time)), assertions.TOO_MANY_STEPS)
    others, nodes = width * (classes - 1), 1 + time * width
    outputs = [
        (int64, (batch, paths, time)), (int64, (batch, paths)), (float64, (batch, paths))
    ]  # fmt: skip
    owned: list[tuple[DType, int]] = [(int64, width), (float64, width), (float64, width)] * 2
    owned += [(float64, width), (float64, max(others, 1)), (int64, width), (int64, width)]
    owned += [(int64, width + others), (int64, nodes), (int64, nodes)]
    flat = raw.Reshape(x, np.array([time * batch, classes], np.int32))
    logs = raw.Cast(raw.LogSoftmax(flat), DstT=float64)
    integers = time, batch, classes, width, paths, attrs["merge_repeated"]
    found = loops(
        "beam_search:decode",
        [logs, steps],
        outputs,
        owned,
        *integers,
        refusal=assertions.FEWER_PATHS,
    )
    labels, lengths, scores = found
    indices: list[Any] = []
    values: list[Any] = []
    sizes: list[Any] = []
    for path in range(paths):
        length = raw.Reshape(
            raw.GatherV2(lengths, np.array([path], np.int32), np.int32(1)),
            np.array([batch, 1], np.int32),
        )
        own = raw.GatherV2(labels, np.int32(path), np.int32(1))
        places = where(raw.Less(np.arange(time, dtype=np.int64), length))
        indices.append(places)
        values.append(places._replace(array=raw.GatherNd(own, places.array)))
        longest = raw.Max(length, np.array([0, 1], np.int32))
        sizes.append(raw.Pack([np.int64(batch), longest]))
    return [*indices, *values, *sizes, raw.Cast(scores, DstT=kind)]


# -- segments -------------------------------------------------------------------------------------


@SOURCES.of(
    raw.SegmentSum, raw.SegmentMean, raw.SegmentProd, raw.SegmentMax, raw.SegmentMin
)  # fmt: skip
def _segments(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """As many segments as the last number says: by the op for numbers in any order, of as many as there may be."""
    data, ids = inputs
    kind, op = data.dtype, node.op
    if not ids.dims[0] or 0 in data.dims:
        raise refused("there are no elements", "tf.zeros")
    wide, one = raw.Cast(ids, DstT=int64), np.array([1], np.int32)
    first = raw.Slice(wide, np.zeros(1, np.int32), one)
    last = raw.Slice(wide, np.array([ids.dims[0] - 1], np.int32), one)
    before = raw.Slice(wide, np.zeros(1, np.int32), np.array([ids.dims[0] - 1], np.int32))
    behind = raw.Slice(wide, one, np.array([ids.dims[0] - 1], np.int32))
    asserted(raw.LessEqual(before, behind), assertions.IDS_NOT_SORTED)
    asserted(raw.GreaterEqual(first, np.int64(0)), assertions.IDS_NOT_SORTED)
    bounds = bounds_of(ids)
    limit = max(min(MAX_UNKNOWN, MAX_BYTES // (math.prod(data.dims[1:]) * kind.size)), 1)
    known = None if bounds is None else max(int(bounds.high) + 1, 1)
    count = counted(raw.AddV2(last, np.int64(1)), known, limit)
    number = np.int32(count.most)
    ones = raw.Fill(np.array(ids.dims, np.int32), np.ones((), np.int64))
    sizes = raw.UnsortedSegmentSum(ones, wide, number)
    sizes = raw.Reshape(sizes, np.array([count.most, *[1] * (len(data.dims) - 1)], np.int32))
    exact: DType = float32 if kind.is_floating and kind.size == 2 else kind
    if op is raw.SegmentProd:
        return [Rows(raw.UnsortedSegmentProd(data, wide, number), count)]
    if op in (raw.SegmentMax, raw.SegmentMin):
        best = raw.UnsortedSegmentMax if op is raw.SegmentMax else raw.UnsortedSegmentMin
        there = raw.Greater(sizes, np.int64(0))
        found = raw.Cast(best(raw.Cast(data, DstT=exact), wide, number), DstT=kind)
        return [Rows(raw.SelectV2(there, found, np.zeros((), kind.numpy)), count)]
    total = raw.UnsortedSegmentSum(raw.Cast(data, DstT=exact), wide, number)
    if op is raw.SegmentMean:
        divisor = raw.Cast(raw.Maximum(sizes, np.int64(1)), DstT=exact)
        total = (raw.TruncateDiv if kind.is_integer else raw.RealDiv)(total, divisor)
    return [Rows(raw.Cast(total, DstT=kind), count)]


# -- lists ---------------------------------------------------------------------------------------


@SOURCES.of(raw.TensorListStack)
def _elements(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """The elements of a list whose length is data."""
    return [_stacked(node, inputs[0])]


@SOURCES.of(raw.TensorListConcat, raw.TensorListConcatV2)
def _joined_elements(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """The same, of one shape, behind each other: several rows for each element."""
    stacked = _stacked(node, inputs[0])
    each, *rest = stacked.array.dims[1:]
    most = stacked.length.most
    array = raw.Reshape(stacked.array, np.array([most * each, *rest], np.int32))
    lengths = raw.Const(value=np.full(most, each, np.int64), dtype=int64)
    return [Rows(array, stacked.length, 0, each), Rows(lengths, stacked.length)]


def _stacked(node: Node, handle: Any) -> Rows:
    kind, dims = node.outputs[0].dtype, element_within(node.inputs[0])
    if not shapes.known(dims) or 0 in dims or not kind.is_numpy_compatible:
        raise refused(
            "the shape of its elements is not known, or they are no numbers",
            "give the TensorArray an element_shape",
        )
    most = max(min(MAX_UNKNOWN, MAX_BYTES // (math.prod(dims) * kind.size)), 1)
    count = counted(raw.Cast(raw.TensorListLength(handle), DstT=int64), None, most)
    whole = raw.TensorListResize(handle, np.int32(most))
    form = np.array(dims, np.int32)
    array = raw.TensorListStack(whole, form, element_dtype=kind, num_elements=most)
    return Rows(array, count)


@SOURCES.of(raw.Fill)
def _filled(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """One element as often as data says, along one dimension."""
    dims, element = inputs
    axis, number = 0, dims
    fixed: list[int] = []
    if dims.dims != (1,):
        parts = dims.node.inputs if dims.node.op is raw.Pack else []
        data = [i for i, part in enumerate(parts) if part.node.op is not raw.Const]
        if len(data) != 1:
            raise refused(
                "several of its dimensions are data", "fill one after the other, and multiply"
            )
        axis, number = data[0], parts[data[0]]
        fixed = [int(part.node.attrs["value"]) for i, part in enumerate(parts) if i != axis]
    if 0 in fixed or not element.dtype.is_numpy_compatible:
        raise refused("there are no elements, or elements that are no numbers", "tf.zeros")
    bounds = bounds_of(number)
    whole = raw.Reshape(raw.Cast(number, DstT=int64), np.zeros(0, np.int32))
    asserted(raw.GreaterEqual(whole, np.int64(0)), assertions.NEGATIVE_SIZE)
    limit = max(min(MAX_UNKNOWN, MAX_BYTES // (math.prod(fixed) * element.dtype.size)), 1)
    count = counted(whole, None if bounds is None else max(int(bounds.high), 0), limit)
    shape = np.array([*fixed[:axis], count.most, *fixed[axis:]], np.int32)
    return [Rows(raw.Fill(shape, element), count, axis)]


@SOURCES.of(late.RaggedTensorToTensor)
def _padded(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    return padded(node, inputs, Count(np.array(inputs[1].dims[:1], np.int64), inputs[1].dims[0]))


def padded(node: Node, inputs: Sequence[Any], length: Count) -> Sequence[Any]:
    """The rows of a ragged tensor of one level, as long as the longest; `length` is that of all values."""
    shape, values, default, *partitions = inputs
    if [*node.attrs["row_partition_types"]] != ["ROW_SPLITS"] or shape.node.op is not raw.Const:
        raise refused("it has several levels, or a shape that is data", "a constant shape")
    wanted = np.asarray(shape.node.attrs["value"]).reshape(-1).tolist()
    wanted = wanted if shape.dims else [-1] * (len(values.dims) + 1)
    (splits,) = partitions
    rows = splits.dims[0] - 1
    if wanted[0] not in (-1, rows) or [w for w in wanted[2:] if w >= 0] or not rows:
        raise refused("it has another number of rows than the ragged tensor", "a shape of None, n")
    if not values.dims[0]:
        raise refused("there are no elements", "tf.zeros")
    ends = raw.Cast(splits, DstT=int64)
    starts = raw.Slice(ends, np.zeros(1, np.int32), np.array([rows], np.int32))
    ends = raw.Slice(ends, np.ones(1, np.int32), np.array([rows], np.int32))
    lengths = raw.Sub(ends, starts)
    most = wanted[1] if wanted[1] >= 0 else values.dims[0]
    places = raw.ExpandDims(starts, np.int32(1))
    places = raw.AddV2(places, np.arange(most, dtype=np.int64))
    inside = raw.Less(np.arange(most, dtype=np.int64), raw.ExpandDims(lengths, np.int32(1)))
    places = raw.SelectV2(inside, places, np.int64(0))
    within = raw.LogicalAnd(
        raw.GreaterEqual(starts, np.int64(0)), raw.LessEqual(ends, length.number)
    )
    asserted(within, assertions.INDEX_OUT_OF_RANGE)
    taken = raw.GatherV2(values, places, np.int32(0))
    inside = raw.Reshape(inside, np.array([rows, most, *[1] * (len(values.dims) - 1)], np.int32))
    array = raw.SelectV2(inside, taken, default)
    if wanted[1] >= 0:
        return [array]
    longest = raw.Maximum(raw.Max(lengths, np.zeros(1, np.int32), keep_dims=True), np.int64(0))
    return [Rows(array, Count(longest, most), 1)]
