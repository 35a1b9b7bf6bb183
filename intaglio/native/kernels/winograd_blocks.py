"""Blocks of tiles of images for Winograd kernels: iteration over them, and input transforms.

A tile is `step` times `step` results. Transformed tiles are stored as a matrix for each element of
the transform: a vector of channels for every tile, then the next vector of channels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.kernels.winograd_transforms import Sums, Transform, two_dimensional
from intaglio.native.llvm import jit, processor
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT
from intaglio.native.runtime import entry

# Padding between the elements' matrices, which would map to the same few sets of the cache.
GAP_BYTES = 16
# The dims of the kernels. Threads divide `parts`: blocks of tiles, or channels; `rows` and
# `columns` are the tiles of an image, `tiles` those of all images.
DIMS = (
    "parts",
    "height",
    "width",
    "channels",
    "out_height",
    "out_width",
    "filters",
    "top",
    "left",
    "rows",
    "columns",
    "tiles",
    "block",
    "relu",
)
# Products of a single vector load a number for every multiplication, which is the throughput of
# loads on these processors. They can issue shuffles beside multiplications; others cannot.
SHUFFLES = processor.NAME.startswith("znver") and jit.WIDTH == 64
# Numbers that are loaded together to be shuffled.
FOUR = 4

Pointers = Callable[[str], list[str]]


class Blocks:
    """Emits what the kernels on blocks of tiles share."""

    def __init__(self, transform: Transform) -> None:
        self.transform = transform
        self.tiles = Tiles(FLOAT)
        self.kind = self.tiles.kind.llvm
        self.lanes = self.tiles.lanes

    # -- numbers and pointers ----------------------------------------------------------

    def at(self, code: Code, start: str, index: str | int) -> str:
        """The pointer to an element."""
        return code.at(self.kind, start, str(index))

    def scratch(self, code: Code, *sizes: str) -> str:
        """Memory on the stack for a product of sizes."""
        size = functools.reduce(lambda x, y: code.integer("add", x, y), sizes)
        return code.let(f"alloca {self.kind}, i64 {size}, align 64")

    def quotient(self, code: Code, count: str, unit: str | int) -> str:
        """The count divided by the unit, rounded up."""
        before = code.integer("sub", unit, 1)
        return code.integer("sdiv", code.integer("add", count, before), unit)

    def rounded(self, code: Code, count: str, unit: int) -> str:
        """A count rounded up to a multiple of `unit`."""
        return code.integer("mul", self.quotient(code, count, unit), unit)

    def most(self, code: Code, x: str | int, y: str | int) -> str:
        """The larger of two i64."""
        above = code.integer("icmp sgt", x, y)
        return code.let(f"select i1 {above}, i64 {x}, i64 {y}")

    def elements(self, code: Code, start: str, size: str) -> list[str]:
        """Pointers to the matrices of the elements, or to the same offset in each."""
        side, found = self.transform.seen, list[str]()
        row = code.integer("mul", size, side)
        for _ in range(side):
            start = self._opaque(code, start)
            found += [self.tiles.step(code, start, e, size) for e in range(side)]
            start = self.at(code, start, row)
        return found

    def _opaque(self, code: Code, pointer: str) -> str:
        """A pointer opaque to LLVM: few are kept in registers, and the others are small offsets
        from these. Else LLVM would keep all pointers of a tile, most of them on the stack."""
        return code.let(f'call ptr asm "", "=r,0"(ptr {pointer})')

    # -- columns -----------------------------------------------------------------------

    def across(self, code: Code, columns: str) -> str:
        """The number of vectors of the columns."""
        return self.quotient(code, columns, self.lanes)

    def widest(self, code: Code, columns: str, most: int) -> str:
        """The columns of the widest of `panels`."""
        whole = self.across(code, columns)
        count = self.quotient(code, whole, most)
        return code.integer("mul", self.quotient(code, whole, count), self.lanes)

    @contextmanager
    def panels(self, code: Code, columns: str, most: int) -> Generator[tuple[str, str]]:
        """For every panel of columns: its first column and its vectors, at most `most`, of which
        all panels have nearly the same number."""
        whole = self.across(code, columns)
        count = self.quotient(code, whole, most)
        with code.loop("0", count) as p:
            first, last = (
                code.integer("sdiv", code.integer("mul", whole, at), count)
                for at in (p, code.integer("add", p, 1))
            )
            vectors = code.integer("sub", last, first)
            yield code.integer("mul", first, self.lanes), vectors

    # -- factors -----------------------------------------------------------------------

    def factor(self, code: Code, pointer: str) -> str:
        """A number in all lanes of a vector."""
        return code.splat(self.lanes, self.kind, code.load(self.kind, pointer, 4))

    def four(self, code: Code, pointer: str) -> str:
        """Four numbers, repeated in a vector: `shuffled` selects one of them."""
        kind, vector = f"<{FOUR} x {self.kind}>", self.tiles.vector
        order = ", ".join([f"i32 {i % FOUR}" for i in range(self.lanes)])
        read = code.load(kind, pointer, 4)
        seen = code.let(
            f"shufflevector {kind} {read}, {kind} poison, <{self.lanes} x i32> <{order}>"
        )
        # LLVM would load each number by itself.
        return code.let(f'call {vector} asm "", "=v,0"({vector} {seen})')

    def shuffled(self, code: Code, four: str, number: int) -> str:
        """One of four numbers in all lanes of a vector."""
        vector = self.tiles.vector
        order = ", ".join([f"i32 {i // FOUR * FOUR + number}" for i in range(self.lanes)])
        return code.let(
            f"shufflevector {vector} {four}, {vector} poison, <{self.lanes} x i32> <{order}>"
        )

    # -- tiles -------------------------------------------------------------------------

    def walk(
        self,
        code: Code,
        images: str,
        dims: dict[str, str],
        of: str,
        side: int,
        outside: str,
        body: Callable[[str, Pointers], None],
    ) -> None:
        """Loops over the tiles from `first` to `last`, row by row; for images, or (`of` is "out_")
        for results.

        Calls `body(tile, pointers)` for tiles whose columns are in their image, and again for
        others: `pointers(c)` has the address of element c of each of the `side` times `side`
        pixels. Pixels outside of the image are in `outside`, which is as large as a row of a tile.
        """
        depth = dims["filters" if of else "channels"]
        columns, step = dims["columns"], self.transform.step
        left = "0" if of else dims["left"]
        # From the first tile whose columns are all inside to the first after it with one outside.
        before = self.quotient(code, left, step)
        rest = code.integer("add", code.integer("add", dims[f"{of}width"], left), step - side)
        after = self.most(code, before, code.integer("sdiv", rest, step))
        rows = code.integer("sdiv", "%first", columns), self.quotient(code, "%last", columns)
        with code.loop(*rows) as row:
            tile = code.integer("mul", row, columns)
            first = self.most(code, code.integer("sub", "%first", tile), 0)
            last = code.least(code.integer("sub", "%last", tile), columns)
            lines = self._lines(code, images, dims, of, side, outside, row)
            with code.loop("0", "2") as part:
                begin = code.integer("icmp eq", part, 0)
                start = code.let(
                    f"select i1 {begin}, i64 {first}, i64 {self.most(code, first, after)}"
                )
                stop = code.let(f"select i1 {begin}, i64 {code.least(last, before)}, i64 {last}")
                with code.loop(start, stop) as column:
                    tops = [self.tiles.step(code, p, column, s) for p, s in lines]
                    x = code.integer("sub", code.integer("mul", column, step), left)
                    table = [
                        self._there(
                            code,
                            code.integer("add", x, j),
                            dims[f"{of}width"],
                            self.tiles.step(code, top, j, depth),
                            outside,
                        )
                        for top in tops
                        for j in range(side)
                    ]
                    body(
                        code.integer("add", tile, column),
                        lambda c: [self.at(code, p, c) for p in table],
                    )
            start = self.most(code, first, before)
            starts = [("ptr", self.tiles.step(code, p, start, s)) for p, s in lines]
            with code.carrying(start, code.least(last, after), 1, *starts) as iteration:
                body(
                    code.integer("add", tile, iteration.index),
                    self._beside(code, iteration.values, depth),
                )
                iteration.following = [
                    self.at(code, p, s) for p, (_, s) in zip(iteration.values, lines, strict=True)
                ]

    def _lines(
        self,
        code: Code,
        images: str,
        dims: dict[str, str],
        of: str,
        side: int,
        outside: str,
        row: str,
    ) -> list[tuple[str, str]]:
        """For every line of a row of tiles, counted through all images: its first pixel, and the
        distance to the next tile's."""
        depth, step = dims["filters" if of else "channels"], self.transform.step
        top, left = ("0", "0") if of else (dims["top"], dims["left"])
        line = code.integer("mul", dims[f"{of}width"], depth)
        size = code.integer("mul", dims[f"{of}height"], line)
        number, y = (code.integer(word, row, dims["rows"]) for word in ("sdiv", "srem"))
        y = code.integer("sub", code.integer("mul", y, step), top)
        pointer = self.tiles.step(code, images, number, size)
        pointer = self.tiles.step(code, pointer, y, line)
        pointer = self.tiles.step(code, pointer, code.integer("sub", 0, left), depth)
        found: list[tuple[str, str]] = []
        for i in range(side):
            there = code.integer("icmp ult", code.integer("add", y, i), dims[f"{of}height"])
            at = self.tiles.step(code, pointer, i, line)
            at = code.let(f"select i1 {there}, ptr {at}, ptr {outside}")
            further = code.integer("mul", depth, step)
            found.append((at, code.let(f"select i1 {there}, i64 {further}, i64 0")))
        return found

    def _there(self, code: Code, x: str, width: str, pointer: str, outside: str) -> str:
        """A pointer if its column is inside, else `outside`. Unsigned, columns before the first are
        too large."""
        there = code.integer("icmp ult", x, width)
        return code.let(f"select i1 {there}, ptr {pointer}, ptr {outside}")

    def _beside(self, code: Code, tops: list[str], depth: str) -> Pointers:
        """Pointers to the pixels of a tile from those of the first column."""

        def pointers(c: str) -> list[str]:
            starts = [self._opaque(code, self.at(code, top, c)) for top in tops]
            return [
                self.tiles.step(code, start, j, depth) for start in starts for j in range(len(tops))
            ]

        return pointers

    def gather(
        self, name: str, of: str, side: int, along: Callable[[Sums, Any], list[str]]
    ) -> Code:
        """Transforms the pixels of the tiles from `first` to `last` into a matrix for each element."""
        code = Code(
            name,
            [
                "ptr %images",
                "ptr %to",
                "i64 %element",
                "ptr %zeros",
                "i64 %first",
                "i64 %last",
                "ptr %dims",
            ],
            "internal fastcc void",
        )
        dims, sums = entry.load_dims(code, DIMS), Sums(code, self.tiles)
        depth = dims["filters" if of else "channels"]

        def body(tile: str, pointers: Pointers) -> None:
            local = code.integer("sub", tile, "%first")
            row = code.integer("mul", local, self.lanes)

            def transformed(c: str, mask: str) -> None:
                seen = [self.tiles.read(code, pointer, mask) for pointer in pointers(c)]
                values = two_dimensional(seen, side, lambda line: along(sums, line))
                chunk = code.integer("mul", c, dims["block"])
                to = self.at(code, "%to", code.integer("add", chunk, row))
                targets = self.elements(code, to, "%element")
                for target, value in zip(targets, values, strict=True):
                    self.tiles.write(code, value, target)

            self.tiles.vectors(code, depth, transformed)

        self.walk(code, "%images", dims, of, side, "%zeros", body)
        code.do("ret void")
        return code


def panel_widths(columns: int, most: int) -> set[int]:
    """The vectors of the panels that `Blocks.panels` divides columns into."""
    whole = -(-columns // Tiles(FLOAT).lanes)
    count = -(-whole // most)
    return {whole * (p + 1) // count - whole * p // count for p in range(count)}
