"""Factorisations and functions of matrices, against what they have to fulfil."""

import numpy as np
import pytest

from intaglio import tf

X = np.random.RandomState(2).uniform(-1, 1, (2, 3, 3)) + 2 * np.eye(3)
L = tf.linalg


def test_eigenvalues_and_vectors_give_the_matrix():
    values, vectors = L.eig(X)
    whole = (vectors.numpy() * values.numpy()[:, None, :]) @ np.linalg.inv(vectors.numpy())
    np.testing.assert_allclose(whole, X, atol=1e-12)
    alone = np.sort_complex(L.eigvals(X).numpy())
    np.testing.assert_allclose(alone, np.sort_complex(values.numpy()), atol=1e-12)


@pytest.mark.parametrize("compute_v", [False, True])
def test_gradient_of_eigenvalues_is_that_of_the_trace(compute_v):
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = L.eig(x)[0] if compute_v else L.eigvals(x)
        total = tf.reduce_sum(tf.math.real(values) ** 2 - tf.math.imag(values) ** 2)
    # The sum of the squared eigenvalues is the trace of the square.
    wanted = 2 * X.swapaxes(-1, -2)
    np.testing.assert_allclose(tape.gradient(total, x), wanted, atol=1e-10)


def test_lu_solves_and_inverts():
    lu, p = L.lu(X)
    np.testing.assert_allclose(L.lu_reconstruct(lu, p), X, atol=1e-12)
    np.testing.assert_allclose(L.lu_matrix_inverse(lu, p), np.linalg.inv(X), atol=1e-12)
    rhs = np.ones((2, 3, 1))
    np.testing.assert_allclose(L.lu_solve(lu, p, rhs), np.linalg.solve(X, rhs), atol=1e-12)


def test_root_logarithm_and_exponential_undo_one_another():
    root = L.sqrtm(X).numpy()
    np.testing.assert_allclose(root @ root, X, atol=1e-12)
    back = L.expm(L.logm(X.astype(complex))).numpy()
    np.testing.assert_allclose(back, X, atol=1e-12)
    large = L.expm(3 * X)
    np.testing.assert_allclose(L.logm(tf.cast(large, tf.complex128)).numpy().real, 3 * X, rtol=1e-6)


def test_tridiagonal_forms_agree():
    dense = np.array([[5.0, 1.0, 0.0], [2.0, 6.0, 3.0], [0.0, 4.0, 7.0]])
    rows = [[1.0, 3.0], [5.0, 6.0, 7.0], [2.0, 4.0]]
    compact = [[1.0, 3.0, 0.0], [5.0, 6.0, 7.0], [0.0, 2.0, 4.0]]
    rhs = np.array([[1.0], [2.0], [3.0]])
    forms = (
        (np.array(compact), "compact"),
        ([np.array(r) for r in rows], "sequence"),
        (dense, "matrix"),
    )
    for diagonals, form in forms:
        np.testing.assert_allclose(L.tridiagonal_matmul(diagonals, rhs, form), dense @ rhs)
        np.testing.assert_allclose(
            L.tridiagonal_solve(diagonals, rhs, form), np.linalg.solve(dense, rhs)
        )
    with pytest.raises(ValueError, match="diagonals_format"):
        L.tridiagonal_solve(dense, rhs, "other")


def test_eigenvalues_of_tridiagonal_matrices_are_selected():
    alpha, beta = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0])
    dense = np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1)
    wanted, vectors = np.linalg.eigh(dense)
    np.testing.assert_allclose(L.eigh_tridiagonal(alpha, beta), wanted)
    some = L.eigh_tridiagonal(alpha, beta, select="i", select_range=(1, 2))
    np.testing.assert_allclose(some, wanted[1:])
    some = L.eigh_tridiagonal(alpha, beta, select="v", select_range=(1.0, 2.5))
    np.testing.assert_allclose(some, wanted[1:2])
    values, found = L.eigh_tridiagonal(alpha, beta, eigvals_only=False)
    np.testing.assert_allclose(values, wanted)
    np.testing.assert_allclose(np.abs(found), np.abs(vectors))


@pytest.mark.parametrize("jit", [None, True])
def test_least_squares_of_open_shapes(jit):
    open_ = tf.TensorSpec([None, None, None], tf.float64)
    solve = tf.function(L.lstsq, input_signature=[open_, open_], jit_compile=jit)
    tall = np.concatenate([X, X[:, ::-1] ** 2], 1)
    for matrix in (tall, tall.swapaxes(-1, -2), X):
        rhs = np.ones((2, matrix.shape[1], 2))
        wanted = np.linalg.pinv(matrix) @ rhs
        np.testing.assert_allclose(solve(tf.constant(matrix), tf.constant(rhs)), wanted, atol=1e-9)
    # As TensorFlow 2.21: a matrix of unknown rank too.
    unknown = tf.function(L.lstsq, input_signature=[tf.TensorSpec(None, tf.float64)] * 2)
    np.testing.assert_allclose(unknown(X, rhs), wanted, atol=1e-9)


@pytest.mark.parametrize("jit", [None, False, True])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize("size", [(4, 2), (2, 4), (3, 3)])
def test_least_squares_by_singular_values(size, dtype, jit):
    """Of complex matrices too, and of such as have dependent columns; TensorFlow 2.21 was asked."""
    rng = np.random.default_rng(size[0])
    numbers = rng.normal(size=(2, 2, *size))
    matrix = (numbers[0] + 1j * numbers[1] if dtype[0] == "c" else numbers[0]).astype(dtype)
    matrix[1, :, -1] = matrix[1, :, 0]
    rhs = rng.normal(size=(2, size[0], 2)).astype(dtype)

    def solve(a, b):
        return L.lstsq(a, b, fast=False)

    run = solve if jit is None else tf.function(solve, jit_compile=jit)
    wanted = np.linalg.pinv(matrix.astype("complex128"), 1e-5) @ rhs
    found = run(tf.constant(matrix), tf.constant(rhs)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
    if dtype[0] == "c":
        with pytest.raises(TypeError, match="float"):
            L.pinv(matrix)


@pytest.mark.parametrize("shape", [[None, None], [None, 2], None])
def test_the_inverse_of_matrices_of_open_size(shape):
    matrix = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    inverse = tf.function(tf.linalg.pinv, input_signature=[tf.TensorSpec(shape, tf.float32)])
    np.testing.assert_allclose(inverse(matrix), np.linalg.pinv(matrix), rtol=1e-4)
    singular = np.float32([[1.0, 1.0], [1.0, 1.0 + 1e-6]])  # 20 eps of float32 are more than that
    np.testing.assert_allclose(inverse(singular), np.full((2, 2), 0.25), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_least_squares_of_what_is_not_finite(dtype, value):
    """TensorFlow 2.21 was asked: with `fast` false such a matrix has rank 0, whatever is in the batch."""
    draw = np.random.default_rng(2)
    a, b = draw.normal(size=(3, 4, 2)).astype(dtype), draw.normal(size=(3, 4, 1)).astype(dtype)
    a[1, 2, 1] = value

    def f(a, b):
        return tf.linalg.lstsq(a, b, fast=False)

    op = tf.raw_ops.MatrixSolveLs(
        matrix=a, rhs=b, l2_regularizer=tf.constant(0.0, tf.float64), fast=False
    )
    for found in (op, f(a, b), tf.function(f)(a, b), tf.function(f, jit_compile=True)(a, b)):
        np.testing.assert_array_equal(found[1], np.zeros((2, 1)))
        for i in (0, 2):
            want = np.linalg.lstsq(a[i], b[i], rcond=None)[0]
            np.testing.assert_allclose(found[i], want, rtol=1e-3)
