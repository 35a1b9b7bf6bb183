"""Input gradients of strided convolutions: one convolution for each phase of pixels.

Pixels that are a stride apart are covered by the same taps of a window: their gradient is a
convolution of the gradients, without strides, by these taps alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels.convolution import Geometry, forward


class _Phase(NamedTuple):
    """The pixels of one phase along an axis: the first of them, their number, the first tap of the
    window that covers them, the number of taps, the padding, and the gradients before the first
    that they use."""

    first: int
    pixels: int
    element: int
    elements: int
    before: int
    skipped: int


def _phases(size: int, window: int, stride: int, before: int) -> list[_Phase]:
    """The phases along an axis: pixels `stride` apart are covered by the same taps."""
    found: list[_Phase] = []
    for first in range(min(stride, size)):
        beyond, element = divmod(first + before, stride)
        elements = max(-(-(window - element) // stride), 0)
        pixels, ahead = -(-(size - first) // stride), elements - 1 - beyond
        found.append(_Phase(first, pixels, element, elements, max(ahead, 0), max(-ahead, 0)))
    return found


def input_gradient_by_phases(
    g: Geometry, dtype: Any = np.float32
) -> Callable[[Any, Any], Any] | None:
    """(filters, gradients) to the input gradient, for undilated windows."""
    if not g.plain:
        return None
    runs: list[tuple[_Phase, _Phase, Callable[[Any, Any], Any] | None]] = []
    for y in _phases(g.height, g.window_height, g.stride_y, g.top):
        for x in _phases(g.width, g.window_width, g.stride_x, g.left):
            height, width = g.out_height - y.skipped, g.out_width - x.skipped
            run = None
            if min(height, width, y.elements, x.elements) > 0:
                run = forward(
                    Geometry(
                        g.images,
                        height,
                        width,
                        g.filters,
                        y.pixels,
                        x.pixels,
                        g.channels,
                        y.elements,
                        x.elements,
                        1,
                        1,
                        y.before,
                        x.before,
                    ),
                    dtype,
                )
                if run is None:
                    return None
            runs.append((y, x, run))
    sy, sx = g.stride_y, g.stride_x
    shape = (g.images, g.height, g.width, g.channels)

    def run_all(filters: Any, gradients: Any) -> Any:
        result = np.empty(shape, dtype)
        for y, x, run in runs:
            pixels = result[:, y.first :: sy, x.first :: sx]
            if run is None:
                pixels[...] = 0
                continue
            seen = gradients[:, y.skipped :, x.skipped :]
            part = filters[y.element :: sy, x.element :: sx][::-1, ::-1]
            pixels[...] = run(seen, np.ascontiguousarray(part.transpose(0, 1, 3, 2)))
        return result

    return run_all
