"""Reductions of the rows that share a segment number, in machine code: one pass over the rows.

Rows are combined in order, as NumPy does with rows that are not short, so that the results have the
same bits. The numbers may be in any order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Builder, Lanes, kind_of
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator

Run = Callable[..., Any]

# The words of the kernel: the number of rows to combine, and their length.
WORDS = ("rows", "width")
DTYPES = tuple(map(np.dtype, ("f4", "f8", "i4", "i8")))
# By the names of the ufuncs; which zero an extreme is does not depend on the order of the rows.
COMBINED: dict[str, Callable[[Builder, Lanes, Lanes], Lanes]] = {
    "add": Builder.add,
    "multiply": Builder.mul,
    "maximum": Builder.greatest,
    "minimum": Builder.least,
}


class _Runs:
    """Emits the kernel that combines rows in the results; `seen` says which results have a row.

    The rows are all rows, or those that indices select. Consecutive rows with one number are
    combined in registers, some vectors of columns at a time.
    """

    def __init__(self, how: str, taken: bool, dtype: Any) -> None:
        self.how, self.kind = how, kind_of(dtype)
        self.code = code = Code(_name(how, taken, dtype), entry.KERNEL)
        self.data, indices, self.numbers, words = (
            code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(4)
        )
        self.indices = indices if taken else ""
        self.out, self.seen = (code.load("ptr", code.at("ptr", "%outs", str(i)), 8) for i in (0, 1))
        self.rows, self.width = (
            code.load("i64", code.at("i64", words, str(i)), 8) for i in range(len(WORDS))
        )
        self.size = code.integer("mul", self.width, self.kind.bytes)

    def kernel(self) -> Kernel:
        """The kernel."""
        code = self.code
        outer, run, done = map(code.new_label, ("outer", "run", "done"))
        entered = code.block
        code.jump(outer)
        code.label(outer)
        start = code.phi("i64")
        code.branch(code.integer("icmp slt", start.name, self.rows), run, done)
        code.label(run)
        number = self._number(start.name)
        stop = self._end_of_run(start.name, number)
        flag, target = code.at("i8", self.seen, number), self._row(self.out, number)
        fresh = code.let(f"icmp eq i8 {code.load('i8', flag, 1)}, 0")
        code.do(f"store i8 1, ptr {flag}, align 1")
        # A result is initialised with its first row.
        one = self._row(self.data, self._taken(start.name))
        base = code.let(f"select i1 {fresh}, ptr {one}, ptr {target}")
        first = code.integer("add", start.name, code.let(f"zext i1 {fresh} to i64"))
        self._combine(target, base, first, stop)
        code.arrive(start, ("0", entered), (stop, code.block))
        code.jump(outer)
        code.label(done)
        code.do("ret void")
        return Kernel(code, 4, 2)

    def _number(self, row: str) -> str:
        return self.code.load("i64", self.code.at("i64", self.numbers, row), 8)

    def _taken(self, row: str) -> str:
        if not self.indices:
            return row
        return self.code.load("i64", self.code.at("i64", self.indices, row), 8)

    def _row(self, base: str, number: str) -> str:
        return self.code.at("i8", base, self.code.integer("mul", number, self.size))

    def _end_of_run(self, start: str, number: str) -> str:
        """The next row with another number, or the number of rows."""
        code = self.code
        head, compare, ended = map(code.new_label, ("head", "compare", "ended"))
        after, entered = code.integer("add", start, 1), code.block
        code.jump(head)
        code.label(head)
        row = code.phi("i64")
        code.branch(code.integer("icmp slt", row.name, self.rows), compare, ended)
        code.label(compare)
        following = code.integer("add", row.name, 1)
        code.arrive(row, (after, entered), (following, compare))
        code.branch(code.integer("icmp eq", self._number(row.name), number), head, ended)
        code.label(ended)
        return row.name

    def _combine(self, target: str, base: str, first: str, stop: str) -> None:
        """Combines rows into `target`, which starts with `base`: vectors of columns, and then the
        rest one by one."""
        code, kind = self.code, self.kind
        lanes = jit.WIDTH // kind.bytes
        whole = code.integer("and", self.width, -lanes)
        half = code.integer("and", code.integer("sub", self.width, whole), -(lanes // 2))
        rest = code.integer("add", whole, half)
        bounds = (("0", whole, lanes), (whole, rest, lanes // 2), (rest, self.width, 1))
        for begin, end, step in bounds:
            s = Builder(code, step, 1)
            form = s.vector(kind)
            with code.loop(begin, end, step) as j:
                x = code.load(form, code.at(kind.llvm, base, j), kind.bytes)
                with code.carrying(first, stop, 1, (form, x)) as state:
                    row = self._row(self.data, self._taken(state.index))
                    y = code.load(form, code.at(kind.llvm, row, j), kind.bytes)
                    combined = COMBINED[self.how](
                        s, Lanes(kind, (state.values[0],)), Lanes(kind, (y,))
                    )
                    state.following.extend(combined.names)
                there = code.at(kind.llvm, target, j)
                code.do(f"store {form} {state.values[0]}, ptr {there}, align {kind.bytes}")


def _name(how: str, taken: bool, dtype: Any) -> str:
    return f"segments_{how}_{'taken_' if taken else ''}{dtype.name}"


@functools.cache
def _library(how: str, taken: bool, dtype: Any) -> Library:
    return Library(lambda: Source([_Runs(how, taken, dtype).kernel()]))


def reduction(how: str, taken: bool, dtype: Any) -> Run | None:
    """(data, indices, numbers, count, empty) to the rows with equal numbers combined by a ufunc.

    The rows are `data[indices]` if they are `taken`, else all, and the indices are not used. They are
    within bounds, the numbers from 0 to `count`. Segments without rows are filled with `empty`.
    """
    dtype = np.dtype(dtype)
    if not entry.AVAILABLE or dtype not in DTYPES or how not in COMBINED:
        return None
    library = _library(how, taken, dtype)
    kernel = library.entry(_name(how, taken, dtype), shared=False).for_dims((1,))

    def run(data: Any, indices: Any, numbers: Any, count: int, empty: Any) -> Any:
        rest = data.shape[1:]
        words = np.array([len(numbers), math.prod(rest)], np.int64)
        result = allocator((count, *rest), dtype)()
        seen = np.zeros(count, np.bool_)
        rows, numbers = np.ascontiguousarray(data), np.ascontiguousarray(numbers, np.int64)
        indices = np.ascontiguousarray(indices, np.int64) if taken else numbers
        kernel(rows, indices, numbers, words, result, seen)
        if not seen.all():
            result[~seen] = empty
        return result

    return run
