"""Convolutions with filters of 3x3, stride 1, in fewer multiplications than their sums have.

The images are seen as tiles of results. A tile's pixels and the filters are transformed
(`native/transforms.py`), multiplied element by element, and the products, summed over the channels,
transformed back. The sums are products of matrices, one for each element of the transform.
Everything that happens to a block of tiles happens in cache; nothing but images, filters and
results goes through memory. A bias is added and what lies below a floor raised to it before
results are stored.

Transformed tiles lie so that each matrix has a vector of channels for every tile, then the next
vector of channels: all steps within are known when the code is written.

`transforms.EXACT` only adds, subtracts and halves: small integers give exact results, and errors
are of the size that the sums' own are. What is not finite spreads a little further: a pixel that
is infinite or NaN makes NaN of what the tiles that see it result in, which is at most one pixel
beyond the results that it belongs to; with `transforms.FAST` at most three.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from intaglio.native import convolution, entry
from intaglio.native.chains import Chain
from intaglio.native.code import Code
from intaglio.native.convolution import Geometry
from intaglio.native.lanes import FLOAT
from intaglio.native.library import Kernel, Library, Source
from intaglio.native.tiles import SUMS, VECTORS, Tiles
from intaglio.native.transforms import EXACT, Sums, Transform, in_squares

# Bytes of a thread's transformed tiles and their products: what is aimed at, and the most.
AIM, SCRATCH = 3 << 17, 1 << 21
# Blocks have a multiple of so many tiles: the rows of every shape of a product divide it.
UNIT = SUMS
# From so many channels and tiles on it pays: below, the transforms cost more than is saved.
CHANNELS = 16
TILES = 48
# Between the elements' matrices: else they would share the same few places of the cache.
GAP = 16
# What the kernels are told. `parts` is the range that threads share: blocks of tiles, or
# channels; `rows` and `columns` are the tiles of an image, `tiles` those of all.
DIMS = (
    "parts", "height", "width", "channels", "out_height", "out_width", "filters",
    "top", "left", "rows", "columns", "tiles", "block", "floored",
)  # fmt: skip


class Blocks:
    """Writes what the kernels on blocks of tiles share."""

    def __init__(self, transform: Transform) -> None:
        self.transform = transform
        self.tiles = Tiles(FLOAT)
        self.kind = self.tiles.kind.llvm
        self.lanes = self.tiles.lanes

    def at(self, code: Code, start: str, index: str | int) -> str:
        """The pointer to an element."""
        return code.at(self.kind, start, str(index))

    def held(self, code: Code, *sizes: str) -> str:
        """Memory on the stack for so many elements together."""
        size = functools.reduce(lambda x, y: code.integer("add", x, y), sizes)
        return code.let(f"alloca {self.kind}, i64 {size}, align 64")

    def rounded(self, code: Code, count: str, unit: int) -> str:
        """A count rounded up to a multiple of `unit`."""
        more = code.integer("add", count, unit - 1)
        return code.integer("mul", code.integer("sdiv", more, unit), unit)

    def elements(self, code: Code, start: str, size: str) -> list[str]:
        """Where the matrix of each element begins."""
        return [
            self.tiles.step(code, start, size, e)
            for e in range(self.transform.elements)
        ]

    def vectors(self, code: Code, count: str, body: Callable[[str, str], None]) -> None:
        """Calls `body(first, mask)` for whole vectors, without mask, and for what is left."""
        whole = code.integer("mul", code.integer("sdiv", count, self.lanes), self.lanes)
        with code.loop("0", whole, self.lanes) as index:
            body(index, "")
        with code.when(code.integer("icmp slt", whole, count)):
            body(whole, self.tiles.mask(code, whole, count))

    def across(self, code: Code, columns: str) -> str:
        """How many vectors columns take."""
        more = code.integer("add", columns, self.lanes - 1)
        return code.integer("sdiv", more, self.lanes)

    @contextmanager
    def panels(self, code: Code, columns: str, most: int) -> Generator[tuple[str, str]]:
        """For every panel of columns: its first column and its vectors, at most `most`, of
        which all panels have nearly the same number."""
        whole = self.across(code, columns)
        count = code.integer("sdiv", code.integer("add", whole, most - 1), most)
        with code.loop("0", count) as p:
            first, last = (
                code.integer("sdiv", code.integer("mul", whole, at), count)
                for at in (p, code.integer("add", p, 1))
            )
            vectors = code.integer("sub", last, first)
            yield code.integer("mul", first, self.lanes), vectors

    def walk(
        self, code: Code, images: str, given: dict[str, str], of: str, side: int, outside: str,
        body: Callable[[str, Callable[[int, int, str], str]], None],
    ) -> None:  # fmt: skip
        """Goes over the tiles from `first` to `last`; for images, or (`of` is "out_") for results.

        Calls `body(tile, place)` for a tile whose columns are in its image, and again for one
        with others: `place(i, j, c)` is where element c of one of the `side` times `side`
        pixels is. For pixels that do not exist it is in `outside`, which is as large as a row
        of a tile.
        """
        depth = given["filters" if of else "channels"]
        line = code.integer("mul", given[f"{of}width"], depth)
        size = code.integer("mul", given[f"{of}height"], line)
        each = code.integer("mul", given["rows"], given["columns"])
        place = code.integer("srem", "%first", each)
        image = self.tiles.step(code, images, code.integer("sdiv", "%first", each), size)  # fmt: skip
        start = [
            ("ptr", image),
            ("i64", code.integer("sdiv", place, given["columns"])),
            ("i64", code.integer("srem", place, given["columns"])),
        ]
        beside = [code.integer("mul", depth, j) for j in range(side)]
        with code.carrying("%first", "%last", 1, *start) as tile:
            image, row, column = tile.values
            y, x = (code.integer("mul", v, self.transform.step) for v in (row, column))
            if not of:
                y = code.integer("sub", y, given["top"])
                x = code.integer("sub", x, given["left"])
            offset = code.integer("add", code.integer("mul", y, line), code.integer("mul", x, depth))  # fmt: skip
            tops = [self.at(code, image, offset)]
            for _ in range(side - 1):
                tops.append(self.at(code, tops[-1], line))
            # Compared as unsigned numbers, places before the first are too large.
            for i, top in enumerate(tops):
                row_there = code.integer("icmp ult", code.integer("add", y, i), given[f"{of}height"])  # fmt: skip
                tops[i] = code.let(f"select i1 {row_there}, ptr {top}, ptr {outside}")
            columns = [
                code.integer("icmp ult", code.integer("add", x, j), given[f"{of}width"])
                for j in range(side)
            ]
            whole = code.let(f"and i1 {columns[0]}, {columns[-1]}")
            with code.when(whole):
                body(tile.index, lambda i, j, c: self.at(code, self.at(code, tops[i], c), beside[j]))  # fmt: skip
            with code.when(code.let(f"xor i1 {whole}, true")):
                table = [
                    code.let(f"select i1 {there}, ptr {self.at(code, top, step)}, ptr {outside}")
                    for top in tops
                    for there, step in zip(columns, beside, strict=True)
                ]  # fmt: skip
                body(tile.index, lambda i, j, c: self.at(code, table[i * side + j], c))
            tile.following = self._next(code, given, tile.values, size)

    def _next(
        self, code: Code, given: dict[str, str], values: list[str], size: str
    ) -> list[str]:
        """The image, row and column of the tile that follows."""
        image, row, column = values
        right = code.integer("add", column, 1)
        end = code.integer("icmp eq", right, given["columns"])
        below = code.let(f"add i64 {row}, {code.let(f'zext i1 {end} to i64')}")
        last = code.integer("icmp eq", below, given["rows"])
        return [
            code.let(f"select i1 {last}, ptr {self.at(code, image, size)}, ptr {image}"),
            code.let(f"select i1 {last}, i64 0, i64 {below}"),
            code.let(f"select i1 {end}, i64 0, i64 {right}"),
        ]  # fmt: skip

    def gather(
        self, name: str, of: str, side: int, along: Callable[[Sums, Any], list[str]]
    ) -> Code:
        """Transforms what the tiles from `first` to `last` see, into a matrix for each element:
        a vector of channels for every tile, then the next vector of channels."""
        code = Code(
            name,
            ["ptr %images", "ptr %to", "i64 %element", "ptr %zeros", "i64 %first", "i64 %last", "ptr %dims"],
            "internal fastcc void",
        )  # fmt: skip
        given, sums = entry.numbers(code, DIMS), Sums(code, self.tiles)
        depth = given["filters" if of else "channels"]
        targets = self.elements(code, "%to", "%element")

        def body(tile: str, place: Callable[[int, int, str], str]) -> None:
            local = code.integer("sub", tile, "%first")
            row = code.integer("mul", local, self.lanes)

            def transformed(c: str, mask: str) -> None:
                seen = [
                    self.tiles.read(code, place(i, j, c), mask)
                    for i in range(side)
                    for j in range(side)
                ]
                made = in_squares(seen, side, lambda line: along(sums, line))
                chunk = code.integer("mul", c, given["block"])
                at = code.integer("add", chunk, row)
                for target, value in zip(targets, made, strict=True):
                    self.tiles.write(code, value, self.at(code, target, at))

            self.vectors(code, depth, transformed)

        self.walk(code, "%images", given, of, side, "%zeros", body)
        code.do("ret void")
        return code


class Writer(Blocks):
    """Writes the kernels: `filters` transforms them, `winograd` does the rest."""

    # What the kernels are told; one that does more with results is told more.
    dims: tuple[str, ...] = DIMS

    def filters(self, name: str) -> Code:
        """Transforms the filters of the channels from `from` to `to`.

        The result lies as the products take it: for each panel of columns, for each element,
        a matrix of channels and columns.
        """
        code, tiles = Code(name, entry.KERNEL), self.tiles
        given = entry.numbers(code, DIMS)
        filters = code.load("ptr", "%ins", 8)
        columns = given["filters"]
        window = code.integer("mul", given["channels"], columns)
        with (
            code.loop("%from", "%to") as channel,
            self.panels(code, columns, VECTORS) as (start, count),
        ):
            wide = code.integer("mul", count, self.lanes)
            with code.loop("0", wide, self.lanes) as j:
                column = code.integer("add", start, j)
                mask = tiles.mask(code, column, columns)
                top = self.at(code, tiles.step(code, filters, channel, columns), column)
                seen = [
                    tiles.read(code, tiles.step(code, top, tap, window), mask)
                    for tap in range(9)
                ]
                self._put(code, given, seen, channel, (start, wide, j))
        code.do("ret void")
        return code

    def filters_turned(self, name: str) -> Code:
        """The same for filters turned around, their channels exchanged with the columns.

        They are read in squares of as many channels as columns, which are transposed in
        registers and wait in cache until all nine are there.
        """
        code, tiles, lanes = Code(name, entry.KERNEL), self.tiles, self.lanes
        given = entry.numbers(code, DIMS)
        filters = code.load("ptr", "%ins", 8)
        channels, columns = given["channels"], given["filters"]
        window = code.integer("mul", channels, columns)
        waiting = code.let(f"alloca [{9 * lanes * lanes} x {self.kind}], align 64")
        with (
            code.loop("%from", "%to", lanes) as first,
            self.panels(code, columns, VECTORS) as (start, vectors),
        ):
            wide = code.integer("mul", vectors, lanes)
            along = tiles.mask(code, first, channels)
            last = code.least(code.integer("add", first, lanes), channels)
            with code.loop("0", wide, lanes) as j:
                column = code.integer("add", start, j)
                with code.loop("0", "9") as tap:
                    source = tiles.step(code, filters, code.integer("sub", 8, tap), window)  # fmt: skip
                    row = tiles.step(code, source, column, channels)
                    count = code.integer("sub", columns, column)
                    place = self.at(code, row, first)
                    made = tiles.read_turned(code, place, channels, count, along)
                    for r, vector in enumerate(made):
                        to = tiles.step(code, waiting, code.integer("add", tap, 9 * r), lanes)  # fmt: skip
                        tiles.write(code, vector, to)
                with code.loop(first, last) as channel:
                    number = code.integer("sub", channel, first)
                    top = tiles.step(code, waiting, number, 9 * lanes)
                    seen = [tiles.read(code, p, "") for p in tiles.places(code, top, 9)]
                    self._put(code, given, seen, channel, (start, wide, j))
        code.do("ret void")
        return code

    def _put(
        self, code: Code, given: dict[str, str], seen: list[str], channel: str,
        at: tuple[str, str, str],
    ) -> None:  # fmt: skip
        """Transforms the nine elements of a channel's filters, for a vector of the columns of
        a panel: where that begins, how wide it is, and the first of the vector."""
        start, wide, j = at
        sums, channels = Sums(code, self.tiles), given["channels"]
        out = code.load("ptr", "%outs", 8)
        begin = code.integer("mul", code.integer("mul", channels, start), self.transform.elements)  # fmt: skip
        row = self.tiles.step(code, self.at(code, out, begin), channel, wide)
        places = self.elements(code, self.at(code, row, j), code.integer("mul", channels, wide))  # fmt: skip
        made = in_squares(seen, 3, lambda line: self.transform.of_filters(sums, line))
        for place, value in zip(places, made, strict=True):
            self.tiles.write(code, value, place)

    def cells(self, vectors: int) -> Code:
        """The product of one element's matrices: `rows` tiles, `vectors` of columns."""
        code, tiles, lanes = Code(
            f"cells_{vectors}",
            ["ptr %a", "i64 %chunk", "ptr %b", "ptr %c", "i64 %channels", "i64 %rows"],
            "internal fastcc void",
        ), self.tiles, self.lanes  # fmt: skip
        rows, wide = SUMS // vectors, vectors * lanes
        zeros = [(tiles.vector, "zeroinitializer")] * (rows * vectors)
        with code.loop("0", "%rows", rows) as row:
            top = tiles.step(code, "%a", row, lanes)
            carried = [("ptr", top), ("ptr", "%b"), *zeros]
            with code.carrying("0", "%channels", lanes, *carried) as chunk:
                left = code.least(lanes, code.integer("sub", "%channels", chunk.index))
                inner = [("ptr", chunk.values[0]), ("ptr", chunk.values[1])]
                inner += [(tiles.vector, s) for s in chunk.values[2:]]
                with code.carrying("0", left, 1, *inner) as turn:
                    turn.following = self._turn(code, turn.values, vectors)
                following = self.at(code, chunk.values[0], "%chunk")
                chunk.following = [following, *turn.values[1:]]
            target = tiles.step(code, "%c", row, wide)
            for i, value in enumerate(chunk.values[2:]):
                tiles.write(code, value, self.at(code, target, i * lanes))
        code.do("ret void")
        return code

    def _turn(self, code: Code, state: list[str], vectors: int) -> list[str]:
        """One channel of all tiles times its row of columns, added to the sums."""
        tiles, lanes = self.tiles, self.lanes
        left, right, *sums = state
        panel = [
            tiles.read(code, place, "") for place in tiles.places(code, right, vectors)
        ]
        made: list[str] = []
        for r in range(len(sums) // vectors):
            place = self.at(code, left, r * lanes)
            factor = code.splat(lanes, self.kind, code.load(self.kind, place, 4))
            made += [
                tiles.fma(code, factor, vector, sums[r * vectors + v])
                for v, vector in enumerate(panel)
            ]
        return [self.at(code, left, 1), self.at(code, right, vectors * lanes), *made]

    def table(self) -> str:
        """The products by the vectors of their columns."""
        names = ", ".join([f"ptr @cells_{v}" for v in range(1, VECTORS + 1)])
        return f"@cells = internal constant [{VECTORS + 1} x ptr] [ptr null, {names}]\n"

    def scatter(self) -> Code:
        """Transforms the products of the tiles from `first` to `last` to results, in `count`
        columns from `column` on."""
        code, tiles = Code(
            "scatter",
            ["ptr %outs", "ptr %from", "i64 %element", "i64 %row", "ptr %bias", "ptr %scrap", "i64 %first", "i64 %last", "i64 %column", "i64 %count", "ptr %dims"],
            "internal fastcc void",
        ), self.tiles  # fmt: skip
        given, sums = entry.numbers(code, self.dims), Sums(code, self.tiles)
        sources = self.elements(code, "%from", "%element")
        low = convolution.floor(code, tiles, given["floored"])
        side = self.transform.step

        def body(tile: str, place: Callable[[int, int, str], str]) -> None:
            local = code.integer("sub", tile, "%first")
            row = code.integer("mul", local, "%row")

            def transformed(c: str, mask: str) -> None:
                at = code.integer("add", row, c)
                seen = [tiles.read(code, self.at(code, s, at), "") for s in sources]
                made = in_squares(
                    seen,
                    self.transform.seen,
                    lambda line: self.transform.of_products(sums, line),
                )
                bias = tiles.read(code, self.at(code, "%bias", c), mask)
                made = [sums.add(value, bias) for value in made]
                made = [convolution.above(code, tiles, value, low) for value in made]
                self.results(code, given, made, tile, place, c, mask)

            self.vectors(code, "%count", transformed)

        out = self.at(code, code.load("ptr", "%outs", 8), "%column")
        self.walk(code, out, given, "out_", side, "%scrap", body)
        code.do("ret void")
        return code

    def results(
        self, code: Code, given: dict[str, str], made: list[str], tile: str,
        place: Callable[[int, int, str], str], c: str, mask: str,
    ) -> None:  # fmt: skip
        """Writes the results of a tile, for a vector of columns from `c` on."""
        side = self.transform.step
        for i in range(side):
            for j in range(side):
                self.tiles.write(code, made[i * side + j], place(i, j, c), mask)

    def winograd(self, name: str) -> Code:
        """Blocks of tiles, counted through all images; inputs: images, transformed filters, bias."""
        code, tiles = Code(name, entry.KERNEL), self.tiles
        given = entry.numbers(code, self.dims)
        images, filters, bias = (
            code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(3)
        )
        channels, columns, block = given["channels"], given["filters"], given["block"]
        deep = self.rounded(code, channels, self.lanes)
        element = code.integer("add", code.integer("mul", block, deep), GAP)
        product = code.integer("add", code.integer("mul", block, tiles.width), GAP)
        both = code.integer("add", element, product)
        size = code.integer("mul", both, self.transform.elements)
        seen = code.integer("mul", channels, self.transform.seen)
        left = code.integer("mul", columns, self.transform.step)
        held = self.held(code, size, seen, code.integer("add", left, tiles.width))
        products = tiles.step(code, held, self.transform.elements, element)
        # What images do not have is read here, what results do not have is written here.
        zeros = tiles.step(code, products, self.transform.elements, product)
        scrap = self.at(code, zeros, seen)
        size = code.integer("mul", seen, 4)
        code.call("void", "llvm.memset.p0.i64", ("ptr", zeros), ("i8", "0"), ("i64", size), ("i1", "false"))  # fmt: skip
        chunk = code.integer("mul", block, self.lanes)
        with code.loop("%from", "%to") as part:
            first = code.integer("mul", part, block)
            last = code.least(code.integer("add", first, block), given["tiles"])
            code.do(
                f"call fastcc void @gather(ptr {images}, ptr {held}, i64 {element}, "
                f"ptr {zeros}, i64 {first}, i64 {last}, ptr %dims)"
            )
            rows = self.rounded(code, code.integer("sub", last, first), UNIT)
            with self.panels(code, columns, VECTORS) as (column, count):
                wide = code.integer("mul", count, self.lanes)
                before = code.integer("mul", code.integer("mul", channels, column), self.transform.elements)  # fmt: skip
                depth = code.integer("mul", channels, wide)
                cells = code.load("ptr", code.at("ptr", "@cells", count), 8)
                with code.loop("0", str(self.transform.elements)) as e:
                    a = tiles.step(code, held, e, element)
                    b = tiles.step(code, self.at(code, filters, before), e, depth)
                    c = tiles.step(code, products, e, product)
                    code.do(
                        f"call fastcc void {cells}(ptr {a}, i64 {chunk}, ptr {b}, ptr {c}, "
                        f"i64 {channels}, i64 {rows})"
                    )
                there = code.least(wide, code.integer("sub", columns, column))
                code.do(
                    f"call fastcc void @scatter(ptr %outs, ptr {products}, i64 {product}, "
                    f"i64 {wide}, ptr {self.at(code, bias, column)}, ptr {scrap}, i64 {first}, "
                    f"i64 {last}, i64 {column}, i64 {there}, ptr %dims)"
                )
        code.do("ret void")
        return code


def _source(transform: Transform) -> Source:
    writer = Writer(transform)
    gather = writer.gather("gather", "", transform.seen, transform.of_pixels)
    products = [writer.cells(v) for v in range(1, VECTORS + 1)]
    return Source(
        [
            Kernel(writer.winograd("winograd"), 3),
            Kernel(writer.filters("filters"), 1),
            Kernel(writer.filters_turned("filters_turned"), 1, unit=writer.lanes),
        ],
        [*products, gather, writer.scatter()],
        writer.table(),
    )


@functools.cache
def library(transform: Transform) -> Library:
    """The kernels of a transform."""
    return Library(lambda: _source(transform))


def block_of(tiles: int, of_tile: int, spare: int) -> int:
    """The tiles of a block, all blocks being about the same; 0 if the cache holds too few.

    `of_tile` are the numbers that are kept for a tile, `spare` those that a block needs besides.
    """
    fit, most = (
        (size // 4 - spare) // of_tile // UNIT * UNIT for size in (AIM, SCRATCH)
    )
    if most < UNIT:
        return 0
    blocks = -(-tiles // max(fit, UNIT))
    return -(-tiles // blocks // UNIT) * UNIT


def is_for(g: Geometry) -> bool:
    """True if a convolution is of this kind."""
    steps = (g.window_height, g.window_width, g.stride_y, g.stride_x)
    return entry.AVAILABLE and g.plain and steps == (3, 3, 1, 1) and not g.empty


def pays(g: Geometry, transform: Transform = EXACT) -> bool:
    """True if a convolution is of this kind, and the method faster than the sums.

    Where heights or widths are small and no multiples of a tile's, too much of the tiles is
    outside of the results.
    """
    if not is_for(g) or g.channels < CHANNELS:
        return False
    count = tiles_of(g, transform)
    used = g.images * g.out_height * g.out_width / (count * transform.step**2)
    return count >= TILES and used >= 2 / 3


def dims_of(g: Geometry, transform: Transform, block: int, floored: bool) -> list[int]:
    """What kernels are told of a geometry, but for `parts`."""
    rows, columns = (-(-d // transform.step) for d in (g.out_height, g.out_width))
    return [
        g.height, g.width, g.channels, g.out_height, g.out_width, g.filters, g.top, g.left,
        rows, columns, g.images * rows * columns, block, floored,
    ]  # fmt: skip


def tiles_of(g: Geometry, transform: Transform) -> int:
    """How many tiles the results of all images have."""
    return g.images * math.prod(
        [-(-d // transform.step) for d in (g.out_height, g.out_width)]
    )


def forward(
    g: Geometry,
    transform: Transform = EXACT,
    turned: bool = False,
    biased: bool = False,
    floored: bool = False,
) -> Chain | None:
    """The convolution: (images, filters) to the result. None if it is not of this kind.

    `biased` says that a third argument is added; `floored` makes what is less than zero zero.
    `turned` says that this is the gradient by the images of a convolution, whose filters come
    first: (filters, gradients) to the result.
    """
    block = blocked(g, transform)
    if not block:
        return None
    dims = dims_of(g, transform, block, floored)
    convolve = entry.filling(
        library(transform)
        .entry("winograd")
        .for_dims((-(-tiles_of(g, transform) // block), *dims)),
        g.shape,
    )
    chain = Chain(3 if biased else 2)
    images, filters = (1, 0) if turned else (0, 1)
    bias = 2 if biased else np.zeros(g.filters, np.float32)
    made = chain.then(transformed(g, transform, turned, dims), filters)
    (result,) = chain.then(convolve, images, *made, bias)
    return chain.giving(result)


def blocked(g: Geometry, transform: Transform) -> int:
    """The tiles of a block; 0 if the convolution is not of this kind."""
    if not is_for(g):
        return 0
    tiles = Tiles(FLOAT)
    deep = -(-g.channels // tiles.lanes) * tiles.lanes
    rows = transform.seen * g.channels + transform.step * g.filters
    spare = rows + tiles.width + 2 * transform.elements * GAP
    of_tile = transform.elements * (deep + tiles.width)
    return block_of(tiles_of(g, transform), of_tile, spare)


def transformed(
    g: Geometry, transform: Transform, turned: bool, dims: Sequence[int]
) -> Callable[[Any], Any]:
    """Filters to what the products take of them."""
    lanes = Tiles(FLOAT).lanes
    columns = -(-g.filters // lanes) * lanes
    kernel = library(transform).entry("filters_turned" if turned else "filters")
    return entry.filling(
        kernel.for_dims((g.channels, *dims)),
        (transform.elements * g.channels * columns,),
    )


def by_images(g: Geometry, transform: Transform = EXACT) -> Chain | None:
    """The gradient by the images: (filters, gradients) to it. None if it is not of this kind.

    It is the convolution of the gradients with the filters turned around.
    """
    opposite = convolution.turned(g)
    return opposite and forward(opposite, transform, turned=True)
