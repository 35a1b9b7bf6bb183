"""Factorisations of matrices, and what follows from them: inverses, solutions, determinants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import COMPLEX, bfloat16, float16, float32, float64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import raw, short_floats
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import conjugate, constant, spec_of, unbroadcast
from intaglio.ops.linalg.lapack import (
    cholesky,
    determinant,
    eigenvalues,
    eigenvectors,
    inverse,
    lapack,
    log_determinant,
    orthogonal_factors,
    singular_values,
    singular_vectors,
    small_matrices,
    solution,
    triangular_solution,
)
from intaglio.ops.linalg.matmul import brackets

TYPES = (float64, float32, float16, *COMPLEX)


def matrices(
    x: Any, square: bool = True, text: str = "Input matrix must be square. Its shape is {shape}"
) -> Any:
    """The matrices, wide enough for LAPACK.

    Raises InvalidArgumentError for another shape; of matrices that have to be square, with `text`.
    """
    if x.ndim < 2:
        raise invalid_argument(f"Input tensor 0 must have rank >= 2, got {x.ndim}")
    if square and x.shape[-1] != x.shape[-2]:
        height, width = x.shape[-2:]
        raise invalid_argument(text.format(shape=brackets(x.shape), height=height, width=width))
    return short_floats.widened(x)


def carried_out(function: Callable[..., Any], text: str, *arrays: Any) -> Any:
    try:
        return lapack(function, *arrays)
    except np.linalg.LinAlgError:
        raise invalid_argument(text) from None


def matrix_dims(x: Spec, square: bool = True) -> tuple[Dims, Any, Any]:
    """(batch, rows, columns). Raises ShapeError."""
    if x.shape is None:
        return None, None, None
    if len(x.shape) < 2:
        raise ShapeError(f"Shape must be at least rank 2 but is rank {len(x.shape)}")
    rows, columns = x.shape[-2:]
    if square:
        if rows is not None and columns is not None and rows != columns:
            raise ShapeError(f"Dimensions must be equal, but are {rows} and {columns}")
        rows = columns = columns if rows is None else rows
    return x.shape[:-2], rows, columns


def shaped(batch: Dims, *sizes: Any) -> Dims:
    return None if batch is None else (*batch, *sizes)


def product(a: Any, b: Any, adj_a: bool = False, adj_b: bool = False) -> Any:
    """The product of two batches of matrices."""
    return raw.BatchMatMulV2(a, b, adj_x=adj_a, adj_y=adj_b)


def adjoint(x: Any) -> Any:
    """The conjugate transpose of each matrix, whatever the rank."""
    return conjugate(raw.Einsum([x], equation="...ij->...ji"))


def _lower(x: Any) -> Any:
    return raw.MatrixBandPart(x, np.int32(-1), np.int32(0))


def _upper(x: Any) -> Any:
    return raw.MatrixBandPart(x, np.int32(0), np.int32(-1))


def _diagonal(x: Any) -> Any:
    return raw.MatrixDiagPartV3(x, np.int32(0), constant(0, x))


def _halved(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    half = raw.Mul(_diagonal(x), constant(0.5, x))
    return _lower(raw.MatrixSetDiagV3(x, half, np.int32(0)))


def _by_columns(x: Any, vector: Any) -> Any:
    """The matrix with each column multiplied by an element of the vector."""
    if vector.dtype is not x.dtype:
        vector = raw.Cast(vector, DstT=x.dtype)
    return raw.Mul(x, raw.ExpandDims(vector, np.int32(-2)))


@op
class Cholesky(Op):
    """L with input = L @ L^H, from the lower triangle of the input.

    A matrix that is not positive definite has NaN in the lower triangle; TensorFlow 2.21 was asked.
    """

    signature = "input: T -> output: T"
    T = TYPES
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, shaped(*matrix_dims(input)))

    def kernel(self, input):
        x = matrices(input)
        found = small_matrices("cholesky", x)
        if found is None:
            found = lapack(cholesky, x)
        return found.astype(input.dtype, copy=False)

    def gradient(self, output, doutput) -> Any:
        # L^-H @ middle @ L^-1, and its adjoint: their mean is that of their adjoints.
        middle = _halved(product(output, doutput, adj_a=True))
        left = raw.MatrixTriangularSolve(output, middle, adjoint=True)
        whole = raw.MatrixTriangularSolve(output, adjoint(left), adjoint=True)
        return raw.Mul(raw.AddV2(whole, adjoint(whole)), constant(0.5, whole))


@op
class MatrixInverse(Op):
    """The inverse of each matrix, or the inverse's adjoint."""

    signature = "input: T; adjoint: bool = False -> output: T"
    T = TYPES
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, shaped(*matrix_dims(input)))

    def kernel(self, input, adjoint):
        x, text = matrices(input), "Input is not invertible."
        check_first_pivot(x, text)
        found = carried_out(inverse, text, x)
        if adjoint:
            found = np.ascontiguousarray(found.swapaxes(-1, -2).conj())
        return found.astype(input.dtype, copy=False)

    def gradient(self, output, doutput, adjoint) -> Any:
        right = product(doutput, output, adj_a=adjoint, adj_b=not adjoint)
        return raw.Neg(product(output, right, adj_a=not adjoint))


def _solution(matrix: Spec, rhs: Spec, broadcast: bool) -> Spec:
    batch, rows, _ = matrix_dims(matrix)
    others, height, width = matrix_dims(rhs, square=False)
    if rows is not None and height is not None and rows != height:
        raise ShapeError(f"Dimensions must be equal, but are {rows} and {height}")
    join = shapes.broadcast if broadcast else shapes.merge
    rows = height if rows is None else rows
    return Spec(rhs.dtype, shaped(join(batch, others), rows, width))


def check_batches(matrix: Any, rhs: Any) -> None:
    """Raises InvalidArgumentError unless there is one right-hand side for each matrix."""
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid_argument(
            "All input tensors must have the same outer dimensions: "
            f"{brackets(matrix.shape)} vs. {brackets(rhs.shape)}"
        )


def _check_rows(a: Any, b: Any) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise invalid_argument(
            f"Input matrix and rhs are incompatible. Shapes: {brackets(a.shape)} and {brackets(b.shape)}"
        )


def check_first_pivot(x: Any, text: str) -> None:
    """Raises InvalidArgumentError for a matrix that begins with NaN.

    TensorFlow 2.21 looks for pivots that are 0: a NaN among them is passed over unless it is the first.
    """
    if x.shape[-1] and (math.isnan(abs(x[0, 0])) if x.ndim == 2 else np.isnan(x[..., 0, 0]).any()):
        raise invalid_argument(text)


def _solve(matrix: Any, rhs: Any, adjoint: bool, text: str) -> Any:
    a = matrices(matrix, text="First input (lhs) must be a square matrix.")
    b = matrices(rhs, square=False)
    _check_rows(a, b)
    check_first_pivot(a, text)
    # A matrix of one rank less would be vectors to NumPy 1.
    b = b.reshape((1,) * (a.ndim - b.ndim) + b.shape)
    return carried_out(solution, text, a, b, adjoint).astype(rhs.dtype, copy=False)


@op
class MatrixSolve(Op):
    """x with matrix @ x = rhs, or with the matrix's adjoint."""

    signature = "matrix: T, rhs: T; adjoint: bool = False -> output: T"
    T = TYPES
    batching = "alike"

    def infer(self, matrix: Spec, rhs: Spec) -> Spec:
        return _solution(matrix, rhs, broadcast=False)

    def kernel(self, matrix, rhs, adjoint):
        check_batches(matrix, rhs)
        return _solve(matrix, rhs, adjoint, "Input matrix is not invertible.")

    def gradient(self, matrix, output, doutput, adjoint) -> Any:
        by_rhs = raw.MatrixSolve(matrix, doutput, adjoint=not adjoint)
        first, second = (output, by_rhs) if adjoint else (by_rhs, output)
        return raw.Neg(product(first, second, adj_b=True)), by_rhs


@op
class MatrixTriangularSolve(Op):
    """x with matrix @ x = rhs for a triangular matrix; batches broadcast.

    Divided by a 0 on the diagonal, as in TensorFlow 2.21, x is infinite or NaN.
    """

    signature = "matrix: T, rhs: T; lower: bool = True, adjoint: bool = False -> output: T"
    T = (bfloat16, *TYPES)
    batching = "broadcast"

    def infer(self, matrix: Spec, rhs: Spec) -> Spec:
        return _solution(matrix, rhs, broadcast=True)

    def kernel(self, matrix, rhs, lower, adjoint):
        text = "In[0] matrices in the last dimensions must be square ({width} =/= {height})"
        a, b = matrices(matrix, text=text), matrices(rhs, square=False)
        if a.shape[-1] != b.shape[-2]:
            raise invalid_argument(
                f"In[0] mismatch In[1] shape: {a.shape[-1]} vs. {b.shape[-2]}: {brackets(a.shape)} "
                f"{brackets(b.shape)} {int(lower)} {int(adjoint)}"
            )
        found = small_matrices("triangular", a, b, lower=lower, adjoint=adjoint)
        if found is not None:
            return found
        try:
            return triangular_solution(a, b, lower, adjoint).astype(rhs.dtype, copy=False)
        except ValueError:
            raise invalid_argument(
                f"In[0] and In[1] must have compatible batch dimensions: "
                f"{brackets(a.shape)} vs. {brackets(b.shape)}"
            ) from None

    def gradient(self, matrix, rhs, output, doutput, lower, adjoint) -> Any:
        by_rhs = raw.MatrixTriangularSolve(matrix, doutput, lower=lower, adjoint=not adjoint)
        first, second = (output, by_rhs) if adjoint else (by_rhs, output)
        by_matrix = raw.Neg(product(first, second, adj_b=True))
        by_matrix = _lower(by_matrix) if lower else _upper(by_matrix)
        return (
            unbroadcast(by_matrix, spec_of(matrix), spec_of(by_matrix)),
            unbroadcast(by_rhs, spec_of(rhs), spec_of(by_rhs)),
        )


def _for_each_matrix(numbers: Any) -> Any:
    """One number for each matrix, shaped to multiply matrices."""
    return raw.ExpandDims(raw.ExpandDims(numbers, np.int32(-1)), np.int32(-1))


@op
class MatrixDeterminant(Op):
    """The determinant of each matrix."""

    signature = "input: T -> output: T"
    T = TYPES
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, matrix_dims(input)[0])

    def kernel(self, input):
        x = matrices(input)
        found = small_matrices("determinant", x)
        if found is not None:
            return found
        with np.errstate(over="ignore"):
            return np.asarray(lapack(determinant, x)).astype(input.dtype)

    def gradient(self, input, output, doutput) -> Any:
        own = raw.Conj(output) if output.dtype.is_complex else output
        scale = _for_each_matrix(raw.Mul(doutput, own))
        return raw.Mul(scale, raw.MatrixInverse(input, adjoint=True))


@op
class LogMatrixDeterminant(Op):
    """(sign, logarithm of the absolute value) of each determinant."""

    signature = "input: T -> sign: T, log_abs_determinant: T"
    T = TYPES
    batching = "leading"

    def infer(self, input: Spec) -> Any:
        spec = Spec(input.dtype, matrix_dims(input)[0])
        return spec, spec

    def kernel(self, input):
        sign, size = lapack(log_determinant, matrices(input))
        sign = np.where(np.isnan(size), np.nan, sign)  # NumPy's says of which sign NaN is
        return sign.astype(input.dtype), np.asarray(size).astype(input.dtype)

    def gradient(self, input, dlog_abs_determinant) -> Any:
        if dlog_abs_determinant is None:
            return None
        inverse = raw.MatrixInverse(input, adjoint=True)
        return raw.Mul(_for_each_matrix(dlog_abs_determinant), inverse)


@op
class Qr(Op):
    """(q, r) with input = q @ r, q orthonormal and r upper triangular."""

    signature = "input: T; full_matrices: bool = False -> q: T, r: T"
    T = TYPES
    batching = "leading"

    def infer(self, input: Spec, full_matrices) -> Any:
        batch, m, n = matrix_dims(input, square=False)
        least = None if m is None or n is None else min(m, n)
        inner = m if full_matrices else least
        return (
            Spec(input.dtype, shaped(batch, m, inner)),
            Spec(input.dtype, shaped(batch, inner, n)),
        )

    def kernel(self, input, full_matrices):
        q, r = lapack(orthogonal_factors, matrices(input, square=False), full_matrices)
        return q.astype(input.dtype, copy=False), r.astype(input.dtype, copy=False)

    def gradient(self, q, r, dq, dr, full_matrices) -> Any:
        dims = r.dims
        wide = shapes.known(dims) and dims[-2] != dims[-1]
        if wide or full_matrices:
            raise NotImplementedError(
                "The gradient of Qr exists for matrices of full column rank, with rows >= columns "
                "and full_matrices=False only."
            )
        dq = raw.ZerosLike(q) if dq is None else dq
        dr = raw.ZerosLike(r) if dr is None else dr
        inner = product(q, dq, adj_a=True)
        outer = product(r, dr, adj_b=True)
        skew = raw.AddV2(raw.Sub(inner, adjoint(inner)), raw.Sub(outer, adjoint(outer)))
        below = raw.Sub(
            _lower(skew),
            raw.MatrixDiagV3(
                _diagonal(skew), np.int32(0), np.int32(-1), np.int32(-1), constant(0, skew)
            ),
        )
        return raw.AddV2(
            product(q, raw.AddV2(dr, _divided(below, r))),
            _divided(raw.Sub(dq, product(q, inner)), r),
        )


def _divided(x: Any, r: Any) -> Any:
    """x @ r^-H for an upper triangular r."""
    return adjoint(raw.MatrixTriangularSolve(r, adjoint(x), lower=False))


def _is_lost(x: Any) -> bool:
    """Whether TensorFlow 2.21 finds no eigenvalues: infinities on the diagonal have NaN as theirs."""
    return bool(np.isnan(np.tril(x)).any() or np.isinf(np.tril(x, -1)).any())


@op
class SelfAdjointEigV2(Op):
    """(eigenvalues in ascending order, eigenvectors) of the lower triangle's matrix."""

    signature = "input: T; compute_v: bool = True -> e: T, v: T"
    T = TYPES

    def infer(self, input: Spec, compute_v) -> Any:
        batch, n, _ = matrix_dims(input)
        vectors = shaped(batch, n, n) if compute_v else (0,)
        return Spec(input.dtype, shaped(batch, n)), Spec(input.dtype, vectors)

    def kernel(self, input, compute_v):
        text = "Self-adjoint eigen decomposition was not successful. The input might not be valid."
        x, dtype = matrices(input), input.dtype
        if x.shape[-1] > 1 and not np.isfinite(x).all() and _is_lost(x):
            raise invalid_argument(text)
        if not compute_v:
            values = carried_out(eigenvalues, text, x)
            return values.astype(dtype), np.zeros(0, dtype)
        values, vectors = carried_out(eigenvectors, text, x)
        return values.astype(dtype), vectors.astype(dtype, copy=False)

    def gradient(self, input, e, v, de, dv, compute_v) -> Any:
        if not compute_v:
            e, v = raw.SelfAdjointEigV2(input)
            dv = None
        middle = None
        if de is not None:
            middle = raw.MatrixDiagV3(de, np.int32(0), np.int32(-1), np.int32(-1), constant(0, de))
        if dv is not None:
            gap = raw.Sub(raw.ExpandDims(e, np.int32(-2)), raw.ExpandDims(e, np.int32(-1)))
            by_vectors = raw.DivNoNan(product(v, dv, adj_a=True), gap)
            middle = by_vectors if middle is None else raw.AddV2(middle, by_vectors)
        whole = product(product(v, middle), v, adj_b=True)
        return _halved(raw.AddV2(whole, adjoint(whole)))


@op
class Svd(Op):
    """(singular values in descending order, left, right singular vectors)."""

    signature = "input: T; compute_uv: bool = True, full_matrices: bool = False -> s: T, u: T, v: T"
    T = TYPES

    def infer(self, input: Spec, compute_uv, full_matrices) -> Any:
        batch, m, n = matrix_dims(input, square=False)
        least = None if m is None or n is None else min(m, n)
        values = Spec(input.dtype, shaped(batch, least))
        if not compute_uv:
            return values, Spec(input.dtype, (0,)), Spec(input.dtype, (0,))
        return (
            values,
            Spec(input.dtype, shaped(batch, m, m if full_matrices else least)),
            Spec(input.dtype, shaped(batch, n, n if full_matrices else least)),
        )

    def kernel(self, input, compute_uv, full_matrices):
        x, dtype = matrices(input, square=False), input.dtype
        text = "Singular value decomposition did not converge."
        # LAPACK may loop for ever on infinities; TensorFlow 2.21 gives NaN for these and for NaN.
        finite = np.isfinite(x)
        beyond = None
        if not finite.all():
            beyond = ~finite.all((-1, -2))
            x = np.where(beyond[..., None, None], x.dtype.type(0), x)
        if not compute_uv:
            values = carried_out(singular_values, text, x)
            if beyond is not None:
                values[beyond] = np.nan
            return values.astype(dtype), np.zeros(0, dtype), np.zeros(0, dtype)
        u, s, vh = carried_out(singular_vectors, text, x, full_matrices)
        v = np.ascontiguousarray(vh.swapaxes(-1, -2).conj())
        if beyond is not None:
            for part in (s, u, v):
                part[beyond] = np.nan
        return s.astype(dtype), u.astype(dtype, copy=False), v.astype(dtype, copy=False)

    def gradient(self, input, s, u, v, ds, du, dv, compute_uv, full_matrices) -> Any:
        if not compute_uv:
            _, u, v = raw.Svd(input)
            return product(_by_columns(u, ds), v, adj_b=True)
        if full_matrices or (s.dtype.is_complex and not (du is None and dv is None)):
            raise NotImplementedError(
                "The gradient of Svd by singular vectors exists for real matrices and "
                "full_matrices=False only."
            )
        whole = None
        if ds is not None:
            whole = product(_by_columns(u, ds), v, adj_b=True)
        if du is not None:
            part = product(_by_vectors(u, s, du), v, adj_b=True)
            whole = part if whole is None else raw.AddV2(whole, part)
        if dv is not None:
            part = product(u, _by_vectors(v, s, dv), adj_b=True)
            whole = part if whole is None else raw.AddV2(whole, part)
        return whole


def _by_vectors(u: Any, s: Any, du: Any) -> Any:
    """The contribution of the gradient with respect to singular vectors: inside and outside their
    span."""
    squares = raw.Square(s)
    gap = raw.Sub(raw.ExpandDims(squares, np.int32(-2)), raw.ExpandDims(squares, np.int32(-1)))
    inner = product(u, du, adj_a=True)
    skew = raw.DivNoNan(raw.Sub(inner, adjoint(inner)), gap)
    outside = raw.Sub(du, product(u, inner))
    return raw.AddV2(product(u, _by_columns(skew, s)), _by_columns(outside, raw.Reciprocal(s)))
