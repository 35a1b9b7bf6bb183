"""Reductions whose result does not depend on the order, but for rounding: extremes, logic, integers, products.

NumPy's inner loop is over the last axes that are all kept, or all reduced. Where these are short,
as the channels of images are, it spends its time between loops. Here the loops are long: a short
last axis is reduced by combining its slices, above a short kept axis many rows are combined side by
side first, and other short axes are transposed, so that the reduced one is the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from intaglio.opdef import short_floats
from intaglio.opdef.machine_code import exact_kernel

# Axes up to this length are short, and rows of so many elements are long enough.
SHORT, ROW = 16, 256
# NumPy reduces fewer elements as quickly.
MIN_ELEMENTS = 1 << 11
# From so many on, extremes are machine code.
MIN_COMPILED_ELEMENTS = 1 << 14
# Rows up to this length are transposed, and rows of columns up to `SHORT` if there are so many.
TRANSPOSED_ROW, MIN_OUTER = 64, 4
_EXTREMES = (np.maximum, np.minimum)


def exact_reduce(ufunc: Any, x: Any, axes: tuple[int, ...], keep_dims: bool, dtype: Any) -> Any:
    """`ufunc.reduce` over axes (from 0 up, each once), of an array of the result's dtype.

    An extreme of zeros of both signs is 0 if it is a maximum and -0 if it is a minimum, whatever their order.
    """
    if ufunc in _EXTREMES and x.dtype == dtype:
        found = _by_kernel(ufunc, x, axes, keep_dims)
        if found is not None:
            return found
    if ufunc not in _EXTREMES or dtype.kind in "iu":
        return _in_long_loops(ufunc, x, axes, keep_dims, dtype)
    wide = short_floats.widened(x) if x.dtype == dtype and short_floats.is_short(dtype) else x
    found = _in_long_loops(ufunc, wide, axes, keep_dims, wide.dtype)

    def of_bits() -> Any:
        bits = as_integers(wide)
        return _in_long_loops(ufunc, bits, axes, keep_dims, bits.dtype)

    found = with_signs(found, of_bits)
    return found if wide is x else found.astype(dtype)


def _by_kernel(ufunc: Any, x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    """The extremes of a large array by machine code with the same bits; None without it, and for short rows."""
    if x.size < MIN_COMPILED_ELEMENTS or not x.flags.c_contiguous:
        return None
    if all([x.shape[a] == 1 for a in axes]) or (x.ndim - 1 in axes and x.shape[-1] <= SHORT):
        return None
    how = "maximum" if ufunc is np.maximum else "minimum"
    run = exact_kernel(
        "exact reduction", x.size, x.dtype, how, x.shape, axes, keep_dims, quick=True
    )
    return None if run is None else run(x)


def as_integers(x: Any) -> Any:
    """The bits of floats as signed integers, in the same memory."""
    return x.view(np.dtype(f"i{x.dtype.itemsize}"))


def with_signs(found: Any, of_bits: Callable[[], Any]) -> Any:
    """Extremes of floats, with the signs that zeros have whatever the order of the floats.

    `of_bits` computes the same extremes of the floats' bits as integers, whose signs are those of the results: if all
    floats are on one side of zero, the order of the integers there is that of the floats, with -0 below 0.
    """
    if found.all() if found.ndim else found != 0:
        return found
    return np.copysign(found, of_bits().view(found.dtype))


def _in_long_loops(ufunc: Any, x: Any, axes: tuple[int, ...], keep_dims: bool, dtype: Any) -> Any:
    """`ufunc.reduce`, in loops that are long where the array is contiguous."""
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


def is_thin(size: int, last: int) -> bool:
    """Whether NumPy would spend its time between loops, for so many elements and such a last group of axes."""
    return size >= MIN_ELEMENTS and 1 < last <= SHORT


def _reduced(ufunc: Any, x: Any) -> Any:
    """Over the middle axis of a contiguous array of three."""
    outer, length, inner = x.shape
    if inner == 1 and 1 < length <= SHORT:
        return slices_combined(ufunc, x.reshape(outer, length))
    beside = ROW // inner if inner else 0
    if inner == 1 or beside < 2 or length < 2 * beside:
        return in_order(ufunc, x)
    whole = length // beside
    rows = x[:, : whole * beside].reshape(outer, whole, beside * inner)
    sides = ufunc.reduce(rows, axis=1, dtype=x.dtype).reshape(outer, beside, inner)
    rest = x[:, whole * beside :]
    if rest.shape[1]:
        sides = np.concatenate([sides, rest], axis=1)
    return in_order(ufunc, sides)


def in_order(ufunc: Any, x: Any) -> Any:
    """Over the middle axis of a contiguous array of three; of columns, one element after the other."""
    outer, length, inner = x.shape
    if inner <= SHORT and outer >= MIN_OUTER and length <= (TRANSPOSED_ROW if inner == 1 else ROW):
        columns = np.ascontiguousarray(x.swapaxes(0, 1)).reshape(length, outer * inner)
        return ufunc.reduce(columns, axis=0, dtype=x.dtype).reshape(outer, inner)
    return ufunc.reduce(x, axis=1, dtype=x.dtype)


def slices_combined(ufunc: Any, x: Any) -> Any:
    """Over the last axis of a matrix of few columns, one after the other."""
    found = ufunc(x[:, 0], x[:, 1])
    for column in range(2, x.shape[1]):
        ufunc(found, x[:, column], out=found)
    return found


def first_of_slices(slices: Any, lowest: bool) -> tuple[np.ndarray, np.ndarray]:
    """For each element of a few slices of numbers the index of the first slice with the extreme, int64, and the
    extreme; that is NaN where one is, and the index any."""
    is_better, extreme = (np.less, np.minimum) if lowest else (np.greater, np.maximum)
    best = np.array(slices[0], order="C")
    found = np.zeros(best.shape, np.uint8)
    for index, other in enumerate(slices[1:], 1):
        better = is_better(other, best).view(np.uint8)
        np.multiply(better, np.uint8(index), out=better)
        np.maximum(found, better, out=found)
        extreme(best, other, out=best)
    return found.astype(np.int64), best
