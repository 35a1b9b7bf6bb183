"""Extension types that can be stacked into batches and taken apart again.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/BatchableExtensionType and
https://www.tensorflow.org/api_docs/python/tf/experimental/ExtensionTypeBatchEncoder.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import nest
from intaglio.trace.extension_type import ExtensionType, ExtensionTypeSpec
from intaglio.trace.type_spec import BatchableTypeSpec, TypeSpec


class ExtensionTypeBatchEncoder:
    """How values of an extension type become tensors that can be stacked, and come back.

    The default stacks every tensor. Own encoders override all five methods.
    """

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of a batch of values."""
        return _mapped(spec, lambda s: s._batch(batch_size))

    def unbatch(self, spec: Any) -> Any:
        """The spec of one value of a batch."""
        return _mapped(spec, lambda s: s._unbatch())

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """The tensors of a value."""
        return list(spec._to_components(value))

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """The value of such tensors."""
        return spec._from_components(tuple(encoded_value))

    def encoding_specs(self, spec: Any) -> Any:
        """The specs of the tensors that `encode` gives."""
        return list(spec._component_specs)


def _mapped(spec: Any, change: Any) -> Any:
    parts: list[tuple[str, Any]] = []
    for name, field in spec._serialize():
        changed = nest.map_structure(
            lambda s: change(s) if isinstance(s, TypeSpec) else s, field
        )
        parts.append((name, changed))
    return type(spec)._deserialize(tuple(parts))


class BatchableSpec(ExtensionTypeSpec, BatchableTypeSpec):
    """The spec of a batchable extension type: its encoder says what its tensors are."""

    @property
    def _encoder(self) -> Any:
        return self._value_class.__batch_encoder__

    def _batch(self, batch_size: int | None) -> Any:
        return self._encoder.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)


class BatchableExtensionType(ExtensionType):
    """An extension type whose values datasets can batch and `tf.map_fn` can go through."""

    __batch_encoder__ = ExtensionTypeBatchEncoder()
    _spec_base = BatchableSpec


__all__ = ["BatchableExtensionType", "ExtensionTypeBatchEncoder"]
