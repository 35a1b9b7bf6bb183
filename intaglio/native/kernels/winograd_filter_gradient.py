"""Winograd filter gradients of 3x3 convolutions.

It is the exact adjoint of `native/kernels/winograd.py`: a tile's pixels and the gradients of its
results are transformed, multiplied element by element, summed over all tiles, and the sums
transformed to filters. Threads divide the tiles into ranges, whose number is determined by the
shapes, and whose sums are added in order: results do not depend on the number of threads.
"""

from __future__ import annotations

import functools

from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import ACCUMULATORS, Tiles
from intaglio.native.kernels.sequence import Chain
from intaglio.native.kernels.winograd import block_of, dims_of, is_for, tiles_of
from intaglio.native.kernels.winograd_blocks import (
    DIMS,
    FOUR,
    GAP_BYTES,
    SHUFFLES,
    Blocks,
    panel_widths,
)
from intaglio.native.kernels.winograd_transforms import (
    F2_TRANSFORM,
    Sums,
    Transform,
    two_dimensional,
)
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.vectors import FLOAT
from intaglio.native.runtime import entry

# The most vectors of columns of a product whose sums stay in registers.
VECTORS_PER_TILE = 3
# Rows of products of a single vector whose factors are shuffled.
SHUFFLED_CHANNELS = FOUR if SHUFFLES else 0
# Blocks have a multiple of so many tiles, and at least so many: sums that are not in the
# first-level cache are loaded and stored once for each.
TILES_MULTIPLE, MIN_BLOCK_TILES = 8, 64
# Ranges of tiles: the most, the fewest for several threads, and the bytes of their sums.
MAX_RANGES, MIN_RANGES, PARTIAL_SUM_BYTES = 16, 4, 1 << 21


class _FilterGradientBuilder(Blocks):
    """Emits the kernels: `filter_gradient` sums products over ranges, `finish` transforms them."""

    def _sizes(self, code: Code, dims: dict[str, str]) -> tuple[str, str, str]:
        """The padded columns of the sums, their elements, and those of a range."""
        deep = self.rounded(code, dims["channels"], self.lanes)
        wide = self.rounded(code, dims["filters"], self.lanes)
        element = code.integer("mul", deep, wide)
        return wide, element, code.integer("mul", element, self.transform.elements)

    def rows(self, vectors: int) -> int:
        """The channels of a product: all channels of a vector, or a part."""
        return min(1 << (ACCUMULATORS // vectors).bit_length() - 1, self.lanes)

    def outer(self, vectors: int) -> Code:
        """c = or += a b for some channels and `vectors` of columns, summed over tiles: of one
        element's matrices, or of several consecutive ones."""
        code, tiles, lanes = Code(
            f"outer_{vectors}",
            ["ptr %a", "ptr %b", "i64 %chunk", "ptr %c", "i64 %row", "i64 %count", "i1 %first",
             "i64 %elements", "i64 %a_size", "i64 %b_size", "i64 %c_size"],
            "fastcc void",
        ), self.tiles, self.lanes  # fmt: skip
        zeros = [(tiles.vector, "zeroinitializer")] * (self.rows(vectors) * vectors)
        stop = code.integer("mul", "%count", lanes)
        starts = [("ptr", start) for start in ("%a", "%b", "%c")]
        with code.carrying("0", "%elements", 1, *starts) as element:
            a, b, c = element.values
            columns = [tiles.step(code, b, v, "%chunk") for v in range(vectors)]
            with code.carrying("0", stop, lanes, *zeros) as iteration:
                panel = [tiles.read(code, self.at(code, p, iteration.index), "") for p in columns]
                left = self.at(code, a, iteration.index)
                iteration.following = self._iteration(code, left, panel, iteration.values)
            self._add(code, iteration.values, c, vectors)
            sizes = ("%a_size", "%b_size", "%c_size")
            element.following = [
                self.at(code, start, size)
                for start, size in zip(element.values, sizes, strict=True)
            ]
        code.do("ret void")
        return code

    def _iteration(self, code: Code, left: str, panel: list[str], sums: list[str]) -> list[str]:
        """The channels of one tile times its columns, added to the sums."""
        rows, updated = len(sums) // len(panel), list[str]()
        shuffled, four = SHUFFLED_CHANNELS if len(panel) == 1 else 0, ""
        for r in range(rows):
            pointer, number = self.at(code, left, r), r % FOUR
            if r < rows - shuffled:
                factor = self.factor(code, pointer)
            else:
                four = four if number else self.four(code, pointer)
                factor = self.shuffled(code, four, number)
            for vector in panel:
                updated.append(self.tiles.fma(code, factor, vector, sums[len(updated)]))
        return updated

    def _add(self, code: Code, sums: list[str], start: str, vectors: int) -> None:
        """Adds sums to memory, unless they are the first."""
        tiles = self.tiles
        every = code.splat(self.lanes, "i1", code.let("xor i1 %first, true"))
        for i, total in enumerate(sums):
            row = tiles.step(code, start, i // vectors, "%row")
            pointer = self.at(code, row, i % vectors * self.lanes)
            before = tiles.read(code, pointer, every)
            tiles.write(code, code.let(f"fadd {tiles.vector} {total}, {before}"), pointer)

    def rows_by_vectors(self) -> str:
        """The channels of the products by the vectors of their columns."""
        rows = ", ".join([f"i64 {self.rows(v)}" for v in range(1, VECTORS_PER_TILE + 1)])
        return f"@outer_rows = internal constant [{VECTORS_PER_TILE + 1} x i64] [i64 0, {rows}]\n"

    def filter_gradient(self, name: str) -> Code:
        """The sums of ranges of tiles; inputs: images and gradients."""
        code, tiles = Code(name, entry.KERNEL), self.tiles
        dims = entry.load_dims(code, DIMS)
        images, gradients = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
        out = code.load("ptr", "%outs", 8)
        block, count = dims["block"], self.transform.elements
        elements, depths = [], []
        for channels in (dims["channels"], dims["filters"]):
            depths.append(self.rounded(code, channels, self.lanes))
            size = code.integer("mul", block, depths[-1])
            elements.append(code.integer("add", size, GAP_BYTES))
        both = code.integer("add", *elements)
        rows = [code.integer("mul", depth, self.transform.seen) for depth in depths]
        scratch = self.scratch(code, code.integer("mul", both, count), *rows)
        others = tiles.step(code, scratch, count, elements[0])
        # Pixels outside of images are loaded from here.
        zeros = tiles.step(code, others, count, elements[1])
        for row in rows:
            size = code.integer("mul", row, 4)
            code.zero(zeros, size)
        *_, each = self._sizes(code, dims)
        more = code.integer("add", dims["tiles"], code.integer("sub", block, 1))
        blocks = code.integer("sdiv", more, block)
        with code.loop("%from", "%to") as number:
            target = tiles.step(code, out, number, each)
            start, stop = (
                code.integer("sdiv", code.integer("mul", blocks, at), dims["parts"])
                for at in (number, code.integer("add", number, 1))
            )
            with code.loop(start, stop) as part:
                first = code.integer("mul", part, block)
                last = code.least(code.integer("add", first, block), dims["tiles"])
                for what, source, to, element in (
                    ("gather", images, scratch, elements[0]),
                    ("gather_gradients", gradients, others, elements[1]),
                ):
                    code.do(
                        f"call fastcc void @{what}(ptr {source}, ptr {to}, i64 {element}, "
                        f"ptr {zeros}, i64 {first}, i64 {last}, ptr %dims)"
                    )
                seen = code.integer("sub", last, first)
                fresh = code.integer("icmp eq", part, start)
                sides = (scratch, elements[0]), (others, elements[1])
                self._products(code, dims, sides, target, seen, fresh)
        code.do("ret void")
        return code

    def _products(
        self,
        code: Code,
        dims: dict[str, str],
        sides: tuple[tuple[str, str], tuple[str, str]],
        target: str,
        count: str,
        first: str,
    ) -> None:
        """Adds the contribution of a block to the sums of its range."""
        tiles, wide, element = self.tiles, *self._sizes(code, dims)[:2]
        chunk = code.integer("mul", dims["block"], self.lanes)
        # Where one call is enough for an element, it is for all.
        small = [
            code.integer("icmp sle", dims[name], self.rows(1)) for name in ("channels", "filters")
        ]
        one = code.let(f"and i1 {small[0]}, {small[1]}")
        together = code.let(f"select i1 {one}, i64 {self.transform.elements}, i64 1")
        with (
            code.loop("0", str(self.transform.elements), together) as e,
            self.panels(code, dims["filters"], VECTORS_PER_TILE) as (column, vectors),
        ):
            a, b = (tiles.step(code, start, e, size) for start, size in sides)
            right = self.at(code, b, code.integer("mul", column, dims["block"]))
            sums = self.at(code, tiles.step(code, target, e, element), column)
            outer = code.load("ptr", code.at("ptr", f"@{_outer_table().name}", vectors), 8)
            rows = code.load("i64", code.at("i64", "@outer_rows", vectors), 8)
            with code.loop("0", dims["channels"], rows) as channel:
                vector = code.integer("sdiv", channel, self.lanes)
                lane = code.integer("srem", channel, self.lanes)
                left = self.at(code, tiles.step(code, a, vector, chunk), lane)
                row = tiles.step(code, sums, channel, wide)
                code.do(
                    f"call fastcc void {outer}(ptr {left}, ptr {right}, i64 {chunk}, ptr {row}, "
                    f"i64 {wide}, i64 {count}, i1 {first}, i64 {together}, i64 {sides[0][1]}, "
                    f"i64 {sides[1][1]}, i64 {element})"
                )

    def finish(self, name: str) -> Code:
        """Adds the sums of the ranges, and transforms those of the channels from `from` to `to`."""
        code, tiles = Code(name, entry.KERNEL), self.tiles
        dims = entry.load_dims(code, (*DIMS, "ranges"))
        sums = Sums(code, tiles)
        partial = code.load("ptr", "%ins", 8)
        out = code.load("ptr", "%outs", 8)
        wide, element, each = self._sizes(code, dims)
        columns = dims["filters"]
        window = code.integer("mul", dims["channels"], columns)
        stop = code.integer("mul", dims["ranges"], each)
        zeros = [(tiles.vector, "zeroinitializer")] * self.transform.elements
        with code.loop("%from", "%to") as channel, code.loop("0", columns, self.lanes) as c:
            mask = tiles.mask(code, c, columns)
            pointer = self.at(code, tiles.step(code, partial, channel, wide), c)
            with code.carrying("0", stop, each, *zeros) as iteration:
                pointers = self.elements(code, self.at(code, pointer, iteration.index), element)
                iteration.following = [
                    sums.add(total, tiles.read(code, p, ""))
                    for total, p in zip(iteration.values, pointers, strict=True)
                ]
            taps = two_dimensional(
                iteration.values,
                self.transform.seen,
                lambda line: self.transform.to_filters(sums, line),
            )
            target = self.at(code, tiles.step(code, out, channel, columns), c)
            for tap, value in enumerate(taps):
                tiles.write(code, value, tiles.step(code, target, tap, window), mask)
        code.do("ret void")
        return code


@functools.cache
def _outer_table() -> jit.SharedTable:
    """The products by the vectors of their columns, for all transforms: each in a module of its own."""
    writer = _FilterGradientBuilder(F2_TRANSFORM)

    def write(vectors: int) -> jit.Written:
        code = writer.outer(vectors)
        return code.name, module([code])

    return jit.SharedTable("intaglio_outer_products", range(1, VECTORS_PER_TILE + 1), write)


def _source(transform: Transform) -> Source:
    writer = _FilterGradientBuilder(transform)
    return Source(
        [Kernel(writer.filter_gradient("filter_gradient"), 2), Kernel(writer.finish("finish"), 1)],
        [
            writer.gather("gather", "", transform.seen, transform.of_pixels),
            writer.gather("gather_gradients", "out_", transform.step, transform.of_gradients),
        ],
        writer.rows_by_vectors(),
        _outer_table(),
    )


@functools.cache
def library(transform: Transform) -> Library:
    """The kernels of a transform."""
    return Library(lambda: _source(transform))


def filter_gradient(g: Geometry, transform: Transform = F2_TRANSFORM) -> Chain | None:
    """The filter gradient: (images, gradients) to it. None if the method does not support it."""
    if not is_for(g):
        return None
    lanes = Tiles(FLOAT).lanes
    deep, wide = (-(-d // lanes) * lanes for d in (g.channels, g.filters))
    spare = transform.seen * (deep + wide) + 2 * transform.elements * GAP_BYTES
    count = tiles_of(g, transform)
    of_tile = transform.elements * (deep + wide)
    block = block_of(count, of_tile, spare, TILES_MULTIPLE, MIN_BLOCK_TILES)
    if not block:
        return None
    sums = transform.elements * deep * wide
    ranges = min(-(-count // block), MAX_RANGES, max(PARTIAL_SUM_BYTES // (4 * sums), MIN_RANGES))
    dims, kernels = dims_of(g, transform, block, False), library(transform)
    summed = entry.filling(
        kernels.entry(
            "filter_gradient", table_entries=panel_widths(g.filters, VECTORS_PER_TILE)
        ).for_dims((ranges, *dims)),
        (ranges, sums),
    )
    finish = entry.filling(
        kernels.entry("finish", table_entries=()).for_dims((g.channels, *dims, ranges)),
        (3, 3, g.channels, g.filters),
    )
    chain = Chain(2)
    (result,) = chain.then(finish, *chain.then(summed, 0, 1))
    return chain.returning(result)
