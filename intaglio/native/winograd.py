"""Convolutions with filters of 3x3, stride 1, in fewer multiplications than their sums have.

The method is that of Winograd, as Lavin and Gray describe it in "Fast Algorithms for
Convolutional Neural Networks" (CVPR 2016), for tiles of 2x2 results: a tile's 4x4 pixels and
the filters are transformed, multiplied element by element, and the products, summed over the
channels, transformed back. That takes 16 multiplications where the sums have 36. The sums
are products of matrices, one for each of the 16 elements. Everything that happens to a block
of tiles happens in cache; nothing but images, filters and results goes through memory.

The transforms only add, subtract and halve: small integers give exact results, and errors are
of the size that the sums' own are. What is not finite spreads a little further: a pixel that is
infinite or NaN makes NaN of what the tiles that see it result in, which is at most one pixel
beyond the results that it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.native import entry
from intaglio.native.code import Code
from intaglio.native.convolution import Geometry
from intaglio.native.lanes import FLOAT, literal
from intaglio.native.library import Kernel, Library, Source
from intaglio.native.tiles import ROWS, Left, Right, Tiles

# Results of a tile along an axis, pixels that it sees, and elements of its transform.
STEP, SEEN = 2, 4
ELEMENTS = SEEN * SEEN
# Bytes of a thread's transformed tiles and their products, and the most tiles of a block.
SCRATCH = 1 << 19
MOST = 24
# From so many channels and tiles on it pays: below, the transforms cost more than is saved.
CHANNELS = 16
TILES = 48
# Between the elements' matrices: else they would share the same few places of the cache.
GAP = 16
# What the kernels are told. `parts` is the range that threads share: blocks of tiles, or
# channels; `rows` and `columns` are the tiles of an image, `tiles` those of all.
DIMS = (
    "parts", "height", "width", "channels", "out_height", "out_width", "filters",
    "top", "left", "rows", "columns", "tiles", "block",
)  # fmt: skip


class _Writer:
    """Writes the kernels: `filters` transforms them, `winograd` does the rest."""

    def __init__(self) -> None:
        self.tiles = Tiles(FLOAT)
        self.kind = self.tiles.kind.llvm

    # -- transforms ---------------------------------------------------------------------

    def _add(self, code: Code, x: str, y: str) -> str:
        return code.let(f"fadd {self.tiles.vector} {x}, {y}")

    def _sub(self, code: Code, x: str, y: str) -> str:
        return code.let(f"fsub {self.tiles.vector} {x}, {y}")

    def _half(self, code: Code, x: str) -> str:
        half = f"splat ({self.kind} {literal(0.5, FLOAT)})"
        return code.let(f"fmul {self.tiles.vector} {x}, {half}")

    def _of_pixels(self, code: Code, line: Sequence[str]) -> list[str]:
        a, b, c, d = line
        return [
            self._sub(code, a, c), self._add(code, b, c),
            self._sub(code, c, b), self._sub(code, b, d),
        ]  # fmt: skip

    def _of_filters(self, code: Code, line: Sequence[str]) -> list[str]:
        a, b, c = line
        outer = self._half(code, self._add(code, a, c))
        middle = self._half(code, b)
        return [a, self._add(code, outer, middle), self._sub(code, outer, middle), c]

    def _of_products(self, code: Code, line: Sequence[str]) -> list[str]:
        a, b, c, d = line
        return [
            self._add(code, self._add(code, a, b), c),
            self._sub(code, self._sub(code, b, c), d),
        ]

    # -- places -------------------------------------------------------------------------

    def _element(self, code: Code, start: str, size: str) -> list[str]:
        """Where the matrix of each element begins."""
        return [self.tiles.step(code, start, size, e) for e in range(ELEMENTS)]

    def _pixels(
        self, code: Code, images: str, tile: str, given: dict[str, str], outside: str, of: str
    ) -> list[str]:  # fmt: skip
        """Pointers to the pixels that a tile sees, or (`of` is "out_") to its results.

        Those that do not exist are at `outside`.
        """
        height, width = given[f"{of}height"], given[f"{of}width"]
        depth = given["filters" if of else "channels"]
        each = code.integer("mul", given["rows"], given["columns"])
        number = code.integer("sdiv", tile, each)
        place = code.integer("srem", tile, each)
        y = code.integer("sdiv", place, given["columns"])
        x = code.integer("srem", place, given["columns"])
        y, x = (code.integer("mul", at, STEP) for at in (y, x))
        if not of:
            y, x = code.integer("sub", y, given["top"]), code.integer("sub", x, given["left"])  # fmt: skip
        size = code.integer("mul", code.integer("mul", height, width), depth)
        image = self.tiles.step(code, images, number, size)
        count = STEP if of else SEEN
        downs = [code.integer("add", y, i) for i in range(count)]
        acrosses = [code.integer("add", x, j) for j in range(count)]
        # Compared as unsigned numbers, places before the first are too large.
        within = [code.integer("icmp ult", across, width) for across in acrosses]
        found: list[str] = []
        for down in downs:
            inside = code.integer("icmp ult", down, height)
            row = code.integer("mul", down, width)
            for across, beside in zip(acrosses, within, strict=True):
                pixel = self.tiles.step(code, image, code.integer("add", row, across), depth)  # fmt: skip
                both = code.let(f"and i1 {inside}, {beside}")
                found.append(code.let(f"select i1 {both}, ptr {pixel}, ptr {outside}"))
        return found

    def _vectors(
        self, code: Code, count: str, body: Callable[[str, str], None]
    ) -> None:
        """Calls `body(first, mask)` for whole vectors, without mask, and for what is left."""
        lanes = self.tiles.lanes
        whole = code.integer("mul", code.integer("sdiv", count, lanes), lanes)
        with code.loop("0", whole, lanes) as index:
            body(index, "")
        with code.loop(whole, count, lanes) as index:
            body(index, self.tiles.mask(code, index, count))

    # -- kernels ------------------------------------------------------------------------

    def filters(self, name: str) -> Code:
        """Transforms the filters of the channels from `from` to `to`.

        The result lies as the products take it: for each panel of columns, for each element,
        a matrix of channels and columns.
        """
        code, tiles = Code(name, entry.KERNEL), self.tiles
        given = entry.numbers(code, DIMS)
        filters = code.load("ptr", "%ins", 8)
        out = code.load("ptr", "%outs", 8)
        channels, columns = given["channels"], given["filters"]
        element = code.integer("mul", channels, tiles.width)
        panel = code.integer("mul", element, ELEMENTS)
        window = code.integer("mul", channels, columns)

        def transform(j: str, mask: str) -> None:
            seen = [
                tiles.read(code, code.at(self.kind, tiles.step(code, line, tap, window), j), mask)
                for tap in range(9)
            ]  # fmt: skip
            made = _both(seen, lambda one: self._of_filters(code, one))
            number = code.integer("sdiv", j, tiles.width)
            column = code.integer("srem", j, tiles.width)
            start = code.at(self.kind, tiles.step(code, target, number, panel), column)
            for place, value in zip(self._element(code, start, element), made, strict=True):  # fmt: skip
                tiles.write(code, value, place)

        with code.loop("%from", "%to") as channel:
            line = tiles.step(code, filters, channel, columns)
            target = tiles.step(code, out, channel, tiles.width)
            self._vectors(code, columns, transform)
        code.do("ret void")
        return code

    def gather(self) -> Code:
        """Transforms the pixels that the tiles from `first` to `last` see, into matrices of
        tiles and channels, one for each element."""
        code, tiles = Code(
            "gather",
            ["ptr %images", "ptr %to", "i64 %element", "ptr %zeros", "i64 %first", "i64 %last", "ptr %dims"],
            "internal fastcc void",
        ), self.tiles  # fmt: skip
        given = entry.numbers(code, DIMS)
        channels = given["channels"]
        targets = self._element(code, "%to", "%element")
        with code.loop("%first", "%last") as tile:
            pixels = self._pixels(code, "%images", tile, given, "%zeros", "")
            row = code.integer("mul", code.integer("sub", tile, "%first"), channels)

            def transform(c: str, mask: str) -> None:
                seen = [tiles.read(code, code.at(self.kind, p, c), mask) for p in pixels]  # fmt: skip
                made = _both(seen, lambda one: self._of_pixels(code, one))
                at = code.integer("add", row, c)
                for target, value in zip(targets, made, strict=True):
                    tiles.write(code, value, code.at(self.kind, target, at), mask)

            self._vectors(code, channels, transform)
        code.do("ret void")
        return code

    def scatter(self) -> Code:
        """Transforms the products of the tiles from `first` to `last` to results, in `count`
        columns from `column` on."""
        code, tiles = Code(
            "scatter",
            ["ptr %out", "ptr %from", "i64 %element", "ptr %scrap", "i64 %first", "i64 %last", "i64 %column", "i64 %count", "ptr %dims"],
            "internal fastcc void",
        ), self.tiles  # fmt: skip
        given = entry.numbers(code, DIMS)
        sources = self._element(code, "%from", "%element")
        out = code.at(self.kind, "%out", "%column")
        with code.loop("%first", "%last") as tile:
            pixels = self._pixels(code, out, tile, given, "%scrap", "out_")
            row = code.integer("mul", code.integer("sub", tile, "%first"), tiles.width)

            def transform(c: str, mask: str) -> None:
                at = code.integer("add", row, c)
                seen = [tiles.read(code, code.at(self.kind, s, at), "") for s in sources]  # fmt: skip
                made = _both(seen, lambda one: self._of_products(code, one))
                for pixel, value in zip(pixels, made, strict=True):
                    tiles.write(code, value, code.at(self.kind, pixel, c), mask)

            self._vectors(code, "%count", transform)
        code.do("ret void")
        return code

    def winograd(self, name: str) -> Code:
        """Blocks of tiles, counted through all images; inputs: images, transformed filters."""
        code, tiles = Code(name, entry.KERNEL), self.tiles
        given = entry.numbers(code, DIMS)
        held = code.let(f"alloca [{SCRATCH // 4} x {self.kind}], align 64")
        images, filters = (
            code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1)
        )
        out = code.load("ptr", "%outs", 8)
        channels, columns, block = given["channels"], given["filters"], given["block"]
        element = code.integer("add", code.integer("mul", block, channels), GAP)
        product = code.integer("add", code.integer("mul", block, tiles.width), GAP)
        products = tiles.step(code, held, ELEMENTS, element)
        # What images do not have is read here, what results do not have is written here.
        zeros = tiles.step(code, products, ELEMENTS, product)
        scrap = code.at(self.kind, zeros, channels)
        size = code.integer("mul", channels, 4)
        code.call("void", "llvm.memset.p0.i64", ("ptr", zeros), ("i8", "0"), ("i64", size), ("i1", "false"))  # fmt: skip
        with code.loop("%from", "%to") as part:
            first = code.integer("mul", part, block)
            last = code.least(code.integer("add", first, block), given["tiles"])
            code.do(
                f"call fastcc void @gather(ptr {images}, ptr {held}, i64 {element}, "
                f"ptr {zeros}, i64 {first}, i64 {last}, ptr %dims)"
            )
            count = code.integer("sub", last, first)
            with code.loop("0", columns, tiles.width) as j:
                wide = code.least(tiles.width, code.integer("sub", columns, j))
                panel = tiles.step(code, filters, j, code.integer("mul", channels, ELEMENTS))  # fmt: skip
                with code.loop("0", str(ELEMENTS)) as e:
                    left = Left(tiles.step(code, held, e, element), channels, "1")
                    depth = code.integer("mul", channels, tiles.width)
                    right = Right(tiles.step(code, panel, e, depth), str(tiles.width))
                    target = Right(tiles.step(code, products, e, product), str(tiles.width))  # fmt: skip
                    sizes = (wide, channels, "1")
                    tiles.product(code, ("0", count), left, right, target, sizes, "true")  # fmt: skip
                code.do(
                    f"call fastcc void @scatter(ptr {out}, ptr {products}, i64 {product}, "
                    f"ptr {scrap}, i64 {first}, i64 {last}, i64 {j}, i64 {wide}, ptr %dims)"
                )
        code.do("ret void")
        return code


def _both(
    square: Sequence[str], along: Callable[[Sequence[str]], list[str]]
) -> list[str]:
    """A transform of lines, carried out along both axes of a square."""
    side = int(len(square) ** 0.5)
    columns = [along(square[j::side]) for j in range(side)]
    rows = [along(row) for row in zip(*columns, strict=True)]
    return [value for row in rows for value in row]


def _source() -> Source:
    writer = _Writer()
    return Source(
        [
            Kernel(writer.winograd("winograd"), 2),
            Kernel(writer.filters("filters"), 1),
        ],
        [*writer.tiles.functions(), writer.gather(), writer.scatter()],
        writer.tiles.table(),
    )


LIBRARY = Library(_source)


def _block(tiles: int, channels: int) -> int:
    """The tiles of a block, all blocks being about the same; 0 if the cache holds too few."""
    width = Tiles(FLOAT).width
    room = SCRATCH // 4 - channels - width - 2 * ELEMENTS * GAP
    fit = room // (ELEMENTS * (channels + width)) // ROWS * ROWS
    if fit < ROWS:
        return 0
    blocks = -(-tiles // min(fit, MOST))
    return -(-tiles // blocks // ROWS) * ROWS


def pays(g: Geometry) -> bool:
    """True if a convolution is of this kind, and the method faster than the sums.

    Where heights or widths are odd and small, too much of the tiles is outside of the results.
    """
    steps = (g.window_height, g.window_width, g.stride_y, g.stride_x)
    if steps != (3, 3, 1, 1) or g.channels < CHANNELS:
        return False
    tiles = -(-g.out_height // STEP) * -(-g.out_width // STEP)
    used = g.out_height * g.out_width / (tiles * STEP * STEP)
    return g.images * tiles >= TILES and used >= 2 / 3


def forward(g: Geometry) -> Callable[[Any, Any], Any] | None:
    """The convolution: (images, filters) to the result. None if it is not of this kind."""
    steps = (g.window_height, g.window_width, g.stride_y, g.stride_x)
    if not entry.AVAILABLE or steps != (3, 3, 1, 1) or min(g[:7]) < 1:
        return None
    rows, columns = -(-g.out_height // STEP), -(-g.out_width // STEP)
    tiles = g.images * rows * columns
    block = _block(tiles, g.channels)
    if not block:
        return None
    dims = (
        g.height, g.width, g.channels, g.out_height, g.out_width, g.filters,
        g.top, g.left, rows, columns, tiles, block,
    )  # fmt: skip
    transform = LIBRARY.entry("filters").for_dims((g.channels, *dims))
    width = Tiles(FLOAT).width
    transformed = entry.filling(
        transform, (-(-g.filters // width), ELEMENTS, g.channels, width)
    )
    blocks = -(-tiles // block)
    kernel = LIBRARY.entry("winograd").for_dims((blocks, *dims))
    shape = (g.images, g.out_height, g.out_width, g.filters)
    convolve = entry.filling(kernel, shape)
    return lambda images, filters: convolve(images, transformed(filters))
