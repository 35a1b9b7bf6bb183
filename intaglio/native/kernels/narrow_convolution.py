"""Convolutions of 16-bit floats in the processor's matrix registers, and their gradients.

The filters are packed once. Padded rows of the images are copied to cache, as for float32; the
windows of as many pixels as fill registers are copied from there, as the left matrix. The input
gradient is a convolution of the gradients with the rotated filters; with strides, of gradients with
zeros between them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels import convolution
from intaglio.native.kernels.convolution import STRIPE_SIZE, ConvolutionBuilder, Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.narrow_matmul import (
    CONFIGURATION_TEXT,
    LEFT_STEP,
    REGISTER_BYTES,
    SIDE,
    BlockProduct,
    Form,
    Packing,
    first_lanes,
    pack_lines,
    registers,
)
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.matrix_registers import ROW_BYTES, ROWS
from intaglio.native.llvm.vectors import Builder, Lanes
from intaglio.native.runtime import entry

Run = Callable[..., Any]
# The filters whose sums are kept in memory between the blocks of a window.
MAX_FILTERS = 1024
# The most segments of a window.
MAX_SEGMENTS = 1024
# The filter gradient: elements of a window and pixels that are packed at a time, and the least
# number of parts that threads divide.
TERMS, PIXELS, MIN_PARTS = 256, 256, 8
# The row strides of the windows of those pixels, and of their packed form.
_TERM_STEP, _PIXEL_STEP = 2 * TERMS + 3 * ROW_BYTES, 2 * PIXELS + ROW_BYTES
# The size of a block of sums.
_BLOCK = SIDE * SIDE * 4
_GRADIENT_DIMS = (*convolution.DIMS, "groups", "divisions")


class NarrowConvolution(ConvolutionBuilder):
    """Emits the kernels of a form."""

    def __init__(self, form: Form) -> None:
        super().__init__(form.left)
        self.form = form

    # -- filters ------------------------------------------------------------------------

    def packed(self) -> Code:
        """Packs the filters, 32 at a time: blocks of the inner dimension follow each other."""
        code = Code("packed", entry.KERNEL)
        dims = entry.load_dims(code, ("parts", "inner", "columns"))
        source, target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))
        packing = Packing(self.form.right, True, False, 2)
        with code.loop("%from", "%to") as part:
            j = code.integer("mul", part, SIDE)
            count = code.integer("sub", dims["columns"], j)
            with code.loop("0", dims["inner"], self.form.block) as k:
                depth, chunks, block = self._block(code, dims["inner"], k, dims["parts"])
                size = code.integer("mul", chunks, REGISTER_BYTES)
                at = code.integer("add", code.integer("mul", k, dims["columns"]), j)
                offset = code.integer("mul", code.integer("mul", part, 2), size)
                to = code.at("i8", code.at("i8", target, block), offset)
                distances = (ROW_BYTES, REGISTER_BYTES, size)
                start = code.at(self.kind, source, at)
                packing.call(code, start, dims["columns"], to, distances, (count, depth))
        code.do("ret void")
        return code

    def _block(self, code: Code, inner: str, k: str, pairs: str) -> tuple[str, str, str]:
        """The block of the inner dimension from `k` on: its terms and registers, and its offset in
        packed filters, of so many `pairs` of registers side by side."""
        form = self.form
        depth = code.least(form.block, code.integer("sub", inner, k))
        chunks = code.integer("sdiv", code.integer("add", depth, form.chunk - 1), form.chunk)
        before = code.integer("mul", code.integer("sdiv", k, form.chunk), 2 * REGISTER_BYTES)
        return depth, chunks, code.integer("mul", before, pairs)

    # -- windows ------------------------------------------------------------------------

    def _segments(self, code: Code, dims: dict[str, str]) -> tuple[str, str, str]:
        """The contiguous segments of a window in padded rows: their number, their length, and how
        many there are in a row of the window."""
        dense = code.integer("icmp eq", dims["apart_x"], 1)
        whole = self.size(code, dims, "window_width", "channels")
        length, across = (
            code.let(f"select i1 {dense}, i64 {one}, i64 {other}")
            for one, other in ((whole, dims["channels"]), ("1", dims["window_width"]))
        )
        rows = self.size(code, dims, "window_depth", "window_height")
        return code.integer("mul", rows, across), length, across

    def offsets(self) -> Code:
        """Stores the offset of each segment of a window in padded rows; `count` segments for each
        image."""
        code = Code("offsets", ["ptr %table", "i64 %count", "ptr %dims"], "internal fastcc void")
        dims = entry.load_dims(code, convolution.DIMS)
        pitch = self.size(code, dims, "padded_width", "channels")
        gap = self.size(code, dims, "apart_x", "channels")
        segments, _, across = self._segments(code, dims)
        with code.loop("0", segments) as segment:
            row = code.integer("sdiv", segment, across)
            y = self.window_row(code, dims, "%count", row, dims["window_height"])
            x = code.integer("mul", code.integer("srem", segment, across), gap)
            offset = code.integer("add", code.integer("mul", y, pitch), x)
            code.do(f"store i64 {offset}, ptr {code.at('i64', '%table', segment)}, align 8")
        code.do("ret void")
        return code

    def gather(self) -> Code:
        """Copies `depth` elements of a window from `k` on, and zeros behind them.

        The window starts at a pixel of padded rows. It has segments of `length` elements, whose
        offsets are in a table; those from `first` to `last` are copied.
        """
        parameters = ["ptr %from", "ptr %to", "i64 %k", "i64 %depth", "ptr %table"]
        parameters += ["i64 %first", "i64 %last", "i64 %length"]
        code = Code("gather", parameters, "internal fastcc void")
        end = code.integer("add", "%k", "%depth")
        with code.loop("%first", "%last") as segment:
            top = code.load("i64", code.at("i64", "%table", segment), 8)
            before = code.integer("mul", segment, "%length")
            low = code.integer("icmp slt", before, "%k")
            start = code.let(f"select i1 {low}, i64 %k, i64 {before}")
            stop = code.least(end, code.integer("add", before, "%length"))
            at = code.integer("add", top, code.integer("sub", start, before))
            target = code.at(self.kind, "%to", code.integer("sub", start, "%k"))
            source = code.at(self.kind, "%from", at)
            self._copied(code, source, target, code.integer("sub", stop, start))
        end = code.at(self.kind, "%to", "%depth")
        code.do(f"store <{ROWS} x i32> zeroinitializer, ptr {end}, align 2")
        code.do("ret void")
        return code

    def _copied(self, code: Code, source: str, target: str, count: str) -> None:
        """Copies elements, and zeros behind them up to the length of a register's row."""
        lanes, vector = self.form.chunk, f"<{self.form.chunk} x i16>"
        whole = code.integer("and", count, -lanes)
        with code.loop("0", whole, lanes) as i:
            seen = code.load(vector, code.at(self.kind, source, i), 2)
            code.do(f"store {vector} {seen}, ptr {code.at(self.kind, target, i)}, align 2")
        left = code.integer("sub", count, whole)
        with code.when(code.integer("icmp sgt", left, 0)):
            seen = code.call(
                vector,
                f"llvm.masked.load.v{lanes}i16.p0",
                ("ptr align 2", code.at(self.kind, source, whole)),
                (f"<{lanes} x i1>", first_lanes(code, lanes, left)),
                (vector, "zeroinitializer"),
            )
            code.do(f"store {vector} {seen}, ptr {code.at(self.kind, target, whole)}, align 2")

    def _windows(
        self,
        code: Code,
        dims: dict[str, str],
        scratch: tuple[str, str],
        pixels: tuple[str, str],
        terms: tuple[str, str],
        to: tuple[str, int],
    ) -> None:
        """Copies the windows of some pixels of a band to rows: (first, count), of (first, count)
        terms.

        `scratch` are the padded rows and the table of offsets.
        """
        pitch = self.size(code, dims, "padded_width", "channels")
        down = code.integer("mul", dims["stride_y"], pitch)
        across = self.size(code, dims, "stride_x", "channels")
        _, length, _ = self._segments(code, dims)
        end = code.integer("sub", code.integer("add", *terms), 1)
        last = code.integer("add", code.integer("sdiv", end, length), 1)
        first = code.integer("sdiv", terms[0], length)
        y = code.integer("sdiv", pixels[0], dims["out_width"])
        x = code.integer("srem", pixels[0], dims["out_width"])
        row = self.tiles.step(code, scratch[0], y, down)
        with code.carrying("0", pixels[1], 1, ("ptr", row), ("i64", x)) as state:
            row, x = state.values
            target = code.at("i8", to[0], code.integer("mul", state.index, to[1]))
            code.do(
                f"call fastcc void @gather(ptr {self.tiles.step(code, row, x, across)}, ptr {target}, "
                f"i64 {terms[0]}, i64 {terms[1]}, ptr {scratch[1]}, i64 {first}, i64 {last}, "
                f"i64 {length})"
            )
            after = code.integer("add", x, 1)
            ends = code.integer("icmp eq", after, dims["out_width"])
            below = code.at(self.kind, row, down)
            state.following = [
                code.let(f"select i1 {ends}, ptr {below}, ptr {row}"),
                code.let(f"select i1 {ends}, i64 0, i64 {after}"),
            ]

    def _padded(self, code: Code, count: str, scratch: str, table: str) -> tuple[str, str]:
        """Padded rows with the table of offsets of a window's segments in them."""
        code.do(f"call fastcc void @offsets(ptr {table}, i64 {count}, ptr %dims)")
        return scratch, table

    def _inner(self, code: Code, dims: dict[str, str]) -> str:
        """The elements of a window."""
        return self.size(code, dims, "window_depth", "window_height", "window_width", "channels")

    # -- the convolution ----------------------------------------------------------------

    def forward(self, name: str, finished: bool = False) -> Code:
        """Bands of rows of the result, counted through all images, by packed filters."""
        code = Code(name, entry.KERNEL)
        dims = entry.load_dims(code, convolution.DIMS)
        scratch = code.let(f"alloca [{STRIPE_SIZE} x {self.kind}], align 64")
        left = code.let(f"alloca [{SIDE * LEFT_STEP} x i8], align 64")
        sums = code.let(f"alloca [{MAX_FILTERS // SIDE * _BLOCK} x i8], align 64")
        table = code.let(f"alloca [{MAX_SEGMENTS} x i64]")
        images, filters = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
        out, inner = code.load("ptr", "%outs", 8), self._inner(code, dims)
        columns, line = dims["filters"], self.size(code, dims, "out_width", "filters")
        out_size = code.integer("mul", line, dims["out_height"])
        pairs = code.integer("sdiv", code.integer("add", columns, SIDE - 1), SIDE)
        with (
            registers(code),
            self.bands(code, dims, images, scratch) as (number, y, rows, _, count),
        ):
            rows_there = self._padded(code, count, scratch, table)
            result = self.tiles.step(code, out, number, out_size)
            result = self.tiles.step(code, result, y, line)
            pixels = code.integer("mul", rows, dims["out_width"])
            with code.loop("0", pixels, SIDE) as i, code.loop("0", inner, self.form.block) as k:
                height = code.least(SIDE, code.integer("sub", pixels, i))
                depth, chunks, block = self._block(code, inner, k, pairs)
                first = code.integer("icmp eq", k, 0)
                last = code.integer("icmp eq", code.integer("add", k, depth), inner)
                self._windows(code, dims, rows_there, (i, height), (k, depth), (left, LEFT_STEP))
                code.do(
                    f"call fastcc void @blocks(ptr {left}, i64 {LEFT_STEP}, "
                    f"ptr {code.at('i8', filters, block)}, i64 {chunks}, ptr {sums}, i64 {_BLOCK}, "
                    f"i1 {first}, i1 {last}, ptr {self.tiles.step(code, result, i, columns)}, "
                    f"i64 {columns}, i64 {height}, i64 {columns})"
                )
        code.do("ret void")
        return code

    # -- the filter gradient ------------------------------------------------------------

    def filter_gradient(self, name: str) -> Code:
        """The partial sums of the filter gradient: a part is a group of images, and some elements
        of the window.

        The result has a block of sums for each group, 32 elements of the window, and 32 filters.
        """
        code = Code(name, entry.KERNEL)
        dims = entry.load_dims(code, _GRADIENT_DIMS)
        scratch = code.let(f"alloca [{STRIPE_SIZE} x {self.kind}], align 64")
        windows = code.let(f"alloca [{PIXELS * _TERM_STEP + ROW_BYTES} x i8], align 64")
        packed = code.let(f"alloca [{SIDE * _PIXEL_STEP} x i8], align 64")
        table = code.let(f"alloca [{MAX_SEGMENTS} x i64]")
        panel = code.let(f"alloca [{2 * PIXELS * MAX_FILTERS} x i8], align 64")
        images, gradients = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
        out, inner, columns = code.load("ptr", "%outs", 8), self._inner(code, dims), dims["filters"]
        line = self.size(code, dims, "out_width", "filters")
        size = code.integer("mul", line, dims["out_height"])
        all_ = code.integer("mul", dims["images"], dims["out_depth"])
        pairs, heights = (
            code.integer("sdiv", code.integer("add", n, SIDE - 1), SIDE) for n in (columns, inner)
        )
        with registers(code), code.loop("%from", "%to") as part:
            group = code.integer("sdiv", part, dims["divisions"])
            k = code.integer("mul", code.integer("srem", part, dims["divisions"]), TERMS)
            depth = code.least(TERMS, code.integer("sub", inner, k))
            start, stop = (
                code.integer("sdiv", code.integer("mul", all_, g), dims["groups"])
                for g in (group, code.integer("add", group, 1))
            )
            row = code.integer(
                "add", code.integer("mul", group, heights), code.integer("sdiv", k, SIDE)
            )
            sums = code.at("i8", out, code.integer("mul", code.integer("mul", row, pairs), _BLOCK))
            with (
                code.loop(start, stop) as number,
                code.loop("0", dims["out_height"], dims["band"]) as y,
            ):
                rows = code.least(dims["band"], code.integer("sub", dims["out_height"], y))
                count = self.stripes(code, dims, (images, scratch), number, (y, rows))
                rows_there = self._padded(code, count, scratch, table)
                gradient = self.tiles.step(code, gradients, number, size)
                gradient = self.tiles.step(code, gradient, y, line)
                pixels = code.integer("mul", rows, dims["out_width"])
                with code.loop("0", pixels, PIXELS) as i:
                    many = code.least(PIXELS, code.integer("sub", pixels, i))
                    here = self.tiles.step(code, gradient, i, columns)
                    self._pack_gradients(code, here, panel, columns, many)
                    self._windows(
                        code, dims, rows_there, (i, many), (k, depth), (windows, _TERM_STEP)
                    )
                    position = code.integer(
                        "or", code.integer("sub", number, start), code.integer("or", y, i)
                    )
                    first = code.integer("icmp eq", position, 0)
                    self._add(
                        code, (windows, packed, panel, sums), (depth, many, columns, pairs), first
                    )
        code.do("ret void")
        return code

    def _pack_gradients(self, code: Code, source: str, panel: str, columns: str, many: str) -> None:
        """Packs the gradients of some pixels, over which the products are summed."""
        chunks = code.integer("add", many, self.form.chunk - 1)
        size = code.integer("mul", code.integer("sdiv", chunks, self.form.chunk), REGISTER_BYTES)
        pack_lines(code, self.form, (source, panel), columns, (columns, many, size))

    def _add(
        self,
        code: Code,
        memory: tuple[str, str, str, str],
        sizes: tuple[str, str, str, str],
        first: str,
    ) -> None:
        """Adds the contributions of the windows of some pixels: 32 of their elements at a time."""
        (windows, packed, panel, sums), (depth, many, columns, pairs) = memory, sizes
        packing = Packing(self.form.left, True, True)
        chunks = code.integer("add", many, self.form.chunk - 1)
        chunks = code.integer("sdiv", chunks, self.form.chunk)
        with code.loop("0", depth, SIDE) as t:
            rows = code.least(SIDE, code.integer("sub", depth, t))
            with code.loop("0", rows, ROWS) as r:
                source = code.at(self.kind, windows, code.integer("add", t, r))
                to = code.at("i8", packed, code.integer("mul", r, _PIXEL_STEP))
                distances = (_PIXEL_STEP, ROW_BYTES, "0")
                count = code.integer("sub", rows, r)
                packing.call(code, source, str(_TERM_STEP // 2), to, distances, (count, many))
            at = code.integer("mul", code.integer("sdiv", t, SIDE), pairs)
            here = code.at("i8", sums, code.integer("mul", at, _BLOCK))
            code.do(
                f"call fastcc void @blocks(ptr {packed}, i64 {_PIXEL_STEP}, ptr {panel}, i64 {chunks}, "
                f"ptr {here}, i64 {_BLOCK}, i1 {first}, i1 false, ptr null, i64 0, i64 {rows}, "
                f"i64 {columns})"
            )

    def total(self) -> Code:
        """The filter gradient from the sums of the groups, rounded: a part is 32 elements of the
        window."""
        code, form = Code("total", entry.KERNEL), self.form
        dims = entry.load_dims(code, ("parts", "groups", "inner", "columns"))
        source, target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))
        columns, vector = dims["columns"], f"<{ROWS} x float>"
        pairs = code.integer("sdiv", code.integer("add", columns, SIDE - 1), SIDE)
        group = code.integer("mul", code.integer("mul", dims["parts"], pairs), _BLOCK)
        with code.loop("%from", "%to") as part, code.loop("0", pairs) as pair:
            at = code.integer("add", code.integer("mul", part, pairs), pair)
            block = code.at("i8", source, code.integer("mul", at, _BLOCK))
            k = code.integer("mul", part, SIDE)
            rows = code.least(SIDE, code.integer("sub", dims["inner"], k))
            with code.loop("0", rows) as r, code.loop("0", str(SIDE), ROWS) as c:
                offset = code.integer("add", code.integer("mul", r, SIDE), c)
                start = code.at("float", block, offset)
                with code.carrying("0", dims["groups"], 1, (vector, "zeroinitializer")) as state:
                    there = code.at("i8", start, code.integer("mul", state.index, group))
                    seen = code.load(vector, there, 4)
                    state.following = [code.let(f"fadd {vector} {state.values[0]}, {seen}")]
                value = Lanes(form.sums, (state.values[0],))
                (value,) = Builder(code, ROWS, 1).converted(value, form.result).names
                j = code.integer("add", code.integer("mul", pair, SIDE), c)
                row = self.tiles.step(code, target, code.integer("add", k, r), columns)
                mask = first_lanes(code, ROWS, code.integer("sub", columns, j))
                letter = "i" if form.result.llvm.startswith("i") else "f"
                code.call(
                    "void",
                    f"llvm.masked.store.v{ROWS}{letter}16.p0",
                    (f"<{ROWS} x {form.result.llvm}>", value),
                    ("ptr align 2", code.at(self.kind, row, j)),
                    (f"<{ROWS} x i1>", mask),
                )
        code.do("ret void")
        return code

    # -- strides ------------------------------------------------------------------------

    def dilated(self) -> Code:
        """Gradients dilated by the strides: zeros are inserted between them; a part is a row of the
        result."""
        code = Code("dilated", entry.KERNEL)
        names = (
            "parts",
            "height",
            "out_height",
            "width",
            "out_width",
            "channels",
            "stride_y",
            "stride_x",
        )
        dims = entry.load_dims(code, names)
        source, target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))
        line = self.size(code, dims, "out_width", "channels")
        size = code.integer("mul", dims["channels"], 2)
        with code.loop("%from", "%to") as part:
            number = code.integer("sdiv", part, dims["out_height"])
            y = code.integer("srem", part, dims["out_height"])
            to = self.tiles.step(code, target, part, line)
            code.zero(to, code.integer("mul", line, 2))
            there = code.integer("icmp eq", code.integer("srem", y, dims["stride_y"]), 0)
            with code.when(there):
                row = code.integer("add", code.integer("mul", number, dims["height"]),
                                   code.integer("sdiv", y, dims["stride_y"]))  # fmt: skip
                with code.loop("0", dims["width"]) as x:
                    at = code.integer("add", code.integer("mul", row, dims["width"]), x)
                    seen = self.tiles.step(code, source, at, dims["channels"])
                    here = self.tiles.step(
                        code, to, code.integer("mul", x, dims["stride_x"]), dims["channels"]
                    )
                    code.copy(here, seen, size)
        code.do("ret void")
        return code


def _source(form: Form, kernels: str) -> Source:
    """One of the modules: convolutions, filter gradients, or the helper kernels of input gradients."""
    writer = NarrowConvolution(form)
    lines, blocks = Packing(form.right, True, False, 2).code(), BlockProduct(form).functions()
    called = [writer.stripe(), writer.offsets(), writer.gather(), lines, *blocks]
    if kernels == "forward":
        written = [Kernel(writer.packed(), 1), Kernel(writer.forward("forward"), 2)]
    elif kernels == "filter gradient":
        called.append(Packing(form.left, True, True).code())
        gradient = writer.filter_gradient("filter_gradient")
        written = [Kernel(gradient, 2), Kernel(writer.total(), 1)]
    else:
        rotated = convolution.rotated(writer.tiles, "rotated")
        return Source([Kernel(writer.dilated(), 1), Kernel(rotated, 1)])
    return Source(written, called, text=CONFIGURATION_TEXT)


@functools.cache
def _library(form: Form, kernels: str) -> Library:
    return Library(functools.partial(_source, form, kernels))


def _works(g: Geometry) -> bool:
    fits = g.filters <= MAX_FILTERS and math.prod(g.window) <= MAX_SEGMENTS
    return entry.AVAILABLE and not g.empty and bool(g.band_rows) and fits


def _inner(g: Geometry) -> int:
    return math.prod(g.window) * g.channels


def forward(g: Geometry, form: Form, dtype: Any) -> Run | None:
    """The convolution: (images, filters) to the result. None where images are too wide, or there
    are too many filters."""
    if not _works(g):
        return None
    library, inner, pairs = _library(form, "forward"), _inner(g), -(-g.filters // SIDE)
    chunks = sum(
        [-(-min(form.block, inner - k) // form.chunk) for k in range(0, inner, form.block)]
    )
    kernel = library.entry("packed").for_dims((pairs, inner, g.filters))
    packed = entry.filling(kernel, (chunks * pairs * 2 * REGISTER_BYTES,), np.uint8)
    bands = g.images * g.out_depth * -(-g.out_height // g.band)
    kernel = library.entry("forward").for_dims(convolution.numbers(bands, g, g.band))
    chain = Chain(2)
    (result,) = chain.then(entry.filling(kernel, g.shape, dtype), 0, *chain.then(packed, 1))
    return chain.returning(result)


def input_gradient(g: Geometry, form: Form, dtype: Any) -> Run | None:
    """The input gradient: (filters, gradients) to it."""
    strides = (g.stride_y, g.stride_x) != (1, 1)
    dense = g._replace(
        out_height=(g.out_height - 1) * g.stride_y + 1,
        out_width=(g.out_width - 1) * g.stride_x + 1,
        stride_y=1,
        stride_x=1,
    )
    opposite = convolution.transposed(dense)
    run: Any = None if g.empty or opposite is None else forward(opposite, form, dtype)
    if run is None or (strides and g.solid):
        return None
    library, chain, gradients = _library(form, "input gradient"), Chain(2), 1
    if strides:
        dims = (g.out_height, dense.out_height, g.out_width, dense.out_width, g.filters)
        parts = g.images * dense.out_height
        kernel = library.entry("dilated").for_dims((parts, *dims, g.stride_y, g.stride_x))
        (gradients,) = chain.then(entry.filling(kernel, dense.shape, dtype), 1)
    kernel = library.entry("rotated", shared=False).for_dims(
        (math.prod(g.window), g.channels, g.filters)
    )
    around = entry.filling(kernel, (*g.window, g.filters, g.channels), dtype)
    (result,) = chain.then(run, gradients, *chain.then(around, 0))
    return chain.returning(result)


def filter_gradient(g: Geometry, form: Form, dtype: Any) -> Run | None:
    """The filter gradient: (images, gradients) to it."""
    if not _works(g):
        return None
    library, inner, pairs = _library(form, "filter gradient"), _inner(g), -(-g.filters // SIDE)
    divisions, heights = -(-inner // TERMS), -(-inner // SIDE)
    groups = min(-(-MIN_PARTS // divisions), g.images * g.out_depth)
    dims = [*convolution.numbers(groups * divisions, g, g.band_rows), groups, divisions]
    sums = entry.filling(
        library.entry("filter_gradient").for_dims(dims), (groups * heights * pairs * SIDE * SIDE,)
    )
    kernel = library.entry("total").for_dims((heights, groups, inner, g.filters))
    total = entry.filling(kernel, (*g.window, g.channels, g.filters), dtype)
    chain = Chain(2)
    (result,) = chain.then(total, *chain.then(sums, 0, 1))
    return chain.returning(result)
