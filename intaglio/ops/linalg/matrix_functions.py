"""Functions of matrices: square root, logarithm, exponential, and least squares."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import COMPLEX, float16, float32, float64
from intaglio.base.errors import ShapeError
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import check_rank, constant
from intaglio.ops.linalg.decomposition import (
    adjoint,
    carried_out,
    check_batches,
    matrices,
    matrix_dims,
    product,
    shaped,
)
from intaglio.ops.linalg.lapack import inverse, lapack, solution

TYPES = (float64, float32, float16, *COMPLEX)
# Newton's iteration doubles the correct digits in each step once it is near.
NEWTON_STEPS = 60
# Nodes of the quadrature that gives log(1 + x) for matrices of norm up to NEAR_ONE.
NODES = 12
NEAR_ONE = 0.25
MAX_SQUARE_ROOTS = 100
# The Pade approximant of degree 13 has full precision up to this norm.
PADE_NORM = 5.371920351148152


def _transpose(x: Any) -> Any:
    return x.swapaxes(-1, -2).conj()


def _norm(x: Any) -> Any:
    """The greatest column sum of each matrix, shaped to multiply matrices."""
    return np.abs(x).sum(axis=-2).max(axis=-1, initial=0.0)[..., None, None]


def _root_iterated(a: Any) -> Any:
    """The square roots of matrices without eigenvalues on the negative real axis.

    The product form of the Denman-Beavers iteration, scaled by determinants.
    """
    size = max(a.shape[-1], 1)
    identity = np.eye(a.shape[-1], dtype=a.dtype)
    m, x = a.copy(), a.copy()
    for step in range(NEWTON_STEPS):
        inverted = lapack(inverse, m)
        if step < 12:
            _, logdet = lapack(np.linalg.slogdet, m)
            scale = np.exp(-logdet / (2 * size)).real[..., None, None]
        else:
            scale = np.ones((*a.shape[:-2], 1, 1))
        square = scale * scale
        x = 0.5 * scale * (x @ (identity + inverted / square))
        m = 0.5 * (identity + 0.5 * (square * m + inverted / square))
        error = _norm(m - identity)
        if not np.any(error > 4 * size * np.finfo(a.real.dtype).eps):
            break
    return x


def _rotation_angle(values: Any) -> Any:
    """The angle by which to rotate eigenvalues so that none is on the negative real axis.

    Half the angle between the axis and the first eigenvalue below it: an eigenvalue on the axis,
    or just below it by rounding, counts as the axis' upper side.
    """
    angles = np.angle(values)
    angles = np.where(angles < 1e-9 - math.pi, math.pi, angles)
    lowest = angles.min(axis=-1, initial=math.pi)
    highest = angles.max(axis=-1, initial=-math.pi)
    angle = np.minimum((lowest + math.pi) / 2, math.pi / 2)
    return np.where(highest > math.pi - 1e-3, angle, 0.0)[..., None, None]


def _root_by_vectors(a: Any) -> Any:
    values, vectors = lapack(np.linalg.eig, a)
    kind = np.result_type(a.dtype, np.complex64)
    root = np.sqrt(values.astype(kind))
    whole = (vectors * root[..., None, :]) @ lapack(np.linalg.pinv, vectors)
    return whole if a.dtype.kind == "c" else whole.real


def square_root(a: Any) -> Any:
    """The principal square roots; NaN for a real matrix that has no real one."""
    if a.size == 0:
        return a.copy()
    batch, n = a.shape[:-2], a.shape[-1]
    flat = a.reshape(-1, n, n)
    result = np.full_like(flat, complex(np.nan, np.nan) if a.dtype.kind == "c" else np.nan)
    good = np.isfinite(flat).all(axis=(-1, -2))
    for upper, other in ((flat, np.tril(flat, -1)), (flat.swapaxes(-1, -2), np.triu(flat, 1))):
        triangular = good & (other == 0).all(axis=(-1, -2))
        if triangular.any():
            roots = _root_triangular(upper[triangular])
            exist = np.isfinite(roots).all(axis=(-1, -2), keepdims=True)
            roots = np.where(exist, roots, result[triangular])
            result[triangular] = roots if upper is flat else roots.swapaxes(-1, -2)
            good &= ~triangular
    definite = np.flatnonzero(good & _are_hermitian(flat))
    if definite.size:
        values, vectors = lapack(np.linalg.eigh, flat[definite])
        regular = values[:, 0] > np.finfo(a.real.dtype).eps * n * values[:, -1]
        definite = definite[regular]
        result[definite] = _by_orthogonal(np.sqrt(values[regular]), vectors[regular])
        good[definite] = False
    if not good.any():
        return result.reshape(*batch, n, n)
    values = lapack(np.linalg.eigvals, np.where(good[:, None, None], flat, 1))
    size = np.abs(values)
    singular = size.min(axis=-1) <= np.finfo(a.real.dtype).eps * n * size.max(axis=-1)
    negative = (values.real < 0) & (values.imag == 0) & ~(size == 0)
    if a.dtype.kind != "c":
        good &= ~negative.any(axis=-1)
    for chosen, function in (
        (good & singular, _root_by_vectors),
        (good & ~singular, _root_rotated),
    ):
        if chosen.any():
            result[chosen] = function(flat[chosen])
    # Singular matrices need not have a root: what the vectors give is none then.
    lost = _norm(result @ result - flat) > np.sqrt(np.finfo(a.real.dtype).eps) * _norm(flat)
    result[(good & singular) & lost[:, 0, 0]] = np.nan
    return result.reshape(*batch, n, n)


def _are_hermitian(a: Any) -> Any:
    return (a == _transpose(a)).all(axis=(-1, -2))


def _by_orthogonal(values: Any, vectors: Any) -> Any:
    """The matrices with these eigenvalues and orthogonal eigenvectors."""
    return (vectors * values[..., None, :]) @ _transpose(vectors)


def _root_triangular(a: Any) -> Any:
    """The roots of upper triangular matrices, exact on their diagonals; not finite where there is none
    (A. Bjorck and S. Hammarling, A Schur method for the square root of a matrix, 1983)."""
    result = np.zeros_like(a)
    for j in range(a.shape[-1]):
        result[:, j, j] = np.sqrt(a[:, j, j])
        for i in reversed(range(j)):
            inner = np.einsum("bk,bk->b", result[:, i, i + 1 : j], result[:, i + 1 : j, j])
            rest, total = a[:, i, j] - inner, result[:, i, i] + result[:, j, j]
            result[:, i, j] = np.where((rest == 0) & (total == 0), 0, rest / total)
    return result


def _root_rotated(a: Any) -> Any:
    if a.dtype.kind != "c":
        return _root_iterated(a)
    angle = _rotation_angle(lapack(np.linalg.eigvals, a))
    rotated = _root_iterated(a * np.exp(-1j * angle).astype(a.dtype))
    return rotated * np.exp(0.5j * angle).astype(a.dtype)


def logarithm(a: Any) -> Any:
    """The principal logarithms of complex matrices; NaN where a matrix is singular or has such elements.

    Those of Hermitian matrices follow from their eigenvectors, which are orthogonal. Square roots bring
    each other matrix near the identity, where a quadrature of x / (1 + t x) over t from 0 to 1 is exact
    (inverse scaling and squaring).
    """
    if a.size == 0:
        return a.copy()
    finite = np.isfinite(a).all(axis=(-1, -2))
    hermitian = finite & _are_hermitian(a)
    result = np.full_like(a, complex(np.nan, np.nan))
    if hermitian.any():
        values, vectors = lapack(np.linalg.eigh, a[hermitian])
        found = _by_orthogonal(np.log(values.astype(a.dtype)), vectors)
        found[np.abs(values).min(axis=-1) == 0] = np.nan
        result[hermitian] = found
    others = finite & ~hermitian
    if others.any():
        result[others] = _logarithm_by_roots(a[others])
    return result


def _logarithm_by_roots(a: Any) -> Any:
    """The logarithms of matrices with any eigenvectors."""
    n = a.shape[-1]
    identity = np.eye(n, dtype=a.dtype)
    values = lapack(np.linalg.eigvals, a)
    bad = ~(np.abs(values).min(axis=-1) > 0)[..., None, None]
    angle = _rotation_angle(values)
    near = np.where(bad, identity, a * np.exp(-1j * angle))
    power = np.zeros((*a.shape[:-2], 1, 1))
    for _ in range(MAX_SQUARE_ROOTS):
        far = _norm(near - identity) > NEAR_ONE
        if not far.any():
            break
        near = np.where(far, _root_iterated(np.where(far, near, identity)), near)
        power += far
    x = near - identity
    nodes, weights = _quadrature()
    total = np.zeros_like(x)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        total += weight * lapack(np.linalg.solve, identity + node * x, x)
    return np.where(bad, np.nan, total * 2.0**power + 1j * angle * identity)


@functools.cache
def _quadrature() -> Any:
    return np.polynomial.legendre.leggauss(NODES)


def exponential(a: Any) -> Any:
    """The exponentials, by scaling, a Pade approximant and squaring."""
    if a.size == 0:
        return a.copy()
    norm = _norm(a)
    squarings = np.ceil(np.log2(np.maximum(norm / PADE_NORM, 1.0)))
    squarings = np.where(np.isfinite(squarings), squarings, 0.0)
    x = a / (2.0**squarings).astype(a.real.dtype)
    even, odd = _pade(x)
    result = lapack(solution, even - odd, even + odd, False)
    for step in range(int(squarings.max(initial=0.0))):
        result = np.where(squarings > step, result @ result, result)
    return result


def _pade(x: Any) -> tuple[Any, Any]:
    """The even and the odd part of the numerator of degree 13."""
    weights = [1.0]
    for k in range(13):
        weights.append(weights[-1] * (13 - k) / ((26 - k) * (k + 1)))
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    second = x @ x
    fourth = second @ second
    sixth = fourth @ second

    def half(first: int) -> Any:
        w = [x.dtype.type(v) for v in weights[first::2]]
        high = w[6] * sixth + w[5] * fourth + w[4] * second
        low = w[3] * sixth + w[2] * fourth + w[1] * second + w[0] * identity
        return sixth @ high + low

    return half(0), x @ half(1)


@op
class MatrixSquareRoot(Op):
    """The matrix whose square is the input, with eigenvalues of positive real part."""

    signature = "input: T -> output: T"
    T = TYPES
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, shaped(*matrix_dims(input)))

    def kernel(self, input):
        with np.errstate(all="ignore"):
            found = lapack(square_root, matrices(input))
        return found.astype(input.dtype, copy=False)

    def gradient(self, output, doutput) -> Any:
        # output^H x + x output^H = doutput, the matrix x as a vector of its rows.
        own = adjoint(output)
        n = raw.StridedSlice(
            raw.Shape(output),
            np.array([-1], np.int32),
            np.array([0], np.int32),
            np.array([1], np.int32),
            end_mask=1,
            shrink_axis_mask=1,
        )
        one = raw.Fill(raw.Reshape(n, np.array([1], np.int32)), constant(1, output))
        identity = raw.MatrixDiagV3(
            one, np.int32(0), np.int32(-1), np.int32(-1), constant(0, output)
        )
        left = raw.Einsum([own, identity], equation="...ij,kl->...ikjl")
        right = raw.Einsum([own, identity], equation="...ij,kl->...kjli")
        whole = raw.AddV2(left, right)
        lead = raw.Slice(
            raw.Shape(output),
            np.array([0], np.int32),
            raw.Reshape(raw.Sub(raw.Rank(output), np.int32(2)), np.array([1], np.int32)),
        )
        square = raw.Reshape(raw.Mul(n, n), np.array([1], np.int32))
        system = raw.Reshape(whole, raw.ConcatV2([lead, square, square], np.int32(0)))
        column = raw.ConcatV2([lead, square, np.array([1], np.int32)], np.int32(0))
        found = raw.MatrixSolve(system, raw.Reshape(doutput, column))
        return raw.Reshape(found, raw.Shape(output))


def _corner(function: Any, input: Any, slope: Any) -> Any:
    """The derivative of a matrix function along `slope`: a corner of f([[a, e], [0, a]])."""
    above = raw.ConcatV2([input, slope], np.int32(-1))
    below = raw.ConcatV2([raw.ZerosLike(input), input], np.int32(-1))
    whole = function(raw.ConcatV2([above, below], np.int32(-2)))
    rows, _ = raw.Split(np.int32(-2), whole, num_split=2)
    _, corner = raw.Split(np.int32(-1), rows, num_split=2)
    return corner


@op
class MatrixLogarithm(Op):
    """The matrix whose exponential is the input, with eigenvalues in (-pi, pi] i."""

    signature = "input: T -> output: T"
    T = COMPLEX
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, shaped(*matrix_dims(input)))

    def kernel(self, input):
        with np.errstate(all="ignore"):
            found = lapack(logarithm, matrices(input).astype(np.complex128))
        return found.astype(input.dtype)

    def gradient(self, input, doutput) -> Any:
        return _corner(raw.MatrixLogarithm, adjoint(input), doutput)


@op
class MatrixExponential(Op):
    """exp of a matrix. TensorFlow has withdrawn its kernel: `tf.linalg.expm` uses other ops."""

    signature = "input: T -> output: T"
    T = TYPES
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, shaped(*matrix_dims(input)))

    def kernel(self, input):
        return lapack(exponential, matrices(input)).astype(input.dtype, copy=False)

    def gradient(self, input, doutput) -> Any:
        return _corner(raw.MatrixExponential, adjoint(input), doutput)


@op
class MatrixSolveLs(Op):
    """x that minimises |matrix @ x - rhs|^2 + l2_regularizer * |x|^2."""

    signature = "matrix: T, rhs: T, l2_regularizer: float64; fast: bool = True -> output: T"
    T = TYPES

    def infer(self, matrix: Spec, rhs: Spec, l2_regularizer: Spec) -> Spec:
        if l2_regularizer.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {l2_regularizer.rank}")
        batch, rows, columns = matrix_dims(matrix, square=False)
        others, height, width = matrix_dims(rhs, square=False)
        if rows is not None and height is not None and rows != height:
            raise ShapeError(f"Dimensions must be equal, but are {rows} and {height}")
        return Spec(rhs.dtype, shaped(shapes.merge(batch, others), columns, width))

    def kernel(self, matrix, rhs, l2_regularizer, fast):
        check_batches(matrix, rhs)
        check_rank("l2_regularizer", l2_regularizer, 0)
        a, b = matrices(matrix, square=False), matrices(rhs, square=False)
        if not fast:
            # A matrix with NaN or an infinity has rank 0, as in TensorFlow: none of its pivots is large enough.
            finite = np.isfinite(a).all((-2, -1), keepdims=True)
            found = lapack(np.linalg.pinv, np.where(finite, a, 0)) @ b
            return np.where(finite, found, 0).astype(rhs.dtype, copy=False)
        over = a.shape[-2] >= a.shape[-1]
        gram = _transpose(a) @ a if over else a @ _transpose(a)
        gram = gram + l2_regularizer.astype(gram.real.dtype) * np.eye(
            gram.shape[-1], dtype=gram.dtype
        )
        text = (
            "Input matrix was rank deficient or ill-conditioned. "
            "Try setting fast=False or provide a larger l2_regularizer > 0."
        )
        carried_out(np.linalg.cholesky, text, gram)
        if over:
            found = carried_out(solution, text, gram, _transpose(a) @ b, False)
        else:
            found = _transpose(a) @ carried_out(solution, text, gram, b, False)
        return found.astype(rhs.dtype, copy=False)

    def gradient(self, matrix, rhs, l2_regularizer, output, doutput, fast) -> Any:
        by_rhs = raw.MatrixSolveLs(adjoint(matrix), doutput, l2_regularizer)
        common = product(by_rhs, output, adj_b=True)
        tall, wide = _shapes_apart(matrix)
        whole = raw.Neg(common)
        if tall is not None:
            z = _gram_solve(matrix, doutput, l2_regularizer, tall, True)
            rest = raw.Sub(rhs, product(matrix, output))
            whole = raw.AddV2(whole, product(rest, raw.Mul(z, tall), adj_b=True))
        if wide is not None:
            chosen = _gram_solve(matrix, rhs, l2_regularizer, wide, False)
            rest = raw.Sub(doutput, product(matrix, by_rhs, adj_a=True))
            whole = raw.AddV2(whole, product(raw.Mul(chosen, wide), rest, adj_b=True))
        return whole, by_rhs, None


def _shapes_apart(matrix: Any) -> tuple[Any, Any]:
    """(1 for a matrix at least as high as wide, 1 for another), None for 0.

    Tensors of 0 and 1 where the shape is unknown.
    """
    dims = matrix.dims
    if dims is not None and None not in dims[-2:]:
        one = constant(1, matrix)
        return (one, None) if dims[-2] >= dims[-1] else (None, one)
    shape, rank = raw.Shape(matrix), raw.Rank(matrix)
    rows, columns = (
        raw.GatherV2(shape, raw.Sub(rank, np.int32(back)), np.int32(0)) for back in (2, 1)
    )
    tall = raw.Cast(raw.GreaterEqual(rows, columns), DstT=matrix.dtype)
    return tall, raw.Sub(constant(1, matrix), tall)


def _gram_solve(matrix: Any, rhs: Any, weight: Any, used: Any, over: bool) -> Any:
    """The solution with the smaller Gram matrix; the other one must only be finite."""
    gram = product(matrix, matrix, adj_a=over, adj_b=not over)
    ridge = raw.AddV2(raw.Cast(weight, DstT=matrix.dtype), raw.Sub(constant(1, matrix), used))
    own = raw.MatrixDiagPartV3(gram, np.int32(0), constant(0, gram))
    return raw.MatrixSolve(raw.MatrixSetDiagV3(gram, raw.AddV2(own, ridge), np.int32(0)), rhs)
