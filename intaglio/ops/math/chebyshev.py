"""Chebyshev series, piecewise functions, and their family of ops.

The coefficients of this file and of those that use it were computed in arithmetic of 40 digits from
the functions themselves; each series is truncated where its terms are negligible in double
precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval

from intaglio.base.dtypes import bfloat16, float16, float32, float64
from intaglio.opdef.scalar import in_blocks
from intaglio.ops.compiled import CompiledUnary
from intaglio.ops.families import Unary

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


class PiecewiseSeries(CompiledUnary, Unary):
    """y = f(x), computed in double precision; of large arrays by machine code of the same series."""

    T = (bfloat16, float16, float32, float64)
    work_per_element = 128
    function: Any = None

    def numpy_kernel(self, x):
        return in_blocks(self._rounded)(x)

    def _rounded(self, x: Any) -> Any:
        with np.errstate(all="ignore"):
            return self.function(x.astype(np.float64)).astype(x.dtype)
