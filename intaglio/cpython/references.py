"""Reference counts: whether an object has other owners than the caller's variable.

A count includes the references of the caller's variable and of the functions that count. How many
those are differs between versions of CPython, so they are measured on an object without other owners.
"""

from __future__ import annotations

import sys
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
# Where counts are unreliable, a number that no count equals.
_SOLE = _OWN if AVAILABLE else -(1 << 32)


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
