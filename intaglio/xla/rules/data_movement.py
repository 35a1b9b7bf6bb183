"""Ops that move elements, where XLA has one instruction or the kernel looks at its data."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.ir.graph import Node
from intaglio.opdef import late, raw
from intaglio.ops.array.slicing import Masks, numpy_index
from intaglio.xla import target
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, is_traced, known


@xla(raw.Identity, raw.StopGradient, raw.PreventGradient)
def _same(input) -> Any:
    return input


@xla(raw.IdentityN)
def _same_all(input) -> Any:
    return [list(input)]


@xla(raw.Fill)
def _fill(dims, value) -> Any:
    return jnp.full(tuple(known(dims, "the shape").tolist()), value)


@xla(raw.Pack)
def _pack(values, axis) -> Any:
    if any(not hasattr(v, "shape") or not hasattr(v, "ndim") for v in values):
        raise Untraceable("a stack of what is no array")
    return jnp.stack(values, axis)


@xla(raw.ConcatV2)
def _concat(values, axis) -> Any:
    if any(not hasattr(v, "ndim") for v in values):
        raise Untraceable("what is no array is joined")
    return jnp.concatenate(values, int(known(axis, "the axis of a concatenation")))


@xla(raw.Split)
def _split(axis, value, num_split) -> Any:
    return [jnp.split(value, num_split, int(known(axis, "the axis of a split")))]


@xla(raw.SplitV)
def _split_sizes(value, size_splits, axis) -> Any:
    where = int(known(axis, "the axis of a split"))
    sizes = known(size_splits, "the sizes of a split").astype(np.int64)
    left = value.shape[where] - sizes[sizes >= 0].sum()
    if left < 0 or (left and not (sizes < 0).any()):
        raise Untraceable("the sizes of a split are not those of its input")
    if (sizes == -1).any():
        sizes = np.where(sizes == -1, value.shape[where] - sizes.sum() - 1, sizes)
    return [jnp.split(value, np.cumsum(sizes)[:-1], where)]


@xla(raw.OneHot)
def _one_hot(indices, depth, on_value, off_value, axis) -> Any:
    count = int(known(depth, "the depth of OneHot"))
    axis = axis if axis >= 0 else indices.ndim
    positions = np.arange(count).reshape(-1, *(1,) * (indices.ndim - axis))
    return jnp.where(jnp.expand_dims(indices, axis) == positions, on_value, off_value)


@xla(raw.Range)
def _range(start, limit, delta) -> Any:
    ends = [known(v, "the numbers of a range") for v in (start, limit, delta)]
    return raw.Range.kernel_fn(*ends)


@xla(raw.GatherV2)
def _gather(params, indices, axis, batch_dims) -> Any:
    where = int(known(axis, "the axis of a gather")) % max(params.ndim, 1)
    return _taken_in_step(jnp.asarray(params), indices, where, batch_dims)


@xla(raw.ResourceGather)
def _gather_of_variable(resource, indices, batch_dims, evaluator) -> Any:
    if not hasattr(resource, "key"):
        raise Untraceable("a gather of what is no variable")
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    return _taken_in_step(evaluator.state.read(resource.key), indices, batch, batch)


def _taken_in_step(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """The slices along an axis, of which the first dimensions go in step with those of the indices."""
    _check_known(indices, params.shape[axis])
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    take = functools.partial(_taken, axis=axis - batch)
    for _ in range(batch):
        take = jax.vmap(take)
    return take(params, jnp.asarray(indices) if batch else indices)


def _check_known(indices: Any, sizes: Any) -> None:
    """Raises Untraceable for an index out of range that is known: the host raises the error."""
    if is_traced(indices) or not target.is_host():
        return
    if np.any((indices < 0) | (indices >= sizes)):
        raise Untraceable("an index is out of range")


def _taken(params: Any, indices: Any, axis: int) -> Any:
    """The slices along an axis; for an index out of range the nearest one, on accelerators 0."""
    size = params.shape[axis]
    if not target.is_host():
        index = _beyond_if_negative(indices, size)
        return jnp.take(params, index, axis, mode="fill", fill_value=0)
    if not size:
        return jnp.take(params, indices, axis, mode="clip")
    # XLA's gather clamps indices by itself.
    rows = params.at[(*(slice(None),) * axis, jnp.asarray(indices))]
    return rows.get(mode="promise_in_bounds", wrap_negative_indices=False)


@xla(raw.GatherNd)
def _gather_rows(params, indices) -> Any:
    depth = indices.shape[-1]
    if target.is_host() or not depth:
        raise Untraceable("its kernel is recorded")
    columns = [
        _beyond_if_negative(indices[..., i], size) for i, size in enumerate(params.shape[:depth])
    ]
    return jnp.asarray(params).at[tuple(columns)].get(mode="fill", fill_value=0)


def _beyond_if_negative(indices: Any, size: int) -> Any:
    """Indices, of which those below 0 are out of range: TensorFlow's accelerators give 0 there."""
    index = jnp.asarray(indices)
    if index.dtype.itemsize < 4:  # of which `size` may be none
        index = index.astype(np.int32)
    return jnp.where(index < 0, np.asarray(size, index.dtype), index)


@xla(raw.Slice)
def _slice(input, begin, size) -> Any:
    lengths = known(size, "the size of a slice")
    if isinstance(begin, np.ndarray):
        ends = [b + s if s >= 0 else d for b, s, d in zip(begin, lengths, input.shape, strict=True)]
        return lax.slice(jnp.asarray(input), begin.tolist(), [int(e) for e in ends])
    if (lengths < 0).any():
        raise Untraceable("a slice to the end from where the program computes")
    first = [begin[i] for i in range(input.ndim)]
    return lax.dynamic_slice(input, first, lengths.tolist(), allow_negative_indices=False)


class _Ends:
    """The numbers of a slice: `begin`, `end` and `strides`, each known or computed by the program."""

    def __init__(self, node: Node, begin: Any, end: Any, strides: Any) -> None:
        first = node.op.input_names.index("begin")
        specs = [v.spec.partial for v in node.inputs[first : first + 3]]
        self._values = [begin, end, strides]
        self._known = [None if s is None else list(s) for s in specs]
        self.count = len(begin)

    def known(self, which: int, at: int) -> int | None:
        """One of the numbers, if it is known."""
        value, partial = self._values[which], self._known[which]
        if not is_traced(value):
            return int(value[at])
        return None if partial is None else partial[at]

    def traced(self, which: int, at: int) -> Any:
        """One of the numbers, as a tracer."""
        return self._values[which][at]


def _is_known(*values: Any) -> bool:
    return not any([is_traced(v) for v in values])


def _slicer(rank: int, sizes: Any, ends: _Ends, masks: tuple[int, ...]) -> Any:
    """The function of an array of this rank that takes a slice whose ends the program computes.

    `sizes` are those of the result. Raises Untraceable for a slice whose size is not known.
    """
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask = masks
    steps: list[tuple[str, Any]] = []
    dense = sum([not (new_axis_mask | ellipsis_mask) >> i & 1 for i in range(ends.count)])
    for at in range(ends.count):
        bit = 1 << at
        if ellipsis_mask & bit:
            steps += [("all", None)] * (rank - dense)
        elif new_axis_mask & bit:
            steps.append(("new", None))
        elif shrink_mask & bit:
            steps.append(("index", at))
        elif begin_mask & bit and end_mask & bit and ends.known(2, at) == 1:
            steps.append(("all", None))
        else:
            steps.append(("slice", at))
    if not ellipsis_mask:
        steps += [("all", None)] * (rank - dense)

    def run(x: Any) -> Any:
        axis = out = 0
        for kind, at in steps:
            if kind == "new":
                x = jnp.expand_dims(x, axis)
            elif kind == "index":
                x = _indexed(x, axis, ends, at)
                continue
            elif kind == "slice":
                full = begin_mask >> at & 1, end_mask >> at & 1
                x = _part(x, axis, ends, at, full, None if sizes is None else sizes[out])
            axis, out = axis + 1, out + 1
        return x

    return run


def _indexed(x: Any, axis: int, ends: _Ends, at: int) -> Any:
    index = ends.known(0, at)
    if index is None:  # negative ones count from the end
        return lax.dynamic_index_in_dim(x, jnp.asarray(ends.traced(0, at)), axis, keepdims=False)
    index += x.shape[axis] if index < 0 else 0
    return lax.index_in_dim(x, index, axis, keepdims=False)


def _part(x: Any, axis: int, ends: _Ends, at: int, full: tuple[int, int], size: int | None) -> Any:
    begin, end, stride = [ends.known(i, at) for i in range(3)]
    begin, end = (None if full[0] else begin), (None if full[1] else end)
    if (begin is not None or full[0]) and (end is not None or full[1]) and stride is not None:
        return x[(slice(None),) * axis + (slice(begin, end, stride),)]
    if stride != 1 or size is None:
        raise Untraceable("the size of a slice must be known when the program is compiled")
    if full[0] or begin == 0:
        return lax.slice_in_dim(x, 0, size, axis=axis)
    return lax.dynamic_slice_in_dim(x, ends.traced(0, at), size, axis)


@xla(raw.StridedSlice)
def _strided_slice(
    node,
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
    if _is_known(begin, end, strides):
        raise Untraceable("the kernel is as good")
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    ends = _Ends(node, begin, end, strides)
    sizes = node.outputs[0].dims
    return _slicer(input.ndim, sizes, ends, masks)(jnp.asarray(input))


@xla(raw.StridedSliceGrad)
def _strided_slice_gradient(
    node,
    shape,
    begin,
    end,
    strides,
    dy,
    begin_mask,
    end_mask,
    ellipsis_mask,
    new_axis_mask,
    shrink_axis_mask,
) -> Any:
    dims = tuple(known(shape, "the shape of a gradient").tolist())
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    if not _is_known(begin, end, strides):
        ends = _Ends(node, begin, end, strides)
        run = _slicer(len(dims), dy.shape, ends, masks)
        form = jax.ShapeDtypeStruct(dims, dy.dtype)
        return jax.linear_transpose(run, form)(jnp.asarray(dy))[0]
    first, last, step = [np.asarray(v).tolist() for v in (begin, end, strides)]
    index = numpy_index(first, last, step, Masks(*masks))
    return _padded(jnp.asarray(dy), dims, index)


def _padded(dy: Any, dims: tuple[int, ...], index: tuple[Any, ...]) -> Any:
    """Zeros of shape `dims` with `dy` where the index takes elements: one padding, with gaps for strides."""
    entries = [e for e in index if e is not None]
    if Ellipsis in entries:
        at = entries.index(Ellipsis)
        entries[at : at + 1] = [slice(None)] * (len(dims) - len(entries) + 1)
    entries += [slice(None)] * (len(dims) - len(entries))
    ranges = [
        range(d)[e] if isinstance(e, slice) else range(e % d, e % d + 1)
        for e, d in zip(entries, dims, strict=True)
    ]
    taken = [len(r) for r in ranges]
    if np.prod(taken, dtype=np.int64) != dy.size:
        raise Untraceable("its gradient has not the shape of the slice")
    dy = lax.reshape(dy, taken)
    if not dy.size:
        return jnp.zeros(dims, dy.dtype)
    backwards = [i for i, r in enumerate(ranges) if r.step < 0]
    dy = lax.rev(dy, backwards) if backwards else dy
    paddings = [
        (min(r[0], r[-1]), d - 1 - max(r[0], r[-1]), abs(r.step) - 1)
        for r, d in zip(ranges, dims, strict=True)
    ]
    return lax.pad(dy, np.zeros((), dy.dtype), paddings)


@xla(raw.ScatterNd)
def _scatter(indices, updates, shape) -> Any:
    dims = tuple(known(shape, "the shape of a scatter").tolist())
    return _scattered(jnp.zeros(dims, updates.dtype), indices, updates, "add")


def _scattered(array: Any, indices: Any, updates: Any, how: str) -> Any:
    """Rows of coordinates out of range are left out."""
    _check_known(indices, np.asarray(array.shape[: indices.shape[-1]]))
    index = jnp.asarray(indices)
    index = jnp.where(index < 0, np.iinfo(index.dtype).max, index)
    positions = tuple([index[..., i] for i in range(index.shape[-1])])
    return getattr(array.at[positions], how)(updates, mode="drop")


def _tensor_scatter(op: Any, how: str, sign: int = 1) -> None:
    @xla(op)
    def rule(tensor, indices, updates) -> Any:
        return _scattered(jnp.asarray(tensor), indices, updates if sign > 0 else -updates, how)


_tensor_scatter(late.TensorScatterUpdate, "set")
_tensor_scatter(late.TensorScatterAdd, "add")
_tensor_scatter(late.TensorScatterSub, "add", -1)
_tensor_scatter(late.TensorScatterMax, "max")
_tensor_scatter(late.TensorScatterMin, "min")


@xla(late.DynamicStitch, late.ParallelDynamicStitch)
def _stitch(indices, data) -> Any:
    positions = [known(i, "the indices of DynamicStitch") for i in indices]
    count = max([int(p.max(initial=-1)) for p in positions]) + 1
    tail = data[0].shape[positions[0].ndim :]
    result = jnp.zeros((count, *tail), data[0].dtype)
    for at, rows in zip(positions, data, strict=True):
        if at.size:
            last = {int(v): i for i, v in enumerate(at.reshape(-1))}
            chosen = jnp.reshape(rows, (-1, *tail))[np.array(list(last.values()))]
            result = result.at[np.array(list(last))].set(chosen)
    return result
