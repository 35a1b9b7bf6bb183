"""Maximum and minimum of a large array and a scalar, with the bits of NumPy's ufuncs.

NumPy's loops of `maximum` and `minimum` have vector instructions for two arrays only: with a scalar they
take three times as long as `clip`, which has them for bounds that are scalars.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Fewer elements take as long as the call of `clip`.
MIN_CLIPPED_ELEMENTS = 1 << 13


def maximum(x: Any, y: Any) -> Any:
    """np.maximum of two arrays of one dtype that broadcast."""
    found = _clipped(x, y, True)
    return np.maximum(x, y) if found is None else found


def minimum(x: Any, y: Any) -> Any:
    """np.minimum of two arrays of one dtype that broadcast."""
    found = _clipped(x, y, False)
    return np.minimum(x, y) if found is None else found


def clip(x: Any, low: Any, high: Any) -> Any:
    """np.minimum(np.maximum(x, low), high) of arrays of one dtype that broadcast."""
    bounds = not low.ndim and not high.ndim and x.size >= MIN_CLIPPED_ELEMENTS
    # Neither bound is NaN or a zero, whose sign may not be that of the element.
    if bounds and has_clip(x.dtype) and (0 < low <= high or low <= high < 0 or low < 0 < high):
        return x.clip(low[()], high[()])
    raised = maximum(x, low)
    if raised.shape != np.shape(x) or raised.ndim == 0 or high.shape != raised.shape:
        return minimum(raised, high)
    return np.minimum(raised, high, out=raised)


def _clipped(x: Any, y: Any, below: bool) -> Any:
    """The result by `clip`; None where that has other bits, or takes as long."""
    array, bound = (y, x) if y.ndim else (x, y)
    if bound.ndim or array.size < MIN_CLIPPED_ELEMENTS or not has_clip(array.dtype):
        return None
    bound = bound[()]
    if np.isnan(bound):
        return None
    result = (
        array.clip(bound, _greatest(array.dtype))
        if below
        else array.clip(_least(array.dtype), bound)
    )
    # Of two zeros the ufuncs give the second operand's, `clip` the array's.
    if bound == 0 and array is x and array.dtype.kind == "f":
        if np.signbit(bound):
            return None
        result += bound
    return result


def has_clip(dtype: Any) -> bool:
    """Whether `clip` has vector instructions for a dtype."""
    return dtype.char in "fd" or (dtype.kind in "iu" and dtype.itemsize < 8)


def _greatest(dtype: Any) -> Any:
    return dtype.type(np.inf if dtype.kind == "f" else np.iinfo(dtype).max)


def _least(dtype: Any) -> Any:
    return dtype.type(-np.inf if dtype.kind == "f" else np.iinfo(dtype).min)
