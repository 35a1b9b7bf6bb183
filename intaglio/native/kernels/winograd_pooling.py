"""3x3 convolutions whose results are pooled while they are in registers.

A tile has one 2x2 window of results, or several whole ones. Images that end within a tile have
other kernels.
"""

from __future__ import annotations

import functools

import numpy as np

from intaglio.native.kernels import tap_convolution
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import TILE_VECTORS
from intaglio.native.kernels.pooling_epilogue import WORDS, Pool, Pooling
from intaglio.native.kernels.sequence import Chain
from intaglio.native.kernels.winograd import (
    WinogradBuilder,
    blocked,
    cells_table,
    dims_of,
    tiles_of,
    transformed,
)
from intaglio.native.kernels.winograd_blocks import DIMS, Pointers, panel_widths
from intaglio.native.kernels.winograd_transforms import F2_TRANSFORM, Transform
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry


class _PoolingWinogradBuilder(WinogradBuilder):
    """Emits the kernel, with the epilogue of `Pooling`."""

    dims = (*DIMS, *WORDS)
    flags_output = 3

    def results(
        self,
        code: Code,
        dims: dict[str, str],
        pixels: list[str],
        tile: str,
        pointers: Pointers,
        c: str,
        mask: str,
    ) -> None:
        """Pools the results of a tile, and stores them too if they are requested."""
        pool, side = Pool(code, self.tiles, dims), self.transform.step
        with code.when(pool.flags["whole"]):
            super().results(code, dims, pixels, tile, pointers, c, mask)
        # Tiles, and windows, are counted through all images.
        row, column = (code.integer(word, tile, dims["columns"]) for word in ("sdiv", "srem"))
        windows = side // 2
        across = code.integer("mul", dims["columns"], windows)
        for i in range(windows):
            y = code.integer("add", code.integer("mul", row, windows), i)
            for j in range(windows):
                x = code.integer("add", code.integer("mul", column, windows), j)
                pixel = code.integer("add", code.integer("mul", y, across), x)
                at = code.integer("mul", pixel, dims["filters"])
                at = code.integer("add", code.integer("add", at, "%column"), c)
                corner = 2 * (i * side + j)
                beside = (0, 1, side, side + 1)
                pool.write([pixels[corner + step] for step in beside], at, mask)


def _source(transform: Transform) -> Source:
    writer = _PoolingWinogradBuilder(transform)
    gather = writer.gather("gather", "", transform.seen, transform.of_pixels)
    kernel = Kernel(writer.winograd("pooled"), 3, 4)
    return Source([kernel], [gather, writer.scatter()], table=cells_table())


@functools.cache
def _library(transform: Transform) -> Library:
    return Library(lambda: _source(transform))


def forward(
    g: Geometry, pooling: Pooling, transform: Transform = F2_TRANSFORM, relu: bool = False
) -> Chain | None:
    """(images, filters, bias) to the results that `Pooling` selects. None if the kernel does not apply."""
    block = blocked(g, transform)
    if not block or g.out_height % transform.step or g.out_width % transform.step:
        return None
    dims = dims_of(g, transform, block, relu)
    blocks = -(-tiles_of(g, transform) // block)
    numbers = (blocks, *dims, *pooling)
    widths = panel_widths(g.filters, TILE_VECTORS)
    kernel = _library(transform).entry("pooled", table_entries=widths).for_dims(numbers)
    chain = Chain(3)
    filters = chain.then(transformed(g, transform, False, dims), 1)
    results = [*pooling.results(g.shape), ((blocks,), np.dtype(np.int64))]
    *outputs, number = chain.then(entry.filling_all(kernel, results), 0, *filters, 2)
    flags = tap_convolution.Flags(number, blocks)
    arrays = (0, 1, 2, *outputs)
    tap_convolution.then_taps(chain, "pooled", g, flags, arrays, relu=relu, pooling=pooling)
    return chain.returning([outputs[i] for i in pooling.requested])
