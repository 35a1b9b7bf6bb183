"""Products of matrices: tiles of the result are kept in registers while a panel goes by.

The inner kernel is that of Goto and van de Geijn, "Anatomy of High-Performance Matrix
Multiplication" (ACM TOMS 34(3), 2008): a tile of six rows and four vectors is summed over a
block of the inner dimension; the block's panel of the right matrix lies packed in cache.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native import entry, llvm
from intaglio.native.code import Code, module
from intaglio.native.lanes import FLOAT, Kind
from intaglio.native.pool import pool

# Rows and vectors of a tile: with one vector for the left and the vectors of the right
# matrix they fill the registers, of which there are 32 of 64 bytes or 16 of 32.
ROWS = 6
VECTORS = 4 if llvm.WIDTH == 64 else 2
# The block of the inner dimension: its panel stays in the second level of the cache.
BLOCK = 384
# From so many rows on it pays to copy a panel before it is used.
PACKED_FROM = 48
# Products of this many multiplications are worth several threads; larger ones than `MOST`
# are OpenBLAS's, which is as fast there.
SHARED_FROM = 1 << 20
MOST = 1 << 27
# What a kernel is told: rows, columns, inner dimension, and the steps in the left matrix
# from row to row and from column to column.
DIMS = ("rows", "columns", "inner", "row_step", "column_step")


class _Writer:
    """Writes the functions of one element type."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.lanes = llvm.WIDTH // kind.bytes
        self.vector = f"<{self.lanes} x {kind.llvm}>"
        self.test = f"<{self.lanes} x i1>"
        self.suffix = f"v{self.lanes}f{kind.bits}"
        self.width = self.lanes * VECTORS

    def functions(self, name: str) -> list[Code]:
        """The kernel `name` and what it calls."""
        tiles = [self.tile(r, v) for v in range(1, VECTORS + 1) for r in range(1, ROWS + 1)]  # fmt: skip
        return [*tiles, self.pack(), self.kernel(name)]

    def mask(self, code: Code, first: str, count: str) -> str:
        """The lanes below `count` of a vector that begins at `first`."""
        name = f"llvm.get.active.lane.mask.v{self.lanes}i1.i64"
        return code.call(self.test, name, ("i64", first), ("i64", count))

    def read(self, code: Code, place: str, mask: str) -> str:
        """A vector at a place; with a mask only the lanes it allows, zeros else."""
        if not mask:
            return code.load(self.vector, place, self.kind.bytes)
        return code.call(
            self.vector, f"llvm.masked.load.{self.suffix}.p0",
            (f"ptr align {self.kind.bytes}", place), (self.test, mask),
            (self.vector, "zeroinitializer"),
        )  # fmt: skip

    def tile(self, rows: int, vectors: int) -> Code:
        """c (rows x vectors) = or += a (rows x depth) b (depth x vectors).

        The last vector has only `left` lanes. `first` says that c holds nothing yet.
        """
        code = Code(
            f"tile_{rows}x{vectors}",
            ["ptr %a", "i64 %row", "i64 %column", "ptr %b", "i64 %b_row", "ptr %c",
             "i64 %c_row", "i64 %depth", "i64 %left", "i1 %first"],
            "internal fastcc void",
        )  # fmt: skip
        mask = self.mask(code, "0", "%left")
        masks = [*[""] * (vectors - 1), mask]
        tops = [self.step(code, "%a", r, "%row") for r in range(rows)]
        zeros = [(self.vector, "zeroinitializer")] * (rows * vectors)
        with code.carrying(
            "0", "%depth", 1, ("i64", "0"), ("i64", "0"), *zeros
        ) as turn:
            left, right, *sums = turn.values
            place = code.at(self.kind.llvm, "%b", right)
            panel = [
                self.read(code, code.at(self.kind.llvm, place, str(v * self.lanes)), m)
                for v, m in enumerate(masks)
            ]
            made: list[str] = []
            for r, top in enumerate(tops):
                value = code.load(self.kind.llvm, code.at(self.kind.llvm, top, left), self.kind.bytes)  # fmt: skip
                factor = code.splat(self.lanes, self.kind.llvm, value)
                made += [
                    code.call(
                        self.vector, f"llvm.fma.{self.suffix}",
                        (self.vector, factor), (self.vector, panel[v]),
                        (self.vector, sums[r * vectors + v]),
                    )
                    for v in range(vectors)
                ]  # fmt: skip
            steps = [
                code.integer("add", left, "%column"),
                code.integer("add", right, "%b_row"),
            ]
            turn.following = [*steps, *made]
        self.store_tile(code, turn.values[2:], rows, masks)
        code.do("ret void")
        return code

    def step(
        self, code: Code, pointer: str, count: str | int, stride: str | int
    ) -> str:
        """The pointer `count` rows further, each of `stride` elements."""
        return code.at(self.kind.llvm, pointer, code.integer("mul", count, stride))

    def store_tile(
        self, code: Code, sums: list[str], rows: int, masks: list[str]
    ) -> None:
        """Writes the sums, added to what is there already unless it is the first block."""
        fresh = code.let(f"insertelement {self.test} poison, i1 %first, i64 0")
        fresh = code.let(
            f"shufflevector {self.test} {fresh}, {self.test} poison, <{self.lanes} x i32> zeroinitializer"
        )
        every = code.let(f"xor {self.test} {fresh}, splat (i1 true)")
        for r in range(rows):
            top = self.step(code, "%c", r, "%c_row")
            for v, mask in enumerate(masks):
                place = code.at(self.kind.llvm, top, str(v * self.lanes))
                there = (
                    every if not mask else code.let(f"and {self.test} {every}, {mask}")
                )
                before = self.read(code, place, there)
                total = code.let(
                    f"fadd {self.vector} {sums[r * len(masks) + v]}, {before}"
                )
                if not mask:
                    code.do(
                        f"store {self.vector} {total}, ptr {place}, align {self.kind.bytes}"
                    )
                    continue
                code.call(
                    "void", f"llvm.masked.store.{self.suffix}.p0", (self.vector, total),
                    (f"ptr align {self.kind.bytes}", place), (self.test, mask),
                )  # fmt: skip

    def pack(self) -> Code:
        """Copies a panel, `depth` rows of `columns` elements, to where rows follow each other."""
        code = Code(
            "pack",
            ["ptr %from", "i64 %row", "ptr %to", "i64 %depth", "i64 %columns"],
            "internal fastcc void",
        )
        masks = [
            self.mask(code, str(v * self.lanes), "%columns") for v in range(VECTORS)
        ]
        with code.loop("0", "%depth") as index:
            source = self.step(code, "%from", index, "%row")
            target = self.step(code, "%to", index, self.width)
            for v, mask in enumerate(masks):
                value = self.read(code, code.at(self.kind.llvm, source, str(v * self.lanes)), mask)  # fmt: skip
                place = code.at(self.kind.llvm, target, str(v * self.lanes))
                code.do(
                    f"store {self.vector} {value}, ptr {place}, align {self.kind.bytes}"
                )
        code.do("ret void")
        return code

    def kernel(self, name: str) -> Code:
        """The rows from `from` to `to` of a product."""
        code = Code(name, entry.KERNEL)
        panel = code.let(f"alloca [{BLOCK * self.width} x {self.kind.llvm}], align 64")
        a, b = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
        c = code.load("ptr", "%outs", 8)
        given = {
            n: code.load("i64", code.at("i64", "%dims", str(i)), 8)
            for i, n in enumerate(DIMS)
        }
        columns, inner = given["columns"], given["inner"]
        count = code.integer("sub", "%to", "%from")
        packed = code.integer("icmp sge", count, PACKED_FROM)
        with code.loop("0", inner, BLOCK) as k:
            depth = code.least(BLOCK, code.integer("sub", inner, k))
            first = code.integer("icmp eq", k, 0)
            left = self.step(code, a, k, given["column_step"])
            with code.loop("0", columns, self.width) as j:
                width = code.least(self.width, code.integer("sub", columns, j))
                source = code.at(self.kind.llvm, self.step(code, b, k, columns), j)
                self.pack_if(code, packed, source, columns, panel, depth, width)
                right = code.let(f"select i1 {packed}, ptr {panel}, ptr {source}")
                row = code.let(f"select i1 {packed}, i64 {self.width}, i64 {columns}")
                target = code.at(self.kind.llvm, c, j)
                self.rows(code, given, (left, right, row, target, depth, width, first))
        code.do("ret void")
        return code

    def pack_if(
        self, code: Code, packed: str, source: str, row: str, panel: str, depth: str, width: str
    ) -> None:  # fmt: skip
        """Packs a panel if that is decided."""
        yes, on = code.new_label("pack"), code.new_label("on")
        code.do(f"br i1 {packed}, label %{yes}, label %{on}")
        code.label(yes)
        code.do(
            f"call fastcc void @pack(ptr {source}, i64 {row}, ptr {panel}, i64 {depth}, i64 {width})"
        )
        code.do(f"br label %{on}")
        code.label(on)

    def rows(self, code: Code, given: dict[str, str], place: tuple[str, ...]) -> None:
        """All tiles under one panel; which function depends on what is left of rows and columns."""
        left, right, row, c, depth, width, first = place
        row_step, columns = given["row_step"], given["columns"]
        rounded = code.integer("add", width, self.lanes - 1)
        before = code.integer("sub", code.integer("sdiv", rounded, self.lanes), 1)
        lanes = code.integer("sub", width, code.integer("mul", before, self.lanes))
        with code.loop("%from", "%to", ROWS) as i:
            rows = code.least(ROWS, code.integer("sub", "%to", i))
            top = self.step(code, left, i, row_step)
            target = self.step(code, c, i, columns)
            which = code.integer("add", code.integer("mul", before, ROWS), rows)
            tile = code.load("ptr", code.at("ptr", "@tiles", which), 8)
            code.do(
                f"call fastcc void {tile}(ptr {top}, i64 {row_step}, "
                f"i64 {given['column_step']}, ptr {right}, i64 {row}, ptr {target}, "
                f"i64 {columns}, i64 {depth}, i64 {lanes}, i1 {first})"
            )

    def table(self) -> str:
        """The tiles by vectors and rows; the first place is empty, for rows count from one."""
        names = [f"ptr @tile_{r}x{v}" for v in range(1, VECTORS + 1) for r in range(1, ROWS + 1)]  # fmt: skip
        size = len(names) + 1
        return f"@tiles = internal constant [{size} x ptr] [ptr null, {', '.join(names)}]\n"


_lock = threading.Lock()
_entries: dict[bool, entry.Entry] = {}


def _entry(shared: bool) -> entry.Entry:
    """The compiled product, for one thread or for all."""
    with _lock:
        if not _entries:
            writer = _Writer(FLOAT)
            functions = [
                *writer.functions("matmul"),
                entry.write("matmul", 2, 1),
                entry.write_part("matmul", ROWS),
                entry.write_shared("matmul", ROWS, pool()),
                entry.write("matmul_shared", 2, 1),
            ]
            made = llvm.Module(writer.table() + module(functions))
            _entries[False] = entry.Entry(made.address("matmul_entry"), made)
            _entries[True] = entry.Entry(made.address("matmul_shared_entry"), made)
    return _entries[shared]


class MatMulKernel:
    """a b, or the transpose of a times b, for float32 matrices; others by NumPy."""

    def __init__(self, otherwise: Callable[..., Any], transpose_a: bool) -> None:
        self._otherwise = otherwise
        self._transposed = transpose_a
        self._runs: dict[Any, Callable[..., Any]] = {}

    def __call__(self, a: Any, b: Any) -> Any:
        key = a.shape, b.shape
        run = self._runs.get(key)
        if run is None:
            if len(self._runs) >= 256:
                self._runs.clear()
            run = self._runs[key] = self._run_for(*key)
        return run(a, b)

    def _run_for(self, a: tuple[int, ...], b: tuple[int, ...]) -> Callable[..., Any]:
        if len(a) != 2 or len(b) != 2:
            return self._otherwise
        rows, inner = a[::-1] if self._transposed else a
        columns = b[1]
        work = rows * inner * columns
        if inner != b[0] or not 0 < work <= MOST:
            return self._otherwise
        steps = (1, rows) if self._transposed else (inner, 1)
        made = _entry(work >= SHARED_FROM)
        kernel = made.for_dims((rows, columns, inner, *steps))
        empty, otherwise, shape = np.empty, self._otherwise, (rows, columns)

        def run(a: Any, b: Any) -> Any:
            result = empty(shape, np.float32)
            if kernel(a, b, result) is NotImplemented:
                return otherwise(a, b)
            return result

        return run
