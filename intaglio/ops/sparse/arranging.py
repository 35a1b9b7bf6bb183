"""Sparse tensors as dense ones, in order, reshaped, cut, joined, with no row empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, NUMERIC, QUANTIZED, bool_, int64
from intaglio.base.errors import invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number, numbers
from intaglio.ops.families import check_rank, shape_of, spec_of, unbroadcast
from intaglio.ops.sparse import indices as coordinates


@op
class SparseToDense(Op):
    """A tensor with values at these indices and a default elsewhere."""

    signature = (
        "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T,"
        " default_value: T; validate_indices: bool = True -> dense: T"
    )
    T = ALL
    Tindices = INDEX

    def infer(self, output_shape: Spec, sparse_values: Spec) -> Spec:
        coordinates.need_ranks((output_shape, 1))
        return Spec(sparse_values.dtype, output_shape.as_shape())

    def kernel(self, sparse_indices, output_shape, sparse_values, default_value, validate_indices):
        if output_shape.ndim != 1:
            raise invalid_argument(
                f"output_shape must be rank 1, got shape {brackets(output_shape.shape)}"
            )
        if np.ndim(default_value):
            raise invalid_argument("default_value should be a scalar.")
        if sparse_indices.ndim > 2:
            raise invalid_argument(
                "sparse_indices should be a scalar, vector, or matrix, got shape "
                f"{brackets(sparse_indices.shape)}"
            )
        indices = sparse_indices.reshape(-1, 1) if sparse_indices.ndim < 2 else sparse_indices
        count, rank = indices.shape
        if output_shape.size != rank:
            raise invalid_argument(
                "output_shape has incorrect number of elements: "
                f"{output_shape.size} should be: {rank}"
            )
        if np.ndim(sparse_values) and sparse_values.shape != (count,):
            raise invalid_argument(
                f"sparse_values has incorrect shape {brackets(sparse_values.shape)}, "
                f"should be [] or [{count}]"
            )
        dims = tuple([int(d) for d in output_shape])
        if validate_indices:
            coordinates.check_bounds(indices, dims)
            coordinates.check_order(indices)
        elif not coordinates.inside(indices, dims):
            raise invalid_argument(
                f"Indices are not valid (out of bounds).  Shape: {brackets(dims)}"
            )
        check_allocated(dims, sparse_values.dtype.itemsize, "SparseToDense")
        found = np.full(dims, default_value, sparse_values.dtype)
        found.reshape(-1)[coordinates.flat(indices, dims)] = sparse_values
        return found

    def gradient(self, ddense, sparse_indices, sparse_values: Spec, default_value: Spec) -> Any:
        taken = _gathered(ddense, sparse_indices)
        values = unbroadcast(taken, sparse_values, spec_of(taken))
        rest = raw.Sub(_total(ddense), _total(taken))
        return None, None, values, rest


def _total(x: Any) -> Any:
    return raw.Sum(raw.Reshape(x, np.array([-1], np.int32)), np.array([0], np.int32))


def _gathered(dense: Any, indices: Any) -> Any:
    """The elements of a dense gradient at the indices."""
    if spec_of(indices).rank != 2:
        rank = raw.Reshape(raw.Rank(dense), np.array([1], np.int32))
        indices = raw.Reshape(indices, raw.ConcatV2([np.array([-1], np.int32), rank], 0))
    return raw.GatherNd(dense, indices)


@op
class SparseReorder(Op):
    """The elements in row-major order of their indices."""

    signature = (
        "input_indices: int64, input_values: T, input_shape: int64"
        " -> output_indices: int64, output_values: T"
    )
    T = ALL

    def infer(self, input_indices: Spec, input_values: Spec, input_shape: Spec) -> Any:
        coordinates.need_ranks((input_indices, 2), (input_values, 1), (input_shape, 1))
        rank = coordinates.rank_of(input_indices, input_shape)
        count = coordinates.size_of(input_indices, input_values)
        return coordinates.parts(input_values.dtype, count, rank)[:2]

    def kernel(self, input_indices, input_values, input_shape):
        coordinates.check(input_indices, input_values, input_shape)
        if coordinates.in_order(input_indices):
            return input_indices, input_values
        order = coordinates.order(input_indices)
        return input_indices[order], input_values[order]

    def gradient(self, doutput_values, input_indices, input_values: Spec, input_shape) -> Any:
        numbered = _numbered(input_values)
        came_from = raw.SparseReorder(input_indices, numbered, input_shape).output_values
        back = raw.ScatterNd(_column(came_from), doutput_values, shape_of(input_values))
        return None, back, None


def _numbered(values: Spec) -> Any:
    """0, 1, 2, ... for each value."""
    if shapes.known(values.shape):
        return np.arange(values.shape[0], dtype=np.int32)
    return raw.Range(0, raw.Squeeze(raw.Shape(values.tensor)), 1)


def _column(x: Any) -> Any:
    return raw.ExpandDims(x, 1)


@op
class SparseReshape(Op):
    """The indices in another shape; -1 is inferred."""

    signature = (
        "input_indices: int64, input_shape: int64, new_shape: int64"
        " -> output_indices: int64, output_shape: int64"
    )
    differentiable = False

    def infer(self, input_indices: Spec, input_shape: Spec, new_shape: Spec) -> Any:
        coordinates.need_ranks((input_indices, 2), (input_shape, 1), (new_shape, 1))
        count = input_indices.shape[0] if input_indices.shape else None
        rank = new_shape.shape[0] if new_shape.shape else None
        old, new = numbers(input_shape), numbers(new_shape)
        known = None
        if new is not None and (-1 not in new or old is not None):
            known = tuple(_target(old, new)) if old is not None else tuple(new)
        indices, _, shape = coordinates.parts(int64, count, rank, known)
        return indices, shape

    def kernel(self, input_indices, input_shape, new_shape):
        if input_indices.ndim != 2:
            raise invalid_argument(
                f"Input indices should be a matrix but received shape {brackets(input_indices.shape)}"
            )
        for name, x in (("Input", input_shape), ("Target", new_shape)):
            if x.ndim != 1:
                raise invalid_argument(
                    f"{name} shape should be a vector but received shape {brackets(x.shape)}"
                )
        if input_shape.size != input_indices.shape[1]:
            raise invalid_argument(
                f"Input tensor rank {input_shape.size} must match input shape length {input_indices.shape[1]}"
            )
        old = [int(d) for d in input_shape]
        dims = _target(old, [int(d) for d in new_shape])
        rest = coordinates.flat(input_indices, old)
        columns: list[Any] = []
        for size in reversed(dims):
            columns.append(rest % max(size, 1))
            rest = rest // max(size, 1)
        count = input_indices.shape[0]
        table = np.stack(columns[::-1], axis=1) if dims else np.zeros((count, 0))
        return table.astype(np.int64), np.array(dims, np.int64)


def _target(old: list[int], new: list[int]) -> list[int]:
    """The new shape with its -1 filled in. Raises InvalidArgumentError if it does not fit."""
    total = int(np.prod([int(d) for d in old], dtype=object)) if old else 1
    free = [i for i, d in enumerate(new) if d == -1]
    if len(free) > 1:
        raise invalid_argument(
            f"only one output dimension may be -1, not both {free[0]} and {free[1]}"
        )
    if any(d < -1 for d in new):
        raise invalid_argument(f"size {min(new)} must be non-negative, not {min(new)}")
    known = int(np.prod([d for d in new if d != -1], dtype=object)) if new else 1
    if free:
        if known == 0:
            raise invalid_argument(
                "reshape cannot infer the missing input size for an empty tensor "
                "unless all specified input sizes are non-zero"
            )
        if total % known:
            raise invalid_argument(
                f"Input to reshape is a SparseTensor with {total} dense values, but the "
                f"requested shape requires a multiple of {known}. "
                f"input_shape={brackets(tuple(old))} output_shape={brackets(tuple(new))}"
            )
        return [total // known if d == -1 else d for d in new]
    if known != total:
        raise invalid_argument(
            f"Input to reshape is a tensor with {total} dense values, but the requested "
            f"shape has {known}. input_shape={brackets(tuple(old))} "
            f"output_shape={brackets(tuple(new))}"
        )
    return new


# -- parts -------------------------------------------------------------------------------


@op
class SparseSlice(Op):
    """The elements in the box of `size` that begins at `start`."""

    signature = (
        "indices: int64, values: T, shape: int64, start: int64, size: int64"
        " -> output_indices: int64, output_values: T, output_shape: int64"
    )
    T = ALL

    def infer(self, indices: Spec, values: Spec, shape: Spec, start: Spec, size: Spec) -> Any:
        coordinates.need_ranks((indices, 2), (values, 1), (shape, 1), (start, 1), (size, 1))
        known = (numbers(shape), numbers(start), numbers(size))
        dims = None if None in known else tuple(_box(*map(np.array, known))[1].tolist())
        return coordinates.parts(values.dtype, None, coordinates.rank_of(indices, shape), dims)

    def kernel(self, indices, values, shape, start, size):
        coordinates.check(indices, values, shape)
        for name, x in (("start", start), ("size", size)):
            if x.shape != shape.shape:
                raise invalid_argument(
                    f"Expected {name} to be a vector of length {shape.size} but got length {x.size}"
                )
        if np.any(size < 0):
            raise invalid_argument(f"Expected a non-negative size, got {int(size.min())}")
        begin, dims = _box(shape, start, size)
        inside: Any = np.ones(len(indices), bool)
        for column, first, length in zip(indices.T, begin, dims, strict=True):
            inside &= column >= first
            inside &= column < first + length
        kept = np.flatnonzero(inside)
        return indices[kept] - begin, values[kept], dims

    def gradient(self, doutput_values, indices, start, output_indices) -> Any:
        back = raw.SparseSliceGrad(doutput_values, indices, start, output_indices)
        return None, back, None, None, None


def _box(shape: Any, start: Any, size: Any) -> tuple[Any, Any]:
    """Where a slice begins, and the part of its size that is inside the shape."""
    return start, np.clip(shape - start, 0, size).astype(np.int64)


@op
class SparseSliceGrad(Op):
    """The gradient of a slice's values for all values: 0 for those left out."""

    signature = (
        "backprop_val_grad: T, input_indices: int64, input_start: int64,"
        " output_indices: int64 -> val_grad: T"
    )
    T = NUMERIC + QUANTIZED

    def infer(self, backprop_val_grad: Spec, input_indices: Spec) -> Spec:
        coordinates.need_ranks((backprop_val_grad, 1), (input_indices, 2))
        count = input_indices.shape[0] if input_indices.shape else None
        return Spec(backprop_val_grad.dtype, (count,))

    def kernel(self, backprop_val_grad, input_indices, input_start, output_indices):
        if backprop_val_grad.shape[:1] != output_indices.shape[:1]:
            raise invalid_argument(
                "Number of elements in backprop_val_grad and output_indices must match"
            )
        check_rank("input_start", input_start, 1)
        at, found = coordinates.matched(input_indices - input_start, output_indices)
        result = np.zeros(input_indices.shape[0], backprop_val_grad.dtype)
        result[found] = backprop_val_grad[at[found]]
        return result

    def gradient(self, dval_grad, input_indices, input_start, output_indices) -> Any:
        # The two tables, exchanged: the elements of the slice come from these indices.
        back = raw.SparseSliceGrad(dval_grad, output_indices, raw.Neg(input_start), input_indices)
        return back, None, None, None


@op
class SparseConcat(Op):
    """Sparse tensors side by side along a dimension, in order."""

    signature = (
        "indices: N*int64, values: N*T, shapes: N*int64; concat_dim: int"
        " -> output_indices: int64, output_values: T, output_shape: int64"
    )
    differentiable = False
    T = ALL

    def infer(self, indices: list[Spec], values: list[Spec], shapes: list[Spec]) -> Any:
        for i, v, d in zip(indices, values, shapes, strict=True):
            coordinates.need_ranks((i, 2), (v, 1), (d, 1))
        counts = [coordinates.size_of(i, v) for i, v in zip(indices, values, strict=True)]
        count = None if None in counts else sum(c for c in counts if c is not None)
        ranks = [coordinates.rank_of(i, d) for i, d in zip(indices, shapes, strict=True)]
        rank = next((r for r in ranks if r is not None), None)
        return coordinates.parts(values[0].dtype, count, rank)

    def kernel(self, indices, values, shapes, concat_dim):
        for i, v, d in zip(indices, values, shapes, strict=True):
            coordinates.check(i, v, d)
        first = shapes[0]
        rank = first.size
        if not -rank <= concat_dim < rank:
            raise invalid_argument(
                f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}"
            )
        axis = concat_dim % rank
        for n, other in enumerate(shapes):
            _check_beside(first, other, axis, n)
        sizes = [int(d[axis]) for d in shapes]
        table = np.concatenate(indices)
        begins = np.cumsum([0, *sizes[:-1]])
        table[:, axis] += np.repeat(begins, [len(i) for i in indices])
        order = coordinates.order(table)
        dims = first.copy()
        dims[axis] = sum(sizes)
        return table[order], np.concatenate(values)[order], dims


def _check_beside(first: Any, other: Any, axis: int, position: int) -> None:
    if other.size != first.size:
        raise invalid_argument(
            f"Ranks of all input tensors must match: expected {first.size} but got "
            f"{other.size} at position {position}"
        )
    differs = first != other
    differs[axis] = False
    if differs.any():
        at = int(np.argmax(differs))
        raise invalid_argument(
            f"Input shapes must match: expected {int(first[at])} for dimension {at} but "
            f"got {int(other[at])} at position {position}"
        )


@op
class SparseSplit(Op):
    """Equal parts along a dimension; the first ones are larger by 1 if it does not divide."""

    signature = (
        "split_dim: int64, indices: int64, values: T, shape: int64; num_split: int"
        " -> output_indices: num_split*int64, output_values: num_split*T,"
        " output_shape: num_split*int64"
    )
    differentiable = False
    T = ALL

    def infer(self, split_dim: Spec, indices: Spec, values: Spec, shape: Spec, num_split) -> Any:
        coordinates.need_ranks((split_dim, 0), (indices, 2), (values, 1), (shape, 1))
        axis, dims = number(split_dim), numbers(shape)
        rank = coordinates.rank_of(indices, shape)
        if axis is None or dims is None or not -len(dims) <= axis < len(dims):
            known: list[Any] = [None] * num_split
        else:
            known = [_with(dims, axis, s) for s in _shares(dims[axis], num_split)]
        parts = [coordinates.parts(values.dtype, None, rank, d) for d in known]
        return tuple([list(column) for column in zip(*parts, strict=True)])

    def kernel(self, split_dim, indices, values, shape, num_split):
        coordinates.check(indices, values, shape)
        coordinates.check_bounds(indices, shape)
        rank = shape.size
        axis = int(split_dim)
        if not -rank <= axis < rank:
            raise invalid_argument(f"Input axis should be in range [{-rank}, {rank}), got {axis}")
        size = int(shape[axis])
        if not 1 <= num_split <= size:
            raise invalid_argument(
                "Input num_split should be between 1 and the splitting dimension size "
                f"({size}), got {num_split}"
            )
        sizes = _shares(size, num_split)
        ends = np.cumsum(sizes)
        part = np.searchsorted(ends, indices[:, axis], side="right")
        dims = [np.array(_with(shape.tolist(), axis, s), np.int64) for s in sizes]
        if num_split <= _MAX_MASKED_PARTS:
            rows = [np.flatnonzero(part == i) for i in range(num_split)]
        else:
            order = np.argsort(part, kind="stable")
            rows = np.split(order, np.searchsorted(part[order], np.arange(1, num_split)))
        tables = [indices[some] for some in rows]
        for table, begin in zip(tables, (ends - sizes).tolist(), strict=True):
            table[:, axis] -= begin
        return tables, [values[some] for some in rows], dims


# With at most so many parts, each is found in a pass of its own.
_MAX_MASKED_PARTS = 8


def _shares(size: int, count: int) -> list[int]:
    each, over = divmod(size, count)
    return [each + (i < over) for i in range(count)]


def _with(dims: list[int], axis: int, size: int) -> tuple[int, ...]:
    found = list(dims)
    found[axis] = size
    return tuple(found)


# -- empty rows --------------------------------------------------------------------------


@op
class SparseFillEmptyRows(Op):
    """The elements row by row, with a default at the beginning of rows that have none."""

    signature = (
        "indices: int64, values: T, dense_shape: int64, default_value: T"
        " -> output_indices: int64, output_values: T, empty_row_indicator: bool,"
        " reverse_index_map: int64"
    )
    T = ALL

    def infer(self, indices: Spec, values: Spec, dense_shape: Spec, default_value: Spec) -> Any:
        coordinates.need_ranks((indices, 2), (values, 1), (dense_shape, 1), (default_value, 0))
        dims = dense_shape.as_shape()
        parts = coordinates.parts(values.dtype, None, coordinates.rank_of(indices, dense_shape))
        rows = dims[0] if dims else None
        count = coordinates.size_of(indices, values)
        return (*parts[:2], Spec(bool_, (rows,)), Spec(int64, (count,)))

    def kernel(self, indices, values, dense_shape, default_value):
        if np.ndim(default_value):
            raise invalid_argument(
                f"default_value must be a scalar, saw: {brackets(np.shape(default_value))}"
            )
        coordinates.check(indices, values, dense_shape)
        if not dense_shape.size:
            raise invalid_argument("Dense shape cannot be empty.")
        rows = int(dense_shape[0])
        ids = indices[:, 0]
        if rows == 0 and ids.size:
            raise invalid_argument(
                f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {ids.size}"
            )
        if ids.size and (ids.min() < 0 or ids.max() >= rows):
            wrong = (ids < 0) | (ids >= rows)
            at = int(np.argmax(wrong))
            relation = f"{int(ids[at])} < 0" if ids[at] < 0 else f"{int(ids[at])} >= {rows}"
            raise invalid_argument(f"indices({at}, 0) is invalid: {relation}")
        counts = np.bincount(ids, minlength=rows)
        empty = counts == 0
        ordered = bool(np.all(ids[1:] >= ids[:-1]))
        if ordered and not empty.any():
            return indices, values, empty, np.arange(ids.size)
        ends = np.cumsum(counts + empty)
        if ordered:  # an element moves down by the empty rows before its own
            targets = np.arange(ids.size) + np.cumsum(empty)[ids]
        else:
            order = np.argsort(ids, kind="stable")
            inside = np.arange(ids.size) - (np.cumsum(counts) - counts)[ids[order]]
            targets = np.empty(ids.size, np.int64)
            targets[order] = (ends - counts - empty)[ids[order]] + inside
        total = int(ends[-1]) if rows else 0
        table = np.zeros((total, indices.shape[1]), np.int64)
        table[ends[empty] - 1, 0] = np.flatnonzero(empty)
        table[targets] = indices
        found = np.full(total, default_value, values.dtype)
        found[targets] = values
        return table, found, empty, targets

    def gradient(self, doutput_values, reverse_index_map) -> Any:
        parts = raw.SparseFillEmptyRowsGrad(reverse_index_map, doutput_values)
        return None, parts.d_values, None, parts.d_default_value


@op
class SparseFillEmptyRowsGrad(Op):
    """The gradients of the values, and of the default put into empty rows."""

    signature = "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T"
    T = NUMERIC

    def infer(self, reverse_index_map: Spec, grad_values: Spec) -> Any:
        coordinates.need_ranks((reverse_index_map, 1), (grad_values, 1))
        return (Spec(grad_values.dtype, reverse_index_map.shape), Spec(grad_values.dtype, ()))

    def kernel(self, reverse_index_map, grad_values):
        check_rank("reverse_index_map", reverse_index_map, 1)
        size = grad_values.size
        at = reverse_index_map
        if at.size and (at.min() < 0 or at.max() >= size):
            wrong = (at < 0) | (at >= size)
            raise invalid_argument(
                "Elements in reverse index must be in [0, "
                f"{size}) but got {int(at[np.argmax(wrong)])}"
            )
        rest = np.ones(size, bool)
        rest[at] = False
        total = np.asarray(grad_values[rest].sum(dtype=grad_values.dtype))
        return grad_values[at], total.astype(grad_values.dtype)

    def gradient(self, dd_values, dd_default_value, reverse_index_map, grad_values: Spec) -> Any:
        defaults = raw.Fill(shape_of(grad_values), dd_default_value)
        back = raw.TensorScatterUpdate(defaults, _column(reverse_index_map), dd_values)
        return None, back
