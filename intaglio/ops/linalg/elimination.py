"""Many small matrices at once in NumPy, with the bits of the compiled kernels.

They are what `native/kernels/small_matrices.py` computes, operation by operation, so that a program
need not wait for these kernels: both round each product and each difference. The matrices are the last
axis of all arrays here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Undecided(Exception):
    """NumPy's order of numbers may not be the kernel's: there are infinities, or NaN."""


class Refused(Exception):
    """A matrix is one that the kernel leaves to LAPACK."""


def computed(what: str, a: Any, *others: Any, lower: bool, adjoint: bool) -> np.ndarray:
    """The results for matrices [batch, n, n], as the kernel `what` gives them.

    Raises Refused where the kernel sets its flag, and Undecided where only the kernel knows.
    """
    with np.errstate(all="ignore"):
        found = _COMPUTE[what](_by_element(a), *[_by_element(x) for x in others], lower, adjoint)
    if not np.isfinite(found).all():
        raise Undecided
    return np.ascontiguousarray(np.moveaxis(found, -1, 0))


def _by_element(x: Any) -> np.ndarray:
    """A copy with the matrices on the last axis. Raises Undecided for infinities and NaN."""
    if not np.isfinite(x).all():
        raise Undecided
    return np.array(np.moveaxis(x.reshape(-1, *x.shape[-2:]), 0, -1), order="C")


def _cholesky(a: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    for j in range(len(a)):
        if not (a[j, j] > 0).all():
            raise Refused
        a[j, j] = np.sqrt(a[j, j])
        below = a[j + 1 :, j]
        below /= a[j, j]
        a[j + 1 :, j + 1 :] -= below[:, None] * below
        a[j, j + 1 :] = 0
    return a


def _triangular(a: np.ndarray, b: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    n, factors = len(a), a.swapaxes(0, 1) if adjoint else a
    downwards = lower != adjoint
    for i in range(n) if downwards else range(n - 1, -1, -1):
        if (factors[i, i] == 0).any():
            raise Refused
        b[i] /= factors[i, i]
        _subtract(b, slice(i + 1, n) if downwards else slice(0, i), factors, i)
    return b


def _solve(a: np.ndarray, b: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    if adjoint:
        a = np.ascontiguousarray(a.swapaxes(0, 1))
    _eliminate(a, b)
    return _substitute(a, b)


def _inverse(a: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    b = np.zeros_like(a)
    for i in range(len(a)):
        b[i, i] = 1
    _eliminate(a, b)
    found = _substitute(a, b)
    return found.swapaxes(0, 1) if adjoint else found


def _determinant(a: np.ndarray, lower: bool, adjoint: bool) -> np.ndarray:
    found = _eliminate(a, None)
    for i in range(len(a)):
        found = found * a[i, i]
    return found


_COMPUTE: dict[str, Callable[..., np.ndarray]] = {
    "cholesky": _cholesky,
    "triangular": _triangular,
    "solve": _solve,
    "inverse": _inverse,
    "determinant": _determinant,
}


def _eliminate(a: np.ndarray, b: np.ndarray | None) -> np.ndarray:
    """Makes `a` its upper factor, and treats the right-hand sides alike; gives the signs."""
    n, every = len(a), np.arange(a.shape[-1])
    signs = np.ones(a.shape[-1], a.dtype)
    for k in range(n):
        rows = k + np.abs(a[k:, k]).argmax(0)
        if (swapped := rows != k).any():
            np.negative(signs, out=signs, where=swapped)
            for x in (a,) if b is None else (a, b):
                above = x[k].copy()
                x[k] = x[rows, :, every].T
                x[rows, :, every] = above.T
        pivots = a[k, k]
        if not np.isfinite(pivots).all():
            raise Undecided
        if (pivots == 0).any():
            raise Refused
        factors = a[k + 1 :, k] / pivots
        a[k + 1 :, k + 1 :] -= factors[:, None] * a[k, k + 1 :]
        if b is not None:
            b[k + 1 :] -= factors[:, None] * b[k]
    return signs


def _substitute(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions from the upper factor."""
    for i in range(len(a) - 1, -1, -1):
        b[i] /= a[i, i]
        _subtract(b, slice(0, i), a, i)
    return b


def _subtract(b: np.ndarray, rows: slice, a: np.ndarray, i: int) -> None:
    """Subtracts multiples of row `i` of the right-hand sides from others."""
    b[rows] -= a[rows, i][:, None] * b[i]
