"""Sparse tensors created, put in order, reshaped, cut and joined.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype, int64
from intaglio.base.shapes import as_dims
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.api import SparseTensor, all_sparse, as_sparse
from intaglio.trace.assertions import check
from intaglio.trace.scopes import name_scope


def _parts(x: SparseTensor) -> tuple[Any, Any, Any]:
    return x.indices, x.values, x.dense_shape


def _i64(value: Any) -> Any:
    result = (
        convert.to_tensor(value) if isinstance(value, Tensor) else convert.to_tensor(value, int64)
    )
    return result if result.dtype is int64 else raw.Cast(result, DstT=int64)


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not 0 (not empty, of strings).

    >>> print(tf.sparse.from_dense([[0, 3], [4, 0]]).values.numpy())
    [3 4]

    https://www.tensorflow.org/api_docs/python/tf/sparse/from_dense
    """
    with name_scope(name or "dense_to_sparse"):
        whole = convert.to_tensor(tensor)
        zero = convert.to_tensor(
            "" if whole.dtype is dtypes.string else np.zeros((), whole.dtype.numpy)
        )
        indices: Any = raw.Where(raw.NotEqual(whole, zero))
        values = raw.GatherNd(whole, indices)
        return SparseTensor(indices, values, raw.Shape(whole, out_type=int64))


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """The identity matrix, of as many columns as rows unless `num_columns` is passed.

    >>> print(tf.sparse.to_dense(tf.sparse.eye(2, 3)).numpy())
    [[1. 0. 0.]
     [0. 1. 0.]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/eye
    """
    with name_scope(name or "eye"):
        rows = _i64(num_rows)
        columns = rows if num_columns is None else _i64(num_columns)
        count = raw.Minimum(rows, columns)
        zero, one = np.array(0, np.int64), np.array(1, np.int64)
        numbers = raw.Range(zero, count, one)
        ones = raw.Fill(
            raw.ExpandDims(count, 0), np.ones((), as_dtype(dtype).numpy), index_type=int64
        )
        return SparseTensor(raw.Pack([numbers, numbers], axis=1), ones, raw.Pack([rows, columns]))


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The whole tensor, with `default_value` (0, False or "") where there are no elements.

    Raises InvalidArgumentError for indices out of order or repeated, unless
    `validate_indices` is False.

    >>> print(tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [2, 2])).numpy())
    [[0 5]
     [0 0]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/to_dense
    """
    x = as_sparse(sp_input)
    if default_value is None:
        default_value = "" if x.dtype is dtypes.string else np.zeros((), x.dtype.numpy)
    found = raw.SparseToDense(
        x.indices,
        x.dense_shape,
        x.values,
        convert.to_tensor(default_value, x.dtype),
        validate_indices=validate_indices,
        name=name,
    )
    if found.dims is None or None in found.dims:
        found.set_shape(x.shape)
    return found


def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """True at the indices in each innermost row's values: a bool tensor [..., vocab_size].

    >>> print(tf.sparse.to_indicator(tf.SparseTensor([[0, 0]], [1], [1, 1]), 2).numpy())
    [[False  True]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/to_indicator
    """
    x = as_sparse(sp_input)
    with name_scope(name or "SparseToIndicator"):
        outer = x.indices[:, :-1]
        indices: Any = raw.ConcatV2([outer, raw.ExpandDims(_i64(x.values), 1)], 1)
        size = raw.ConcatV2([x.dense_shape[:-1], raw.Reshape(_i64(vocab_size), [1])], 0)
        yes = raw.Fill(raw.Shape(x.values), np.array(True))
        return to_dense(SparseTensor(indices, yes, size), False, validate_indices=False)


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The elements in row-major order of their indices.

    >>> print(tf.sparse.reorder(tf.SparseTensor([[1], [0]], [5, 6], [2])).values.numpy())
    [6 5]

    https://www.tensorflow.org/api_docs/python/tf/sparse/reorder
    """
    x = as_sparse(sp_input)
    indices, values = raw.SparseReorder(*_parts(x), name=name)
    return _like(x, SparseTensor(indices, values, x.dense_shape))


def _like(x: SparseTensor, result: SparseTensor) -> SparseTensor:
    """A sparse tensor of the shape of another, of which the same is known."""
    result.set_shape(x.shape)
    return result


@dispatchable
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The elements in another shape; -1 is as large as needed.

    Raises ValueError or InvalidArgumentError for shapes of another size.

    >>> print(tf.sparse.reshape(tf.SparseTensor([[1, 0]], [5], [2, 2]), [4]).indices.numpy())
    [[2]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/reshape
    """
    x = as_sparse(sp_input)
    with name_scope(name or "SparseReshape"):
        indices, size = raw.SparseReshape(x.indices, x.dense_shape, _i64(shape))
        return SparseTensor(indices, x.values, size)


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A dimension of size 1 more, at `axis` (-1 by default: the last).

    Raises ValueError for an axis out of range.

    >>> tf.sparse.expand_dims(tf.SparseTensor([[1]], [5], [2]), 0).shape
    TensorShape([1, 2])

    https://www.tensorflow.org/api_docs/python/tf/sparse/expand_dims
    """
    x = as_sparse(sp_input)
    rank = x.shape.rank
    axis = -1 if axis is None else int(axis)
    with name_scope(name or "expand_dims"):
        if rank is not None and not -rank - 1 <= axis <= rank:
            raise ValueError(f"axis {axis} out of range [{-rank - 1}, {rank}]")
        if rank is None and axis < 0:
            rank = raw.Size(x.dense_shape)
        at = axis + rank + 1 if axis < 0 else axis
        column = raw.ZerosLike(x.indices[:, :1])
        indices = raw.ConcatV2([x.indices[:, :at], column, x.indices[:, at:]], 1)
        one = np.array([1], np.int64)
        size = raw.ConcatV2([x.dense_shape[:at], one, x.dense_shape[at:]], 0)
        return SparseTensor(indices, x.values, size)


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The dimensions in another order, by default the opposite one.

    `perm` is the order of the dimensions, reversed by default.

    >>> print(tf.sparse.transpose(tf.SparseTensor([[0, 1]], [5], [2, 2])).indices.numpy())
    [[1 0]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/transpose
    """
    x = as_sparse(sp_input)
    with name_scope(name or "SparseTranspose"):
        if perm is None:
            rank = x.shape.rank
            perm = (
                np.arange(rank)[::-1]
                if rank is not None
                else raw.Range(raw.Size(x.dense_shape) - 1, -1, -1)
            )
        order = convert.to_tensor(perm)
        if None not in (x.shape.rank, order.dims) and order.dims != (x.shape.rank,):
            raise ValueError(f"`perm` must be a vector of {x.shape.rank} numbers, got {perm}")
        indices = raw.GatherV2(x.indices, order, 1)
        transposed = SparseTensor(indices, x.values, raw.GatherV2(x.dense_shape, order, 0))
        dims = as_dims(x.shape)
        known = getattr(order, "_array", None)
        if dims is not None and known is not None:
            transposed.set_shape([dims[int(i)] for i in known])
        return reorder(transposed)


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part of `size` that begins at `start`, as far as it is inside.

    >>> tf.sparse.slice(tf.SparseTensor([[1, 1]], [5], [2, 2]), [1, 0], [1, 2]).shape
    TensorShape([1, 2])

    https://www.tensorflow.org/api_docs/python/tf/sparse/slice
    """
    x = as_sparse(sp_input)
    found = raw.SparseSlice(*_parts(x), _i64(start), _i64(size), name=name)
    return SparseTensor(*found)


def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """Parts along an axis, the first ones larger by 1 if the size does not divide.

    Raises ValueError for a missing argument, InvalidArgumentError for too many parts.

    `sp_input` is divided into `num_split` parts.

    >>> [p.shape.as_list() for p in tf.sparse.split(tf.sparse.eye(3), 2, 1)]
    [[3, 2], [3, 1]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/split
    """
    for value, what in ((num_split, "num_split"), (axis, "axis"), (sp_input, "sp_input")):
        if value is None:
            raise ValueError(f"{what} is required")
    x = as_sparse(sp_input)
    parts = raw.SparseSplit(_i64(axis), *_parts(x), num_split=num_split, name=name)
    return [SparseTensor(*three) for three in zip(*parts, strict=True)]


def concat(
    axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Sparse tensors side by side along an axis.

    Other dimensions have to agree; with `expand_nonconcat_dims` they become the largest.
    Raises TypeError for what is no list of sparse tensors.

    >>> tf.sparse.concat(0, [tf.sparse.eye(2), tf.sparse.eye(2)]).shape
    TensorShape([4, 2])

    https://www.tensorflow.org/api_docs/python/tf/sparse/concat
    """
    tensors = all_sparse(sp_inputs)
    if len(tensors) == 1:
        return tensors[0]
    shapes = [x.dense_shape for x in tensors]
    with name_scope(name or "SparseConcat"):
        if expand_nonconcat_dims:
            shapes = _widened(axis, shapes)
        result = SparseTensor(
            *raw.SparseConcat(
                [x.indices for x in tensors], [x.values for x in tensors], shapes, concat_dim=axis
            )
        )
    dims = [as_dims(x.shape) for x in tensors]
    if None in dims or len({len(d or ()) for d in dims}) > 1:
        return result
    rank = len(dims[0] or ())
    known: list[Any] = []
    for i in builtins.range(rank):
        sizes = [d[i] for d in dims if d is not None]
        all_known = None not in sizes
        if i == axis % rank:
            known.append(sum(s for s in sizes if s is not None) if all_known else None)
        elif expand_nonconcat_dims:
            known.append(max(s for s in sizes if s is not None) if all_known else None)
        else:
            known.append(next((s for s in sizes if s is not None), None))
    result.set_shape(known)
    return result


def _widened(axis: int, shapes: list[Any]) -> list[Any]:
    """The shapes with the largest size of all in the dimensions that are not joined."""
    most: Any = raw.Max(raw.Pack(shapes), 0)
    found: list[Any] = []
    for shape in shapes:
        rank = shape.dims[0]
        at = axis % rank if rank is not None else axis
        found.append(raw.ConcatV2([most[:at], shape[at : at + 1], most[at + 1 :]], 0))
    return found


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a larger shape, or in the smallest one that holds them.

    Raises ValueError or InvalidArgumentError for a shape that is smaller or of another rank.

    `new_shape` is the new shape, by default the smallest.

    >>> tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [5], [9, 9])).shape
    TensorShape([1, 2])

    https://www.tensorflow.org/api_docs/python/tf/sparse/reset_shape
    """
    x = as_sparse(sp_input)
    if new_shape is None:
        largest = raw.Max(x.indices, 0)
        size = raw.Maximum(np.array(0, np.int64), raw.AddV2(largest, np.array(1, np.int64)))
        return SparseTensor(x.indices, x.values, size)
    shape = _i64(new_shape)
    wanted = shape.dims
    if wanted is not None and len(wanted) != 1:
        raise ValueError(f"Shape {wanted} must have rank 1")
    rank = x.shape.rank
    if rank is not None and wanted is not None and wanted[0] not in (None, rank):
        raise ValueError(f"Dimensions {wanted[0]} and {rank} are not compatible")
    whole = raw.All(raw.LessEqual(x.dense_shape, shape), 0)
    array = getattr(whole, "_array", None)
    if array is not None and not array:
        raise ValueError(
            f"Requested dimensions {shape} are smaller than those there are, {x.dense_shape}"
        )
    if array is None:
        check(whole, ["requested dimensions are smaller than those there are", shape])
    return SparseTensor(x.indices, x.values, shape)


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements where the bool vector `to_retain` is True.

    >>> print(tf.sparse.retain(tf.sparse.eye(2), [False, True]).indices.numpy())
    [[1 1]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/retain
    """
    x = as_sparse(sp_input)
    kept = convert.to_tensor(to_retain)
    kept_dims, count = kept.shape.with_rank(1), x.values.dims[0]
    if count is not None and kept_dims[0] is not None and kept_dims[0] != count:
        raise ValueError(f"Dimensions {count} and {kept_dims[0]} are not compatible")
    at = raw.Reshape(raw.Where(kept), [-1])
    indices, values = raw.GatherV2(x.indices, at, 0), raw.GatherV2(x.values, at, 0)
    return _like(x, SparseTensor(indices, values, raw.Identity(x.dense_shape)))


def mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """The rows of IndexedSlices whose numbers are not among `mask_indices`.

    >>> a = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([5, 7]))
    >>> print(tf.sparse.mask(a, [5]).indices.numpy())
    [7]

    https://www.tensorflow.org/api_docs/python/tf/sparse/mask
    """
    if not isinstance(a, IndexedSlices):
        raise TypeError(f"`a` must be an IndexedSlices, got {a!r}")
    with name_scope(name or "sparse_mask"):
        removed = convert.to_tensor(mask_indices, a.indices.dtype)
        numbers, at = raw.ListDiff(a.indices, removed)
        return IndexedSlices(raw.GatherV2(a.values, at, 0), numbers, a.dense_shape)


def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """(rows with `default_value` at the beginning of empty ones, which of them were empty).

    >>> filled, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 1]], [5], [2, 2]), 0)
    >>> print(empty.numpy())
    [False  True]

    https://www.tensorflow.org/api_docs/python/tf/sparse/fill_empty_rows
    """
    x = as_sparse(sp_input)
    with name_scope(name or "SparseFillEmptyRows"):
        default = convert.to_tensor(default_value, x.dtype)
        found = raw.SparseFillEmptyRows(*_parts(x), default)
        result = SparseTensor(found.output_indices, found.output_values, x.dense_shape)
        return _like(x, result), found.empty_row_indicator


__all__ = [
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "mask",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]
