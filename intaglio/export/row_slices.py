"""Slices from one number to another of which one is data: of rows, or of an array, which gives rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import int64
from intaglio.export import assertions
from intaglio.export.assertions import asserted
from intaglio.export.row_sources import SOURCES, Count, Rows
from intaglio.export.rules import refused
from intaglio.ir.graph import Node
from intaglio.opdef import raw


def constant(value: Any) -> np.ndarray:
    """The elements of a constant. Raises NoRule for other values."""
    if value.node.op is not raw.Const:
        raise refused("an axis, an index or a length is data", "write a constant")
    return value.node.attrs["value"]


def _entries(value: Any) -> list[Any]:
    """The elements of a vector: integers that are known, and scalars that are not."""
    if value.node.op is raw.Pack:
        return [_entry(v) for v in value.node.inputs]
    if value.node.op is not raw.Const and value.dims == (1,):
        return [raw.Reshape(value, np.zeros(0, np.int32))]
    return [int(n) for n in np.asarray(constant(value)).tolist()]


def _entry(value: Any) -> Any:
    return int(value.node.attrs["value"]) if value.node.op is raw.Const else value


def _vector(entry: Any) -> Any:
    """An entry as a vector of one int64."""
    if isinstance(entry, int):
        return np.array([entry], np.int64)
    return raw.Reshape(raw.Cast(entry, DstT=int64), np.array([1], np.int32))


def _place(entry: Any, number: Any) -> Any:
    """Where an index is among so many; a negative one counts from the end."""
    wide = _vector(entry)
    if isinstance(entry, int):
        return wide if entry >= 0 else raw.AddV2(number, wide)
    return raw.SelectV2(raw.Less(wide, np.int64(0)), raw.AddV2(number, wide), wide)


def _axis_of_data(*columns: Sequence[Any]) -> int:
    """The dimension with an entry that is data. Raises NoRule if there are several."""
    found = {i for entries in columns for i, e in enumerate(entries) if not isinstance(e, int)}
    if len(found) != 1:
        raise refused("several dimensions of a slice are data", "slice one after the other")
    return found.pop()


def _from_first(value: Rows, first: Any, number: Any, step: int = 1) -> Rows:
    """So many rows from the first one on."""
    most = value.length.most
    places = raw.AddV2(first, step * np.arange(-(-most // step), dtype=np.int64))
    places = raw.Minimum(places, np.int64(max(most - 1, 0)))
    array = raw.GatherV2(value.array, places, np.int32(value.axis))
    return Rows(array, Count(number, -(-most // step)), value.axis)


def strided(node: Node, value: Rows, begin: Any, end: Any, strides: Any) -> Any:
    """Rows from one number to another by a step forwards, or one of them; and part of other dimensions."""
    attrs, axis, rank = node.attrs, value.axis, len(value.array.dims)
    columns = begins, ends, steps = _entries(begin), _entries(end), _entries(strides)
    masks = [attrs[n] for n in ("ellipsis_mask", "new_axis_mask")]
    if any(masks) or value.group != 1 or not value.length.most or not axis < len(steps):
        raise refused("its slice has new dimensions or `...`", "y[a:b], and tf.expand_dims")
    step = steps[axis]
    if not isinstance(step, int) or step < 1:
        raise refused("its slice goes backwards over rows", "tf.reverse")
    if any([not isinstance(e, int) for c in columns for i, e in enumerate(c) if i != axis]):
        raise refused("several dimensions of a slice are data", "slice one after the other")
    number, bit = value.length.number, 1 << axis
    zero = np.zeros(1, np.int64)
    first = zero if attrs["begin_mask"] & bit else _place(begins[axis], number)
    last = number if attrs["end_mask"] & bit else _place(ends[axis], number)
    is_one = bool(attrs["shrink_axis_mask"] & bit)
    if is_one:
        inside = raw.LogicalAnd(raw.GreaterEqual(first, zero), raw.Less(first, number))
        asserted(inside, assertions.SLICE_OUT_OF_BOUNDS)
        first = raw.Maximum(raw.Minimum(first, np.int64(value.length.most - 1)), zero)
        array = raw.GatherV2(value.array, first, np.int32(axis))
        found = Rows(array, Count(np.ones(1, np.int64), 1), axis)
    else:
        first = raw.Minimum(raw.Maximum(first, zero), number)
        last = raw.Minimum(raw.Maximum(last, first), number)
        length = raw.Sub(last, first)
        if step > 1:
            length = raw.FloorDiv(raw.AddV2(length, np.int64(step - 1)), np.int64(step))
        found = _from_first(value, first, length, step)
    if len(steps) == 1 or rank == 1:
        return raw.Squeeze(found.array, axis=[axis]) if is_one else found
    return _with_other_dimensions(node, found, columns, is_one)


def _with_other_dimensions(
    node: Node, value: Rows, columns: Sequence[Sequence[Any]], is_one: bool
) -> Any:
    """The slice of the other dimensions."""
    bit = 1 << value.axis
    whole = [[0 if i == value.axis else e for i, e in enumerate(c)] for c in columns[:2]]
    steps = [1 if i == value.axis else e for i, e in enumerate(columns[2])]
    shrunk = node.attrs["shrink_axis_mask"]
    array = raw.StridedSlice(
        value.array,
        *[np.array(c, np.int32) for c in (*whole, steps)],
        begin_mask=node.attrs["begin_mask"] | bit,
        end_mask=node.attrs["end_mask"] | bit,
        shrink_axis_mask=shrunk & ~bit,
    )
    axis = value.axis - (shrunk & (bit - 1)).bit_count()
    return raw.Squeeze(array, axis=[axis]) if is_one else value._replace(array=array, axis=axis)


def cut(value: Rows, begin: Any, size: Any) -> Any:
    """So many rows from one number on, all of them or an error; and part of other dimensions."""
    axis, rank = value.axis, len(value.array.dims)
    begins, sizes = _entries(begin), _entries(size)
    others = [e for c in (begins, sizes) for i, e in enumerate(c) if i != axis]
    if value.group != 1 or not value.length.most or not all(isinstance(e, int) for e in others):
        raise refused("several dimensions of a slice are data", "slice one after the other")
    zero, number = np.zeros(1, np.int64), value.length.number
    first, length = _vector(begins[axis]), _vector(sizes[axis])
    rest = raw.Sub(number, first)
    length = raw.SelectV2(raw.Equal(length, np.int64(-1)), rest, length)
    within = raw.LogicalAnd(raw.GreaterEqual(first, zero), raw.GreaterEqual(length, zero))
    within = raw.LogicalAnd(within, raw.LessEqual(length, rest))
    asserted(within, assertions.SLICE_OUT_OF_BOUNDS)
    first = raw.Maximum(raw.Minimum(first, number), zero)
    found = _from_first(value, first, raw.Minimum(raw.Maximum(length, zero), number))
    if rank == 1:
        return found
    begins[axis], sizes[axis] = 0, -1
    parts = [np.array(c, np.int32) for c in (begins, sizes)]
    return found._replace(array=raw.Slice(found.array, *parts))


def _all_rows(value: Any, axis: int) -> Rows:
    """An array as rows, along a dimension."""
    dims = value.dims or ()
    if not axis < len(dims) or 0 in dims:
        raise refused("there are no elements", "tf.zeros")
    return Rows(value, Count(np.array([dims[axis]], np.int64), dims[axis]), axis)


@SOURCES.of(raw.StridedSlice)
def _sliced(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    value, begin, end, strides = inputs
    axis = _axis_of_data(_entries(begin), _entries(end))
    return [strided(node, _all_rows(value, axis), begin, end, strides)]


@SOURCES.of(raw.Slice)
def _cut(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    value, begin, size = inputs
    return [cut(_all_rows(value, _axis_of_data(_entries(begin), _entries(size))), begin, size)]
