"""Who else refers to an object, by its reference count.

The count includes the references of the caller's variable and of the calls that count. How many
those are differs between versions of CPython, so an object that nobody else refers to says it.
"""

from __future__ import annotations

import sys
from typing import Any

from intaglio.cpython.layout import AVAILABLE


def _unknown(value: Any) -> int:
    return sys.maxsize


_count = getattr(sys, "getrefcount", _unknown)


def other_references(value: Any) -> int:
    """How many references there are besides that of one local variable, which the caller passes.

    Only the order of the interpreter's lock gives the number a meaning: see `is_sole_owner`.
    """
    return _count(value) - _OWN


def is_sole_owner(value: Any) -> bool:
    """True if nothing refers to an object but one local variable, which the caller passes.

    Never true where the interpreter's counts do not say it.
    """
    return AVAILABLE and _count(value) == _OWN


def _counted(value: Any) -> int:
    return _count(value)


def _calibrated() -> int:
    """What the functions above count for an object that only the caller's variable refers to."""
    value = object()
    return _counted(value)


_OWN = _calibrated()
