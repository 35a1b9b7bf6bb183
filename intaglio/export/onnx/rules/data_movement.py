"""Shapes, joining, splitting, padding, slicing: ops that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.export.onnx.builder import INT64
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.values import (
    Operand,
    Unexportable,
    Value,
    dims_of,
    is_known,
    known,
    rank_of,
)
from intaglio.opdef import raw

# Past every end of a dimension.
_END = np.iinfo(np.int64).max


# -- shapes ------------------------------------------------------------------------------------


@onnx_rule(raw.Shape)
def _shape(builder, input, out_type: DType) -> Any:
    return builder.cast(builder.shape(input), out_type.numpy)


@onnx_rule(raw.ShapeN)
def _shapes(builder, input, out_type: DType) -> Any:
    return [[builder.cast(builder.shape(x), out_type.numpy) for x in input]]


@onnx_rule(raw.Size)
def _size(builder, input, out_type: DType) -> Any:
    return builder.cast(builder.add("Size", input, dtype=INT64), out_type.numpy)


@onnx_rule(raw.Rank)
def _rank(builder, input) -> Any:
    if dims_of(input) is not None:
        return np.array(rank_of(input), np.int32)
    shape = builder.add("Shape", input, dtype=INT64)
    return builder.cast(builder.add("Size", shape, dtype=INT64), np.int32)


@onnx_rule(raw.Reshape)
def _reshape(builder, tensor, shape) -> Any:
    return builder.reshape(tensor, shape)


@onnx_rule(raw.ExpandDims)
def _expand_dims(builder, input, axis) -> Any:
    return builder.add("Unsqueeze", input, builder.vector(axis))


@onnx_rule(raw.Squeeze)
def _squeeze(builder, input, axis, node) -> Any:
    axes = [int(a) for a in axis]
    dims = node.inputs[0].dims
    if not axes and dims is not None and None not in dims:
        axes = [i for i, d in enumerate(dims) if d == 1]
        if not axes:
            return input
    return builder.add("Squeeze", input, np.array(axes, np.int64) if axes else None)


@onnx_rule(raw.BroadcastTo)
def _broadcast_to(builder, input, shape) -> Any:
    return builder.add("Expand", input, builder.int64(shape))


@onnx_rule(raw.Fill)
def _fill(builder, dims, value) -> Any:
    if is_known(value) and np.dtype(value.dtype).kind != "O":
        return builder.filled(builder.int64(dims), value, value.dtype)
    return builder.add("Expand", value, builder.int64(dims))


@onnx_rule(raw.ZerosLike)
def _zeros_like(builder, x) -> Any:
    return builder.filled(builder.shape(x), 0, x.dtype)


@onnx_rule(raw.OnesLike)
def _ones_like(builder, x) -> Any:
    return builder.filled(builder.shape(x), 1, x.dtype)


@onnx_rule(raw.Range)
def _range(builder, start, limit, delta) -> Any:
    return builder.add("Range", start, limit, delta)


@onnx_rule(raw.Transpose)
def _transpose(builder, x, perm) -> Any:
    return builder.transpose(x, builder.constants(perm, "the order of the dimensions"))


# -- joining and splitting ---------------------------------------------------------------------


def _axis(value: Operand) -> int:
    return int(known(value, "the axis"))


@onnx_rule(raw.ConcatV2)
def _concat(builder, values, axis) -> Any:
    return builder.concat(values, _axis(axis))


@onnx_rule(raw.Concat)
def _concat_of_dim(builder, concat_dim, values) -> Any:
    return builder.concat(values, _axis(concat_dim))


@onnx_rule(raw.Pack)
def _pack(builder, values, axis, node) -> Any:
    dims = node.outputs[0].dims
    place = axis if dims is None or axis >= 0 else axis + len(dims)
    return builder.concat([builder.unsqueeze(v, [place]) for v in values], place)


@onnx_rule(raw.Unpack)
def _unpack(builder, value, num, axis) -> Any:
    if not num:
        return [[]]
    parts = builder.several("Split", [value], [None] * num, axis=axis, num_outputs=num)
    return [[builder.squeeze(p, [axis]) for p in parts]]


@onnx_rule(raw.Split)
def _split(builder, axis, value, num_split) -> Any:
    along = _axis(axis)
    return [
        builder.several("Split", [value], [None] * num_split, axis=along, num_outputs=num_split)
    ]


@onnx_rule(raw.SplitV)
def _split_sizes(builder, value, size_splits, axis, num_split) -> Any:
    along, sizes = _axis(axis), builder.int64(size_splits)
    if is_known(sizes) and (np.asarray(sizes) < 0).any():
        dims = dims_of(value)
        whole = None if dims is None else dims[along]
        if whole is None:
            rest = builder.sizes(value, [along])
            others = np.array([np.asarray(sizes)[np.asarray(sizes) >= 0].sum()])
            missing = builder.add("Sub", rest, others)
            parts = [missing if s < 0 else np.array([s]) for s in np.asarray(sizes)]
            sizes = builder.concat(parts)
        else:
            sizes = np.where(np.asarray(sizes) < 0, whole - np.asarray(sizes).sum() - 1, sizes)
    return [builder.several("Split", [value, sizes], [None] * num_split, axis=along)]


@onnx_rule(raw.Tile)
def _tile(builder, input, multiples) -> Any:
    return builder.add("Tile", input, builder.int64(multiples))


# -- padding and slicing -----------------------------------------------------------------------


def _pads(builder: Any, paddings: Operand) -> Operand:
    """Sizes before all dimensions, then after them."""
    transposed = builder.transpose(builder.int64(paddings), [1, 0])
    return builder.reshape(transposed, np.array([-1]))


@onnx_rule(raw.Pad)
def _pad(builder, input, paddings) -> Any:
    return builder.add("Pad", input, _pads(builder, paddings))


@onnx_rule(raw.PadV2)
def _pad_with(builder, input, paddings, constant_values) -> Any:
    return builder.add("Pad", input, _pads(builder, paddings), constant_values)


@onnx_rule(raw.MirrorPad)
def _mirrored(builder, input, paddings, mode) -> Any:
    if mode == "REFLECT":
        return builder.add("Pad", input, _pads(builder, paddings), mode="reflect")
    sizes = known(paddings, "the paddings")
    for axis, (before, after) in enumerate(sizes.tolist()):
        parts = [input]
        steps = np.array([-1]), np.array([axis])
        if before:
            ends = np.array([-_END - 1])
            parts.insert(0, builder.slice(input, np.array([before - 1]), ends, steps[1], steps[0]))
        if after:
            ends = np.array([-after - 1])
            parts.append(builder.slice(input, np.array([-1]), ends, steps[1], steps[0]))
        if len(parts) > 1:
            input = builder.concat(parts, axis)
    return input if isinstance(input, Value) else builder.add("Identity", input)


@onnx_rule(raw.Slice)
def _slice(builder, input, begin, size) -> Any:
    begin, size = builder.int64(begin), builder.int64(size)
    rank = rank_of(input)
    axes = np.arange(rank)
    if not rank:
        return input
    if is_known(size):
        whole = np.asarray(size) < 0
        if is_known(begin):
            ends = np.where(whole, _END, np.asarray(begin) + np.asarray(size))
            return builder.slice(input, begin, ends, axes)
        rest = builder.add("Add", begin, size)
        ends = builder.add("Where", whole, np.full(rank, _END), rest, dtype=INT64)
        return builder.slice(input, begin, ends, axes)
    whole = builder.add("Less", size, np.zeros(1, np.int64), dtype=np.bool_)
    rest = builder.add("Add", begin, size)
    ends = builder.add("Where", whole, np.full(rank, _END), rest, dtype=INT64)
    return builder.slice(input, begin, ends, axes)


@onnx_rule(raw.StridedSlice)
def _strided_slice(
    builder,
    input,
    begin,
    end,
    strides,
    begin_mask,
    end_mask,
    ellipsis_mask,
    new_axis_mask,
    shrink_axis_mask,
) -> Any:
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    parts = _parts(len(known(strides, "the strides")), masks, input)
    starts: list[Operand] = []
    ends: list[Operand] = []
    steps = known(strides, "the strides")
    axes: list[int] = []
    for number, axis, no_begin, no_end, shrinks in parts.slices:
        step = int(steps[number])
        first = np.array([0 if step > 0 else _END]) if no_begin else _entry(builder, begin, number)
        last = np.array([_END if step > 0 else -_END]) if no_end else _entry(builder, end, number)
        if shrinks:
            first = _entry(builder, begin, number)
            last = _behind(builder, first)
        starts.append(first)
        ends.append(last)
        axes.append(axis)
    if axes:
        strided = np.array([1 if s[4] else int(steps[s[0]]) for s in parts.slices])
        ends_of = [builder.concat(v) for v in (starts, ends)]
        input = builder.slice(input, ends_of[0], ends_of[1], np.array(axes), strided)
    if parts.shrunk:
        input = builder.squeeze(input, parts.shrunk)
    return builder.unsqueeze(input, parts.new) if parts.new else input


def _entry(builder: Any, vector: Operand, number: int) -> Operand:
    """One element of a vector, as a vector of int64."""
    if is_known(vector):
        return np.asarray(vector)[number : number + 1].astype(np.int64)
    return builder.add("Gather", builder.int64(vector), np.array([number]), axis=0)


def _behind(builder: Any, first: Operand) -> Operand:
    """The index behind one; behind -1 is the end."""
    if is_known(first):
        return np.where(np.asarray(first) == -1, _END, np.asarray(first) + 1)
    last = builder.add("Equal", first, np.array([-1]), dtype=np.bool_)
    following = builder.add("Add", first, np.array([1]))
    return builder.add("Where", last, np.array([_END]), following, dtype=INT64)


class _Parts:
    """What the entries of a strided slice do: slices of axes, axes that go, and new ones."""

    def __init__(self) -> None:
        self.slices: list[tuple[int, int, bool, bool, bool]] = []
        self.shrunk: list[int] = []
        self.new: list[int] = []


def _parts(count: int, masks: Sequence[int], x: Operand) -> _Parts:
    begin, end, ellipsis, new, shrink = masks
    found, axis, place = _Parts(), 0, 0
    for number in range(count):
        bit = 1 << number
        if ellipsis & bit:
            behind = sum(not (new >> n) & 1 for n in range(number + 1, count))
            skipped = rank_of(x) - axis - behind
            axis, place = axis + skipped, place + skipped
        elif new & bit:
            found.new.append(place)
            place += 1
        else:
            shrinks = bool(shrink & bit)
            if shrinks:
                found.shrunk.append(axis)
            found.slices.append((number, axis, bool(begin & bit), bool(end & bit), shrinks))
            axis += 1
            place += not shrinks
    return found


@onnx_rule(raw.ReverseV2)
def _reverse(builder, tensor, axis) -> Any:
    axes = np.asarray(builder.constants(axis, "the axes"), np.int64)
    if not axes.size:
        return tensor
    ones = np.ones(axes.size, np.int64)
    return builder.slice(tensor, -ones, np.full(axes.size, -_END), axes, -ones)


@onnx_rule(raw.ReverseSequence)
def _reverse_sequence(builder, input, seq_lengths, seq_dim, batch_dim) -> Any:
    rank = rank_of(input)
    front = [batch_dim, seq_dim]
    order = [*front, *[i for i in range(rank) if i not in front]]
    x = builder.transpose(input, order)
    lengths = builder.int64(seq_lengths)
    found = builder.add("ReverseSequence", x, lengths, batch_axis=0, time_axis=1)
    return builder.transpose(found, np.argsort(order).tolist())


@onnx_rule(raw.Roll)
def _roll(builder, input, shift, axis) -> Any:
    shifts = builder.constants(shift, "the shift")
    for by, along in zip(shifts, builder.constants(axis, "the axes"), strict=True):
        dims = dims_of(input)
        size = None if dims is None else dims[along]
        if size is None:
            raise Unexportable("the size of a dimension that is rolled must be known")
        cut = -by % size if size else 0
        if cut:
            start, end = np.array([cut]), np.array([_END])
            behind = builder.slice(input, start, end, np.array([along]))
            front = builder.slice(input, np.array([0]), start, np.array([along]))
            input = builder.concat([behind, front], along)._replace(dims=dims)
    return input if isinstance(input, Value) else builder.add("Identity", input)


@onnx_rule(raw.SpaceToBatchND)
def _space_to_batch(builder, input, block_shape, paddings) -> Any:
    blocks = builder.constants(block_shape, "the blocks")
    pads = known(paddings, "the paddings")
    rank, count = rank_of(input), len(blocks)
    whole = np.zeros((rank, 2), np.int64)
    whole[1 : 1 + count] = pads
    x = builder.add("Pad", input, whole.T.reshape(-1)) if whole.any() else input
    shape = builder.shape(x)
    parts: list[Operand] = [_entry(builder, shape, 0)]
    for i, block in enumerate(blocks):
        parts += [_divided(builder, _entry(builder, shape, 1 + i), block), np.array([block])]
    parts += [_entry(builder, shape, i) for i in range(1 + count, rank)]
    x = builder.reshape(x, builder.concat(parts))
    inner = [*range(2, 2 * count + 2, 2)]
    order = [*inner, 0, *range(1, 2 * count + 1, 2), *range(2 * count + 1, rank + count)]
    batch = builder.add("Mul", parts[0], np.array([int(np.prod(blocks))]))
    outer = [parts[1 + 2 * i] for i in range(count)]
    ends = parts[1 + 2 * count :]
    transposed = builder.add("Transpose", x, perm=order)
    return builder.reshape(transposed, builder.concat([batch, *outer, *ends]))


def _divided(builder: Any, size: Operand, by: int) -> Operand:
    return np.asarray(size) // by if is_known(size) else builder.add("Div", size, np.array([by]))


@onnx_rule(raw.BatchToSpaceND)
def _batch_to_space(builder, input, block_shape, crops) -> Any:
    blocks = builder.constants(block_shape, "the blocks")
    cut = known(crops, "the crops").astype(np.int64)
    rank, count = rank_of(input), len(blocks)
    shape = builder.shape(input)
    sizes = [_entry(builder, shape, i) for i in range(rank)]
    batch = _divided(builder, sizes[0], int(np.prod(blocks)))
    ones = [np.array([b]) for b in blocks]
    x = builder.reshape(input, builder.concat([*ones, batch, *sizes[1:]]))
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += range(2 * count + 1, rank + count)
    x = builder.add("Transpose", x, perm=order)
    grown = [builder.add("Mul", sizes[1 + i], np.array([b])) for i, b in enumerate(blocks)]
    x = builder.reshape(x, builder.concat([batch, *grown, *sizes[1 + count :]]))
    if not cut.any() or not count:
        return x
    ends = np.where(cut[:, 1] > 0, -cut[:, 1], _END)
    return builder.slice(x, cut[:, 0], ends, np.arange(1, 1 + count))
