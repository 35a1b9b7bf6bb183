"""Sparse matrices as single values. TensorFlow 2.21 was asked for the numbers and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

raw = tf.raw_ops
INVALID = tf.errors.InvalidArgumentError


def matrix(indices: Any, values: Any, dense_shape: Any, dtype: Any = tf.float64) -> Any:
    return raw.SparseTensorToCSRSparseMatrix(
        indices=tf.constant(indices, tf.int64, shape=(len(indices), len(dense_shape))),
        values=tf.cast(values, dtype),
        dense_shape=tf.constant(dense_shape, tf.int64),
    )


def parts(value: Any, dtype: Any = tf.float64) -> list[Any]:
    found = raw.CSRSparseMatrixToSparseTensor(sparse_matrix=value, type=dtype)
    return [x.numpy().tolist() for x in found]


A = ([[0, 0], [0, 2], [1, 1]], [1.0, 2.0, 3.0], [2, 3])
B = ([[0, 0], [1, 1], [2, 0]], [2.0, 5.0, -1.0], [3, 2])
BATCH = ([[0, 0, 0], [1, 0, 2], [1, 1, 1]], [1.0, 2.0, 3.0], [2, 2, 3])
DENSE = np.arange(6.0).reshape(3, 2)


def test_elements_come_in_order_and_repeat_as_they_are() -> None:
    places = [[0, 0], [2, 0], [1, 1]]
    assert parts(matrix(places, [2, -1, 5], [3, 2])) == [
        [[0, 0], [1, 1], [2, 0]],
        [2, 5, -1],
        [3, 2],
    ]
    assert parts(matrix([[0, 0], [0, 0]], [1, 2], [2, 3]))[1] == [1, 2]
    assert parts(matrix([], [], [2, 3])) == [[], [], [2, 3]]


def test_dense_matrices_and_back() -> None:
    dense = tf.constant([[1.0, 0, 2], [3, 4, 5]])
    picked = raw.DenseToCSRSparseMatrix(
        dense_input=dense, indices=tf.constant([[1, 2], [0, 0], [0, 1]], tf.int64)
    )
    assert parts(picked, tf.float32) == [[[0, 0], [0, 1], [1, 2]], [1, 0, 5], [2, 3]]
    whole = raw.CSRSparseMatrixToDense(sparse_input=matrix(*BATCH), type=tf.float64)
    assert whole.numpy().tolist() == [[[1, 0, 0], [0, 0, 0]], [[0, 0, 2], [0, 3, 0]]]


def test_components_are_those_of_one_matrix() -> None:
    def components(value: Any, index: int) -> list[Any]:
        found = raw.CSRSparseMatrixComponents(csr_sparse_matrix=value, index=index, type=tf.float64)
        return [x.numpy().tolist() for x in found]

    assert components(matrix(*A), 0) == [[0, 2, 3], [0, 2, 1], [1, 2, 3]]
    assert components(matrix(*BATCH), 0) == [[0, 1, 1], [0], [1]]
    assert components(matrix(*BATCH), 1) == [[0, 1, 2], [2, 1], [2, 3]]
    for index in (-1, 2):
        with pytest.raises(INVALID, match=rf"index \({index}\) not in \[0, 2\)"):
            components(matrix(*BATCH), index)


def test_numbers_of_elements() -> None:
    assert raw.SparseMatrixNNZ(sparse_matrix=matrix(*A)).numpy() == 3
    assert raw.SparseMatrixNNZ(sparse_matrix=matrix(*BATCH)).numpy().tolist() == [1, 2]


def test_transposes() -> None:
    turned = raw.SparseMatrixTranspose(input=matrix(*BATCH), type=tf.float64)
    places = [[0, 0, 0], [1, 1, 1], [1, 2, 0]]
    assert parts(turned) == [places, [1, 3, 2], [2, 3, 2]]
    complex_one = matrix([[0, 1]], [1 + 2j], [2, 2], tf.complex64)
    turned = raw.SparseMatrixTranspose(input=complex_one, type=tf.complex64, conjugate=True)
    assert parts(turned, tf.complex64) == [[[1, 0]], [1 - 2j], [2, 2]]


def test_products_of_sparse_matrices() -> None:
    def product(a: Any, b: Any, **flags: Any) -> list[Any]:
        return parts(
            raw.SparseMatrixSparseMatMul(a=matrix(*a), b=matrix(*b), type=tf.float64, **flags)
        )

    # What adds up to zero stays.
    assert product(A, B) == [[[0, 0], [1, 1]], [0, 15], [2, 2]]
    assert product(A, A, transpose_a=True) == [
        [[0, 0], [0, 2], [1, 1], [2, 0], [2, 2]],
        [1, 2, 9, 2, 4],
        [3, 3],
    ]
    places = [[0, 0, 0], [1, 0, 0], [1, 1, 1]]
    assert product(BATCH, BATCH, adjoint_b=True) == [places, [1, 4, 9], [2, 2, 2]]


def test_products_with_dense_matrices() -> None:
    def product(a: Any, b: Any, **flags: Any) -> list[Any]:
        found = raw.SparseMatrixMatMul(a=matrix(*a), b=tf.constant(b), **flags)
        return found.numpy().tolist()

    assert product(A, DENSE) == [[8, 11], [6, 9]]
    turned = product(A, DENSE.T, transpose_b=True, transpose_output=True)
    assert turned == [[8, 6], [11, 9]]
    assert product(A, DENSE[:2], transpose_a=True) == [[0, 1], [6, 9], [0, 2]]
    batch = product(BATCH, np.stack([DENSE, DENSE]))
    assert batch == [[[0, 1], [0, 0]], [[8, 10], [6, 9]]]


@pytest.mark.parametrize("seed", range(4))
def test_large_products_are_those_of_dense_matrices(seed: int) -> None:
    random = np.random.default_rng(seed)
    dense = [random.normal(size=s) * (random.random(s) < 0.2) for s in ((20, 30), (30, 25))]
    sparse = [matrix(np.argwhere(d), d[d != 0], d.shape) for d in dense]
    both = raw.SparseMatrixSparseMatMul(a=sparse[0], b=sparse[1], type=tf.float64)
    one = raw.SparseMatrixMatMul(a=sparse[0], b=tf.constant(dense[1]))
    wanted = dense[0] @ dense[1]
    assert np.allclose(raw.CSRSparseMatrixToDense(sparse_input=both, type=tf.float64), wanted)
    assert np.allclose(one, wanted)


FLAGS = ("", "transpose", "adjoint")


@pytest.mark.parametrize("left", FLAGS)
@pytest.mark.parametrize("right", FLAGS)
@pytest.mark.parametrize("dense", [False, True])
def test_gradients_are_those_of_dense_products(left: str, right: str, dense: bool) -> None:
    """Only the indices of a matrix count, though products fill others."""
    dtype, random = tf.complex128, np.random.default_rng(0)
    flags: dict[str, Any] = {f"{k}_{n}": True for n, k in (("a", left), ("b", right)) if k}
    a_shape = (2, 3) if not left else (3, 2)
    b_shape = (3, 4) if not right else (4, 3)
    places = [np.argwhere(random.random(s) < 0.7) for s in (a_shape, b_shape)]
    values = [
        tf.constant(random.normal(size=len(p)) + 1j * random.normal(size=len(p))) for p in places
    ]
    weights = tf.constant(random.normal(size=(2, 4)) + 1j * random.normal(size=(2, 4)))

    def sparse(v: list[Any]) -> Any:
        a, b = (
            matrix(p, x, s, dtype) for p, x, s in zip(places, v, (a_shape, b_shape), strict=True)
        )
        if dense:
            b = raw.CSRSparseMatrixToDense(sparse_input=b, type=dtype)
            return raw.SparseMatrixMatMul(a=a, b=b, **flags)
        c = raw.SparseMatrixSparseMatMul(a=a, b=b, type=dtype, **flags)
        return raw.CSRSparseMatrixToDense(sparse_input=c, type=dtype)

    def plain(v: list[Any]) -> Any:
        a, b = (
            tf.scatter_nd(p, x, s) for p, x, s in zip(places, v, (a_shape, b_shape), strict=True)
        )
        return tf.matmul(a, b, **flags)

    found: list[list[Any]] = []
    for product in (sparse, plain, tf.function(sparse)):
        with tf.GradientTape() as tape:
            tape.watch(values)
            result = tf.reduce_sum(tf.math.real(weights * product(values)))
        found.append([x.numpy() for x in tape.gradient(result, values)])
    for mine, wanted, traced in zip(*found, strict=True):
        assert np.allclose(mine, wanted) and np.allclose(traced, wanted)


def test_a_matrix_used_twice_gets_both_gradients() -> None:
    values = tf.constant(A[1], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(values)
        a = matrix(A[0], values, A[2])
        square = raw.SparseMatrixSparseMatMul(a=a, b=a, type=tf.float64, transpose_b=True)
        result = raw.CSRSparseMatrixToDense(sparse_input=square, type=tf.float64)
    assert tape.gradient(result, values).numpy().tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("call", "phrase"),
    [
        (lambda: matrix([[0, 5]], [1], [2, 3]), "out of bounds"),
        (lambda: matrix([[0]], [1], [2]), "must have rank 2 or 3; but indices has rank: 1"),
        (lambda: parts(matrix(*A), tf.float32), "Expected a CSRSparseMatrix of type float32"),
        (lambda: raw.SparseMatrixSparseMatMul(a=matrix(*A), b=matrix(*A), type=tf.float64),
         r"Inner product dimensions of A and B do not agree. +Shapes are: \[2,3\] vs. \[2,3\]"),
        (lambda: raw.SparseMatrixSparseMatMul(a=matrix(*A), b=matrix(*A), type=tf.float64,
                                              transpose_a=True, adjoint_a=True),
         "Only one of adjoint_a and transpose_a may be true"),
        (lambda: raw.SparseMatrixMatMul(a=matrix(*A), b=tf.constant(DENSE[None])),
         "Ranks of a and b must match, saw: 2 vs. 3"),
        (lambda: raw.SparseMatrixMatMul(a=matrix(*A), b=tf.constant(DENSE[:2])),
         "Inner product dimensions"),
        (lambda: raw.DenseToCSRSparseMatrix(dense_input=tf.constant(DENSE),
                                            indices=tf.constant([[1, 3]], tf.int64)),
         "does not index into param shape"),
        (lambda: raw.DenseToCSRSparseMatrix(dense_input=tf.constant(DENSE[0]),
                                            indices=tf.constant([[1]], tf.int64)),
         "must have rank == 2 or 3"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Any, phrase: str) -> None:
    with pytest.raises(INVALID, match=phrase):
        call()
