"""Tensors of variants: Python objects in a row or a table, as arrays are handled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from intaglio.base.dtypes import VARIANT_MARKER, variant
from intaglio.opdef.spec import Spec


class VariantTensor:
    """A variant that holds an array."""

    __slots__ = ("array",)
    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = Spec(variant, ())

    def __init__(self, array: Any) -> None:
        self.array = array

    def __repr__(self) -> str:
        return "<tensorflow::Tensor>"


class Variants(Sequence[Any]):
    """A tensor of variants with at least one dimension: its elements one after the other.

    Rows and parts are taken from it as from an array.
    """

    __slots__ = ("items", "shape")
    dtype = VARIANT_MARKER

    def __init__(self, items: list[Any], shape: tuple[int, ...]) -> None:
        self.items = items
        self.shape = shape

    @classmethod
    def stacked(cls, parts: Sequence[Any]) -> Variants:
        """Variants, or tensors of variants of one shape, as the rows of another."""
        inner = parts[0].shape
        if not inner:
            return cls(list(parts), (len(parts),))
        return cls([i for part in parts for i in part.items], (len(parts), *inner))

    @classmethod
    def joined(cls, parts: Sequence[Variants]) -> Variants:
        """Tensors of variants with rows of one shape, one behind the other."""
        rows = sum([part.shape[0] for part in parts])
        items = [i for part in parts for i in part.items]
        return cls(items, (rows, *parts[0].shape[1:]))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of variants."""
        return len(self.items)

    @property
    def spec(self) -> Spec:
        """The spec of the tensor."""
        return Spec(variant, self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def _in_array(self) -> np.ndarray:
        """The variants as elements of an array, which takes every index."""
        array = np.empty(len(self.items), object)
        for i, item in enumerate(self.items):
            array[i] = item
        return array.reshape(self.shape)

    @overload
    def __getitem__(self, index: int | tuple[Any, ...]) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Variants: ...
    def __getitem__(self, index: int | slice | tuple[Any, ...]) -> Any:
        if isinstance(index, tuple):
            rest = () if Ellipsis in index else (...,)
            part = self._in_array()[(*index, *rest)]
            return Variants(part.reshape(-1).tolist(), part.shape) if part.ndim else part.item()
        inner = self.shape[1:]
        width = math.prod(inner)
        if isinstance(index, slice):
            begin, end, step = index.indices(len(self))
            if step != 1:
                raise IndexError("variants are taken from a tensor one after the other")
            count = max(end - begin, 0)
            items = self.items[begin * width : (begin + count) * width]
            return Variants(items, (count, *inner))
        at = range(len(self))[index]
        if not inner:
            return self.items[at]
        return Variants(self.items[at * width : (at + 1) * width], inner)

    def __iter__(self) -> Iterator[Any]:
        # A list's iterator: it has the number of elements left, and can be positioned.
        rows = [self[i] for i in range(len(self))] if self.shape[1:] else self.items
        return iter(rows)

    def __repr__(self) -> str:
        return f"<{len(self.items)} variants>"


__all__ = ["VariantTensor", "Variants"]
