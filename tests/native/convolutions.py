"""Convolutions by their definition: what the tests compare the kernels with."""

from __future__ import annotations

import numpy as np


def exact(g, x, filters, d):
    """Result and gradients by sums over shifted images, in float64."""
    rows = (g.out_height - 1) * g.stride_y + g.window_height
    columns = (g.out_width - 1) * g.stride_x + g.window_width
    padded = np.zeros((g.images, rows + g.height, columns + g.width, g.channels))
    padded[:, g.top : g.top + g.height, g.left : g.left + g.width] = x
    result = np.zeros((g.images, g.out_height, g.out_width, g.filters))
    by_filters = np.zeros(filters.shape)
    by_padded = np.zeros(padded.shape)
    for i in range(g.window_height):
        for j in range(g.window_width):
            down = slice(i, i + (g.out_height - 1) * g.stride_y + 1, g.stride_y)
            across = slice(j, j + (g.out_width - 1) * g.stride_x + 1, g.stride_x)
            seen = padded[:, down, across]
            result += seen @ filters[i, j].astype(np.float64)
            by_filters[i, j] = np.tensordot(seen, d, ([0, 1, 2], [0, 1, 2]))
            by_padded[:, down, across] += d @ filters[i, j].T.astype(np.float64)
    inside = by_padded[:, g.top : g.top + g.height, g.left : g.left + g.width]
    return result, by_filters, inside


def integers(seed, *shapes):
    """Small integers: sums of their products are exact in float32."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
