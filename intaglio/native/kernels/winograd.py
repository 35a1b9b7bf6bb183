"""Winograd convolutions with 3x3 filters and stride 1.

The results are divided into tiles. A tile's pixels and the filters are transformed
(`native/kernels/winograd_transforms.py`) and multiplied element by element; the products, summed
over the channels, are transformed back. The sums are products of matrices, one for each element of
the transform. A block of tiles is processed in cache; only images, filters and results are in
memory. A bias and Relu are applied before results are stored.

Products of one vector of columns overwrite the tiles that they are computed from, so that small
blocks stay in the first-level cache.

`F2_TRANSFORM` only adds, subtracts and halves: small integers give exact results, and errors
are of the size that the sums' own are. A pixel that is infinite or NaN makes NaN of all results of the tiles
that see it: for each block there is a flag that says so, with which `tap_convolution` computes
the results again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.native.kernels import convolution, tap_convolution
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import (
    ACCUMULATORS,
    TALL_TILE_ROWS,
    TILE_ROWS,
    TILE_VECTORS,
    Tiles,
)
from intaglio.native.kernels.sequence import Chain
from intaglio.native.kernels.winograd_blocks import (
    DIMS,
    FOUR,
    GAP_BYTES,
    SHUFFLES,
    Blocks,
    Pointers,
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

# Bytes of a thread's transformed tiles and their products: the size for the first-level cache, and
# the maximum.
L1_TILE_BYTES, MAX_SCRATCH_BYTES = 9 << 12, 1 << 21
# Blocks have a multiple of so many tiles: the rows of every shape of a product divide it.
TILES_MULTIPLE = TALL_TILE_ROWS
# Transformed filters of so many bytes are loaded from an outer cache, for more tiles at a time.
FAR_FILTER_BYTES = 1 << 21
# Rows of products of a single vector whose factors are shuffled.
SHUFFLED_CHANNELS = FOUR if SHUFFLES else 0
# The least channels and tiles: below, the transforms cost more than they save.
MIN_CHANNELS = 16
MIN_TILES = 48
MAX_TILES_PER_CALL = 512


class WinogradBuilder(Blocks):
    """Emits the kernels: `filters` transforms the filters, `winograd` convolves."""

    # The dims of the kernels; those with an epilogue have further ones.
    dims: tuple[str, ...] = DIMS
    # The output that is the flags of blocks.
    flags_output = 1

    def filters(self, name: str) -> Code:
        """Transforms the filters of the channels from `from` to `to`.

        The result has the layout of the products: for each panel of columns, for each element, a
        matrix of channels and columns.
        """
        code, tiles = Code(name, entry.KERNEL), self.tiles
        dims = entry.load_dims(code, DIMS)
        filters = code.load("ptr", "%ins", 8)
        columns = dims["filters"]
        window = code.integer("mul", dims["channels"], columns)
        with (
            code.loop("%from", "%to") as channel,
            self.panels(code, columns, TILE_VECTORS) as (start, count),
        ):
            wide = code.integer("mul", count, self.lanes)
            with code.loop("0", wide, self.lanes) as j:
                column = code.integer("add", start, j)
                mask = tiles.mask(code, column, columns)
                top = self.at(code, tiles.step(code, filters, channel, columns), column)
                seen = [
                    tiles.read(code, tiles.step(code, top, tap, window), mask) for tap in range(9)
                ]
                self._put(code, dims, seen, channel, (start, wide, j))
        code.do("ret void")
        return code

    def filters_flipped(self, name: str) -> Code:
        """The same for rotated filters, with channels exchanged with columns.

        They are loaded in squares of as many channels as columns, which are transposed in registers
        and stored in cache until all nine are there.
        """
        code, tiles, lanes = Code(name, entry.KERNEL), self.tiles, self.lanes
        dims = entry.load_dims(code, DIMS)
        filters = code.load("ptr", "%ins", 8)
        channels, columns = dims["channels"], dims["filters"]
        window = code.integer("mul", channels, columns)
        waiting = code.let(f"alloca [{9 * lanes * lanes} x {self.kind}], align 64")
        with (
            code.loop("%from", "%to", lanes) as first,
            self.panels(code, columns, TILE_VECTORS) as (start, vectors),
        ):
            wide = code.integer("mul", vectors, lanes)
            along = tiles.mask(code, first, channels)
            last = code.least(code.integer("add", first, lanes), channels)
            with code.loop("0", wide, lanes) as j:
                column = code.integer("add", start, j)
                with code.loop("0", "9") as tap:
                    source = tiles.step(code, filters, code.integer("sub", 8, tap), window)
                    row = tiles.step(code, source, column, channels)
                    count = code.integer("sub", columns, column)
                    pointer = self.at(code, row, first)
                    loaded = tiles.read_transposed(code, pointer, channels, count, along)
                    for r, vector in enumerate(loaded):
                        to = tiles.step(code, waiting, code.integer("add", tap, 9 * r), lanes)
                        tiles.write(code, vector, to)
                with code.loop(first, last) as channel:
                    number = code.integer("sub", channel, first)
                    top = tiles.step(code, waiting, number, 9 * lanes)
                    seen = [tiles.read(code, p, "") for p in tiles.pointers(code, top, 9)]
                    self._put(code, dims, seen, channel, (start, wide, j))
        code.do("ret void")
        return code

    def _put(
        self,
        code: Code,
        dims: dict[str, str],
        seen: list[str],
        channel: str,
        at: tuple[str, str, str],
    ) -> None:
        """Transforms the nine elements of a channel's filters, for a vector of a panel's columns.

        `at` are the start of the panel, its width, and the first column of the vector.
        """
        start, wide, j = at
        sums, channels = Sums(code, self.tiles), dims["channels"]
        out = code.load("ptr", "%outs", 8)
        begin = code.integer("mul", code.integer("mul", channels, start), self.transform.elements)
        row = self.tiles.step(code, self.at(code, out, begin), channel, wide)
        pointers = self.elements(code, self.at(code, row, j), code.integer("mul", channels, wide))
        transformed = two_dimensional(seen, 3, lambda line: self.transform.of_filters(sums, line))
        for pointer, value in zip(pointers, transformed, strict=True):
            self.tiles.write(code, value, pointer)

    def cells(self, vectors: int) -> Code:
        """The product of one element's matrices: `rows` tiles, `vectors` of columns."""
        code, tiles, lanes = (
            Code(
                f"cells_{vectors}",
                ["ptr %a", "i64 %chunk", "ptr %b", "ptr %c", "i64 %channels", "i64 %rows"],
                "fastcc void",
            ),
            self.tiles,
            self.lanes,
        )
        rows = TALL_TILE_ROWS if ACCUMULATORS // vectors >= TALL_TILE_ROWS else TILE_ROWS
        zeros = [(tiles.vector, "zeroinitializer")] * (rows * vectors)
        with code.loop("0", "%rows", rows) as row:
            top = tiles.step(code, "%a", row, lanes)
            carried = [("ptr", top), ("ptr", "%b"), *zeros]
            with code.carrying("0", "%channels", lanes, *carried) as chunk:
                start, *state = chunk.values
                left = code.least(lanes, code.integer("sub", "%channels", chunk.index))
                stop = code.integer("and", left, -FOUR)
                for begin, end, count in (("0", stop, FOUR), (stop, left, 1)):
                    kinds = ["ptr", *[tiles.vector] * (rows * vectors)]
                    inner = zip(kinds, state, strict=True)
                    with code.carrying(begin, end, count, *inner) as iteration:
                        pointer = self.at(code, start, iteration.index)
                        iteration.following = self._iterations(
                            code, pointer, iteration.values, vectors, count
                        )
                    state = iteration.values
                chunk.following = [self.at(code, start, "%chunk"), *state]
            target = tiles.step(code, "%c", row, vectors * lanes)
            for i, value in enumerate(chunk.values[2:]):
                tiles.write(code, value, self.at(code, target, i * lanes))
        code.do("ret void")
        return code

    def _iterations(
        self, code: Code, left: str, state: list[str], vectors: int, count: int
    ) -> list[str]:
        """Some channels of all tiles times their rows of columns, added to the sums."""
        tiles, lanes = self.tiles, self.lanes
        right, *sums = state
        rows = len(sums) // vectors
        pointers = [self.at(code, left, r * lanes) for r in range(rows)]
        shuffled = SHUFFLED_CHANNELS if vectors == 1 and count == FOUR else 0
        fours = {r: self.four(code, pointers[r]) for r in range(rows - shuffled, rows)}
        for channel in range(count):
            panel = [tiles.read(code, p, "") for p in tiles.pointers(code, right, vectors)]
            for r, pointer in enumerate(pointers):
                if r in fours:
                    factor = self.shuffled(code, fours[r], channel)
                else:
                    factor = self.factor(code, self.at(code, pointer, channel))
                for at, vector in enumerate(panel, r * vectors):
                    sums[at] = tiles.fma(code, factor, vector, sums[at])
            right = self.at(code, right, vectors * lanes)
        return [right, *sums]

    def scatter(self) -> Code:
        """Transforms the products of the tiles from `first` to `last` to results, in `count`
        columns from `column` on."""
        code, tiles = Code(
            "scatter",
            ["ptr %outs", "ptr %from", "i64 %element", "i64 %row", "ptr %bias", "ptr %scrap", "ptr %nonfinite", "i64 %first", "i64 %last", "i64 %column", "i64 %count", "ptr %dims"],
            "internal fastcc void",
        ), self.tiles  # fmt: skip
        dims, sums = entry.load_dims(code, self.dims), Sums(code, self.tiles)
        low = convolution.relu_bound(code, tiles, dims["relu"])
        side = self.transform.step

        def body(tile: str, pointers: Pointers) -> None:
            local = code.integer("sub", tile, "%first")
            row = code.integer("mul", local, "%row")

            def transformed(c: str, mask: str) -> None:
                start = self.at(code, "%from", code.integer("add", row, c))
                sources = self.elements(code, start, "%element")
                seen = [tiles.read(code, source, "") for source in sources]
                pixels = two_dimensional(
                    seen, self.transform.seen, lambda line: self.transform.of_products(sums, line)
                )
                bias = tiles.read(code, self.at(code, "%bias", c), mask)
                pixels = [sums.add(value, bias) for value in pixels]
                self._note(code, functools.reduce(sums.add, pixels))
                pixels = [convolution.clamped(code, tiles, value, low) for value in pixels]
                self.results(code, dims, pixels, tile, pointers, c, mask)

            self.tiles.vectors(code, "%count", transformed)

        out = self.at(code, code.load("ptr", "%outs", 8), "%column")
        self.walk(code, out, dims, "out_", side, "%scrap", body)
        code.do("ret void")
        return code

    def _note(self, code: Code, total: str) -> None:
        """Sets the block's flag, a vector of sums, to NaN if the sum of a tile's results is not finite."""
        vector = self.tiles.vector
        noted = code.load(vector, "%nonfinite", 64)
        noted = self.tiles.fma(code, total, "zeroinitializer", noted)
        code.do(f"store {vector} {noted}, ptr %nonfinite, align 64")

    def _flag(self, code: Code, nonfinite: str, part: str) -> None:
        """Writes the flag of a block."""
        vector, lanes = self.tiles.vector, self.lanes
        noted = code.load(vector, nonfinite, 64)
        nan = code.let(f"fcmp uno {vector} {noted}, zeroinitializer")
        found = code.call("i1", f"llvm.vector.reduce.or.v{lanes}i1", (self.tiles.test, nan))
        flag = code.let(f"zext i1 {found} to i64")
        flags = code.load("ptr", code.at("ptr", "%outs", str(self.flags_output)), 8)
        code.do(f"store i64 {flag}, ptr {code.at('i64', flags, part)}, align 8")

    def results(
        self,
        code: Code,
        dims: dict[str, str],
        pixels: list[str],
        tile: str,
        pointers: Pointers,
        c: str,
        mask: str,
    ) -> None:
        """Stores the results of a tile, for a vector of columns from `c` on."""
        for value, pointer in zip(pixels, pointers(c), strict=True):
            self.tiles.write(code, value, pointer, mask)

    def winograd(self, name: str) -> Code:
        """Blocks of tiles, counted through all images; inputs: images, transformed filters, bias;
        after the results an output has a flag for each block."""
        code, tiles = Code(name, entry.KERNEL), self.tiles
        dims = entry.load_dims(code, self.dims)
        images, filters, bias = (
            code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(3)
        )
        channels, columns, block = dims["channels"], dims["filters"], dims["block"]
        deep = self.rounded(code, channels, self.lanes)
        element = code.integer("add", code.integer("mul", block, deep), GAP_BYTES)
        product = code.integer("mul", block, self.widest(code, columns, TILE_VECTORS))
        product = code.integer("add", product, GAP_BYTES)
        # Products of one vector need no more than the tiles' first channels.
        single = code.integer("icmp eq", self.across(code, columns), 1)
        product = code.let(f"select i1 {single}, i64 {element}, i64 {product}")
        apart = code.let(f"select i1 {single}, i64 0, i64 {element}")
        both = code.integer("add", product, apart)
        size = code.integer("mul", both, self.transform.elements)
        seen = code.integer("mul", channels, self.transform.seen)
        left = code.integer("mul", columns, self.transform.step)
        scratch = self.scratch(code, size, seen, code.integer("add", left, tiles.width))
        products = tiles.step(code, scratch, self.transform.elements, apart)
        # Pixels outside of images are loaded from here, results outside of images are stored here.
        zeros = self.at(code, scratch, size)
        scrap = self.at(code, zeros, seen)
        code.zero(zeros, code.integer("mul", seen, 4))
        chunk = code.integer("mul", block, self.lanes)
        nonfinite = code.let(f"alloca {tiles.vector}, align 64")
        with code.loop("%from", "%to") as part:
            first = code.integer("mul", part, block)
            last = code.least(code.integer("add", first, block), dims["tiles"])
            code.do(f"store {tiles.vector} zeroinitializer, ptr {nonfinite}, align 64")
            code.do(
                f"call fastcc void @gather(ptr {images}, ptr {scratch}, i64 {element}, "
                f"ptr {zeros}, i64 {first}, i64 {last}, ptr %dims)"
            )
            rows = code.integer("sub", last, first)
            with self.panels(code, columns, TILE_VECTORS) as (column, count):
                wide = code.integer("mul", count, self.lanes)
                before = code.integer(
                    "mul", code.integer("mul", channels, column), self.transform.elements
                )
                depth = code.integer("mul", channels, wide)
                cells = code.load("ptr", code.at("ptr", f"@{cells_table().name}", count), 8)
                with code.loop("0", str(self.transform.elements)) as e:
                    a = tiles.step(code, scratch, e, element)
                    b = tiles.step(code, self.at(code, filters, before), e, depth)
                    c = tiles.step(code, products, e, product)
                    code.do(
                        f"call fastcc void {cells}(ptr {a}, i64 {chunk}, ptr {b}, ptr {c}, "
                        f"i64 {channels}, i64 {rows})"
                    )
                there = code.least(wide, code.integer("sub", columns, column))
                code.do(
                    f"call fastcc void @scatter(ptr %outs, ptr {products}, i64 {product}, "
                    f"i64 {wide}, ptr {self.at(code, bias, column)}, ptr {scrap}, ptr {nonfinite}, "
                    f"i64 {first}, i64 {last}, i64 {column}, i64 {there}, ptr %dims)"
                )
            self._flag(code, nonfinite, part)
        code.do("ret void")
        return code


@functools.cache
def cells_table() -> jit.SharedTable:
    """The products by the vectors of their columns, for all transforms: each in a module of its
    own."""
    writer = WinogradBuilder(F2_TRANSFORM)

    def write(vectors: int) -> jit.Written:
        code = writer.cells(vectors)
        return code.name, module([code])

    return jit.SharedTable("intaglio_cells", range(1, TILE_VECTORS + 1), write)


def _source(transform: Transform) -> Source:
    writer = WinogradBuilder(transform)
    gather = writer.gather("gather", "", transform.seen, transform.of_pixels)
    return Source(
        [
            Kernel(writer.winograd("winograd"), 3, 2),
            Kernel(writer.filters("filters"), 1),
            Kernel(writer.filters_flipped("filters_turned"), 1, unit=writer.lanes),
        ],
        [gather, writer.scatter()],
        table=cells_table(),
    )


@functools.cache
def library(transform: Transform) -> Library:
    """The kernels of a transform."""
    return Library(lambda: _source(transform))


def block_of(
    tiles: int, of_tile: int, spare: int, unit: int = TILES_MULTIPLE, fewest: int = TILES_MULTIPLE
) -> int:
    """The tiles of a block, all blocks being about equal; 0 if the caches are too small.

    `of_tile` is the number of floats for a tile, `spare` that of a block besides its tiles. A block
    that does not fit into the first-level cache has `fewest` tiles, if it fits into the limit.
    """
    near, most = (
        (size // 4 - spare) // of_tile // unit * unit for size in (L1_TILE_BYTES, MAX_SCRATCH_BYTES)
    )
    if most < unit:
        return 0
    blocks = -(-tiles // (near if near >= unit else min(fewest, most)))
    return -(-tiles // blocks // unit) * unit


def is_for(g: Geometry) -> bool:
    """True for convolutions that the method supports.

    Sums over padding alone are 0. The transforms mix pixels, so that such sums would be rounding
    errors of their neighbours': every window must contain a pixel, and so must every tap.
    """
    steps = (g.window_height, g.window_width, g.stride_y, g.stride_x)
    if not entry.AVAILABLE or not g.plain or steps != (3, 3, 1, 1) or g.empty:
        return False
    return _sees_pixels(g.height, g.top, g.out_height) and _sees_pixels(
        g.width, g.left, g.out_width
    )


def _sees_pixels(size: int, before: int, out: int) -> bool:
    """True if along an axis all windows of three contain a pixel, and all taps cover one."""
    windows = before <= 2 and out - before <= size
    taps = out > before and 2 - before < size
    return windows and taps


def is_profitable(g: Geometry, transform: Transform = F2_TRANSFORM) -> bool:
    """True if the method supports a convolution and is faster than direct sums.

    Where heights or widths are small and no multiples of a tile's, too much of the tiles is outside
    of the results.
    """
    if not is_for(g) or g.channels < MIN_CHANNELS:
        return False
    count = tiles_of(g, transform)
    used = g.images * g.out_height * g.out_width / (count * transform.step**2)
    return count >= MIN_TILES and used >= 2 / 3


def dims_of(g: Geometry, transform: Transform, block: int, relu: bool) -> list[int]:
    """The dims of kernels for a geometry, except `parts`."""
    rows, columns = (-(-d // transform.step) for d in (g.out_height, g.out_width))
    return [
        g.height,
        g.width,
        g.channels,
        g.out_height,
        g.out_width,
        g.filters,
        g.top,
        g.left,
        rows,
        columns,
        g.images * rows * columns,
        block,
        relu,
    ]


def tiles_of(g: Geometry, transform: Transform) -> int:
    """The number of tiles of the results of all images."""
    return g.images * math.prod([-(-d // transform.step) for d in (g.out_height, g.out_width)])


def forward(
    g: Geometry,
    transform: Transform = F2_TRANSFORM,
    transposed: bool = False,
    biased: bool = False,
    relu: bool = False,
) -> Chain | None:
    """The convolution: (images, filters) to the result. None if the method does not support it.

    `biased`: a third argument is added. `relu`: it is applied to the result.
    `transposed`: this is the input gradient of a convolution, whose filters come
    first: (filters, gradients) to the result.
    """
    block = blocked(g, transform)
    if not block:
        return None
    dims, blocks = dims_of(g, transform, block, relu), -(-tiles_of(g, transform) // block)
    convolve = entry.filling_all(
        library(transform)
        .entry("winograd", table_entries=panel_widths(g.filters, TILE_VECTORS))
        .for_dims((blocks, *dims)),
        [(g.shape, np.dtype(np.float32)), ((blocks,), np.dtype(np.int64))],
    )
    chain = Chain(3 if biased else 2)
    images, filters = (1, 0) if transposed else (0, 1)
    bias = 2 if biased else np.zeros(g.filters, np.float32)
    transformed_filters = chain.then(transformed(g, transform, transposed, dims), filters)
    result, number = chain.then(convolve, images, *transformed_filters, bias)
    flags = tap_convolution.Flags(number, blocks)
    if transposed:
        forward = convolution.transposed(g)
        assert forward is not None
        arrays = filters, images, result
        tap_convolution.then_taps(chain, "input_gradient", forward, flags, arrays)
    else:
        arrays = images, filters, bias, result
        tap_convolution.then_taps(chain, "forward", g, flags, arrays, relu=relu)
    return chain.returning(result)


def blocked(g: Geometry, transform: Transform) -> int:
    """The tiles of a block; 0 if the method does not support the convolution."""
    if not is_for(g):
        return 0
    tiles = Tiles(FLOAT)
    deep = -(-g.channels // tiles.lanes) * tiles.lanes
    rows = transform.seen * g.channels + transform.step * g.filters
    spare = rows + tiles.width + 2 * transform.elements * GAP_BYTES
    vectors = -(-g.filters // tiles.lanes)
    wide = -(-vectors // -(-vectors // TILE_VECTORS)) * tiles.lanes if vectors > 1 else 0
    of_tile = transform.elements * (deep + wide)
    filters = 4 * transform.elements * deep * vectors * tiles.lanes
    fewest = 2 * TILES_MULTIPLE if filters > FAR_FILTER_BYTES else TILES_MULTIPLE
    return block_of(tiles_of(g, transform), of_tile, spare, fewest=fewest)


def transformed(
    g: Geometry, transform: Transform, transposed: bool, dims: Sequence[int]
) -> Callable[[Any], Any]:
    """The transformation of filters to the layout of the products."""
    lanes = Tiles(FLOAT).lanes
    columns = -(-g.filters // lanes) * lanes
    name = "filters_turned" if transposed else "filters"
    kernel = library(transform).entry(name, table_entries=())
    run: Any = entry.filling(
        kernel.for_dims((g.channels, *dims)), (transform.elements * g.channels * columns,)
    )
    # With few tiles it takes a large part of the time: transformed constant filters are cached.
    if not transposed and tiles_of(g, transform) <= MAX_TILES_PER_CALL:
        run.steps = [run.steps[0]._replace(cacheable=True)]
    return run


def input_gradient(g: Geometry, transform: Transform = F2_TRANSFORM) -> Chain | None:
    """The input gradient: (filters, gradients) to it. None if the method does not support it.

    It is the convolution of the gradients with the rotated filters.
    """
    opposite = convolution.transposed(g)
    return opposite and forward(opposite, transform, transposed=True)
