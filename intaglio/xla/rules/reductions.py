"""Reductions, scans, segments and sorting."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.base.dtypes import DType
from intaglio.opdef import late, raw
from intaglio.xla.primitives import broadcast
from intaglio.xla.registry import xla
from intaglio.xla.rules.linear_algebra import sum_of_products
from intaglio.xla.values import Untraceable, is_traced, known


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    found = known(axis, "the axes of a reduction").reshape(-1)
    return tuple([int(a) % rank for a in found])


def _reduced(op: Any, x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    """The reduction of elements by a primitive of XLA, which computes in float32 for 16-bit floats.

    Raises Untraceable for a reduction of no elements.
    """
    if not x.size:
        raise Untraceable("a reduction of no elements")
    dtype = x.dtype
    wide = op is not lax.reduce_max and op is not lax.reduce_min
    wide = wide and dtype.itemsize == 2 and _floats(dtype)
    result = op(x.astype(np.float32) if wide else jnp.asarray(x), axes)
    if keep_dims:
        result = lax.expand_dims(result, axes)
    return result.astype(dtype)


def _reduction(op: Any, primitive: Callable[..., Any]) -> None:
    @xla(op)
    def rule(input, axis, keep_dims) -> Any:
        return _reduced(primitive, input, _axes(axis, input.ndim), keep_dims)


@xla(raw.Sum)
def _sum(input, axis, keep_dims, node, evaluator) -> Any:
    axes = _axes(axis, input.ndim)
    source = node.inputs[0]
    if is_traced(input) and input.size and source.node.op in (raw.BatchMatMul, raw.BatchMatMulV2):
        x, y = evaluator.operands(source)
        attrs = source.node.attrs
        found = sum_of_products(x, y, attrs["adj_x"], attrs["adj_y"], axes)
        if found is not None:
            return found if keep_dims else jnp.squeeze(found, axes)
    return _reduced(lax.reduce_sum, input, axes, keep_dims)


def _floats(dtype: Any) -> bool:
    return dtype.kind not in "iub"


for _op, _primitive in (
    (raw.Prod, lax.reduce_prod),
    (raw.Max, lax.reduce_max),
    (raw.Min, lax.reduce_min),
):
    _reduction(_op, _primitive)


def _mean_of(x: Any, axes: tuple[int, ...]) -> Any:
    total = lax.reduce_sum(x, axes)
    count = np.asarray(math.prod([x.shape[a] for a in axes]), x.dtype)
    return lax.div(total, broadcast(count, total.shape))


@xla(raw.Mean)
def _mean(input, axis, keep_dims) -> Any:
    if input.dtype.kind in "iu":
        raise Untraceable("a mean of integers")
    return _reduced(_mean_of, input, _axes(axis, input.ndim), keep_dims)


@xla(raw.ArgMax)
def _argmax(input, dimension, output_type: DType) -> Any:
    axis = int(known(dimension, "the axis of ArgMax"))
    return jnp.argmax(_without_nan(input, largest=False), axis=axis).astype(output_type.numpy)


@xla(raw.ArgMin)
def _argmin(input, dimension, output_type: DType) -> Any:
    axis = int(known(dimension, "the axis of ArgMin"))
    return jnp.argmin(_without_nan(input, largest=True), axis=axis).astype(output_type.numpy)


def _without_nan(x: Any, largest: bool) -> Any:
    """TensorFlow passes NaN over, which XLA finds first."""
    if not jnp.issubdtype(x.dtype, np.floating):
        return x
    return jnp.where(jnp.isnan(x), jnp.asarray(np.inf if largest else -np.inf, x.dtype), x)


def _top(input: Any, k: int, index_type: Any) -> Any:
    if input.dtype.kind == "u" or input.ndim == 0:
        raise Untraceable("the largest of unsigned integers")
    values, indices = lax.top_k(input, k)
    return values, indices.astype(index_type)


@xla(raw.TopKV2)
def _top_k(input, k, index_type: DType) -> Any:
    return _top(input, int(known(k, "the number of the largest")), index_type.numpy)


@xla(late.TopK)
def _top_k_attribute(input, k) -> Any:
    return _top(input, k, np.int32)


# -- segments --------------------------------------------------------------------------------

_SEGMENTS = {
    "sum": jax.ops.segment_sum,
    "product": jax.ops.segment_prod,
    "maximum": jax.ops.segment_max,
    "minimum": jax.ops.segment_min,
}


def _lowest(dtype: Any, largest: bool) -> Any:
    """What a segment without elements has: the end of the dtype."""
    info = jnp.finfo(dtype) if jnp.issubdtype(dtype, np.floating) else jnp.iinfo(dtype)
    return info.max if largest else info.min


def _unsorted(op: Any, how: str) -> None:
    @xla(op)
    def rule(data, segment_ids, num_segments) -> Any:
        count = int(known(num_segments, "the number of segments"))
        ids = jnp.asarray(segment_ids)
        rows = jnp.reshape(data, (-1, *data.shape[ids.ndim :]))
        flat = ids.reshape(-1)
        flat = jnp.where(flat < 0, count, flat)
        result = _SEGMENTS[how](rows, flat, count)
        if how in ("maximum", "minimum"):
            used = jax.ops.segment_sum(jnp.ones_like(flat), flat, count) > 0
            used = used.reshape(-1, *(1,) * (result.ndim - 1))
            result = jnp.where(used, result, _lowest(data.dtype, how == "minimum"))
        return result.astype(data.dtype)


for _op, _how in (
    (late.UnsortedSegmentSum, "sum"),
    (late.UnsortedSegmentProd, "product"),
    (late.UnsortedSegmentMax, "maximum"),
    (late.UnsortedSegmentMin, "minimum"),
):
    _unsorted(_op, _how)


def _segments(op: Any, how: str) -> None:
    @xla(op)
    def rule(data, segment_ids) -> Any:
        ids = known(segment_ids, "the segments, which say how many rows the result has,")
        count = int(ids[-1]) + 1 if ids.size else 0
        return _segment(jnp.asarray(data), ids, count, how)


def _segment(rows: Any, ids: Any, count: int, how: str) -> Any:
    """Rows of one number combined; zeros for a number without rows."""
    if how in ("mean", "root mean"):
        wide = rows.astype(np.float32) if rows.dtype.itemsize == 2 else rows
        sizes = jax.ops.segment_sum(jnp.ones(len(ids), wide.dtype), ids, count)
        sizes = jnp.maximum(sizes, 1).reshape(-1, *(1,) * (rows.ndim - 1))
        sums = jax.ops.segment_sum(wide, ids, count)
        return (sums / (sizes if how == "mean" else jnp.sqrt(sizes))).astype(rows.dtype)
    wide = rows.astype(np.float32) if how == "sum" and rows.dtype.itemsize == 2 else rows
    result = _SEGMENTS[how](wide, ids, count).astype(rows.dtype)
    if how == "sum":
        return result
    used = jax.ops.segment_sum(jnp.ones(len(ids), np.int32), ids, count) > 0
    used = used.reshape(-1, *(1,) * (rows.ndim - 1))
    return jnp.where(used, result, jnp.asarray(how == "product", rows.dtype))


for _op, _how in (
    (late.SegmentSum, "sum"),
    (late.SegmentProd, "product"),
    (late.SegmentMax, "maximum"),
    (late.SegmentMin, "minimum"),
    (late.SegmentMean, "mean"),
):
    _segments(_op, _how)


def _sparse_segments(op: Any, how: str) -> None:
    @xla(op)
    def rule(data, indices, segment_ids) -> Any:
        ids = known(segment_ids, "the segments, which say how many rows the result has,")
        rows = jnp.take(jnp.asarray(data), indices, 0, mode="clip")
        return _segment(rows, ids, int(ids[-1]) + 1 if ids.size else 0, how)


def _counted_segments(op: Any, how: str) -> None:
    @xla(op)
    def rule(data, indices, segment_ids, num_segments) -> Any:
        count = int(known(num_segments, "the number of segments"))
        rows = jnp.take(jnp.asarray(data), indices, 0, mode="clip")
        return _segment(rows, segment_ids, count, how)


for _op, _counted, _how in (
    (late.SparseSegmentSum, late.SparseSegmentSumWithNumSegments, "sum"),
    (late.SparseSegmentMean, late.SparseSegmentMeanWithNumSegments, "mean"),
    (late.SparseSegmentSqrtN, late.SparseSegmentSqrtNWithNumSegments, "root mean"),
):
    _sparse_segments(_op, _how)
    _counted_segments(_counted, _how)


@xla(late.Bincount)
def _bincount(arr, size, weights) -> Any:
    count = int(known(size, "the number of bins"))
    flat = jnp.reshape(arr, -1)
    each = jnp.reshape(weights, -1) if weights.size else jnp.ones(flat.shape, weights.dtype)
    return jnp.zeros(count, each.dtype).at[_valid(flat, count)].add(each, mode="drop")


def _valid(index: Any, count: int) -> Any:
    return jnp.where((index < 0) | (index >= count), count, index)


@xla(late.InvertPermutation)
def _inverted(x) -> Any:
    if not is_traced(x):
        raise Untraceable("known")
    return jnp.zeros_like(x).at[x].set(jnp.arange(len(x), dtype=x.dtype))


@xla(late.DenseBincount)
def _dense_bincount(input, size, weights, binary_output) -> Any:
    count = int(known(size, "the number of bins"))
    rows = jnp.reshape(input, (-1, input.shape[-1])) if input.ndim else jnp.reshape(input, (1, 1))
    each = jnp.reshape(weights, rows.shape) if weights.size else jnp.ones(rows.shape, weights.dtype)
    bins = jnp.zeros((len(rows), count), each.dtype)
    indices_of_bins = (np.arange(len(rows))[:, None], _valid(rows, count))
    if binary_output:
        bins = bins.at[indices_of_bins].set(1, mode="drop")
    else:
        bins = bins.at[indices_of_bins].add(each, mode="drop")
    return bins if input.ndim == 2 else bins[0]
