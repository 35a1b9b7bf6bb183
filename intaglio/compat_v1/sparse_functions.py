"""Functions of sparse tensors in the form of TensorFlow 1.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/sparse.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import int64, string
from intaglio.compat_v1.partitioned_variables import PartitionedVariable
from intaglio.opdef import convert, raw
from intaglio.ragged import sparse_embeddings
from intaglio.sparse import arranging, serialization
from intaglio.sparse.api import SparseTensor, as_sparse, is_sparse
from intaglio.sparse.placeholders import sparse_placeholder
from intaglio.trace import scopes

placeholder = sparse_placeholder


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = string) -> Any:
    """A sparse tensor as a vector of three serialized tensors."""
    return serialization.serialize_sparse(sp_input, out_type, name)


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = string) -> Any:
    """The rows of a sparse tensor, each as three serialized tensors."""
    return serialization.serialize_many_sparse(sp_input, out_type, name)


def merge(
    sp_ids: Any,
    sp_values: Any,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Values at the ids that stand in their places: shape `[..., vocab_size]`.

    `sp_ids` and `vocab_size` may be lists, for several last dimensions. Raises TypeError for ids that are
    no sparse tensors, and ValueError for lists of different lengths.
    """
    several = isinstance(vocab_size, (list, tuple))
    if isinstance(sp_ids, (list, tuple)) != several:
        raise TypeError("`sp_ids` and `vocab_size` have to be lists both, or neither")
    all_ids = list(sp_ids) if several else [sp_ids]
    sizes = list(vocab_size) if several else [vocab_size]
    if len(all_ids) != len(sizes):
        raise ValueError(f"`sp_ids` and `vocab_size` have to have equal length: {sizes}")
    with scopes.name_scope(name or "SparseMerge"):
        values = as_sparse(sp_values)
        ids = [raw.Cast(as_sparse(one).values, DstT=int64) for one in all_ids]
        columns = [raw.ExpandDims(one, 1) for one in ids]
        first = as_sparse(all_ids[0])
        indices = raw.ConcatV2([first.indices[:, :-1], *columns], 1)
        ends = [raw.Cast(convert.to_tensor(size), DstT=int64) for size in sizes]
        shape = raw.ConcatV2([first.dense_shape[:-1], raw.Pack(ends)], 0)
        found = SparseTensor(indices, values.values, shape)
        return found if already_sorted else arranging.reorder(found)


def _axes(axis: Any, reduction_axes: Any, rank: Any) -> Any:
    found = axis if axis is not None else reduction_axes
    return (
        raw.Range(0, raw.Cast(rank, DstT=convert.to_tensor(0).dtype), 1) if found is None else found
    )


def _reduced(op: Any, sp_input: Any, axis: Any, keep: bool) -> SparseTensor:
    x = as_sparse(sp_input)
    return SparseTensor(*op(x.indices, x.values, x.dense_shape, axis, keep_dims=keep))


def reduce_sum_sparse(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The sums along axes, as a sparse tensor."""
    axes = _axes(axis, reduction_axes, raw.Size(as_sparse(sp_input).dense_shape))
    return _reduced(raw.SparseReduceSumSparse, sp_input, axes, bool(keepdims or keep_dims))


def reduce_max_sparse(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The largest values along axes, as a sparse tensor."""
    axes = _axes(axis, reduction_axes, raw.Size(as_sparse(sp_input).dense_shape))
    return _reduced(raw.SparseReduceMaxSparse, sp_input, axes, bool(keepdims or keep_dims))


def merge_partitions(params: Any, ids: Any, partition_strategy: str) -> tuple[Any, Any]:
    """One table of several that share the ids, and the rows of the ids in it.

    By "mod" id i is in table i % n, by "div" tables follow each other. Raises ValueError for another
    strategy.
    """
    tables = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    if partition_strategy not in ("mod", "div"):
        raise ValueError(
            f"Unrecognized partition strategy: {partition_strategy}. Must be one of either `mod` or `div`."
        )
    if len(tables) == 1:
        return tables[0], ids
    whole = raw.ConcatV2([convert.to_tensor(p) for p in tables], 0)
    if partition_strategy == "div":
        return whole, ids
    wanted = convert.to_tensor(ids)
    sizes = [raw.Cast(raw.Shape(convert.to_tensor(p))[0], DstT=wanted.dtype) for p in tables]
    starts = raw.Cumsum(raw.Pack(sizes), 0, exclusive=True)
    count = raw.Cast(len(tables), DstT=wanted.dtype)
    return whole, raw.GatherV2(starts, raw.FloorMod(wanted, count), 0) + raw.FloorDiv(wanted, count)


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """`tf.nn.embedding_lookup_sparse`, of tables that share the ids by "mod" or "div"."""
    if isinstance(sp_ids, SparseTensor):
        params, ids = merge_partitions(params, sp_ids.values, partition_strategy)
        sp_ids = SparseTensor(sp_ids.indices, ids, sp_ids.dense_shape)
    return sparse_embeddings.embedding_lookup_sparse(
        params, sp_ids, sp_weights, combiner, max_norm, name, allow_fast_lookup
    )


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """`tf.nn.safe_embedding_lookup_sparse`, of tables that share the ids by "mod" or "div"."""
    if embedding_weights is not None and isinstance(sparse_ids, SparseTensor):
        tables = embedding_weights
        if not isinstance(tables, (list, tuple)) or tables:
            embedding_weights, ids = merge_partitions(tables, sparse_ids.values, partition_strategy)
            below = raw.Less(sparse_ids.values, raw.ZerosLike(sparse_ids.values))
            ids = raw.SelectV2(below, sparse_ids.values, ids)  # these are left out
            sparse_ids = SparseTensor(sparse_ids.indices, ids, sparse_ids.dense_shape)
    return sparse_embeddings.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id, max_norm, name
    )


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """A tensor, or a sparse tensor of what is one. Raises RuntimeError for another dtype of a sparse one."""
    if is_sparse(value):
        found = as_sparse(value)
        if dtype is not None and found.dtype != dtype:
            raise RuntimeError(
                f"Sparse dtype mismatch. Requested: {dtype},  Actual: {found.dtype.name}"
            )
        return found
    return convert.to_tensor(value, dtype, name=name)
