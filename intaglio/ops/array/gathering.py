"""Elements taken by index: gather in all its forms."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, int16, int32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number, of_elements
from intaglio.ops.array.passing import check_same
from intaglio.ops.array.reshaping import small
from intaglio.ops.families import shape_of, spec_of


def check_indices(indices: Any, size: int) -> None:
    """Raises InvalidArgumentError that names the first index outside [0, size)."""
    if not indices.size or (indices.min() >= 0 and indices.max() < size):
        return
    bad = tuple(np.argwhere((indices < 0) | (indices >= size))[0].tolist())
    where = ",".join(map(str, bad))
    raise invalid_argument(
        f"indices[{where}] = {indices[bad]} is not in [0, {size})"
        if bad
        else f"indices = {indices[()]} is not in [0, {size})"
    )


@op
class GatherV2(Op):
    """params taken at `indices` along `axis`; the first `batch_dims` dimensions go in step."""

    signature = (
        "params: Tparams, indices: Tindices, axis: Taxis; batch_dims: int = 0 -> output: Tparams"
    )
    Tparams = ALL
    Tindices = (int16, *INDEX)
    Taxis = INDEX
    native_exact = True
    data_inputs = ("params",)
    numerics_checked = False

    def infer(self, params: Spec, indices: Spec, axis: Spec, batch_dims) -> Spec:
        if axis.rank not in (0, None):
            raise ShapeError(f"axis must be scalar: Shape must be rank 0 but is rank {axis.rank}")
        at = number(axis)
        p, i = params.shape, indices.shape
        if p is None or i is None:
            return Spec(params.dtype, None)
        batch = batch_dims + len(i) if batch_dims < 0 else batch_dims
        rank = len(p) + len(i) - batch - 1
        if at is None:
            return Spec(params.dtype, (None,) * rank if len(p) else None)
        if not -len(p) <= at < len(p):
            raise ShapeError(
                f"Shape must be at least rank {at + 1 if at >= 0 else -at} but is rank {len(p)}"
            )
        at %= len(p)
        if not 0 <= batch <= min(len(i), at):
            raise ShapeError(
                f"batch_dims ({batch_dims}) must be at most the rank of indices ({len(i)}) and axis ({at})"
            )
        check_same(p[:batch], i[:batch])
        lead = shapes.merge(p[:batch], i[:batch]) or ()
        dims = (*lead, *p[batch:at], *i[batch:], *p[at + 1 :])
        return _of_elements_taken(params, indices, dims)

    def kernel(self, params, indices, axis, batch_dims):
        at = int(axis)
        if not -params.ndim <= at < params.ndim:
            raise invalid_argument(
                f"Shape must be at least rank {at + 1 if at >= 0 else -at} but is rank {params.ndim}"
            )
        at %= params.ndim
        batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
        check_indices(indices, params.shape[at])
        if batch:
            return _batched(params, indices, at, batch)
        result = params.take(indices, at)
        return result if isinstance(result, np.ndarray) else _kept(result, params)

    def gradient(self, doutput, params: Spec, indices, axis, batch_dims) -> Any:
        return gather_gradient(doutput, params, indices, axis, batch_dims), None, None


def _kept(item: Any, params: Any) -> Any:
    """A single element in the form that kernels return: strings stay arrays."""
    if params.dtype != object:
        return item
    result = np.empty((), object)
    result[()] = item
    return result


def _of_elements_taken(params: Spec, indices: Spec, dims: Dims) -> Spec:
    """Gathering from a shape vector keeps the elements that are known."""
    elements = params.partial
    if params.rank != 1 or not params.dtype.is_integer or not elements or not small(indices):
        return Spec(params.dtype, dims)
    chosen = np.asarray(indices.value)
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < len(elements):
        return Spec(params.dtype, dims)
    if chosen.ndim == 1:
        return of_elements(params.dtype, [elements[i] for i in chosen.tolist()])
    if chosen.ndim == 0 and elements[int(chosen)] is not None:
        value = np.asarray(elements[int(chosen)], params.dtype.numpy)
        return Spec(params.dtype, dims, value)
    return Spec(params.dtype, dims)


def _batched(params: Any, indices: Any, axis: int, batch: int) -> Any:
    if batch > axis or params.shape[:batch] != indices.shape[:batch]:
        raise invalid_argument(
            f"params and indices must agree in their first {batch} dimensions, which must come before axis {axis}: {brackets(params.shape)} and {brackets(indices.shape)}"
        )
    front = np.moveaxis(params, axis, batch)
    grid = tuple(
        [
            np.arange(d).reshape((d,) + (1,) * (indices.ndim - i - 1))
            for i, d in enumerate(indices.shape[:batch])
        ]
    )
    result = front[(*grid, indices)]
    count = indices.ndim - batch
    return np.moveaxis(result, range(batch, batch + count), range(axis, axis + count))


def gather_gradient(doutput: Any, params: Spec, indices: Any, axis: Any, batch_dims: int) -> Any:
    """The gradient by params: each row of the gradient added where it was taken from."""
    at, taken = _static(axis), spec_of(indices)
    if at is not None and at < 0 and params.rank is not None:
        at += params.rank
    if at == 0 and (not batch_dims or batch_dims == -(taken.rank or 0)):
        return row_slices(doutput, shape_of(params), indices)
    if at is not None and shapes.known(params.shape) and shapes.known(taken.shape):
        sizes = _sizes(params.shape, taken.shape, at, batch_dims)
    else:
        sizes = _sizes_when_run(params, indices, axis, batch_dims)
    # params as [lead, outer, rows, inner]; rows of all leads are added up along one axis.
    lead, outer, rows, inner, count = sizes
    flat = raw.Reshape(doutput, _vector(lead, outer, count, inner))
    flat = raw.Reshape(
        raw.Transpose(flat, [0, 2, 1, 3]), _vector(_times(lead, count), outer, inner)
    )
    starts = raw.ExpandDims(raw.Mul(raw.Range(0, lead, 1), rows), 1)
    where = raw.Reshape(raw.Cast(indices, DstT=int32), _vector(lead, count))
    where = raw.Reshape(raw.AddV2(where, starts), [-1])
    summed = raw.UnsortedSegmentSum(flat, where, _times(lead, rows))
    summed = raw.Reshape(summed, _vector(lead, rows, outer, inner))
    return raw.Reshape(raw.Transpose(summed, [0, 2, 1, 3]), shape_of(params))


def _sizes(dims: tuple[int, ...], taken: tuple[int, ...], at: int, batch: int) -> list[Any]:
    """How many elements before the batch's end, between, along, after the axis; indices."""
    batch += len(taken) if batch < 0 else 0
    parts = [dims[:batch], dims[batch:at], dims[at : at + 1], dims[at + 1 :]]
    return [np.asarray(math.prod(p), np.int32) for p in (*parts, taken[batch:])]


def _sizes_when_run(params: Spec, indices: Any, axis: Any, batch: int) -> list[Any]:
    """The same, computed when the graph runs."""
    dims, taken = shape_of(params), raw.Shape(indices)
    rank, at = raw.Size(dims), raw.Cast(axis, DstT=int32)
    at = raw.FloorMod(at, rank)
    first: Any = np.asarray(batch, np.int32)
    if batch < 0:
        first = raw.AddV2(raw.Size(taken), first)
    cuts = [np.asarray(0, np.int32), first, at, raw.AddV2(at, 1), rank]
    parts = [_product(dims, a, b) for a, b in itertools.pairwise(cuts)]
    return [*parts, _product(taken, first, raw.Size(taken))]


def _product(dims: Any, start: Any, stop: Any) -> Any:
    """The product of dimensions from `start` to `stop`."""
    part = raw.Slice(dims, raw.ExpandDims(start, 0), raw.ExpandDims(raw.Sub(stop, start), 0))
    return raw.Prod(part, np.asarray([0], np.int32))


def _times(x: Any, y: Any) -> Any:
    return np.multiply(x, y) if isinstance(x, np.ndarray) else raw.Mul(x, y)


def _vector(*sizes: Any) -> Any:
    if all(isinstance(s, (np.ndarray, np.generic)) for s in sizes):
        return np.asarray(sizes, np.int32)
    return raw.Pack(list(sizes))


def _static(axis: Any) -> int | None:
    spec = getattr(axis, "spec", None)
    return number(spec) if spec is not None else int(axis.numpy())


def row_slices(values: Any, shape: Any, indices: Any) -> IndexedSlices:
    """The gradient of rows taken along dimension 0: sparse, as TensorFlow's is."""
    listed = indices.dims is not None and len(indices.dims) == 1
    if not listed:
        indices = raw.Reshape(indices, [-1])
    if isinstance(shape, np.ndarray):
        if not listed:
            values = raw.Reshape(values, np.array([-1, *shape[1:]], np.int32))
        return IndexedSlices(values, indices, convert.to_tensor(shape))
    rest = raw.StridedSlice(shape, [1], [0], [1], end_mask=1)
    front = np.array([-1], shape.dtype.numpy)
    rows = raw.Reshape(values, raw.ConcatV2([front, rest], 0))
    return IndexedSlices(rows, indices, shape)


@op
class Gather(Op):
    """params taken at `indices` along dimension 0."""

    signature = (
        "params: Tparams, indices: Tindices; validate_indices: bool = True -> output: Tparams"
    )
    Tparams = ALL
    Tindices = INDEX
    data_inputs = ("params",)
    numerics_checked = False

    def infer(self, params: Spec, indices: Spec) -> Spec:
        if params.shape is None or indices.shape is None:
            return Spec(params.dtype, None)
        if not params.shape:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        return Spec(params.dtype, indices.shape + params.shape[1:])

    def kernel(self, params, indices):
        check_indices(indices, params.shape[0])
        result = params.take(indices, 0)
        return result if isinstance(result, np.ndarray) else _kept(result, params)

    def gradient(self, doutput, params: Spec, indices) -> Any:
        return row_slices(doutput, shape_of(params), indices), None


@op
class GatherNd(Op):
    """Slices of params, each named by a row of coordinates."""

    signature = (
        "params: Tparams, indices: Tindices; bad_indices_policy: str = '' -> output: Tparams"
    )
    Tparams = ALL
    Tindices = (int16, *INDEX)
    data_inputs = ("params",)
    numerics_checked = False

    def infer(self, params: Spec, indices: Spec) -> Spec:
        p, i = params.shape, indices.shape
        if p is None or i is None or (i and i[-1] is None):
            return Spec(params.dtype, None)
        if not i:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        if i[-1] > len(p):  # type: ignore[operator]  # its depth was checked above
            raise ShapeError(
                f"indices.shape[-1] must be <= params.rank, but saw indices shape: {brackets(i)} and params shape: {brackets(p)}"
            )
        return Spec(params.dtype, i[:-1] + p[i[-1] :])

    def kernel(self, params, indices, bad_indices_policy):
        depth = indices.shape[-1] if indices.ndim else 0
        if not indices.ndim or depth > params.ndim:
            raise invalid_argument(
                f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndim}"
            )
        if indices.size and not params.size:
            raise invalid_argument(
                f"Requested more than 0 entries, but params is empty. Params shape: {brackets(params.shape)}"
            )
        bad = out_of_bounds(indices, params.shape[:depth])
        if bad is not None and bad_indices_policy != "IGNORE":
            at = np.unravel_index(int(np.argmax(bad)), indices.shape[:-1] or (1,))
            row = indices.reshape(-1, depth)[int(np.argmax(bad))].tolist()
            raise invalid_argument(
                f"indices[{','.join(map(str, map(int, at)))}] = {row} does not index into param shape {brackets(params.shape)}, node name: GatherNd"
            )
        if depth == 0:
            return np.broadcast_to(params, indices.shape[:-1] + params.shape)
        if bad is not None:
            indices = np.where(bad.reshape((*indices.shape[:-1], 1)), 0, indices)
        result = params[tuple(np.moveaxis(indices, -1, 0))]
        if not isinstance(result, np.ndarray):
            return _kept(result, params)
        if bad is not None:
            result = result.copy()
            result[bad.reshape(indices.shape[:-1])] = np.zeros((), params.dtype)[()]
        return result

    def gradient(self, doutput, params: Spec, indices) -> Any:
        shape = shape_of(params)
        if indices.dtype.name != "int32":
            shape = raw.Cast(shape, DstT=indices.dtype)
        return raw.ScatterNd(indices, doutput, shape), None


def out_of_bounds(indices: Any, shape: tuple[int, ...]) -> Any:
    """For each row of coordinates (flat) whether it leaves `shape`; None if none does."""
    rows = indices.reshape(-1, len(shape)) if shape else None
    if rows is None or not rows.size:
        return None
    if rows.itemsize < 4:
        rows = rows.astype(np.int32)
    # As an unsigned number, a negative one of 32 bits or more is larger than any size.
    outside = rows.view(f"u{rows.itemsize}") >= np.asarray(shape, np.uint64)
    return outside.any(1) if outside.any() else None
