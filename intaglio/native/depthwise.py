"""Depthwise convolutions of channels-last images in machine code: one filter for each channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native import entry
from intaglio.native.windows import Sliding, Windows, library


def _forward(k: Sliding) -> None:
    """The sum of every window's products with the filters of its channels."""
    images, filters = (k.pointer("%ins", i) for i in (0, 1))
    out, code, channels = k.pointer("%outs", 0), k.code, k.given["channels"]
    with code.loop("%from", "%to") as number:
        image, result = k.image(images, number), k.image(out, number, "out_")
        with k.windows() as (y, x, down, across), k.channels() as (c, mask):

            def added(i: str, j: str, row: str, column: str, total: str) -> str:
                seen = k.tiles.read(code, k.pixel(image, row, column, c), mask)
                at = code.integer("mul", i, k.given["window_width"])
                tap = k.tiles.step(code, filters, code.integer("add", at, j), channels)
                weight = k.tiles.read(code, code.at("float", tap, c), mask)
                return k.tiles.fma(code, seen, weight, total)

            total = k.over(down, across, k.vector, "zeroinitializer", added)
            k.tiles.write(code, total, k.pixel(result, y, x, c, "out_"), mask)


def _by_filters(k: Sliding) -> None:
    """The gradient by the filters, one place of the window after the other.

    A part is such a place: the sum over all images, rows and columns of what lies under it.
    """
    images, gradients = (k.pointer("%ins", i) for i in (0, 1))
    out, code, given = k.pointer("%outs", 0), k.code, k.given
    sums = (k.vector, "zeroinitializer")
    with code.loop("%from", "%to") as place, k.channels() as (c, mask):
        i = code.integer("sdiv", place, given["window_width"])
        j = code.integer("srem", place, given["window_width"])
        with code.carrying("0", given["images"], 1, sums) as all_:
            image = k.image(images, all_.index)
            gradient = k.image(gradients, all_.index, "out_")
            with code.carrying("0", given["out_height"], 1, (k.vector, all_.values[0])) as down:  # fmt: skip
                row = code.integer("add", k.reach(down.index, "y").start, i)
                inside = code.integer("icmp ult", row, given["height"])
                with code.carrying("0", given["out_width"], 1, (k.vector, down.values[0])) as across:  # fmt: skip
                    column = code.integer("add", k.reach(across.index, "x").start, j)
                    within = code.integer("icmp ult", column, given["width"])
                    both = code.splat(k.tiles.lanes, "i1", code.let(f"and i1 {inside}, {within}"))  # fmt: skip
                    there = code.let(f"and {k.test} {both}, {mask}")
                    seen = k.tiles.read(code, k.pixel(image, row, column, c), there)
                    at = k.pixel(gradient, down.index, across.index, c, "out_")
                    slope = k.tiles.read(code, at, mask)
                    across.following = [
                        k.tiles.fma(code, seen, slope, across.values[0])
                    ]
                down.following = across.values
            all_.following = down.values
        target = k.tiles.step(code, out, place, given["channels"])
        k.tiles.write(code, all_.values[0], code.at("float", target, c), mask)


LIBRARY = library(
    {"depthwise": (_forward, 2), "depthwise_by_filters": (_by_filters, 2)}
)


def forward(w: Windows) -> Callable[[Any, Any], Any] | None:
    """The convolution: (images, filters) to the result."""
    if not entry.AVAILABLE or w.empty:
        return None
    kernel = LIBRARY.entry("depthwise").for_dims((w.images, *w))
    return entry.filling(kernel, w.out_shape)


def by_filters(w: Windows) -> Callable[[Any, Any], Any] | None:
    """The gradient by the filters: (images, gradients) to it."""
    if not entry.AVAILABLE or w.empty:
        return None
    parts = w.window_height * w.window_width
    kernel = LIBRARY.entry("depthwise_by_filters").for_dims((parts, *w))
    return entry.filling(kernel, (w.window_height, w.window_width, w.channels))


def by_images(w: Windows) -> Callable[[Any, Any], Any] | None:
    """The gradient by the images: (filters, gradients) to it; None for strides.

    It is the convolution of the gradients with the filters turned around.
    """
    top, left = w.window_height - 1 - w.top, w.window_width - 1 - w.left
    if w.stride_y != 1 or w.stride_x != 1 or min(top, left) < 0:
        return None
    turned = Windows(
        w.images, w.out_height, w.out_width, w.channels, w.height, w.width,
        w.window_height, w.window_width, 1, 1, top, left,
    )  # fmt: skip
    run = forward(turned)
    if run is None:
        return None
    return lambda filters, d: run(d, np.ascontiguousarray(filters[::-1, ::-1]))
