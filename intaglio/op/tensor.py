"""The abstract `Tensor`: what eager and symbolic tensors share, operators above all.

Follows https://www.tensorflow.org/api_docs/python/tf/Tensor.
"""

from __future__ import annotations

from typing import Any, ClassVar

from intaglio.base import shapes
from intaglio.base.dtypes import DType
from intaglio.base.shapes import Dims, TensorShape
from intaglio.op import raw


class Reference:
    """A hashable stand-in for a tensor: equal only to a reference to the same object."""

    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        self._target = target

    def deref(self) -> Any:
        """The tensor itself."""
        return self._target

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Reference) and self._target is other._target

    def __hash__(self) -> int:
        return id(self._target)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._target!r}>"


class Tensor:
    """A multidimensional array of one dtype. Made by ops, never by calling the class."""

    __slots__ = ()
    __array_priority__: ClassVar[int] = 100

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        raise NotImplementedError

    @property
    def dims(self) -> Dims:
        """The shape as a tuple, None for an unknown rank."""
        raise NotImplementedError

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(self.dims)

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(self.dims)

    @property
    def ndim(self) -> int | None:
        """The number of dimensions. Raises ValueError if the rank is unknown, as TensorFlow does."""
        dims = self.dims
        if dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(dims)

    def ref(self) -> Reference:
        """A hashable reference to this tensor, for sets and dict keys."""
        return Reference(self)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def _shape_text(self) -> str:
        return shapes.text(self.dims)


def install_operator(name: str, function: Any) -> None:
    """Gives Tensor a special method; the layer that knows the conversion rules calls this."""
    setattr(Tensor, name, function)


__all__ = ["Reference", "Tensor", "install_operator", "raw"]
