"""What gives as many rows as data says: loops find them, in arrays for all that there may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import FLOATING, DType, bool_, float64, int32, int64
from intaglio.export.loop_rules import loops, suppressed
from intaglio.export.portable_rules import NoRule
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import late, raw
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op
from intaglio.optimize.element_bounds import bounds_of

# Distinct elements are searched for among those before: of more it takes too long.
MAX_UNIQUE = 4096
# Of a number of rows that nothing is known about there is memory for so many; more are an error.
MAX_UNKNOWN = 4096


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
SOURCES: dict[str, Source] = {}


def _source(*ops: Op | OpReference) -> Callable[[Source], Source]:
    def register(function: Source) -> Source:
        SOURCES.update({op.name: function for op in ops})
        return function

    return register


def asserted(condition: Any, message: str) -> None:
    """An error of the library where a condition, of one element or of several, does not hold."""
    if condition.dims:
        condition = raw.All(condition, np.arange(len(condition.dims), dtype=np.int32))
    raw.Assert(condition, [np.asarray(message.encode(), object)])


@_source(raw.Where)
def _where(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    (x,) = inputs
    dims = tuple([d for d in x.dims or () if d is not None])
    size, rank = int(np.prod(dims)), len(dims)
    if not size or not rank:
        raise NoRule
    mask = x if x.dtype is bool_ else raw.NotEqual(x, np.zeros((), x.dtype.numpy))
    inputs = [mask, np.array(dims, np.int64)]
    outputs = [(int64, (size, rank)), (int64, (1,))]
    found, count = loops("selection:where", inputs, outputs, [], size, rank)
    return [Rows(found, Count(count, size))]


@_source(raw.Unique, late.UniqueWithCounts)
def _distinct(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    (x,) = inputs
    return distinct(node, x, np.array(x.dims, np.int64))


def distinct(node: Node, x: Any, number: Any) -> Sequence[Any]:
    """The distinct elements of the first ones of a vector, so many; which each is, and how often there are."""
    size, index = int(np.prod(x.dims or ())), node.outputs[1].dtype
    if not 0 < size <= MAX_UNIQUE or x.dtype in FLOATING[:2] or not _has_elements(x):
        raise NoRule
    outputs = [(x.dtype, (size,)), (index, (size,)), (index, (size,)), (int64, (1,))]
    values, positions, counts, found = loops("selection:unique", [x, number], outputs, [], size)
    count = Count(found, size)
    results = [Rows(values, count), positions, Rows(counts, count)]
    return results[: len(node.outputs)]


def _has_elements(x: SymbolicTensor) -> bool:
    return (
        x.dtype.is_numpy_compatible and x.dtype.numpy.kind in "iuf" and x.dtype.size in (1, 2, 4, 8)
    )


@_source(
    late.NonMaxSuppression,
    late.NonMaxSuppressionV2,
    late.NonMaxSuppressionV3,
    late.NonMaxSuppressionV4,
)
def _kept_boxes(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    chosen, count = suppressed(node, inputs, padded=False)
    rows = Rows(chosen, Count(raw.Cast(count, DstT=int64), chosen.dims[0]))
    return [rows, raw.Reshape(count, np.zeros(0, np.int32))][: len(node.outputs)]


@_source(raw.Range)
def _numbers(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Numbers up to a limit that is data."""
    start, limit, delta = inputs
    kind = node.outputs[0].dtype
    if kind not in (*FLOATING[2:], int32, int64):
        raise NoRule("a range of other numbers")
    wide: DType = float64 if kind.is_floating else int64
    begin, end, step = (raw.Cast(v, DstT=wide) for v in (start, limit, delta))
    zero = np.zeros((), wide.numpy)
    upwards = raw.LogicalAnd(raw.Greater(step, zero), raw.LessEqual(begin, end))
    downwards = raw.LogicalAnd(raw.Less(step, zero), raw.GreaterEqual(begin, end))
    fits = raw.LogicalOr(upwards, downwards)
    asserted(fits, "Requires start <= limit when delta > 0, start >= limit when delta < 0")
    if kind.is_floating:
        number = raw.Ceil(raw.RealDiv(raw.Sub(end, begin), step))
    else:
        number = raw.Neg(raw.FloorDiv(raw.Sub(begin, end), step))
    number = raw.Maximum(raw.Cast(number, DstT=int64), np.int64(0))
    count = counted(number, _most_numbers(inputs))
    steps = raw.Cast(np.arange(count.most, dtype=np.int64), DstT=kind)
    return [Rows(raw.AddV2(start, raw.Mul(steps, delta)), count)]


def _most_numbers(inputs: Sequence[Any]) -> int | None:
    """How many numbers a range may have, if something is known about its ends."""
    begin, end, step = [bounds_of(v) for v in inputs]
    if begin is None or end is None or step is None or step.low <= 0:
        return None
    return max(int(-((begin.low - end.high) // step.low)), 0)


def counted(number: Any, most: int | None) -> Count:
    """A count of rows; where nothing is known about it, one that may not be too large."""
    if most is None or most > MAX_UNKNOWN:
        most = MAX_UNKNOWN
        message = f"more than {MAX_UNKNOWN} elements, which the library has memory for"
        asserted(raw.LessEqual(number, np.int64(most)), message)
    return Count(raw.Reshape(number, np.array([1], np.int32)), most)


@_source(raw.Fill)
def _filled(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """A vector of one element as often as data says."""
    dims, element = inputs
    if dims.dims != (1,) or not element.dtype.is_numpy_compatible:
        raise NoRule("a fill of several dimensions that are data")
    number = raw.Cast(dims, DstT=int64)
    asserted(raw.GreaterEqual(number, np.int64(0)), "dims < 0")
    bounds = bounds_of(dims)
    whole = raw.Reshape(number, np.zeros(0, np.int32))
    count = counted(whole, None if bounds is None else max(int(bounds.high), 0))
    return [Rows(raw.Fill(np.array([count.most], np.int32), element), count)]
