"""Python functions that machine code calls by an address."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any


@functools.cache
def _prototype(pointers: int) -> Any:
    # ctypes takes the interpreter's lock before it calls the Python function.
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * pointers)


class Callback:
    """A C function `int64 (void *, ...)` that calls a Python function with the addresses.

    It must live as long as code may call it. The Python function returns an int and must not raise;
    a null pointer is None for it.
    """

    __slots__ = ("_function", "address")

    def __init__(self, function: Callable[..., int], pointers: int) -> None:
        self._function = _prototype(pointers)(function)
        self.address: int = ctypes.cast(self._function, ctypes.c_void_p).value or 0
