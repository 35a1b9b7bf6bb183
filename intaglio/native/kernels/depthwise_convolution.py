"""Depthwise convolutions of channels-last images in machine code.

The kernels have one filter for each channel. With a channel multiplier, images are copied with each
channel repeated, and the input gradient is summed over the repetitions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.kernels.sequence import Chain
from intaglio.native.kernels.windows import Sliding, Window, Windows, library
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT
from intaglio.native.runtime import entry

Run = Callable[[Any, Any], Any]
Make = Callable[[Windows], Run | None]

# Pixels that are accumulated together: a vector of filters is loaded once for all of them.
PIXELS_PER_STEP = 8


def _forward(k: Sliding) -> None:
    """The sum of products of every window with the filters of its channels."""
    images, filters = (k.pointer("%ins", i) for i in (0, 1))
    out, code = k.pointer("%outs", 0), k.code
    last = code.integer("sub", k.dims["window_width"], 1)
    first, stop = k.inside("x", "0", last)
    blocks = code.integer("sdiv", code.integer("sub", stop, first), PIXELS_PER_STEP)
    middle = code.integer("add", first, code.integer("mul", blocks, PIXELS_PER_STEP))
    with code.loop("%from", "%to") as number:
        image, result = k.image(images, number), k.image(out, number, "out_")
        with code.loop("0", k.dims["out_height"]) as y:
            down = k.reach(y, "y")

            def sums(x: str, across: Window, count: int, c: str, mask: str) -> None:
                """The sums of `count` adjacent windows whose columns inside the image are the same."""
                totals = _sums(k, (image, filters), (down, across), count, c, mask)
                for pointer, total in zip(_beside(k, result, y, x, c, count), totals, strict=True):
                    k.tiles.write(code, total, pointer, mask)

            for start, end, count in (
                ("0", first, 1),
                (first, middle, PIXELS_PER_STEP),
                (middle, k.dims["out_width"], 1),
            ):
                with code.loop(start, end, count) as x:
                    k.vectors(functools.partial(sums, x, k.reach(x, "x"), count))


def _beside(k: Sliding, result: str, y: str, x: str, c: str, count: int) -> list[str]:
    """Pointers to consecutive pixels of a result."""
    pointer, channels = k.pixel(result, y, x, c, "out_"), k.dims["channels"]
    return [k.tiles.step(k.code, pointer, p, channels) for p in range(count)]


def _sums(
    k: Sliding,
    arrays: tuple[str, str],
    window: tuple[Window, Window],
    count: int,
    c: str,
    mask: str,
) -> list[str]:
    """The sums over a window and adjacent ones, for vectors of channels."""
    (image, filters), (down, across), code = arrays, window, k.code
    zeros = [(k.vector, "zeroinitializer")] * count
    step = code.integer("mul", k.dims["stride_x"], k.dims["channels"])
    with code.carrying(down.first, down.last, 1, *zeros) as rows:
        row = k.at(down.start, rows.index, "y")
        before = code.integer("mul", rows.index, k.dims["window_width"])
        inner = [(k.vector, v) for v in rows.values]
        with code.carrying(across.first, across.last, 1, *inner) as taps:
            at = code.integer("add", before, taps.index)
            tap = k.tiles.step(code, filters, at, k.dims["channels"])
            weight = k.tiles.read(code, code.at("float", tap, c), mask)
            pointer = k.pixel(image, row, k.at(across.start, taps.index, "x"), c)
            for p, total in enumerate(taps.values):
                seen = k.tiles.read(code, k.tiles.step(code, pointer, p, step), mask)
                taps.following.append(k.tiles.fma(code, seen, weight, total))
        rows.following = taps.values
    return rows.values


def _filter_gradient(k: Sliding) -> None:
    """The filter gradient, image by image: the sums for each tap of the window.

    Threads divide the taps.
    """
    images, gradients = (k.pointer("%ins", i) for i in (0, 1))
    out, code, dims = k.pointer("%outs", 0), k.code, k.dims
    with code.loop("0", dims["images"]) as number, code.loop("%from", "%to") as tap:
        i = code.integer("sdiv", tap, dims["window_width"])
        j = code.integer("srem", tap, dims["window_width"])
        target = k.tiles.step(code, out, tap, dims["channels"])
        arrays = k.image(images, number), k.image(gradients, number, "out_")
        fresh = code.integer("icmp eq", number, 0)
        every = code.splat(k.tiles.lanes, "i1", code.let(f"xor i1 {fresh}, true"))
        ranges = k.inside("y", i, i), k.inside("x", j, j)

        def added(c: str, mask: str) -> None:
            at = code.at("float", target, c)
            there = code.let(f"and {k.test} {every}, {mask}") if mask else every
            before = k.tiles.read(code, at, there)
            total = _tap_sums(k, arrays, (i, j), ranges, c, mask)
            total = code.let(f"fadd {k.vector} {before}, {total}")
            k.tiles.write(code, total, at, mask)

        k.vectors(added)


def _tap_sums(
    k: Sliding,
    arrays: tuple[str, str],
    tap: tuple[str, str],
    ranges: tuple[tuple[str, str], tuple[str, str]],
    c: str,
    mask: str,
) -> str:
    """The sum over an image of the pixels under a tap times the gradients."""
    (image, gradient), (i, j), code, dims = arrays, tap, k.code, k.dims
    (top, bottom), (left, right) = ranges
    blocks = code.integer("sdiv", code.integer("sub", right, left), PIXELS_PER_STEP)
    middle = code.integer("add", left, code.integer("mul", blocks, PIXELS_PER_STEP))
    step = code.integer("mul", dims["stride_x"], dims["channels"])
    zeros = [(k.vector, "zeroinitializer")] * PIXELS_PER_STEP
    with code.carrying(top, bottom, 1, *zeros) as down:
        row = k.at(k.reach(down.index, "y").start, i, "y")
        sums = down.values
        for start, stop, count in ((left, middle, PIXELS_PER_STEP), (middle, right, 1)):
            inner = [(k.vector, v) for v in sums]
            with code.carrying(start, stop, count, *inner) as across:
                column = k.at(k.reach(across.index, "x").start, j, "x")
                seen = k.pixel(image, row, column, c)
                slopes = _beside(k, gradient, down.index, across.index, c, count)
                for p, slope in enumerate(slopes):
                    x = k.tiles.read(code, k.tiles.step(code, seen, p, step), mask)
                    d = k.tiles.read(code, slope, mask)
                    across.following.append(k.tiles.fma(code, x, d, across.values[p]))
                across.following += across.values[count:]
            sums = across.values
        down.following = sums
    sums = down.values
    while len(sums) > 1:
        sums = [
            code.let(f"fadd {k.vector} {x}, {y}")
            for x, y in zip(sums[::2], sums[1::2], strict=True)
        ]
    return sums[0]


def _input_gradient(k: Sliding) -> None:
    """The input gradient: the contribution of every window is added to its pixels.

    A tap is applied to a whole row of windows, so its filters are loaded once.
    """
    filters, gradients = (k.pointer("%ins", i) for i in (0, 1))
    out, code, dims = k.pointer("%outs", 0), k.code, k.dims
    step = code.integer("mul", dims["stride_x"], dims["channels"])
    with code.loop("%from", "%to") as number:
        image = k.image(out, number)
        gradient = k.image(gradients, number, "out_")
        k.clear(image)
        with code.loop("0", dims["out_height"]) as y:
            down = k.reach(y, "y")
            with code.loop(down.first, down.last) as i, code.loop("0", dims["window_width"]) as j:
                row, (first, stop) = k.at(down.start, i, "y"), k.inside("x", j, j)
                tap = code.integer("add", code.integer("mul", i, dims["window_width"]), j)
                tap = k.tiles.step(code, filters, tap, dims["channels"])
                column = k.at(k.reach(first, "x").start, j, "x")

                def added(c: str, mask: str) -> None:
                    weight = k.tiles.read(code, code.at("float", tap, c), mask)
                    slopes = k.pixel(gradient, y, first, c, "out_")
                    pixels = k.pixel(image, row, column, c)
                    with code.loop("0", code.integer("sub", stop, first)) as x:
                        slope = k.tiles.step(code, slopes, x, dims["channels"])
                        slope = k.tiles.read(code, slope, mask)
                        pointer = k.tiles.step(code, pixels, x, step)
                        before = k.tiles.read(code, pointer, mask)
                        total = k.tiles.fma(code, slope, weight, before)
                        k.tiles.write(code, total, pointer, mask)

                k.vectors(added)


def _flipped(k: Sliding) -> None:
    """The filters flipped: the taps of the window from `from` to `to`."""
    code, dims = k.code, k.dims
    source, target = k.pointer("%ins", 0), k.pointer("%outs", 0)
    taps = code.integer("mul", dims["window_height"], dims["window_width"])
    size = code.integer("mul", dims["channels"], 4)
    with code.loop("%from", "%to") as pointer:
        other = code.integer("sub", code.integer("sub", taps, 1), pointer)
        to, tap = (
            k.tiles.step(code, array, at, dims["channels"])
            for array, at in ((target, pointer), (source, other))
        )
        code.copy(to, tap, size)


LIBRARY = library(
    {
        "depthwise": (_forward, 2),
        "depthwise_filter_gradient": (_filter_gradient, 2),
        "depthwise_input_gradient": (_input_gradient, 2),
        "flipped": (_flipped, 1),
    },
    gaps=True,
)


# The dims of the kernels that repeat channels and that sum repetitions; threads divide the pixels.
CHANNEL_DIMS = ("pixels", "channels", "multiplier")


class _Channels:
    """Emits a kernel over pixels whose channels are repeated in one of two arrays."""

    def __init__(self, name: str) -> None:
        self.code = code = Code(name, entry.KERNEL)
        self.tiles = Tiles(FLOAT)
        self.indices = f"<{self.tiles.lanes} x i64>"
        self.dims = entry.load_dims(code, CHANNEL_DIMS)
        self.source, self.target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))
        self.repeated = code.integer("mul", self.dims["channels"], self.dims["multiplier"])

    def lanes_from(self, first: str) -> str:
        """The indices of a vector's elements, from `first` on."""
        count = self.tiles.lanes
        steps = ", ".join([f"i64 {i}" for i in range(count)])
        start = self.code.splat(count, "i64", first)
        return self.code.let(f"add {self.indices} {start}, <{steps}>")

    def gathered(self, start: str, indices: str, mask: str) -> str:
        """The elements at a vector of indices from a pointer on; zeros in lanes that are masked
        off."""
        code, tiles, lanes = self.code, self.tiles, self.tiles.lanes
        pointers = code.let(f"getelementptr float, ptr {start}, {self.indices} {indices}")
        return code.call(
            tiles.vector,
            f"llvm.masked.gather.{tiles.suffix}.v{lanes}p0",
            (f"<{lanes} x ptr>", pointers),
            ("i32", "4"),
            (tiles.test, mask),
            (tiles.vector, "zeroinitializer"),
        )

    def repeat(self) -> Code:
        """Every channel `multiplier` times, one after the other."""
        code, tiles = self.code, self.tiles
        table = code.let(f"alloca i64, i64 {code.integer('add', self.repeated, tiles.lanes)}")
        with code.loop("0", self.repeated) as j:
            channel = code.integer("sdiv", j, self.dims["multiplier"])
            code.do(f"store i64 {channel}, ptr {code.at('i64', table, j)}, align 8")
        with code.loop("%from", "%to") as pixel:
            source = tiles.step(code, self.source, pixel, self.dims["channels"])
            target = tiles.step(code, self.target, pixel, self.repeated)
            with code.loop("0", self.repeated, tiles.lanes) as j:
                mask = tiles.mask(code, j, self.repeated)
                there = code.load(self.indices, code.at("i64", table, j), 8)
                value = self.gathered(source, there, mask)
                tiles.write(code, value, code.at("float", target, j), mask)
        code.do("ret void")
        return code

    def sum(self) -> Code:
        """The sums over the repetitions of every channel, in order."""
        code, tiles, channels = self.code, self.tiles, self.dims["channels"]
        multiplier = code.splat(tiles.lanes, "i64", self.dims["multiplier"])
        with code.loop("%from", "%to") as pixel:
            source = tiles.step(code, self.source, pixel, self.repeated)
            target = tiles.step(code, self.target, pixel, channels)
            with code.loop("0", channels, tiles.lanes) as c:
                mask = tiles.mask(code, c, channels)
                first = code.let(f"mul {self.indices} {self.lanes_from(c)}, {multiplier}")
                zero = (tiles.vector, "zeroinitializer")
                with code.carrying("0", self.dims["multiplier"], 1, zero) as sums:
                    at = code.at("float", source, sums.index)
                    value = self.gathered(at, first, mask)
                    total = code.let(f"fadd {tiles.vector} {sums.values[0]}, {value}")
                    sums.following = [total]
                tiles.write(code, sums.values[0], code.at("float", target, c), mask)
        code.do("ret void")
        return code


CHANNELS = Library(
    lambda: Source(
        [
            Kernel(_Channels("repeat_channels").repeat(), 1),
            Kernel(_Channels("sum_channels").sum(), 1),
        ]
    )
)


def with_multiplier(make: Make, w: Windows, multiplier: int) -> Run | None:
    """The kernel of `make` for images with a channel multiplier."""
    run = make(w._replace(channels=w.channels * multiplier))
    if run is None or multiplier == 1:
        return run
    pixels = w.images * w.height * w.width
    dims = (pixels, w.channels, multiplier)
    chain = Chain(2)
    if make is input_gradient:
        reduced = entry.filling(CHANNELS.entry("sum_channels").for_dims(dims), w.in_shape)
        (result,) = chain.then(reduced, *chain.then(run, 0, 1))
        return chain.returning(result)
    images = (*w.in_shape[:-1], w.channels * multiplier)
    repeated = entry.filling(CHANNELS.entry("repeat_channels").for_dims(dims), images)
    (result,) = chain.then(run, *chain.then(repeated, 0), 1)
    return chain.returning(result)


def forward(w: Windows) -> Callable[[Any, Any], Any] | None:
    """The convolution: (images, filters) to the result."""
    if not entry.AVAILABLE or w.empty:
        return None
    kernel = LIBRARY.entry("depthwise").for_dims((w.images, *w))
    return entry.filling(kernel, w.out_shape)


def filter_gradient(w: Windows) -> Callable[[Any, Any], Any] | None:
    """The filter gradient: (images, gradients) to it."""
    if not entry.AVAILABLE or w.empty:
        return None
    parts = w.window_height * w.window_width
    kernel = LIBRARY.entry("depthwise_filter_gradient").for_dims((parts, *w))
    return entry.filling(kernel, (w.window_height, w.window_width, w.channels))


def input_gradient(w: Windows) -> Callable[[Any, Any], Any] | None:
    """The input gradient: (filters, gradients) to it.

    Without strides it is the convolution of the gradients with the rotated filters.
    """
    if not entry.AVAILABLE or w.empty:
        return None
    top = (w.window_height - 1) * w.apart_y - w.top
    left = (w.window_width - 1) * w.apart_x - w.left
    if w.stride_y != 1 or w.stride_x != 1 or min(top, left) < 0:
        kernel = LIBRARY.entry("depthwise_input_gradient").for_dims((w.images, *w))
        return entry.filling(kernel, w.in_shape)
    transposed = w._replace(
        height=w.out_height,
        width=w.out_width,
        out_height=w.height,
        out_width=w.width,
        top=top,
        left=left,
    )
    run = forward(transposed)
    if run is None:
        return None
    window = (w.window_height, w.window_width)
    iteration = LIBRARY.entry("flipped", shared=False).for_dims((math.prod(window), *w))
    chain = Chain(2)
    flipping = entry.filling(iteration, (*window, w.channels, 1))
    (result,) = chain.then(run, 1, *chain.then(flipping, 0))
    return chain.returning(result)
