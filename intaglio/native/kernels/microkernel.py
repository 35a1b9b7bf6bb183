"""Microkernels: tiles of matrix products whose sums stay in registers. All large products consist
of them.

The kernel is that of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
(ACM TOMS 34(3), 2008): a few rows of the result, a few vectors wide, are summed over the inner
dimension, one column of the left and one row of the right matrix at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.vectors import Builder, Kind, Lanes

# The rows and vectors of a tile: with one vector for the left and the vectors of the right matrix
# they fill the registers, of which there are 32 of 64 bytes or 16 of 32.
TILE_ROWS = 6
TILE_VECTORS = 4 if jit.WIDTH == 64 else 2
# A tile of one vector has more rows, to hide the latency of additions to the same sum.
TALL_TILE_ROWS = 2 * TILE_ROWS
# Sums that are in registers at the same time.
ACCUMULATORS = TILE_ROWS * TILE_VECTORS


_SIZES = [
    (rows, vectors)
    for vectors in range(1, TILE_VECTORS + 1)
    for rows in range(1, (TALL_TILE_ROWS if vectors == 1 else TILE_ROWS) + 1)
]


class Left(NamedTuple):
    """The left matrix of a product: its pointer, and the strides from row to row and from column to
    column. The columns are in segments, `segment` elements apart."""

    start: str
    row: str
    column: str
    segment: str = "0"


class Right(NamedTuple):
    """The right matrix: its pointer and the stride from row to row."""

    start: str
    row: str


class Tiles:
    """Emits the tiles of one element type, and calls of them.

    Elements in memory may be of another type than those in registers: 16-bit floats are loaded as
    float32, and rounded when they are stored.
    """

    def __init__(self, kind: Kind, stored: Kind | None = None, width: int = jit.WIDTH) -> None:
        """`width` is the number of bytes of a vector; LLVM divides those that are wider than a register."""
        self.kind = kind
        self.stored = stored or kind
        self.lanes = width // kind.bytes
        self.vector = f"<{self.lanes} x {kind.llvm}>"
        self.test = f"<{self.lanes} x i1>"
        self.suffix = self._suffix(kind)
        self.fused = jit.FUSES_PRODUCTS
        # The columns of a whole tile.
        self.width = self.lanes * TILE_VECTORS

    def _suffix(self, kind: Kind) -> str:
        letter = "i" if kind.llvm.startswith("i") else "f"
        return f"v{self.lanes}{letter}{kind.bits}"

    def _converted(self, code: Code, value: str, kind: Kind, to: Kind) -> str:
        """A vector converted to another type."""
        if kind == to:
            return value
        (name,) = Builder(code, self.lanes, 1).converted(Lanes(kind, (value,)), to).names
        return name

    def table(self) -> jit.SharedTable:
        """The tiles by vectors and rows, each in a module of its own.

        The tallest tile of each width stands in for the others until they are compiled.
        """
        return _table(self.kind)

    def fma(self, code: Code, x: str, y: str, total: str) -> str:
        """x * y + total, rounded once where the processor has FMA."""
        vector = self.vector
        if self.fused:
            name = f"llvm.fma.{self.suffix}"
            return code.call(vector, name, (vector, x), (vector, y), (vector, total))
        product = code.let(f"fmul {vector} {x}, {y}")
        return code.let(f"fadd {vector} {product}, {total}")

    # -- reading and writing ----------------------------------------------------------

    def mask(self, code: Code, first: str, count: str) -> str:
        """The lanes below `count` of a vector that begins at `first`."""
        name = f"llvm.get.active.lane.mask.v{self.lanes}i1.i64"
        return code.call(self.test, name, ("i64", first), ("i64", count))

    def vectors(self, code: Code, count: str, body: Callable[[str, str], None]) -> None:
        """Calls `body(first, mask)` for whole vectors, without mask, and for the remainder."""
        whole = code.integer("mul", code.integer("sdiv", count, self.lanes), self.lanes)
        with code.loop("0", whole, self.lanes) as index:
            body(index, "")
        with code.when(code.integer("icmp slt", whole, count)):
            body(whole, self.mask(code, whole, count))

    def read(self, code: Code, pointer: str, mask: str) -> str:
        """Loads a vector; with a mask only the lanes it allows, zeros elsewhere."""
        stored, vector = self.stored, f"<{self.lanes} x {self.stored.llvm}>"
        if not mask:
            seen = code.load(vector, pointer, stored.bytes)
        else:
            seen = code.call(
                vector,
                f"llvm.masked.load.{self._suffix(stored)}.p0",
                (f"ptr align {stored.bytes}", pointer),
                (self.test, mask),
                (vector, "zeroinitializer"),
            )
        return self._converted(code, seen, stored, self.kind)

    def write(self, code: Code, value: str, pointer: str, mask: str = "") -> None:
        """Stores a vector, or the lanes that a mask allows."""
        stored, vector = self.stored, f"<{self.lanes} x {self.stored.llvm}>"
        value, align = self._converted(code, value, self.kind, stored), stored.bytes
        if not mask:
            code.do(f"store {vector} {value}, ptr {pointer}, align {align}")
            return
        code.call(
            "void",
            f"llvm.masked.store.{self._suffix(stored)}.p0",
            (vector, value),
            (f"ptr align {align}", pointer),
            (self.test, mask),
        )

    def pointers(self, code: Code, pointer: str, count: int) -> list[str]:
        """Pointers to consecutive vectors from a pointer on."""
        return [code.at(self.stored.llvm, pointer, str(v * self.lanes)) for v in range(count)]

    def step(self, code: Code, pointer: str, count: str | int, stride: str | int) -> str:
        """The pointer `count` rows further, each of `stride` elements."""
        return code.at(self.stored.llvm, pointer, code.integer("mul", count, stride))

    def transposed(self, code: Code, block: list[str]) -> list[str]:
        """A square block of vectors, transposed.

        In each of log2(lanes) steps every vector is interleaved with the one half the block away.
        """
        lanes, half = self.lanes, self.lanes // 2
        low, high = (
            ", ".join([f"i32 {first + i // 2 + (i % 2) * lanes}" for i in range(lanes)])
            for first in (0, half)
        )
        for _ in range(lanes.bit_length() - 1):
            block = [
                code.let(
                    f"shufflevector {self.vector} {block[i]}, {self.vector} {block[i + half]}, "
                    f"<{lanes} x i32> <{order}>"
                )
                for i in range(half)
                for order in (low, high)
            ]
        return block

    def read_transposed(
        self, code: Code, pointer: str, row: str, count: str, mask: str
    ) -> list[str]:
        """The columns of a square block: it has `count` rows, `row` elements apart, and of each the
        lanes that a mask allows."""
        square: list[str] = []
        for r in range(self.lanes):
            there = code.splat(self.lanes, "i1", code.integer("icmp sgt", count, r))
            both = code.let(f"and {self.test} {there}, {mask}")
            square.append(self.read(code, self.step(code, pointer, r, row), both))
        return self.transposed(code, square)

    # -- the tile -----------------------------------------------------------------------

    def tile(self, rows: int, vectors: int, copies: bool = False, any_count: bool = False) -> Code:
        """c (rows x vectors) = or += a b, over `segments` of `depth` columns of a.

        The last vector has only `left` lanes. With `first` the sums overwrite c. A tile that
        `copies` also packs the rows of b into a panel. A tile for `any_count` computes `count`
        rows: those beyond are repetitions of the last one.
        """
        code = Code(
            self.name(rows, vectors, copies, any_count),
            [
                "ptr %a",
                "i64 %row",
                "i64 %column",
                "i64 %segment",
                "ptr %b",
                "i64 %b_row",
                "ptr %c",
                "i64 %c_row",
                "i64 %depth",
                "i64 %segments",
                "i64 %left",
                "i1 %first",
                "i64 %count",
                *["ptr %panel"] * copies,
            ],
            "internal fastcc void" if copies else "fastcc void",
        )
        masks = [*[""] * (vectors - 1), self.mask(code, "0", "%left")]
        numbers = self._row_numbers(code, rows, any_count)
        tops = [self.step(code, "%a", r, "%row") for r in numbers]
        self._prefetch(code, numbers, vectors)
        # Offsets in a and in b, and in the panel.
        offsets, count = 2 + copies, rows * vectors
        kinds = ["i64"] * offsets + [self.vector] * count
        firsts = ["0"] * offsets + ["zeroinitializer"] * count
        start = zip(kinds, firsts, strict=True)
        with code.carrying("0", "%segments", 1, *start) as outer:
            carried = zip(kinds, outer.values, strict=True)
            with code.carrying("0", "%depth", 1, *carried) as iteration:
                state = iteration.values[:offsets], iteration.values[offsets:]
                iteration.following = self._iteration(code, *state, tops, masks)
            following = code.integer("add", outer.values[0], "%segment")
            outer.following = [following, *iteration.values[1:]]
        self._store(code, outer.values[offsets:], numbers, masks)
        code.do("ret void")
        return code

    def name(self, rows: int, vectors: int, copies: bool = False, any_count: bool = False) -> str:
        """The name of a tile."""
        return f"{'copying_' * copies}tile_{'up_to_' * any_count}{rows}x{vectors}"

    def _row_numbers(self, code: Code, rows: int, any_count: bool) -> list[str]:
        """The rows of a tile; with `any_count` the last one of `count` instead of those beyond.

        It is then computed and stored several times, after all rows have been loaded.
        """
        if not any_count:
            return [str(r) for r in range(rows)]
        last = code.integer("sub", "%count", 1)
        return ["0", *[code.least(r, last) for r in range(1, rows)]]

    def _iteration(
        self, code: Code, offsets: list[str], sums: list[str], tops: list[str], masks: list[str]
    ) -> list[str]:
        """One column of a times one row of b, added to the sums."""
        left, right, *copy = offsets
        pointers = self.pointers(code, code.at(self.kind.llvm, "%b", right), len(masks))
        panel = [self.read(code, p, m) for p, m in zip(pointers, masks, strict=True)]
        next_offsets = [code.integer("add", left, "%column"), code.integer("add", right, "%b_row")]
        for offset in copy:
            to = code.at(self.kind.llvm, "%panel", offset)
            for vector, pointer in zip(panel, self.pointers(code, to, len(panel)), strict=True):
                self.write(code, vector, pointer)
            next_offsets.append(code.integer("add", offset, self.width))
        for r, top in enumerate(tops):
            pointer = code.at(self.kind.llvm, top, left)
            value = code.load(self.kind.llvm, pointer, self.kind.bytes)
            factor = code.splat(self.lanes, self.kind.llvm, value)
            for v, vector in enumerate(panel):
                next_offsets.append(self.fma(code, factor, vector, sums[r * len(panel) + v]))
        return next_offsets

    def _prefetch(self, code: Code, rows: list[str], vectors: int) -> None:
        """Prefetches the elements of c to which the sums will be added."""
        with code.when(code.let("xor i1 %first, true")):
            for pointer in self._targets(code, rows, vectors):
                code.call(
                    "void",
                    "llvm.prefetch.p0",
                    ("ptr", pointer),
                    ("i32", "1"),
                    ("i32", "3"),
                    ("i32", "1"),
                )

    def _targets(self, code: Code, rows: list[str], vectors: int) -> list[str]:
        """Pointers to the vectors of c."""
        tops = [self.step(code, "%c", r, "%c_row") for r in rows]
        return [pointer for top in tops for pointer in self.pointers(code, top, vectors)]

    def _store(self, code: Code, sums: list[str], rows: list[str], masks: list[str]) -> None:
        """Stores the sums, added to c unless they are the first.

        The first ones load nothing, not even under an empty mask: that too would wait for the
        memory.
        """
        fresh, added = code.block, list[str]()
        targets = list(zip(self._targets(code, rows, len(masks)), masks * len(rows), strict=True))
        with code.when(code.let("xor i1 %first, true")):
            for total, (pointer, mask) in zip(sums, targets, strict=True):
                before = self.read(code, pointer, mask)
                added.append(code.let(f"fadd {self.vector} {total}, {before}"))
            later = code.block
        totals = [code.phi(self.vector) for _ in sums]
        for phi, total, more in zip(totals, sums, added, strict=True):
            code.arrive(phi, (total, fresh), (more, later))
        for phi, (pointer, mask) in zip(totals, targets, strict=True):
            self.write(code, phi.name, pointer, mask)

    # -- calling ------------------------------------------------------------------------

    def product(
        self,
        code: Code,
        rows: tuple[str, str],
        a: Left,
        b: Right,
        c: Right,
        sizes: tuple[str, str, str],
        first: str,
    ) -> None:
        """Emits c = or += a b for rows of a range, and at most `width` columns.

        `sizes` are the columns of c, the depth of a segment and the number of segments.
        """
        columns, depth, segments = sizes
        rounded = code.integer("add", columns, self.lanes - 1)
        before = code.integer("sub", code.integer("sdiv", rounded, self.lanes), 1)
        lanes = code.integer("sub", columns, code.integer("mul", before, self.lanes))
        single = code.integer("icmp eq", before, 0)
        most = code.let(f"select i1 {single}, i64 {TALL_TILE_ROWS}, i64 {TILE_ROWS}")
        with code.loop(*rows, most) as i:
            count = code.least(most, code.integer("sub", rows[1], i))
            which = code.integer("add", code.integer("mul", before, TALL_TILE_ROWS), count)
            table = f"@{self.table().name}"
            tile = code.load("ptr", code.at("ptr", table, which), 8)
            self._call(code, tile, i, a, b, c, (depth, segments, lanes, first, count))

    def copying(
        self, code: Code, row: str, a: Left, b: Right, c: Right, depth: str, first: str, panel: str
    ) -> None:
        """The first whole tile of a product, from a row on, which also packs b into a panel."""
        tile = f"@{self.name(TILE_ROWS, TILE_VECTORS, True)}"
        rest = (depth, "1", str(self.lanes), first, str(TILE_ROWS))
        self._call(code, tile, row, a, b, c, rest, f", ptr {panel}")

    def _call(
        self,
        code: Code,
        tile: str,
        row: str,
        a: Left,
        b: Right,
        c: Right,
        rest: tuple[str, str, str, str, str],
        panel: str = "",
    ) -> None:
        """Calls a tile for the rows from `row` on; `rest` are its further arguments."""
        depth, segments, lanes, first, count = rest
        top = self.step(code, a.start, row, a.row)
        target = self.step(code, c.start, row, c.row)
        code.do(
            f"call fastcc void {tile}(ptr {top}, i64 {a.row}, i64 {a.column}, "
            f"i64 {a.segment}, ptr {b.start}, i64 {b.row}, ptr {target}, i64 {c.row}, "
            f"i64 {depth}, i64 {segments}, i64 {lanes}, i1 {first}, i64 {count}{panel})"
        )


@functools.cache
def _table(kind: Kind) -> jit.SharedTable:
    tiles, sizes = Tiles(kind), {_index(r, v): (r, v) for r, v in _SIZES}

    def write(index: int) -> tuple[str, str]:
        code = tiles.tile(*sizes[index])
        return code.name, module([code])

    def general(index: int) -> tuple[list[int], Callable[[], jit.Written]]:
        vectors = sizes[index][1]
        same = [i for i, (_, v) in sizes.items() if v == vectors]

        def written() -> jit.Written:
            code = tiles.tile(max(sizes[i][0] for i in same), vectors, any_count=True)
            return code.name, module([code])

        return same, written

    return jit.SharedTable(f"intaglio_tiles_{tiles.suffix}", sizes, write, general)


def _index(rows: int, vectors: int) -> int:
    """The index of a tile in the table."""
    return (vectors - 1) * TALL_TILE_ROWS + rows


def tiles_for(columns: int, kind: Kind, rows: int | None = None) -> set[int]:
    """The entries of the table that a product uses, by the columns and rows of its result.

    Threads are assumed to divide rows at multiples of `TILE_ROWS`; where they divide them
    otherwise, `rows` is None.
    """
    tiles = Tiles(kind)
    whole, rest = divmod(columns, tiles.width)
    widths = {TILE_VECTORS} if whole else set[int]()
    if rest:
        widths.add(-(-rest // tiles.lanes))
    return {_index(r, v) for r, v in _SIZES if v in widths and _is_used(r, v, rows)}


def _is_used(tile: int, vectors: int, rows: int | None) -> bool:
    """True if a range of rows may end with so many rows, or be long enough for the tile."""
    if rows is None:
        return True
    least = {TILE_ROWS, TALL_TILE_ROWS} if vectors == 1 else {TILE_ROWS}
    return tile <= rows and (tile in least or tile % TILE_ROWS == rows % TILE_ROWS)
