"""What is known of a TensorArray apart from its elements."""

from __future__ import annotations

from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import DType
from intaglio.base.shapes import Dims


class Facts:
    """Element type and shape, and how the array may grow.

    Arrays derived from one another share their facts, in and out of loops, so that an
    element written in a loop's body determines the element shape of the array after the loop. `size` is
    the constructor's argument, None once the size may differ from it.
    """

    __slots__ = ("dims", "dtype", "dynamic", "infer", "size")

    def __init__(
        self, dtype: DType, dims: Dims, infer: bool, dynamic: bool, size: Any = None
    ) -> None:
        self.dtype = dtype
        self.dims = dims
        self.infer = infer
        self.dynamic = dynamic
        self.size = size

    def see(self, dims: Dims) -> bool:
        """Takes note of an element's shape. False if the array cannot have such elements."""
        if not shapes.compatible(self.dims, dims):
            return False
        if self.infer:
            self.dims = shapes.merge(self.dims, dims)
        return True

    def fixed_size(self) -> int | None:
        """The number of elements, if it was given as a number and cannot change."""
        return self.size if not self.dynamic and type(self.size) is int else None


__all__ = ["Facts"]
