"""`tf.__operators__`: the functions behind operators, under TensorFlow's private namespace."""

from __future__ import annotations

from typing import Any

from intaglio.base.composite import CompositeTensor
from intaglio.opdef import operators
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.slicing import getitem as _slice
from intaglio.ragged.indexing import ragged_getitem


@dispatchable
def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y."""
    if any(isinstance(v, CompositeTensor) for v in (x, y)):
        return x + y
    first, second = operators.pair(x, y)
    return first + second


@dispatchable
def eq(self: Any, other: Any) -> Any:
    """x == y, element by element."""
    return self == other


@dispatchable
def ne(self: Any, other: Any) -> Any:
    """x != y, element by element."""
    return self != other


@dispatchable
def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """tensor[slice_spec]."""
    return _slice(operators.pair(tensor, tensor)[0], slice_spec)


__all__ = ["add", "eq", "getitem", "ne", "ragged_getitem"]
