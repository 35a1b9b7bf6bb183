"""Products of a sparse and a dense matrix.

An element of the sparse matrix adds its value times a row of the dense matrix to a row of the
result, one element after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import kind_of
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator

Run = Callable[..., Any]

DTYPES = tuple(map(np.dtype, ("f4", "f8")))
# The number of elements, and of the columns of the dense matrix.
WORDS = ("count", "width")


def _product(name: str, dtype: Any) -> Kernel:
    kind = kind_of(dtype)
    code = Code(name, entry.KERNEL)
    targets, sources, values, dense, words = (
        code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(5)
    )
    out = code.load("ptr", "%outs", 8)
    count, width = (code.load("i64", code.at("i64", words, str(i)), 8) for i in range(len(WORDS)))
    lanes = jit.WIDTH // kind.bytes
    whole = code.integer("and", width, -lanes)

    def add(target: str, row: str, value: str, lanes: int, j: str) -> None:
        form = kind.llvm if lanes == 1 else f"<{lanes} x {kind.llvm}>"
        factor = value if lanes == 1 else code.splat(lanes, kind.llvm, value)
        to, of = code.at(kind.llvm, target, j), code.at(kind.llvm, row, j)
        total, x = (code.load(form, pointer, kind.bytes) for pointer in (to, of))
        part = code.let(f"fmul {form} {x}, {factor}")
        total = code.let(f"fadd {form} {total}, {part}")
        code.do(f"store {form} {total}, ptr {to}, align {kind.bytes}")

    with code.loop("0", count) as i:
        target, source = (
            code.load("i64", code.at("i64", array, i), 8) for array in (targets, sources)
        )
        value = code.load(kind.llvm, code.at(kind.llvm, values, i), kind.bytes)
        to, row = (
            code.at(kind.llvm, base, code.integer("mul", number, width))
            for base, number in ((out, target), (dense, source))
        )
        with code.loop("0", whole, lanes) as j:
            add(to, row, value, lanes, j)
        with code.loop(whole, width) as j:
            add(to, row, value, 1, j)
    code.do("ret void")
    return Kernel(code, 5)


LIBRARIES = {
    dtype: Library(lambda dtype=dtype: Source([_product(f"sparse_{dtype.name}", dtype)]))
    for dtype in DTYPES
}


def product(dtype: Any) -> Run | None:
    """(targets, sources, values, dense, rows) to the matrix [rows, columns] of the sums.

    The indices are int64 vectors, within bounds.
    """
    dtype = np.dtype(dtype)
    if not entry.AVAILABLE or dtype not in LIBRARIES:
        return None
    kernel = LIBRARIES[dtype].entry(f"sparse_{dtype.name}", shared=False).for_dims((1,))

    def run(targets: Any, sources: Any, values: Any, dense: Any, rows: int) -> Any:
        width = dense.shape[1]
        result = allocator((rows, width), dtype)()
        result.fill(0)
        words = np.array([len(values), width], np.int64)
        indices = [np.ascontiguousarray(x, np.int64) for x in (targets, sources)]
        arrays = [entry.in_order(x) for x in (values, dense)]
        kernel(*indices, *arrays, words, result)
        return result

    return run
