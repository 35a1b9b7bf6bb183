"""Input gradients of convolutions by col2im: gradients of windows are added to their pixels.

The product of a window's gradients with the filters is the window's contribution to each of its
pixels; contributions of overlapping windows are added. All lanes are used whatever the strides and
however few the channels: a row of a window is contiguous in the products and in the image.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels import convolution, matmul
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Left, Right, Tiles, tiles_for
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Kind
from intaglio.native.runtime import entry

# Elements of the products that a thread buffers; up to the larger limit for a single window.
INITIAL_COLUMNS, SCRATCH_SIZE = 1 << 15, 1 << 17
# Up to so many elements, all products are buffered and computed as one product of matrices.
MAX_PRODUCT_ELEMENTS = 1 << 21
# Filters with more elements leave the caches while a few rows of windows are computed.
LARGE_FILTER_ELEMENTS = 1 << 20
# Threads divide the images. A window has `size` elements; products of `band` rows of windows, or of
# `span` windows of a row, are buffered at a time.
DIMS = ("parts", *Geometry._fields, "size", "band", "span")


def _times(code: Code, dims: dict[str, str], *names: str) -> str:
    size = "1"
    for name in names:
        size = code.integer("mul", size, dims[name])
    return size


def _zeroed(code: Code, tiles: Tiles, dims: dict[str, str], number: str) -> str:
    """An image, or volume, of the result, filled with zeros."""
    size = _times(code, dims, "depth", "height", "width", "channels")
    image = tiles.step(code, code.load("ptr", "%outs", 8), number, size)
    count = code.integer("mul", size, tiles.kind.bytes)
    code.zero(image, count)
    return image


def _add(
    code: Code,
    tiles: Tiles,
    dims: dict[str, str],
    products: str,
    image: str,
    z: str,
    rows: tuple[str, str],
    columns: tuple[str, str],
) -> None:
    """Adds the products of a band to the pixels of its windows.

    `z` is the depth of its windows in the result; the others are the first row and the number of rows,
    and likewise the columns.
    """
    (y, height), (x, width) = rows, columns
    line = code.integer("mul", width, dims["size"])
    nearest = code.integer("sub", code.integer("mul", z, dims["stride_z"]), dims["front"])
    plane = _times(code, dims, "height", "width", "channels")
    dense = code.integer("icmp eq", dims["apart_x"], 1)
    apart = code.let(f"xor i1 {dense}, true")
    with code.loop("0", height) as r, code.loop("0", width) as c:
        top = code.integer("mul", code.integer("add", y, r), dims["stride_y"])
        top = code.integer("sub", top, dims["top"])
        left = code.integer("mul", code.integer("add", x, c), dims["stride_x"])
        left = code.integer("sub", left, dims["left"])
        window = tiles.step(code, tiles.step(code, products, r, line), c, dims["size"])
        with code.loop("0", dims["window_depth"]) as k, code.loop("0", dims["window_height"]) as i:
            at = code.integer("add", nearest, code.integer("mul", k, dims["apart_z"]))
            row = code.integer("add", top, code.integer("mul", i, dims["apart_y"]))
            # The comparisons are unsigned: what is before the image is too large.
            inside = [
                code.integer("icmp ult", n, dims[size])
                for n, size in ((at, "depth"), (row, "height"))
            ]
            taps = code.integer("add", code.integer("mul", k, dims["window_height"]), i)
            taps = code.integer("mul", taps, _times(code, dims, "window_width", "channels"))
            source = code.at(tiles.kind.llvm, window, taps)
            target = tiles.step(code, image, at, plane)
            target = tiles.step(code, target, row, _times(code, dims, "width", "channels"))
            with code.when(code.let(f"and i1 {inside[0]}, {inside[1]}")):
                with code.when(dense):
                    _add_dense_row(code, tiles, dims, source, target, left)
                with code.when(apart):
                    _add_pixels(code, tiles, dims, source, target, left)


def _add_dense_row(
    code: Code, tiles: Tiles, dims: dict[str, str], source: str, target: str, left: str
) -> None:
    """Adds a row of a window that begins with column `left` of a row of the image."""
    outside = code.integer("sub", 0, left)
    none = code.integer("icmp slt", outside, 0)
    first = code.let(f"select i1 {none}, i64 0, i64 {outside}")
    rest = code.integer("sub", dims["width"], left)
    seen = code.integer("sub", code.least(dims["window_width"], rest), first)
    count = code.integer("mul", seen, dims["channels"])
    source = tiles.step(code, source, first, dims["channels"])
    target = tiles.step(code, target, code.integer("add", left, first), dims["channels"])
    _add_run(code, tiles, source, target, count)


def _add_pixels(
    code: Code, tiles: Tiles, dims: dict[str, str], source: str, target: str, left: str
) -> None:
    """The same for a row of a window whose pixels are apart."""
    with code.loop("0", dims["window_width"]) as j:
        column = code.integer("add", left, code.integer("mul", j, dims["apart_x"]))
        with code.when(code.integer("icmp ult", column, dims["width"])):
            pixel, there = (
                tiles.step(code, array, n, dims["channels"])
                for array, n in ((source, j), (target, column))
            )
            _add_run(code, tiles, pixel, there, dims["channels"])


def _add_run(code: Code, tiles: Tiles, source: str, target: str, count: str) -> None:
    with code.loop("0", count, tiles.lanes) as c:
        mask = tiles.mask(code, c, count)
        pointer = code.at(tiles.kind.llvm, target, c)
        before = tiles.read(code, pointer, mask)
        more = tiles.read(code, code.at(tiles.kind.llvm, source, c), mask)
        total = code.let(f"fadd {tiles.vector} {before}, {more}")
        tiles.write(code, total, pointer, mask)


def _scatter_windows(tiles: Tiles) -> Code:
    """(gradients, filters transposed) to the images: products of some rows, which are then
    scattered."""
    code, kind = Code("col2im", entry.KERNEL), tiles.kind.llvm
    dims = entry.load_dims(code, DIMS)
    scratch = code.let(f"alloca [{SCRATCH_SIZE} x {kind}], align 64")
    gradients, filters = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    columns, line = dims["size"], _times(code, dims, "out_width", "filters")
    size = code.integer("mul", line, dims["out_height"])
    with code.loop("%from", "%to") as number:
        image = _zeroed(code, tiles, dims, number)
        first = code.integer("mul", number, dims["out_depth"])
        with (
            code.loop("0", dims["out_depth"]) as z,
            code.loop("0", dims["out_height"], dims["band"]) as y,
            code.loop("0", dims["out_width"], dims["span"]) as x,
        ):
            gradient = tiles.step(code, gradients, code.integer("add", first, z), size)
            gradient = tiles.step(code, gradient, y, line)
            rows = code.least(dims["band"], code.integer("sub", dims["out_height"], y))
            across = code.least(dims["span"], code.integer("sub", dims["out_width"], x))
            pixels = code.integer("mul", rows, across)
            left = Left(tiles.step(code, gradient, x, dims["filters"]), dims["filters"], "1", "0")
            with code.loop("0", columns, tiles.width) as j:
                width = code.least(tiles.width, code.integer("sub", columns, j))
                right = Right(code.at(kind, filters, j), columns)
                target = Right(code.at(kind, scratch, j), columns)
                sizes = (width, dims["filters"], "1")
                tiles.product(code, ("0", pixels), left, right, target, sizes, "true")
            _add(code, tiles, dims, scratch, image, z, (y, rows), (x, across))
    code.do("ret void")
    return code


def _added(tiles: Tiles) -> Code:
    """Scatters the products of all windows to the images."""
    code = Code("added", entry.KERNEL)
    dims = entry.load_dims(code, DIMS)
    products = code.load("ptr", "%ins", 8)
    size = _times(code, dims, "out_height", "out_width", "size")
    with code.loop("%from", "%to") as number:
        image = _zeroed(code, tiles, dims, number)
        first = code.integer("mul", number, dims["out_depth"])
        with code.loop("0", dims["out_depth"]) as z:
            part = tiles.step(code, products, code.integer("add", first, z), size)
            whole = ("0", dims["out_height"]), ("0", dims["out_width"])
            _add(code, tiles, dims, part, image, z, *whole)
    code.do("ret void")
    return code


def _source(kind: Kind) -> Source:
    tiles = Tiles(kind)
    kernels = [Kernel(_scatter_windows(tiles), 2), Kernel(_added(tiles), 1)]
    return Source(kernels, table=tiles.table())


# By the types of the elements.
KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE}
LIBRARIES = {dtype: Library(functools.partial(_source, kind)) for dtype, kind in KINDS.items()}


def _images(name: str, g: Geometry, dtype: Any, band: int, span: int) -> Any:
    size = math.prod(g.window) * g.channels
    tiles = tiles_for(size, KINDS[np.dtype(dtype)])
    function = LIBRARIES[np.dtype(dtype)].entry(name, table_entries=tiles)
    kernel = function.for_dims((g.images, *g, size, band, span))
    deep = (g.depth,) if g.solid else ()
    return entry.filling(kernel, (g.images, *deep, g.height, g.width, g.channels), dtype)


def input_gradient(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """(filters, gradients) to the input gradient; None where another kernel is faster."""
    large = math.prod(g.window) * g.channels * g.filters >= LARGE_FILTER_ELEMENTS
    return input_gradient_at_once(g, dtype) if large else input_gradient_by_rows(g, dtype)


def input_gradient_by_rows(
    g: Geometry, dtype: Any = np.float32
) -> Callable[[Any, Any], Any] | None:
    """(filters, gradients) to the input gradient, a few rows of windows at a time, or a part of a row.
    None where the products of one window exceed the buffer."""
    size = math.prod(g.window) * g.channels
    if not entry.AVAILABLE or g.empty or size > SCRATCH_SIZE:
        return None
    band, span = min(g.out_height, INITIAL_COLUMNS // (size * g.out_width)), g.out_width
    if not band:
        band, span = 1, min(max(INITIAL_COLUMNS // size, 1), g.out_width)
    transposed = entry.filling(
        convolution.LIBRARIES[np.dtype(dtype)]
        .entry("transposed", shared=False, table_entries=())
        .for_dims((1, size, g.filters)),
        (g.filters, size),
        dtype,
    )
    chain = Chain(2)
    (result,) = chain.then(_images("col2im", g, dtype, band, span), 1, *chain.then(transposed, 0))
    return chain.returning(result)


def input_gradient_at_once(
    g: Geometry, dtype: Any = np.float32
) -> Callable[[Any, Any], Any] | None:
    """The same by one product of matrices, for few windows: large filters are read once and in
    order.

    None where the products exceed the buffer.
    """
    size = math.prod(g.window) * g.channels
    pixels = g.images * g.out_depth * g.out_height * g.out_width
    if not entry.AVAILABLE or g.empty or pixels * size > MAX_PRODUCT_ELEMENTS:
        return None
    product = matmul.product((pixels, g.filters), (size, g.filters), transpose_b=True, dtype=dtype)
    if product is None:
        return None
    chain = Chain(2)
    whole = _images("added", g, dtype, g.out_height, g.out_width)
    (result,) = chain.then(whole, *chain.then(product, 1, 0))
    return chain.returning(result)
