"""Factorisations and solutions of many small matrices, one matrix in each lane of a vector.

Matrices are gathered into vectors on the stack, element by element, so that all steps are those of
the textbook without movement between lanes. NumPy does the same in `ops/linalg/elimination.py`,
with the same bits, while there is no kernel. A kernel sets a flag if LAPACK may reject one of the
matrices (not positive definite, singular, not finite); then its results are not used. Where no
other code can compute them, `complete` kernels set it only for what LAPACK does reject.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator

# The largest matrices and right-hand sides that fit on the stack.
MAX_ROWS = 32
# From so many elements on all threads divide the matrices.
MIN_SHARED_ELEMENTS = 1 << 13
Run = Callable[..., Any]
DIMS = ("blocks", "count", "rows", "columns")


class Form(NamedTuple):
    """A kernel: its computation, the type of its elements, and the lanes.

    `what` is "cholesky", "triangular", "solve", "inverse" or "determinant".
    """

    what: str
    double: bool
    lanes: int
    lower: bool = False
    adjoint: bool = False
    complete: bool = False

    @property
    def name(self) -> str:
        """The name of the kernel."""
        options = f"{self.double:d}{self.lower:d}{self.adjoint:d}"
        return f"small_{self.what}_{options}_{self.lanes}{'_complete' * self.complete}"

    @property
    def inputs(self) -> int:
        """The number of inputs; the outputs are an array and a flag of eight bytes."""
        return 2 if self.what in ("triangular", "solve") else 1


def lanes_of(double: bool, count: int) -> int:
    """The lanes: how many of so many matrices are computed at once."""
    widest = jit.WIDTH // (8 if double else 4)
    return min(widest, 1 << (max(count, 1).bit_length() - 1))


def dims_of(form: Form, count: int, rows: int, columns: int) -> tuple[int, ...]:
    """The dims of a kernel for so many matrices; the outermost loop is over blocks of them."""
    return -(-count // form.lanes), count, rows, columns


class _Builder:
    """Emits a kernel."""

    def __init__(self, form: Form, linkage: str) -> None:
        self.form, self.lanes = form, form.lanes
        self.kind = "double" if form.double else "float"
        self.bytes = 8 if form.double else 4
        self.type = f"<{self.lanes} x {self.kind}>"
        code = self.code = Code(form.name, entry.KERNEL, f"{linkage}void")
        self.ins = [code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(form.inputs)]
        self.out, self.flag = (
            code.load("ptr", code.at("ptr", "%outs", str(i)), 8) for i in range(2)
        )
        self.dims = entry.load_dims(code, DIMS)
        size = MAX_ROWS * MAX_ROWS
        self.a, self.b = (code.first(f"alloca [{size} x {self.type}], align 64") for _ in range(2))
        self.bad = code.first(f"alloca <{self.lanes} x i8>, align 64")
        self.rows, self.columns = self.dims["rows"], self.dims["columns"]
        self.first = ""

    def write(self) -> Code:
        """The kernel over blocks of matrices; the last block is whole, and may overlap the one
        before."""
        code = self.code
        write: Callable[[], None] = getattr(self, f"_{self.form.what}")
        code.do(f"store <{self.lanes} x i8> zeroinitializer, ptr {self.bad}, align 1")
        with code.loop("%from", "%to") as block:
            start = self._times(block, self.lanes)
            self.first = code.least(start, code.integer("sub", self.dims["count"], self.lanes))
            write()
        bits = f"i{8 * self.lanes}"
        found = code.let(f"icmp ne {bits} {code.load(bits, self.bad, 1)}, 0")
        with code.when(found):
            code.do(f"store i64 1, ptr {self.flag}, align 8")
        code.do("ret void")
        return code

    # -- numbers ------------------------------------------------------------------------------

    def _add(self, x: str | int, y: str | int) -> str:
        return self.code.integer("add", x, y)

    def _times(self, x: str | int, y: str | int) -> str:
        return self.code.integer("mul", x, y)

    def _op(self, word: str, x: str, y: str) -> str:
        return self.code.let(f"{word} {self.type} {x}, {y}")

    def _sub_product(self, x: str, factor: str, y: str) -> str:
        """x - factor * y, rounded twice, as NumPy does it before there is a kernel."""
        return self._op("fsub", x, self._op("fmul", factor, y))

    def _flag_lanes(self, test: str) -> None:
        """Sets the flag for the lanes for which a test holds."""
        code, kind = self.code, f"<{self.lanes} x i8>"
        now = code.let(f"zext <{self.lanes} x i1> {test} to {kind}")
        before = code.load(kind, self.bad, 1)
        code.do(f"store {kind} {code.let(f'or {kind} {before}, {now}')}, ptr {self.bad}, align 1")

    @contextmanager
    def _down(self, stop: str) -> Generator[str]:
        """A loop from `stop` - 1 to 0."""
        with self.code.loop("0", stop) as i:
            yield self.code.integer("sub", self.code.integer("sub", stop, 1), i)

    # -- memory -------------------------------------------------------------------------------

    def _pointers(self, base: str, size: str, at: str) -> str:
        """Pointers to element `at` of each lane's matrix, in an array of matrices of a size."""
        code = self.code
        begin = self._add(self._times(self.first, size), at)
        steps = ", ".join([f"i64 {i}" for i in range(self.lanes)])
        wide = f"<{self.lanes} x i64>"
        apart = code.let(f"mul {wide} {code.splat(self.lanes, 'i64', size)}, <{steps}>")
        index = code.let(f"add {wide} {apart}, {code.splat(self.lanes, 'i64', begin)}")
        return code.let(f"getelementptr {self.kind}, ptr {base}, {wide} {index}")

    def _suffix(self) -> str:
        return f"v{self.lanes}f{8 * self.bytes}.v{self.lanes}p0"

    def _gather(self, pointers: str) -> str:
        every = "splat (i1 true)"
        return self.code.call(
            self.type,
            f"llvm.masked.gather.{self._suffix()}",
            (f"<{self.lanes} x ptr>", pointers),
            ("i32", str(self.bytes)),
            (f"<{self.lanes} x i1>", every),
            (self.type, "poison"),
        )

    def _scatter(self, x: str, pointers: str) -> None:
        self.code.call(
            "void",
            f"llvm.masked.scatter.{self._suffix()}",
            (self.type, x),
            (f"<{self.lanes} x ptr>", pointers),
            ("i32", str(self.bytes)),
            (f"<{self.lanes} x i1>", "splat (i1 true)"),
        )

    def _at(self, base: str, row: str, column: str, width: str) -> str:
        return self.code.at(self.type, base, self._add(self._times(row, width), column))

    def _load(self, base: str, row: str, column: str, width: str) -> str:
        return self.code.load(self.type, self._at(base, row, column, width), self.bytes)

    def _store(self, x: str, base: str, row: str, column: str, width: str) -> None:
        there = self._at(base, row, column, width)
        self.code.do(f"store {self.type} {x}, ptr {there}, align {self.bytes}")

    def _read(self, number: int, target: str, width: str, transposed: bool = False) -> None:
        """Loads the matrices of an input to vectors on the stack."""
        size = self._times(self.rows, width)
        with self.code.loop("0", self.rows) as i, self.code.loop("0", width) as j:
            at = self._add(self._times(i, width), j)
            x = self._gather(self._pointers(self.ins[number], size, at))
            self._store(x, target, *((j, i) if transposed else (i, j)), width)

    def _write(self, source: str, width: str, transposed: bool = False) -> None:
        size = self._times(self.rows, width)
        with self.code.loop("0", self.rows) as i, self.code.loop("0", width) as j:
            x = self._load(source, *((j, i) if transposed else (i, j)), width)
            at = self._add(self._times(i, width), j)
            self._scatter(x, self._pointers(self.out, size, at))

    # -- kernels ------------------------------------------------------------------------------

    def _cholesky(self) -> None:
        code, n = self.code, self.rows
        self._read(0, self.a, n)
        with code.loop("0", n) as j:
            below = self._add(j, 1)
            pivot = self._load(self.a, j, j, n)
            test = "ole" if self.form.complete else "ule"
            self._flag_lanes(code.let(f"fcmp {test} {self.type} {pivot}, zeroinitializer"))
            root = code.call(
                self.type, f"llvm.sqrt.v{self.lanes}f{8 * self.bytes}", (self.type, pivot)
            )
            self._store(root, self.a, j, j, n)
            with code.loop(below, n) as i:
                quotient = self._op("fdiv", self._load(self.a, i, j, n), root)
                self._store(quotient, self.a, i, j, n)
                with code.loop(below, self._add(i, 1)) as k:
                    x, y = self._load(self.a, i, k, n), self._load(self.a, k, j, n)
                    self._store(self._sub_product(x, quotient, y), self.a, i, k, n)
                self._store("zeroinitializer", self.a, j, i, n)
        if self.form.complete:
            self._without_root()
        self._write(self.a, n)

    def _without_root(self) -> None:
        """Sets the lower triangles to NaN where there is no factor, instead of the flag."""
        code, kind = self.code, f"<{self.lanes} x i8>"
        lost = code.let(f"icmp ne {kind} {code.load(kind, self.bad, 1)}, zeroinitializer")
        none = f"splat ({self.kind} 0x7FF8000000000000)"
        with code.loop("0", self.rows) as i, code.loop("0", self._add(i, 1)) as j:
            found = self._load(self.a, i, j, self.rows)
            self._store(self._select(lost, none, found), self.a, i, j, self.rows)
        code.do(f"store {kind} zeroinitializer, ptr {self.bad}, align 1")

    def _triangular(self) -> None:
        code, n, form = self.code, self.rows, self.form
        self._read(1, self.b, self.columns)
        size = self._times(n, n)

        def element(row: str, column: str) -> str:
            at = self._add(
                *((self._times(column, n), row) if form.adjoint else (self._times(row, n), column))
            )
            return self._gather(self._pointers(self.ins[0], size, at))

        def step(i: str, start: str, stop: str) -> None:
            pivot = element(i, i)
            if not form.complete:
                self._flag_lanes(code.let(f"fcmp ueq {self.type} {pivot}, zeroinitializer"))
            self._divide_row(i, pivot)
            with code.loop(start, stop) as r:
                self._subtract_row(r, element(r, i), i)

        if form.lower != form.adjoint:
            with code.loop("0", n) as i:
                step(i, self._add(i, 1), n)
        else:
            with self._down(n) as i:
                step(i, "0", i)
        self._write(self.b, self.columns)

    def _divide_row(self, row: str, by: str) -> None:
        with self.code.loop("0", self.columns) as c:
            x = self._load(self.b, row, c, self.columns)
            self._store(self._op("fdiv", x, by), self.b, row, c, self.columns)

    def _subtract_row(self, row: str, factor: str, other: str) -> None:
        """row -= factor * other, of the right-hand sides."""
        with self.code.loop("0", self.columns) as c:
            x = self._load(self.b, row, c, self.columns)
            y = self._load(self.b, other, c, self.columns)
            self._store(self._sub_product(x, factor, y), self.b, row, c, self.columns)

    def _solve(self) -> None:
        self._read(0, self.a, self.rows, transposed=self.form.adjoint)
        self._read(1, self.b, self.columns)
        self._flag_first_pivot()
        self._eliminate()
        self._substitute()
        self._write(self.b, self.columns)

    def _inverse(self) -> None:
        code, n = self.code, self.rows
        self._read(0, self.a, n)
        one = f"splat ({self.kind} 1.0)"
        with code.loop("0", n) as i:
            with code.loop("0", n) as j:
                self._store("zeroinitializer", self.b, i, j, n)
            self._store(one, self.b, i, i, n)
        self._flag_first_pivot()
        self._eliminate()
        self._substitute()
        self._write(self.b, n, transposed=self.form.adjoint)

    def _flag_first_pivot(self) -> None:
        """Sets the flag for matrices that start with NaN; others with NaN have results."""
        first = self._load(self.a, "0", "0", self.rows)
        self._flag_lanes(self.code.let(f"fcmp uno {self.type} {first}, {first}"))

    def _determinant(self) -> None:
        code, n = self.code, self.rows
        self._read(0, self.a, n)
        sign = self._eliminate()
        with code.carrying("0", n, 1, (self.type, sign)) as state:
            pivot = self._load(self.a, state.index, state.index, n)
            state.following.append(self._op("fmul", state.values[0], pivot))
        found = state.values[0]
        if self.form.complete:  # of a singular matrix with NaN, too
            found = self._select(self._is_zero(sign), "zeroinitializer", found)
        self._scatter(found, self._pointers(self.out, "1", "0"))

    def _is_zero(self, x: str) -> str:
        return self.code.let(f"fcmp oeq {self.type} {x}, zeroinitializer")

    def _select(self, test: str, yes: str, no: str) -> str:
        kinds = f"<{self.lanes} x i1> {test}, {self.type} {yes}, {self.type} {no}"
        return self.code.let(f"select {kinds}")

    def _eliminate(self) -> str:
        """Gaussian elimination of `a` and the right-hand sides `b`; returns the sign of the
        permutation.

        That is 0 for a singular matrix if the flag is not set for it.
        """
        code, n = self.code, self.rows
        takes_singular = self.form.complete and self.form.what == "determinant"
        with code.carrying("0", n, 1, (self.type, f"splat ({self.kind} 1.0)")) as state:
            k = state.index
            row = self._pivot_row(k)
            self._swap(self.a, k, row, n)
            if self.form.what != "determinant":
                self._swap(self.b, k, row, self.columns)
            own = code.splat(self.lanes, "i64", k)
            same = code.let(f"icmp eq <{self.lanes} x i64> {row}, {own}")
            negative = code.let(f"fneg {self.type} {state.values[0]}")
            sign = self._select(same, state.values[0], negative)
            pivot = self._load(self.a, k, k, n)
            if takes_singular:
                sign = self._select(self._is_zero(pivot), "zeroinitializer", sign)
            state.following.append(sign)
            below = self._add(k, 1)
            with code.loop(below, n) as r:
                factor = self._op("fdiv", self._load(self.a, r, k, n), pivot)
                with code.loop(below, n) as c:
                    x, y = self._load(self.a, r, c, n), self._load(self.a, k, c, n)
                    self._store(self._sub_product(x, factor, y), self.a, r, c, n)
                if self.form.what != "determinant":
                    self._subtract_row(r, factor, k)
        return state.values[0]

    def _substitute(self) -> None:
        """Back substitution: the solutions from the upper factor."""
        code, n = self.code, self.rows
        with self._down(n) as i:
            self._divide_row(i, self._load(self.a, i, i, n))
            with code.loop("0", i) as r:
                self._subtract_row(r, self._load(self.a, r, i, n), i)

    def _pivot_row(self, k: str) -> str:
        """In each lane the first row, from k on, with the largest element of column k."""
        code, n, wide = self.code, self.rows, f"<{self.lanes} x i64>"
        absolute = f"llvm.fabs.v{self.lanes}f{8 * self.bytes}"

        def size(row: str) -> str:
            return code.call(self.type, absolute, (self.type, self._load(self.a, row, k, n)))

        start = (self.type, size(k)), (wide, code.splat(self.lanes, "i64", k))
        with code.carrying(self._add(k, 1), n, 1, *start) as state:
            best, at = state.values
            here = size(state.index)
            better = code.let(f"fcmp ogt {self.type} {here}, {best}")
            own = code.splat(self.lanes, "i64", state.index)
            mask = f"<{self.lanes} x i1> {better}"
            state.following = [
                code.let(f"select {mask}, {self.type} {here}, {self.type} {best}"),
                code.let(f"select {mask}, {wide} {own}, {wide} {at}"),
            ]
        best, row = state.values
        if self.form.complete:
            if self.form.what != "determinant":
                self._flag_lanes(self._is_zero(best))
            return row
        # For infinities and NaN LAPACK is called.
        limit = f"splat ({self.kind} 0x{'7FEFFFFFFFFFFFFF' if self.form.double else '47EFFFFFE0000000'})"
        below = code.let(f"fcmp ule {self.type} {best}, zeroinitializer")
        above = code.let(f"fcmp ugt {self.type} {best}, {limit}")
        self._flag_lanes(code.let(f"or <{self.lanes} x i1> {below}, {above}"))
        return row

    def _swap(self, base: str, k: str, row: str, width: str) -> None:
        """Swaps row k with a row that differs between lanes."""
        code, wide = self.code, f"<{self.lanes} x i64>"
        steps = ", ".join([f"i64 {i}" for i in range(self.lanes)])
        begin = code.let(f"mul {wide} {row}, {code.splat(self.lanes, 'i64', width)}")
        with code.loop("0", width) as c:
            at = code.let(f"add {wide} {begin}, {code.splat(self.lanes, 'i64', c)}")
            at = code.let(f"mul {wide} {at}, splat (i64 {self.lanes})")
            at = code.let(f"add {wide} {at}, <{steps}>")
            there = code.let(f"getelementptr {self.kind}, ptr {base}, {wide} {at}")
            old, new = self._load(base, k, c, width), self._gather(there)
            self._store(new, base, k, c, width)
            self._scatter(old, there)


def kernel(form: Form, linkage: str = "") -> Code:
    """The kernel of (matrices, right-hand sides) to (results, flag); its dims are `dims_of`."""
    return _Builder(form, linkage).write()


@functools.cache
def _library(form: Form) -> Library:
    return Library(lambda: Source([Kernel(kernel(form), form.inputs, 2)]))


def batched(
    what: str, double: bool, count: int, rows: int, columns: int, lower: bool, adjoint: bool
) -> Run | None:
    """The function of (matrices, right-hand sides) of a shape.

    It returns NotImplemented where NumPy may raise an error.
    """
    if not entry.AVAILABLE or not 0 < rows <= MAX_ROWS or not 0 < columns <= MAX_ROWS:
        return None
    form = Form(what, double, lanes_of(double, count), lower, adjoint)
    shared = count * rows * rows >= MIN_SHARED_ELEMENTS
    run = _library(form).entry(form.name, shared).for_dims(dims_of(form, count, rows, columns))
    dtype = np.dtype(np.float64 if double else np.float32)
    size = () if what == "determinant" else (rows, columns)
    allocate = allocator((count, *size), dtype)

    def compute(*arrays: Any) -> Any:
        result, flag = allocate(), np.zeros(1, np.int64)
        if run(*arrays, result, flag) is NotImplemented:
            entry.call_in_order(run, arrays, [result, flag])
        return NotImplemented if flag[0] else result

    return compute
