"""Reductions along axes, positions of extremes, cumulative sums, and the largest elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    cast,
    dims,
    element,
    is_float,
    like,
    rank,
    static,
    tensor,
)
from intaglio.opdef import raw


def _axes(c: Any, x: Any, axes: Any) -> Any:
    """The axes that are reduced; None where there are none and the operator does nothing."""
    if axes is not None and static(axes) is None:
        places: Any = [] if dims(axes) == (0,) else axes
    else:
        places = c.ints("axes", axes)
    if isinstance(places, list) and not places:
        places = None
    if places is None:
        return None if c.attr("noop_with_empty_axes", 0) else np.arange(rank(x), dtype=np.int32)
    return np.array(places, np.int64) if isinstance(places, list) else places


def _reduction(name: str, run: Callable[[Any, Any, bool], Any], first: Any = None) -> None:
    @operator(name)
    def rule(c, x, axes=None) -> Any:
        places = _axes(c, x, axes)
        x = tensor(x)
        x = x if first is None else first(x)
        if places is None:
            return run(x, np.zeros(0, np.int32), True)
        return run(x, places, bool(c.attr("keepdims", 1)))


def _extreme(op: Any, by_number: Any) -> Any:
    def run(x: Any, axes: Any, keep: bool) -> Any:
        if element(x) is dtypes.bool_:
            return by_number(x, axes, keep_dims=keep)
        return op(x, axes, keep_dims=keep)

    return run


def _log_sum_exp(x: Any, axes: Any, keep: bool) -> Any:
    most = raw.StopGradient(raw.Max(x, axes, keep_dims=True))
    most = raw.SelectV2(raw.IsFinite(most), most, raw.ZerosLike(most))
    total = raw.Log(raw.Sum(raw.Exp(raw.Sub(x, most)), axes, keep_dims=True))
    found = raw.AddV2(total, most)
    return found if keep else raw.Sum(found, axes, keep_dims=False)


_reduction("ReduceSum", lambda x, a, k: raw.Sum(x, a, keep_dims=k))
_reduction("ReduceMean", lambda x, a, k: raw.Mean(x, a, keep_dims=k))
_reduction("ReduceProd", lambda x, a, k: raw.Prod(x, a, keep_dims=k))
_reduction("ReduceMax", _extreme(raw.Max, raw.Any))
_reduction("ReduceMin", _extreme(raw.Min, raw.All))
_reduction("ReduceL1", lambda x, a, k: raw.Sum(x, a, keep_dims=k), raw.Abs)
_reduction("ReduceSumSquare", lambda x, a, k: raw.Sum(x, a, keep_dims=k), raw.Square)
_reduction("ReduceL2", lambda x, a, k: raw.Sqrt(raw.Sum(x, a, keep_dims=k)), raw.Square)
_reduction("ReduceLogSum", lambda x, a, k: raw.Log(raw.Sum(x, a, keep_dims=k)))
_reduction("ReduceLogSumExp", _log_sum_exp)


def _position(name: str, op: Any) -> None:
    @operator(name)
    def rule(c, x) -> Any:
        axis, keep = c.attr("axis", 0) % rank(x), c.attr("keepdims", 1)
        x = tensor(x)
        if c.attr("select_last_index", 0):
            count = cast(raw.Shape(x)[axis], dtypes.int64)
            found = op(raw.ReverseV2(x, np.array([axis])), axis, output_type=dtypes.int64)
            found = raw.Sub(raw.Sub(count, np.int64(1)), found)
        else:
            found = op(x, axis, output_type=dtypes.int64)
        return raw.ExpandDims(found, axis) if keep else found


_position("ArgMax", raw.ArgMax)
_position("ArgMin", raw.ArgMin)


def _cumulative(name: str, op: Any) -> None:
    @operator(name)
    def rule(c, x, axis) -> Any:
        along = raw.Reshape(axis, np.zeros(0, np.int32))
        directions = {
            "exclusive": bool(c.attr("exclusive", 0)),
            "reverse": bool(c.attr("reverse", 0)),
        }
        return op(x, along, **directions)


_cumulative("CumSum", raw.Cumsum)
_cumulative("CumProd", raw.Cumprod)


@operator("TopK")
def _top_k(c, x, k=None) -> Any:
    count = c.attr("k") if k is None else raw.Reshape(k, np.zeros(0, np.int32))
    count = np.asarray(count, np.int32) if isinstance(count, int) else cast(count, dtypes.int32)
    x = tensor(x)
    axis, largest = c.attr("axis", -1) % rank(x), c.attr("largest", 1)
    order = [i for i in range(rank(x)) if i != axis] + [axis]
    x = raw.Transpose(x, np.array(order, np.int32))
    keys = x if largest else _mirrored(x)
    values, places = raw.TopKV2(keys, count, sorted=True, index_type=dtypes.int64)
    values = values if largest else _mirrored(values)
    back = np.argsort(order).astype(np.int32)
    return raw.Transpose(values, back), raw.Transpose(places, back)


def _mirrored(x: Any) -> Any:
    """Numbers in the opposite order."""
    return raw.Neg(x) if is_float(x) else raw.Invert(x)


@operator("Hardmax")
def _hardmax(c, x) -> Any:
    axis = c.attr("axis", 1 if c.version < 13 else -1) % rank(x)
    x = tensor(x)
    if c.version < 13:
        return _flattened(x, axis, _hardmax_of)
    return _hardmax_of(x, axis)


def _hardmax_of(x: Any, axis: int) -> Any:
    count = cast(raw.Shape(x)[axis], dtypes.int32)
    place = raw.ArgMax(x, axis, output_type=dtypes.int64)
    return raw.OneHot(place, count, like(1, x), like(0, x), axis=axis)


def _flattened(x: Any, axis: int, run: Callable[[Any, int], Any]) -> Any:
    """What versions before 13 do: the dimensions from the axis on are one."""
    own = raw.Shape(x)
    rows = raw.Prod(own[:axis], np.array([0]))
    flat = raw.Reshape(x, raw.Pack([rows, np.int32(-1)]))
    return raw.Reshape(run(flat, 1), own)


def _soft(name: str, op: Any) -> None:
    @operator(name)
    def rule(c, x) -> Any:
        axis = c.attr("axis", 1 if c.version < 13 else -1) % max(rank(x), 1)
        x = tensor(x)
        if c.version < 13:
            return _flattened(x, axis, lambda flat, _: op(flat))
        order = [i for i in range(rank(x)) if i != axis] + [axis]
        if order == sorted(order):
            return op(x)
        moved = op(raw.Transpose(x, np.array(order, np.int32)))
        return raw.Transpose(moved, np.argsort(order).astype(np.int32))


_soft("Softmax", raw.Softmax)
_soft("LogSoftmax", raw.LogSoftmax)
