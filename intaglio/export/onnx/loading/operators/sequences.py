"""Sequences are lists of tensors; optionals are the value, or None."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import ModelError, dims, ints, known, rank, tensor
from intaglio.opdef import raw


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
    at = len(sequence) if position is None else _place(position, len(sequence), "of an insertion")
    return [*sequence[:at], tensor(value), *sequence[at:]]


@operator("SequenceErase")
def _erase(c, sequence, position=None) -> Any:
    at = len(sequence) - 1 if position is None else _place(position, len(sequence), "that goes")
    return [*sequence[:at], *sequence[at + 1 :]]


@operator("SequenceAt")
def _at(c, sequence, position) -> Any:
    place = _place(position, len(sequence), "in a sequence")
    if place == len(sequence):
        raise ModelError(f"position {place} in a sequence of {len(sequence)}")
    return sequence[place]


@operator("SequenceLength")
def _length(c, sequence) -> Any:
    return np.array(len(sequence), np.int64)


@operator("ConcatFromSequence")
def _concat(c, sequence) -> Any:
    axis = c.attr("axis")
    if c.attr("new_axis", 0):
        return raw.Pack(sequence, axis=axis)
    return raw.ConcatV2(sequence, axis) if len(sequence) > 1 else sequence[0]


@operator("SplitToSequence")
def _split(c, x, sizes=None) -> Any:
    x = tensor(x)
    axis = c.attr("axis", 0) % rank(x)
    whole = dims(x)[axis]
    if whole is None:
        raise ModelError("the size of a dimension that becomes a sequence must be known")
    if sizes is None:
        parts = raw.Split(axis, x, num_split=whole) if whole else []
        keep = c.attr("keepdims", 1)
        return list(parts) if keep else [raw.Squeeze(p, axis=[axis]) for p in parts]
    lengths = ints(sizes, "the sizes of a sequence's elements")
    if rank(sizes) == 0:
        step = lengths[0]
        lengths = [min(step, whole - i) for i in range(0, whole, step)]
    return list(raw.SplitV(x, np.array(lengths, np.int64), axis, num_split=len(lengths)))


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
    count = len(inputs[0])
    rows = [
        c.run("body", [v[i] if isinstance(v, list) else v for v in inputs]) for i in range(count)
    ]
    return tuple([list(column) for column in zip(*rows, strict=True)])
