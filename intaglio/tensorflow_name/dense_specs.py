"""`tensorflow.python.framework.tensor_spec.DenseSpec`, the base of libraries' own types of dense values."""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import DType, as_dtype, float32
from intaglio.base.shapes import TensorShape
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec


class DenseSpec(TypeSpec):
    """The type of a value with a shape, a dtype and a name; `TensorSpec` is one."""

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The shape of the value."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name of the value, if it has one."""
        return self._name

    def _serialize(self) -> tuple[Any, ...]:
        return (self.shape, self.dtype, self.name)


DenseSpec.register(TensorSpec)
