"""Sequences are lists of tensors, or tensor lists if their length is computed; optionals are the value, or None."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.tensor_lists import TensorList, as_list, from_rows
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    element,
    ints,
    known,
    rank,
    reshape,
    shape,
    static,
    tensor,
    transpose,
)
from intaglio.opdef import raw


def _is_known(position: Any) -> bool:
    return position is None or static(position) is not None


def _place(position: Any, count: int, what: str) -> int:
    place = int(known(position, f"the position {what}").reshape(-1)[0])
    if not -count <= place <= count:
        raise ModelError(f"position {place} in a sequence of {count}")
    return place + count if place < 0 else place


@operator("SequenceEmpty")
def _empty(c) -> Any:
    return []


@operator("SequenceConstruct")
def _construct(c, *values) -> Any:
    return [tensor(v) for v in values]


@operator("SequenceInsert")
def _insert(c, sequence, value, position=None) -> Any:
    if isinstance(sequence, TensorList) or not _is_known(position):
        return as_list(sequence, element(value)).inserted(value, position)
    at = len(sequence) if position is None else _place(position, len(sequence), "of an insertion")
    return [*sequence[:at], tensor(value), *sequence[at:]]


@operator("SequenceErase")
def _erase(c, sequence, position=None) -> Any:
    if isinstance(sequence, TensorList) or not _is_known(position):
        return as_list(sequence).erased(position)
    at = len(sequence) - 1 if position is None else _place(position, len(sequence), "that goes")
    return [*sequence[:at], *sequence[at + 1 :]]


@operator("SequenceAt")
def _at(c, sequence, position) -> Any:
    if isinstance(sequence, TensorList) or not _is_known(position):
        return as_list(sequence).at(position)
    place = _place(position, len(sequence), "in a sequence")
    if place == len(sequence):
        raise ModelError(f"position {place} in a sequence of {len(sequence)}")
    return sequence[place]


@operator("SequenceLength")
def _length(c, sequence) -> Any:
    if isinstance(sequence, TensorList):
        return cast(sequence.length, dtypes.int64)
    return np.array(len(sequence), np.int64)


@operator("ConcatFromSequence")
def _concat(c, sequence) -> Any:
    axis, stacks = c.attr("axis"), c.attr("new_axis", 0)
    if isinstance(sequence, TensorList):
        return _joined(sequence, axis, stacks)
    if stacks:
        return raw.Pack(sequence, axis=axis)
    return raw.ConcatV2(sequence, axis) if len(sequence) > 1 else sequence[0]


def _joined(sequence: TensorList, axis: int, stacks: bool) -> Any:
    """All elements of a list, along a new axis or one that they have; then they have one shape."""
    rows = sequence.stacked()
    if sequence.dims is None:
        if stacks and not axis:
            return rows
        raise ModelError("the elements of a sequence must have one rank to be joined")
    count = len(sequence.dims)
    own = axis % (count + 1) if stacks else axis % count
    perm = [*range(1, own + 1), 0, *range(own + 1, count + 1)]
    rows = transpose(rows, perm)
    if stacks:
        return rows
    if not own:
        handle, form = sequence.handle, sequence.form
        lengths = np.zeros(0, np.int64)
        return raw.TensorListConcatV2(handle, form, lengths, element_dtype=sequence.dtype)[0]
    sizes = shape(rows)
    return reshape(rows, raw.ConcatV2([sizes[:own], np.array([-1]), sizes[own + 2 :]], np.int32(0)))


@operator("SplitToSequence")
def _split(c, x, sizes=None) -> Any:
    x = tensor(x)
    axis = c.attr("axis", 0) % rank(x)
    whole = dims(x)[axis]
    if whole is None:
        return _split_by_size(x, axis, sizes, c.attr("keepdims", 1))
    if sizes is None:
        parts = raw.Split(axis, x, num_split=whole) if whole else []
        keep = c.attr("keepdims", 1)
        return list(parts) if keep else [raw.Squeeze(p, axis=[axis]) for p in parts]
    lengths = ints(sizes, "the sizes of a sequence's elements")
    if rank(sizes) == 0:
        step = lengths[0]
        lengths = [min(step, whole - i) for i in range(0, whole, step)]
    return list(raw.SplitV(x, np.array(lengths, np.int64), axis, num_split=len(lengths)))


def _split_by_size(x: Any, axis: int, sizes: Any, keeps: bool) -> TensorList:
    """The slices of a dimension whose size is not known."""
    if sizes is not None:
        raise ModelError(
            "the size of a dimension that is split in parts of given sizes must be known"
        )
    rows = transpose(x, [axis, *[i for i in range(rank(x)) if i != axis]])
    return from_rows(raw.ExpandDims(rows, np.int32(axis + 1)) if keeps else rows)


@operator("Optional")
def _optional(c, value=None) -> Any:
    return value


@operator("OptionalHasElement")
def _has_element(c, value=None) -> Any:
    return np.array(value is not None)


@operator("OptionalGetElement")
def _element(c, value=None) -> Any:
    if value is None:
        raise ModelError("the value of an optional that has none")
    return value


@operator("SequenceMap")
def _map(c, *inputs) -> Any:
    if any(isinstance(v, TensorList) for v in inputs):
        raise ModelError("SequenceMap of a sequence whose length is computed")
    count = len(inputs[0])
    rows = [
        c.run("body", [v[i] if isinstance(v, list) else v for v in inputs]) for i in range(count)
    ]
    return tuple([list(column) for column in zip(*rows, strict=True)])
