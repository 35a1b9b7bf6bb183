"""Reductions whose result does not depend on the order: extremes, logic, integers.

NumPy's inner loop is over the last axes that are all kept, or all reduced. Where these are short,
as the channels of images are, it spends its time between loops. Here the loops are long: a short
last axis is reduced by combining its slices, and above a short kept axis many rows are combined
side by side first.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from intaglio.opdef import short_floats

# Axes up to this length are short, and rows of so many elements are long enough.
SHORT, ROW = 16, 256
# NumPy reduces fewer elements as quickly.
MIN_ELEMENTS = 1 << 11
_EXTREMES = (np.maximum, np.minimum)


def exact_reduce(ufunc: Any, x: Any, axes: tuple[int, ...], keep_dims: bool, dtype: Any) -> Any:
    """`ufunc.reduce` over axes (from 0 up, each once), of an array of the result's dtype."""
    if ufunc in _EXTREMES and x.dtype == dtype and short_floats.is_short(dtype):
        found = exact_reduce(ufunc, short_floats.widened(x), axes, keep_dims, np.dtype(np.float32))
        return found.astype(dtype)
    dims = [(i in axes, d) for i, d in enumerate(np.shape(x)) if d != 1]
    groups = [
        (gone, prod([length for _, length in group]))
        for gone, group in itertools.groupby(dims, lambda d: d[0])
    ]
    quick = not groups or groups[-1][1] > ROW or np.size(x) < MIN_ELEMENTS
    if quick or x.dtype != dtype or not x.flags.c_contiguous:
        return ufunc.reduce(x, axis=axes, dtype=dtype, keepdims=keep_dims)
    lengths = [length for _, length in groups]
    found = x
    for at in reversed(range(len(groups))):
        if groups[at][0]:
            found = _reduced(ufunc, found.reshape(prod(lengths[:at]), lengths[at], -1))
            lengths[at] = 1
    kept = [1 if i in axes else d for i, d in enumerate(x.shape) if keep_dims or i not in axes]
    return found.reshape(kept)[()]


def _reduced(ufunc: Any, x: Any) -> Any:
    """Over the middle axis of a contiguous array of three."""
    outer, length, inner = x.shape
    if inner == 1 and 1 < length <= SHORT:
        return _slices(ufunc, x.reshape(outer, length))
    beside = ROW // inner if inner else 0
    if inner == 1 or beside < 2 or length < 2 * beside:
        return ufunc.reduce(x, axis=1, dtype=x.dtype)
    whole = length // beside
    rows = x[:, : whole * beside].reshape(outer, whole, beside * inner)
    sides = ufunc.reduce(rows, axis=1, dtype=x.dtype).reshape(outer, beside, inner)
    rest = x[:, whole * beside :]
    if rest.shape[1]:
        sides = np.concatenate([sides, rest], axis=1)
    return ufunc.reduce(sides, axis=1, dtype=x.dtype)


def _slices(ufunc: Any, x: Any) -> Any:
    """Over the last axis of a matrix of few columns."""
    found = ufunc(x[:, 0], x[:, 1])
    for column in range(2, x.shape[1]):
        ufunc(found, x[:, column], out=found)
    return found
