"""Slices of ragged tensors taken by index.

Follows https://www.tensorflow.org/api_docs/python/tf/gather and
https://www.tensorflow.org/api_docs/python/tf/gather_nd.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.opdef import convert, raw
from intaglio.ragged import checks, core, joining
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """The slices of `params` along an axis that `indices` names."""
    with name_scope(name or "RaggedGather"):
        params = core.as_operand(params)
        indices = indices if isinstance(indices, Ragged) else _integers(indices)
        params, indices = core.matched([params, indices])
        rank, own = core.rank_of(params), core.rank_of(indices)
        if batch_dims != 0:
            batch_dims = checks.axis_of(batch_dims, None if own is None else own, "batch_dims")
        axis = batch_dims if axis is None else checks.axis_of(axis, rank)
        if axis < batch_dims:
            raise ValueError(f"axis={axis} must be at least batch_dims={batch_dims}")
        return _gathered(params, indices, axis, batch_dims)


def _integers(indices: Any) -> Any:
    return convert.to_tensor(indices)


def _gathered(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Taken apart until each row has its own indices along its own first axis."""
    if not isinstance(params, Ragged) and not isinstance(indices, Ragged):
        return raw.GatherV2(params, indices, axis, batch_dims=batch_dims)
    if axis == 0:
        return _flat(params, indices)
    if batch_dims > 1:
        return _inner(params, indices, axis, batch_dims)
    if not isinstance(params, Ragged):
        params = joining.cut_to(params, 1, core.splits_dtype(params, indices))
    if batch_dims == 1:
        if axis == 1:
            return _by_row(params, indices)
        own = _flat_or_dense(indices, params.partition.value_rowids())
        return _gathered(params, params.with_values(own), axis, 2)
    if axis > 1:
        return params.with_values(_gathered(params.values, indices, axis - 1, 0))
    return _by_row(params, _repeated(indices, params.partition.nrows()))


def _repeated(x: Any, count: Any) -> Any:
    """`count` times the same along a new first dimension."""
    if isinstance(x, Ragged):
        rows: Any = x.partition.nrows()
        zero, one = convert.to_tensor(0, rows.dtype), convert.to_tensor(1, rows.dtype)
        each = raw.Tile(raw.Range(zero, rows, one), raw.ExpandDims(count, 0))
        known = None if x.dims is None else x.dims[0]
        length = rows if known is None else known
        return core.from_uniform(_flat(x, each), length, count)
    own = np.ones(core.rank_of(x) or 0, np.int32)
    times = raw.ConcatV2([raw.ExpandDims(core.as_index(count, dtypes.int32), 0), own], 0)
    return raw.Tile(raw.ExpandDims(x, 0), times)


def _flat(params: Any, indices: Any) -> Any:
    """The rows of the whole that the indices name."""
    if isinstance(indices, Ragged):
        return indices.with_values(_gathered(params, indices.values, 0, 0))
    rank = core.rank_of(indices)
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    levels = rank + params.ragged_rank - 1
    parts = raw.RaggedGather(
        list(params.nested_row_splits), params.flat_values, indices, OUTPUT_RAGGED_RANK=levels
    )
    # As in TensorFlow, what was known of uniform lengths is not: only the splits come out.
    gathered = parts.output_dense_values
    for splits in reversed(parts.output_nested_splits):
        gathered = core.from_splits(gathered, splits)
    return gathered


def _both_ragged(params: Any, indices: Any) -> tuple[Any, Any]:
    dtype = core.splits_dtype(params, indices)
    if not isinstance(params, Ragged):
        params = joining.cut_to(params, 1, dtype)
    if not isinstance(indices, Ragged):
        indices = joining.cut_to(indices, 1, dtype)
    return params, indices


def _inner(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """The outermost batch dimension taken off."""
    params, indices = _both_ragged(params, indices)
    checks.same_splits(params.row_splits, indices.row_splits)
    return indices.with_values(_gathered(params.values, indices.values, axis - 1, batch_dims - 1))


def _by_row(params: Any, indices: Any) -> Any:
    """result[i, j...] = params[i, indices[i, j...]]."""
    dtype = core.splits_dtype(params, indices)
    ragged = params if isinstance(params, Ragged) else joining.cut_to(params, 1, dtype)
    rows = ragged.partition
    if isinstance(indices, Ragged):
        flat = core.as_index(indices.flat_values, dtype)
        rowids = indices.partition.value_rowids()
        values = indices.values
        while isinstance(values, Ragged):
            rowids = raw.GatherV2(rowids, values.partition.value_rowids(), 0)
            values = values.values
        shifted = _shifted(flat, rows, rowids, core.rank_of(flat) or 1)
        taken = _flat_or_dense(ragged.values, shifted)
        return indices.with_flat_values(taken)
    flat = core.as_index(indices, dtype)
    shape: Any = raw.Shape(flat)
    count: Any = raw.Shape(flat, out_type=dtype)
    zero, one = convert.to_tensor(0, dtype), convert.to_tensor(1, dtype)
    rowids = raw.Range(zero, count[0], one)
    shifted = _shifted(flat, rows, rowids, core.rank_of(flat) or 1)
    taken = _flat_or_dense(ragged.values, raw.Reshape(shifted, [-1]))
    if isinstance(taken, Ragged):
        for length in reversed(list(flat.dims[1:])):
            taken = core.from_uniform(taken, shape[-1] if length is None else length)
        return taken
    tail = raw.StridedSlice(raw.Shape(taken), [1], [0], [1], end_mask=1)
    return raw.Reshape(taken, raw.ConcatV2([shape, tail], 0))


def _flat_or_dense(values: Any, indices: Any) -> Any:
    if isinstance(values, Ragged):
        return _flat(values, indices)
    return raw.GatherV2(values, indices, 0)


def _shifted(flat: Any, rows: Any, rowids: Any, rank: int) -> Any:
    """Indices into rows as indices into the values. Raises where one is outside its row."""
    column = np.asarray([-1] + [1] * (rank - 1), np.int32)
    starts = raw.Reshape(raw.GatherV2(rows.row_starts(), rowids, 0), column)
    lengths = raw.Reshape(raw.GatherV2(rows.row_lengths(), rowids, 0), column)
    zero = convert.to_tensor(0, flat.dtype)
    inside = raw.LogicalAnd(raw.GreaterEqual(flat, zero), raw.Less(flat, lengths))
    axes = np.arange(rank, dtype=np.int32)
    checks.holds(raw.All(inside, axes), ["indices must be inside their rows:", flat])
    return raw.AddV2(flat, starts)


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    """The slices of `params` whose coordinates are the innermost rows of `indices`."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name or "RaggedGatherNd"):
        params, indices = core.matched([core.as_operand(params), core.as_operand(indices)])
        return _gathered_nd(params, indices)


def _gathered_nd(params: Any, indices: Any) -> Any:
    if isinstance(indices, Ragged):
        width = indices.flat_values.dims
        if width is None or len(width) < 2:
            raise ValueError("The innermost dimension of indices may not be ragged")
        return indices.with_values(_gathered_nd(params, indices.values))
    if not isinstance(params, Ragged):
        return raw.GatherNd(params, indices)
    count = indices.dims[-1] if indices.dims else None
    if count is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if count == 0:
        return _whole_for_each(params, indices)
    parts = raw.Unpack(indices, num=count, axis=-1)
    dtype = params.row_splits.dtype
    row_indices: Any = core.as_index(parts[0], dtype)
    used = 1
    while used < count and isinstance(params, Ragged):
        rows = params.partition
        flat = raw.Reshape(row_indices, [-1])
        wanted = raw.Reshape(core.as_index(parts[used], dtype), [-1])
        moved = _shifted(wanted, rows, flat, 1)
        row_indices = raw.Reshape(moved, raw.Shape(row_indices))
        params = params.values
        used += 1
    if isinstance(params, Ragged):
        return _gathered(params, row_indices, 0, 0)
    rest = [core.as_index(p, dtype) for p in parts[used:]]
    return raw.GatherNd(params, raw.Pack([row_indices, *rest], axis=-1))


def _whole_for_each(params: Any, indices: Any) -> Any:
    """All of `params` for each empty vector of coordinates."""
    shape: Any = raw.Shape(indices, out_type=params.row_splits.dtype)
    lead = indices.dims[:-1]
    if not lead:
        return params
    sizes = [shape[at] if n is None else n for at, n in enumerate(lead)]
    axis = np.asarray([0], np.int32)
    result = _repeated(params, raw.Prod(shape[:-1], axis))
    for at in range(len(sizes) - 1, 0, -1):
        result = core.from_uniform(result, sizes[at], raw.Prod(shape[:at], axis))
    return result


def embedding_lookup(
    function: Any, params: Any, ids: Any, max_norm: Any = None, name: str | None = None
) -> Any:
    """The rows of tables that the ids name, in the rows of the ids."""
    return ids.with_flat_values(function(params, ids.flat_values, max_norm, name))
