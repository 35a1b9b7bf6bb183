"""NumPy's LAPACK, on one thread where several would not make it faster.

The threads of OpenBLAS, which NumPy's wheels bring, share factorisations in small steps and wait
for each other after each. For matrices of some hundred rows that takes longer than one thread
needs alone, and a hundred times as long where another program has one of the processors. NumPy
built with another library is left as it is.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.cpython.numpy_libraries import lapack_functions, linalg_loop, openblas_thread_count
from intaglio.opdef import machine_code
from intaglio.opdef.machine_code import exact_kernel
from intaglio.ops.linalg import elimination

# From so many elements on several threads are certainly faster. (Measured with two: by a tenth to a
# third at 512 rows, while at 128 they take up to three times as long; where another program has one
# of the processors, a hundred times at 400 rows, and four hundred for 12 equations with 300
# right-hand sides.) For the smallest matrices OpenBLAS itself uses one thread.
SHARED_FROM, ALONE_FROM = 1024 * 1024, 16 * 16
# Smaller matrices are inverted and solved by NumPy's loops, which take less time. (Measured of solutions: two
# thirds at 100 rows of float32, nine tenths at 256; four fifths at 100 of float64, and more at 256.)
MIN_INVERTED_ROWS = 64
MIN_SOLVED_ROWS = {"f": 384, "F": 384, "d": 192, "D": 192}
# Determinants of smaller matrices are computed in double precision, for less than more calls cost; so are
# orthogonal factors.
MIN_FACTORED_ROWS = 128
MAX_ROWS_IN_DOUBLE = 32
# Batches of so many matrices, and of so many elements, are computed by a compiled kernel.
MAX_SMALL_ROWS, MIN_SMALL_COUNT, MIN_SMALL_ELEMENTS = 32, 16, 1 << 12
# The rows of more matrices are swapped in all of them at once.
MAX_SWAPPED_APART = 16
# The elements of masks that are kept.
MAX_KEPT_MASK = 1 << 16
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
    """The results of a function of `numpy.linalg` for matrices, and further arguments.

    Those that are arrays are right-hand sides.
    """
    arrays = [matrix, *[a for a in others if isinstance(a, np.ndarray)]]
    if ONE_THREAD is None or not _alone(max([a.shape[-1] * a.shape[-2] for a in arrays])):
        return function(matrix, *others)
    with ONE_THREAD:
        return function(matrix, *others)


def _alone(elements: int) -> bool:
    """Whether matrices and right-hand sides of at most so many elements are for one thread."""
    return OPTIONS.threads_intra == 1 or ALONE_FROM <= elements < SHARED_FROM


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


# The functions of `numpy.linalg` for loops that other releases of NumPy name otherwise.
_WITHOUT_LOOP: dict[str, Callable[..., Any]] = {
    "eig": np.linalg.eig,
    "eigh_lo": np.linalg.eigh,
    "eigvals": np.linalg.eigvals,
    "eigvalsh_lo": np.linalg.eigvalsh,
    "inv": np.linalg.inv,
    "solve": np.linalg.solve,
    "svd": functools.partial(np.linalg.svd, compute_uv=False),
    "svd_f": np.linalg.svd,
    "svd_s": functools.partial(np.linalg.svd, full_matrices=False),
}
_DOUBLE = {"f": np.dtype("d"), "F": np.dtype("D")}


def _looped(name: str, *arrays: Any) -> Any:
    """What a loop of NumPy's over matrices gives for arrays of one dtype, in this dtype's precision.

    The functions of `numpy.linalg` compute float32 as float64, and take longer than small matrices do.
    Raises LinAlgError.
    """
    loop = linalg_loop(name)
    if loop is None:
        return _WITHOUT_LOOP[name](*arrays)
    try:
        with np.errstate(all="ignore", invalid="raise"):
            return loop(*arrays)
    except FloatingPointError:
        raise np.linalg.LinAlgError(f"{name} failed") from None


def eigenvectors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values, vectors) of the lower triangles' symmetric or Hermitian matrices. Raises LinAlgError."""
    return _looped("eigh_lo", a)


def eigenvalues(a: np.ndarray) -> np.ndarray:
    """The eigenvalues of the lower triangles' symmetric or Hermitian matrices. Raises LinAlgError."""
    return _looped("eigvalsh_lo", a)


def general_eigenvectors(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values, vectors) of matrices. Raises LinAlgError, for infinities and NaN too."""
    return _looped("eig", _finite(a))


def general_eigenvalues(a: np.ndarray) -> np.ndarray:
    """The eigenvalues of matrices. Raises LinAlgError, for infinities and NaN too."""
    return _looped("eigvals", _finite(a))


def _finite(a: np.ndarray) -> np.ndarray:
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("there are infinities or NaN")
    return a


def singular_vectors(a: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(u, s, v^H) of finite matrices. Raises LinAlgError."""
    return _looped("svd_f" if full else "svd_s", a)


def singular_values(a: np.ndarray) -> np.ndarray:
    """The singular values of finite matrices. Raises LinAlgError."""
    return _looped("svd", a)


def orthogonal_factors(a: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray]:
    """(q, r) of matrices [..., m, n]."""
    (m, n), least = a.shape[-2:], min(a.shape[-2:])
    functions = lapack_functions(a.dtype.char)
    columns = m if full else least
    loops = linalg_loop("qr_r_raw"), linalg_loop("qr_reduced"), linalg_loop("qr_complete")
    if max(m, n) <= MAX_ROWS_IN_DOUBLE and all(loops) and a.size:
        factor, *expand = loops
        wide = _widened(a, copy=True)
        q = expand[columns > least](wide, factor(wide))
        return q, np.where(_upper(columns, n), wide[..., :columns, :], 0)
    if functions is None or not a.size:
        return np.linalg.qr(a, "complete" if full else "reduced")
    factored = np.array(a.reshape(-1, m, n).swapaxes(-1, -2), order="C")
    q = np.ascontiguousarray(functions.orthogonalise(factored, columns).swapaxes(-1, -2))
    r = np.zeros((len(q), columns, n), a.dtype)
    upper = _upper(least, n) if least * n <= MAX_KEPT_MASK else _upper.__wrapped__(least, n)
    np.copyto(r[:, :least], factored.swapaxes(-1, -2)[:, :least], where=upper)
    return q.reshape(*a.shape[:-1], columns), r.reshape(*a.shape[:-2], columns, n)


@functools.lru_cache(maxsize=16)
def _upper(rows: int, columns: int) -> np.ndarray:
    """True on the diagonal and above it."""
    return ~np.tri(rows, columns, -1, dtype=np.bool_)


def determinant(a: np.ndarray) -> np.ndarray:
    """The determinants of matrices, in double precision."""
    with np.errstate(all="ignore"):
        diagonals = _factored_diagonals(a)
        if diagonals is None:
            return (linalg_loop("det") or np.linalg.det)(_widened(a))
        product = diagonals.prod(-1)
        # Parts of a product may be outside of the range of the dtype where the whole is not.
        far = ~np.isfinite(product) | (product == 0)
        if far.any():
            sign, size = _log_of_product(diagonals)
            product = np.where(far, sign * np.exp(size), product)
        return product


def log_determinant(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(sign, logarithm of the absolute value) of the determinants of matrices, in double precision."""
    with np.errstate(all="ignore"):
        diagonals = _factored_diagonals(a)
        if diagonals is None:
            return (linalg_loop("slogdet") or np.linalg.slogdet)(_widened(a))
        return _log_of_product(diagonals)


def _widened(a: np.ndarray, copy: bool = False) -> np.ndarray:
    """Matrices in double precision."""
    return a.astype(_DOUBLE.get(a.dtype.char, a.dtype), copy=copy)


def _factored_diagonals(a: np.ndarray) -> np.ndarray | None:
    """Numbers [..., n] whose products are the determinants; None where NumPy computes them as fast."""
    n, functions = a.shape[-1], lapack_functions(a.dtype.char)
    if functions is None or n < MIN_FACTORED_ROWS or not a.size or a.dtype.char not in _DOUBLE:
        return None
    lu = np.array(a.reshape(-1, n, n), order="C")
    pivots, _ = functions.factorise(lu)
    found = _widened(np.diagonal(lu, axis1=-2, axis2=-1)).copy()
    swaps = (pivots != np.arange(1, n + 1)).sum(-1)
    found[swaps % 2 == 1, 0] *= -1
    return found.reshape(*a.shape[:-1])


def _log_of_product(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(sign, logarithm of the absolute value) of the products along the last axis."""
    sizes = np.abs(numbers)
    if numbers.dtype.kind == "c":
        signs = np.divide(numbers, sizes, out=np.zeros_like(numbers), where=sizes != 0)
    else:
        signs = np.sign(numbers)  # also of infinities
    return signs.prod(-1), np.log(sizes).sum(-1)


def cholesky(a: np.ndarray) -> np.ndarray:
    """The lower factors of matrices; for one that has none the lower triangle is NaN."""
    loop = linalg_loop("cholesky_lo")
    if not a.size:
        return a
    if loop is None:
        return _separate_factors(a)
    with np.errstate(all="ignore"):
        result = loop(a)
        # The upper triangle has zeros, or NaN with all else.
        failed = np.isnan(result[..., :1, -1]).any(-1)
        if failed.any():
            result[failed] = np.tril(np.full(a.shape[-2:], np.nan, a.dtype))
    return result


def _separate_factors(a: np.ndarray) -> np.ndarray:
    """`cholesky`, by a function that refuses all matrices for one."""
    result = np.tril(np.full_like(a, np.nan))
    shape = -1, *a.shape[-2:]
    for matrix, found in zip(a.reshape(shape), result.reshape(shape), strict=True):
        with contextlib.suppress(np.linalg.LinAlgError):
            found[...] = np.linalg.cholesky(matrix)
    return result


def triangular_solution(a: Any, b: Any, lower: bool, adjoint: bool) -> np.ndarray:
    """x with a @ x = b for the triangles of matrices `a` [..., n, n], or for their adjoints.

    The batches of `a` and `b` broadcast. A 0 on a diagonal divides: the rest is infinite or NaN.
    """
    singular = (np.diagonal(a, axis1=-2, axis2=-1) == 0).any()
    batch, wide = a.shape[:-2], a
    if batch != b.shape[:-2]:
        batch = np.broadcast_shapes(batch, b.shape[:-2])
        b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
        wide = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    # A copy, which becomes the solution.
    x = np.array(b, order="C")
    functions = lapack_functions(x.dtype.char)
    if not x.size:
        return x
    if singular or math.prod(batch) >= BATCH_PER_STEP * a.shape[-1]:
        with np.errstate(all="ignore"):
            _substitute(wide.conj().swapaxes(-1, -2) if adjoint else wide, x, lower != adjoint)
        return x
    if functions is None:
        triangle = np.tril(a) if lower else np.triu(a)
        return lapack(np.linalg.solve, triangle.swapaxes(-1, -2).conj() if adjoint else triangle, x)
    wide = np.ascontiguousarray(wide)
    flat, solved = wide.reshape(-1, *a.shape[-2:]), x.reshape(-1, *b.shape[-2:])
    lapack(functions.solve_triangular, flat, solved, lower, adjoint)
    return x


def _substitute(a: Any, x: np.ndarray, lower: bool) -> None:
    """Replaces `x` by the solutions, row after row, in all matrices at once."""
    n = a.shape[-1]
    for i in range(n) if lower else range(n - 1, -1, -1):
        rest = slice(i + 1, n) if lower else slice(0, i)
        row = x[..., i, None, :]
        row /= a[..., i, i, None, None]
        x[..., rest, :] -= a[..., rest, i, None] * row


def _apart(name: str, a: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """A function of matrices, NaN for those with NaN in which it takes a 0 for the largest element."""
    try:
        return _looped(name, a, *others)
    except np.linalg.LinAlgError:
        known = ~np.isnan(a).any((-1, -2))
        if known.all():
            raise
        result = np.full_like((*others, a)[0], np.nan)
        result[known] = _looped(name, a[known], *[x[known] for x in others])
        return result


def solution(a: np.ndarray, b: np.ndarray, adjoint: bool) -> np.ndarray:
    """x with a @ x = b for matrices of one batch, or with the adjoint of `a`.

    Raises LinAlgError for a singular matrix.
    """
    found = small_matrices("solve", a, b, adjoint=adjoint)
    if found is not None:
        return found
    functions = lapack_functions(a.dtype.char)
    if functions is None or a.shape[-1] < MIN_SOLVED_ROWS[a.dtype.char] or not b.size:
        return _apart("solve", a.swapaxes(-1, -2).conj() if adjoint else a, b)
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
        return _apart("inv", a)
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
    count, n = pivots.shape
    if count > MAX_SWAPPED_APART:
        order = np.tile(np.arange(n), (count, 1))
        every = np.arange(count)
        for i in range(n):
            row = pivots[:, i] - 1
            order[every, row], order[:, i] = order[:, i], order[every, row]
        return order
    orders: list[list[int]] = []
    for swaps in pivots.tolist():
        order = list(range(n))
        for i, row in enumerate(swaps, 1):
            if row != i:
                order[i - 1], order[row - 1] = order[row - 1], order[i - 1]
        orders.append(order)
    return np.array(orders, np.intp).reshape(count, n)


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
