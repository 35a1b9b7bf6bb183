"""Reductions of the rows that share a segment number, in machine code: one pass over the rows.

Rows are combined one after the other, as NumPy does with rows that are not short, so that the results are the
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
from intaglio.native.llvm.vectors import Kind, kind_of
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator

Run = Callable[..., Any]

# The words of the kernel: how many rows are combined, and their length.
WORDS = ("rows", "width")
DTYPES = tuple(map(np.dtype, ("f4", "f8", "i4", "i8")))
HOW = ("add", "maximum", "minimum", "multiply")


def _combined(code: Code, how: str, kind: Kind, form: str, x: str, y: str) -> str:
    """NumPy's ufunc of two vectors, or of two numbers."""
    floating = kind.letter == "f"
    if how in ("add", "multiply"):
        word = {"add": "add", "multiply": "mul"}[how]
        return code.let(f"{'f' if floating else ''}{word} {form} {x}, {y}")
    order = "ge" if how == "maximum" else "le"
    lanes = form.split(" x ")[0] + " x i1>" if form.startswith("<") else "i1"
    if not floating:
        first = code.let(f"icmp s{order} {form} {x}, {y}")
    else:
        chosen = code.let(f"fcmp o{order} {form} {x}, {y}")
        missing = code.let(f"fcmp uno {form} {x}, {x}")
        first = code.let(f"or {lanes} {chosen}, {missing}")
    return code.let(f"select {lanes} {first}, {form} {x}, {form} {y}")


def _combine(code: Code, how: str, kind: Kind, target: str, row: str, width: str) -> None:
    """target = ufunc(target, row), some vectors of it and then the rest one by one."""
    lanes = jit.WIDTH // kind.bytes
    whole = code.integer("and", width, -lanes)

    def step(form: str, j: str) -> None:
        to, of = code.at(kind.llvm, target, j), code.at(kind.llvm, row, j)
        x, y = (code.load(form, pointer, kind.bytes) for pointer in (to, of))
        code.do(
            f"store {form} {_combined(code, how, kind, form, x, y)}, ptr {to}, align {kind.bytes}"
        )

    with code.loop("0", whole, lanes) as j:
        step(f"<{lanes} x {kind.llvm}>", j)
    half = lanes // 2
    rest = code.integer("add", whole, code.integer("and", code.integer("sub", width, whole), -half))
    with code.loop(whole, rest, half) as j:
        step(f"<{half} x {kind.llvm}>", j)
    with code.loop(rest, width) as j:
        step(kind.llvm, j)


def _rows(how: str, taken: bool, dtype: Any) -> Kernel:
    """Rows, or those that indices select, combined in the results; `seen` says which have one."""
    kind = kind_of(dtype)
    code = Code(_name(how, taken, dtype), entry.KERNEL)
    data, indices, numbers, words = (
        code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(4)
    )
    out, seen = (code.load("ptr", code.at("ptr", "%outs", str(i)), 8) for i in range(2))
    rows, width = (code.load("i64", code.at("i64", words, str(i)), 8) for i in range(len(WORDS)))
    size = code.integer("mul", width, kind.bytes)

    def row(base: str, number: str) -> str:
        return code.at("i8", base, code.integer("mul", number, size))

    with code.loop("0", rows) as i:
        number = code.load("i64", code.at("i64", numbers, i), 8)
        at = code.load("i64", code.at("i64", indices, i), 8) if taken else i
        source, target, flag = row(data, at), row(out, number), code.at("i8", seen, number)
        fresh, more, done = map(code.new_label, ("fresh", "more", "done"))
        first = code.let(f"icmp eq i8 {code.load('i8', flag, 1)}, 0")
        code.branch(first, fresh, more)
        code.label(fresh)
        code.do(f"store i8 1, ptr {flag}, align 1")
        code.copy(target, source, size)
        code.jump(done)
        code.label(more)
        _combine(code, how, kind, target, source, width)
        code.jump(done)
        code.label(done)
    code.do("ret void")
    return Kernel(code, 4, 2)


def _name(how: str, taken: bool, dtype: Any) -> str:
    return f"segments_{how}_{'taken_' if taken else ''}{dtype.name}"


@functools.cache
def _library(how: str, taken: bool, dtype: Any) -> Library:
    return Library(lambda: Source([_rows(how, taken, dtype)]))


def reduction(how: str, taken: bool, dtype: Any) -> Run | None:
    """(data, indices, numbers, count, empty) to the rows with equal numbers combined by a ufunc.

    The rows are `data[indices]` if they are `taken`, else all, and the indices are not used. They are
    within bounds, the numbers from 0 to `count`. Segments without rows are filled with `empty`.
    """
    dtype = np.dtype(dtype)
    if not entry.AVAILABLE or dtype not in DTYPES or how not in HOW:
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
