"""Extension types that can be stacked into batches and taken apart again.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/BatchableExtensionType and
https://www.tensorflow.org/api_docs/python/tf/experimental/ExtensionTypeBatchEncoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import nest
from intaglio.base.shapes import TensorShape
from intaglio.type_specs.extension_type import ExtensionType, ExtensionTypeSpec
from intaglio.type_specs.type_spec import BatchableTypeSpec, TypeSpec


class ExtensionTypeBatchEncoder:
    """How values of an extension type become tensors that can be stacked, and come back.

    The default stacks every tensor. Own encoders override all five methods.
    """

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of a batch of values."""
        return _mapped(
            spec, lambda s: s._batch(batch_size), lambda s: TensorShape([batch_size]).concatenate(s)
        )

    def unbatch(self, spec: Any) -> Any:
        """The spec of one value of a batch."""
        return _mapped(spec, lambda s: s._unbatch(), lambda s: s if s.rank is None else s[1:])

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """The tensors of a value."""
        return list(spec._to_components(value))

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """The value of such tensors."""
        return spec._from_components(tuple(encoded_value))

    def encoding_specs(self, spec: Any) -> Any:
        """The specs of the tensors that `encode` returns."""
        return list(spec._component_specs)


def _mapped(spec: Any, change: Any, change_shape: Any) -> Any:
    """The spec with its specs and its shapes changed: a shape that a value has is that of its batch too."""

    def changed(part: Any) -> Any:
        if isinstance(part, TypeSpec):
            return change(part)
        return change_shape(part) if isinstance(part, TensorShape) else part

    parts = [(name, nest.map_structure(changed, field)) for name, field in spec._serialize()]
    return type(spec)._deserialize(tuple(parts))


class BatchableSpec(ExtensionTypeSpec, BatchableTypeSpec):
    """The spec of a batchable extension type: its encoder defines its tensors."""

    @property
    def _encoder(self) -> Any:
        return self._value_class.__batch_encoder__

    def _batch(self, batch_size: int | None) -> Any:
        return self._encoder.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)

    # -- as elements of datasets -----------------------------------------------------------

    @property
    def _encoding_specs(self) -> list[Any]:
        return nest.flatten(self._encoder.encoding_specs(self))

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [t for spec in self._encoding_specs for t in spec._flat_tensor_specs]

    def _encoded(self, value: Any, minimum_rank: int, to_list: str) -> list[Any]:
        parts = nest.flatten(self._encoder.encode(self, value, minimum_rank))
        pairs = zip(self._encoding_specs, parts, strict=True)
        return [t for spec, part in pairs for t in getattr(spec, to_list)(part)]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return self._encoded(value, 0, "_to_tensor_list")

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        return self._encoded(value, 1, "_to_batched_tensor_list")

    def _from_tensor_list(self, tensors: Sequence[Any]) -> Any:
        remaining = iter(tensors)
        parts: list[Any] = []
        for spec in self._encoding_specs:
            own = [next(remaining) for _ in spec._flat_tensor_specs]
            parts.append(spec._from_tensor_list(own))
        structure = self._encoder.encoding_specs(self)
        return self._encoder.decode(self, nest.pack_sequence_as(structure, parts))


class BatchableExtensionType(ExtensionType):
    """An extension type whose values datasets can batch and `tf.map_fn` can go through."""

    __batch_encoder__ = ExtensionTypeBatchEncoder()
    _spec_base = BatchableSpec


__all__ = ["BatchableExtensionType", "ExtensionTypeBatchEncoder"]
