"""Rules of ops on shapes and indices: reshaping, joining, slicing, gathering, scattering."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import int32
from intaglio.ir.graph import Node
from intaglio.opdef import convert, raw
from intaglio.opdef.spec import Spec
from intaglio.vectorize.rows import (
    NotVectorizableError,
    Row,
    Rows,
    again,
    moved,
    shifted,
    swapped,
    vectorizes,
)

# -- shapes --------------------------------------------------------------------------


def _shape(row: Row, kind: Any) -> Any:
    """The shape of one row."""
    if shapes.known(row.spec.shape):
        return convert.to_tensor(np.asarray(row.spec.shape, kind.numpy))
    whole = raw.Shape(row.tensor, out_type=kind)
    if not row.stacked:
        return whole
    return raw.StridedSlice(whole, [1], [0], [1], end_mask=1)


@vectorizes(raw.Shape, raw.ShapeN)
def shape(rows: Rows, node: Node, inputs: Any) -> Any:
    """All rows have one shape."""
    listed = inputs if isinstance(inputs, list) else [inputs]
    kind = node.attrs["out_type"]
    return [Row(_shape(r, kind), False, v.spec) for r, v in zip(listed, node.outputs, strict=True)]


@vectorizes(raw.Size)
def size(rows: Rows, node: Node, x: Row) -> Any:
    """All rows have as many elements."""
    found = raw.Prod(_shape(x, node.attrs["out_type"]), np.asarray([0], np.int32))
    return Row(found, False, node.outputs[0].spec)


@vectorizes(raw.Rank)
def rank(rows: Rows, node: Node, x: Row) -> Any:
    """All rows have one rank."""
    one = np.asarray(1, np.int32)
    return Row(raw.Sub(raw.Rank(x.tensor), one), False, node.outputs[0].spec)


@vectorizes(raw.Reshape)
def reshape(rows: Rows, node: Node, x: Row, wanted: Row) -> Any:
    """The rows stay the first dimension."""
    known = node.outputs[0].spec
    return raw.Reshape(x.tensor, rows.shape(wanted.same, known))


@vectorizes(raw.BroadcastTo)
def broadcast_to(rows: Rows, node: Node, x: Row, wanted: Row) -> Any:
    """Each row to the shape."""
    spec = node.outputs[0].spec
    if spec.shape is None:
        raise NotVectorizableError("the rank of the result is not known")
    value = rows.aligned(x, len(spec.shape))
    return raw.BroadcastTo(value, rows.shape(wanted.same, spec))


@vectorizes(raw.Fill)
def fill(rows: Rows, node: Node, dims: Row, value: Row) -> Any:
    """Each row of one value."""
    spec = node.outputs[0].spec
    if spec.shape is None:
        raise NotVectorizableError("the rank of the result is not known")
    aligned = rows.aligned(value, len(spec.shape))
    return raw.BroadcastTo(aligned, rows.shape(dims.same, spec))


@vectorizes(raw.Transpose, raw.ConjugateTranspose)
def transpose(rows: Rows, node: Node, x: Row, order: Row) -> Any:
    """The rows stay in front."""
    known = order.numbers
    if known is not None:
        kind = order.spec.dtype.numpy
        permutation: Any = np.asarray([0, *[p % max(x.rank, 1) + 1 for p in known]], kind)
    else:
        one = np.asarray(1, order.spec.dtype.numpy)
        permutation = raw.ConcatV2([[one - one], raw.AddV2(order.same, one)], 0)
    return again(node, [x.tensor, permutation])


@vectorizes(raw.ExpandDims)
def expand_dims(rows: Rows, node: Node, x: Row, dim: Row) -> Any:
    """The dimension is one further on."""
    return again(node, [x.tensor, shifted(dim)])


@vectorizes(raw.Squeeze)
def squeeze(rows: Rows, node: Node, x: Row) -> Any:
    """The dimensions are one further on; the rows stay, be there only one."""
    name = next(n for n in ("squeeze_dims", "axis") if n in node.attrs)
    wanted = node.attrs[name]
    if not wanted:
        if not shapes.known(x.spec.shape):
            raise NotVectorizableError("the shape of a row is not known")
        wanted = [i for i, d in enumerate(x.spec.shape or ()) if d == 1]
        if not wanted:
            return x.tensor
    return again(node, [x.tensor], **{name: tuple([moved(a) for a in wanted])})


@vectorizes(raw.Tile)
def tile(rows: Rows, node: Node, x: Row, multiples: Row) -> Any:
    """The rows are not repeated."""
    return again(node, [x.tensor, _prefixed(multiples, 1)])


@vectorizes(raw.Pad, raw.PadV2, raw.MirrorPad, raw.MirrorPadGrad)
def pad(rows: Rows, node: Node, x: Row, paddings: Row, *value: Row) -> Any:
    """Nothing before and behind the rows."""
    same = paddings.same
    none = np.zeros((1, 2), paddings.spec.dtype.numpy)
    return again(node, [x.tensor, raw.ConcatV2([none, same], 0), *[v.same for v in value]])


def _prefixed(vector: Row, first: int) -> Any:
    """A vector for one row with an element for the rows before it."""
    kind = vector.spec.dtype.numpy
    known = vector.numbers
    if known is not None:
        return np.asarray([first, *known], kind)
    return raw.ConcatV2([np.asarray([first], kind), vector.same], 0)


# -- joining and cutting ---------------------------------------------------------------


@vectorizes(raw.ConcatV2)
def concat(rows: Rows, node: Node, values: list[Row], axis: Row) -> Any:
    """The axis is one further on."""
    return again(node, [*[rows.stack(v) for v in values], shifted(axis)])


@vectorizes(raw.Concat)
def concat_first(rows: Rows, node: Node, axis: Row, values: list[Row]) -> Any:
    """The axis is one further on."""
    return again(node, [shifted(axis), *[rows.stack(v) for v in values]])


@vectorizes(raw.Pack)
def pack(rows: Rows, node: Node, values: list[Row]) -> Any:
    """The axis is one further on."""
    axis = moved(node.attrs["axis"])
    return again(node, [rows.stack(v) for v in values], axis=axis)


@vectorizes(raw.Unpack)
def unpack(rows: Rows, node: Node, x: Row) -> Any:
    """The axis is one further on."""
    return again(node, [x.tensor], axis=moved(node.attrs["axis"]))


@vectorizes(raw.Split)
def split(rows: Rows, node: Node, axis: Row, x: Row) -> Any:
    """The axis is one further on."""
    return again(node, [shifted(axis), x.tensor])


@vectorizes(raw.SplitV)
def split_by_sizes(rows: Rows, node: Node, x: Row, sizes: Row, axis: Row) -> Any:
    """The axis is one further on."""
    return again(node, [x.tensor, sizes.same, shifted(axis)])


@vectorizes(raw.Slice)
def cut(rows: Rows, node: Node, x: Row, begin: Row, size: Row) -> Any:
    """All rows are taken."""
    return again(node, [x.tensor, _prefixed(begin, 0), _prefixed(size, -1)])


MASKS = {
    "begin_mask": 1,
    "end_mask": 1,
    "ellipsis_mask": 0,
    "new_axis_mask": 0,
    "shrink_axis_mask": 0,
}


def _masks(node: Node) -> dict[str, int]:
    """The masks of a slice of all rows."""
    return {n: (node.attrs[n] << 1) | own for n, own in MASKS.items()}


@vectorizes(raw.StridedSlice)
def strided_slice(rows: Rows, node: Node, x: Row, begin: Row, end: Row, strides: Row) -> Any:
    """All rows are taken; `x[i]` with an `i` for each row is a gather."""
    if begin.stacked:
        return _element(rows, node, x, begin)
    bounds = [_prefixed(begin, 0), _prefixed(end, 0), _prefixed(strides, 1)]
    return again(node, [x.tensor, *bounds], **_masks(node))


def _element(rows: Rows, node: Node, x: Row, begin: Row) -> Any:
    wanted = {**dict.fromkeys(MASKS, 0), "shrink_axis_mask": 1}
    if begin.spec.shape != (1,) or any(node.attrs[n] != m for n, m in wanted.items()):
        raise NotVectorizableError("a slice begins elsewhere in each row")
    kind = begin.spec.dtype
    first = raw.Reshape(begin.tensor, rows.vector)
    length = raw.StridedSlice(_shape(x, kind), [0], [1], [1], shrink_axis_mask=1)
    zero = np.asarray(0, kind.numpy)
    first = raw.SelectV2(raw.Less(first, zero), raw.AddV2(first, length), first)
    if x.stacked:
        return raw.GatherV2(x.tensor, first, np.int32(1), batch_dims=1)
    return raw.GatherV2(x.tensor, first, np.int32(0))


@vectorizes(raw.StridedSliceGrad)
def strided_slice_gradient(
    rows: Rows, node: Node, shape: Row, begin: Row, end: Row, strides: Row, dy: Row
) -> Any:
    """All rows were taken."""
    kind = begin.spec.dtype
    whole = raw.Cast(rows.shape(shape.same), DstT=kind)
    bounds = [_prefixed(begin, 0), _prefixed(end, 0), _prefixed(strides, 1)]
    return again(node, [whole, *bounds, rows.stack(dy)], **_masks(node))


@vectorizes(raw.TensorStridedSliceUpdate)
def strided_slice_update(
    rows: Rows, node: Node, x: Row, begin: Row, end: Row, strides: Row, value: Row
) -> Any:
    """All rows are written to."""
    spec = value.spec
    if not value.stacked or spec.shape is None:
        raise NotVectorizableError("a value for all rows is written to each")
    bounds = [_prefixed(begin, 0), _prefixed(end, 0), _prefixed(strides, 1)]
    return again(node, [rows.stack(x), *bounds, value.tensor], **_masks(node))


@vectorizes(raw.OneHot)
def one_hot(rows: Rows, node: Node, indices: Row, *rest: Row) -> Any:
    """The axis is one further on."""
    axis = moved(node.attrs["axis"])
    return again(node, [indices.tensor, *[r.same for r in rest]], axis=axis)


# -- gather and scatter --------------------------------------------------------------


@vectorizes(raw.GatherV2)
def gather(rows: Rows, node: Node, params: Row, indices: Row, axis: Row) -> Any:
    """Gathers rows of one table, or by index in each row's table, or by the same indices in all."""
    numbers = axis.numbers
    if numbers is None:
        raise NotVectorizableError("the axis is not known")
    return _gathered(rows, params, indices, numbers[0], node.attrs["batch_dims"])


@vectorizes(raw.Gather)
def gather_first(rows: Rows, node: Node, params: Row, indices: Row) -> Any:
    """Along the first dimension."""
    return _gathered(rows, params, indices, 0, 0)


def _gathered(rows: Rows, params: Row, indices: Row, axis: int, batch: int) -> Any:
    axis = axis % max(params.rank, 1)
    batch = batch + indices.rank if batch < 0 else batch
    if not params.stacked and batch == 0:
        found = raw.GatherV2(params.tensor, indices.tensor, np.int32(axis))
        if axis == 0:
            return found
        total = params.rank + indices.rank
        order = [axis, *range(axis), *range(axis + 1, total)]
        return raw.Transpose(found, np.asarray(order, np.int32))
    table = rows.stack(params)
    if not indices.stacked and batch == 0:
        return raw.GatherV2(table, indices.tensor, np.int32(axis + 1))
    stacked = rows.stack(indices)
    return raw.GatherV2(table, stacked, np.int32(axis + 1), batch_dims=batch + 1)


def _with_row(rows: Rows, indices: Row) -> Any:
    """Indices of elements of a row as those of elements of all rows."""
    stacked = rows.stack(indices)
    kind = indices.spec.dtype
    number = rows.numbers(kind)
    for _ in range(indices.rank):
        number = raw.ExpandDims(number, np.int32(-1))
    shape = raw.Shape(stacked)
    front = raw.StridedSlice(shape, [0], [-1], [1], begin_mask=1)
    number = raw.BroadcastTo(number, raw.ConcatV2([front, [1]], 0))
    return raw.ConcatV2([number, stacked], np.int32(-1))


@vectorizes(raw.GatherNd)
def gather_nd(rows: Rows, node: Node, params: Row, indices: Row) -> Any:
    """Indices into one table, or with the row as their first component."""
    if not params.stacked:
        return again(node, [params.tensor, indices.tensor])
    return again(node, [params.tensor, _with_row(rows, indices)])


@vectorizes(raw.ScatterNd)
def scatter_nd(rows: Rows, node: Node, indices: Row, updates: Row, shape: Row) -> Any:
    """The row's number becomes the first component of an index."""
    kind = shape.spec.dtype
    whole = raw.Cast(rows.shape(shape.same, node.outputs[0].spec), DstT=kind)
    return again(node, [_with_row(rows, indices), rows.stack(updates), whole])


@vectorizes(
    raw.ScatterNdNonAliasingAdd,
    raw.TensorScatterAdd,
    raw.TensorScatterMax,
    raw.TensorScatterMin,
    raw.TensorScatterSub,
    raw.TensorScatterUpdate,
)
def tensor_scatter(rows: Rows, node: Node, tensor: Row, indices: Row, updates: Row) -> Any:
    """The row's number becomes the first component of an index."""
    with_row = _with_row(rows, indices)
    return again(node, [rows.stack(tensor), with_row, rows.stack(updates)])


# -- convolutions, pools and what else has examples ------------------------------------


def merged(value: Any) -> Any:
    """Rows of examples as one batch."""
    shape = raw.Shape(value)
    front = raw.StridedSlice(shape, [0], [2], [1])
    rest = raw.StridedSlice(shape, [2], [0], [1], end_mask=1)
    many = raw.Prod(front, np.asarray([0], np.int32), keep_dims=True)
    return raw.Reshape(value, raw.ConcatV2([many, rest], 0))


def parted(rows: Rows, value: Any, examples: Any) -> Any:
    """A merged batch split into rows of examples again."""
    rest = raw.StridedSlice(raw.Shape(value), [1], [0], [1], end_mask=1)
    return raw.Reshape(value, raw.ConcatV2([rows.vector, examples, rest], 0))


def of_examples(rows: Rows, node: Node, *inputs: Row) -> Any:
    """The examples of all rows are one batch.

    Of the inputs those with examples as their first dimension may differ from row to row.
    """
    count = node.op.batched_inputs
    together = [rows.stack(r) for r in inputs[:count]]
    if len({r.spec.shape and r.spec.shape[0] for r in inputs[:count]}) > 1:
        raise NotVectorizableError("one example goes with several others")
    examples = raw.StridedSlice(raw.Shape(together[0]), [1], [2], [1])
    outputs = again(node, [*[merged(t) for t in together], *[r.same for r in inputs[count:]]])
    return [parted(rows, v, examples) for v in outputs]


@vectorizes(
    raw.AvgPoolGrad,
    raw.AvgPool3DGrad,
    raw.Conv2DBackpropInput,
    raw.Conv3DBackpropInputV2,
    raw.DepthwiseConv2dNativeBackpropInput,
)
def input_gradient(rows: Rows, node: Node, sizes: Row, *inputs: Row) -> Any:
    """The examples of all rows become one batch, also in the sizes."""
    *weights, dy = inputs
    sizes_tensor = sizes.same
    examples = raw.StridedSlice(sizes_tensor, [0], [1], [1])
    many = raw.Mul(examples, raw.Cast(rows.count, DstT=sizes.spec.dtype))
    rest = raw.StridedSlice(sizes_tensor, [1], [0], [1], end_mask=1)
    whole = raw.ConcatV2([many, rest], 0)
    outputs = again(node, [whole, *[w.same for w in weights], merged(rows.stack(dy))])
    return [parted(rows, v, raw.Cast(examples, DstT=int32)) for v in outputs]


@vectorizes(raw.Conv2DBackpropFilter)
def filter_gradient(rows: Rows, node: Node, x: Row, sizes: Row, dy: Row) -> Any:
    """One input, a gradient for each row: the rows become channels of the output."""
    if x.stacked or node.attrs["data_format"] != "NHWC":
        raise NotVectorizableError("the filter's gradient is of each row's own input")
    if sizes.numbers is None or x.spec.shape is None or sizes.numbers[2] != x.spec.shape[3]:
        raise NotVectorizableError("the channels are convolved in groups")
    examples = raw.Shape(dy.tensor)
    front = raw.StridedSlice(examples, [1], [4], [1])
    wide = raw.Reshape(
        raw.Transpose(dy.tensor, np.asarray([1, 2, 3, 0, 4], np.int32)),
        raw.ConcatV2([front, [-1]], 0),
    )
    sizes_tensor = sizes.same
    head = raw.StridedSlice(sizes_tensor, [0], [3], [1])
    channels = raw.StridedSlice(sizes_tensor, [3], [4], [1])
    many = raw.ConcatV2([head, raw.Mul(channels, rows.count)], 0)
    (found,) = again(node, [x.tensor, many, wide])
    split = raw.Reshape(found, raw.ConcatV2([head, rows.vector, channels], 0))
    return raw.Transpose(split, np.asarray([3, 0, 1, 2, 4], np.int32))


@vectorizes(raw.BiasAdd, raw.BiasAddV1)
def bias_add(rows: Rows, node: Node, value: Row, bias: Row) -> Any:
    """One bias for all rows, or one for each."""
    first = str(node.attrs.get("data_format", "NHWC")).startswith("NC")
    added = bias.tensor
    if first:
        for _ in range(value.rank - 2):
            added = raw.ExpandDims(added, np.int32(-1))
    if not bias.stacked:
        return raw.AddV2(value.tensor, added)
    width = value.rank - 1 if first else 1
    own = Row(added, True, Spec(bias.spec.dtype, (None,) * width))
    return raw.AddV2(value.tensor, rows.aligned(own, value.rank))


@vectorizes(raw.FusedBatchNorm, raw.FusedBatchNormV2, raw.FusedBatchNormV3)
def batch_norm(rows: Rows, node: Node, x: Row, *inputs: Row) -> Any:
    """With moments that are given the examples of all rows are one batch."""
    if node.attrs["is_training"]:
        raise NotVectorizableError("each row has moments of its own")
    examples = raw.StridedSlice(raw.Shape(x.tensor), [1], [2], [1])
    y, *rest = again(node, [merged(x.tensor), *[r.same for r in inputs]])
    specs = [v.spec for v in node.outputs[1:]]
    return [
        parted(rows, y, examples),
        *[Row(v, False, s) for v, s in zip(rest, specs, strict=True)],
    ]


__all__ = ["merged", "parted", "swapped"]
