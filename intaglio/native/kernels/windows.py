"""Windows that slide over channels-last images: what pooling and depthwise convolution share."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT
from intaglio.native.runtime import entry

# The dims of the kernels; threads divide the first, the images or the taps of a window.
DIMS = (
    "parts", "images", "height", "width", "channels", "out_height", "out_width",
    "window_height", "window_width", "stride_y", "stride_x", "top", "left", "apart_y", "apart_x",
)  # fmt: skip


class Windows(NamedTuple):
    """The images, windows and strides of an op with windows over channels-last images."""

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
    apart_y: int = 1
    apart_x: int = 1

    @property
    def in_shape(self) -> tuple[int, ...]:
        """The shape of the images."""
        return self[:4]

    @property
    def out_shape(self) -> tuple[int, ...]:
        """The shape of arrays with an element for each window."""
        return (self.images, self.out_height, self.out_width, self.channels)

    @property
    def empty(self) -> bool:
        """True if the result is empty."""
        return min(self[:8]) < 1


class Window(NamedTuple):
    """The first element of a window along an axis, and its range inside the image."""

    start: str
    first: str
    last: str


# Along each axis: stride, padding before, and the sizes of window and image.
AXES = {
    "y": ("stride_y", "top", "window_height", "height"),
    "x": ("stride_x", "left", "window_width", "width"),
}


class Sliding:
    """Emits a kernel whose loops go over images, windows and vectors of channels.

    `gaps`: windows may be dilated.
    """

    def __init__(self, name: str, gaps: bool = False) -> None:
        self.gaps = gaps
        self.code = Code(name, entry.KERNEL)
        self.tiles = Tiles(FLOAT)
        self.dims = entry.load_dims(self.code, DIMS)
        self.vector, self.test = self.tiles.vector, self.tiles.test

    def pointer(self, array: str, index: int) -> str:
        """The data of an input or output."""
        return self.code.load("ptr", self.code.at("ptr", array, str(index)), 8)

    def image(self, data: str, number: str, of: str = "") -> str:
        """The pointer to an image, of the inputs or, with `of` "out_", of the outputs."""
        return self.tiles.step(self.code, data, number, self.size(of))

    def size(self, of: str = "") -> str:
        """The number of elements of an image."""
        code, dims = self.code, self.dims
        rows = code.integer("mul", dims[f"{of}height"], dims[f"{of}width"])
        return code.integer("mul", rows, dims["channels"])

    def pixel(self, image: str, y: str, x: str, channel: str, of: str = "") -> str:
        """The pointer to a channel of a pixel."""
        code = self.code
        row = code.integer("add", code.integer("mul", y, self.dims[f"{of}width"]), x)
        first = code.integer("mul", row, self.dims["channels"])
        return code.at("float", image, code.integer("add", first, channel))

    @contextmanager
    def windows(self) -> Generator[tuple[str, str, Window, Window]]:
        """For every window of an image: its index in the result, and the pixels it covers."""
        code = self.code
        with code.loop("0", self.dims["out_height"]) as y:
            down = self.reach(y, "y")
            with code.loop("0", self.dims["out_width"]) as x:
                yield y, x, down, self.reach(x, "x")

    @contextmanager
    def channels(self) -> Generator[tuple[str, str]]:
        """For every vector of channels: the first, and the mask of existing ones."""
        with self.code.loop("0", self.dims["channels"], self.tiles.lanes) as c:
            yield c, self.tiles.mask(self.code, c, self.dims["channels"])

    def vectors(self, body: Callable[[str, str], None]) -> None:
        """Calls `body(first, mask)` for whole vectors of channels, without mask, and for the
        remainder."""
        self.tiles.vectors(self.code, self.dims["channels"], body)

    def reach(self, at: str, axis: str) -> Window:
        """The window of output `at` along an axis."""
        stride, before, window, size = AXES[axis]
        code, dims = self.code, self.dims
        start = code.integer("sub", code.integer("mul", at, dims[stride]), dims[before])
        outside = code.integer("sub", 0, start)
        negative = code.integer("icmp slt", outside, 0)
        first = code.let(f"select i1 {negative}, i64 0, i64 {outside}")
        last = code.integer("sub", dims[size], start)
        if self.gaps:
            first, last = (self._divided(n, dims[f"apart_{axis}"]) for n in (first, last))
        return Window(start, first, code.least(dims[window], last))

    def _divided(self, count: str, step: str) -> str:
        """The count divided by the step, rounded up."""
        more = self.code.integer("add", count, self.code.integer("sub", step, 1))
        return self.code.integer("sdiv", more, step)

    def inside(self, axis: str, first: str, last: str) -> tuple[str, str]:
        """The range of windows along an axis whose elements from `first` to `last` are in the
        image: the first, and that after the last."""
        stride, before, _, size = AXES[axis]
        code, dims = self.code, self.dims
        apart, out = dims[f"apart_{axis}"], dims[f"out_{size}"]
        ahead = code.integer("sub", dims[before], code.integer("mul", first, apart))
        none = code.integer("icmp slt", ahead, 0)
        start = self._divided(code.let(f"select i1 {none}, i64 0, i64 {ahead}"), dims[stride])
        beyond = code.integer("add", dims[size], dims[before])
        beyond = code.integer("sub", beyond, code.integer("mul", last, apart))
        none = code.integer("icmp slt", beyond, 0)
        stop = self._divided(code.let(f"select i1 {none}, i64 0, i64 {beyond}"), dims[stride])
        stop = code.least(stop, out)
        return code.least(start, stop), stop

    def at(self, start: str, index: str, axis: str) -> str:
        """The row or column of a window's element."""
        if self.gaps:
            index = self.code.integer("mul", index, self.dims[f"apart_{axis}"])
        return self.code.integer("add", start, index)

    def over(
        self,
        down: Window,
        across: Window,
        kind: str,
        start: str,
        step: Callable[[str, str, str, str, str], str],
    ) -> str:
        """Loops over a window's elements inside the image, row by row.

        `step(i, j, y, x, value)` gets an element's index in the window and in the image, and the
        last step's value; it returns the next.
        """
        code = self.code
        with code.carrying(down.first, down.last, 1, (kind, start)) as rows:
            y = self.at(down.start, rows.index, "y")
            inner = (kind, rows.values[0])
            with code.carrying(across.first, across.last, 1, inner) as columns:
                x = self.at(across.start, columns.index, "x")
                value = columns.values[0]
                columns.following = [step(rows.index, columns.index, y, x, value)]
            rows.following = columns.values
        return rows.values[0]

    def clear(self, image: str) -> None:
        """Fills an image of the inputs' size with zeros."""
        size = self.code.integer("mul", self.size(), 4)
        self.code.zero(image, size)


def library(
    written: dict[str, tuple[Callable[[Sliding], None], int]], outputs: int = 1, gaps: bool = False
) -> Library:
    """The kernels of a table from names to the functions that emit them, and their number of inputs."""

    def source() -> Source:
        kernels: list[Kernel] = []
        for name, (write, inputs) in written.items():
            kernel = Sliding(name, gaps)
            write(kernel)
            kernel.code.do("ret void")
            kernels.append(Kernel(kernel.code, inputs, outputs))
        return Source(kernels)

    return Library(source)
