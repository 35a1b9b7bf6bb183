"""Pooling of channels-last volumes in machine code, with its gradients.

A window over volumes is one over images, and then one over the results of several images: extremes and means
of windows are those of their slices. The rows and columns of slices are those of the columns of an image
whose rows are the slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.native.kernels import pooling
from intaglio.native.kernels.sequence import Chain
from intaglio.native.kernels.windows import Windows
from intaglio.ops.nn.windows import Axis


def volumes(name: str, along: Sequence[Axis]) -> Callable[..., Any] | None:
    """A kernel of `pooling.LIBRARY` for windows over volumes; None where they move over batches or
    channels, or the result is empty.

    The gradient of a maximum is nowhere if the window has none above the lowest number.
    """
    batch, deep, down, across, channels = along
    if batch.moves or channels.moves:
        return None
    images = Windows(
        batch.size * deep.size, down.size, across.size, channels.size, down.out, across.out,
        down.window, across.window, down.stride, across.stride, down.before, across.before,
        down.dilation, across.dilation,
    )  # fmt: skip
    pixels = down.out * across.out
    slices = Windows(
        batch.size, deep.size, pixels, channels.size, deep.out, pixels,
        deep.window, 1, deep.stride, 1, deep.before, 0, deep.dilation, 1,
    )  # fmt: skip
    if images.empty or slices.empty:
        return None
    if name in ("maximum", "mean"):
        shape = tuple([a.out for a in along])
        return _consecutive(name, (images, slices), shape)
    shape = tuple([a.size for a in along])
    if name == "mean_gradient":
        return _consecutive(name, (slices, images), shape)
    return _maximum_gradient(images, slices, shape)


def _consecutive(name: str, windows: Sequence[Windows], shape: tuple[int, ...]) -> Chain:
    """Two kernels, one after the other."""
    chain, value = Chain(1), [0]
    for w, last in zip(windows, (None, shape), strict=True):
        value = chain.then(pooling.pooling(name, w), *value, shape=last)
    return chain.returning(value[0])


def _maximum_gradient(images: Windows, slices: Windows, shape: tuple[int, ...]) -> Chain:
    """(volumes, maxima, gradients) to the gradient by the volumes."""
    chain, name = Chain(3), "maximum_gradient_if_found"
    maxima = chain.then(pooling.pooling("maximum", images), 0)
    gradients = chain.then(pooling.pooling(name, slices), *maxima, 1, 2)
    (result,) = chain.then(pooling.pooling(name, images), 0, *maxima, *gradients, shape=shape)
    return chain.returning(result)
