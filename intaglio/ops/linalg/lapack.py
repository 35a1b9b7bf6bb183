"""NumPy's LAPACK, on one thread where several would not make it faster.

The threads of OpenBLAS, which NumPy's wheels bring, share factorisations in small steps and wait
for each other after each. For matrices of some hundred rows that takes longer than one thread
needs alone, and a hundred times as long where another program has one of the processors. NumPy
built with another library is left as it is.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.cpython.numpy_libraries import lapack_functions, openblas_thread_count
from intaglio.opdef import machine_code
from intaglio.opdef.machine_code import exact_kernel
from intaglio.ops.linalg import elimination

# From so many elements on several threads are certainly faster. (Measured with two: by a tenth to a
# third at 512 rows, while at 128 they take up to three times as long; where another program has one
# of the processors, a hundred times at 400 rows.) For the smallest matrices OpenBLAS itself uses
# one thread.
SHARED_FROM, ALONE_FROM = 1024 * 1024, 16 * 16
# Smaller matrices are inverted and solved by NumPy, whose calls take less time. (Measured of solutions: a
# third at 32 rows, as long at 96 of float32 and at 192 of float64, twice as long at 256 of float32.)
MIN_INVERTED_ROWS, MIN_SOLVED_ROWS = 32, 96
# Batches of so many matrices, and of so many elements, are computed by a compiled kernel.
MAX_SMALL_ROWS, MIN_SMALL_COUNT, MIN_SMALL_ELEMENTS = 32, 16, 1 << 12
# A step over the rows of all matrices costs as much as the calls for so many.
BATCH_PER_STEP = 6


class OneThread:
    """A context in which OpenBLAS takes one thread, in the whole process: its setting is one."""

    def __init__(self, get: Callable[[], int], set: Callable[[int], Any]) -> None:
        self._get, self._set = get, set
        self._lock = lasting_lock()
        self._inside, self._before = 0, 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = self._get()
                self._set(1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._set(self._before)

    def after_fork(self) -> None:
        """In a new process: the threads that were inside are not there to leave."""
        if self._inside:
            self._inside = 0
            self._set(self._before)


def _found() -> OneThread | None:
    """The context for the library that NumPy has loaded; None if that is not OpenBLAS."""
    functions = openblas_thread_count()
    return OneThread(*functions) if functions else None


ONE_THREAD = _found()
if ONE_THREAD is not None:
    after_fork(ONE_THREAD.after_fork)


def lapack(function: Callable[..., Any], matrix: Any, *others: Any) -> Any:
    """The results of a function of `numpy.linalg` for matrices, and further arguments."""
    if ONE_THREAD is None or not _alone(matrix.shape):
        return function(matrix, *others)
    with ONE_THREAD:
        return function(matrix, *others)


def _alone(shape: tuple[int, ...]) -> bool:
    """Whether matrices of this shape are for one thread."""
    if OPTIONS.threads_intra == 1:
        return True
    return ALONE_FROM <= shape[-1] * shape[-2] < SHARED_FROM


def small_matrices(
    what: str, a: Any, *others: Any, lower: bool = False, adjoint: bool = False
) -> np.ndarray | None:
    """The results of a compiled kernel for many small matrices; None without a kernel, or if LAPACK
    has to check one.

    `what` is "cholesky", "triangular", "solve", "inverse" or "determinant".
    """
    n, batch = a.shape[-1], a.shape[:-2]
    if n > MAX_SMALL_ROWS or a.size < MIN_SMALL_ELEMENTS or a.dtype.char not in "fd":
        return None
    if a.size < MIN_SMALL_COUNT * n * n or any(x.shape[:-1] != a.shape[:-1] for x in others):
        return None
    columns = others[0].shape[-1] if others else n
    double, count = a.dtype.char == "d", math.prod(batch)
    kind = "small matrices", what, double, count, n, columns, lower, adjoint
    run = exact_kernel(kind[0], a.size * n, *kind[1:], quick=True)
    found: Any = None
    if run is None:
        try:
            found = elimination.computed(what, a, *others, lower=lower, adjoint=adjoint)
        except elimination.Refused:
            return None
        except elimination.Undecided:
            run = machine_code.kernel(*kind)
            if run is None:
                return None
    if found is None:
        assert run is not None
        found = run(a, *others)
    if found is NotImplemented:
        return None
    return found.reshape(*batch, *found.shape[1:])


def cholesky(a: np.ndarray) -> np.ndarray:
    """The lower factors of matrices; for one that has none the lower triangle is NaN."""
    try:
        return lapack(np.linalg.cholesky, a)
    except np.linalg.LinAlgError:
        result = np.tril(np.full_like(a, np.nan))
        for matrix, found in zip(
            a.reshape(-1, *a.shape[-2:]), result.reshape(-1, *a.shape[-2:]), strict=True
        ):
            with contextlib.suppress(np.linalg.LinAlgError):
                found[...] = lapack(np.linalg.cholesky, matrix)
        return result


def triangular_solution(a: Any, b: Any, lower: bool, adjoint: bool) -> np.ndarray:
    """x with a @ x = b for the triangles of matrices `a` [..., n, n], or for their adjoints.

    The batches of `a` and `b` broadcast. A 0 on a diagonal divides: the rest is infinite or NaN.
    """
    singular = (np.diagonal(a, axis1=-2, axis2=-1) == 0).any()
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    # A copy, which becomes the solution.
    x = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])), order="C")
    functions = lapack_functions(x.dtype.char)
    if not x.size:
        return x
    wide = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    if singular or math.prod(batch) >= BATCH_PER_STEP * a.shape[-1]:
        with np.errstate(all="ignore"):
            _substitute(wide.conj().swapaxes(-1, -2) if adjoint else wide, x, lower != adjoint)
        return x
    if functions is None:
        triangle = np.tril(a) if lower else np.triu(a)
        return lapack(np.linalg.solve, triangle.swapaxes(-1, -2).conj() if adjoint else triangle, x)
    wide = np.ascontiguousarray(wide)
    flat, solved = wide.reshape(-1, *a.shape[-2:]), x.reshape(-1, *b.shape[-2:])
    lapack(lambda m: functions.solve_triangular(m, solved, lower, adjoint), flat)
    return x


def _substitute(a: Any, x: np.ndarray, lower: bool) -> None:
    """Replaces `x` by the solutions, row after row, in all matrices at once."""
    n = a.shape[-1]
    for i in range(n) if lower else range(n - 1, -1, -1):
        rest = slice(i + 1, n) if lower else slice(0, i)
        row = x[..., i, None, :]
        row /= a[..., i, i, None, None]
        x[..., rest, :] -= a[..., rest, i, None] * row


def _apart(function: Callable[..., Any], a: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """A function of matrices, NaN for those with NaN in which it takes a 0 for the largest element."""
    try:
        return lapack(function, a, *others)
    except np.linalg.LinAlgError:
        known = ~np.isnan(a).any((-1, -2))
        if known.all():
            raise
        result = np.full_like((*others, a)[0], np.nan)
        result[known] = lapack(function, a[known], *[x[known] for x in others])
        return result


def solution(a: np.ndarray, b: np.ndarray, adjoint: bool) -> np.ndarray:
    """x with a @ x = b for matrices of one batch, or with the adjoint of `a`.

    Raises LinAlgError for a singular matrix.
    """
    found = small_matrices("solve", a, b, adjoint=adjoint)
    if found is not None:
        return found
    functions = lapack_functions(a.dtype.char)
    if functions is None or a.shape[-1] < MIN_SOLVED_ROWS or not b.size:
        return _apart(np.linalg.solve, a.swapaxes(-1, -2).conj() if adjoint else a, b)
    # LAPACK takes them for the transposed matrices: a = U^T @ L^T @ P^T.
    lu = np.array(a.reshape(-1, *a.shape[-2:]), order="C")
    pivots, regular = functions.factorise(lu)
    if not regular:
        raise np.linalg.LinAlgError("Singular matrix")
    x = np.array(b.reshape(-1, *b.shape[-2:]), order="C")
    order = _row_order(pivots)
    steps: list[tuple[bool, bool]] = [(True, False), (False, True)]
    if adjoint:
        x = np.take_along_axis(x, order[..., None], 1)
        steps.reverse()
    for lower, unit in steps:
        functions.solve_triangular(lu, x, lower, adjoint, unit)
    if not adjoint:
        x = np.take_along_axis(x, order.argsort(-1)[..., None], 1)
    return x.reshape(b.shape)


def inverse(a: np.ndarray) -> np.ndarray:
    """The inverses of matrices. Raises LinAlgError for a singular one."""
    found = small_matrices("inverse", a)
    if found is not None:
        return found
    functions = lapack_functions(a.dtype.char)
    if functions is None or a.shape[-1] < MIN_INVERTED_ROWS or not a.size:
        return _apart(np.linalg.inv, a)
    # The inverse of the transposed matrix is the transposed inverse.
    flat = np.array(a.reshape(-1, *a.shape[-2:]), order="C")
    pivots, regular = functions.factorise(flat)
    if not regular:
        raise np.linalg.LinAlgError("Singular matrix")
    functions.invert(flat, pivots)
    return flat.reshape(a.shape)


def factors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(lu, order) of matrices [batch, n, n]: both triangles in one matrix, and the row permutation.

    None for empty matrices, and if NumPy's library has no such function. Raises LinAlgError for a
    singular matrix.
    """
    functions = lapack_functions(a.dtype.char)
    if functions is None or not a.size:
        return None
    transposed = np.array(a.swapaxes(-1, -2), order="C")
    pivots, regular = functions.factorise(transposed)
    if not regular:
        raise np.linalg.LinAlgError("Singular matrix")
    return np.ascontiguousarray(transposed.swapaxes(-1, -2)), _row_order(pivots)


def _row_order(pivots: np.ndarray) -> np.ndarray:
    """The order of the rows after all swaps of LAPACK, [batch, n]."""
    orders: list[list[int]] = []
    for swaps in (pivots - 1).tolist():
        order = list(range(len(swaps)))
        for i, j in enumerate(swaps):
            order[i], order[j] = order[j], order[i]
        orders.append(order)
    return np.array(orders, np.intp).reshape(pivots.shape)


def tridiagonal_solution(diagonals: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """x with a @ x = b for [..., 3, n] diagonals of matrices; NaN for a singular one.

    None if NumPy's library has no such function.
    """
    functions = lapack_functions(b.dtype.char)
    if functions is None or diagonals.dtype != b.dtype or not b.size:
        return None
    n, columns = b.shape[-2:]
    bands = np.array(diagonals.reshape(-1, 3, n).swapaxes(0, 1), order="C")
    bands[0, :, -1], bands[2, :, 0] = 0, 0
    # All matrices together are one block diagonal matrix.
    x = np.array(b.reshape(-1, columns).T, order="C")[None]
    whole = bands.reshape(1, 3, -1).copy()
    whole[0, 2, :-1] = whole[0, 2, 1:]
    if functions.solve_tridiagonal(whole, x).all() and np.isfinite(x).all():
        return np.ascontiguousarray(x[0].T).reshape(b.shape)
    return _separate_solutions(functions, bands.swapaxes(0, 1), b)


def _separate_solutions(functions: Any, bands: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions for matrices of which one may be singular, or not finite."""
    x = np.array(b.reshape(-1, *b.shape[-2:]).swapaxes(-1, -2), order="C")
    single = np.array(bands, order="C")
    single[:, 2, :-1] = single[:, 2, 1:]
    x[~functions.solve_tridiagonal(single, x)] = np.nan
    return np.ascontiguousarray(x.swapaxes(-1, -2)).reshape(b.shape)


def banded_solution(bands: Any, b: Any, lower: bool, adjoint: bool) -> np.ndarray | None:
    """x with a @ x = b for triangular matrices, given by diagonals [..., width, n].

    The main diagonal is the first one of a lower matrix, the last one of an upper one; no element of it is 0. None
    where NumPy computes it as fast, or if NumPy's library has no such function.
    """
    batch = np.broadcast_shapes(bands.shape[:-2], b.shape[:-2])
    n, width = bands.shape[-1], min(bands.shape[-2:])
    calls = math.prod(batch) * b.shape[-1]
    functions = lapack_functions(b.dtype.char)
    if functions is None or calls > n or bands.dtype != b.dtype:
        return None
    # The rows' elements from left to right: of a lower matrix they end with the main diagonal.
    kept = bands[..., width - 1 :: -1, :] if lower else bands[..., ::-1, :][..., :width, :]
    rows = np.broadcast_to(kept.swapaxes(-1, -2), (*batch, n, width))
    x = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])), order="C")
    flat = np.ascontiguousarray(rows).reshape(-1, n, width)
    functions.solve_banded(flat, x.reshape(-1, *b.shape[-2:]), lower, adjoint)
    return x
