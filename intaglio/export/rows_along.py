"""What works along rows that data selects: reductions, slices, joins, orders, gathers from them.

Rows beyond the last one are made neutral for it, or their places follow from the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32, int32, int64
from intaglio.export import assertions, row_slices
from intaglio.export.assertions import asserted
from intaglio.export.row_slices import constant
from intaglio.export.row_sources import SOURCES, Count, Rows, distinct, padded
from intaglio.export.rules import Rules, refused
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
# The elements of a list that is made of rows, each of which is a tensor when the graph is evaluated.
MAX_LISTED = 256
# What an op along rows gives: its node, its inputs as they are, and as rows or sizes.
Along = Callable[["Writer", Node, Sequence[Any], Sequence[Open | None]], Sequence[Any]]
ALONG: Rules[Along] = Rules()


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
        raise refused("several of its operands have as many rows as data says")
    return first


def _rows_and_sizes(found: Sequence[Open | None]) -> Rows:
    """The first operand, if others are none of rows. Raises NoRule."""
    return _single_rows([found[0], *[f for f in found[1:] if isinstance(f, Rows)]])


def reduced(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """A reduction of the rows, perhaps with other dimensions."""
    value = _single_rows(found)
    kind = value.array.dtype
    if not kind.is_numpy_compatible or (
        kind.is_complex and node.op.reduces in ("maximum", "minimum")
    ):
        raise refused("it compares complex numbers, or elements that are no numbers")
    axes, keep = inputs[1], node.attrs["keep_dims"]
    element = np.asarray(_NEUTRAL[node.op.reduces](kind), kind.numpy)
    array = filled(value, element)
    if node.op.reduces != "mean":
        return [node.op(array, axes, keep_dims=keep)]
    if kind.is_integer:
        raise refused("a mean of integers", "tf.reduce_sum(x) // tf.size(x)")
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
        raise refused("it compares complex numbers or bools", "cast them to int32 or float32")
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
        raise refused("it gathers batches, or along an axis that is data", "tf.gather_nd")
    if params.group != 1 or at % len(params.array.dims) != params.axis or not params.length.most:
        raise refused("it gathers from rows of several elements each", "tf.reshape to one a row")
    places = inputs[1]
    if isinstance(indices, Rows):
        places = filled(indices, np.zeros((), places.dtype.numpy))
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
        raise refused("it reverses rows of several elements each", "tf.reshape to one a row")
    places = raw.Sub(value.length.number, np.arange(1, value.length.most + 1, dtype=np.int64))
    places = raw.Maximum(places, np.int64(0))
    array = raw.GatherV2(value.array, places, np.int32(value.axis))
    others = np.array([a for a in axes if a != value.axis], np.int32)
    return [value._replace(array=raw.ReverseV2(array, others) if others.size else array)]


@ALONG.of(raw.TopKV2)
def _greatest(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """The greatest rows: as many as a constant or a size says, which is checked."""
    value, wanted = found
    kind = inputs[0].dtype
    if not isinstance(value, Rows) or value.axis != len(value.array.dims) - 1 or value.group != 1:
        raise refused("it sorts other dimensions than that of rows", "tf.transpose")
    last = kind.min if kind.is_integer else np.nan  # which are behind all others, NaN as well
    array = filled(value, np.asarray(last, kind.numpy))
    if isinstance(wanted, Size) or inputs[1].node.op is not raw.Const:
        number = raw.Reshape(raw.Cast(inputs[1], DstT=int64), np.array([1], np.int32))
        asserted(raw.LessEqual(number, value.length.number), assertions.FEWER_THAN_K)
        count = Count(number, value.length.most)
        every = raw.Const(value=np.int32(value.length.most), dtype=inputs[1].dtype)
        results = writer.at_most(node, [array, every], [None, None])
        return [value._replace(array=r, length=count) for r in results]
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
        part = open_
        if not isinstance(part, Rows):
            part = Rows(value, Count(np.array([value.dims[at]], np.int64), value.dims[at]), at)
        if part.axis != at or part.group != 1:
            raise refused("it joins rows of several elements each", "tf.reshape to one a row")
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
        raise refused(
            "a product of unlike selections", "select once, and gather by the same indices"
        )
    names = ("transpose_a", "transpose_b") if node.op is raw.MatMul else ("adj_x", "adj_y")
    first, second = (bool(node.attrs[name]) for name in names)
    summed = [len(one.array.dims) - 1 - first, len(other.array.dims) - 2 + second]
    if [one.axis, other.axis] != summed:
        raise refused(
            "a product that sums over another dimension than that of rows", "tf.transpose"
        )
    arrays = [filled(v, np.zeros((), v.array.dtype.numpy)) for v in (one, other)]
    return writer.at_most(node, arrays, [None, None])


@ALONG.of(late.SparseTensorDenseMatMul, late.SparseReduceSum)
def _sparse(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Elements beyond the last one are zeros in the first place."""
    indices, values, *others = found
    if not isinstance(indices, Rows) or not isinstance(values, Rows) or any(others):
        raise refused("its indices or values are not those of one selection", "tf.sparse.to_dense")
    arrays = [filled(v, np.zeros((), v.array.dtype.numpy)) for v in (indices, values)]
    return writer.at_most(node, [*arrays, *inputs[2:]], [None] * len(inputs))


def _flat_indices(indices: Rows, shape: Any) -> tuple[Any, tuple[int, ...]]:
    """The places of indices in an array of a constant shape, its size for what is no row; and the shape."""
    dims = tuple([int(d) for d in constant(shape).reshape(-1)])
    wide = raw.Cast(indices.array, DstT=int64)
    if len(indices.array.dims) == 1:
        wide = raw.ExpandDims(wide, np.int32(1))
    inside = raw.LogicalAnd(raw.GreaterEqual(wide, np.int64(0)), raw.Less(wide, np.array(dims)))
    one = indices._replace(array=raw.All(inside, np.array([1], np.int32)))
    asserted(filled(one, np.True_), assertions.INDEX_OUT_OF_RANGE)
    strides = [math.prod(dims[i + 1 :]) for i in range(len(dims))]
    flat = raw.Sum(raw.Mul(wide, np.array(strides, np.int64)), np.array([1], np.int32))
    return filled(indices._replace(array=flat), np.int64(math.prod(dims))), dims


@ALONG.of(late.SparseToDense)
def _dense(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Values at indices that are rows, in an array of a constant shape."""
    indices, shape, values, default = found
    if not isinstance(indices, Rows) or indices.axis or shape is not None or default is not None:
        raise refused("its shape is data", "tf.sparse.to_dense of one with a constant shape")
    if values is not None:
        _same_rows(indices, values)
    items = values.array if isinstance(values, Rows) else inputs[2]
    most = indices.length.most
    items = raw.BroadcastTo(items, np.array([most], np.int32))
    places, dims = _flat_indices(indices, inputs[1])
    size = math.prod(dims)
    whole = raw.Fill(np.array([size + 1], np.int32), inputs[3])
    whole = raw.TensorScatterUpdate(whole, raw.ExpandDims(places, np.int32(1)), items)
    return [raw.Reshape(_without_spare_row(whole, size), np.array(dims, np.int32))]


@ALONG.of(late.SparseReorder)
def _ordered(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Elements in the order of their places."""
    indices, values, shape = found
    if not isinstance(indices, Rows) or not isinstance(values, Rows) or shape is not None:
        raise refused("its shape is data", "a sparse tensor with a constant shape")
    _same_rows(indices, values)
    places, _ = _flat_indices(indices, inputs[2])
    order = raw.TopKV2(raw.Neg(places), np.int32(indices.length.most)).indices
    return [
        indices._replace(array=raw.GatherV2(indices.array, order, np.int32(0))),
        values._replace(
            array=raw.GatherV2(values.array, order, np.int32(0)), length=indices.length
        ),
    ]


@ALONG.of(late.RaggedTensorToTensor)
def _padded(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows of a ragged tensor whose values are rows."""
    shape, values, default, *partitions = found
    if not isinstance(values, Rows) or shape or default or any(partitions):
        raise refused("a shape or a partition is data as well")
    if values.axis or values.group != 1:
        raise refused("it is made of rows of several elements each", "tf.reshape to one a row")
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
    """Rows from one number to another, which may be sizes, or one of them."""
    return [row_slices.strided(node, _rows_and_sizes(found), *inputs[1:])]


@ALONG.of(raw.Slice)
def _cut(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    return [row_slices.cut(_rows_and_sizes(found), *inputs[1:])]


@ALONG.of(raw.TensorListFromTensor)
def _listed(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """As many elements as there are rows."""
    value = _single_rows(found)
    if value.axis or value.group != 1:
        raise refused("elements are no rows of one dimension", "tf.transpose, or tf.reshape")
    if value.length.most > MAX_LISTED:
        raise refused(f"there may be more than {MAX_LISTED} elements", "work on all rows at once")
    (whole,) = writer.at_most(node, [value.array, inputs[1]], [None, None])
    number = raw.Reshape(raw.Cast(value.length.number, DstT=int32), np.zeros(0, np.int32))
    return [raw.TensorListResize(whole, number)]


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
        raise refused(
            "its operands are of unlike selections", "select once, and gather by the same indices"
        )
    if one.length.most != other.length.most:
        raise refused(
            "its operands are of unlike selections", "select once, and gather by the same indices"
        )
    if one.length.number is not other.length.number:
        asserted(raw.Equal(one.length.number, other.length.number), assertions.INCOMPATIBLE_SHAPES)


@ALONG.of(*_SCATTERS)
def _scattered(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Updates at indices that are rows."""
    target, indices, updates = found
    if target is not None or not isinstance(indices, Rows) or not inputs[0].dims or indices.axis:
        raise refused("the tensor that is changed has as many rows as data says")
    if indices.group != 1:
        raise refused("its indices are of rows of several elements each", "tf.reshape to one a row")
    if updates is not None:
        _same_rows(indices, updates)
    value, count = _with_spare_row(inputs[0])
    spare = np.zeros(indices.array.dims[-1], indices.array.dtype.numpy)
    spare[0] = count
    items = updates.array if isinstance(updates, Rows) else inputs[2]
    result = node.op(value, filled(indices, spare), items)
    return [_without_spare_row(result, count)]


@ALONG.of(raw.ScatterNd)
def _placed(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Sums of updates at indices that are rows, in a result of a known shape."""
    indices, updates, shape = found
    if not isinstance(indices, Rows) or indices.axis or indices.group != 1 or shape is not None:
        raise refused("the shape of its result is data", "tf.scatter_nd with a fixed shape")
    items = inputs[1]
    if updates is not None:
        _same_rows(indices, updates)
        items = updates.array if isinstance(updates, Rows) else items
    items = filled(indices._replace(array=items), np.zeros((), items.dtype.numpy))
    places = filled(indices, np.zeros((), inputs[0].dtype.numpy))
    return writer.at_most(node, [places, items, inputs[2]], [None] * 3)


@ALONG.of(
    raw.UnsortedSegmentSum, raw.UnsortedSegmentProd, raw.UnsortedSegmentMax, raw.UnsortedSegmentMin
)
def _gathered_segments(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Those of rows, whose numbers are rows too, or of as many as a size says."""
    data, ids, number = found
    items, numbers, size = inputs
    if isinstance(ids, Rows) and ids.axis == 0 and ids.group == 1:
        if data is not None:
            _same_rows(ids, data)
        numbers = filled(ids, np.full((), -1, numbers.dtype.numpy))  # which are dropped
    elif ids is not None or data is not None:
        raise refused(
            "its numbers are not those of the same rows", "gather both by the same indices"
        )
    items = data.array if isinstance(data, Rows) else items
    if not isinstance(number, Size):
        return writer.at_most(node, [items, numbers, size], [None] * 3)
    below = raw.Less(raw.Cast(numbers, DstT=int64), raw.Cast(size, DstT=int64))
    asserted(below, assertions.INDEX_OUT_OF_RANGE)
    most = int(number.most)
    count = Count(raw.Reshape(raw.Cast(size, DstT=int64), np.array([1], np.int32)), most)
    most_of_them = raw.Const(value=number.most, dtype=size.dtype)
    (result,) = writer.at_most(node, [items, numbers, most_of_them], [None] * 3)
    return [Rows(result, count)]


@ALONG.of(raw.DynamicStitch)
def _stitched(
    writer: Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Parts at their places in a result of a known shape; later ones take the place of others."""
    (result,) = node.outputs
    half = len(inputs) // 2
    if not result.dims or not shapes.known(result.dims):
        raise refused("the shape of its result is data", "tf.scatter_nd with a fixed shape")
    count = result.dims[0]
    shape = np.array([count + 1, *result.dims[1:]], np.int32)
    whole: Any = raw.Fill(shape, np.zeros((), result.dtype.numpy))
    for number in range(half):
        places, items = found[number], inputs[half + number]
        index = inputs[number]
        if isinstance(places, Rows):
            if places.axis or places.group != 1 or len(places.array.dims) != 1:
                raise refused("its indices are no vectors", "tf.reshape them")
            index = filled(places, np.asarray(count, index.dtype.numpy))
        part = found[half + number]
        if len(index.dims or ()) != 1:
            raise refused("its indices are no vectors", "tf.reshape them")
        if isinstance(part, Rows) and isinstance(places, Rows):
            _same_rows(places, part)
            items = part.array
        elif part is not None or places is not None:  # of one the number is known: it is none
            counted = part or places
            if not isinstance(counted, Rows) or 0 not in (*index.dims[:1], *items.dims[:1]):
                raise refused(
                    "its operands are of unlike selections",
                    "select once, and gather by the same indices",
                )
            asserted(raw.Equal(counted.length.number, np.int64(0)), assertions.INCOMPATIBLE_SHAPES)
            continue
        if index.dims[0]:
            column = raw.ExpandDims(index, np.int32(1))
            whole = raw.TensorScatterUpdate(whole, column, items)
    return [_without_spare_row(whole, count)]
