"""Factorisations, inverses, solutions and determinants of `tf.linalg`.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg. Matrices are the last two
dimensions; the others are a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.composite_ops.array.creation import eye, shape
from intaglio.composite_ops.linalg.norms import LAST
from intaglio.composite_ops.smart_cond import smart_cond
from intaglio.opdef import convert, door, products, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.operators import pair
from intaglio.opdef.tensor import Tensor


@dispatchable
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular L with input = L @ L^H.

    Raises InvalidArgumentError for a matrix that is not positive definite.

    https://www.tensorflow.org/api_docs/python/tf/linalg/cholesky

    >>> print(tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy())
    [[2. 0.]
     [1. 2.]]
    """
    return raw.Cholesky(input, name=name)


@dispatchable
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """x with A @ x = rhs, for the Cholesky factor of A.

    https://www.tensorflow.org/api_docs/python/tf/linalg/cholesky_solve

    >>> print(tf.linalg.cholesky_solve([[2.0, 0.0], [1.0, 2.0]], [[4.0], [2.0]]).numpy())
    [[1.]
     [0.]]
    """
    with door.level().scoped(name or "cholesky_solve"):
        chol, rhs = pair(chol, rhs)
        y = raw.MatrixTriangularSolve(chol, rhs, adjoint=False, lower=True)
        return raw.MatrixTriangularSolve(chol, y, adjoint=True, lower=True)


@dispatchable
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse, or the inverse's adjoint.

    Raises InvalidArgumentError for a singular matrix.

    https://www.tensorflow.org/api_docs/python/tf/linalg/inv

    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy())
    [[0.5  0.  ]
     [0.   0.25]]
    """
    return raw.MatrixInverse(input, adjoint=adjoint, name=name)


@dispatchable
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """x with matrix @ x = rhs, or with the matrix's adjoint.

    Raises InvalidArgumentError for a singular matrix.

    https://www.tensorflow.org/api_docs/python/tf/linalg/solve

    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy())
    [[1. ]
     [0.5]]
    """
    return raw.MatrixSolve(matrix, rhs, adjoint=adjoint, name=name)


@dispatchable
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """x with matrix @ x = rhs, of the matrix's lower or upper triangle; batches broadcast.

    With `adjoint` it solves with the conjugate transpose.

    https://www.tensorflow.org/api_docs/python/tf/linalg/triangular_solve

    >>> print(tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 4.0]], [[2.0], [5.0]]).numpy())
    [[1.]
     [1.]]
    """
    with door.level().scoped(name or "triangular_solve"):
        return raw.MatrixTriangularSolve(matrix, rhs, lower=lower, adjoint=adjoint)


@dispatchable
def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """x that minimises |matrix @ x - rhs|^2 + l2_regularizer * |x|^2.

    Solves the normal equations by a Cholesky factorisation, or, with `fast` false, through
    the pseudoinverse, which is 0 for matrices with NaN or infinities.

    https://www.tensorflow.org/api_docs/python/tf/linalg/lstsq

    >>> print(
    ...     tf.linalg.lstsq([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[1.0], [2.0], [4.0]])
    ...     .numpy()
    ...     .round(4)
    ... )
    [[1.]
     [3.]]
    """
    with door.level().scoped(name or "matrix_solve_ls"):
        matrix, rhs = pair(matrix, rhs)
        if not fast:
            return _by_pseudo_inverse(matrix, rhs)
        sizes = shape(matrix)
        tall = raw.GreaterEqual(sizes[-2], sizes[-1])
        return smart_cond(
            tall,
            lambda: _by_normal_equations(matrix, rhs, l2_regularizer, True),
            lambda: _by_normal_equations(matrix, rhs, l2_regularizer, False),
        )


def _by_pseudo_inverse(matrix: Tensor, rhs: Tensor) -> Tensor:
    """`lstsq` of a matrix of any rank; NaN and infinities leave it the rank 0, and a solution of zeros."""
    zero = convert.to_tensor(0, matrix.dtype)
    # A number less itself is 0, if it is finite.
    finite = raw.Equal(raw.Sub(matrix, matrix), zero)
    finite = raw.All(finite, np.array([-2, -1], np.int32), keep_dims=True)
    inverse = _pseudo_inverse(raw.SelectV2(finite, matrix, zero), None)
    return raw.SelectV2(finite, products.matmul(inverse, rhs), zero)


def _by_normal_equations(matrix: Tensor, rhs: Tensor, l2_regularizer: Any, tall: bool) -> Tensor:
    """`lstsq` of a matrix with at least as many rows as columns, or with fewer."""
    gram = products.matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    small = convert.to_tensor(l2_regularizer, matrix.dtype)
    gram = raw.AddV2(gram, raw.Mul(eye(shape(gram)[-1], dtype=matrix.dtype), small))
    chol = raw.Cholesky(gram)
    if tall:
        return cholesky_solve(chol, products.matmul(matrix, rhs, adjoint_a=True))
    return products.matmul(matrix, cholesky_solve(chol, rhs), adjoint_a=True)


@dispatchable
def det(input: Any, name: str | None = None) -> Tensor:
    """The determinant.

    https://www.tensorflow.org/api_docs/python/tf/linalg/det

    >>> f"{tf.linalg.det([[3.0, 1.0], [2.0, 4.0]]):.3f}"
    '10.000'
    """
    return raw.MatrixDeterminant(input, name=name)


def slogdet(input: Any, name: str | None = None) -> Any:
    """(sign, log_abs_determinant) of the determinant.

    https://www.tensorflow.org/api_docs/python/tf/linalg/slogdet

    >>> sign, log_abs = tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])
    >>> print(sign.numpy())
    -1.0
    """
    return raw.LogMatrixDeterminant(input, name=name)


@dispatchable
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of a positive definite matrix, real.

    https://www.tensorflow.org/api_docs/python/tf/linalg/logdet

    >>> f"{tf.linalg.logdet([[4.0, 2.0], [2.0, 5.0]]):.4f}"
    '2.7726'
    """
    with door.level().scoped(name or "logdet"):
        chol = raw.Cholesky(matrix)
        zero = np.asarray(0, chol.dtype.numpy)
        diagonal = raw.MatrixDiagPartV3(chol, np.int32(0), zero)
        if chol.dtype.is_complex:
            diagonal = raw.Real(diagonal, Tout=chol.dtype.real_dtype)
        total = raw.Sum(raw.Log(diagonal), LAST)
        return raw.Mul(np.asarray(2, total.dtype.numpy), total)


@dispatchable
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """(q, r) with input = q @ r.

    With `full_matrices` the orthogonal factors are square.

    https://www.tensorflow.org/api_docs/python/tf/linalg/qr

    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> print(abs(r.numpy()).round(3))
    [[5.  2.2]
     [0.  0.4]]
    """
    return raw.Qr(input, full_matrices=full_matrices, name=name)


@dispatchable
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """(s, u, v) with tensor = u @ diag(s) @ v^H, or s alone; s is real and descends.

    With `full_matrices` the orthogonal factors are square.

    https://www.tensorflow.org/api_docs/python/tf/linalg/svd

    >>> print(tf.linalg.svd([[3.0, 0.0], [0.0, 2.0]], compute_uv=False).numpy().round(4))
    [3. 2.]
    """
    result = raw.Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    s = _real(result.s)
    return (s, result.u, result.v) if compute_uv else s


def _real(x: Tensor) -> Tensor:
    return raw.Real(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else x


@dispatchable
def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(eigenvalues in ascending order, eigenvectors) of a self-adjoint matrix.

    https://www.tensorflow.org/api_docs/python/tf/linalg/eigh

    >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> print(values.numpy())
    [1. 2.]
    """
    result = raw.SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return result.e, result.v


@dispatchable
def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of a self-adjoint matrix, in ascending order.

    https://www.tensorflow.org/api_docs/python/tf/linalg/eigvalsh

    >>> print(tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy())
    [1. 2.]
    """
    return raw.SelfAdjointEigV2(tensor, compute_v=False, name=name).e


@dispatchable
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose inverse; singular values up to `rcond` times the greatest count as 0.

    Raises TypeError for anything but floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/linalg/pinv

    >>> print(tf.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).numpy().round(4))
    [[0.5 0. ]
     [0.  0. ]]
    """
    with door.level().scoped(name or "pinv"):
        a = convert.to_tensor(a)
        if not a.dtype.is_floating:
            raise TypeError("Input `a` must have `float`-like `dtype`")
        return _pseudo_inverse(a, rcond)


def _pseudo_inverse(a: Tensor, rcond: Any) -> Tensor:
    """`pinv` of real and complex matrices."""
    s, u, v = svd(a)
    if rcond is None:
        eps = np.asarray(10.0 * np.finfo(s.dtype.numpy).eps, s.dtype.numpy)
        larger = raw.Max(shape(a)[-2:], np.int32(0))
        rcond = raw.Mul(raw.Cast(larger, DstT=s.dtype), eps)
    rcond = convert.to_tensor(rcond, s.dtype)
    cut = raw.Mul(rcond, raw.Max(s, LAST))
    large = raw.Greater(s, raw.ExpandDims(cut, np.int32(-1)))
    infinite = np.asarray(np.inf, s.dtype.numpy)
    kept = raw.ExpandDims(raw.SelectV2(large, s, infinite), np.int32(-2))
    if a.dtype.is_complex:
        scaled = raw.Mul(v, raw.Cast(raw.Reciprocal(kept), DstT=a.dtype))
    else:
        scaled = raw.RealDiv(v, kept)
    return products.matmul(scaled, u, adjoint_b=True)


@dispatchable
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values exceed `tol`, int32.

    https://www.tensorflow.org/api_docs/python/tf/linalg/matrix_rank

    >>> print(tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy())
    1
    """
    with door.level().scoped(name or "matrix_rank"):
        a = convert.to_tensor(a)
        s = svd(a, compute_uv=False)
        if tol is None:
            dims = a.dims
            if dims is None or None in dims[-2:]:
                raise ValueError("matrix_rank needs `tol` for matrices of unknown size")
            eps = float(np.finfo(s.dtype.numpy).eps) * max(dims[-2:])
            largest = raw.Max(s, LAST, keep_dims=True)
            tol = raw.Mul(np.asarray(eps, s.dtype.numpy), largest)
        above = raw.Greater(s, tol)
        return raw.Sum(raw.Cast(above, DstT="int32"), LAST)
