"""`IndexedSlicesSpec`: the type of rows of a larger tensor.

Follows https://www.tensorflow.org/api_docs/python/tf/IndexedSlicesSpec.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import DType, as_dtype, float32, int64
from intaglio.base.shapes import TensorShape
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec


class IndexedSlicesSpec(TypeSpec):
    """The type of `tf.IndexedSlices` with these dtypes; `shape` is that of the whole tensor."""

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        indices_dtype: Any = int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype: DType = as_dtype(dtype)
        self._indices_dtype: DType = as_dtype(indices_dtype)
        self._dense_shape_dtype: DType | None = (
            None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        )
        self._indices_shape = TensorShape([None] if indices_shape is None else indices_shape)

    @property
    def value_type(self) -> Any:
        """`tf.IndexedSlices`."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> Any:
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = [
            TensorSpec(rows, self._dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: Any) -> Any:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        return IndexedSlices(*components)


def spec_of(value: IndexedSlices) -> IndexedSlicesSpec:
    """The spec of this very value."""
    dense = value.dense_shape
    return IndexedSlicesSpec(
        value.shape,
        value.dtype,
        value.indices.dtype,
        None if dense is None else dense.dtype,
        value.indices.shape,
    )
