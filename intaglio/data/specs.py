"""The types of datasets, iterators and optionals, for tracing and as element types.

Follows https://www.tensorflow.org/api_docs/python/tf/data/DatasetSpec,
https://www.tensorflow.org/api_docs/python/tf/data/IteratorSpec and
https://www.tensorflow.org/api_docs/python/tf/OptionalSpec.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import DType, resource, variant
from intaglio.base.shapes import TensorShape
from intaglio.data.hooks import HOOKS
from intaglio.type_specs.trace_type import TraceType
from intaglio.type_specs.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec


class _HandleSpec(TypeSpec):
    """The type of a value behind one tensor, with the type of its elements."""

    __slots__ = ("_element_spec",)

    # Guards of call entries may distinguish values by identity.
    by_identity = True
    dtype: DType = variant

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The structure of the elements' types."""
        return self._element_spec

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> Any:
        return TensorSpec((), type(self).dtype)

    def _to_components(self, value: Any) -> Any:
        return value.handle_tensor

    def flatten(self) -> list[TraceType]:
        return [self._component_specs]

    def to_tensors(self, value: Any) -> list[Any]:
        return [value.handle_tensor]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return self._from_components(next(tensors))

    def is_subtype_of(self, other: Any) -> bool:
        return (
            type(self) is type(other)
            and self._serialize()[1:] == other._serialize()[1:]
            and _alike(self._element_spec, other._element_spec)
            and all(
                a is None or a.is_subtype_of(b)
                for a, b in zip(
                    nest.flatten(self._element_spec), nest.flatten(other._element_spec), strict=True
                )
            )
        )

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TypeSpec | None:
        joined = self._element_spec
        for other in others:
            other_spec = getattr(other, "_element_spec", None)
            if type(self) is not type(other) or not _alike(joined, other_spec):
                return None
            if self._serialize()[1:] != other._serialize()[1:]:  # type: ignore[attr-defined]  # of one class with this
                return None
            flat = [
                a and a.most_specific_common_supertype([b])
                for a, b in zip(nest.flatten(joined), nest.flatten(other_spec), strict=True)
            ]
            if flat.count(None) != nest.flatten(joined).count(None):
                return None
            joined = nest.pack_sequence_as(joined, flat)
        return self._deserialize((joined, *self._serialize()[1:]))

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        own = getattr(value, "_type_spec", None)
        if own is None or not own.is_subtype_of(self):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value


def _alike(one: Any, other: Any) -> bool:
    """True if specs have one structure, with None (no element) at the same paths."""
    try:
        nest.assert_same_structure(one, other)
    except (ValueError, TypeError):
        return False
    return [s is None for s in nest.flatten(one)] == [s is None for s in nest.flatten(other)]


class DatasetSpec(_HandleSpec, BatchableTypeSpec):
    """The type of a dataset with elements of `element_spec`.

    `dataset_shape` is the shape of a tensor of datasets: of the batches of a dataset of them.
    """

    __slots__ = ("_dataset_shape",)

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        self._dataset_shape = TensorShape(dataset_shape)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec, self._dataset_shape)

    @classmethod
    def from_value(cls, value: Any) -> DatasetSpec:
        """The type of a dataset."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> Any:
        return HOOKS.dataset

    @property
    def _component_specs(self) -> Any:
        return TensorSpec(self._dataset_shape, variant)

    def _from_components(self, components: Any) -> Any:
        return HOOKS.dataset_of_handle(components, self._element_spec)

    def _batch(self, batch_size: int | None) -> DatasetSpec:
        outer = TensorShape([batch_size])
        return DatasetSpec(self._element_spec, outer.concatenate(self._dataset_shape))

    def _unbatch(self) -> DatasetSpec:
        if self._dataset_shape.rank == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


class IteratorSpec(_HandleSpec):
    """The type of an iterator over elements of `element_spec`."""

    __slots__ = ()
    dtype = resource

    @classmethod
    def from_value(cls, value: Any) -> IteratorSpec:
        """The type of an iterator."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> Any:
        return HOOKS.iterator

    def _from_components(self, components: Any) -> Any:
        return HOOKS.iterator(components, self._element_spec)

    def __repr__(self) -> str:
        return f"IteratorSpec({self._element_spec!r},)"


class OptionalSpec(_HandleSpec):
    """The type of an optional that may have a value of `element_spec`."""

    __slots__ = ()

    @classmethod
    def from_value(cls, value: Any) -> OptionalSpec:
        """The type of an optional."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> Any:
        return HOOKS.optional

    def _from_components(self, components: Any) -> Any:
        return HOOKS.optional(components, self._element_spec)

    def __repr__(self) -> str:
        return f"OptionalSpec({self._element_spec!r},)"
