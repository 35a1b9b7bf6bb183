"""Convolutions whose windows are one pixel each and leave pixels out: products of those they take.

The pixels are copied to where they follow each other, which is little beside the product.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native import entry, matmul
from intaglio.native.chains import Chain
from intaglio.native.code import Code
from intaglio.native.convolution import Geometry
from intaglio.native.library import Kernel, Library, Source

# The parts that threads share are images; `bytes` are a pixel's.
DIMS = ("parts", "height", "width", "out_height", "out_width", "stride_y", "stride_x", "bytes")  # fmt: skip


def _taken() -> Code:
    """The pixels that windows take, of the images from `from` to `to`."""
    code = Code("taken", entry.KERNEL)
    given = entry.numbers(code, DIMS)
    source, target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))

    def place(array: str, number: str, y: str, x: str, of: str) -> str:
        row = code.integer("mul", number, given[f"{of}height"])
        row = code.integer("add", row, y)
        pixel = code.integer("mul", row, given[f"{of}width"])
        pixel = code.integer("add", pixel, x)
        return code.at("i8", array, code.integer("mul", pixel, given["bytes"]))

    with (
        code.loop("%from", "%to") as number,
        code.loop("0", given["out_height"]) as y,
        code.loop("0", given["out_width"]) as x,
    ):
        down = code.integer("mul", y, given["stride_y"])
        across = code.integer("mul", x, given["stride_x"])
        to = place(target, number, y, x, "out_")
        pixel = place(source, number, down, across, "")
        code.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", to), ("ptr", pixel), ("i64", given["bytes"]), ("i1", "false"))  # fmt: skip
    code.do("ret void")
    return code


LIBRARY = Library(lambda: Source([Kernel(_taken(), 1)]))


def fits(g: Geometry) -> bool:
    """True for such windows, over images that are not padded."""
    inside = g.top == g.left == 0 and (g.out_height - 1) * g.stride_y < g.height
    one = g.window_height == g.window_width == 1 and not g.solid
    strides = (g.stride_y, g.stride_x) != (1, 1)
    return one and strides and inside and (g.out_width - 1) * g.stride_x < g.width


def forward(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """The convolution: (images, filters) to the result."""
    filters = (g.channels, g.filters)
    product = functools.partial(
        matmul.product, (_pixels(g), g.channels), filters, shape=g.shape
    )
    return _chained(g, product, dtype)


def by_filters(
    g: Geometry, dtype: Any = np.float32
) -> Callable[[Any, Any], Any] | None:
    """The gradient by the filters: (images, gradients) to it."""
    pixels, shape = _pixels(g), (*g.window, g.channels, g.filters)
    product = functools.partial(
        matmul.product, (pixels, g.channels), (pixels, g.filters), transpose_a=True,
        shape=shape,
    )  # fmt: skip
    return _chained(g, product, dtype)


def _pixels(g: Geometry) -> int:
    return math.prod(g.shape[:-1])


def _chained(
    g: Geometry, product: Callable[..., Any], dtype: Any
) -> Callable[[Any, Any], Any] | None:
    """What takes the pixels and multiplies them with the other array."""
    if not entry.AVAILABLE or g.empty or not fits(g):
        return None
    run = product(dtype=dtype)
    if run is None:
        return None
    size = g.channels * np.dtype(dtype).itemsize
    dims = (g.images, g.height, g.width, g.out_height, g.out_width, g.stride_y, g.stride_x, size)  # fmt: skip
    shape = (_pixels(g), g.channels)
    taken = entry.filling(LIBRARY.entry("taken").for_dims(dims), shape, dtype)
    chain = Chain(2)
    (result,) = chain.then(run, *chain.then(taken, 0), 1)
    return chain.giving(result)
