"""Lengths, bounding shapes and merged dimensions of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, raw
from intaglio.ragged import checks, core
from intaglio.ragged.core import Ragged


def row_lengths(x: Any, axis: Any) -> Any:
    """The lengths of the slices along an axis, nested as the axes before it are."""
    axis = checks.axis_of(axis, core.rank_of(x))
    if axis == 0:
        return x.partition.nrows()
    if axis == 1:
        return x.partition.row_lengths()
    values = x.values
    if isinstance(values, Ragged):
        return x.with_values(row_lengths(values, axis - 1))
    shape = raw.Shape(values, out_type=x.row_splits.dtype)
    dtype = x.row_splits.dtype
    lengths = raw.Fill(
        raw.StridedSlice(shape, [0], [axis - 1], [1]),
        raw.StridedSlice(shape, [axis - 1], [axis], [1], shrink_axis_mask=1),
    )
    return x.with_values(core.as_index(lengths, dtype))


def bounding_shape(x: Any, axis: Any = None, out_type: Any = None) -> Any:
    """The shape of the smallest tensor that all values fit into, or its size on axes."""
    dtype = x.row_splits.dtype
    found = _bounding(x, dtype)
    if out_type is not None and as_dtype(out_type) is not dtype:
        found = raw.Cast(found, DstT=as_dtype(out_type))
    return found if axis is None else raw.GatherV2(found, axis, 0)


def _bounding(x: Any, dtype: Any) -> Any:
    partitions = x.nested_partitions
    flat = x.flat_values
    sizes = [partitions[0].nrows(), *[_longest(p) for p in partitions]]
    outer = raw.Pack(sizes, axis=0)
    if core.rank_of(flat) == 1:
        return outer
    inner = raw.StridedSlice(raw.Shape(flat, out_type=dtype), [1], [0], [1], end_mask=1)
    return raw.ConcatV2([outer, inner], 0)


def _longest(rows: Any) -> Any:
    """The length of the longest row, 0 without any."""
    zero = convert.to_tensor(np.zeros(1, rows.dtype.numpy))
    return raw.Max(raw.ConcatV2([rows.row_lengths(), zero], 0), 0)


def merge_dims(x: Any, outer_axis: Any, inner_axis: Any) -> Any:
    """The dimensions from `outer_axis` to `inner_axis` merged into one."""
    rank = core.rank_of(x)
    outer = checks.axis_of(outer_axis, rank, "outer_axis")
    inner = checks.axis_of(inner_axis, rank, "inner_axis")
    if outer > inner:
        raise ValueError(
            f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})."
        )
    return merged(x, outer, inner)


def merged(x: Any, outer: int, inner: int) -> Any:
    """`merge_dims` with axes counted from the front."""
    if outer == inner:
        return x
    if not isinstance(x, Ragged):
        return _merged_dense(x, outer, inner)
    if outer == 0:
        return merged(x.values, 0, inner - 1)
    if outer > 1:
        return x.with_values(merged(x.values, outer - 1, inner - 1))
    values, splits = x.values, x.row_splits
    for _ in range(inner - 1):
        if isinstance(values, Ragged):
            splits = raw.GatherV2(values.row_splits, splits, 0)
            values = values.values
        else:
            # A uniform dimension: every row becomes that many.
            shape: Any = raw.Shape(values, out_type=splits.dtype)
            splits = splits * shape[1]
            values = _merged_dense(values, 0, 1)
    return core.from_splits(values, splits)


def _merged_dense(x: Any, outer: int, inner: int) -> Any:
    dims = x.dims
    if dims is not None and dims[:outer].count(None) == 0 and None not in dims[inner + 1 :]:
        shape: Any = np.asarray([*dims[:outer], -1, *dims[inner + 1 :]], np.int64)
        if -1 in shape and 0 in shape:
            shape = _merged_shape(x, outer, inner)
        return raw.Reshape(x, shape)
    return raw.Reshape(x, _merged_shape(x, outer, inner))


def _merged_shape(x: Any, outer: int, inner: int) -> Any:
    shape: Any = raw.Shape(x)
    middle = raw.Prod(shape[outer : inner + 1], 0, keep_dims=False)
    return raw.ConcatV2([shape[:outer], raw.ExpandDims(middle, 0), shape[inner + 1 :]], 0)
