"""Hashable keys that are equal for nodes which compute the same, for common subexpressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.ir.graph import Node

# Constants of at most this many bytes are compared by their bytes, larger ones by identity.
MAX_COMPARED_BYTES = 1 << 12

_PLAIN = frozenset([str, int, DType])


def value_key(value: Any) -> Any:
    """A key of an attribute's value, in which 0.0 is not -0.0, and 1 is not True.

    The key is unhashable if the value is.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, np.ndarray):
        if value.dtype == object or value.nbytes > MAX_COMPARED_BYTES:
            return ("array", id(value))
        return ("array", value.dtype.str, value.dtype.num, value.shape, value.tobytes())
    if isinstance(value, float):
        return ("float", value.hex())
    if kind is tuple:
        return tuple([value_key(v) for v in value])
    return (kind, value)


def attributes_key(node: Node) -> Any:
    """A key of a node's attributes."""
    return tuple([(k, value_key(v)) for k, v in node.attrs.items()]) if node.attrs else ()
