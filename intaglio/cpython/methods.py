"""Built-in functions and methods that call machine code at an address."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

# The calling conventions METH_FASTCALL, `object (self, object *arguments, ssize_t count)`, and METH_O,
# `object (self, object argument)`.
_FASTCALL, _ONE_ARGUMENT = 0x0080, 0x0008


class _MethodDef(ctypes.Structure):
    """The C struct PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_new_function = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object
)(("PyCFunction_NewEx", ctypes.pythonapi))
_new_method = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)(
    ("PyDescr_NewMethod", ctypes.pythonapi)
)


class FunctionDefinition:
    """Code of the form `object (self, object *arguments, ssize_t count)`, and functions that run it."""

    def __init__(self, name: str, address: int, keep: Any) -> None:
        """`keep` owns the code."""
        self._definition = _MethodDef(name.encode(), address, _FASTCALL, None)
        self._keep = keep

    def function(self, owner: Any, keep: Any = None) -> Callable[..., Any]:
        """The built-in function that passes `owner` to the code as `self`; it keeps `keep` alive.

        The object to keep alive is stored as the function's `__module__`, to which it holds a reference.
        """
        return _new_function(ctypes.addressof(self._definition), owner, [self, keep])


class MethodDefinition:
    """Code of the form `object (self, object argument)` as a method of a type."""

    def __init__(self, name: str, address: int, doc: str | None = None) -> None:
        """The definition must live as long as the method does; `name` is the method's."""
        self._definition = _MethodDef(
            name.encode(), address, _ONE_ARGUMENT, doc.encode() if doc else None
        )

    def method(self, owner: type) -> Any:
        """The method descriptor, to be set as an attribute of its type."""
        return _new_method(owner, ctypes.addressof(self._definition))
