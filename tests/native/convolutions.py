"""Convolutions by their definition: what the tests compare the kernels with."""

from __future__ import annotations

import numpy as np


def exact(g, x, filters, d):
    """Result and gradients by sums over shifted images, in float64."""
    axes = [
        (g.depth, g.out_depth, g.window_depth, g.stride_z, g.front, g.apart_z),
        (g.height, g.out_height, g.window_height, g.stride_y, g.top, g.apart_y),
        (g.width, g.out_width, g.window_width, g.stride_x, g.left, g.apart_x),
    ][0 if g.solid else 1 :]
    room = [
        (out - 1) * stride + (window - 1) * apart + 1 + size
        for size, out, window, stride, _, apart in axes
    ]
    inside = (slice(None), *[slice(before, before + size) for size, *_, before, _ in axes])
    padded = np.zeros((g.images, *room, g.channels))
    padded[inside] = x
    result = np.zeros(g.shape)
    filter_gradient = np.zeros(filters.shape)
    by_padded = np.zeros(padded.shape)
    over = [*range(len(axes) + 1)]
    for index in np.ndindex(*g.window):
        places = [
            slice(i * apart, i * apart + (out - 1) * stride + 1, stride)
            for i, (_, out, _, stride, _, apart) in zip(index, axes, strict=True)
        ]
        seen = padded[:, *places]
        result += seen @ filters[index].astype(np.float64)
        filter_gradient[index] = np.tensordot(seen, d, (over, over))
        by_padded[:, *places] += d @ filters[index].T.astype(np.float64)
    return result, filter_gradient, by_padded[inside]


def integers(seed, *shapes):
    """Small integers: sums of their products are exact in float32."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
