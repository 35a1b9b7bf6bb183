"""Products of matrices in machine code: tiles, over panels that lie packed in cache."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from intaglio.native import entry, llvm
from intaglio.native.code import Code, module
from intaglio.native.lanes import FLOAT
from intaglio.native.pool import pool
from intaglio.native.tiles import ROWS, VECTORS, Left, Right, Tiles

# The block of the inner dimension: its panel stays in the second level of the cache.
BLOCK = 384
# From so many rows on it pays to copy a panel before it is used.
PACKED_FROM = 48
# Products of this many multiplications are worth several threads; larger ones than `MOST`
# are OpenBLAS's, which is as fast there.
SHARED_FROM = 1 << 20
MOST = 1 << 27
# What the kernel is told: rows, columns, inner dimension, and the steps in the left matrix
# from row to row and from column to column.
DIMS = ("rows", "columns", "inner", "row_step", "column_step")


def _pack(tiles: Tiles) -> Code:
    """Copies a panel, `depth` rows of `columns` elements, to where rows follow each other."""
    code = Code(
        "pack",
        ["ptr %from", "i64 %row", "ptr %to", "i64 %depth", "i64 %columns"],
        "internal fastcc void",
    )
    firsts = [str(v * tiles.lanes) for v in range(VECTORS)]
    masks = [tiles.mask(code, first, "%columns") for first in firsts]
    with code.loop("0", "%depth") as index:
        source = tiles.step(code, "%from", index, "%row")
        target = tiles.step(code, "%to", index, tiles.width)
        sources = tiles.places(code, source, VECTORS)
        targets = tiles.places(code, target, VECTORS)
        for there, here, mask in zip(sources, targets, masks, strict=True):
            tiles.write(code, tiles.read(code, there, mask), here)
    code.do("ret void")
    return code


def _product(tiles: Tiles, name: str) -> Code:
    """The kernel: the rows from `from` to `to` of a product."""
    code, kind = Code(name, entry.KERNEL), tiles.kind.llvm
    panel = code.let(f"alloca [{BLOCK * tiles.width} x {kind}], align 64")
    a, b = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    c = code.load("ptr", "%outs", 8)
    given = entry.numbers(code, DIMS)
    columns, inner = given["columns"], given["inner"]
    count = code.integer("sub", "%to", "%from")
    packed = code.integer("icmp sge", count, PACKED_FROM)
    with code.loop("0", inner, BLOCK) as k:
        depth = code.least(BLOCK, code.integer("sub", inner, k))
        first = code.integer("icmp eq", k, 0)
        start = tiles.step(code, a, k, given["column_step"])
        left = Left(start, given["row_step"], given["column_step"])
        with code.loop("0", columns, tiles.width) as j:
            width = code.least(tiles.width, code.integer("sub", columns, j))
            source = code.at(kind, tiles.step(code, b, k, columns), j)
            with code.when(packed):
                code.do(
                    f"call fastcc void @pack(ptr {source}, i64 {columns}, ptr {panel}, "
                    f"i64 {depth}, i64 {width})"
                )
            right = Right(
                code.let(f"select i1 {packed}, ptr {panel}, ptr {source}"),
                code.let(f"select i1 {packed}, i64 {tiles.width}, i64 {columns}"),
            )
            target = Right(code.at(kind, c, j), columns)
            sizes = (width, depth, "1")
            tiles.product(code, ("%from", "%to"), left, right, target, sizes, first)
    code.do("ret void")
    return code


_lock = threading.Lock()
_entries: dict[bool, entry.Entry] = {}


def _entry(shared: bool) -> entry.Entry:
    """The compiled product, for one thread or for all."""
    with _lock:
        if not _entries:
            tiles = Tiles(FLOAT)
            functions = [
                *tiles.functions(),
                _pack(tiles),
                _product(tiles, "matmul"),
                entry.write("matmul", 2, 1),
                entry.write_part("matmul", ROWS),
                entry.write_shared("matmul", ROWS, pool()),
                entry.write("matmul_shared", 2, 1),
            ]
            made = llvm.Module(tiles.table() + module(functions))
            _entries[False] = entry.Entry(made.address("matmul_entry"), made)
            _entries[True] = entry.Entry(made.address("matmul_shared_entry"), made)
    return _entries[shared]


def product(
    a: tuple[int, ...], b: tuple[int, ...], transpose_a: bool = False
) -> Callable[[Any, Any], Any] | None:
    """The product of float32 matrices of these shapes; None where OpenBLAS is to do it."""
    rows, inner = a[::-1] if transpose_a else a
    columns = b[1]
    work = rows * inner * columns
    if not entry.AVAILABLE or inner != b[0] or not 0 < work <= MOST:
        return None
    steps = (1, rows) if transpose_a else (inner, 1)
    kernel = _entry(work >= SHARED_FROM).for_dims((rows, columns, inner, *steps))
    return entry.filling(kernel, (rows, columns))
