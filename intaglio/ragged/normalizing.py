"""Functions of neural networks on ragged tensors: softmax, dropout, embeddings."""

from __future__ import annotations

from typing import Any

from intaglio.opdef import convert, raw
from intaglio.ragged import checks, core, elementwise, reductions
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along an axis, of every row by itself along the last one."""
    with name_scope(name or "RaggedSoftmax"):
        axis = -1 if axis is None else axis
        largest = reductions.reduce_max(logits, axis, True)
        shifted = elementwise.binary(raw.Sub, logits, largest)
        powers = elementwise.unary(raw.Exp, shifted)
        total = reductions.reduce_sum(powers, axis, True)
        return elementwise.binary(raw.RealDiv, powers, total)


def dropout(
    function: Any,
    x: Any,
    rate: Any,
    noise_shape: Any = None,
    seed: Any = None,
    name: str | None = None,
) -> Any:
    """Elements set to 0 at random, the others scaled up."""
    if noise_shape is not None:
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    return x.with_flat_values(function(x.flat_values, rate, None, seed, name))


def stateless_dropout(
    function: Any,
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: Any = "auto_select",
    noise_shape: Any = None,
    name: str | None = None,
) -> Any:
    """Elements set to 0 at random by a seed, the others scaled up."""
    if noise_shape is not None:
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    return x.with_flat_values(function(x.flat_values, rate, seed, rng_alg, None, name))


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: Any = None,
    max_norm: Any = None,
    name: str | None = None,
) -> Any:
    """The vectors that the ids of each row name, put together: their sum or mean.

    `combiner` is "sum", "mean" (the default) or "sqrtn".
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    if max_norm is not None:
        raise NotImplementedError("max_norm of ragged embedding_lookup_sparse")
    if isinstance(sp_weights, Ragged):
        checks.same_splits(sp_ids.row_splits, sp_weights.row_splits)
    table = convert.to_tensor(
        params[0] if isinstance(params, (list, tuple)) and len(params) == 1 else params
    )
    rows = sp_ids.partition
    ids, count = rows.value_rowids(), rows.nrows()
    vectors = raw.GatherV2(table, sp_ids.flat_values, 0)
    shape = [-1] + [1] * ((core.rank_of(vectors) or 1) - 1)
    ones = raw.OnesLike(ids)
    weights = raw.Cast(ones, DstT=vectors.dtype)
    if sp_weights is not None:
        weights = core.as_operand(sp_weights)
        weights = weights.flat_values if isinstance(weights, Ragged) else weights
        weights = raw.Cast(weights, DstT=vectors.dtype)
        vectors = raw.Mul(vectors, raw.Reshape(weights, shape))
    total = raw.UnsortedSegmentSum(vectors, ids, count)
    if combiner == "sum":
        return total
    powers = weights if combiner == "mean" else raw.Square(weights)
    scale = raw.UnsortedSegmentSum(powers, ids, count)
    if combiner == "sqrtn":
        scale = raw.Sqrt(scale)
    return raw.DivNoNan(total, raw.Reshape(scale, shape))
