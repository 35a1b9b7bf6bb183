"""Convolutions of numbers that are not all finite, one tap of the window after the other.

Fast transforms subtract infinities from each other, and im2col multiplies them with the zeros of
the padding: both give NaN where the direct sum is none. Taps on padding are left out for float32
and bfloat16, as in TensorFlow 2.21 where there are several channels; for float16 and float64 it
multiplies with the zeros.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16
from intaglio.opdef import short_floats
from intaglio.ops.nn import windows
from intaglio.ops.nn.windows import Axis

# The exponents of infinities and NaN among the bits of 16-bit floats.
_EXPONENT = {bfloat16.numpy: 0x7F80, np.dtype(np.float16): 0x7C00}


def seen_taps(along: Sequence[Axis]) -> Iterator[tuple[Any, Any, Any]]:
    """The taps of windows without those on padding: the index in the window, the slices of the
    windows that see an element there, and those of these elements."""
    for index in itertools.product(*[range(a.window) for a in along]):
        pairs = [a.seen_of(i) for a, i in zip(along, index, strict=True)]
        outs, elements = zip(*pairs, strict=True)
        yield index, (slice(None), *outs), (slice(None), *elements)


def checked(
    result: Any, shows: Sequence[Any], by_taps: Callable[..., Any], *operands: Any, **options: Any
) -> Any:
    """A convolution's result, or that by taps if its operands are not all finite.

    Where they are not, one of the arrays that it `shows` in is not either. Filters are small; what an image
    has there, finite times an infinity or not, is in all channels of the results, of which one is looked at.
    """
    if all(map(_is_finite, shows)) or all(map(_is_finite, operands)):
        return result
    with np.errstate(all="ignore"):
        found = by_taps(*[short_floats.widened(x) for x in operands], **options)
        return found.astype(result.dtype)


def _is_finite(x: Any) -> bool:
    """Whether all numbers are; False too if the sum of finite ones overflows."""
    exponent = _EXPONENT.get(x.dtype)
    if exponent is not None:
        return bool((x.view(np.uint16) & np.uint16(0x7FFF)).max(initial=0) < exponent)
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.add.reduce(x, axis=None)) or np.isfinite(x).all())


def multiplies_padding(dtype: Any) -> bool:
    """Whether the padding of images is multiplied like other zeros, or passed over."""
    return dtype in (np.float16, np.float64)


def forward(
    x: np.ndarray, filters: np.ndarray, along: Sequence[Axis], zeros: bool = False
) -> np.ndarray:
    """The convolution of (N, *S, C) with (*window, C / groups, O): (N, *out, O)."""
    x, along = _with_zeros(x, along) if zeros else (x, along)
    result = np.zeros((len(x), *[a.out for a in along], filters.shape[-1]), x.dtype)
    for index, seeing, seen in seen_taps(along):
        for own, others in _groups(x.shape[-1], filters):
            result[(*seeing, others)] += x[(*seen, own)] @ filters[(*index, slice(None), others)]
    return result


def by_input(
    d: np.ndarray, filters: np.ndarray, along: Sequence[Axis], channels: int
) -> np.ndarray:
    """The gradient of `forward` by its input."""
    shape = (len(d), *[a.size for a in along], channels)
    result = np.zeros(shape, d.dtype)
    for index, seeing, seen in seen_taps(along):
        for own, others in _groups(channels, filters):
            part = d[(*seeing, others)] @ filters[(*index, slice(None), others)].T
            result[(*seen, own)] += part
    return result


def filter_gradient(
    x: np.ndarray, d: np.ndarray, along: Sequence[Axis], inner: int, zeros: bool = False
) -> np.ndarray:
    """The gradient of `forward` by its filters, of `inner` input channels."""
    x, along = _with_zeros(x, along) if zeros else (x, along)
    result = np.zeros((*[a.window for a in along], inner, d.shape[-1]), x.dtype)
    for index, seeing, seen in seen_taps(along):
        for own, others in _groups(x.shape[-1], result):
            left, right = x[(*seen, own)], d[(*seeing, others)]
            left, right = (a.reshape(-1, a.shape[-1]) for a in (left, right))
            result[(*index, slice(None), others)] = left.T @ right
    return result


def _with_zeros(x: np.ndarray, along: Sequence[Axis]) -> tuple[np.ndarray, list[Axis]]:
    """An array with its padding as a part of it."""
    sizes = [a.before + a.size + a.after for a in along]
    inner = [a._replace(size=n, before=0, after=0) for a, n in zip(along, sizes, strict=True)]
    return windows.padded(x, along), inner


def _groups(channels: int, filters: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """The input and output channels of each group."""
    inner, outputs = filters.shape[-2:]
    groups = channels // max(inner, 1)
    each = outputs // max(groups, 1)
    for g in range(groups):
        yield slice(g * inner, (g + 1) * inner), slice(g * each, (g + 1) * each)
