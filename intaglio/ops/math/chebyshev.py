"""Chebyshev series, and functions that are put together from pieces.

The coefficients of this file and of those that use it were computed in arithmetic of 40 digits
from the functions themselves; each series is cut off where its terms no longer count in
double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval

Piece = tuple[Any, Callable[[Any], Any]]


def series(t: Any, coefficients: Sequence[float]) -> Any:
    """The Chebyshev series at `t` in [-1, 1]."""
    return chebval(t, np.asarray(coefficients))


def pieces(x: Any, parts: Sequence[Piece], otherwise: float = np.nan) -> Any:
    """Each function where its mask is true, computed there alone."""
    result = np.full(np.shape(x), otherwise)
    for mask, function in parts:
        if np.any(mask):
            result[mask] = function(x[mask])
    return result
