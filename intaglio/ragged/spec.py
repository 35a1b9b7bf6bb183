"""`RaggedTensorSpec`: the type of ragged tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/RaggedTensorSpec.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from intaglio.base import dtypes
from intaglio.base.dtypes import DType, as_dtype, variant
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import core
from intaglio.ragged.partition import partition_from_splits
from intaglio.ragged.tensor import RaggedTensor
from intaglio.type_specs.type_spec import BatchableTypeSpec, TensorSpec


class RaggedTensorSpec(BatchableTypeSpec):
    """The type of ragged tensors of this shape, None for ragged and unknown sizes.

    `ragged_rank` is the number of partitions, by default all dimensions but the outermost.
    With 0 the values are tensors.

    >>> tf.RaggedTensorSpec([None, None], tf.int32)
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_dtype", "_flat_values_spec", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: Any = None,
        row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            if dtype is None:
                dtype = flat_values_spec.dtype
            elif as_dtype(dtype) is not flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        self._dtype = as_dtype(dtype)
        self._flat_values_spec = flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor."""
        return value._type_spec

    @property
    def value_type(self) -> Any:
        """`RaggedTensor`, or the class of tensors if there is no ragged dimension."""
        return RaggedTensor if self._ragged_rank else Tensor

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def ragged_rank(self) -> int:
        """The number of partitions."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The type of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the flat values, if one was given."""
        return self._flat_values_spec

    def _serialize(self) -> tuple[Any, ...]:
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    @property
    def _component_specs(self) -> Any:
        if not self._ragged_rank:
            return [TensorSpec(self._shape, self._dtype)]
        flat = self._flat_values_spec
        if flat is None:
            inner = self._shape[self._ragged_rank + 1 :]
            flat = TensorSpec(TensorShape([None]).concatenate(inner), self._dtype)
        return [flat, *self._splits_specs()]

    def _splits_specs(self) -> list[Any]:
        """The specs of the row splits, whose number is known under uniform dimensions."""
        dims = as_dims(self._shape)
        rows = None if dims is None else dims[0]
        found: list[Any] = []
        for level in range(self._ragged_rank):
            size = None if rows is None else rows + 1
            found.append(TensorSpec([size], self._row_splits_dtype))
            length = None if dims is None else dims[level + 1]
            rows = None if rows is None or length is None else rows * length
        return found

    def _to_components(self, value: Any) -> Any:
        if not isinstance(value, RaggedTensor):
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: Any) -> Any:
        flat, *splits = components
        dims = as_dims(self._shape)
        lengths = [None] * len(splits) if dims is None else dims[1 : len(splits) + 1]
        partitions = [partition_from_splits(s, n) for s, n in zip(splits, lengths, strict=True)]
        return core.nested(flat, partitions)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if a value, or every value of a spec, could have this type."""
        if not self._ragged_rank:
            own = TensorSpec(self._shape, self._dtype)
            return own.is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """`value` if it has this type. Raises TypeError that names the tensor at fault."""
        if not self._ragged_rank:
            return TensorSpec(self._shape, self._dtype).cast(value, cast_context)
        if isinstance(value, RaggedTensor) and value.ragged_rank == self._ragged_rank:
            parts = self._to_components(value)
            for spec, part in zip(self._component_specs, parts, strict=True):
                spec.cast(part, cast_context)
        return super().cast(value, cast_context)

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The value rebuilt from the next tensors."""
        specs = self._component_specs
        return self._from_components([next(tensors) for _ in specs])

    # -- as elements of datasets: one variant, in batches one for each row ----------------

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [TensorSpec(None, variant)]

    def _encoded(self, value: Any, in_rows: bool) -> list[Any]:
        splits: Sequence[Any] = ()
        if isinstance(value, RaggedTensor):
            splits, value = value.nested_row_splits, value.flat_values
        if value.dtype is not self._dtype:
            raise ValueError(
                f"Expected a value of dtype {self._dtype!r}, but it has {value.dtype!r}."
            )
        if len(splits) != self._ragged_rank:
            raise ValueError(
                f"Ragged rank of value {len(splits)} does not match ragged rank of type {self._ragged_rank}"
            )
        kind = self._row_splits_dtype
        return [raw.RaggedTensorToVariant(splits, value, batched_input=in_rows, Tsplits=kind)]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return self._encoded(value, False)

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return self._encoded(value, True)

    def _from_tensor_list(self, tensors: Sequence[Any]) -> Any:
        splits, flat = raw.RaggedTensorFromVariant(
            tensors[0],
            input_ragged_rank=-1,
            output_ragged_rank=self._ragged_rank,
            Tvalues=self._dtype,
            Tsplits=self._row_splits_dtype,
        )
        components = [flat, *splits]
        for spec, part in zip(self._component_specs, components, strict=True):
            part.set_shape(spec.shape)
        return self._from_components(components)

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        return RaggedTensorSpec(
            TensorShape([batch_size]).concatenate(self._shape),
            self._dtype,
            self._ragged_rank + 1,
            self._row_splits_dtype,
        )

    def _unbatch(self) -> Any:
        return RaggedTensorSpec(
            self._shape[1:], self._dtype, max(0, self._ragged_rank - 1), self._row_splits_dtype
        )


def spec_of(value: Any) -> RaggedTensorSpec:
    """The spec of this very value."""
    return RaggedTensorSpec(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
