"""Reference counts: whether an object has other owners than the caller's variable.

A count includes the references of the caller's variable and of the functions that count. How many
those are differs between versions of CPython, so they are measured on an object without other owners.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from intaglio.cpython.layout import AVAILABLE


def _unknown(value: Any) -> int:
    return sys.maxsize


_count = getattr(sys, "getrefcount", _unknown)


def _counted(value: Any) -> int:
    return _count(value)


def _calibrated() -> int:
    """The count that a function sees for an object that only its caller's variable refers to."""
    value = object()
    return _counted(value)


_OWN = _calibrated()
# The count that `map` sees for an element of a list to which nothing else refers.
_OWN_OF_LIST = next(map(_count, [object()]))
# Where counts are unreliable, numbers that no count equals.
_NEVER = -(1 << 32)
_SOLE = _OWN if AVAILABLE else _NEVER
_SOLE_OF_LIST = _OWN_OF_LIST if AVAILABLE else _NEVER


def other_references(value: Any) -> int:
    """The number of references besides that of the local variable that the caller passes.

    The number has a meaning only while the interpreter's lock keeps other threads from changing it.
    """
    return _count(value) - _OWN


def is_sole_owner(value: Any, others: int = 0) -> bool:
    """True if nothing refers to an object but the local variable that the caller passes,
    and `others` further references that the caller knows of.

    Never true where `AVAILABLE` is false.
    """
    return _count(value) == _SOLE + others


def shared(values: Sequence[Any], others: int = 0) -> list[int]:
    """The indices of the values to which more than the list itself refers, and `others` further references.

    The values are distinct objects. All of them where `AVAILABLE` is false.
    """
    counts, sole = [*map(_count, values)], _SOLE_OF_LIST + others
    if counts.count(sole) == len(counts):  # most lists: without a loop in Python
        return []
    return [i for i, count in enumerate(counts) if count != sole]
