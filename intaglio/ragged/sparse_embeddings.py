"""Look-ups of several ids a row, put together.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup_sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, float16, float32, int32, int64
from intaglio.composite_ops.nn.embeddings import embedding_lookup
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.ragged.core import Ragged
from intaglio.sparse.api import SparseTensor, is_sparse
from intaglio.trace.scopes import name_scope

_SUM, _MEAN, _SQRT_N = "sum", "mean", "sqrtn"


def _checked(combiner: Any) -> str:
    found = _MEAN if combiner is None else combiner
    if found not in (_MEAN, _SQRT_N, _SUM):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {found}")
    return found


@dispatchable
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: Any = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """The vectors that the ids of each row name, put together: shape `[rows, ...]`.

    `sp_ids` and `sp_weights` (or None) are sparse or ragged matrices with the same indices, `params` as
    in `tf.nn.embedding_lookup`. `combiner` is "sum", "mean" (the default; the weighted mean)
    or "sqrtn" (the sum divided by the root of the sum of squared weights). Raises TypeError
    for ids that are neither, ValueError for another combiner.

    `allow_fast_lookup` has no effect on results.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [0, 2], [1, 2])
    >>> print(tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [2.0], [5.0]]), ids, None).numpy())
    [[3.]]

    https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup_sparse
    """
    combiner = _checked(combiner)
    if not is_sparse(sp_ids):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None and not is_sparse(sp_weights):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    with name_scope(name or "embedding_lookup_sparse"):
        rows: Any = raw.Cast(_first_column(convert.to_tensor(sp_ids.indices)), DstT=int32)
        ids, indices = raw.Unique(sp_ids.values)
        vectors = embedding_lookup(params, ids, max_norm)
        wide = float32 if vectors.dtype in (float16, bfloat16) else vectors.dtype
        if sp_weights is None:
            kinds = {
                _SUM: raw.SparseSegmentSum,
                _MEAN: raw.SparseSegmentMean,
                _SQRT_N: raw.SparseSegmentSqrtN,
            }
            return kinds[combiner](vectors, indices, rows)
        taken = raw.Cast(raw.GatherV2(vectors, indices, 0), DstT=wide)
        weights = raw.Cast(convert.to_tensor(sp_weights.values), DstT=wide)
        found = _weighted(taken, weights, rows, combiner)
        return raw.Cast(found, DstT=vectors.dtype)


def _weighted(vectors: Any, weights: Any, rows: Any, combiner: str) -> Any:
    rank = len(vectors.dims) if vectors.dims is not None else 2
    column = np.array([-1] + [1] * (rank - 1), np.int32)
    total = raw.SegmentSum(raw.Mul(vectors, raw.Reshape(weights, column)), rows)
    if combiner == _SUM:
        return total
    powers = weights if combiner == _MEAN else raw.Square(weights)
    scale = raw.SegmentSum(powers, rows)
    if combiner == _SQRT_N:
        scale = raw.Sqrt(scale)
    return raw.DivNoNan(total, raw.Reshape(scale, column))


def _first_column(indices: Any) -> Any:
    return indices[:, 0]


@dispatchable
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: Any = "mean",
    default_id: Any = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`embedding_lookup_sparse` for rows that may have no ids, or ids below 0.

    Ids below 0 are left out, and unless `combiner` is "sum" those with weights of 0 or less.
    Rows without any get the vector of `default_id`, or zeros. `sparse_ids` may have more
    than two dimensions: the last one is put together. Raises ValueError without weights.

    `sparse_weights` has a weight for each id, 1 by default. Embeddings are scaled to an l2 norm of
    `max_norm` at most. `allow_fast_lookup` has no effect on results.

    >>> ids = tf.SparseTensor([[0, 0], [1, 0]], tf.constant([1, -1], tf.int64), [2, 1])
    >>> print(tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [2.0]]), ids).numpy())
    [[2.]
     [0.]]

    https://www.tensorflow.org/api_docs/python/tf/nn/safe_embedding_lookup_sparse
    """
    if embedding_weights is None or (
        isinstance(embedding_weights, (list, tuple)) and not embedding_weights
    ):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if isinstance(sparse_ids, Ragged):
        raise NotImplementedError(
            "safe_embedding_lookup_sparse of ragged ids: use `ids.to_sparse()`"
        )
    if not isinstance(sparse_ids, SparseTensor):
        raise TypeError(f"sparse_ids must be a SparseTensor, got {type(sparse_ids)}")
    with name_scope(name or "safe_embedding_lookup_sparse"):
        shape = sparse_ids.dense_shape
        rank = sparse_ids.shape.rank
        last = (len(sparse_ids.shape) if rank is not None else 2) - 1
        outer = raw.Slice(shape, np.array([0], np.int64), np.array([last], np.int64))
        flat = raw.Pack([raw.Prod(outer, 0), raw.GatherV2(shape, np.array(last, np.int64), 0)])
        indices, flat_shape = raw.SparseReshape(sparse_ids.indices, shape, flat)
        ids = SparseTensor(indices, sparse_ids.values, flat_shape)
        weights = (
            None
            if sparse_weights is None
            else SparseTensor(indices, sparse_weights.values, flat_shape)
        )
        ids, weights = _pruned(ids, weights, _checked(combiner))
        filled, empty = _filled(ids, 0 if default_id is None else default_id)
        if weights is not None:
            weights, _ = _filled(weights, 1.0)
        found: Any = embedding_lookup_sparse(embedding_weights, filled, weights, combiner, max_norm)
        if default_id is None:
            wide = np.array([-1] + [1] * (len(found.dims or (0, 0)) - 1), np.int32)
            found = raw.SelectV2(raw.Reshape(empty, wide), raw.ZerosLike(found), found)
        inner = raw.Shape(found, out_type=int64)[1:]
        return raw.Reshape(found, raw.ConcatV2([outer, inner], 0))


def _kept(x: SparseTensor, mask: Any) -> SparseTensor:
    at = raw.Reshape(raw.Where(mask), np.array([-1], np.int32))
    indices, values = raw.GatherV2(x.indices, at, 0), raw.GatherV2(x.values, at, 0)
    return SparseTensor(indices, values, x.dense_shape)


def _pruned(ids: Any, weights: Any, combiner: str) -> tuple[Any, Any]:
    """Without ids below 0, and without weights that count for nothing."""
    valid = raw.GreaterEqual(ids.values, np.zeros((), ids.dtype.numpy))
    ids, weights = _kept(ids, valid), None if weights is None else _kept(weights, valid)
    if weights is not None and combiner != _SUM:
        counts = raw.Greater(weights.values, np.zeros((), weights.dtype.numpy))
        ids, weights = _kept(ids, counts), _kept(weights, counts)
    return ids, weights


def _filled(x: SparseTensor, default: Any) -> tuple[SparseTensor, Any]:
    value = convert.to_tensor(default, x.dtype)
    found = raw.SparseFillEmptyRows(x.indices, x.values, x.dense_shape, value)
    result = SparseTensor(found.output_indices, found.output_values, x.dense_shape)
    return result, found.empty_row_indicator


__all__ = ["embedding_lookup_sparse", "safe_embedding_lookup_sparse"]
