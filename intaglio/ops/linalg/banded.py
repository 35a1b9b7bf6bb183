"""Banded matrices: products and solutions that never write the whole matrix down.

A triangular band of K diagonals is [..., K, M] with element j of each row in row j of the
matrix; a tridiagonal matrix is [..., 3, M], or three rows, in the same alignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import COMPLEX, float16, float32, float64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import conjugate, constant, spec_of, unbroadcast
from intaglio.ops.linalg.decomposition import adjoint, check_batches, matrix_dims, product, shaped
from intaglio.ops.linalg.lapack import banded_solution, tridiagonal_solution

TYPES = (float64, float32, *COMPLEX)


def _moved(x: Any, shift: int) -> Any:
    """The rows moved down by `shift` (up if negative), zeros moving in."""
    result = np.zeros_like(x)
    if shift > 0:
        result[..., shift:, :] = x[..., :-shift, :]
    else:
        result[..., :shift, :] = x[..., -shift:, :]
    return result


@op
class BandedTriangularSolve(Op):
    """x with matrix @ x = rhs for a triangular matrix given by its diagonals.

    Of a lower matrix the first row is the main diagonal, of an upper one the last row is.
    """

    signature = "matrix: T, rhs: T; lower: bool = True, adjoint: bool = False -> output: T"
    T = (float64, float32, float16, *COMPLEX)
    batching = "broadcast"

    def infer(self, matrix: Spec, rhs: Spec) -> Spec:
        batch, _, size = matrix_dims(matrix, square=False)
        others, height, width = matrix_dims(rhs, square=False)
        if size is not None and height is not None and size != height:
            raise ShapeError(f"Dimensions must be equal, but are {size} and {height}")
        size = height if size is None else size
        return Spec(rhs.dtype, shaped(shapes.broadcast(batch, others), size, width))

    def kernel(self, matrix, rhs, lower, adjoint):
        if matrix.shape[-1] != rhs.shape[-2]:
            raise invalid_argument(
                f"Input matrix and rhs are incompatible. Shapes: {list(matrix.shape)} and {list(rhs.shape)}"
            )
        for position, x in enumerate((matrix, rhs)):
            if not x.size:
                raise invalid_argument(
                    f"In[{position}] must not be an empty tensor: its shape is {list(x.shape)}"
                )
        bands = matrix if lower else matrix[..., ::-1, :]
        if np.any(bands[..., 0, :] == 0):
            raise invalid_argument("Input matrix is not invertible.")
        found = banded_solution(matrix, rhs, lower, adjoint)
        if found is not None:
            return found
        if adjoint:
            bands, lower = _adjoint_bands(bands, lower), not lower
        return _solve_band(bands, rhs, lower)

    def gradient(self, matrix, rhs, output, doutput, lower, adjoint) -> Any:
        by_rhs = raw.BandedTriangularSolve(matrix, doutput, lower=lower, adjoint=not adjoint)
        first, second = (output, by_rhs) if adjoint else (by_rhs, output)
        whole = raw.Neg(product(first, second, adj_b=True))
        by_matrix = raw.MatrixDiagPartV3(
            whole, _span(matrix, lower), constant(0, whole), align="LEFT_RIGHT"
        )
        return (
            unbroadcast(by_matrix, spec_of(matrix), spec_of(by_matrix)),
            unbroadcast(by_rhs, spec_of(rhs), spec_of(by_rhs)),
        )


def _span(matrix: Any, lower: bool) -> Any:
    """The numbers of the lowest and the highest diagonal of a band."""
    dims = matrix.dims
    if dims is not None and dims[-2] is not None:
        count = dims[-2]
        return np.array([1 - count, 0] if lower else [0, count - 1], np.int32)
    at = raw.Sub(raw.Rank(matrix), np.int32(2))
    others = raw.Sub(raw.GatherV2(raw.Shape(matrix), at, np.int32(0)), np.int32(1))
    zero = raw.Sub(others, others)
    return raw.Pack([raw.Neg(others), zero] if lower else [zero, others], axis=0)


def _adjoint_bands(bands: Any, lower: bool) -> Any:
    """The diagonals of the adjoint, the main one first."""
    result = np.zeros_like(bands)
    n = bands.shape[-1]
    for k in range(min(bands.shape[-2], n)):
        if lower:
            result[..., k, : n - k] = bands[..., k, k:].conj()
        else:
            result[..., k, k:] = bands[..., k, : n - k].conj()
    return result


def _solve_band(bands: Any, rhs: Any, lower: bool) -> Any:
    """Row after row, all matrices and right-hand sides at once."""
    lead = np.broadcast_shapes(bands.shape[:-2], rhs.shape[:-2])
    x = np.empty((*lead, *rhs.shape[-2:]), rhs.dtype)
    n, width = bands.shape[-1], bands.shape[-2]
    for i in range(n) if lower else range(n - 1, -1, -1):
        reach = min(width - 1, i if lower else n - 1 - i)
        total = rhs[..., i, :]
        if reach:
            weights = bands[..., 1 : reach + 1, i]
            known = (
                x[..., i - 1 : None if i == reach else i - reach - 1 : -1, :]
                if lower
                else x[..., i + 1 : i + reach + 1, :]
            )
            total = total - (weights[..., None, :] @ known)[..., 0, :]
        x[..., i, :] = total / bands[..., 0, i, None]
    return x


@op
class TridiagonalMatMul(Op):
    """The product of tridiagonal matrices, given by their diagonals [..., 1, M], and rhs."""

    signature = "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T"
    T = TYPES
    batching = "alike"

    def infer(self, superdiag: Spec, maindiag: Spec, subdiag: Spec, rhs: Spec) -> Spec:
        for spec in (superdiag, maindiag, subdiag):
            matrix_dims(spec, square=False)
        batch, rows, columns = matrix_dims(rhs, square=False)
        return Spec(rhs.dtype, shaped(batch, rows, columns))

    def kernel(self, superdiag, maindiag, subdiag, rhs):
        for diagonal in (superdiag, maindiag, subdiag):
            check_batches(diagonal, rhs)
        above, main, below = (np.swapaxes(d, -1, -2) for d in (superdiag, maindiag, subdiag))
        for name, diagonal in (("superdiag", above), ("maindiag", main)):
            if diagonal.shape[-2] != rhs.shape[-2]:
                raise invalid_argument(
                    f"{name} must have as many elements as rhs has rows: "
                    f"{diagonal.shape[-2]} vs. {rhs.shape[-2]}"
                )
        if rhs.shape[-2] == 0:
            return rhs.copy()
        return main * rhs + above * _moved(rhs, -1) + below * _moved(rhs, 1)

    def gradient(self, superdiag, maindiag, subdiag, rhs, doutput) -> Any:
        conjugated = conjugate(rhs)

        def diagonal(moved: Any) -> Any:
            total = raw.Sum(raw.Mul(moved, doutput), np.array([-1], np.int32))
            return raw.ExpandDims(total, np.int32(-2))

        by_rhs = raw.TridiagonalMatMul(
            conjugate(_shifted(subdiag, -1)),
            conjugate(maindiag),
            conjugate(_shifted(superdiag, 1)),
            doutput,
        )
        up = adjoint(_shifted(adjoint(conjugated), -1))
        down = adjoint(_shifted(adjoint(conjugated), 1))
        return diagonal(up), diagonal(conjugated), diagonal(down), by_rhs


def _shifted(x: Any, shift: int) -> Any:
    """The last dimension shifted by one, with a zero shifted in."""
    rolled = raw.Roll(x, np.int32(shift), np.int32(-1))
    size = raw.StridedSlice(
        raw.Shape(x),
        np.array([-1], np.int32),
        np.array([0], np.int32),
        np.array([1], np.int32),
        end_mask=1,
        shrink_axis_mask=1,
    )
    at = np.int32(0) if shift > 0 else raw.Sub(size, np.int32(1))
    kept = raw.OneHot(at, size, constant(0, x), constant(1, x))
    return raw.Mul(rolled, kept)


@op
class TridiagonalSolve(Op):
    """x with A @ x = rhs for tridiagonal matrices, given as [..., 3, M] diagonals."""

    signature = (
        "diagonals: T, rhs: T; partial_pivoting: bool = True,"
        " perturb_singular: bool = False -> output: T"
    )
    T = TYPES
    batching = "alike"

    def infer(self, diagonals: Spec, rhs: Spec) -> Spec:
        batch, three, size = matrix_dims(diagonals, square=False)
        others, height, width = matrix_dims(rhs, square=False)
        if three is not None and three != 3:
            raise ShapeError(f"Expected 3 diagonals got {three}")
        if size is not None and height is not None and size != height:
            raise ShapeError(f"Dimensions must be equal, but are {size} and {height}")
        size = height if size is None else size
        return Spec(rhs.dtype, shaped(shapes.merge(batch, others), size, width))

    def kernel(self, diagonals, rhs, partial_pivoting, perturb_singular):
        rows = diagonals.shape[-2] if diagonals.ndim > 1 else 0
        if rows != 3:
            raise invalid_argument(
                f"Expected diagonals to be provided as a matrix with 3 rows, got {rows} rows."
            )
        check_batches(diagonals, rhs)
        if diagonals.shape[-1] != rhs.shape[-2]:
            raise invalid_argument(
                "Expected as many elements in each diagonal as rhs has rows: "
                f"{diagonals.shape[-1]} vs. {rhs.shape[-2]}"
            )
        if perturb_singular and not partial_pivoting:
            raise invalid_argument("Partial pivoting must be enabled to perturb singular")
        with np.errstate(all="ignore"):
            if partial_pivoting and not perturb_singular:
                found = tridiagonal_solution(diagonals, rhs)
                if found is not None:
                    return found
            if partial_pivoting:
                return _solve_pivoted(diagonals, rhs, perturb_singular)
            return _solve_thomas(diagonals, rhs)

    def gradient(self, diagonals, output, doutput, partial_pivoting, perturb_singular) -> Any:
        above, main, below = raw.Unpack(diagonals, num=3, axis=-2)
        transposed = raw.Pack([_shifted(below, -1), main, _shifted(above, 1)], axis=-2)
        by_rhs = raw.TridiagonalSolve(
            conjugate(transposed),
            doutput,
            partial_pivoting=partial_pivoting,
            perturb_singular=perturb_singular,
        )
        known = conjugate(output)
        up = adjoint(_shifted(adjoint(known), -1))
        down = adjoint(_shifted(adjoint(known), 1))
        rows = [
            raw.Neg(raw.Sum(raw.Mul(x, by_rhs), np.array([-1], np.int32)))
            for x in (up, known, down)
        ]
        return raw.Pack(rows, axis=-2), by_rhs


def _solve_thomas(diagonals: Any, rhs: Any) -> Any:
    """Without pivots: NaN for a matrix that needs them."""
    above, main, below = (diagonals[..., k, :, None] for k in range(3))
    n = rhs.shape[-2]
    if n == 0:
        return rhs.copy()
    x = rhs.copy()
    ratio = np.empty_like(above)
    pivot = main[..., 0, :]
    bad = np.zeros(pivot.shape, bool)
    for i in range(n):
        if i:
            pivot = main[..., i, :] - below[..., i, :] * ratio[..., i - 1, :]
            x[..., i, :] -= below[..., i, :] * x[..., i - 1, :]
        bad |= pivot == 0
        ratio[..., i, :] = above[..., i, :] / pivot
        x[..., i, :] /= pivot
    for i in range(n - 2, -1, -1):
        x[..., i, :] -= ratio[..., i, :] * x[..., i + 1, :]
    return np.where(bad[..., None, :], np.nan, x).astype(rhs.dtype, copy=False)


def _solve_pivoted(diagonals: Any, rhs: Any, perturb: bool) -> Any:
    """Gaussian elimination with row exchanges: the upper factor has three diagonals."""
    above, main, below = (diagonals[..., k, :, None].copy() for k in range(3))
    n = rhs.shape[-2]
    if n == 0:
        return rhs.copy()
    x = rhs.copy()
    second = np.zeros_like(above)
    above[..., -1, :] = 0
    for i in range(n - 1):
        lead, next_lead = main[..., i, :].copy(), below[..., i + 1, :]
        swap = np.abs(next_lead) > np.abs(lead)
        rows = (
            (lead, above[..., i, :].copy(), second[..., i, :].copy()),
            (next_lead, main[..., i + 1, :].copy(), above[..., i + 1, :].copy()),
        )
        first = [np.where(swap, b, a) for a, b in zip(*rows, strict=True)]
        other = [np.where(swap, a, b) for a, b in zip(*rows, strict=True)]
        factor = np.where(first[0] == 0, 0, other[0] / first[0])
        main[..., i, :], above[..., i, :], second[..., i, :] = first
        main[..., i + 1, :] = other[1] - factor * first[1]
        above[..., i + 1, :] = other[2] - factor * first[2]
        upper, lower = x[..., i, :].copy(), x[..., i + 1, :].copy()
        x[..., i, :] = np.where(swap, lower, upper)
        x[..., i + 1, :] = np.where(swap, upper, lower) - factor * x[..., i, :]
    zero = main == 0
    if perturb and zero.any():
        size = np.abs(diagonals).max(axis=(-1, -2), initial=0.0)[..., None, None]
        eps = np.finfo(main.real.dtype).eps
        main = np.where(zero, eps * np.maximum(size, 1), main)
    for i in range(n - 1, -1, -1):
        total = x[..., i, :]
        if i + 1 < n:
            total = total - above[..., i, :] * x[..., i + 1, :]
        if i + 2 < n:
            total = total - second[..., i, :] * x[..., i + 2, :]
        x[..., i, :] = total / main[..., i, :]
    if not perturb:
        x = np.where(zero.any(axis=-2, keepdims=True), np.nan, x)
    return x.astype(rhs.dtype, copy=False)
