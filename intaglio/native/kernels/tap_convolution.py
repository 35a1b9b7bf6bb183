"""Convolutions of numbers that are not all finite, tap by tap, instead of the results of fast
kernels.

Fast kernels multiply padding, and filters of other groups, as zeros, and transforms subtract pixels
from each other: an infinity or NaN then gives NaN in results that do not depend on it. A flag says
that there is such a number. The kernels here do nothing unless it is set; then they overwrite the
result with sums over the taps that are inside the images, as `ops/nn/convolution_by_taps.py` does
for arrays.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import bfloat16
from intaglio.native.kernels import convolution
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.kernels.pooling_epilogue import WORDS, Pool, Pooling
from intaglio.native.kernels.sequence import Chain, Rounding, has_steps
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Carried, Code
from intaglio.native.llvm.vectors import BFLOAT, DOUBLE, FLOAT, HALF, Kind
from intaglio.native.runtime import entry

Run = Callable[..., Any]
# The dims of the kernels. Threads divide `parts`: rows of the result, or of the filter gradient.
# The first inputs are the flags, of which there are `flags`. With `zeros` padding is multiplied
# like other zeros.
DIMS = ("parts", "flags", *Geometry._fields, "relu", "zeros")
# Vectors of filters whose sums stay in registers.
VECTORS = 4
# The elements of one flag, and the vectors of them that are loaded at a time.
FLAG_ELEMENTS, UNROLLED = 1 << 14, 4
# The dtypes of elements, and the exponent bits of numbers that are not finite.
KINDS = {
    np.dtype(np.float32): (FLOAT, 0x7F800000),
    np.dtype(np.float64): (DOUBLE, 0x7FF << 52),
    np.dtype(np.float16): (HALF, 0x7C00),
    bfloat16.numpy: (BFLOAT, 0x7F80),
}


class _Pixel(NamedTuple):
    """A pixel by its image, and by its row counted through all images."""

    image: str
    z: str
    y: str
    x: str


class _Builder:
    """Emits one kernel."""

    def __init__(self, name: str, kind: Kind, words: Sequence[str] = ()) -> None:
        self.code = code = Code(name, entry.KERNEL)
        self.tiles = Tiles(FLOAT, kind) if kind.short else Tiles(kind)
        self.dims = entry.load_dims(code, (*DIMS, *words))
        entry.return_unless_flagged(code)
        self.zeros = code.integer("icmp ne", self.dims["zeros"], 0)
        groups = self.dims["channel_groups"]
        self.inner = code.integer("sdiv", self.dims["channels"], groups)
        self.each = code.integer("sdiv", self.dims["filters"], groups)

    def input(self, number: int) -> str:
        """The pointer to an operand, counted without the flags."""
        return self.code.load("ptr", self.code.at("ptr", "%ins", str(number + 1)), 8)

    def kernel(self, inputs: int) -> Kernel:
        """The kernel, with so many operands."""
        self.code.do("ret void")
        return Kernel(self.code, inputs + 1, 0, flagged=True)

    # -- indices ---------------------------------------------------------------------------

    def pixel(self, number: str, x: str, before: str = "") -> _Pixel:
        """A pixel of an image, or of the result, by the index of its row, counted through all
        images."""
        dims = self.dims
        slices, y = self.divided(number, dims[f"{before}height"])
        image, z = self.divided(slices, dims[f"{before}depth"])
        return _Pixel(image, z, y, x)

    def divided(self, number: str, size: str) -> tuple[str, str]:
        return self.code.integer("sdiv", number, size), self.code.integer("srem", number, size)

    def index(self, pixel: _Pixel, before: str = "") -> str:
        """The index of a pixel among those of all images, or results."""
        code, dims = self.code, self.dims
        at = pixel.image
        for name, part in (("depth", pixel.z), ("height", pixel.y), ("width", pixel.x)):
            at = code.integer("add", code.integer("mul", at, dims[before + name]), part)
        return at

    def taps(
        self, sums: list[str], add: Callable[[str, Sequence[str], list[str]], tuple[list[str], str]]
    ) -> list[str]:
        """Sums over the taps of a window. `add(index of the tap, its position, sums so far)`
        returns the new sums and whether they are valid."""
        code, dims = self.code, self.dims
        sizes = [dims[f"window_{name}"] for name in ("depth", "height", "width")]
        with (
            self.summing(sizes[0], sums) as over_z,
            self.summing(sizes[1], over_z.values) as over_y,
            self.summing(sizes[2], over_y.values) as over_x,
        ):
            tap = [loop.index for loop in (over_z, over_y, over_x)]
            number = code.integer("add", code.integer("mul", tap[0], sizes[1]), tap[1])
            number = code.integer("add", code.integer("mul", number, sizes[2]), tap[2])
            after, counts = add(number, tap, over_x.values)
            over_x.following = [
                code.let(f"select i1 {counts}, {self.tiles.vector} {x}, {self.tiles.vector} {y}")
                for x, y in zip(after, over_x.values, strict=True)
            ]
            # The sums of a loop are available at its end, where the enclosing loop continues.
            over_y.following, over_z.following = over_x.values, over_y.values
        return over_z.values

    @contextmanager
    def summing(
        self, stop: str, sums: Sequence[str], start: str = "0", step: int = 1
    ) -> Generator[Carried]:
        """A loop with vectors as loop-carried values."""
        carried = [(self.tiles.vector, name) for name in sums]
        with self.code.carrying(start, stop, step, *carried) as loop:
            yield loop

    _AXES = (("z", "depth", "front"), ("y", "height", "top"), ("x", "width", "left"))

    def under(self, window: _Pixel, tap: Sequence[str]) -> tuple[_Pixel, str]:
        """The pixel under a tap of a window, and whether it is inside the image."""
        code, dims, inside, found = self.code, self.dims, "true", list[str]()
        for (axis, size, before), at, index in zip(self._AXES, window[1:], tap, strict=True):
            start = code.integer("mul", at, dims[f"stride_{axis}"])
            start = code.integer("sub", start, dims[before])
            found.append(
                code.integer("add", start, code.integer("mul", index, dims[f"apart_{axis}"]))
            )
            # The comparison is unsigned: indices before the first are too large.
            there = code.integer("icmp ult", found[-1], dims[size])
            inside = code.let(f"and i1 {inside}, {there}")
        return _Pixel(window.image, *found), inside

    def over(self, pixel: _Pixel, tap: Sequence[str]) -> tuple[_Pixel, str]:
        """The window that has a tap on a pixel, and whether there is one."""
        code, dims, exists, found = self.code, self.dims, "true", list[str]()
        for (axis, size, before), at, index in zip(self._AXES, pixel[1:], tap, strict=True):
            start = code.integer("add", at, dims[before])
            start = code.integer("sub", start, code.integer("mul", index, dims[f"apart_{axis}"]))
            stride = dims[f"stride_{axis}"]
            found.append(code.integer("sdiv", start, stride))
            whole = code.integer("icmp eq", code.integer("mul", found[-1], stride), start)
            there = code.integer("icmp ult", found[-1], dims[f"out_{size}"])
            exists = code.let(f"and i1 {exists}, {code.let(f'and i1 {whole}, {there}')}")
        return _Pixel(pixel.image, *found), exists

    @contextmanager
    def columns(self, vectors: int) -> Generator[tuple[str, list[str], list[str]]]:
        """For each block of filters within a group: the group, the first filter of each vector, and
        the masks of the lanes that are in the group."""
        code, dims, lanes = self.code, self.dims, self.tiles.lanes
        with code.loop("0", dims["channel_groups"]) as group:
            first = code.integer("mul", group, self.each)
            end = code.integer("add", first, self.each)
            with code.loop(first, end, vectors * lanes) as c:
                starts = [code.integer("add", c, v * lanes) for v in range(vectors)]
                yield group, starts, [self.tiles.mask(code, at, end) for at in starts]

    # -- numbers ---------------------------------------------------------------------------

    def at(self, array: str, row: str, size: str, column: str) -> str:
        """The pointer to an element of a matrix."""
        return self.code.at(
            self.tiles.stored.llvm, self.tiles.step(self.code, array, row, size), column
        )

    def one(self, there: str = "true") -> str:
        """A mask of the first lane if `there`, else of none."""
        return self.tiles.mask(self.code, "0", self.code.let(f"zext i1 {there} to i64"))

    def factor(self, pointer: str, mask: str) -> str:
        """A number in all lanes of a vector; 0 if the mask is empty."""
        vector, seen = self.tiles.vector, self.tiles.read(self.code, pointer, mask)
        lanes = f"<{self.tiles.lanes} x i32> zeroinitializer"
        return self.code.let(f"shufflevector {vector} {seen}, {vector} poison, {lanes}")

    def zero(self, vectors: int = 1) -> list[str]:
        """Initial sums."""
        return ["zeroinitializer"] * vectors

    def results(
        self, window: _Pixel, group: str, starts: Sequence[str], masks: Sequence[str]
    ) -> list[str]:
        """Vectors of a window's results for filters of a group, with their bias and Relu."""
        code, dims, tiles = self.code, self.dims, self.tiles
        first = code.integer("mul", group, self.inner)
        images, filters, bias = map(self.input, range(3))

        def add(number: str, tap: Sequence[str], sums: list[str]) -> tuple[list[str], str]:
            pixel, inside = self.under(window, tap)
            row = self.at(images, self.index(pixel), dims["channels"], first)
            right, one = code.integer("mul", number, self.inner), self.one(inside)
            with self.summing(self.inner, sums) as loop:
                a = self.factor(code.at(tiles.stored.llvm, row, loop.index), one)
                line = code.integer("add", right, loop.index)
                line = tiles.step(code, filters, line, dims["filters"])
                loop.following = [
                    tiles.fma(code, a, tiles.read(code, self.element(line, c), mask), total)
                    for c, mask, total in zip(starts, masks, loop.values, strict=True)
                ]
            return loop.values, code.let(f"or i1 {inside}, {self.zeros}")

        low = convolution.relu_bound(code, tiles, dims["relu"])
        values: list[str] = []
        for c, mask, total in zip(
            starts, masks, self.taps(self.zero(len(starts)), add), strict=True
        ):
            added = tiles.read(code, self.element(bias, c), mask)
            value = code.let(f"fadd {tiles.vector} {total}, {added}")
            values.append(convolution.clamped(code, tiles, value, low))
        return values

    def element(self, array: str, index: str) -> str:
        """The pointer to an element of an array."""
        return self.code.at(self.tiles.stored.llvm, array, index)

    def write(
        self, values: list[str], line: str, starts: Sequence[str], masks: Sequence[str]
    ) -> None:
        """Stores vectors of a line of results."""
        for value, c, mask in zip(values, starts, masks, strict=True):
            self.tiles.write(self.code, value, self.element(line, c), mask)


def _forward(kind: Kind) -> Kernel:
    """Rows of the result; operands: images, filters, bias, result."""
    b = _Builder("forward", kind)
    code, dims = b.code, b.dims
    with code.loop("%from", "%to") as row, code.loop("0", dims["out_width"]) as x:
        window = b.pixel(row, x, "out_")
        line = b.tiles.step(code, b.input(3), b.index(window, "out_"), dims["filters"])
        with b.columns(VECTORS) as (group, starts, masks):
            b.write(b.results(window, group, starts, masks), line, starts, masks)
    return b.kernel(4)


def _pooled(kind: Kind) -> Kernel:
    """Rows of pooled results; operands: images, filters, bias, results, pooled ones, argmaxes."""
    b = _Builder("pooled", kind, WORDS)
    code, dims = b.code, b.dims
    pool = Pool(code, b.tiles, dims, (b.input(4), b.input(5)))
    across = code.integer("sdiv", dims["out_width"], 2)
    with code.loop("%from", "%to") as row, code.loop("0", across) as x:
        top, left = code.integer("mul", row, 2), code.integer("mul", x, 2)
        at = code.integer("add", code.integer("mul", row, across), x)
        at = code.integer("mul", at, dims["filters"])
        with b.columns(1) as (group, starts, masks):
            values: list[str] = []
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
                window = b.pixel(code.integer("add", top, i), code.integer("add", left, j), "out_")
                values += b.results(window, group, starts, masks)
                with code.when(pool.flags["whole"]):
                    number = b.index(window, "out_")
                    line = b.tiles.step(code, b.input(3), number, dims["filters"])
                    b.write(values[-1:], line, starts, masks)
            pool.write(values, code.integer("add", at, starts[0]), masks[0])
    return b.kernel(6)


def _input_gradient(kind: Kind) -> Kernel:
    """Rows of the input gradient; operands: filters, gradients, result."""
    b = _Builder("input_gradient", kind)
    code, dims, tiles = b.code, b.dims, b.tiles
    filters, gradients, result = map(b.input, range(3))
    one, scalar, vector = b.one(), tiles.kind.llvm, tiles.vector
    with (
        code.loop("%from", "%to") as row,
        code.loop("0", dims["width"]) as x,
        code.loop("0", dims["channels"]) as channel,
    ):
        pixel = b.pixel(row, x)
        group, k = b.divided(channel, b.inner)
        first = code.integer("mul", group, b.each)
        end = code.integer("add", first, b.each)

        def add(
            number: str, tap: Sequence[str], sums: list[str], pixel: _Pixel = pixel
        ) -> tuple[list[str], str]:
            window, exists = b.over(pixel, tap)
            line = code.integer("add", code.integer("mul", number, b.inner), k)
            left = tiles.step(code, filters, line, dims["filters"])
            right = tiles.step(code, gradients, b.index(window, "out_"), dims["filters"])
            stop = code.let(f"select i1 {exists}, i64 {end}, i64 {first}")
            with b.summing(stop, sums, first, tiles.lanes) as loop:
                mask = tiles.mask(code, loop.index, end)
                x, y = (tiles.read(code, b.element(p, loop.index), mask) for p in (left, right))
                loop.following = [tiles.fma(code, x, y, loop.values[0])]
            return loop.values, exists

        (total,) = b.taps(b.zero(), add)
        name = f"llvm.vector.reduce.fadd.{tiles.suffix}"
        total = code.call(scalar, name, (scalar, "0.0"), (vector, total))
        to = b.at(result, b.index(pixel), dims["channels"], channel)
        tiles.write(code, code.splat(tiles.lanes, scalar, total), to, one)
    return b.kernel(3)


def _filter_gradient(kind: Kind) -> Kernel:
    """Rows of the filter gradient, one for each tap and channel; operands: images, gradients, result."""
    b = _Builder("filter_gradient", kind)
    code, dims, tiles = b.code, b.dims, b.tiles
    images, gradients, result = map(b.input, range(3))
    rows = functools.reduce(
        lambda x, name: code.integer("mul", x, dims[name]),
        ("out_depth", "out_height"),
        dims["images"],
    )
    with code.loop("%from", "%to") as part, b.columns(VECTORS) as (group, starts, masks):
        number, k = b.divided(part, b.inner)
        above, j = b.divided(number, dims["window_width"])
        deep, i = b.divided(above, dims["window_height"])
        channel = code.integer("add", code.integer("mul", group, b.inner), k)
        with (
            b.summing(rows, b.zero(VECTORS)) as over_rows,
            b.summing(dims["out_width"], over_rows.values) as loop,
        ):
            window = b.pixel(over_rows.index, loop.index, "out_")
            pixel, inside = b.under(window, (deep, i, j))
            counts = code.let(f"or i1 {inside}, {b.zeros}")
            a = b.factor(b.at(images, b.index(pixel), dims["channels"], channel), b.one(inside))
            line = tiles.step(code, gradients, b.index(window, "out_"), dims["filters"])
            for c, mask, total in zip(starts, masks, loop.values, strict=True):
                after = tiles.fma(code, a, tiles.read(code, b.element(line, c), mask), total)
                vector = tiles.vector
                kept = f"select i1 {counts}, {vector} {after}, {vector} {total}"
                loop.following.append(code.let(kept))
            over_rows.following = loop.values
        b.write(over_rows.values, tiles.step(code, result, part, dims["filters"]), starts, masks)
    return b.kernel(3)


def _flags(kind: Kind, exponent: int) -> Kernel:
    """1 for ranges of an array with a number that is not finite, else 0."""
    code = Code("flags", entry.KERNEL)
    dims = entry.load_dims(code, ("parts", "elements"))
    source, out = (code.load("ptr", pointers, 8) for pointers in ("%ins", "%outs"))
    lanes, number = jit.WIDTH // kind.bytes, f"i{kind.bits}"
    vector, test = f"<{lanes} x {number}>", f"<{lanes} x i1>"
    bits, most = f"splat ({number} {exponent})", f"llvm.umax.v{lanes}{number}"
    zeros = [(vector, "zeroinitializer")] * UNROLLED

    def higher(seen: str, before: str) -> str:
        part = code.let(f"and {vector} {seen}, {bits}")
        return code.call(vector, most, (vector, part), (vector, before))

    with code.loop("%from", "%to") as part:
        start = code.integer("mul", part, FLAG_ELEMENTS)
        end = code.least(code.integer("add", start, FLAG_ELEMENTS), dims["elements"])
        count = code.integer("sub", end, start)
        whole = code.integer("and", count, -lanes * UNROLLED)
        first = code.at(number, source, start)
        with code.carrying("0", whole, lanes * UNROLLED, *zeros) as loop:
            at = code.at(number, first, loop.index)
            loop.following = [
                higher(code.load(vector, code.at(number, at, str(i * lanes)), kind.bytes), before)
                for i, before in enumerate(loop.values)
            ]
        found = functools.reduce(
            lambda x, y: code.call(vector, most, (vector, x), (vector, y)), loop.values
        )
        with code.carrying(whole, count, lanes, (vector, found)) as rest:
            mask = code.call(
                test,
                f"llvm.get.active.lane.mask.v{lanes}i1.i64",
                ("i64", rest.index),
                ("i64", count),
            )
            seen = code.call(
                vector,
                f"llvm.masked.load.v{lanes}{number}.p0",
                (f"ptr align {kind.bytes}", code.at(number, first, rest.index)),
                (test, mask),
                (vector, "zeroinitializer"),
            )
            rest.following = [higher(seen, rest.values[0])]
        highest = code.call(
            number, f"llvm.vector.reduce.umax.v{lanes}{number}", (vector, rest.values[0])
        )
        flag = code.let(f"icmp eq {number} {highest}, {exponent}")
        flag = code.let(f"zext i1 {flag} to i64")
        code.do(f"store i64 {flag}, ptr {code.at('i64', out, part)}, align 8")
    code.do("ret void")
    return Kernel(code, 1)


def _source(kind: Kind, exponent: int) -> Source:
    pooled = [_pooled(kind)] if kind == FLOAT else []
    return Source(
        [
            _flags(kind, exponent),
            _forward(kind),
            *pooled,
            _input_gradient(kind),
            _filter_gradient(kind),
        ]
    )


LIBRARIES = {
    dtype: Library(functools.partial(_source, kind, exponent))
    for dtype, (kind, exponent) in KINDS.items()
}


# -- kernels that are followed by those of this file --------------------------------------------


class Flags(NamedTuple):
    """The index of an array of flags among a chain's values, and the number of flags."""

    number: int
    length: int


def flags_of(chain: Chain, number: int, size: int, dtype: Any) -> Flags:
    """Adds to a chain the flags of one of its values, of `size` elements."""
    count = max(-(-size // FLAG_ELEMENTS), 1)
    kernel = LIBRARIES[np.dtype(dtype)].entry("flags", shared=count > 1).for_dims((count, size))
    (flags,) = chain.then(entry.filling(kernel, (count,), np.int64), number)
    return Flags(flags, count)


def then_taps(
    chain: Chain,
    name: str,
    g: Geometry,
    flags: Flags,
    arrays: Sequence[int | np.ndarray],
    dtype: Any = np.float32,
    relu: bool = False,
    zeros: bool = False,
    pooling: Pooling | None = None,
) -> None:
    """Adds to a chain the kernel of a name, which overwrites the last of the arrays if a flag is set."""
    parts = {
        "forward": g.images * g.out_depth * g.out_height,
        "pooled": g.images * g.out_height // 2,
        "input_gradient": g.images * g.depth * g.height,
        "filter_gradient": math.prod(g.window) * (g.channels // g.channel_groups),
    }[name]
    dims = (parts, flags.length, *g, relu, zeros, *(pooling or ()))
    kernel = LIBRARIES[np.dtype(dtype)].entry(name).for_dims(dims)
    chain.then(entry.updating(kernel), flags.number, *arrays)


def guarded(
    run: Run | None,
    name: str,
    g: Geometry,
    dtype: Any = np.float32,
    *,
    by_filters: bool = False,
    biased: bool = False,
    relu: bool = False,
    zeros: bool = False,
) -> Run | None:
    """A kernel followed by one by taps, which runs if the results or the filters have numbers that
    are not finite.

    `name` is "forward", with images, filters and perhaps a bias, or that of a gradient.
    """
    if run is None:
        return None
    count = 3 if biased else 2
    guard = Chain(count + 1)
    sizes = {
        "forward": math.prod(g.shape),
        "input_gradient": g.images * g.depth * g.height * g.width * g.channels,
    }
    filters = math.prod(g.window) * (g.channels // g.channel_groups) * g.filters
    size = filters if by_filters else sizes.get(name, filters)
    shown = int(name == "forward") if by_filters else count
    flags = flags_of(guard, shown, size, dtype)
    arrays: list[Any] = [*range(count + 1)]
    if name == "forward" and not biased:
        arrays.insert(count, np.zeros(g.filters, dtype))
    then_taps(guard, name, g, flags, arrays, dtype, relu, zeros)
    return _after(run, guard, count)


def _after(run: Run, guard: Chain, count: int) -> Run:
    """A kernel of `count` arrays followed by a guard, whose operands are these and the result."""
    guard.returning([])
    if not has_steps(run):

        def run_both(*arrays: Any) -> Any:
            result = run(*arrays)
            guard(*arrays, result)
            return result

        return run_both

    def chained(run: Run) -> Chain:
        chain = Chain(count)
        (result,) = chain.then(run, *range(count))
        chain.then(guard, *range(count), result)
        return chain.returning(result)

    return run.within(chained) if isinstance(run, Rounding) else chained(run)
