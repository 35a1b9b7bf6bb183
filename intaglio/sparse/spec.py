"""`SparseTensorSpec`: the type of sparse tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/SparseTensorSpec.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.dtypes import DType, as_dtype, float32, int64, variant
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.opdef import raw
from intaglio.sparse.tensor import SparseTensor, SparseTensorValue, with_static
from intaglio.type_specs.type_spec import BatchableTypeSpec, TensorSpec


class SparseTensorSpec(BatchableTypeSpec):
    """The type of sparse tensors of this shape, None for unknown sizes, and dtype.

    >>> tf.SparseTensorSpec([None, 3], tf.float32)
    SparseTensorSpec(TensorShape([None, 3]), tf.float32)
    """

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype: DType = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a SparseTensor or SparseTensorValue. Raises TypeError for anything else."""
        if isinstance(value, SparseTensor):
            return value._type_spec
        if isinstance(value, SparseTensorValue):
            return SparseTensor.from_value(value)._type_spec
        raise TypeError(
            "Expected SparseTensor or SparseTensorValue. Received: "
            f"{value} of type {type(value).__name__}."
        )

    @property
    def value_type(self) -> Any:
        """`SparseTensor`."""
        return SparseTensor

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        return self._shape

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype)

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], int64),
        ]

    def _to_components(self, value: Any) -> Any:
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        return with_static(SparseTensor(*components), as_dims(self._shape))

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if a value, or every value of a spec, could have this type."""
        if isinstance(spec_or_value, SparseTensorValue):
            spec_or_value = SparseTensor.from_value(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    # -- as elements of datasets: three variants, in batches three for each row ------------

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [TensorSpec(None, variant)]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return [raw.SerializeSparse(*self._to_components(value), out_type=variant)]

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [raw.SerializeManySparse(*self._to_components(value), out_type=variant)]

    def _from_tensor_list(self, tensors: Sequence[Any]) -> Any:
        parts = raw.DeserializeSparse(tensors[0], dtype=self._dtype)
        for spec, part in zip(self._component_specs, parts, strict=True):
            part.set_shape(spec.shape)
        return self._from_components(parts)

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        outer = TensorShape([batch_size])
        return SparseTensorSpec(outer.concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)


def spec_of(value: Any) -> SparseTensorSpec:
    """The spec of this very value."""
    return SparseTensorSpec(value.shape, value.dtype)
