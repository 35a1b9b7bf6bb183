"""Sums of the rows that share a segment number, in machine code: one pass over the rows.

Rows are added one after the other, as NumPy adds them, so that the results are the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, kind_of
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator

Run = Callable[..., Any]

# The words of the kernel: how many rows are added, to how many, and their length.
WORDS = ("rows", "count", "width")
DTYPES = tuple(map(np.dtype, ("f4", "f8", "i4", "i8")))


def _add(code: Code, kind: Kind, target: str, row: str, width: str) -> None:
    """target += row, some vectors of it and then the rest one by one."""
    word = "fadd" if kind.letter == "f" else "add"
    lanes = jit.WIDTH // kind.bytes
    whole = code.integer("and", width, -lanes)

    def step(form: str, j: str) -> None:
        to, of = code.at(kind.llvm, target, j), code.at(kind.llvm, row, j)
        x, y = (code.load(form, pointer, kind.bytes) for pointer in (to, of))
        total = code.let(f"{word} {form} {x}, {y}")
        code.do(f"store {form} {total}, ptr {to}, align {kind.bytes}")

    with code.loop("0", whole, lanes) as j:
        step(f"<{lanes} x {kind.llvm}>", j)
    with code.loop(whole, width) as j:
        step(kind.llvm, j)


def _sums(name: str, dtype: Any) -> Kernel:
    """The sums of segments whose numbers rise; zeros where there are no rows."""
    kind = kind_of(dtype)
    code = Code(name, entry.KERNEL)
    data, indices, numbers, words = (
        code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(4)
    )
    out = code.load("ptr", "%outs", 8)
    rows, count, width = (
        code.load("i64", code.at("i64", words, str(i)), 8) for i in range(len(WORDS))
    )
    size = code.integer("mul", width, kind.bytes)

    def row(base: str, number: str) -> str:
        return code.at("i8", base, code.integer("mul", number, size))

    def clear(start: str, stop: str) -> None:
        bytes_ = code.integer("mul", code.integer("sub", stop, start), size)
        code.zero(row(out, start), bytes_)

    # `free` is the first row of the result that nothing was written to.
    with code.carrying("0", rows, 1, ("i64", "0")) as loop:
        (free,) = loop.values
        source_row, number = (
            code.load("i64", code.at("i64", array, loop.index), 8) for array in (indices, numbers)
        )
        source, target = row(data, source_row), row(out, number)
        fresh, more, done = map(code.new_label, ("fresh", "more", "done"))
        code.branch(code.integer("icmp sge", number, free), fresh, more)
        code.label(fresh)
        clear(free, number)
        code.copy(target, source, size)
        code.jump(done)
        code.label(more)
        _add(code, kind, target, source, width)
        code.jump(done)
        code.label(done)
        loop.following = [code.integer("add", number, 1)]
    clear(loop.values[0], count)
    code.do("ret void")
    return Kernel(code, 4)


LIBRARIES = {
    dtype: Library(lambda dtype=dtype: Source([_sums(f"sums_{dtype.name}", dtype)]))
    for dtype in DTYPES
}


def sums(dtype: Any) -> Run | None:
    """(data, indices, numbers, count) to the sums of `data[indices]` with equal numbers.

    The indices are within bounds, the numbers are sorted and below `count`.
    """
    dtype = np.dtype(dtype)
    if not entry.AVAILABLE or dtype not in LIBRARIES:
        return None
    library = LIBRARIES[dtype]
    kernel = library.entry(f"sums_{dtype.name}", shared=False).for_dims((1,))

    def run(data: Any, indices: Any, numbers: Any, count: int) -> Any:
        rest = data.shape[1:]
        words = np.array([len(numbers), count, math.prod(rest)], np.int64)
        result = allocator((count, *rest), dtype)()
        rows = np.ascontiguousarray(data)
        indices, numbers = (np.ascontiguousarray(x, np.int64) for x in (indices, numbers))
        kernel(rows, indices, numbers, words, result)
        return result

    return run
