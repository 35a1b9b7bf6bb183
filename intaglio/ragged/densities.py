"""From tensors to ragged tensors and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import checks, core
from intaglio.ragged.partition import RowPartition
from intaglio.sparse.api import SparseTensor


def from_tensor(
    tensor: Any, lengths: Any, padding: Any, ragged_rank: Any, row_splits_dtype: Any
) -> Any:
    """A ragged tensor of a tensor's rows, without what lengths or padding leave out."""
    splits = as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    x = convert.to_tensor(tensor)
    if x.dims is not None and len(x.dims) <= 1:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars "
            "won't have ragged dimensions. Received argument `tensor` with rank "
            f"{len(x.dims)}."
        )
    TensorShape(x.dims).with_rank_at_least(ragged_rank + 1)
    if padding is not None:
        lengths = _unpadded(x, padding, ragged_rank, splits)
    if isinstance(lengths, (list, tuple)) and lengths and _is_nested(lengths):
        return _by_nested_lengths(x, lengths, splits)
    if ragged_rank > 1:
        return _merged_rows(x, lengths, padding, ragged_rank, splits)
    if lengths is None:
        return core.ragged(_rows(x), _uniform_rows(x, splits))
    return _by_lengths(x, lengths, splits)


def _is_nested(lengths: Any) -> bool:
    return not all(isinstance(n, (int, np.integer)) for n in lengths)


def _uniform_rows(x: Any, dtype: Any) -> RowPartition:
    shape: Any = raw.Shape(x, out_type=dtype)
    dims = x.dims
    rows = shape[0] if dims is None or dims[0] is None else dims[0]
    length = shape[1] if dims is None or dims[1] is None else dims[1]
    return RowPartition.from_uniform_row_length(
        length, shape[0] * shape[1], rows, validate=False, dtype=dtype
    )


def _rows(x: Any) -> Any:
    """The two outer dimensions merged into one."""
    dims = x.dims
    if dims is not None and None not in dims[2:] and 0 not in dims:
        return raw.Reshape(x, np.asarray([-1, *dims[2:]], np.int64))
    shape: Any = raw.Shape(x, out_type=dtypes.int64)
    return raw.Reshape(x, raw.ConcatV2([shape[0:1] * shape[1:2], shape[2:]], 0))


def _unpadded(x: Any, padding: Any, ragged_rank: int, dtype: Any) -> Any:
    """The lengths of the rows of the innermost ragged axis without trailing padding."""
    pad = convert.to_tensor(padding, x.dtype)
    TensorShape(x.dims)[ragged_rank + 1 :].assert_is_compatible_with(pad.dims)
    # The rows' items that are padding: all elements equal.
    equal: Any = raw.Equal(x, pad)
    inner = ragged_rank + 1
    if x.dims is None:
        equal = raw.All(equal, raw.Range(np.int32(inner), raw.Rank(x), np.int32(1)))
    elif len(x.dims) > inner:
        equal = raw.All(equal, np.arange(inner, len(x.dims), dtype=np.int32))
    real: Any = raw.Cast(raw.LogicalNot(equal), DstT=dtype)
    shape: Any = raw.Shape(real, out_type=dtype)
    one = convert.to_tensor(1, dtype)
    positions = raw.Range(one, shape[ragged_rank] + one, one)
    return raw.Reshape(raw.Max(real * positions, [ragged_rank]), np.asarray([-1], np.int32))


def _by_lengths(x: Any, lengths: Any, dtype: Any) -> Any:
    lengths = core.as_index(
        lengths if isinstance(lengths, Tensor) else convert.to_tensor(lengths, dtype), dtype
    )
    TensorShape(lengths.dims).assert_has_rank(1)
    shape: Any = raw.Shape(x, out_type=dtype)
    zero = convert.to_tensor(0, dtype)
    lengths = raw.Minimum(lengths, shape[1])
    lengths = raw.Maximum(lengths, zero)
    positions = raw.Range(zero, shape[1], convert.to_tensor(1, dtype))
    there: Any = raw.Less(raw.ExpandDims(positions, 0), raw.ExpandDims(lengths, 1))
    chosen: Any = raw.Where(raw.Reshape(there, np.asarray([-1], np.int32)))
    values = raw.GatherV2(_rows(x), chosen[:, 0], 0)
    return core.from_lengths(values, lengths)


def _by_nested_lengths(x: Any, lengths: Any, dtype: Any) -> Any:
    """One vector of lengths for each ragged axis, the outermost first."""
    if len(lengths) == 1:
        return _by_lengths(x, lengths[0], dtype)
    outer = _by_lengths(x, lengths[0], dtype)
    return outer.with_values(_by_nested_lengths(outer.values, lengths[1:], dtype))


def _merged_rows(x: Any, lengths: Any, padding: Any, ragged_rank: int, dtype: Any) -> Any:
    """The innermost ragged axis by its rows, the axes before it uniform."""
    rows = _uniform_rows(x, dtype)
    if padding is None and lengths is not None:
        inner = from_tensor(_rows(x), lengths, None, ragged_rank - 1, dtype)
    else:
        inner = from_tensor(_rows(x), None, padding, ragged_rank - 1, dtype)
    return core.ragged(inner, rows)


def from_sparse(st_input: Any, row_splits_dtype: Any) -> Any:
    """The values of a sparse matrix whose entries are at the beginning of its rows."""
    splits = as_dtype(row_splits_dtype)
    if not hasattr(st_input, "dense_shape") or not hasattr(st_input, "indices"):
        raise TypeError(
            "Argument `st_input` must be of type SparseTensor, but is of type "
            f"{type(st_input).__name__}."
        )
    rank = TensorShape(st_input.shape).rank
    if rank is not None and rank != 2:
        raise ValueError(f"Only rank-2 SparseTensors can be converted to ragged, got rank {rank}")
    indices = st_input.indices
    checks.holds(_is_right_ragged(indices), ["SparseTensor is not right-ragged", indices])
    rowids = core.as_index(indices[:, 0], splits)
    shape: Any = core.as_index(st_input.dense_shape, splits)
    return core.from_rowids(st_input.values, rowids, shape[0])


def _is_right_ragged(indices: Any) -> Any:
    """Whether entries come row by row, and each row's at its beginning, without gaps."""
    row, column = indices[:, 0], indices[:, 1]
    continued = raw.LogicalAnd(
        raw.Equal(row[1:], row[:-1]), raw.Equal(column[1:], column[:-1] + np.int64(1))
    )
    begun = raw.LogicalAnd(raw.Greater(row[1:], row[:-1]), raw.Equal(column[1:], np.int64(0)))
    first = raw.Equal(column[:1], np.int64(0))
    good = raw.ConcatV2([first, raw.LogicalOr(continued, begun)], 0)
    return raw.All(good, 0)


def to_sparse(x: Any) -> Any:
    """The values with their indices, as a sparse tensor."""
    parts = raw.RaggedTensorToSparse(list(x.nested_row_splits), x.flat_values)
    return SparseTensor(*parts)


def to_tensor(x: Any, default_value: Any, shape: Any) -> Any:
    """A tensor with the default where rows have no values."""
    flat = x.flat_values
    if default_value is None:
        default_value = b"" if flat.dtype is dtypes.string else 0
        if flat.dtype is dtypes.bool_:
            default_value = False
    default = convert.to_tensor(default_value, flat.dtype)
    dtype = x.row_splits.dtype
    partitions = x.nested_partitions
    first: Any = partitions[0]
    result = raw.RaggedTensorToTensor(
        _wanted_shape(shape, dtype),
        flat,
        default,
        [first.row_splits(), *[p.row_splits() for p in partitions[1:]]],
        row_partition_types=["ROW_SPLITS"] * len(partitions),
    )
    return _with_static_shape(result, x, shape)


def _wanted_shape(shape: Any, dtype: Any) -> Any:
    if shape is None:
        return convert.to_tensor(-1, dtype)
    if isinstance(shape, Tensor):
        return core.as_index(shape, dtype)
    dims = TensorShape(shape)
    if dims.rank is None:
        return convert.to_tensor(-1, dtype)
    return convert.to_tensor([-1 if d is None else d for d in dims.as_list()], dtype)


def _with_static_shape(result: Any, x: Any, shape: Any) -> Any:
    if hasattr(result, "_array"):
        return result
    known = TensorShape(x.dims)
    if shape is not None and not isinstance(shape, Tensor):
        declared = TensorShape(shape)
        if declared.rank is not None and known.rank == declared.rank:
            dims = [
                own if d is None and i != 1 else d
                for i, (d, own) in enumerate(zip(declared.as_list(), known.as_list(), strict=True))
            ]
            known = TensorShape(dims)
    elif isinstance(shape, Tensor):
        return result
    result.set_shape(known)
    return result
