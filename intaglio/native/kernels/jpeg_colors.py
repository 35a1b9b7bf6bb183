"""Chroma upsampling of JPEG images and conversion from YCbCr to RGB.

Rows are Y, Cb, Cr as a decoder returns them: a chroma sample is repeated at all pixels that share
it. Chroma is smoothed horizontally and vertically, and pixels become RGB, in the integer arithmetic
of the IJG's library. A vector has consecutive pixels of a row; those at its ends are computed one
by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry
from intaglio.ops.image.jpeg import BLUE, GREEN_BLUE, GREEN_RED, HALF, RED

Run = Callable[..., Any]

# The supported subsampling factors, (horizontal, vertical).
FACTORS = ((2, 1), (2, 2), (1, 2))
PIXELS = 16
# A vector reads the chroma from two pixels before its own on, in so many bytes.
LEAD, BYTES = 2, 64
# A thread takes one nanosecond for a pixel. Below this number waking another one takes longer, and
# files are often decoded several at a time.
MIN_SHARED_PIXELS = 1 << 19
DIMS = ("height", "width", "columns", "rows")


class _Pixels:
    """Integer arithmetic of one pixel (i32), or of a vector of pixels."""

    def __init__(self, code: Code, lanes: int) -> None:
        self.code = code
        self.lanes = lanes
        self.kind = "i32" if lanes == 1 else f"<{lanes} x i32>"

    def constant(self, value: int | Sequence[int]) -> str:
        if isinstance(value, int):
            return str(value) if self.lanes == 1 else f"splat (i32 {value})"
        return f"<{', '.join([f'i32 {v}' for v in value])}>"

    def do(self, instruction: str, x: str, y: str | int) -> str:
        other = self.constant(y) if isinstance(y, int) else y
        return self.code.let(f"{instruction} {self.kind} {x}, {other}")

    def weighted(self, near: str, far: str) -> str:
        """Three times the nearer sample plus the farther one."""
        return self.do("add", self.do("mul", near, 3), far)

    def byte(self, x: str) -> str:
        """The nearest number from 0 to 255."""
        suffix = "i32" if self.lanes == 1 else f"v{self.lanes}i32"
        for name, bound in (("smax", 0), ("smin", 255)):
            operands = (self.kind, x), (self.kind, self.constant(bound))
            x = self.code.call(self.kind, f"llvm.{name}.{suffix}", *operands)
        return self.code.let(f"trunc {self.kind} {x} to {self.kind.replace('i32', 'i8')}")

    def rgb(self, y: str, cb: str, cr: str) -> list[str]:
        """Red, green and blue as bytes."""
        cb, cr = self.do("sub", cb, 128), self.do("sub", cr, 128)

        def scaled(*parts: tuple[int, str]) -> str:
            total = self.constant(HALF)
            for factor, color in parts:
                total = self.do("add", self.do("mul", color, factor), total)
            return self.byte(self.do("add", y, self.do("ashr", total, 16)))

        return [scaled((RED, cr)), scaled((-GREEN_BLUE, cb), (-GREEN_RED, cr)), scaled((BLUE, cb))]


class _Rows:
    """The code of a kernel for rows of pixels."""

    def __init__(self, across: int, down: int) -> None:
        self.across, self.down = across, down
        self.code = Code(f"smooth_{across}_{down}", entry.KERNEL)
        self.dims = entry.load_dims(self.code, DIMS)
        self.ins = self.code.load("ptr", "%ins", 8)
        self.out = self.code.load("ptr", "%outs", 8)

    def kernel(self) -> Kernel:
        code, width = self.code, self.dims["width"]
        with code.loop("%from", "%to") as y:
            self.rows, self.row_bias = self._rows_of(y)
            self.own = self._row(self.ins, y)
            self.target = self._row(self.out, y)
            first = code.least(str(LEAD), width)
            self._each(("0", first), self._pixel)
            # The last vector reads up to the end of the row.
            last_byte = code.integer("sub", code.integer("mul", width, 3), BYTES - 3 * LEAD)
            stop = code.integer("sdiv", last_byte, 3)
            with code.carrying(first, stop, PIXELS, ("i64", first)) as loop:
                self._vector(loop.index)
                loop.following = [code.integer("add", loop.index, PIXELS)]
            self._each((loop.values[0], width), self._pixel)
        code.do("ret void")
        return Kernel(code, 1, unit=2)

    def _each(self, bounds: tuple[str, str], write: Callable[[str], None]) -> None:
        with self.code.loop(*bounds) as x:
            write(x)

    def _row(self, base: str, y: str) -> str:
        bytes_ = self.code.integer("mul", self.dims["width"], 3)
        return self.code.at("i8", base, self.code.integer("mul", y, bytes_))

    def _rows_of(self, y: str) -> tuple[list[str], str]:
        """The rows with the nearer and the farther chroma samples, and the rounding bias.

        The bias is 2 in a lower row and 1 in an upper one, as in the IJG's library.
        """
        code = self.code
        if self.down == 1:
            return [self._row(self.ins, y)], "1"
        near, odd = code.integer("lshr", y, 1), code.integer("and", y, 1)
        step = code.integer("sub", code.integer("shl", odd, 1), 1)
        last = code.integer("sub", self.dims["rows"], 1)
        far = code.least(code.integer("add", near, step), last)
        far = code.let(f"select i1 {code.integer('icmp slt', far, 0)}, i64 0, i64 {far}")
        rows = [self._row(self.ins, code.integer("shl", r, 1)) for r in (near, far)]
        return rows, code.let(f"trunc i64 {code.integer('add', odd, 1)} to i32")

    def _smoothed(self, p: _Pixels, parts: list[list[str]], bias: str) -> str:
        """Chroma from the samples of the nearer and farther column (if any) in each of the rows."""
        columns = [p.weighted(*rows) if len(rows) == 2 else rows[0] for rows in parts]
        total = p.weighted(*columns) if len(columns) == 2 else columns[0]
        both = self.across == self.down == 2
        return p.do("ashr", p.do("add", total, bias), 4 if both else 2)

    # -- one pixel ---------------------------------------------------------------------

    def _pixel(self, x: str) -> None:
        code, p = self.code, _Pixels(self.code, 1)
        column, bias = x, self.row_bias
        columns = [x]
        if self.across == 2:
            column, odd = code.integer("lshr", x, 1), code.integer("and", x, 1)
            step = code.integer("sub", code.integer("shl", odd, 1), 1)
            last = code.integer("sub", self.dims["columns"], 1)
            far = code.least(code.integer("add", column, step), last)
            far = code.let(f"select i1 {code.integer('icmp slt', far, 0)}, i64 0, i64 {far}")
            columns = [code.integer("shl", c, 1) for c in (column, far)]
            bias = self._column_bias(odd)
        y, *colors = (
            self._byte(self.own, x, 0),
            *[
                self._smoothed(
                    p, [[self._byte(row, c, channel) for row in self.rows] for c in columns], bias
                )
                for channel in (1, 2)
            ],
        )
        for i, value in enumerate(p.rgb(y, *colors)):
            at = code.at("i8", self.target, code.integer("add", code.integer("mul", x, 3), i))
            code.do(f"store i8 {value}, ptr {at}, align 1")

    def _column_bias(self, odd: str) -> str:
        code = self.code
        word = code.let(f"trunc i64 {odd} to i32")
        if self.down == 2:
            return code.let(f"sub i32 8, {word}")
        return code.let(f"add i32 1, {word}")

    def _byte(self, row: str, x: str, channel: int) -> str:
        code = self.code
        at = code.integer("add", code.integer("mul", x, 3), channel)
        return code.let(f"zext i8 {code.load('i8', code.at('i8', row, at), 1)} to i32")

    # -- a vector of pixels ------------------------------------------------------------

    def _vector(self, x: str) -> None:
        code, p = self.code, _Pixels(self.code, PIXELS)
        lead = code.integer("mul", code.integer("sub", x, LEAD), 3)
        own = self._loaded(self.own, lead)
        rows = [self._loaded(row, lead) for row in self.rows]
        pixels = range(LEAD, LEAD + PIXELS)
        columns = [list(pixels)]
        if self.across == 2:
            near = [i // 2 * 2 for i in pixels]
            columns = [near, [n + (2 if i % 2 else -2) for n, i in zip(near, pixels, strict=True)]]
            pair = (8, 7) if self.down == 2 else (1, 2)
            bias = p.constant([pair[i % 2] for i in pixels])
        else:
            bias = code.splat(PIXELS, "i32", self.row_bias)
        colors = [
            self._smoothed(
                p, [[self._picked(row, c, channel) for row in rows] for c in columns], bias
            )
            for channel in (1, 2)
        ]
        red, green, blue = p.rgb(self._picked(own, list(pixels), 0), *colors)
        self._store(x, red, green, blue)

    def _loaded(self, row: str, at: str) -> str:
        return self.code.load(f"<{BYTES} x i8>", self.code.at("i8", row, at), 1)

    def _picked(self, loaded: str, pixels: list[int], channel: int) -> str:
        """A channel of these pixels, counted from the first that was loaded."""
        kind = f"<{BYTES} x i8>"
        mask = ", ".join([f"i32 {3 * pixel + channel}" for pixel in pixels])
        found = self.code.let(
            f"shufflevector {kind} {loaded}, {kind} poison, <{len(pixels)} x i32> <{mask}>"
        )
        return self.code.let(f"zext <{len(pixels)} x i8> {found} to <{len(pixels)} x i32>")

    def _store(self, x: str, red: str, green: str, blue: str) -> None:
        code, count = self.code, PIXELS
        one, two = f"<{count} x i8>", f"<{2 * count} x i8>"
        pair = ", ".join([f"i32 {i}" for i in range(2 * count)])
        first = code.let(f"shufflevector {one} {red}, {one} {green}, <{2 * count} x i32> <{pair}>")
        second = code.let(f"shufflevector {one} {blue}, {one} poison, <{2 * count} x i32> <{pair}>")
        mask = [f"i32 {channel * count + i}" for i in range(count) for channel in range(3)]
        whole = code.let(
            f"shufflevector {two} {first}, {two} {second}, <{3 * count} x i32> <{', '.join(mask)}>"
        )
        at = code.at("i8", self.target, code.integer("mul", x, 3))
        code.do(f"store <{3 * count} x i8> {whole}, ptr {at}, align 1")


LIBRARIES = {
    factors: Library(lambda factors=factors: Source([_Rows(*factors).kernel()]))
    for factors in FACTORS
}


def smoothing(across: int, down: int) -> Run | None:
    """Planes [height, width, 3] of Y, Cb, Cr (uint8) to RGB, with the given subsampling factors.

    A chroma sample is at the first pixel of those that share it. None for factors without
    smoothing.
    """
    if not entry.AVAILABLE or (across, down) not in FACTORS:
        return None
    library, name = LIBRARIES[across, down], f"smooth_{across}_{down}"
    library.entry(name)

    def run(planes: Any) -> Any:
        height, width, _ = planes.shape
        shared = height * width >= MIN_SHARED_PIXELS
        dims = (height, width, -(-width // across), -(-height // down))
        pixels = np.empty(planes.shape, np.uint8)
        library.entry(name, shared).for_dims(dims)(entry.in_order(planes), pixels)
        return pixels

    return run
