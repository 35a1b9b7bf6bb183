"""Capsules: objects that hand a C pointer from one extension to another."""

from __future__ import annotations

import ctypes
from typing import Any

_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)


def is_capsule(value: Any) -> bool:
    """True for a capsule, whatever its name."""
    return type(value).__name__ == "PyCapsule"


def is_valid(capsule: Any, name: bytes | None) -> bool:
    """True for a capsule of this name."""
    return bool(_is_valid(capsule, name))


def pointer(capsule: Any, name: bytes | None) -> int:
    """The pointer in a capsule of this name. Raises ValueError for anything else."""
    return _pointer(capsule, name) or 0
