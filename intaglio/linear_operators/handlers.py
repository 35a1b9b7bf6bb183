"""The public functions of `tf.linalg` that take linear operators in place of matrices.

`tf.linalg.det(operator)` is the operator's own method, which knows its structure. TensorFlow's
answers were recorded: adjoints are taken, transposes and hints of sparsity are refused.
"""

from __future__ import annotations

from typing import Any

from intaglio.composite_ops.linalg import diagonals
from intaglio.composite_ops.linalg.norms import adjoint as adjoint_matrix
from intaglio.opdef import convert
from intaglio.opdef.dispatch import handle


def register(operator: type) -> None:
    """Lets public functions take instances of the class `operator`."""
    for function in (adjoint, cholesky, det, diag_part, inv, logdet, matmul, matvec, solve, trace):
        parameter = next(iter(function.__annotations__))
        handle(f"linalg.{function.__name__}", function, **{parameter: operator})
    handle("linalg.matmul", of_operator_on_the_right, b=operator)
    handle("linalg.solve", refused_on_the_right, rhs=operator)


def adjoint(matrix: Any) -> Any:
    """The adjoint operator."""
    return matrix.adjoint()


def cholesky(input: Any) -> Any:
    """The lower triangular factor, an operator. Raises ValueError unless positive definite."""
    return input.cholesky()


def det(input: Any) -> Any:
    """The determinant (batch)."""
    return input.determinant()


def diag_part(input: Any, k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """The diagonal (batch, n); other diagonals are those of the dense matrix."""
    if isinstance(k, int) and k == 0:
        return input.diag_part()
    dense = input.to_dense()
    return diagonals.diag_part(dense, k=k, padding_value=padding_value, align=align)


def inv(input: Any, adjoint: bool = False) -> Any:
    """The inverse operator, or its adjoint."""
    inverse = input.inverse()
    return inverse.adjoint() if adjoint else inverse


def logdet(matrix: Any) -> Any:
    """The logarithm of the determinant. Raises ValueError unless the operator is positive definite."""
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    return matrix.log_abs_determinant()


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> Any:
    """a @ b for an operator a; an operator if b is one."""
    _only_adjoints(transpose_a or transpose_b, a_is_sparse or b_is_sparse)
    return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)


def of_operator_on_the_right(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> Any:
    """a @ b for a tensor a (..., m, k) and an operator b: the adjoint of b^H @ a^H."""
    _only_adjoints(transpose_a or transpose_b, a_is_sparse or b_is_sparse)
    a = convert.to_tensor(a, b.dtype)
    product = b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a)
    return adjoint_matrix(product)


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> Any:
    """a @ b for an operator a and vectors b."""
    _only_adjoints(transpose_a, a_is_sparse or b_is_sparse)
    return a.matvec(b, adjoint=adjoint_a)


def solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """x with matrix @ x = rhs; an operator if rhs is one."""
    return matrix.solve(rhs, adjoint=adjoint)


def refused_on_the_right(matrix: Any, rhs: Any) -> Any:
    """Raises ValueError: the solution for an operator needs an operator on the left."""
    raise ValueError(
        "Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported."
    )


def trace(x: Any) -> Any:
    """The sum of the diagonal."""
    return x.trace()


def _only_adjoints(transposed: Any, sparse: Any) -> None:
    if transposed:
        raise ValueError("Transposing not supported at this time.")
    if sparse:
        raise ValueError("Sparse methods not supported at this time.")
