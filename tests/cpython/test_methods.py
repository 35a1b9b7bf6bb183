"""Functions and methods made of C code keep what they need, and pass their owner on."""

from __future__ import annotations

import ctypes
import gc
import weakref

import pytest

from intaglio import cpython
from intaglio.cpython.methods import FunctionDefinition, MethodDefinition

pytestmark = pytest.mark.skipif(not cpython.AVAILABLE, reason="this build is portable")

FASTCALL = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)
ONE_ARGUMENT = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)


class Kept:
    pass


def address(function) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@FASTCALL
def describe(owner, arguments, count):
    words = (ctypes.c_void_p * count).from_address(arguments) if count else ()
    return owner, [ctypes.cast(w, ctypes.py_object).value for w in words]


@ONE_ARGUMENT
def joined(self, other):
    return self, other


def test_a_function_passes_its_owner_and_arguments() -> None:
    definition = FunctionDefinition("describe", address(describe), describe)
    first, second = definition.function(b"first"), definition.function(b"second")
    assert first() == (b"first", [])
    assert second(1, "two", None) == (b"second", [1, "two", None])
    assert first.__self__ == b"first" and first.__name__ == "describe"
    with pytest.raises(TypeError, match="keyword"):
        first(x=1)


def test_a_function_keeps_its_definition_and_arguments() -> None:
    code, kept = Kept(), Kept()
    seen = [weakref.ref(code), weakref.ref(kept)]
    function = FunctionDefinition("describe", address(describe), code).function(b"", kept)
    del code, kept
    gc.collect()
    assert all(ref() is not None for ref in seen)
    assert function(7) == (b"", [7])
    del function
    gc.collect()
    assert [ref() for ref in seen] == [None, None]


def test_a_method_belongs_to_its_type() -> None:
    class Number:
        pass

    definition = MethodDefinition("joined", address(joined), "Both.")
    Number.joined = definition.method(Number)
    number = Number()
    assert number.joined(3) == (number, 3)
    assert Number.joined.__doc__ == "Both." and Number.joined.__name__ == "joined"
    with pytest.raises(TypeError):
        Number.joined(object(), 3)  # another type
    assert MethodDefinition("joined", address(joined)).method(Number).__doc__ is None
