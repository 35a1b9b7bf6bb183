"""Convolutions as one product of matrices (im2col): windows are copied to consecutive rows.

It is used where the copies are small beside the product: for 1x1 windows with strides, and for few
pixels of many channels, whose filters are larger than the images.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels import matmul
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry

# Threads divide the windows; `bytes` is the size of a pixel.
DIMS = (
    "parts",
    "height",
    "width",
    "out_height",
    "out_width",
    "window_height",
    "window_width",
    "stride_y",
    "stride_x",
    "top",
    "left",
    "apart_y",
    "apart_x",
    "bytes",
)


def _copied() -> Code:
    """The windows from `from` to `to`, counted through all images."""
    code = Code("copied", entry.KERNEL)
    dims = entry.load_dims(code, DIMS)
    source, target = (code.load("ptr", array, 8) for array in ("%ins", "%outs"))
    size = code.integer("mul", dims["window_height"], dims["window_width"])

    def start(at: str, axis: str, before: str) -> str:
        first = code.integer("mul", at, dims[f"stride_{axis}"])
        return code.integer("sub", first, dims[before])

    with code.loop("%from", "%to") as window:
        row = code.integer("sdiv", window, dims["out_width"])
        x = code.integer("srem", window, dims["out_width"])
        number = code.integer("sdiv", row, dims["out_height"])
        y = code.integer("srem", row, dims["out_height"])
        image = code.integer("mul", number, dims["height"])
        top, left = start(y, "y", "top"), start(x, "x", "left")
        before = code.integer("mul", window, size)
        with code.loop("0", dims["window_height"]) as i, code.loop("0", dims["window_width"]) as j:
            at = code.integer("add", code.integer("mul", i, dims["window_width"]), j)
            to = code.integer("mul", code.integer("add", before, at), dims["bytes"])
            to = code.at("i8", target, to)
            down = code.integer("add", top, code.integer("mul", i, dims["apart_y"]))
            across = code.integer("add", left, code.integer("mul", j, dims["apart_x"]))
            # The comparison is unsigned: indices before the first are too large.
            there = [
                code.integer("icmp ult", down, dims["height"]),
                code.integer("icmp ult", across, dims["width"]),
            ]
            inside = code.let(f"and i1 {there[0]}, {there[1]}")
            with code.when(inside):
                pixel = code.integer("add", image, down)
                pixel = code.integer("mul", pixel, dims["width"])
                pixel = code.integer("add", pixel, across)
                seen = code.at("i8", source, code.integer("mul", pixel, dims["bytes"]))
                code.copy(to, seen, dims["bytes"])
            with code.when(code.let(f"xor i1 {inside}, true")):
                code.zero(to, dims["bytes"])
    code.do("ret void")
    return code


LIBRARY = Library(lambda: Source([Kernel(_copied(), 1)]))


def skips(g: Geometry) -> bool:
    """True for 1x1 windows with strides over images without padding."""
    inside = g.top == g.left == 0 and (g.out_height - 1) * g.stride_y < g.height
    one = g.window_height == g.window_width == 1 and not g.solid
    strides = (g.stride_y, g.stride_x) != (1, 1)
    return one and strides and inside and (g.out_width - 1) * g.stride_x < g.width


def forward(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """The convolution: (images, filters) to the result. None for volumes."""
    product = functools.partial(
        matmul.product, _matrix(g), (_matrix(g)[1], g.filters), shape=g.shape
    )
    return _chained(g, product, dtype)


def filter_gradient(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """The filter gradient: (images, gradients) to it. None for volumes."""
    left, shape = _matrix(g), (*g.window, g.channels, g.filters)
    right = (left[0], g.filters)
    product = functools.partial(matmul.product, left, right, transpose_a=True, shape=shape)
    return _chained(g, product, dtype)


def _matrix(g: Geometry) -> tuple[int, int]:
    """The number of windows, and the elements of each."""
    return math.prod(g.shape[:-1]), math.prod(g.window) * g.channels


def _chained(
    g: Geometry, product: Callable[..., Any], dtype: Any
) -> Callable[[Any, Any], Any] | None:
    """Copies the windows and multiplies them with the other array."""
    if not entry.AVAILABLE or g.empty or g.solid:
        return None
    run = product(dtype=dtype)
    if run is None:
        return None
    windows, _ = shape = _matrix(g)
    dims = (
        windows,
        g.height,
        g.width,
        g.out_height,
        g.out_width,
        g.window_height,
        g.window_width,
        g.stride_y,
        g.stride_x,
        g.top,
        g.left,
        g.apart_y,
        g.apart_x,
        g.channels * np.dtype(dtype).itemsize,
    )
    copied = entry.filling(LIBRARY.entry("copied").for_dims(dims), shape, dtype)
    chain = Chain(2)
    (result,) = chain.then(run, *chain.then(copied, 0), 1)
    return chain.returning(result)
