"""Shapes, joining, splitting, padding, slicing: operators that move elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    dtype_of,
    ints,
    known,
    like,
    rank,
    shape,
    size,
    static,
    tensor,
    transpose,
    vector,
)
from intaglio.opdef import raw


@operator("Constant")
def _constant(c) -> Any:
    if c.attr("value") is not None:
        return c.program.read(c.attr("value"))
    if c.attr("sparse_value") is not None:
        return _dense(c, c.attr("sparse_value"))
    for name, dtype in (("value_float", np.float32), ("value_int", np.int64)):
        for each in (name, f"{name}s"):
            if c.attr(each) is not None:
                return np.asarray(c.attr(each), dtype)
    text = c.attr("value_string")
    if text is not None:
        return np.asarray(text.encode(), object)
    texts = c.attr("value_strings")
    if texts is None:
        raise ModelError("a constant without a value")
    return np.array([*[t.encode() for t in texts], None], object)[:-1]


def _dense(c: Any, sparse: Any) -> np.ndarray:
    values, indices = c.program.read(sparse.values), c.program.read(sparse.indices)
    found = np.zeros(tuple(sparse.dims), values.dtype)
    if indices.ndim == 1:
        found.reshape(-1)[indices] = values
    else:
        found[tuple(indices.T)] = values
    return found


@operator("ConstantOfShape")
def _filled(c, sizes) -> Any:
    value = c.attr("value")
    number = np.float32(0) if value is None else c.program.read(value).reshape(())
    return raw.Fill(sizes, np.asarray(number))


@operator("Shape")
def _shape(c, x) -> Any:
    found = shape(x)
    start, end = c.attr("start", 0), c.attr("end")
    return found if not start and end is None else found[start:end]


@operator("Size")
def _size(c, x) -> Any:
    return raw.Size(x, out_type=dtypes.int64)


@operator("Reshape")
def _reshape(c, x, sizes=None) -> Any:
    wanted = static(sizes) if sizes is not None else np.array(c.attr("shape"), np.int64)
    if c.attr("allowzero", 0):
        return raw.Reshape(x, sizes)
    if wanted is not None:
        if not (np.asarray(wanted) == 0).any():
            return raw.Reshape(x, np.asarray(wanted))
        parts = [size(x, i) if d == 0 else int(d) for i, d in enumerate(wanted)]
        return raw.Reshape(x, vector(parts))
    own, count = shape(x), dims(sizes)[0]
    if count is None:
        raise ModelError("the rank of a reshaped tensor must be known")
    padded = raw.Pad(own, np.array([[0, max(0, count - rank(x))]]))[:count]
    return raw.Reshape(x, raw.SelectV2(raw.Equal(sizes, np.int64(0)), padded, sizes))


@operator("Flatten")
def _flatten(c, x) -> Any:
    axis = c.attr("axis", 1)
    axis = axis + rank(x) if axis < 0 else axis
    sizes = dims(x)[:axis]
    if None not in sizes:
        front: Any = int(np.prod([d or 0 for d in sizes], initial=1))
        rest = dims(x)[axis:]
        behind = -1 if None in rest else int(np.prod([d or 0 for d in rest], initial=1))
        return raw.Reshape(x, np.array([front, behind], np.int64))
    rest = dims(x)[axis:]
    if None not in rest:
        behind = int(np.prod([d or 0 for d in rest], initial=1))
        return raw.Reshape(x, np.array([-1, behind], np.int64))
    front = raw.Prod(shape(x)[:axis], np.array([0]))
    return raw.Reshape(x, raw.Pack([front, raw.Prod(shape(x)[axis:], np.array([0]))]))


@operator("Squeeze")
def _squeeze(c, x, axes=None) -> Any:
    return raw.Squeeze(x, axis=c.ints("axes", axes) or [])


@operator("Unsqueeze")
def _unsqueeze(c, x, axes=None) -> Any:
    places = c.ints("axes", axes) or []
    whole = rank(x) + len(places)
    for place in sorted([p % whole for p in places]):
        x = raw.ExpandDims(x, place)
    return x


@operator("Transpose")
def _transpose(c, x) -> Any:
    return transpose(tensor(x), c.attr("perm") or range(rank(x))[::-1])


@operator("Expand")
def _expand(c, x, sizes) -> Any:
    wanted = static(sizes)
    own = shape(x)
    if wanted is not None and isinstance(own, np.ndarray):
        return raw.BroadcastTo(
            x, np.array(np.broadcast_shapes(tuple(own), tuple(wanted)), np.int64)
        )
    return raw.BroadcastTo(x, raw.BroadcastArgs(own, sizes))


@operator("Tile")
def _tile(c, x, repeats, tiles=None) -> Any:
    return raw.Tile(x, repeats)


@operator("Concat")
def _concat(c, *values: Any) -> Any:
    parts = list(values)
    return raw.ConcatV2(parts, c.attr("axis", 1)) if len(parts) > 1 else tensor(parts[0])


@operator("Split")
def _split(c, x, sizes=None) -> Any:
    axis = c.attr("axis", 0)
    parts = c.ints("split", sizes)
    if parts is None:
        whole = dims(x)[axis]
        if whole is None:
            raise ModelError("the size of a dimension that is split must be known")
        count = c.attr("num_outputs", c.outputs)
        step = -(-whole // count)
        parts = [max(0, min(step, whole - i * step)) for i in range(count)]
    return tuple(raw.SplitV(x, np.array(parts, np.int64), axis, num_split=len(parts)))


@operator("Slice")
def _slice(c, x, starts=None, ends=None, axes=None, steps=None) -> Any:
    if starts is None:
        starts, ends = (np.array(c.attr(n), np.int64) for n in ("starts", "ends"))
        axes = None if c.attr("axes") is None else np.array(c.attr("axes"), np.int64)
    count = dims(starts)[0]
    places = list(range(count or 0)) if axes is None else ints(axes, "the axes of a slice")
    strides = [1] * len(places) if steps is None else ints(steps, "the steps of a slice")
    first, last = static(starts), static(ends)
    starts, ends = tensor(starts), tensor(ends)
    begin: list[Any] = [0] * rank(x)
    end: list[Any] = [0] * rank(x)
    step = [1] * rank(x)
    masks = (1 << rank(x)) - 1
    begin_mask = end_mask = masks
    for i, place in enumerate(places):
        axis = place % rank(x)
        step[axis] = strides[i]
        begin[axis] = starts[i] if first is None else int(first[i])
        end[axis] = ends[i] if last is None else int(last[i])
        begin_mask &= ~(1 << axis)
        end_mask &= ~(1 << axis)
        if last is not None and _is_past(end[axis], strides[i], dims(x)[axis]):
            end_mask |= 1 << axis
            end[axis] = 0
    values = vector(begin), vector(end), np.array(step, np.int64)
    return raw.StridedSlice(x, *values, begin_mask=begin_mask, end_mask=end_mask)


def _is_past(end: int, step: int, size: int | None) -> bool:
    """Whether the end is past the last element, in the direction of the step."""
    if step > 0:
        return end >= (1 << 31) - 1 if size is None else end >= size
    return end < -(1 << 31) + 2 if size is None else end < -size


@operator("Pad")
def _pad(c, x, pads=None, value=None, axes=None) -> Any:
    x = tensor(x)
    mode = c.attr("mode", "constant")
    value = value if c.version >= 11 else np.asarray(c.attr("value", 0.0), np.float32)
    sizes = np.array(c.attr("pads") or c.attr("paddings"), np.int64) if pads is None else pads
    places = range(rank(x)) if axes is None else [a % rank(x) for a in ints(axes, "the axes")]
    fixed = static(sizes)
    sizes = sizes if fixed is None else fixed
    before: list[Any] = [0] * rank(x)
    after: list[Any] = [0] * rank(x)
    for i, axis in enumerate(places):
        before[axis], after[axis] = (
            v if fixed is None else int(v) for v in (sizes[i], sizes[len(places) + i])
        )
    if fixed is not None:
        x = _cropped(x, before, after)
        before, after = [max(v, 0) for v in before], [max(v, 0) for v in after]
    if mode == "constant":
        if fixed is not None:
            return raw.PadV2(x, np.array([before, after], np.int64).T, _number(value, x))
        both = raw.Transpose(raw.Pack([vector(before), vector(after)]), np.array([1, 0]))
        return raw.PadV2(x, both, _number(value, x))
    for axis, (front, behind) in enumerate(zip(before, after, strict=True)):
        if not (isinstance(front, int) and isinstance(behind, int) and front == behind == 0):
            x = raw.GatherV2(x, _sources(mode, front, behind, size(x, axis)), axis)
    return x


def _number(value: Any, x: Any) -> Any:
    if value is None:
        return np.asarray(b"", object) if x.dtype is dtypes.string else like(0, x)
    return raw.Reshape(cast(value, x.dtype), np.zeros(0, np.int64))


def _cropped(x: Any, before: list[int], after: list[int]) -> Any:
    """Without what negative paddings take away."""
    if min([*before, *after], default=0) >= 0:
        return x
    index = [slice(max(-b, 0), min(a, 0) or None) for b, a in zip(before, after, strict=True)]
    return x[tuple(index)]


def _sources(mode: str, before: Any, after: Any, count: Any) -> Any:
    """The index of the element in each place of an axis that is padded from its elements."""
    before, after, count = (
        np.int64(v) if isinstance(v, int) else v for v in (before, after, count)
    )
    one = np.int64(1)
    places = raw.Range(raw.Neg(before), raw.AddV2(count, after), one)
    last = raw.Sub(count, one)
    if mode == "edge":
        return raw.Minimum(raw.Maximum(places, np.int64(0)), last)
    if mode == "wrap":
        return raw.FloorMod(places, count)
    period = raw.Maximum(raw.Mul(last, np.int64(2)), one)
    return raw.Sub(last, raw.Abs(raw.Sub(raw.FloorMod(places, period), last)))


@operator("DepthToSpace")
def _depth_to_space(c, x) -> Any:
    block, mode = c.attr("blocksize"), c.attr("mode", "DCR")
    batch, depth, rows, columns = [size(x, i) for i in range(4)]
    if not isinstance(depth, int):
        raise ModelError("the number of channels must be known")
    part = depth // (block * block)
    first = mode == "DCR"
    inner = [block, block, part] if first else [part, block, block]
    x = raw.Reshape(x, vector([batch, *inner, rows, columns]))
    x = transpose(x, [0, 3, 4, 1, 5, 2] if first else [0, 1, 4, 2, 5, 3])
    return raw.Reshape(x, vector([batch, part, _times(rows, block), _times(columns, block)]))


def _times(size: Any, by: int) -> Any:
    return size * by if isinstance(size, int) else raw.Mul(size, like(by, size))


def _over(size: Any, by: int) -> Any:
    return size // by if isinstance(size, int) else raw.FloorDiv(size, like(by, size))


@operator("SpaceToDepth")
def _space_to_depth(c, x) -> Any:
    block = c.attr("blocksize")
    batch, depth, rows, columns = [size(x, i) for i in range(4)]
    height, width = _over(rows, block), _over(columns, block)
    x = raw.Reshape(x, vector([batch, depth, height, block, width, block]))
    first = c.attr("mode", "DCR") == "DCR"
    x = transpose(x, [0, 3, 5, 1, 2, 4] if first else [0, 1, 3, 5, 2, 4])
    return raw.Reshape(x, vector([batch, _times(depth, block * block), height, width]))


@operator("ReverseSequence")
def _reverse_sequence(c, x, lengths) -> Any:
    axes = {"seq_dim": c.attr("time_axis", 0), "batch_dim": c.attr("batch_axis", 1)}
    return raw.ReverseSequence(x, lengths, **axes)


@operator("EyeLike")
def _identity_matrix(c, x) -> Any:
    number = c.attr("dtype")
    dtype = dtype_of(number) if number is not None else tensor(x).dtype
    sizes: Any = dims(x)
    rows, columns = sizes
    if rows is None or columns is None:
        raise ModelError("the shape of an identity matrix must be known")
    return np.eye(rows, columns, c.attr("k", 0)).astype(dtype.numpy)


@operator("Trilu")
def _triangle(c, x, k=None) -> Any:
    shift = 0 if k is None else int(known(k, "the number of the diagonal"))
    rows, columns = (shape(x)[i] for i in (-2, -1))
    number = np.array(0, np.int64)
    row = raw.ExpandDims(raw.Range(number, rows, np.int64(1)), 1)
    column = raw.Range(number, columns, np.int64(1))
    distance = raw.Sub(column, row)
    upper = c.attr("upper", 1)
    compare = raw.GreaterEqual if upper else raw.LessEqual
    keep = compare(distance, np.int64(shift))
    x = tensor(x)
    return raw.SelectV2(keep, x, raw.ZerosLike(x))


@operator("Range")
def _range(c, start, limit, delta) -> Any:
    none = np.zeros(0, np.int32)
    return raw.Range(*[raw.Reshape(v, none) for v in (start, limit, delta)])
