"""Images sampled at coordinates, by the nearest pixel or by bilinear interpolation.

Sums are those of `ops/image/projection.py`, in the same order, so that results have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry

Run = Callable[..., Any]

# Rows of new images in all, rows of one, pixels of one; rows, columns and channels of old images.
DIMS = ("rows", "new_rows", "new_columns", "height", "width", "channels")


class _Tap(NamedTuple):
    """A pixel that is read: whether it is in the image, and the index of its first channel."""

    seen: str
    data: str


class _Sampling:
    """The code of a kernel."""

    def __init__(self, name: str) -> None:
        self.code = code = Code(name, entry.KERNEL)
        self.dims = entry.load_dims(code, DIMS)
        self.images, self.x, self.y, fill = (
            code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(4)
        )
        self.out = code.load("ptr", "%outs", 8)
        self.fill = code.load("float", fill, 4)

    def kernel(self, sample: Callable[[str, str, str, str], None]) -> Kernel:
        """Emits `sample` for each pixel, with its x, y, the image and the pointer to the new
        pixel's channels."""
        code, dims = self.code, self.dims
        size = code.integer("mul", dims["height"], dims["width"])
        size = code.integer("mul", size, dims["channels"])
        with code.loop("%from", "%to") as row:
            number = code.integer("udiv", row, dims["new_rows"])
            image = code.at("float", self.images, code.integer("mul", number, size))
            first = code.integer("mul", row, dims["new_columns"])
            with code.loop("0", dims["new_columns"]) as j:
                pixel = code.integer("add", first, j)
                x, y = (
                    code.load("float", code.at("float", array, pixel), 4)
                    for array in (self.x, self.y)
                )
                at = code.integer("mul", pixel, dims["channels"])
                sample(x, y, image, code.at("float", self.out, at))
        code.do("ret void")
        return Kernel(code, 4, unit=4)

    def whole(self, x: str) -> str:
        return self.code.let(f"fptosi float {x} to i64")

    def tap(self, image: str, row: str, column: str) -> _Tap:
        code, dims = self.code, self.dims
        below = code.integer("icmp ult", row, dims["height"])
        within = code.integer("icmp ult", column, dims["width"])
        seen = code.let(f"and i1 {below}, {within}")
        number = code.integer("add", code.integer("mul", row, dims["width"]), column)
        at = code.integer("mul", number, dims["channels"])
        at = code.let(f"select i1 {seen}, i64 {at}, i64 0")
        return _Tap(seen, code.at("float", image, at))

    def read(self, tap: _Tap, channel: str) -> str:
        code = self.code
        value = code.load("float", code.at("float", tap.data, channel), 4)
        return code.let(f"select i1 {tap.seen}, float {value}, float {self.fill}")

    def channels(self, target: str, value: Callable[[str], str]) -> None:
        code = self.code
        with code.loop("0", self.dims["channels"]) as c:
            code.do(f"store float {value(c)}, ptr {code.at('float', target, c)}, align 4")


def _nearest() -> Kernel:
    s = _Sampling("nearest")
    code = s.code

    def rounded(x: str) -> str:
        half = code.call("float", "llvm.copysign.f32", ("float", "0.5"), ("float", x))
        return s.whole(code.let(f"fadd float {x}, {half}"))

    def sample(x: str, y: str, image: str, target: str) -> None:
        tap = s.tap(image, rounded(y), rounded(x))
        s.channels(target, lambda c: s.read(tap, c))

    return s.kernel(sample)


def _bilinear() -> Kernel:
    s = _Sampling("bilinear")
    code = s.code

    def parts(x: str) -> tuple[str, str, str]:
        """The floor, the fraction, and one less the fraction."""
        floor = code.call("float", "llvm.floor.f32", ("float", x))
        rest = code.let(f"fsub float {x}, {floor}")
        return s.whole(floor), rest, code.let(f"fsub float 1.0, {rest}")

    def mixed(a: str, first: str, b: str, second: str) -> str:
        one, other = code.let(f"fmul float {a}, {first}"), code.let(f"fmul float {b}, {second}")
        return code.let(f"fadd float {one}, {other}")

    def sample(x: str, y: str, image: str, target: str) -> None:
        left, across, less_across = parts(x)
        top, down, less_down = parts(y)
        right, bottom = (code.integer("add", n, 1) for n in (left, top))
        taps = [s.tap(image, row, column) for row in (top, bottom) for column in (left, right)]

        def value(c: str) -> str:
            a, b, d, e = (s.read(tap, c) for tap in taps)
            above, below = mixed(a, less_across, b, across), mixed(d, less_across, e, across)
            return mixed(above, less_down, below, down)

        s.channels(target, value)

    return s.kernel(sample)


LIBRARY = Library(lambda: Source([_nearest(), _bilinear()]))


def sampling(how: str) -> Run | None:
    """(images [n, height, width, channels], x, y [n, rows, columns], fill) to new images.

    All are float32. Coordinates are finite and near the image; `how` is "NEAREST" or "BILINEAR".
    """
    if not entry.AVAILABLE:
        return None
    LIBRARY.entry(how.lower())

    def run(images: Any, x: Any, y: Any, fill: float) -> Any:
        _, height, width, channels = images.shape
        count, rows, columns = x.shape
        dims = (count * rows, rows, columns, height, width, channels)
        pixels = np.empty((*x.shape, channels), np.float32)
        shared = pixels.size >= entry.MIN_PARALLEL_ELEMENTS
        kernel = LIBRARY.entry(how.lower(), shared).for_dims(dims)
        kernel(*map(entry.in_order, (images, x, y)), np.array([fill], np.float32), pixels)
        return pixels

    return run
