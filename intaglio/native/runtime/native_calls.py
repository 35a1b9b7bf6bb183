"""Calls of compiled functions in machine code: arguments are recognised, results made and wrapped.

One built-in function, compiled once, reads for each trace a table of small steps: this argument
is a tuple of two, its first part a tensor of this dtype and shape, its second that very object.
Whatever is not as the table says it answers with a miss, and the general way is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from intaglio.ir.graph import Graph
from intaglio.native import fallback
from intaglio.native.llvm import jit
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import LEAST
from intaglio.native.runtime.call_code import HEADER, dispatcher
from intaglio.native.runtime.objects import AVAILABLE, ITEMS, symbols

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
        self.steps += [TENSOR, source, self.inputs, id(array.dtype), array.ndim, *array.shape]
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


class CompiledProgram(Protocol):
    """What a call has to know of a program (`native/program.py`)."""

    graph: Graph
    address: int
    kernel: Any
    memory: int
    refuses: bool
    rounds: bool
    writes: Sequence[int]
    draws: Sequence[Any]
    derived: Sequence[Any]
    results: Sequence[Any]

    @property
    def plain_results(self) -> bool:
        """True if results are arrays of known shapes."""
        ...


def call(program: CompiledProgram, table: Table, miss: Any, single: bool) -> Any:
    """The built-in function of (args, kwargs) that does a call of a program, or gives `miss`.

    None where it cannot be: for programs that write to variables, or need much memory, or may
    have drawn random numbers when they miss; nor for large results, whose memory is used again.
    """
    try:
        return _call(program, table, miss, single)
    except Exception as e:
        fallback.failed(program.graph.name, e)
        return None


def _call(program: CompiledProgram, table: Table, miss: Any, single: bool) -> Any:
    plain = not (program.writes or program.draws) and table.inputs == len(program.graph.inputs)
    if (
        not AVAILABLE
        or not plain
        or program.memory > STACK
        or not program.plain_results
        or program.rounds
        or program.derived
    ):
        return None
    if any(held.bytes >= LEAST for held in program.results):
        return None
    results: list[int] = []
    for value, held in zip(program.graph.outputs, program.results, strict=True):
        dtype = value.dtype.numpy
        table.keep.append(dtype)
        results += [id(dtype), len(held.shape), *held.shape]
    frame = program.kernel.__self__
    header = {
        **symbols(),
        "miss": id(miss),
        "kernel": program.address,
        "dims": id(frame) + entry.BYTES + 8 * len(entry.PROCESS),
        "memory": program.memory,
        "refuses": int(program.refuses),
        "results": len(program.results),
        "single": int(single),
        "inputs": max(table.inputs, 1),
        "objects": table.objects,
        "made": len(HEADER) + len(table.steps) + 1,
    }
    words = [*[header[name] for name in HEADER], *table.steps, END, *results]
    held = np.asarray(words, np.int64).tobytes()
    return _dispatcher().function(held, [program, table.keep, miss])


@functools.cache
def _dispatcher() -> entry.Definition:
    made = jit.module(dispatcher(ITEMS))
    return entry.Definition("call", made.address("dispatch"), made)
