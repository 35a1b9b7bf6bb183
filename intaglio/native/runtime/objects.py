"""What code needs to know of the objects of a process: where their parts stand, what makes them.

Offsets in objects are verified on live ones when the module is imported, as those of `entry` are.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from intaglio.native.runtime import entry
from intaglio.native.runtime.object_code import DESCR
from intaglio.runtime.eager import EagerTensor

# Where things stand in objects that `entry` does not know. The parts of a tuple stand behind what
# all tuples have, which since Python 3.14 is a word more: their hash.
SIZE, ITEMS, LIST_ITEMS = 16, tuple.__basicsize__, 24


def address(name: str) -> int:
    """Where a function of the interpreter is."""
    function = getattr(ctypes.pythonapi, name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@functools.cache
def symbols() -> dict[str, int]:
    """What code refers to that makes and recognises objects."""
    return {
        "tensor": id(EagerTensor),
        "slot": _slot(),
        "array": id(np.ndarray),
        "tuple": id(tuple),
        "list": id(list),
        "dict": id(dict),
        "new_array": _new_array(),
        "new_object": address("PyType_GenericAlloc"),
        "incref": address("Py_IncRef"),
        "decref": address("Py_DecRef"),
        "item": address("PyDict_GetItem"),
        "new_tuple": address("PyTuple_New"),
    }


def _new_array() -> int:
    """The address of NumPy's PyArray_NewFromDescr, the 94th of its functions."""
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]  # where every extension finds it
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = (ctypes.c_void_p * 95).from_address(pointer(capsule, None))
    return table[94] or 0


def _slot() -> int:
    """Where a tensor refers to its array; 0 if that is not to be found."""
    array = np.zeros(1)
    tensor = EagerTensor()
    tensor._array = array
    return place_of(tensor, array)


def place_of(owner: Any, part: Any) -> int:
    """Where an object with slots refers to another; 0 if that is not to be found."""
    word = ctypes.c_void_p.from_address
    places = range(16, type(owner).__basicsize__, 8)
    found = [at for at in places if word(id(owner) + at).value == id(part)]
    return found[0] if len(found) == 1 else 0


def _verified() -> bool:
    """True if objects look as the code expects."""
    if not entry.AVAILABLE:
        return False
    word, size = ctypes.c_void_p.from_address, ctypes.c_ssize_t.from_address
    first, second = object(), object()
    sequence, listed, mapping = (first, second), [first, second], {1: first, 2: second}
    array = np.zeros((2, 3), np.float32)
    items = word(id(listed) + LIST_ITEMS).value or 0
    return (
        [size(id(x) + SIZE).value for x in (sequence, listed, mapping)] == [2, 2, 2]
        and word(id(sequence) + ITEMS).value == id(first)
        and word(id(sequence) + ITEMS + 8).value == id(second)
        and word(items + 8).value == id(second)
        and word(id(array) + DESCR).value == id(array.dtype)
        and _slot() > 0
    )


AVAILABLE = _verified()
