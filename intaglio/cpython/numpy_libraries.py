"""C functions of the libraries that NumPy's extension modules are linked with."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

# The names of OpenBLAS' functions in NumPy's wheels and in systems' packages.
_OPENBLAS = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)


# The affixes of CBLAS and LAPACK names in them, and whether their integers have 64 bits.
_SCHEMES = (
    ("scipy_{}64_", "scipy_{}_64_", 64),
    ("{}64_", "{}_64_", 64),
    ("scipy_{}", "scipy_{}_", 32),
    ("{}", "{}_", 32),
)
# CBLAS constants: row-major order, and the options of a triangular matrix.
_ROW_MAJOR, _LEFT = 101, 141
_UNIT = {False: 131, True: 132}
_UPLO = {False: 121, True: 122}
_TRANSPOSE = {"N": 111, "C": 113}
# The block size of LAPACK's inversion and factorisations, in columns, which determines their workspace.
_BLOCK_COLUMNS = 64
# The letters of NumPy's dtypes in the names of LAPACK's functions.
_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


def openblas_thread_count() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """The functions that get and set OpenBLAS' number of threads; None if NumPy has another library."""
    library = _library(ctypes.PyDLL)
    for name in _OPENBLAS:
        if hasattr(library, name.format("set")):
            return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


def _library(loader: Callable[[str], Any]) -> Any:
    """The library that NumPy's linear algebra is linked with; None if it is unknown."""
    try:
        # A symbol look-up also searches the libraries that the extension was linked with.
        return loader(np.linalg._umath_linalg.__file__)  # type: ignore[attr-defined]  # no other name leads to the library
    except (AttributeError, OSError):
        return None


class Lapack:
    """Functions of BLAS and LAPACK for one dtype. They release the interpreter's lock."""

    def __init__(self, library: Any, letter: str, scheme: tuple[str, str, int]) -> None:
        blas, lapack, bits = scheme
        self._integer = ctypes.c_int64 if bits == 64 else ctypes.c_int32
        self._pivots = np.dtype(f"i{bits // 8}")
        kind = {"s": ctypes.c_float, "d": ctypes.c_double}.get(letter, ctypes.c_void_p)
        one = np.ones(1, {"s": "f", "d": "d", "c": "F", "z": "D"}[letter])
        # Complex scalars are passed by pointer; `one` keeps the memory alive.
        self._scale = one.ctypes.data_as(kind) if kind is ctypes.c_void_p else 1.0
        pointer, integer = ctypes.c_void_p, self._integer
        self._trsm = getattr(library, blas.format(f"cblas_{letter}trsm"))
        self._trsm.argtypes = [
            *[ctypes.c_int] * 5, integer, integer, kind, pointer, integer, pointer, integer,
        ]  # fmt: skip
        self._trsm.restype = None
        self._getrf = getattr(library, lapack.format(f"{letter}getrf"))
        self._getrf.argtypes = [pointer] * 6
        self._getrf.restype = None
        self._getri = getattr(library, lapack.format(f"{letter}getri"))
        self._getri.argtypes = [pointer] * 7
        self._getri.restype = None
        self._geqrf = getattr(library, lapack.format(f"{letter}geqrf"))
        self._geqrf.argtypes = [pointer] * 8
        self._geqrf.restype = None
        orthogonal = "orgqr" if letter in "sd" else "ungqr"
        self._orgqr = getattr(library, lapack.format(f"{letter}{orthogonal}"))
        self._orgqr.argtypes = [pointer] * 9
        self._orgqr.restype = None
        self._gtsv = getattr(library, lapack.format(f"{letter}gtsv"))
        self._gtsv.argtypes = [pointer] * 8
        self._gtsv.restype = None
        self._tbsv = getattr(library, blas.format(f"cblas_{letter}tbsv"))
        self._tbsv.argtypes = [
            *[ctypes.c_int] * 4, integer, integer, pointer, integer, pointer, integer,
        ]  # fmt: skip
        self._tbsv.restype = None
        self._dtype = one.dtype

    def solve_triangular(
        self, a: np.ndarray, x: np.ndarray, lower: bool, adjoint: bool, unit: bool = False
    ) -> None:
        """Solves triangular systems in place: `x` [batch, n, k] becomes inv(a) @ x, or inv(adjoint(a)) @ x.

        `a` is [batch, n, n], of which one triangle is read, with `unit` as if its diagonal were
        ones. Both are in C order.
        """
        rows, columns = x.shape[1:]
        transpose = _TRANSPOSE["C" if adjoint else "N"]
        options = (
            _ROW_MAJOR,
            _LEFT,
            _UPLO[lower],
            transpose,
            _UNIT[unit],
            rows,
            columns,
            self._scale,
        )
        for matrix, solution in zip(_addresses(a), _addresses(x), strict=True):
            self._trsm(*options, matrix, rows, solution, columns)

    def factorise(self, a: np.ndarray) -> tuple[np.ndarray, bool]:
        """Replaces matrices [batch, n, n], which are in column-major order, by their factors L and U.

        Gives the row that each row was swapped with, [batch, n], counted from 1, and whether all
        matrices are invertible: of one with NaN that is not known.
        """
        count, n = a.shape[:2]
        size = self._integer(n)
        pivots = np.empty((count, n), self._pivots)
        infos = np.empty(count, self._pivots)
        sizes, getrf, width = ctypes.addressof(size), self._getrf, infos.itemsize
        for matrix, row, info in zip(
            _addresses(a), _addresses(pivots), range(first := address(infos), first + width * count, width),
            strict=True,
        ):  # fmt: skip
            getrf(sizes, sizes, matrix, sizes, row, info)
        singular = infos.nonzero()[0]
        return pivots, not singular.size or bool(np.isnan(a[singular]).any((1, 2)).all())

    def orthogonalise(self, a: np.ndarray, columns: int) -> np.ndarray:
        """The matrices Q [batch, columns, m], in column-major order, of the factors Q @ R.

        `a` [batch, n, m] are the matrices of m rows in column-major order, at least as many columns as rows
        of R; the triangle of its first min(m, n) rows becomes that of R.
        """
        count, n, m = a.shape
        least = min(m, n)
        scales = np.empty((count, max(least, 1)), self._dtype)
        q = np.empty((count, columns, m), self._dtype)
        operand = np.empty(max(n, columns, 1) * _BLOCK_COLUMNS, self._dtype)
        rows, width, wide, inner, length, info = (
            self._integer(k) for k in (m, n, columns, least, operand.size, 0)
        )
        at_rows, at_width, at_wide, at_inner, at_length, at_info = map(
            ctypes.addressof, (rows, width, wide, inner, length, info)
        )
        geqrf, orgqr, work = self._geqrf, self._orgqr, address(operand)
        for matrix, scale in zip(_addresses(a), _addresses(scales), strict=True):
            geqrf(at_rows, at_width, matrix, at_rows, scale, work, at_length, at_info)
        q[:, :least] = a[:, :least]
        for matrix, scale in zip(_addresses(q), _addresses(scales), strict=True):
            orgqr(at_rows, at_wide, at_inner, matrix, at_rows, scale, work, at_length, at_info)
        return q

    def invert(self, a: np.ndarray, pivots: np.ndarray) -> None:
        """Replaces the factors of `factorise` by the inverses."""
        size, info = self._integer(a.shape[1]), self._integer(0)
        operand = np.empty(a.shape[1] * _BLOCK_COLUMNS, self._dtype)
        length = self._integer(operand.size)
        sizes, lengths, infos = (ctypes.addressof(n) for n in (size, length, info))
        for matrix, row in zip(_addresses(a), _addresses(pivots), strict=True):
            self._getri(sizes, matrix, sizes, row, address(operand), lengths, infos)

    def solve_tridiagonal(self, diagonals: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Replaces `x` [batch, k, n], columns of right-hand sides, by the solutions.

        `diagonals` [batch, 3, n] are those above (n - 1 elements), on and below the main diagonal (n - 1
        elements), and are overwritten. Gives whether each matrix is invertible, [batch].
        """
        size, columns, info = (self._integer(n) for n in (x.shape[2], x.shape[1], 0))
        sizes, widths, infos = (ctypes.addressof(n) for n in (size, columns, info))
        regular = np.empty(len(x), np.bool_)
        row = diagonals.strides[1]
        for i, (above, solution) in enumerate(
            zip(_addresses(diagonals), _addresses(x), strict=True)
        ):
            self._gtsv(
                sizes, widths, above + 2 * row, above + row, above, solution, sizes, infos
            )  # fmt: skip
            regular[i] = info.value == 0
        return regular

    def solve_banded(self, a: np.ndarray, x: np.ndarray, lower: bool, adjoint: bool) -> None:
        """Solves banded triangular systems, or those of the adjoints, in place of `x` [batch, n, k].

        `a` [batch, n, width] has the elements of each row, from left to right. Both are in C order.
        """
        (rows, columns), width = x.shape[1:], a.shape[2]
        transpose = _TRANSPOSE["C" if adjoint else "N"]
        for matrix, solution in zip(_addresses(a), _addresses(x), strict=True):
            for column in range(columns):
                self._tbsv(
                    _ROW_MAJOR, _UPLO[lower], transpose, _UNIT[False], rows, width - 1,
                    matrix, width, solution + column * x.itemsize, columns,
                )  # fmt: skip


def address(array: np.ndarray) -> int:
    """The address of an array's data; takes a third of the time of `array.ctypes.data`."""
    return array.__array_interface__["data"][0]


def _addresses(a: np.ndarray) -> range:
    """The addresses of the elements of an array's first axis."""
    step = a.strides[0] or 1
    first = address(a)
    return range(first, first + step * len(a), step)


@functools.cache
def lapack_functions(letter: str) -> Lapack | None:
    """The functions for a dtype by NumPy's letter; None if NumPy's library has other names."""
    library = _library(ctypes.CDLL)
    for scheme in _SCHEMES:
        try:
            return Lapack(library, _LETTERS[letter], scheme)
        except AttributeError:
            continue
    return None


@functools.cache
def linalg_loop(name: str) -> Any:
    """The generalised ufunc behind a function of `numpy.linalg`; None if NumPy has none of this name.

    It computes in the dtype of its arguments, where NumPy's functions compute float32 as float64. Where an
    algorithm fails it sets the floating-point flag of invalid operations, and the result is NaN.
    """
    return getattr(getattr(np.linalg, "_umath_linalg", None), name, None)


@functools.cache
def vector_bytes() -> int | None:
    """The vector bytes of compiled code, from NumPy's CPU features; None if NumPy does not report them.

    `native/llvm/processor.py` has the same number from LLVM, which takes long to load.
    """
    module = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    features: dict[str, bool] = getattr(module, "__cpu_features__", {})
    if not features:
        return None
    widest = 64 if features.get("AVX512VL") else 32 if features.get("AVX2") else 16
    return min(widest, int(os.environ.get("INTAGLIO_VECTOR_BYTES", "64")))
