"""Reductions along axes, positions of extremes, sums from one end, and the largest elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.export.onnx.builder import BOOL, INT64
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.values import Operand, Unexportable, dims_of, is_known, known
from intaglio.opdef import raw


def _axes(builder: Any, axis: Operand) -> Operand:
    return np.asarray(axis).reshape(-1).astype(np.int64) if is_known(axis) else builder.vector(axis)


def _reduced(builder: Any, operator: str, x: Operand, axis: Operand, keep: bool) -> Operand:
    if np.dtype(x.dtype).kind == "c":
        raise Unexportable("ONNX' operators take no complex numbers")
    axes = _axes(builder, axis)
    if is_known(axes) and not np.asarray(axes).size:  # all axes, for ONNX, if it were left out
        return builder.add("Identity", x)
    return builder.add(operator, x, axes, keepdims=int(keep))


def _reduction(op: Any, operator: str) -> None:
    @onnx_rule(op)
    def rule(builder, input, axis, keep_dims) -> Any:
        return _reduced(builder, operator, input, axis, keep_dims)


@onnx_rule(raw.Mean)
def _mean(builder, input, axis, keep_dims) -> Any:
    dims = dims_of(input)
    if dims is None or 0 not in dims or np.dtype(input.dtype).kind != "f":
        return _reduced(builder, "ReduceMean", input, axis, keep_dims)
    # Of no elements it is NaN; onnxruntime's own is 0.
    axes = known(axis, "the axes of a mean of no elements").reshape(-1)
    total = _reduced(builder, "ReduceSum", input, axis, keep_dims)
    count = np.prod([dims[a] for a in axes], initial=1)
    return builder.add("Div", total, builder.scalar(count, total))


for _op, _operator in (
    (raw.Sum, "ReduceSum"),
    (raw.Prod, "ReduceProd"),
    (raw.Max, "ReduceMax"),
    (raw.Min, "ReduceMin"),
    (raw.EuclideanNorm, "ReduceL2"),
):
    _reduction(_op, _operator)


@onnx_rule(raw.Bucketize)
def _bucketize(builder, input, boundaries) -> Any:
    """How many boundaries are not above each element, as of NaN all are."""
    edges = np.asarray(boundaries, np.float32)
    if not edges.size:
        raise Unexportable("there are no boundaries")
    if np.dtype(input.dtype) != np.float32:
        input, edges = builder.cast(input, np.float64), edges.astype(np.float64)
    wide = builder.add("Unsqueeze", input, np.array([-1], np.int64))
    above = builder.add("Less", wide, edges, dtype=BOOL)
    number = builder.cast(builder.add("Not", above), np.int32)
    return builder.add("ReduceSum", number, np.array([-1], np.int64), keepdims=0)


def _any(builder: Any, input: Operand, axis: Operand, keep: bool) -> Operand:
    """By sums, which are 0 where there are no elements."""
    number = builder.cast(input, np.int32)
    return builder.cast(_reduced(builder, "ReduceSum", number, axis, keep), BOOL)


@onnx_rule(raw.Any)
def _some_hold(builder, input, axis, keep_dims) -> Any:
    return _any(builder, input, axis, keep_dims)


@onnx_rule(raw.All)
def _all_hold(builder, input, axis, keep_dims) -> Any:
    return builder.add("Not", _any(builder, builder.add("Not", input), axis, keep_dims))


def _position(op: Any, operator: str) -> None:
    @onnx_rule(op)
    def rule(builder, input, dimension, output_type: DType) -> Any:
        axis = int(known(dimension, "the axis"))
        found = builder.add(operator, input, dtype=INT64, axis=axis, keepdims=0)
        return builder.cast(found, output_type.numpy)


_position(raw.ArgMax, "ArgMax")
_position(raw.ArgMin, "ArgMin")


@onnx_rule(raw.Cumsum)
def _cumulative_sum(builder, x, axis, exclusive, reverse) -> Any:
    return builder.add("CumSum", x, axis, exclusive=int(exclusive), reverse=int(reverse))


def _largest(builder: Any, x: Operand, k: Operand, ordered: bool, index_type: Any) -> list[Operand]:
    attributes = {"axis": -1, "largest": 1, "sorted": int(ordered)}
    values, indices = builder.several("TopK", [x, builder.vector(k)], [None, INT64], **attributes)
    return [values, builder.cast(indices, index_type)]


@onnx_rule(raw.TopKV2)
def _top_k(builder, input, k, sorted, index_type: DType) -> Any:
    return _largest(builder, input, k, sorted, index_type.numpy)


@onnx_rule(raw.TopK)
def _top_k_of_attribute(builder, input, k, sorted) -> Any:
    return _largest(builder, input, np.array(k, np.int64), sorted, np.int32)


@onnx_rule(raw.L2Loss)
def _half_of_squares(builder, t) -> Any:
    total = builder.add("ReduceSumSquare", t, keepdims=0)
    return builder.add("Mul", total, builder.scalar(0.5, t))
