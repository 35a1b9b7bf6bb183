"""Factorisations of `tf.linalg` that few programs need, and functions of them.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg. Matrices are the last two
dimensions; the others are a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import complex64, complex128, float64, int32
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.operators import pair
from intaglio.opdef.tensor import Tensor

ZERO = np.int32(0)


def _complex_of(tensor: Tensor) -> Any:
    return complex128 if tensor.dtype in (float64, complex128) else complex64


@dispatchable
def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(eigenvalues, eigenvectors) of general square matrices, complex, in no order.

    >>> values, vectors = tf.linalg.eig([[2., 0.], [0., 3.]])
    >>> values.numpy()
    array([2.+0.j, 3.+0.j], dtype=complex64)

    https://www.tensorflow.org/api_docs/python/tf/linalg/eig
    """
    tensor = convert.to_tensor(tensor)
    result = raw.Eig(tensor, Tout=_complex_of(tensor), compute_v=True, name=name)
    return result.e, result.v


@dispatchable
def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of general square matrices, complex, in no order.

    https://www.tensorflow.org/api_docs/python/tf/linalg/eigvals

    >>> sorted(
    ...     tf.linalg.eigvals(tf.constant([[2.0, 0.0], [0.0, 3.0]])).numpy().real.tolist()
    ... )
    [2.0, 3.0]
    """
    tensor = convert.to_tensor(tensor)
    return raw.Eig(tensor, Tout=_complex_of(tensor), compute_v=False, name=name).e


@dispatchable
def lu(input: Any, output_idx_type: Any = int32, name: str | None = None) -> Any:
    """(lu, p) with the rows `p` of the input = L @ U, both triangles in `lu`.

    Raises InvalidArgumentError for a singular matrix.

    `output_idx_type` is the dtype of the permutation.

    https://www.tensorflow.org/api_docs/python/tf/linalg/lu

    >>> [x.numpy().tolist() for x in tf.linalg.lu([[2.0, 1.0], [4.0, 4.0]])]
    [[[4.0, 4.0], [0.5, -1.0]], [1, 0]]
    """
    return raw.Lu(input, output_idx_type=output_idx_type, name=name)


def _triangles(lower_upper: Tensor) -> tuple[Tensor, Tensor]:
    """The lower factor, with ones on its diagonal, and the upper one."""
    zero = np.asarray(0, lower_upper.dtype.numpy)
    one = raw.OnesLike(raw.MatrixDiagPartV3(lower_upper, ZERO, zero))
    below = raw.MatrixBandPart(lower_upper, np.int32(-1), ZERO)
    lower = raw.MatrixSetDiagV3(below, one, ZERO)
    return lower, raw.MatrixBandPart(lower_upper, ZERO, np.int32(-1))


def _chosen(perm: Tensor, dtype: Any) -> Tensor:
    """The matrix whose product with x has the rows x[perm]."""
    size = raw.GatherV2(raw.Shape(perm), raw.Sub(raw.Rank(perm), np.int32(1)), ZERO)
    one, zero = np.asarray(1, dtype.numpy), np.asarray(0, dtype.numpy)
    return raw.OneHot(perm, size, one, zero)


@dispatchable
def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrices that `lu` has factorised.

    >>> x = tf.constant([[3., 4.], [1., 2.]])
    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu(x)).numpy()
    array([[3., 4.],
           [1., 2.]], dtype=float32)

    https://www.tensorflow.org/api_docs/python/tf/linalg/lu_reconstruct
    """
    with door.level().scoped(name or "lu_reconstruct"):
        lower_upper, perm = convert.to_tensor(lower_upper), convert.to_tensor(perm)
        lower, upper = _triangles(lower_upper)
        whole = raw.BatchMatMulV2(lower, upper)
        return raw.BatchMatMulV2(_chosen(perm, whole.dtype), whole, adj_x=True)


@dispatchable
def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """x with A @ x = rhs, for A factorised by `lu`.

    https://www.tensorflow.org/api_docs/python/tf/linalg/lu_solve

    >>> print(
    ...     tf.linalg.lu_solve(
    ...         *tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]]), rhs=[[2.0], [2.0]]
    ...     ).numpy()
    ... )
    [[1. ]
     [0.5]]
    """
    with door.level().scoped(name or "lu_solve"):
        lower_upper, rhs = pair(lower_upper, rhs)
        perm = convert.to_tensor(perm)
        lower, upper = _triangles(lower_upper)
        rows = raw.BatchMatMulV2(_chosen(perm, rhs.dtype), rhs)
        y = raw.MatrixTriangularSolve(lower, rows)
        return raw.MatrixTriangularSolve(upper, y, lower=False)


@dispatchable
def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of matrices factorised by `lu`.

    https://www.tensorflow.org/api_docs/python/tf/linalg/lu_matrix_inverse

    >>> print(tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])).numpy())
    [[0.5  0.  ]
     [0.   0.25]]
    """
    with door.level().scoped(name or "lu_matrix_inverse"):
        lower_upper, perm = convert.to_tensor(lower_upper), convert.to_tensor(perm)
        return lu_solve(lower_upper, perm, _identity_like(lower_upper))


def _identity_like(x: Tensor) -> Tensor:
    zero = np.asarray(0, x.dtype.numpy)
    one = raw.OnesLike(raw.MatrixDiagPartV3(x, ZERO, zero))
    return raw.MatrixDiagV3(one, ZERO, np.int32(-1), np.int32(-1), zero)


@dispatchable
def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """The principal square roots: sqrtm(A) @ sqrtm(A) = A.

    NaN for a real matrix with negative eigenvalues.

    https://www.tensorflow.org/api_docs/python/tf/linalg/sqrtm

    >>> print(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy().round(4))
    [[2. 0.]
     [0. 3.]]
    """
    return raw.MatrixSquareRoot(input, name=name)


def logm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithms of complex matrices: expm(logm(A)) = A.

    https://www.tensorflow.org/api_docs/python/tf/linalg/logm

    >>> print(tf.linalg.logm([[2.0 + 0.0j, 0.0], [0.0, 3.0]]).numpy().round(4))
    [[0.6931+0.j 0.    +0.j]
     [0.    +0.j 1.0986+0.j]]
    """
    return raw.MatrixLogarithm(input, name=name)


@dispatchable
def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of square matrices.

    >>> tf.linalg.expm([[0., 0.], [0., 0.]]).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)

    https://www.tensorflow.org/api_docs/python/tf/linalg/expm
    """
    return raw.MatrixExponential(input, name=name or "matrix_exponential")


def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """x with A @ x = rhs for triangular matrices of K diagonals, given as [..., K, M].

    Element j of each row of `bands` is in row j of the matrix; the main diagonal is the
    first row of a lower, the last row of an upper matrix.

    With `adjoint` it solves with the conjugate transpose.

    https://www.tensorflow.org/api_docs/python/tf/linalg/banded_triangular_solve

    >>> print(
    ...     tf.linalg.banded_triangular_solve(
    ...         [[2.0, 2.0], [0.0, 1.0]], [[2.0], [5.0]]
    ...     ).numpy()
    ... )
    [[1.]
     [2.]]
    """
    with door.level().scoped(name or "banded_triangular_solve"):
        return raw.BandedTriangularSolve(bands, rhs, lower=lower, adjoint=adjoint)


def diagonal_rows(diagonals: Any, form: str) -> list[Tensor]:
    """(superdiagonal, diagonal, subdiagonal), all of the same length."""
    if form == "matrix":
        whole = convert.to_tensor(diagonals)
        zero = np.asarray(0, whole.dtype.numpy)
        span = np.array([-1, 1], np.int32)
        result = raw.MatrixDiagPartV3(whole, span, zero, align="LEFT_RIGHT")
        return raw.Unpack(result, num=3, axis=-2)
    if form == "compact":
        return raw.Unpack(convert.to_tensor(diagonals), num=3, axis=-2)
    if form != "sequence":
        raise ValueError(
            f"Expected diagonals_format to be one of 'compact', 'sequence', 'matrix', got {form}"
        )
    if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = (convert.to_tensor(d) for d in diagonals)

    def filled(x: Tensor, before: int, after: int) -> Tensor:
        short = x.dims is not None and main.dims is not None
        short = short and x.dims[-1] != main.dims[-1]  # type: ignore[index]  # the rank is known here
        if not short:
            return x
        pads = [[0, 0]] * (len(x.dims) - 1) + [[before, after]]  # type: ignore[arg-type]  # the rank is known here
        return raw.Pad(x, np.array(pads, np.int32))

    return [filled(above, 0, 1), main, filled(below, 1, 0)]


@dispatchable
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """x with A @ x = rhs for tridiagonal matrices.

    `diagonals` is [..., 3, M] ("compact"), three tensors ("sequence") or whole matrices
    ("matrix"); `rhs` is [..., M] or [..., M, K]. Raises ValueError for another rank or batch.

    `diagonals_format` is "compact" (one tensor [..., 3, n]), "sequence" (three of them) or
    "matrix". `transpose_rhs` and `conjugate_rhs` change the right-hand sides before;
    `partial_pivoting` exchanges rows for accuracy; `perturb_singular` solves a perturbed system
    where the matrix is singular.

    >>> tf.linalg.tridiagonal_solve([[1., 1., 0.], [4., 4., 4.], [0., 1., 1.]], [5., 6., 5.]).numpy().round(3)
    array([1., 1., 1.], dtype=float32)

    https://www.tensorflow.org/api_docs/python/tf/linalg/tridiagonal_solve
    """
    with door.level().scoped(name or "tridiagonal_solve"):
        rows = diagonal_rows(diagonals, diagonals_format)
        rhs = convert.to_tensor(rhs, rows[1].dtype)
        if conjugate_rhs and rhs.dtype.is_complex:
            rhs = raw.Conj(rhs)
        _check_batches(rows[1], rhs)
        vector = rhs.dims is not None and len(rhs.dims) == _rank(rows[1])
        if vector:
            rhs = raw.ExpandDims(rhs, np.int32(-1))
        elif transpose_rhs:
            rhs = raw.Einsum([rhs], equation="...ij->...ji")
        x = raw.TridiagonalSolve(
            raw.Pack(rows, axis=-2),
            rhs,
            partial_pivoting=partial_pivoting,
            perturb_singular=perturb_singular,
        )
        return raw.Squeeze(x, axis=[-1]) if vector else x


def _check_batches(diagonal: Tensor, rhs: Tensor) -> None:
    if diagonal.dims is None or rhs.dims is None:
        return
    rank = len(diagonal.dims)
    if len(rhs.dims) not in (rank, rank + 1):
        raise ValueError(
            f"Expected the rank of rhs to be {rank} or {rank + 1}, got {len(rhs.dims)}"
        )
    one, two = TensorShape(diagonal.dims[:-1]), TensorShape(rhs.dims[: rank - 1])
    if not one.is_compatible_with(two):
        raise ValueError(f"Batch shapes {one} and {two} are incompatible")


def _rank(x: Tensor) -> int:
    return -1 if x.dims is None else len(x.dims)


@dispatchable
def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The products of tridiagonal matrices and `rhs` [..., M, N]; see `tridiagonal_solve`.

    `diagonals_format` is "compact" (one tensor [..., 3, n]), "sequence" (three of them) or
    "matrix".

    https://www.tensorflow.org/api_docs/python/tf/linalg/tridiagonal_matmul

    >>> print(
    ...     tf.linalg.tridiagonal_matmul(
    ...         tf.constant([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]]),
    ...         tf.constant([[1.0], [0.0], [1.0]]),
    ...         "compact",
    ...     ).numpy()
    ... )
    [[2.]
     [2.]
     [2.]]
    """
    with door.level().scoped(name or "tridiagonal_matmul"):
        rows = [
            raw.ExpandDims(row, np.int32(-2)) for row in diagonal_rows(diagonals, diagonals_format)
        ]
        return raw.TridiagonalMatMul(*rows, convert.to_tensor(rhs, rows[1].dtype))


@dispatchable
def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """Eigenvalues, and with `eigvals_only` false eigenvectors, of one Hermitian tridiagonal matrix.

    `alpha` [n] is the diagonal, `beta` [n - 1] the diagonal above it. `select` is "a" (all), "v"
    (the values in the half-open interval `select_range`) or "i" (the indices from the first to the
    last of `select_range`, both included). All eigenvalues are computed whatever is selected.

    `tol` has no effect.

    https://www.tensorflow.org/api_docs/python/tf/linalg/eigh_tridiagonal

    >>> print(
    ...     tf.linalg.eigh_tridiagonal(tf.constant([2.0, 2.0]), tf.constant([1.0]))
    ...     .numpy()
    ...     .round(4)
    ... )
    [1. 3.]
    """
    with door.level().scoped(name or "eigh_tridiagonal"):
        alpha, beta = pair(alpha, beta)
        zero = np.asarray(0, alpha.dtype.numpy)
        end = (np.int32(-1), np.int32(-1), zero)
        whole = raw.AddV2(
            raw.MatrixDiagV3(alpha, ZERO, *end),
            raw.MatrixDiagV3(raw.Conj(beta) if beta.dtype.is_complex else beta, np.int32(-1), *end),
        )
        found = raw.SelfAdjointEigV2(whole, compute_v=not eigvals_only)
        values, vectors = found.e, found.v
        if values.dtype.is_complex:
            values = raw.Real(values, Tout=values.dtype.real_dtype)
        if select == "i":
            first, last = int(select_range[0]), int(select_range[1])
            if first > last:
                raise ValueError("Got empty index range in select_range.")
            kept = raw.Range(np.int32(first), np.int32(last + 1), np.int32(1))
        elif select == "v":
            low, high = (convert.to_tensor(v, values.dtype) for v in select_range)
            inside = raw.LogicalAnd(raw.Greater(values, low), raw.LessEqual(values, high))
            kept = raw.Reshape(raw.Where(inside), np.array([-1], np.int32))
        elif select == "a":
            return values if eigvals_only else (values, vectors)
        else:
            raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
        values = raw.GatherV2(values, kept, ZERO)
        if eigvals_only:
            return values
        return values, raw.GatherV2(vectors, kept, np.int32(-1))
