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

# Elements of the products that a thread buffers; up to the larger limit for a single row, if there
# are images for several threads.
INITIAL_COLUMNS, SCRATCH_BYTES = 1 << 15, 1 << 17
# Up to so many elements, all products are buffered and computed as one product of matrices.
MAX_PRODUCT_ELEMENTS = 1 << 21
# Filters with more elements leave the caches while a few rows of windows are computed.
LARGE_FILTER_ELEMENTS = 1 << 20
# Threads divide the images. A window has `size` elements; products of `band` rows of windows are
# buffered at a time.
DIMS = ("parts", *Geometry._fields, "size", "band")


def _times(code: Code, dims: dict[str, str], *names: str) -> str:
    size = "1"
    for name in names:
        size = code.integer("mul", size, dims[name])
    return size


def _zeroed(code: Code, tiles: Tiles, dims: dict[str, str], number: str) -> str:
    """An image of the result, filled with zeros."""
    size = _times(code, dims, "height", "width", "channels")
    image = tiles.step(code, code.load("ptr", "%outs", 8), number, size)
    count = code.integer("mul", size, tiles.kind.bytes)
    code.zero(image, count)
    return image


def _add(
    code: Code, tiles: Tiles, dims: dict[str, str], products: str, image: str, y: str, rows: str
) -> None:
    """Adds the products of some rows of windows, from row `y` on, to their pixels."""
    line = _times(code, dims, "out_width", "size")
    with code.loop("0", rows) as r, code.loop("0", dims["out_width"]) as x:
        down = code.integer("mul", code.integer("add", y, r), dims["stride_y"])
        top = code.integer("sub", down, dims["top"])
        left = code.integer("mul", x, dims["stride_x"])
        left = code.integer("sub", left, dims["left"])
        # The columns of the window that are inside the image.
        outside = code.integer("sub", 0, left)
        none = code.integer("icmp slt", outside, 0)
        first = code.let(f"select i1 {none}, i64 0, i64 {outside}")
        rest = code.integer("sub", dims["width"], left)
        seen = code.integer("sub", code.least(dims["window_width"], rest), first)
        count = code.integer("mul", seen, dims["channels"])
        window = tiles.step(code, tiles.step(code, products, r, line), x, dims["size"])
        with code.loop("0", dims["window_height"]) as i:
            row = code.integer("add", top, i)
            # The comparison is unsigned: rows above the image are too large.
            with code.when(code.integer("icmp ult", row, dims["height"])):
                tap = code.integer("mul", i, dims["window_width"])
                pixel = code.integer("mul", row, dims["width"])
                source, target = (
                    tiles.step(code, array, code.integer("add", before, start), dims["channels"])
                    for array, before, start in (
                        (window, tap, first),
                        (image, pixel, code.integer("add", left, first)),
                    )
                )
                _add_run(code, tiles, source, target, count)


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
    scratch = code.let(f"alloca [{SCRATCH_BYTES} x {kind}], align 64")
    gradients, filters = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    columns, line = dims["size"], _times(code, dims, "out_width", "filters")
    size = code.integer("mul", line, dims["out_height"])
    with code.loop("%from", "%to") as number:
        image = _zeroed(code, tiles, dims, number)
        gradient = tiles.step(code, gradients, number, size)
        with code.loop("0", dims["out_height"], dims["band"]) as y:
            rows = code.least(dims["band"], code.integer("sub", dims["out_height"], y))
            pixels = code.integer("mul", rows, dims["out_width"])
            left = Left(tiles.step(code, gradient, y, line), dims["filters"], "1", "0")
            with code.loop("0", columns, tiles.width) as j:
                width = code.least(tiles.width, code.integer("sub", columns, j))
                right = Right(code.at(kind, filters, j), columns)
                target = Right(code.at(kind, scratch, j), columns)
                sizes = (width, dims["filters"], "1")
                tiles.product(code, ("0", pixels), left, right, target, sizes, "true")
            _add(code, tiles, dims, scratch, image, y, rows)
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
        part = tiles.step(code, products, number, size)
        _add(code, tiles, dims, part, image, "0", dims["out_height"])
    code.do("ret void")
    return code


def _source(kind: Kind) -> Source:
    tiles = Tiles(kind)
    kernels = [Kernel(_scatter_windows(tiles), 2), Kernel(_added(tiles), 1)]
    return Source(kernels, table=tiles.table())


# By the types of the elements.
KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE}
LIBRARIES = {dtype: Library(functools.partial(_source, kind)) for dtype, kind in KINDS.items()}


def _images(name: str, g: Geometry, dtype: Any, band: int) -> Any:
    size = math.prod(g.window) * g.channels
    tiles = tiles_for(size, KINDS[np.dtype(dtype)])
    function = LIBRARIES[np.dtype(dtype)].entry(name, table_entries=tiles)
    kernel = function.for_dims((g.images, *g, size, band))
    return entry.filling(kernel, (g.images, g.height, g.width, g.channels), dtype)


def input_gradient(g: Geometry, dtype: Any = np.float32) -> Callable[[Any, Any], Any] | None:
    """(filters, gradients) to the input gradient; None where another kernel is faster."""
    large = math.prod(g.window) * g.channels * g.filters >= LARGE_FILTER_ELEMENTS
    return input_gradient_at_once(g, dtype) if large else input_gradient_by_rows(g, dtype)


def input_gradient_by_rows(
    g: Geometry, dtype: Any = np.float32
) -> Callable[[Any, Any], Any] | None:
    """(filters, gradients) to the input gradient, for undilated windows, a few rows of windows at a
    time. None where the products of one row exceed the buffer."""
    size = math.prod(g.window) * g.channels
    row = max(size * g.out_width, 1)
    band = min(g.out_height, INITIAL_COLUMNS // row) or int(g.images > 1 and row <= SCRATCH_BYTES)
    if not entry.AVAILABLE or g.empty or not g.plain or not band:
        return None
    transposed = entry.filling(
        convolution.LIBRARIES[np.dtype(dtype)]
        .entry("transposed", shared=False, table_entries=())
        .for_dims((1, size, g.filters)),
        (g.filters, size),
        dtype,
    )
    chain = Chain(2)
    (result,) = chain.then(_images("col2im", g, dtype, band), 1, *chain.then(transposed, 0))
    return chain.returning(result)


def input_gradient_at_once(
    g: Geometry, dtype: Any = np.float32
) -> Callable[[Any, Any], Any] | None:
    """The same by one product of matrices, for few windows: large filters are read once and in
    order.

    None where the products exceed the buffer.
    """
    size = math.prod(g.window) * g.channels
    pixels = g.images * g.out_height * g.out_width
    if not entry.AVAILABLE or g.empty or not g.plain or pixels * size > MAX_PRODUCT_ELEMENTS:
        return None
    product = matmul.product((pixels, g.filters), (size, g.filters), transpose_b=True, dtype=dtype)
    if product is None:
        return None
    chain = Chain(2)
    (result,) = chain.then(_images("added", g, dtype, g.out_height), *chain.then(product, 1, 0))
    return chain.returning(result)
