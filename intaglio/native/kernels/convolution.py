"""Direct convolutions of images in machine code, without im2col.

With channels last, the pixels under a row of a filter are contiguous: a row of the result is a
matrix product whose left rows overlap, each starting one stride after the other, with a segment
from each row of the image. Padded rows are built in cache, some at a time.

Where windows are dilated along a row, each of their pixels is a segment. Windows over volumes are
several windows over images, one behind the other, whose sums are added.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import TILE_ROWS, Left, Right, Tiles, tiles_for
from intaglio.native.kernels.pooling_epilogue import WORDS, Pool, Pooling
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Builder, Kind, Lanes, literal
from intaglio.native.runtime import entry

# Elements of the padded rows that a thread buffers.
STRIPE_SIZE = 1 << 16


class Geometry(NamedTuple):
    """A convolution of channels-last images, or volumes: shapes, strides, padding before, and
    dilations."""

    images: int
    height: int
    width: int
    channels: int
    out_height: int
    out_width: int
    filters: int
    window_height: int
    window_width: int
    stride_y: int
    stride_x: int
    top: int
    left: int
    apart_y: int = 1
    apart_x: int = 1
    solid: bool = False
    depth: int = 1
    out_depth: int = 1
    window_depth: int = 1
    stride_z: int = 1
    front: int = 0
    apart_z: int = 1
    # The groups of channels and filters; a filter sees the channels of its own group only.
    channel_groups: int = 1

    @property
    def plain(self) -> bool:
        """True for undilated windows over images."""
        return not self.solid and self.apart_y == self.apart_x == 1

    @property
    def empty(self) -> bool:
        """True if the result or the reduction is empty."""
        return min(*self[:9], self.depth, self.out_depth, self.window_depth) < 1

    @property
    def padded(self) -> bool:
        """True if some window has taps outside of its image."""
        ends = (
            ((self.out_depth - 1) * self.stride_z + (self.window_depth - 1) * self.apart_z, self.front, self.depth),
            ((self.out_height - 1) * self.stride_y + (self.window_height - 1) * self.apart_y, self.top, self.height),
            ((self.out_width - 1) * self.stride_x + (self.window_width - 1) * self.apart_x, self.left, self.width),
        )  # fmt: skip
        return any(before > 0 or last - before >= size for last, before, size in ends)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        deep = (self.out_depth,) if self.solid else ()
        return (self.images, *deep, self.out_height, self.out_width, self.filters)

    @property
    def window(self) -> tuple[int, ...]:
        """The shape of a window."""
        deep = (self.window_depth,) if self.solid else ()
        return (*deep, self.window_height, self.window_width)

    def padded_width(self, columns: int) -> int:
        """The columns of a padded row that so many columns of the result need."""
        reach = (self.window_width - 1) * self.apart_x + 1
        return (columns - 1) * self.stride_x + reach

    @property
    def band(self) -> int:
        """The rows of the result whose padded rows are buffered at a time; 0 if the buffer is too
        small for a pixel of one."""
        return min(self.band_rows, 16) or min(self.span, 1)

    @property
    def band_rows(self) -> int:
        """The whole rows of the result whose padded rows fit the buffer; 0 if none do."""
        row = self.padded_width(self.out_width) * self.channels * self.window_depth
        reach = (self.window_height - 1) * self.apart_y + 1
        rows = STRIPE_SIZE // max(row, 1) - reach
        return max(0, min(rows // self.stride_y + 1, self.out_height))

    @property
    def span(self) -> int:
        """The columns of a row of the result that are computed at a time: all where whole rows fit the
        buffer, else about equal parts of the row. 0 if the buffer is too small for one."""
        if self.band_rows:
            return self.out_width
        reach = (self.window_height - 1) * self.apart_y + 1
        column = self.channels * self.window_depth * reach
        most = (STRIPE_SIZE // column - self.padded_width(1)) // self.stride_x + 1
        if most < 1:
            return 0
        most = most // TILE_ROWS * TILE_ROWS or most
        share = -(-self.out_width // -(-self.out_width // most))
        return min(-(-share // TILE_ROWS) * TILE_ROWS, most)


# The dims of the kernels. `parts` is the range that threads share: bands of rows of the
# result, or their spans of columns, or rows of a filter's gradient.
DIMS = (
    "parts", *Geometry._fields, "padded_width", "band", "bands", "span", "spans", "relu",
)  # fmt: skip


def relu_bound(code: Code, tiles: Tiles, relu: str) -> str:
    """What `clamped` keeps values above: zero if the number `relu` is not 0, else minus infinity."""
    kind, there = tiles.kind.llvm, code.integer("icmp ne", relu, 0)
    least = literal(-math.inf, tiles.kind)
    value = code.let(f"select i1 {there}, {kind} 0.0, {kind} {least}")
    return code.splat(tiles.lanes, kind, value)


def clamped(code: Code, tiles: Tiles, value: str, low: str) -> str:
    """The larger of two vectors, NaN if the first is."""
    s = Builder(code, tiles.lanes, 1)
    return s.maximum(Lanes(tiles.kind, (value,)), Lanes(tiles.kind, (low,))).names[0]


class ConvolutionBuilder:
    """Emits the kernels of convolutions and of their filter gradient."""

    def __init__(self, kind: Kind) -> None:
        self.tiles = Tiles(kind)
        self.kind = self.tiles.kind.llvm

    def stripe(self) -> Code:
        """Copies `count` rows of an image of `rows` with their padding, from row `first` on.

        The image begins in column `left` of the copies, which is negative behind its first column.
        Rows outside of the image are filled with zeros.
        """
        parameters = ["ptr %image", "i64 %rows", "ptr %to", "i64 %first", "i64 %left", "i64 %count"]
        code = Code("stripe", [*parameters, "ptr %dims"], "internal fastcc void")
        dims = entry.load_dims(code, DIMS)
        channels = dims["channels"]
        pitch = code.integer("mul", dims["padded_width"], channels)
        padding = code.least(self._positive(code, "%left"), dims["padded_width"])
        skipped = self._positive(code, code.integer("sub", 0, "%left"))
        seen = self._positive(code, code.integer("sub", dims["width"], skipped))
        rest = code.integer("sub", dims["padded_width"], padding)
        before, from_, copied = (
            code.integer("mul", n, channels) for n in (padding, skipped, code.least(seen, rest))
        )
        end = code.integer("add", before, copied)
        after = code.integer("sub", pitch, end)
        with code.loop("0", "%count") as index:
            row = code.integer("add", "%first", index)
            target = self.tiles.step(code, "%to", index, pitch)
            # The comparison is unsigned: rows above the image are too large.
            inside = code.integer("icmp ult", row, "%rows")
            outside = code.let(f"xor i1 {inside}, true")
            with code.when(outside):
                self._clear(code, target, pitch)
            with code.when(inside):
                self._clear(code, target, before)
                line = code.integer("mul", dims["width"], channels)
                source = code.at(self.kind, self.tiles.step(code, "%image", row, line), from_)
                self._copy(code, code.at(self.kind, target, before), source, copied)
                self._clear(code, code.at(self.kind, target, end), after)
        code.do("ret void")
        return code

    def _positive(self, code: Code, value: str) -> str:
        """The larger of an i64 and 0."""
        return code.let(f"select i1 {code.integer('icmp sgt', value, 0)}, i64 {value}, i64 0")

    def _clear(self, code: Code, pointer: str, count: str) -> None:
        size = code.integer("mul", count, self.tiles.kind.bytes)
        code.zero(pointer, size)

    def _copy(self, code: Code, pointer: str, source: str, count: str) -> None:
        size = code.integer("mul", count, self.tiles.kind.bytes)
        code.copy(pointer, source, size)

    def forward(self, name: str, finished: bool = False) -> Code:
        """Bands of rows of the result, counted through all images.

        With `finished` a third input is the bias, and results are at least the bound of
        `relu_bound`.
        """
        code = Code(name, entry.KERNEL)
        dims = entry.load_dims(code, DIMS)
        scratch = code.let(f"alloca [{STRIPE_SIZE} x {self.kind}], align 64")
        images, filters = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
        out = code.load("ptr", "%outs", 8)
        out_size = self.size(code, dims, "out_height", "out_width", "filters")
        with self.bands(code, dims, images, scratch) as (number, y, rows, x, count):
            result = self.tiles.step(code, out, number, out_size)
            result = self.tiles.step(code, result, x, dims["filters"])
            columns = self.columns(code, dims, x)
            with code.loop("0", rows) as row:
                at = code.integer("add", y, row)
                line = self.size(code, dims, "out_width", "filters")
                target = self.tiles.step(code, result, at, line)
                self._row(code, dims, (scratch, count), row, filters, (target, columns))
                if finished:
                    self._finish(code, dims, (target, columns))
        code.do("ret void")
        return code

    @contextmanager
    def bands(
        self, code: Code, dims: dict[str, str], images: str, scratch: str
    ) -> Generator[tuple[str, str, str, str, str]]:
        """For every part from `from` to `to`: the number of its result, its first row, its rows, its
        first column, and the number of padded rows in the buffer."""
        with code.loop("%from", "%to") as part:
            whole = code.integer("sdiv", part, dims["spans"])
            x = code.integer("mul", code.integer("srem", part, dims["spans"]), dims["span"])
            number = code.integer("sdiv", whole, dims["bands"])
            band = code.integer("srem", whole, dims["bands"])
            y = code.integer("mul", band, dims["band"])
            left = code.integer("sub", dims["out_height"], y)
            rows = code.least(dims["band"], left)
            yield (
                number,
                y,
                rows,
                x,
                self.stripes(code, dims, (images, scratch), number, (y, rows), x),
            )

    def columns(self, code: Code, dims: dict[str, str], x: str) -> str:
        """The columns of a span that begins with column `x` of the result."""
        return code.least(dims["span"], code.integer("sub", dims["out_width"], x))

    def pooled(self, name: str) -> Code:
        """`forward`, finished, two rows at a time, which are pooled while they are in cache.

        Outputs are those of `Pooling.results`. Bands have an even number of rows.
        """
        code, tiles = Code(name, entry.KERNEL), self.tiles
        dims = entry.load_dims(code, (*DIMS, *WORDS))
        scratch = code.let(f"alloca [{STRIPE_SIZE} x {self.kind}], align 64")
        line = self.size(code, dims, "out_width", "filters")
        both = code.let(f"alloca {self.kind}, i64 {code.integer('mul', line, 2)}, align 64")
        images, filters = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
        pool, out = Pool(code, tiles, dims), code.load("ptr", "%outs", 8)
        with self.bands(code, dims, images, scratch) as (number, y, rows, _, count):
            before = code.integer("mul", number, dims["out_height"])
            first = code.integer("add", before, y)
            with code.loop("0", rows, 2) as row:
                at = code.integer("add", first, row)
                there = tiles.step(code, out, at, line)
                top = code.let(f"select i1 {pool.flags['whole']}, ptr {there}, ptr {both}")
                for r in ("0", "1"):
                    below = code.integer("add", row, r)
                    target = tiles.step(code, top, r, line)
                    there = target, dims["out_width"]
                    self._row(code, dims, (scratch, count), below, filters, there)
                self._pool(code, dims, pool, top, line, code.integer("sdiv", at, 2))
        code.do("ret void")
        return code

    def _pool(
        self, code: Code, dims: dict[str, str], pool: Pool, top: str, line: str, at: str
    ) -> None:
        """Adds the bias to two rows of the result, applies Relu, and pools them to one row."""
        tiles, columns = self.tiles, dims["filters"]
        bias = code.load("ptr", code.at("ptr", "%ins", "2"), 8)
        low = relu_bound(code, tiles, dims["relu"])
        across = code.integer("sdiv", dims["out_width"], 2)
        before = code.integer("mul", code.integer("mul", at, across), columns)
        with code.loop("0", columns, tiles.lanes) as c:
            mask = tiles.mask(code, c, columns)
            added = tiles.read(code, code.at(self.kind, bias, c), mask)
            with code.loop("0", across) as x:
                left = tiles.step(code, top, code.integer("mul", x, 2), columns)
                upper = code.at(self.kind, left, c)
                pointers = [upper, tiles.step(code, upper, "1", columns)]
                pointers += [code.at(self.kind, p, line) for p in pointers]
                window: list[str] = []
                for pointer in pointers:
                    seen = tiles.read(code, pointer, mask)
                    value = code.let(f"fadd {tiles.vector} {seen}, {added}")
                    window.append(clamped(code, tiles, value, low))
                with code.when(pool.flags["whole"]):
                    for pointer, value in zip(pointers, window, strict=True):
                        tiles.write(code, value, pointer, mask)
                start = code.integer("add", before, code.integer("mul", x, columns))
                pool.write(window, code.integer("add", start, c), mask)

    def stripes(
        self,
        code: Code,
        dims: dict[str, str],
        buffers: tuple[str, str],
        number: str,
        band: tuple[str, str],
        x: str = "0",
    ) -> str:
        """Copies the padded rows under a band of a result, from column `x` of the result on; returns
        their number. `buffers` are the images and the padded rows, a band its first row and its rows.

        Results are counted through all images and their depths. A window that is several deep
        covers as many images, whose rows are consecutive.
        """
        (images, scratch), (y, rows) = buffers, band
        left = code.integer("sub", dims["left"], code.integer("mul", x, dims["stride_x"]))
        first = code.integer("sub", code.integer("mul", y, dims["stride_y"]), dims["top"])
        last = code.integer("mul", code.integer("sub", rows, 1), dims["stride_y"])
        reach = code.integer("mul", code.integer("sub", dims["window_height"], 1), dims["apart_y"])
        count = code.integer("add", code.integer("add", last, reach), 1)
        size = self.size(code, dims, "height", "width", "channels")
        part = code.integer("mul", count, self.size(code, dims, "padded_width", "channels"))
        volume = code.integer("mul", code.integer("sdiv", number, dims["out_depth"]), dims["depth"])
        z = code.integer("srem", number, dims["out_depth"])
        z = code.integer("sub", code.integer("mul", z, dims["stride_z"]), dims["front"])
        with code.loop("0", dims["window_depth"]) as deep:
            at = code.integer("add", z, code.integer("mul", deep, dims["apart_z"]))
            there = code.integer("icmp ult", at, dims["depth"])
            height = code.let(f"select i1 {there}, i64 {dims['height']}, i64 0")
            image = self.tiles.step(code, images, code.integer("add", volume, at), size)
            to = self.tiles.step(code, scratch, deep, part)
            code.do(
                f"call fastcc void @stripe(ptr {image}, i64 {height}, ptr {to}, i64 {first}, "
                f"i64 {left}, i64 {count}, ptr %dims)"
            )
        return count

    def size(self, code: Code, dims: dict[str, str], *names: str) -> str:
        size = "1"
        for name in names:
            size = code.integer("mul", size, dims[name])
        return size

    def _row(
        self,
        code: Code,
        dims: dict[str, str],
        scratch: tuple[str, str],
        row: str,
        filters: str,
        target: tuple[str, str],
    ) -> None:
        """Some columns of a row of the result, `target`, from the padded rows.

        One iteration covers the segments of a window at equal distances: its rows in one image or,
        where it is dilated or channels are in groups, the pixels of one row.
        """
        pitch = self.size(code, dims, "padded_width", "channels")
        top = self.tiles.step(code, scratch[0], code.integer("mul", row, dims["stride_y"]), pitch)
        pixel = self.size(code, dims, "stride_x", "channels")
        dense, inner, each = self._grouping(code, dims)
        whole = self.size(code, dims, "window_width", "channels")
        gap = self.size(code, dims, "apart_x", "channels")
        below = code.integer("mul", dims["apart_y"], pitch)
        depth, step, segments, iterations = (
            code.let(f"select i1 {dense}, i64 {one}, i64 {other}")
            for one, other in (
                (whole, inner),
                (below, gap),
                (dims["window_height"], dims["window_width"]),
                ("1", dims["window_height"]),
            )
        )
        columns = dims["filters"]
        taps = code.integer("mul", code.integer("mul", segments, depth), columns)
        all_ = code.integer("mul", dims["window_depth"], iterations)
        with self._columns(code, dims, each) as (group, j, width):
            result = Right(code.at(self.kind, target[0], j), columns)
            seen = self.tiles.step(code, top, group, inner)
            with code.loop("0", all_) as iteration:
                at = self.window_row(code, dims, scratch[1], iteration, iterations)
                left = Left(self.tiles.step(code, seen, at, pitch), pixel, "1", step)
                there = self.tiles.step(code, filters, iteration, taps)
                right = Right(code.at(self.kind, there, j), columns)
                first = code.integer("icmp eq", iteration, 0)
                sizes, across = (width, depth, segments), ("0", target[1])
                self.tiles.product(code, across, left, right, result, sizes, first)

    def _grouping(self, code: Code, dims: dict[str, str]) -> tuple[str, str, str]:
        """Whether the rows of a window are contiguous; the channels and the filters of a group."""
        groups = dims["channel_groups"]
        alone, dense = (code.integer("icmp eq", n, 1) for n in (groups, dims["apart_x"]))
        each = [code.integer("sdiv", dims[n], groups) for n in ("channels", "filters")]
        return code.let(f"and i1 {alone}, {dense}"), each[0], each[1]

    @contextmanager
    def _columns(
        self, code: Code, dims: dict[str, str], each: str
    ) -> Generator[tuple[str, str, str]]:
        """For each block of filters within a group: the group, the first filter, and their number."""
        with code.loop("0", dims["channel_groups"]) as group:
            first = code.integer("mul", group, each)
            end = code.integer("add", first, each)
            with code.loop(first, end, self.tiles.width) as j:
                yield group, j, code.least(self.tiles.width, code.integer("sub", end, j))

    def window_row(
        self, code: Code, dims: dict[str, str], count: str, number: str, rows: str
    ) -> str:
        """The padded row in which a row of a window begins, of `rows` in each image."""
        deep = code.integer("mul", code.integer("sdiv", number, rows), count)
        i = code.integer("mul", code.integer("srem", number, rows), dims["apart_y"])
        return code.integer("add", deep, i)

    def _finish(self, code: Code, dims: dict[str, str], target: tuple[str, str]) -> None:
        """Adds the bias to some columns of a row of the result, while they are in cache."""
        tiles, columns = self.tiles, dims["filters"]
        bias = code.load("ptr", code.at("ptr", "%ins", "2"), 8)
        low = relu_bound(code, tiles, dims["relu"])
        with code.loop("0", columns, tiles.lanes) as c:
            mask = tiles.mask(code, c, columns)
            added = tiles.read(code, code.at(self.kind, bias, c), mask)
            with code.loop("0", target[1]) as x:
                pixel = tiles.step(code, target[0], x, columns)
                pointer = code.at(self.kind, pixel, c)
                before = tiles.read(code, pointer, mask)
                value = code.let(f"fadd {tiles.vector} {before}, {added}")
                tiles.write(code, clamped(code, tiles, value, low), pointer, mask)

    def filter_gradient(self, name: str) -> Code:
        """Rows of the filter gradient: sums over all images, in order.

        A row is a pixel and channel of the window. The padded image is the left matrix, transposed;
        its segments are the rows of the result's gradient, a band at a time.
        """
        code = Code(name, entry.KERNEL)
        dims = entry.load_dims(code, DIMS)
        scratch = code.let(f"alloca [{STRIPE_SIZE} x {self.kind}], align 64")
        images, gradients = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
        out = code.load("ptr", "%outs", 8)
        line = self.size(code, dims, "out_width", "filters")
        size = code.integer("mul", line, dims["out_height"])
        all_ = code.integer("mul", dims["images"], dims["out_depth"])
        with (
            code.loop("0", all_) as number,
            code.loop("0", dims["out_height"], dims["band"]) as y,
            code.loop("0", dims["out_width"], dims["span"]) as x,
        ):
            before = code.integer("or", number, code.integer("or", y, x))
            first = code.integer("icmp eq", before, 0)
            gradient = self.tiles.step(code, gradients, number, size)
            gradient = self.tiles.step(code, gradient, y, line)
            gradient = self.tiles.step(code, gradient, x, dims["filters"])
            rows = code.least(dims["band"], code.integer("sub", dims["out_height"], y))
            count = self.stripes(code, dims, (images, scratch), number, (y, rows), x)
            sizes = self.columns(code, dims, x), rows
            self._window_rows(code, dims, (scratch, count), gradient, out, sizes, first)
        code.do("ret void")
        return code

    def _window_rows(
        self,
        code: Code,
        dims: dict[str, str],
        scratch: tuple[str, str],
        gradient: str,
        out: str,
        seen: tuple[str, str],
        first: str,
    ) -> None:
        """Adds the contribution of a band, its `seen` columns and rows, to the rows from `from` to `to` of the filter gradient.

        They are computed by rows of a window or, where it is dilated or channels are in groups, by
        its pixels.
        """
        pitch = self.size(code, dims, "padded_width", "channels")
        dense, inner, each = self._grouping(code, dims)
        whole = self.size(code, dims, "window_width", "channels")
        depth, pixels = (
            code.let(f"select i1 {dense}, i64 {one}, i64 {other}")
            for one, other in ((whole, inner), ("1", dims["window_width"]))
        )
        down = code.integer("mul", dims["stride_y"], pitch)
        across = self.size(code, dims, "stride_x", "channels")
        gap = self.size(code, dims, "apart_x", "channels")
        columns = dims["filters"]
        iterations = self.size(code, dims, "window_depth", "window_height")
        with code.loop("0", code.integer("mul", iterations, pixels)) as iteration:
            before = code.integer("mul", iteration, depth)
            # The intersection of this thread's range with these rows of the window.
            start = code.integer("sub", "%from", before)
            low = code.integer("icmp slt", start, 0)
            start = code.let(f"select i1 {low}, i64 0, i64 {start}")
            stop = code.least(depth, code.integer("sub", "%to", before))
            y = code.integer("sdiv", iteration, pixels)
            y = self.window_row(code, dims, scratch[1], y, dims["window_height"])
            top = self.tiles.step(code, scratch[0], y, pitch)
            top = self.tiles.step(code, top, code.integer("srem", iteration, pixels), gap)
            target = self.tiles.step(code, out, before, columns)
            with self._columns(code, dims, each) as (group, j, width):
                left = Left(self.tiles.step(code, top, group, inner), "1", across, down)
                right = Right(code.at(self.kind, gradient, j), columns)
                destination = Right(code.at(self.kind, target, j), columns)
                sizes = (width, *seen)
                self.tiles.product(code, (start, stop), left, right, destination, sizes, first)


def rotated(tiles: Tiles, name: str) -> Code:
    """Filters rotated by 180 degrees, channels exchanged with columns: the elements `from` to `to`
    of their windows."""
    code, kind = Code(name, entry.KERNEL), tiles.kind.llvm
    dims = entry.load_dims(code, ("elements", "channels", "filters"))
    channels, columns = dims["channels"], dims["filters"]
    source, target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))
    size = code.integer("mul", channels, columns)
    with code.loop("%from", "%to") as element:
        after = code.integer("add", element, 1)
        before = tiles.step(code, source, code.integer("sub", dims["elements"], after), size)
        here = tiles.step(code, target, element, size)
        with code.loop("0", channels, tiles.lanes) as c, code.loop("0", columns, tiles.lanes) as j:
            pointer = code.at(kind, tiles.step(code, before, c, columns), j)
            count = code.integer("sub", channels, c)
            mask = tiles.mask(code, j, columns)
            vectors = tiles.read_transposed(code, pointer, columns, count, mask)
            along = tiles.mask(code, c, channels)
            for r, vector in enumerate(vectors):
                line = code.integer("add", j, r)
                there = code.splat(tiles.lanes, "i1", code.integer("icmp slt", line, columns))
                both = code.let(f"and {tiles.test} {there}, {along}")
                row = tiles.step(code, here, line, channels)
                tiles.write(code, vector, code.at(kind, row, c), both)
    code.do("ret void")
    return code


def _source(kind: Kind) -> Source:
    writer = ConvolutionBuilder(kind)
    pooled = [Kernel(writer.pooled("pooled"), 3, 3)] if kind == FLOAT else []
    return Source(
        [
            *pooled,
            Kernel(writer.forward("forward"), 2),
            Kernel(writer.forward("finished", finished=True), 3),
            Kernel(writer.filter_gradient("filter_gradient"), 2, unit=TILE_ROWS),
            Kernel(rotated(writer.tiles, "transposed"), 1),
        ],
        [writer.stripe()],
        table=writer.tiles.table(),
    )


# By the types of the elements.
KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE}
LIBRARIES = {dtype: Library(functools.partial(_source, kind)) for dtype, kind in KINDS.items()}


def numbers(parts: int, g: Geometry, band: int, relu: bool = False) -> list[int]:
    bands, span = -(-g.out_height // max(band, 1)), max(g.span, 1)
    spans = -(-g.out_width // span)
    return [parts, *g, g.padded_width(span), band, bands, span, spans, relu]


def pooled(
    g: Geometry,
    relu: bool,
    pooling: Pooling,
    guard: Callable[[Chain, Sequence[int]], None] | None = None,
) -> Chain | None:
    """`finished` and pooled, with the results that `Pooling` selects. None for results of odd sizes.

    `guard` adds to the chain what follows the kernel, of arguments and outputs.
    """
    band = min(g.band, STRIPE_SIZE // max(2 * g.out_width * g.filters, 1)) and g.band // 2 * 2
    if not entry.AVAILABLE or g.empty or g.solid or g.out_height % 2 or g.out_width % 2 or not band:
        return None
    dims = numbers(g.images * -(-g.out_height // band), g, band, relu)
    kernel = (
        LIBRARIES[np.dtype(np.float32)]
        .entry("pooled", table_entries=tiles_for(g.filters, FLOAT, g.out_width))
        .for_dims([*dims, *pooling])
    )
    chain = Chain(3)
    outputs = chain.then(entry.filling_all(kernel, pooling.results(g.shape)), 0, 1, 2)
    if guard is not None:
        guard(chain, (0, 1, 2, *outputs))
    return chain.returning([outputs[i] for i in pooling.requested])


def forward(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """The convolution: (images, filters) to the result. None where the buffer of padded rows is too
    small for a single window."""
    return _forward("forward", g, False, dtype)


def finished(g: Geometry, relu: bool) -> Callable[[Any, Any, Any], Any] | None:
    """The same with a bias that is added; with `relu` this is applied."""
    return _forward("finished", g, relu, np.float32)


def _forward(name: str, g: Geometry, relu: bool, dtype: Any) -> Callable[..., Any] | None:
    if not entry.AVAILABLE or g.empty or not g.band:
        return None
    parts = g.images * g.out_depth * -(-g.out_height // g.band) * -(-g.out_width // g.span)
    rows = None if g.span < min(TILE_ROWS, g.out_width) else g.out_width
    tiles = tiles_for(g.filters // g.channel_groups, KINDS[np.dtype(dtype)], rows)
    function = LIBRARIES[np.dtype(dtype)].entry(name, table_entries=tiles)
    kernel = function.for_dims(numbers(parts, g, g.band, relu))
    return entry.filling(kernel, g.shape, dtype)


def filter_gradient(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """The filter gradient: (images, gradients) to it. None as for `forward`."""
    if not entry.AVAILABLE or g.empty or not g.band:
        return None
    inner = g.channels // g.channel_groups
    parts = math.prod(g.window) * inner
    tiles = tiles_for(g.filters // g.channel_groups, KINDS[np.dtype(dtype)])
    function = LIBRARIES[np.dtype(dtype)].entry("filter_gradient", table_entries=tiles)
    kernel = function.for_dims(numbers(parts, g, g.band_rows or 1))
    return entry.filling(kernel, (*g.window, inner, g.filters), dtype)


def transposed(g: Geometry) -> Geometry | None:
    """The convolution by the rotated filters that computes the input gradient.

    None for strides, and for images with more padding than the size of a window.
    """
    if (g.stride_z, g.stride_y, g.stride_x) != (1, 1, 1):
        return None
    opposite = g._replace(
        height=g.out_height,
        width=g.out_width,
        channels=g.filters,
        depth=g.out_depth,
        out_height=g.height,
        out_width=g.width,
        filters=g.channels,
        out_depth=g.depth,
        top=(g.window_height - 1) * g.apart_y - g.top,
        left=(g.window_width - 1) * g.apart_x - g.left,
        front=(g.window_depth - 1) * g.apart_z - g.front,
    )
    return None if min(opposite.top, opposite.left, opposite.front) < 0 else opposite


def input_gradient(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """The input gradient: (filters, gradients) to it.

    It is the convolution of the gradients with the rotated filters. None where its padding would be
    negative, and for strides.
    """
    opposite = transposed(g)
    run = opposite and forward(opposite, dtype)
    if run is None:
        return None

    dims = (math.prod(g.window), g.channels, g.filters)
    around = entry.filling(
        LIBRARIES[np.dtype(dtype)]
        .entry("transposed", shared=False, table_entries=())
        .for_dims(dims),
        (*g.window, g.filters, g.channels),
        dtype,
    )
    chain = Chain(2)
    (result,) = chain.then(run, 1, *chain.then(around, 0))
    return chain.returning(result)
