"""`tf.linalg`'s functions take linear operators and do what they do with the dense matrices.

TensorFlow was asked which functions take operators, with which arguments, and what it refuses.
"""

import numpy as np
import pytest

from intaglio import tf
from tests.linear_operators.test_linear_operators import CASES

L = tf.linalg
X = np.random.RandomState(3).uniform(-1, 1, (8, 2))


def dense(x):
    return (x.to_dense() if isinstance(x, L.LinearOperator) else x).numpy()


@pytest.fixture(params=sorted(CASES))
def operator(request):
    return CASES[request.param]()


def close(found, expected):
    np.testing.assert_allclose(dense(found), dense(expected), rtol=1e-6, atol=1e-8)


def test_functions_of_one_matrix(operator):
    matrix = operator.to_dense()
    for function in (L.det, L.trace, L.inv, L.adjoint, L.diag_part):
        close(function(operator), function(matrix))
    close(L.inv(operator, adjoint=True), L.inv(matrix, adjoint=True))
    close(L.diag_part(operator, k=1), L.diag_part(matrix, k=1))
    assert isinstance(L.inv(operator), L.LinearOperator)
    assert isinstance(L.adjoint(operator), L.LinearOperator)


@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("adjoint_b", [False, True])
def test_products(operator, adjoint_a, adjoint_b):
    matrix = operator.to_dense()
    flags = {"adjoint_a": adjoint_a, "adjoint_b": adjoint_b}
    n = operator.shape[-1]
    tall = tf.cast(X[:n], matrix.dtype)
    wide = L.adjoint(tall)
    right, left = (wide, tall) if adjoint_b else (tall, wide)
    close(L.matmul(operator, right, **flags), L.matmul(matrix, right, **flags))
    left = L.adjoint(left) if adjoint_a != adjoint_b else left
    close(L.matmul(left, operator, **flags), L.matmul(left, matrix, **flags))
    both = L.matmul(operator, operator, **flags)
    assert isinstance(both, L.LinearOperator)
    close(both, L.matmul(matrix, matrix, **flags))
    close(L.matvec(operator, tall[:, 0], adjoint_a=adjoint_a), L.matvec(matrix, tall[:, 0], adjoint_a=adjoint_a))  # fmt: skip
    close(L.solve(operator, tall, adjoint=adjoint_a), L.solve(matrix, tf.broadcast_to(tall, [*matrix.shape[:-2], *tall.shape]), adjoint=adjoint_a))  # fmt: skip


def test_operators_of_tensors_and_variables_on_the_left(operator):
    matrix = operator.to_dense()
    left = tf.cast(X[: operator.shape[-1]].T, matrix.dtype)
    for x in (left, tf.Variable(left), left.numpy(), left.numpy().tolist()):
        close(x @ operator, left @ matrix)


def test_what_needs_a_positive_definite_operator():
    positive, general = CASES["positive"](), CASES["full"]()
    close(L.cholesky(positive), L.cholesky(positive.to_dense()))
    close(L.logdet(positive), L.logdet(positive.to_dense()))
    for function in (L.cholesky, L.logdet):
        with pytest.raises(ValueError, match=r"self.adjoint"):
            function(general)


def test_what_is_refused(operator):
    x = tf.ones([operator.shape[-1], 2], operator.dtype)
    for flag in ("transpose_a", "transpose_b"):
        with pytest.raises(ValueError, match="Transposing not supported at this time"):
            L.matmul(operator, x, **{flag: True})
    for flag in ("a_is_sparse", "b_is_sparse"):
        with pytest.raises(ValueError, match="Sparse methods not supported at this time"):
            L.matmul(operator, x, **{flag: True})
    with pytest.raises(ValueError, match="`rhs` as a LinearOperator is not supported"):
        L.solve(operator.to_dense(), operator)


def test_in_functions_and_their_gradients(operator):
    if operator.dtype.is_complex:
        return
    matrix = operator.to_dense()
    x = tf.constant(X[: operator.shape[-1]])

    @tf.function
    def product(a, x):
        return tf.matmul(a, x), L.det(a)

    for found, expected in zip(product(operator, x), product(matrix, x), strict=True):
        close(found, expected)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        of_operator, of_matrix = product(operator, x)[0], product(matrix, x)[0]
    close(tape.gradient(of_operator, x), tape.gradient(of_matrix, x))
