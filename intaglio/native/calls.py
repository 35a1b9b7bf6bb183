"""Calls of compiled functions in machine code: arguments are recognised, results made and wrapped.

One built-in function, compiled once, reads for each trace a table of small steps: this argument
is a tuple of two, its first part a tensor of this dtype and shape, its second that very object.
Whatever is not as the table says it answers with a miss, and the general way is taken. Offsets in
objects are verified on live ones when the module is imported, as those of `entry` are.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.native import entry, llvm
from intaglio.native.call_code import HEADER, dispatcher
from intaglio.native.programs import Program
from intaglio.runtime.eager import EagerTensor

# Where things stand in objects that `entry` does not know. The parts of a tuple stand behind what
# all tuples have, which since Python 3.14 is a word more: their hash.
SIZE, ITEMS, LIST_ITEMS, DESCR = 16, tuple.__basicsize__, 24, 56
# Memory that a call may have on the stack, in bytes.
STACK = 1 << 15

END, TUPLE, LIST, DICT, KEY, TENSOR, SAME, FIXED, ALIVE = range(9)


class Table:
    """The steps that recognise a call, and what must live as long as they."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.keep: list[Any] = []
        self.objects = 2
        self.inputs = 0

    def new(self, count: int = 1) -> int:
        """Numbers for objects."""
        self.objects += count
        return self.objects - count

    def sequence(self, source: int, value: Any) -> int:
        """A tuple or list of so many; gives the number of its first part."""
        first = self.new(len(value))
        kind = TUPLE if type(value) is tuple else LIST
        self.steps += [kind, source, len(value), first]
        return first

    def mapping(self, source: int, keys: Sequence[Any]) -> list[int]:
        """A dict with these keys; gives the numbers of their values."""
        self.steps += [DICT, source, len(keys)]
        found: list[int] = []
        for key in keys:
            found.append(self.new())
            self.keep.append(key)
            self.steps += [KEY, source, id(key), found[-1]]
        return found

    def tensor(self, source: int, array: Any) -> None:
        """A tensor of the dtype and shape of this array: the next input."""
        self.keep.append(array.dtype)
        self.steps += [TENSOR, source, self.inputs, id(array.dtype), array.ndim, *array.shape]  # fmt: skip
        self.inputs += 1

    def same(self, source: int, value: Any) -> None:
        """That very object."""
        self.keep.append(value)
        self.steps += [SAME, source, id(value)]

    def fixed(self, array: Any) -> None:
        """An array that is always the same: the next input."""
        self.keep.append(array)
        self.steps += [FIXED, self.inputs, array.ctypes.data]
        self.inputs += 1

    def alive(self) -> Callable[[], None]:
        """A flag without which every call misses; gives the function that takes it away."""
        flag = np.ones(1, np.int64)
        self.keep.append(flag)
        self.steps += [ALIVE, flag.ctypes.data]
        return lambda: flag.fill(0)


def call(program: Program, table: Table, miss: Any, single: bool) -> Any:
    """The built-in function of (args, kwargs) that does a call of a program, or gives `miss`.

    None where it cannot be: for programs that write to variables, or need much memory, or may
    have drawn random numbers when they miss.
    """
    plain = not (program.writes or program.draws) and table.inputs == len(
        program.graph.inputs
    )
    if (
        not AVAILABLE
        or not plain
        or program.memory > STACK
        or not program.plain_results
        or program.rounds
    ):
        return None
    results: list[int] = []
    for value, held in zip(program.graph.outputs, program.results, strict=True):
        dtype = value.dtype.numpy
        table.keep.append(dtype)
        results += [id(dtype), len(held.shape), *held.shape]
    frame = program.kernel.__self__
    header = {
        **symbols(), "miss": id(miss), "kernel": program.address,
        "dims": id(frame) + entry.BYTES + 8 * len(entry.PROCESS),
        "memory": program.memory, "refuses": int(program.refuses),
        "results": len(program.results), "single": int(single),
        "inputs": max(table.inputs, 1), "objects": table.objects,
        "made": len(HEADER) + len(table.steps) + 1,
    }  # fmt: skip
    words = [*[header[name] for name in HEADER], *table.steps, END, *results]
    held = np.asarray(words, np.int64).tobytes()
    return _dispatcher().function(held, [program, table.keep, miss])


@functools.cache
def _dispatcher() -> entry.Definition:
    made = llvm.module(dispatcher(ITEMS))
    return entry.Definition("call", made.address("dispatch"), made)


def address(name: str) -> int:
    """Where a function of the interpreter is."""
    function = getattr(ctypes.pythonapi, name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@functools.cache
def symbols() -> dict[str, int]:
    """What code refers to that makes and recognises objects."""
    return {
        "tensor": id(EagerTensor), "slot": _slot(), "array": id(np.ndarray),
        "tuple": id(tuple), "list": id(list), "dict": id(dict),
        "new_array": _new_array(), "new_object": address("PyType_GenericAlloc"),
        "incref": address("Py_IncRef"), "decref": address("Py_DecRef"),
        "item": address("PyDict_GetItem"), "new_tuple": address("PyTuple_New"),
    }  # fmt: skip


def _new_array() -> int:
    """The address of NumPy's PyArray_NewFromDescr, the 94th of its functions."""
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]  # where every extension finds it
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]  # fmt: skip
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
