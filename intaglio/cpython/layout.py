"""The offsets of objects' fields, and the addresses of objects, types and C functions.

Offsets are in bytes and hold for 64-bit builds with a global interpreter lock. They are checked on
live objects when this module is imported; `AVAILABLE` is the result.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from types import CellType
from typing import Any

import numpy as np

from intaglio.cpython import capsules
from intaglio.cpython.portable import PORTABLE

# PyObject: `ob_refcnt` and `ob_type`, 8 bytes each.
REFERENCE_COUNT, TYPE = 0, 8
# PyVarObject: `ob_size`, int64. A dict has its number of items there.
SIZE = 16
# PyDictObject: the version, a number unique among dicts that every change replaces (PEP 509). Removed in Python
# 3.14.
DICT_VERSION = 24
# The reference to the `__dict__` of an object of a Python class precedes the object (PEP 659); its lowest bit is
# set while the attributes are in no dict.
MANAGED_DICT = -24
# PyTypeObject: the version tag (uint32), unique among classes, which a change of the class or of a base class sets
# to 0 until an attribute is looked up.
TYPE_VERSION = 384
# PyBytesObject: the offset of its bytes, which a zero byte follows.
BYTES_DATA = bytes.__basicsize__ - 1
# PyTupleObject: the offset of its items. Since Python 3.14 the tuple's hash precedes them.
TUPLE_ITEMS = tuple.__basicsize__
# PyListObject: the pointer to its items.
LIST_ITEMS = 24
# PyCellObject: the contents, or null.
CELL_CONTENTS = 16
# PyArrayObject: data pointer, number of dimensions (int32), pointer to the lengths (int64 each),
# dtype, flags (int32).
ARRAY_DATA, ARRAY_RANK, ARRAY_LENGTHS, ARRAY_DTYPE, ARRAY_FLAGS = 16, 24, 32, 56, 64
# The flags of an aligned array in C order: NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED.
ARRAY_CONTIGUOUS, ARRAY_ALIGNED = 0x0001, 0x0100
ARRAY_IN_ORDER = ARRAY_CONTIGUOUS | ARRAY_ALIGNED
# Whether None, NotImplemented and the like need no reference count (PEP 683).
IMMORTAL_SINGLETONS = sys.version_info >= (3, 12)

# C functions that machine code calls, by this package's names for them.
_FUNCTIONS = {
    "acquire_lock": "PyThread_acquire_lock",  # int (lock, int wait)
    "allocate_object": "PyType_GenericAlloc",  # object (type, ssize_t items)
    "call": "PyObject_CallFunctionObjArgs",  # object (function, arguments..., null)
    "check_signals": "PyErr_CheckSignals",  # int (): runs handlers; -1 with an exception set
    "decref": "Py_DecRef",  # void (object)
    "clear_error": "PyErr_Clear",  # void ()
    "dict_get": "PyDict_GetItem",  # borrowed object or null (dict, key)
    "ensure_lock": "PyGILState_Ensure",  # int32 (): takes the interpreter's lock, if need be
    "error_occurred": "PyErr_Occurred",  # borrowed object or null (): the exception that is set
    "float_as_double": "PyFloat_AsDouble",  # double (float)
    "get_attribute": "PyObject_GetAttr",  # object or null (object, name)
    "get_item": "PyObject_GetItem",  # object or null (object, key)
    "incref": "Py_IncRef",  # void (object)
    "int_as_int64": "PyLong_AsLongLongAndOverflow",  # int64 (int, int *overflow)
    "int_from_address": "PyLong_FromVoidPtr",  # object (address)
    "new_bytes": "PyBytes_FromStringAndSize",  # object (char *data, ssize_t size)
    "new_tuple": "PyTuple_New",  # object (ssize_t size)
    "release_ensured": "PyGILState_Release",  # void (int32): ends what `ensure_lock` began
    "release_lock": "PyThread_release_lock",  # void (lock)
    "restore_thread": "PyEval_RestoreThread",  # void (state): takes the interpreter's lock
    "save_thread": "PyEval_SaveThread",  # state (): releases the interpreter's lock
    "thread_state": "PyGILState_GetThisThreadState",  # state (): the calling thread's
}
# Indices in the table of functions that NumPy passes to extensions, which never change.
_NUMPY_FUNCTIONS = {
    # array (type, dtype, int rank, ssize_t *lengths, null, null, int flags, null); steals the dtype
    "new_array": 94  # PyArray_NewFromDescr
}


def address_of(value: Any) -> int:
    """The address of an object. The caller keeps it alive as long as the address is used."""
    return id(value)


def bytes_address(value: bytes) -> int:
    """The address of the first byte of a `bytes` object."""
    return id(value) + BYTES_DATA


@functools.cache
def function_address(name: str) -> int:
    """The address of a C function of the interpreter or of NumPy. Raises KeyError for an unknown name."""
    number = _NUMPY_FUNCTIONS.get(name)
    if number is not None:
        # The attribute through which extensions import NumPy's table of functions. NumPy 1 has it in `numpy.core`.
        core: Any = getattr(np, "_core", None) or np.core
        table = capsules.pointer(core._multiarray_umath._ARRAY_API, None)
        return _word(table + 8 * number)
    function = getattr(ctypes.pythonapi, _FUNCTIONS[name])
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def slot_offset(owner: Any, value: Any) -> int:
    """The offset of the slot of an object that refers to `value`; 0 if no slot does, or several do.

    CPython chooses the order of the `__slots__` of types written in Python.
    """
    address, target = id(owner), id(value)
    slots = range(SIZE, type(owner).__basicsize__, 8)
    found = [offset for offset in slots if _word(address + offset) == target]
    return found[0] if len(found) == 1 else 0


def dict_offset(owner: Any) -> int:
    """The offset of an object's reference to its `__dict__`, which is created if necessary; 0 if not known.

    Raises TypeError if it has none.
    """
    address, attributes = id(owner), id(vars(owner))
    offset = type(owner).__dictoffset__
    candidates = [MANAGED_DICT] if offset < 0 else [offset] if offset else []
    return next((o for o in candidates if _word(address + o) == attributes), 0)


# -- verification ------------------------------------------------------------------------


def _word(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def _words(address: int, count: int) -> list[int]:
    return [_word(address + 8 * i) for i in range(count)]


def _half(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def _array_verified(array: np.ndarray) -> bool:
    """True if NumPy arrays have their fields at these offsets."""
    address = id(array)
    flags = _half(address + ARRAY_FLAGS)
    # A pointer is dereferenced only after all other checks.
    return (
        _word(address + TYPE) == id(np.ndarray)
        and _word(address + ARRAY_DATA) == array.ctypes.data
        and _half(address + ARRAY_RANK) == array.ndim
        and _word(address + ARRAY_DTYPE) == id(array.dtype)
        and bool(flags & ARRAY_CONTIGUOUS) == array.flags.c_contiguous
        and bool(flags & ARRAY_ALIGNED) == array.flags.aligned
        and _words(_word(address + ARRAY_LENGTHS), array.ndim) == [*array.shape]
    )


def _bytes_verified(text: bytes) -> bool:
    """True if `bytes` objects have their fields at these offsets."""
    found = ctypes.string_at(bytes_address(text), len(text) + 1)
    return _word(id(text) + SIZE) == len(text) and found == text + b"\0"


def _containers_verified() -> bool:
    """True if tuples, lists, dicts and cells have their fields at these offsets."""
    items = [object(), object()]
    pair, mapping = (*items,), dict.fromkeys(items)
    addresses = [id(item) for item in items]
    cell = CellType(items)
    return (
        [_word(id(x) + SIZE) for x in (pair, items, mapping)] == [2, 2, 2]
        and _words(id(pair) + TUPLE_ITEMS, 2) == addresses
        and _words(_word(id(items) + LIST_ITEMS), 2) == addresses
        and _word(id(cell) + CELL_CONTENTS) == id(items)
    )


def _versions_verified() -> bool:
    """True if each kind of change gives a dict a new version, and reading does not."""
    space: dict[str, Any] = {"x": 1}
    changes: list[Callable[[], Any]] = [
        lambda: space.update(x=2),
        lambda: space.__setitem__("y", 3),
        lambda: space.pop("y"),
        lambda: space.__delitem__("x"),
        lambda: space.setdefault("x", 4),
        space.popitem,
        space.clear,
    ]
    found = [_word(id(space) + DICT_VERSION)]
    for change in changes:
        change()
        found.append(_word(id(space) + DICT_VERSION))
        space.get("x")
        if _word(id(space) + DICT_VERSION) != found[-1]:
            return False
    return len(set(found)) == len(found)


def _attribute_versions_verified() -> bool:
    """True if each change of an attribute gives the object's dict, or the class, a new version.

    Python 3.13 writes attributes without changing the version of the dict.
    """

    class Owner:
        of_class: Any = 0

    owner, names = Owner(), ["x", "y"]
    offset = dict_offset(owner)
    if not offset:
        return False

    def store(value: Any) -> None:
        owner.x = value  # pyright: ignore[reportAttributeAccessIssue]  # an attribute that is new

    changes: list[Callable[[], Any]] = [
        *[functools.partial(store, i) for i in range(64)],  # CPython specialises the instruction
        lambda: setattr(owner, "y", 0),
        *[functools.partial(delattr, owner, name) for name in names],
        lambda: vars(owner).update(x=0),
        lambda: setattr(owner, "__dict__", {"x": 1}),
    ]
    found: list[tuple[int, int]] = []
    for change in changes:
        change()
        reference = _word(id(owner) + offset)
        if reference & 1:
            return False
        found.append((_word(reference + DICT_VERSION), 0))
    for value in range(3):
        Owner.of_class = value
        if _half(id(Owner) + TYPE_VERSION) != 0 or owner.of_class != value:
            return False
        found.append((0, _half(id(Owner) + TYPE_VERSION)))
    return len(set(found)) == len(found) and (0, 0) not in found


def _verified() -> bool:
    """True if live objects of every kind have their fields at these offsets."""
    if PORTABLE or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    aligned = np.arange(3.0)
    arrays = (
        aligned,
        np.zeros((2, 3), "i4"),
        np.arange(6)[::2],
        np.zeros(()),
        aligned.view(np.uint8)[1:17].view(np.float64),  # not aligned
    )
    return (
        all([_array_verified(array) for array in arrays])
        and all([_bytes_verified(text) for text in (b"", b"x", b"offsets of bytes")])
        and _containers_verified()
    )


AVAILABLE = _verified()
# Whether an equal version proves that a dict has not changed.
DICTS_HAVE_VERSIONS = AVAILABLE and sys.version_info < (3, 14) and _versions_verified()
# Whether equal versions of an object's dict and class prove that its attributes have not changed.
ATTRIBUTES_HAVE_VERSIONS = DICTS_HAVE_VERSIONS and _attribute_versions_verified()
