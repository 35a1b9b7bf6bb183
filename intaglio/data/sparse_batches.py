"""Sparse tensors in datasets: as strings where elements are put together and taken apart.

Batches and slices of three strings are those of the sparse tensors that they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import int64
from intaglio.data import element
from intaglio.op import convert, raw
from intaglio.sparse.api import SparseTensorSpec
from intaglio.trace.type_spec import TensorSpec

__all__ = ["batched", "concerns", "slices", "sparse_batches", "unbatched"]


def concerns(structure: Any) -> bool:
    """True for elements with sparse tensors, and otherwise with tensors."""
    specs = nest.flatten(structure)
    return any(isinstance(s, SparseTensorSpec) for s in specs)


def _as_strings(structure: Any, value: Any, many: bool) -> Any:
    """The element with strings in the place of its sparse tensors."""
    write = raw.SerializeManySparse if many else raw.SerializeSparse

    def one(spec: Any, part: Any) -> Any:
        if not isinstance(spec, SparseTensorSpec):
            return part
        return write(part.indices, part.values, part.dense_shape)

    parts = nest.flatten_up_to(structure, value)
    made = [one(s, p) for s, p in zip(nest.flatten(structure), parts, strict=True)]
    return nest.pack_sequence_as(structure, made)


def _from_strings(structure: Any, value: Any) -> Any:
    """The element whose sparse tensors stand in it as strings."""

    def one(spec: Any, part: Any) -> Any:
        if not isinstance(spec, SparseTensorSpec):
            return part
        rank = spec.shape.rank
        found = raw.DeserializeSparse(part, dtype=spec.dtype)
        indices, values, shape = found
        if rank is not None:
            indices = raw.EnsureShape(indices, shape=(None, rank))
            shape = raw.EnsureShape(shape, shape=(rank,))
        return spec._from_components([indices, values, shape])

    parts = nest.flatten_up_to(structure, value)
    made = [one(s, p) for s, p in zip(nest.flatten(structure), parts, strict=True)]
    return nest.pack_sequence_as(structure, made)


def _whole(structure: Any, parts: tuple[Any, ...]) -> Any:
    """What a mapped function has been given, as one element."""
    return parts if type(structure) is tuple else parts[0]


def _around(dataset: Any, many: bool, change: Callable[[Any], Any], after: Any) -> Any:
    """`change` of the dataset with strings, whose elements become those of type `after`."""
    structure = dataset.element_spec
    written = dataset.map(lambda *p: _as_strings(structure, _whole(structure, p), many))
    return change(written).map(lambda *p: _from_strings(after, _whole(after, p)))


def batched(dataset: Any, structure: Any, batch: Callable[[Any], Any]) -> Any:
    """Elements put together by `batch`, to elements of type `structure`."""
    return _around(dataset, False, batch, structure)


def unbatched(dataset: Any) -> Any:
    """The slices of each element along the first dimension."""
    structure = nest.map_structure(lambda s: s._unbatch(), dataset.element_spec)
    return _around(dataset, True, lambda d: d.unbatch(), structure)


def slices(value: Any, make: Callable[[Any], Any]) -> Any:
    """The dataset that `make` gives for a value, of which some parts are sparse."""
    whole = element.spec_of(value)
    structure = nest.map_structure(lambda s: s._unbatch(), whole)
    written = make(_as_strings(whole, value, True))
    return written.map(lambda *p: _from_strings(structure, _whole(structure, p)))


def sparse_batches(dataset: Any, batch_size: Any, row_shape: Any) -> Any:
    """Batches of tensors of different shapes as sparse tensors with rows of `row_shape`.

    Raises TypeError for elements that are no single tensor.
    """
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            f"Dataset.sparse_batch() takes elements that are one tensor, not {spec!r}"
        )
    room = convert.to_tensor(row_shape, int64)
    known = getattr(room, "_array", None)
    dims = None if known is None else [int(d) if d >= 0 else None for d in known]

    def row(x: Any) -> Any:
        size: Any = raw.Shape(x, out_type=int64)
        fits = raw.All(raw.LogicalOr(raw.Less(room, 0), raw.LessEqual(size, room)), [0])
        told = raw.StringFormat([size, room], template="Input element had shape ({}) that is larger than the row shape ({}).", placeholder="{}")  # fmt: skip
        raw.Assert(fits, [told])
        places = raw.Where(raw.OnesLike(raw.Equal(x, x)))
        shape = raw.SelectV2(raw.Less(room, 0), size, room)
        values = raw.Reshape(x, [-1])
        return raw.SerializeSparse(places, values, shape)

    after = SparseTensorSpec(None if dims is None else [None, *dims], spec.dtype)
    return (
        dataset.map(row)
        .batch(batch_size)
        .map(lambda three: _from_strings(after, three))
    )
