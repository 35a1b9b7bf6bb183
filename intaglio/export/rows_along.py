"""What works along rows that data selects: reductions, slices, joins, orders, gathers from them.

Rows beyond the last one are made neutral for it, or their places follow from the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32, int64
from intaglio.export import assertions
from intaglio.export.assertions import asserted
from intaglio.export.row_sources import SOURCES, Count, Rows, distinct, padded
from intaglio.export.rules import NoRule, Rules
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import late, raw


class Writer(Protocol):
    """Writes a graph in which rows stand for values."""

    def at_most(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Any]
    ) -> Sequence[SymbolicTensor]:
        """The outputs of a node for as many rows as there may be."""
        ...


class Size(NamedTuple):
    """Integers that follow from a number of rows: as they are, and for as many rows as there may be."""

    tensor: Any
    most: np.ndarray
    length: Count


Open = Rows | Size
# What an op along rows gives: its node, its inputs as they are, and as rows or sizes.
Along = Callable[["Writer", Node, Sequence[Any], Sequence[Open | None]], Sequence[Any]]
ALONG: Rules[Along] = Rules()


def constant(value: Any) -> np.ndarray:
    if value.node.op is not raw.Const:
        raise NoRule
    return value.node.attrs["value"]


def filled(value: Rows, element: Any) -> Any:
    """The array with an element where there are no more rows."""
    dims, axis = value.array.dims, value.axis
    numbers = np.arange(dims[axis], dtype=np.int64).reshape(-1, *[1] * (len(dims) - axis - 1))
    number = raw.Mul(value.length.number, np.int64(value.group))
    return raw.SelectV2(raw.Less(numbers, number), value.array, element)


# -- along rows -----------------------------------------------------------------------------------------

# What rows beyond the last one are for a reduction.
_NEUTRAL: dict[str, Callable[[Any], Any]] = {
    "sum": lambda dtype: 0,
    "mean": lambda dtype: 0,
    "product": lambda dtype: 1,
    "maximum": lambda dtype: dtype.min if dtype.is_integer else -np.inf,
    "minimum": lambda dtype: dtype.max if dtype.is_integer else np.inf,
    "all": lambda dtype: True,
    "any": lambda dtype: False,
}


def _single_rows(found: Sequence[Open | None]) -> Rows:
    """The first operand, if it alone is one of rows. Raises NoRule."""
    first, *others = found
    if not isinstance(first, Rows) or any(others):
        raise NoRule
    return first


def reduced(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """A reduction of the rows, perhaps with other dimensions."""
    value = _single_rows(found)
    kind = value.array.dtype
    if not kind.is_numpy_compatible or (
        kind.is_complex and node.op.reduces in ("maximum", "minimum")
    ):
        raise NoRule
    axes, keep = inputs[1], node.attrs["keep_dims"]
    element = np.asarray(_NEUTRAL[node.op.reduces](kind), kind.numpy)
    array = filled(value, element)
    if node.op.reduces != "mean":
        return [node.op(array, axes, keep_dims=keep)]
    if kind.is_integer:
        raise NoRule("a mean of integers")
    rank = len(array.dims)
    along = [int(a) % max(rank, 1) for a in np.asarray(constant(axes)).reshape(-1)]
    others = math.prod([array.dims[a] for a in along if a != value.axis]) * value.group
    wide = float32 if kind.size == 2 else kind
    number = raw.Cast(raw.Mul(value.length.number, np.int64(others)), DstT=wide)
    total = raw.Sum(raw.Cast(array, DstT=wide), axes, keep_dims=keep)
    mean = raw.RealDiv(total, raw.Reshape(number, np.zeros(0, np.int32)))
    return [raw.Cast(mean, DstT=kind)]


@ALONG.of(raw.ArgMax, raw.ArgMin)
def _position(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Of the greatest or least row."""
    value = _single_rows(found)
    kind = value.array.dtype
    if kind.is_complex or kind.is_bool:
        raise NoRule
    some = raw.All(raw.Greater(value.length.number, np.int64(0)), np.zeros(1, np.int32))
    asserted(some, assertions.NO_ELEMENTS, node.op.name)
    what = "maximum" if node.op is raw.ArgMax else "minimum"
    array = filled(value, np.asarray(_NEUTRAL[what](kind), kind.numpy))
    return [node.op(array, inputs[1], output_type=node.outputs[0].dtype)]


@ALONG.of(raw.GatherV2)
def _taken(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows at indices, which are checked."""
    params, indices, axis = found
    at = int(constant(inputs[2]))
    if not isinstance(params, Rows) or axis is not None or node.attrs["batch_dims"]:
        raise NoRule
    if params.group != 1 or at % len(params.array.dims) != params.axis or not params.length.most:
        raise NoRule
    places = inputs[1]
    if isinstance(indices, Rows):
        places = filled(indices, np.zeros((), places.dtype.numpy))
    elif indices is not None:
        raise NoRule
    wide = raw.Cast(places, DstT=int64)
    number = raw.Reshape(params.length.number, np.zeros(0, np.int32))
    inside = raw.LogicalAnd(raw.GreaterEqual(wide, np.int64(0)), raw.Less(wide, number))
    if isinstance(indices, Rows):
        inside = filled(indices._replace(array=inside), np.True_)
    asserted(inside, assertions.INDEX_OUT_OF_RANGE)
    result = raw.GatherV2(params.array, raw.SelectV2(inside, places, np.zeros((), places.dtype.numpy)),
                          np.int32(params.axis))  # fmt: skip
    if isinstance(indices, Rows):
        return [Rows(result, indices.length, params.axis + indices.axis, indices.group)]
    return [result]


@ALONG.of(raw.Cumsum, raw.Cumprod)
def _running(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """From the first row on; from the last one, those beyond it are neutral."""
    value = _single_rows(found)
    if node.attrs["reverse"]:
        element = np.asarray(node.op is raw.Cumprod, value.array.dtype.numpy)
        value = value._replace(array=filled(value, element))
    (result,) = writer.at_most(node, [value.array, inputs[1]], [None, None])
    return [value._replace(array=result)]


@ALONG.of(raw.ReverseV2)
def _reversed(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows from the last one on; the other dimensions as they are."""
    value = _single_rows(found)
    axes = [int(a) % len(value.array.dims) for a in np.asarray(constant(inputs[1])).reshape(-1)]
    if value.group != 1 or not value.length.most:
        raise NoRule
    places = raw.Sub(value.length.number, np.arange(1, value.length.most + 1, dtype=np.int64))
    places = raw.Maximum(places, np.int64(0))
    array = raw.GatherV2(value.array, places, np.int32(value.axis))
    others = np.array([a for a in axes if a != value.axis], np.int32)
    return [value._replace(array=raw.ReverseV2(array, others) if others.size else array)]


@ALONG.of(raw.TopKV2)
def _greatest(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """The greatest rows: as many as a constant says, which is checked, or all of them in order."""
    value, wanted = found
    kind = inputs[0].dtype
    if not isinstance(value, Rows) or value.axis != len(value.array.dims) - 1 or value.group != 1:
        raise NoRule
    last = kind.min if kind.is_integer else np.nan  # which are behind all others, NaN as well
    array = filled(value, np.asarray(last, kind.numpy))
    if isinstance(wanted, Size) and int(wanted.most) == value.length.most == wanted.length.most:
        most = raw.Const(value=np.int32(value.length.most), dtype=inputs[1].dtype)
        results = writer.at_most(node, [array, most], [None, None])
        return [value._replace(array=r) for r in results]
    if wanted is not None:
        raise NoRule
    enough = raw.GreaterEqual(value.length.number, np.int64(constant(inputs[1])))
    asserted(enough, assertions.FEWER_THAN_K)
    return writer.at_most(node, [array, inputs[1]], [None, None])


@ALONG.of(raw.Where)
def _selected(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Those of rows: beyond the last one there is none."""
    value = _single_rows(found)
    array = filled(value, np.zeros((), value.array.dtype.numpy))
    return SOURCES.apply(node, [array])


@ALONG.of(raw.Unique, late.UniqueWithCounts)
def _distinct(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Of rows: which of them each row is are rows, too."""
    value = _single_rows(found)
    values, positions, *counts = distinct(node, value.array, value.length.number)
    return [values, Rows(positions, value.length), *counts]


@ALONG.of(raw.ConcatV2)
def _joined(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows behind each other: the parts are beside each other, and places in them are gathered."""
    *values, axis = inputs
    rank = len(node.outputs[0].dims or ())
    at = int(constant(axis)) % max(rank, 1)
    parts: list[Rows] = []
    for value, open_ in zip(values, found, strict=False):
        if isinstance(open_, Size):
            raise NoRule
        part = open_ or Rows(value, Count(np.array([value.dims[at]], np.int64), value.dims[at]), at)
        if part.axis != at or part.group != 1:
            raise NoRule
        parts.append(part)
    most = sum(p.length.most for p in parts)
    places: Any = np.arange(most, dtype=np.int64)
    total: Any = np.zeros(1, np.int64)
    taken: Any = np.zeros(most, np.int64)
    first = 0
    for part in parts:
        inside = raw.GreaterEqual(places, total)
        taken = raw.SelectV2(inside, raw.AddV2(raw.Sub(places, total), np.int64(first)), taken)
        total = raw.AddV2(total, part.length.number)
        first += part.length.most
    whole = raw.ConcatV2([p.array for p in parts], np.int32(at))
    taken = raw.Minimum(taken, np.int64(max(most - 1, 0)))
    return [Rows(raw.GatherV2(whole, taken, np.int32(at)), Count(total, most), at)]


@ALONG.of(raw.MatMul, raw.BatchMatMulV2)
def _multiplied(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """A product that sums over rows of both operands: those beyond the last one are zero."""
    one, other = found
    if not isinstance(one, Rows) or not isinstance(other, Rows) or one.length is not other.length:
        raise NoRule
    names = ("transpose_a", "transpose_b") if node.op is raw.MatMul else ("adj_x", "adj_y")
    first, second = (bool(node.attrs[name]) for name in names)
    summed = [len(one.array.dims) - 1 - first, len(other.array.dims) - 2 + second]
    if [one.axis, other.axis] != summed:
        raise NoRule("a product with rows in both dimensions")
    arrays = [filled(v, np.zeros((), v.array.dtype.numpy)) for v in (one, other)]
    return writer.at_most(node, arrays, [None, None])


@ALONG.of(late.SparseTensorDenseMatMul, late.SparseReduceSum)
def _sparse(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Elements beyond the last one are zeros in the first place."""
    indices, values, *others = found
    if not isinstance(indices, Rows) or not isinstance(values, Rows) or any(others):
        raise NoRule
    arrays = [filled(v, np.zeros((), v.array.dtype.numpy)) for v in (indices, values)]
    return writer.at_most(node, [*arrays, *inputs[2:]], [None] * len(inputs))


@ALONG.of(late.RaggedTensorToTensor)
def _padded(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows of a ragged tensor whose values are rows."""
    shape, values, default, *partitions = found
    if not isinstance(values, Rows) or shape or default or any(partitions):
        raise NoRule
    if values.axis or values.group != 1:
        raise NoRule
    return padded(node, [inputs[0], values.array, *inputs[2:]], values.length)


@ALONG.of(raw.Range)
def _numbered(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """As many numbers as there are rows, or a multiple; others as those of any number."""
    start, limit, delta = found
    if start is None and delta is None and isinstance(limit, Size):
        begin, step = int(constant(inputs[0])), int(constant(inputs[2]))
        group, rest = divmod(int(limit.most), max(limit.length.most, 1))
        if not begin and step == 1 and not rest and group and limit.length.most:
            numbers = np.arange(int(limit.most)).astype(node.outputs[0].dtype.numpy)
            array = raw.Const(value=numbers, dtype=node.outputs[0].dtype)
            return [Rows(array, limit.length, 0, group)]
    return SOURCES.apply(node, inputs)


@ALONG.of(raw.StridedSlice)
def _sliced(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows from one number to another, by a step of 1, or one of them; negative ones count from the end."""
    value = _single_rows(found)
    attrs, rank = node.attrs, len(value.array.dims)
    begin, end, step = (np.asarray(constant(v)).tolist() for v in inputs[1:])
    masks = [attrs[n] for n in ("ellipsis_mask", "new_axis_mask")]
    if value.axis or value.group != 1 or any(masks) or step[0] != 1 or not value.length.most:
        raise NoRule
    zero, number = np.zeros(1, np.int64), value.length.number

    def place(index: int) -> Any:
        wide = np.array([index], np.int64)
        return wide if index >= 0 else raw.AddV2(number, wide)

    first = zero if attrs["begin_mask"] & 1 else place(begin[0])
    last = number if attrs["end_mask"] & 1 else place(end[0])
    is_one = bool(attrs["shrink_axis_mask"] & 1)
    if is_one:
        inside = raw.LogicalAnd(raw.GreaterEqual(first, zero), raw.Less(first, number))
        asserted(inside, assertions.SLICE_OUT_OF_BOUNDS)
        first = raw.Maximum(raw.Minimum(first, np.int64(value.length.most - 1)), zero)
        array = raw.GatherV2(value.array, first, np.int32(0))
        count = Count(np.ones(1, np.int64), 1)
    else:
        first = raw.Minimum(raw.Maximum(first, zero), number)
        last = raw.Minimum(raw.Maximum(last, first), number)
        count = Count(raw.Sub(last, first), value.length.most)
        places = raw.AddV2(first, np.arange(value.length.most, dtype=np.int64))
        places = raw.Minimum(places, np.int64(value.length.most - 1))
        array = raw.GatherV2(value.array, places, np.int32(0))
    rest = [begin, end, step]
    if len(begin) > 1 and rank > 1:  # the other dimensions
        others = [np.array([0, *r[1:]], np.int32) for r in rest[:2]]
        array = raw.StridedSlice(
            array, *others, np.array(step, np.int32), begin_mask=attrs["begin_mask"] | 1,
            end_mask=attrs["end_mask"] | 1, shrink_axis_mask=attrs["shrink_axis_mask"] & ~1,
        )  # fmt: skip
    return [raw.Squeeze(array, axis=[0])] if is_one else [Rows(array, count)]


# -- at rows -------------------------------------------------------------------------------------------------

_SCATTERS = (
    raw.TensorScatterUpdate, raw.TensorScatterAdd, raw.TensorScatterSub, raw.TensorScatterMax,
    raw.TensorScatterMin,
)  # fmt: skip


def _with_spare_row(value: Any) -> tuple[Any, int]:
    """The array with one more row, which takes what is of no row; and how many there are without it."""
    dims = value.dims
    missing = np.zeros((len(dims), 2), np.int32)
    missing[0, 1] = 1
    return raw.PadV2(value, missing, np.zeros((), value.dtype.numpy)), dims[0]


def _without_spare_row(value: Any, count: int) -> Any:
    return raw.GatherV2(value, np.arange(count), np.int32(0))


def _same_rows(one: Rows, other: Open) -> None:
    """An error of the library where there are not as many rows of the one as of the other. Raises NoRule."""
    if not isinstance(other, Rows) or other.axis or other.group != 1:
        raise NoRule
    if one.length.most != other.length.most:
        raise NoRule
    if one.length.number is not other.length.number:
        asserted(raw.Equal(one.length.number, other.length.number), assertions.INCOMPATIBLE_SHAPES)


@ALONG.of(*_SCATTERS)
def _scattered(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Updates at indices that are rows."""
    target, indices, updates = found
    if target is not None or not isinstance(indices, Rows) or not inputs[0].dims or indices.axis:
        raise NoRule
    if indices.group != 1:
        raise NoRule
    if updates is not None:
        _same_rows(indices, updates)
    value, count = _with_spare_row(inputs[0])
    spare = np.zeros(indices.array.dims[-1], indices.array.dtype.numpy)
    spare[0] = count
    items = updates.array if isinstance(updates, Rows) else inputs[2]
    result = node.op(value, filled(indices, spare), items)
    return [_without_spare_row(result, count)]


@ALONG.of(raw.DynamicStitch)
def _stitched(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Parts at their places in a result of a known shape; later ones take the place of others."""
    (result,) = node.outputs
    half = len(inputs) // 2
    if not result.dims or not shapes.known(result.dims):
        raise NoRule
    count = result.dims[0]
    shape = np.array([count + 1, *result.dims[1:]], np.int32)
    whole: Any = raw.Fill(shape, np.zeros((), result.dtype.numpy))
    for number in range(half):
        places, items = found[number], inputs[half + number]
        index = inputs[number]
        if isinstance(places, Rows):
            if places.axis or places.group != 1 or len(places.array.dims) != 1:
                raise NoRule
            index = filled(places, np.asarray(count, index.dtype.numpy))
        part = found[half + number]
        if len(index.dims or ()) != 1:
            raise NoRule
        if isinstance(part, Rows) and isinstance(places, Rows):
            _same_rows(places, part)
            items = part.array
        elif part is not None or places is not None:  # of one the number is known: it is none
            counted = part or places
            if not isinstance(counted, Rows) or 0 not in (*index.dims[:1], *items.dims[:1]):
                raise NoRule
            asserted(raw.Equal(counted.length.number, np.int64(0)), assertions.INCOMPATIBLE_SHAPES)
            continue
        if index.dims[0]:
            column = raw.ExpandDims(index, np.int32(1))
            whole = raw.TensorScatterUpdate(whole, column, items)
    return [_without_spare_row(whole, count)]
