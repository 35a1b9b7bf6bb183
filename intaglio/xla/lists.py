"""A tensor list in a program: a buffer of its elements, and how many of them there are.

XLA has arrays of fixed shape. A list is a buffer of a fixed capacity; its size is known, or in a
loop a tracer plus what was pushed since the iteration began. A loop that pushes gets a buffer
for all of its iterations before it starts (`control_flow`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.base import shapes
from intaglio.base.dtypes import VARIANT_MARKER, DType
from intaglio.base.shapes import Dims
from intaglio.xla.values import Untraceable, is_traced


@jax.tree_util.register_pytree_node_class
class List:
    """The value of a list tensor. `base` is the part of the size that a program computes, or None.

    `buffer` is None as long as the shape of the elements is unknown; `grows` is False for a list
    whose limit is its capacity.
    """

    dtype = VARIANT_MARKER

    def __init__(
        self,
        element: DType,
        dims: Dims,
        buffer: Any,
        capacity: int,
        size: int,
        base: Any = None,
        limit: int = -1,
    ) -> None:
        self.element = element
        self.dims = dims
        self.buffer = buffer
        self.capacity = capacity
        self.size = size
        self.base = base
        self.limit = limit

    def tree_flatten(self) -> tuple[Any, Any]:
        """For jax."""
        static = (self.element, self.dims, self.capacity, self.size, self.limit)
        return (self.buffer, self.base), static

    @classmethod
    def tree_unflatten(cls, static: Any, leaves: Any) -> List:
        """For jax."""
        element, dims, capacity, size, limit = static
        return cls(element, dims, leaves[0], capacity, size, leaves[1], limit)

    @classmethod
    def empty(cls, element: DType, dims: Dims, limit: int) -> List:
        """A list without elements."""
        return cls(element, dims, None, max(limit, 0), 0, None, limit)._with_zeros()

    @classmethod
    def of(cls, element: DType, rows: Any) -> List:
        """The list of the rows of an array."""
        return cls(element, rows.shape[1:], jnp.asarray(rows), len(rows), len(rows))

    @classmethod
    def unset(cls, element: DType, dims: Dims, size: int) -> List:
        """A list of elements that are not set: zeros."""
        return cls(element, dims, None, size, size)._with_zeros()

    def _with_zeros(self) -> List:
        if self.buffer is None and shapes.known(self.dims) and self.element.is_numpy_compatible:
            shape = (self.capacity, *(self.dims or ()))
            return self.like(buffer=jnp.zeros(shape, self.element.numpy))
        return self

    def like(self, **changes: Any) -> List:
        """The list with other parts."""
        parts = {name: getattr(self, name) for name in _PARTS}
        return List(**{**parts, **changes})

    @property
    def length(self) -> Any:
        """The number of elements: an int, or a tracer."""
        return self.size if self.base is None else self.base + np.int32(self.size)

    def of_elements(self, dims: Any) -> List:
        """The list, which has elements of this shape."""
        if not shapes.compatible(self.dims, dims):
            raise Untraceable(f"a list of elements of shapes {self.dims} and {dims}")
        found = self.like(dims=tuple(dims))._with_zeros()
        if found.buffer is None:
            raise Untraceable("a list of what is no array")
        return found

    def reserved(self, capacity: int) -> List:
        """The list with room for so many elements."""
        if capacity <= self.capacity:
            return self
        buffer = self.buffer
        if buffer is not None:
            widths = [(0, capacity - self.capacity), *[(0, 0)] * (buffer.ndim - 1)]
            buffer = jnp.pad(buffer, widths)
        return self.like(buffer=buffer, capacity=capacity)

    # -- single elements -----------------------------------------------------------------------

    def get(self, index: Any, dims: Dims) -> Any:
        """An element, zeros if it was never set."""
        found = self
        if found.buffer is None:
            known = dims if shapes.known(dims) else self.dims
            if not shapes.known(known):
                raise Untraceable("a list of elements of unknown shape is read")
            found = self.of_elements(known)
        if not found.capacity:
            return jnp.zeros(found.buffer.shape[1:], found.buffer.dtype)
        row = lax.dynamic_slice_in_dim(
            found.buffer, jnp.asarray(index), 1, allow_negative_indices=False
        )
        return lax.squeeze(row, (0,))

    def with_item(self, index: Any, item: Any, resize: bool = False) -> List:
        """The list with another element."""
        found = self.of_elements(np.shape(item))
        if resize:
            if is_traced(index) or found.base is not None:
                raise Untraceable("a list grows to an index that the program computes")
            if int(index) >= found.size:
                found = found.reserved(int(index) + 1).like(size=int(index) + 1)
        value = jnp.asarray(item)[None]
        buffer = lax.dynamic_update_slice_in_dim(
            found.buffer, value, jnp.asarray(index), 0, allow_negative_indices=False
        )
        return found.like(buffer=buffer)

    def pushed(self, item: Any) -> List:
        """The list with one more element."""
        found = self.of_elements(np.shape(item))
        if found.base is None:
            found = found.reserved(found.size + 1)
        elif not found.capacity:  # of a loop that is tried: see control_flow
            found = found.reserved(1)
        return found.with_item(found.length, item).like(size=found.size + 1)

    def popped(self, dims: Dims) -> tuple[List, Any]:
        """The list without its last element, and that."""
        rest = self.like(size=self.size - 1)
        if rest.base is None and rest.size < 0:
            raise Untraceable("an element is taken from an empty list")
        return rest, rest.get(rest.length, dims)

    # -- all elements --------------------------------------------------------------------------

    def rows(self, dims: Dims) -> Any:
        """The elements as the rows of an array. Raises Untraceable if their number is not known."""
        if self.base is not None:
            raise Untraceable("the number of elements of a list depends on data")
        if self.buffer is None:
            known = dims if shapes.known(dims) else self.dims
            if not shapes.known(known):
                raise Untraceable("a list of elements of unknown shape is stacked")
            return self.of_elements(known).rows(known)
        return self.buffer[: self.size]


_PARTS = ("element", "dims", "buffer", "capacity", "size", "base", "limit")
