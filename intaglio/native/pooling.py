"""Maximum pooling of channels-last images in machine code, and its gradient.

As in the NumPy kernels the search begins at the least finite number and passes over NaN, and
each window's gradient goes to its first maximum.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.native import entry, llvm
from intaglio.native.code import Code, module
from intaglio.native.lanes import FLOAT, literal
from intaglio.native.pool import pool
from intaglio.native.tiles import Tiles

# What the kernels are told; threads share the images.
DIMS = (
    "images", "height", "width", "channels", "out_height", "out_width", "window_height",
    "window_width", "stride_y", "stride_x", "top", "left",
)  # fmt: skip


class Windows(NamedTuple):
    """How windows slide over channels-last images, under the names of `DIMS`."""

    images: int
    height: int
    width: int
    channels: int
    out_height: int
    out_width: int
    window_height: int
    window_width: int
    stride_y: int
    stride_x: int
    top: int
    left: int


class _Writer:
    """Writes one kernel; values of the enclosing loops are attributes."""

    def __init__(self, name: str) -> None:
        self.code = Code(name, entry.KERNEL)
        self.tiles = Tiles(FLOAT)
        self.given = entry.numbers(self.code, DIMS)
        self.vector = self.tiles.vector

    def pointer(self, array: str, index: int) -> str:
        """The data of an input or output."""
        return self.code.load("ptr", self.code.at("ptr", array, str(index)), 8)

    def image(self, data: str, number: str, height: str, width: str) -> str:
        """Where an image of these dims begins."""
        size = self.size(height, width)
        return self.tiles.step(self.code, data, number, size)

    def size(self, height: str, width: str) -> str:
        """The elements of an image of these dims."""
        rows = self.code.integer("mul", self.given[height], self.given[width])
        return self.code.integer("mul", rows, self.given["channels"])

    def pixel(self, image: str, y: str, x: str, width: str, channel: str) -> str:
        """The pointer to a channel of a pixel."""
        code = self.code
        row = code.integer("add", code.integer("mul", y, self.given[width]), x)
        first = code.integer("mul", row, self.given["channels"])
        return code.at("float", image, code.integer("add", first, channel))

    def reach(self, at: str, axis: str) -> tuple[str, str, str]:
        """Where the window of output `at` begins along an axis, and its part inside the image."""
        stride, before, window, size = {
            "y": ("stride_y", "top", "window_height", "height"),
            "x": ("stride_x", "left", "window_width", "width"),
        }[axis]
        code, given = self.code, self.given
        start = code.integer(
            "sub", code.integer("mul", at, given[stride]), given[before]
        )
        outside = code.integer("sub", 0, start)
        negative = code.integer("icmp slt", outside, 0)
        first = code.let(f"select i1 {negative}, i64 0, i64 {outside}")
        last = code.least(given[window], code.integer("sub", given[size], start))
        return start, first, last

    def forward(self) -> Code:
        """The greatest element of every window."""
        code, given = self.code, self.given
        images, out = self.pointer("%ins", 0), self.pointer("%outs", 0)
        least = f"splat (float {literal(np.finfo(np.float32).min, FLOAT)})"
        with code.loop("%from", "%to") as number:
            image = self.image(images, number, "height", "width")
            result = self.image(out, number, "out_height", "out_width")
            with code.loop("0", given["out_height"]) as y, code.loop("0", given["out_width"]) as x:  # fmt: skip
                top, i0, i1 = self.reach(y, "y")
                left, j0, j1 = self.reach(x, "x")
                with code.loop("0", given["channels"], self.tiles.lanes) as c:
                    mask = self.tiles.mask(code, c, given["channels"])
                    with code.carrying(i0, i1, 1, (self.vector, least)) as down:
                        with code.carrying(j0, j1, 1, (self.vector, down.values[0])) as across:  # fmt: skip
                            row = code.integer("add", top, down.index)
                            column = code.integer("add", left, across.index)
                            place = self.pixel(image, row, column, "width", c)
                            seen = self.tiles.read(code, place, mask)
                            across.following = [self.larger(seen, across.values[0])]
                        down.following = across.values
                    target = self.pixel(result, y, x, "out_width", c)
                    self.tiles.write(code, down.values[0], target, mask)
        code.do("ret void")
        return code

    def larger(self, x: str, y: str) -> str:
        """x where it is larger than y, else y."""
        above = self.code.let(f"fcmp ogt {self.vector} {x}, {y}")
        return self.code.let(
            f"select {self.tiles.test} {above}, {self.vector} {x}, {self.vector} {y}"
        )

    def gradient(self) -> Code:
        """Each window's gradient at its first maximum; inputs: images, maxima, gradients."""
        code, given = self.code, self.given
        images, maxima, gradients = (self.pointer("%ins", i) for i in range(3))
        out = self.pointer("%outs", 0)
        bytes_ = code.integer("mul", self.size("height", "width"), 4)
        with code.loop("%from", "%to") as number:
            image = self.image(images, number, "height", "width")
            result = self.image(out, number, "height", "width")
            code.call(
                "void", "llvm.memset.p0.i64",
                ("ptr", result), ("i8", "0"), ("i64", bytes_), ("i1", "false"),
            )  # fmt: skip
            found = [self.image(d, number, "out_height", "out_width") for d in (maxima, gradients)]  # fmt: skip
            with code.loop("0", given["out_height"]) as y, code.loop("0", given["out_width"]) as x:  # fmt: skip
                top, i0, i1 = self.reach(y, "y")
                left, j0, j1 = self.reach(x, "x")
                with code.loop("0", given["channels"], self.tiles.lanes) as c:
                    mask = self.tiles.mask(code, c, given["channels"])
                    most, slope = (
                        self.tiles.read(code, self.pixel(d, y, x, "out_width", c), mask)
                        for d in found
                    )
                    with code.carrying(i0, i1, 1, (self.tiles.test, mask)) as down:
                        with code.carrying(j0, j1, 1, (self.tiles.test, down.values[0])) as across:  # fmt: skip
                            row = code.integer("add", top, down.index)
                            column = code.integer("add", left, across.index)
                            at = [self.pixel(d, row, column, "width", c) for d in (image, result)]  # fmt: skip
                            left_over = self.given_to(at, most, slope, across.values[0])
                            across.following = [left_over]
                        down.following = across.values
        code.do("ret void")
        return code

    def given_to(self, at: list[str], most: str, slope: str, free: str) -> str:
        """Adds the gradient where a pixel is the maximum and none was found; what stays free."""
        code, test = self.code, self.tiles.test
        seen = self.tiles.read(code, at[0], free)
        hit = code.let(f"fcmp oeq {self.vector} {seen}, {most}")
        hit = code.let(f"and {test} {hit}, {free}")
        before = self.tiles.read(code, at[1], hit)
        total = code.let(f"fadd {self.vector} {before}, {slope}")
        self.tiles.write(code, total, at[1], hit)
        return code.let(f"xor {test} {free}, {hit}")


_lock = threading.Lock()
_entries: dict[str, entry.Entry] = {}


def _entry(name: str) -> entry.Entry:
    """The compiled kernels, `maximum` or `maximum_gradient`, on all threads."""
    with _lock:
        if not _entries:
            written = {
                "maximum": (_Writer("maximum").forward(), 1),
                "maximum_gradient": (_Writer("maximum_gradient").gradient(), 3),
            }
            functions: list[Code] = []
            for kernel, (code, inputs) in written.items():
                functions += [
                    code,
                    entry.write_part(kernel, 1),
                    entry.write_shared(kernel, 1, pool()),
                    entry.write(f"{kernel}_shared", inputs, 1),
                ]
            made = llvm.Module(module(functions))
            for kernel in written:
                address = made.address(f"{kernel}_shared_entry")
                _entries[kernel] = entry.Entry(address, made)
    return _entries[name]


def maximum(w: Windows) -> Callable[[Any], Any] | None:
    """The greatest element of each window: images to the result."""
    if not entry.AVAILABLE or min(w[:8]) < 1:
        return None
    kernel = _entry("maximum").for_dims(w)
    return entry.filling(kernel, (w.images, w.out_height, w.out_width, w.channels))


def maximum_gradient(w: Windows) -> Callable[[Any, Any, Any], Any] | None:
    """The gradient by the images: (images, maxima, gradients) to it."""
    if not entry.AVAILABLE or min(w[:8]) < 1:
        return None
    kernel = _entry("maximum_gradient").for_dims(w)
    return entry.filling(kernel, (w.images, w.height, w.width, w.channels))
