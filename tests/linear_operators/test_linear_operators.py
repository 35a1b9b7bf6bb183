"""Linear operators: all do what their dense matrices do, eagerly and as arguments of functions."""

import numpy as np
import pytest

from intaglio import tf

R = np.random.RandomState(11)
GENERAL = R.uniform(-1, 1, (2, 3, 3)) + 3 * np.eye(3)
SYMMETRIC = GENERAL @ GENERAL.swapaxes(-1, -2)
L = tf.linalg


def full(matrix, **hints):
    return L.LinearOperatorFullMatrix(tf.constant(matrix), **hints)


def diag(values, **hints):
    return L.LinearOperatorDiag(tf.constant(values, tf.float64), **hints)


CASES = {
    "full": lambda: full(GENERAL),
    "positive": lambda: full(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True),
    "lower": lambda: L.LinearOperatorLowerTriangular(tf.constant(GENERAL)),
    "diag": lambda: diag([[1.0, -2.0, 3.0], [4.0, 5.0, 6.0]]),
    "complex diag": lambda: L.LinearOperatorDiag(tf.constant([1 + 2j, 3.0 + 0j, -1j], tf.complex128)),
    "identity": lambda: L.LinearOperatorIdentity(3, [2], dtype=tf.float64),
    "scaled": lambda: L.LinearOperatorScaledIdentity(3, tf.constant([2.0, -3.0], tf.float64)),
    "permutation": lambda: L.LinearOperatorPermutation([2, 0, 1], dtype=tf.float64),
    "householder": lambda: L.LinearOperatorHouseholder(tf.constant(GENERAL[:, 0])),
    "tridiag": lambda: L.LinearOperatorTridiag(tf.constant([[1.0, 2.0, 0.0], [5.0, 6.0, 7.0], [0.0, 1.0, 2.0]], tf.float64)),
    "tridiag rows": lambda: L.LinearOperatorTridiag([tf.constant(v, tf.float64) for v in ([1.0, 2.0], [5.0, 6.0, 7.0], [1.0, 2.0])], "sequence"),
    "toeplitz": lambda: L.LinearOperatorToeplitz(tf.constant([5.0, 1.0, 2.0], tf.float64), tf.constant([5.0, 3.0, -1.0], tf.float64)),
    "circulant": lambda: L.LinearOperatorCirculant(tf.constant([6.0 + 0j, 4.0 + 1j, 4.0 - 1j], tf.complex128), tf.float64),
    "circulant 2d": lambda: L.LinearOperatorCirculant2D(tf.constant(R.uniform(1, 2, (2, 2)), tf.complex128), tf.complex128),
    "circulant 3d": lambda: L.LinearOperatorCirculant3D(tf.constant(R.uniform(1, 2, (2, 1, 2)), tf.complex128), tf.complex128),
    "adjoint": lambda: L.LinearOperatorAdjoint(full(GENERAL)),
    "inversion": lambda: L.LinearOperatorInversion(full(GENERAL)),
    "composition": lambda: L.LinearOperatorComposition([full(GENERAL), diag([1.0, 2.0, 3.0])]),
    "kronecker": lambda: L.LinearOperatorKronecker([full(GENERAL[0]), diag([1.0, 2.0])]),
    "low rank": lambda: L.LinearOperatorLowRankUpdate(diag([1.0, 2.0, 3.0]), tf.constant(GENERAL[:, :, :2]), tf.constant([0.5, 2.0], tf.float64), tf.constant(GENERAL[:, :, 1:])),
    "blocks": lambda: L.LinearOperatorBlockDiag([full(GENERAL), diag([1.0, 2.0])]),
    "lower blocks": lambda: L.LinearOperatorBlockLowerTriangular([[full(GENERAL)], [full(GENERAL[:, :2]), diag([1.0, 2.0])]]),
}  # fmt: skip


@pytest.fixture(params=sorted(CASES))
def operator(request):
    return CASES[request.param]()


def test_products_and_solutions_are_those_of_the_matrix(operator):
    dense = operator.to_dense().numpy()
    assert tuple(operator.shape) == dense.shape
    assert operator.shape_tensor().numpy().tolist() == list(dense.shape)
    n = dense.shape[-1]
    x = R.uniform(-1, 1, (*dense.shape[:-2], n, 2)).astype(dense.dtype)
    for adjoint in (False, True):
        matrix = dense.conj().swapaxes(-1, -2) if adjoint else dense
        y = operator.matmul(tf.constant(x), adjoint=adjoint).numpy()
        np.testing.assert_allclose(y, matrix @ x, atol=1e-10)
        back = operator.solve(tf.constant(y), adjoint=adjoint).numpy()
        np.testing.assert_allclose(back, x, atol=1e-9)
    vector = x[..., 0]
    product = (dense @ vector[..., None])[..., 0]
    np.testing.assert_allclose(operator.matvec(tf.constant(vector)), product, atol=1e-10)


def test_numbers_are_those_of_the_matrix(operator):
    dense = operator.to_dense().numpy()
    determinant = np.linalg.det(dense)
    np.testing.assert_allclose(operator.determinant(), determinant, rtol=1e-9)
    np.testing.assert_allclose(
        operator.log_abs_determinant(), np.log(np.abs(determinant)), rtol=1e-9, atol=1e-9
    )
    diagonal = np.diagonal(dense, axis1=-2, axis2=-1)
    np.testing.assert_allclose(operator.diag_part(), diagonal, atol=1e-10)
    np.testing.assert_allclose(operator.trace(), diagonal.sum(-1), atol=1e-10)
    np.testing.assert_allclose(operator.cond(), np.linalg.cond(dense), rtol=1e-8)
    np.testing.assert_allclose(operator.add_to_tensor(dense), 2 * dense, atol=1e-10)


def test_inverse_and_adjoint_are_operators(operator):
    dense = operator.to_dense().numpy()
    inverse, adjoint = operator.inverse(), operator.H
    assert isinstance(inverse, L.LinearOperator)
    np.testing.assert_allclose(inverse.to_dense(), np.linalg.inv(dense), atol=1e-9)
    np.testing.assert_allclose(adjoint.to_dense(), dense.conj().swapaxes(-1, -2), atol=1e-10)
    twice = (operator @ operator).to_dense()
    np.testing.assert_allclose(twice, dense @ dense, atol=1e-9)


def test_is_an_argument_and_a_result_of_functions(operator):
    traces = []

    @tf.function
    def passed(given, x):
        traces.append(given)
        return given.matmul(x), given

    dense = operator.to_dense().numpy()
    x = tf.constant(np.ones((dense.shape[-1], 1), dense.dtype))
    passed(operator, x)
    product, same = passed(operator, x)
    assert len(traces) == 1
    assert type(same) is type(operator)
    np.testing.assert_allclose(product, dense @ x.numpy(), atol=1e-10)
    np.testing.assert_allclose(same.to_dense(), dense, atol=1e-10)


def test_gradients_flow_into_the_parts():
    values = tf.constant([1.0, 2.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        total = tf.reduce_sum(L.LinearOperatorDiag(values).solvevec([1.0, 1.0, 1.0]))
    np.testing.assert_allclose(tape.gradient(total, values), [-1, -0.25, -0.0625])


def test_hints_choose_and_refuse():
    zeros = L.LinearOperatorZeros(2)
    assert zeros.is_non_singular is False
    with pytest.raises(NotImplementedError, match="singular"):
        zeros.solve([[1.0], [1.0]])
    with pytest.raises(NotImplementedError, match="not square"):
        full(GENERAL[0, :2]).determinant()
    with pytest.raises(ValueError, match="not compatible"):
        full(GENERAL).matmul(tf.ones([2, 2], tf.float64))
    with pytest.raises(ValueError, match="positive definite self adjoint"):
        full(GENERAL).cholesky()
    root = full(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True).cholesky()
    assert isinstance(root, L.LinearOperatorLowerTriangular)
    np.testing.assert_allclose((root @ root.H).to_dense(), SYMMETRIC, atol=1e-10)


def test_blocks_take_lists_and_give_lists():
    operator = CASES["lower blocks"]()
    parts = [tf.ones([3, 1], tf.float64), tf.ones([2, 1], tf.float64)]
    made = operator.matmul(parts)
    assert [tuple(p.shape) for p in made] == [(2, 3, 1), (2, 2, 1)]
    back = operator.solve(made)
    for part in back:
        np.testing.assert_allclose(part, np.ones(part.shape), atol=1e-10)


@pytest.mark.parametrize("start", [None, np.ones((2, 3))])
def test_conjugate_gradients_solve(start):
    operator = full(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True)
    rhs = GENERAL[:, 0]
    made = L.experimental.conjugate_gradient(operator, rhs, x=start, tol=1e-12)
    exact = np.linalg.solve(SYMMETRIC, rhs[..., None])[..., 0]
    np.testing.assert_allclose(made.x, exact, atol=1e-9)
    assert int(made.i) <= 5
    with pytest.raises(ValueError, match="self-adjoint, positive definite"):
        L.experimental.conjugate_gradient(full(GENERAL), rhs)


def test_gradient_of_the_greatest_numbers_flows_to_their_indices():
    x = tf.constant([[1.0, 5.0, 3.0], [9.0, 2.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        values, _ = tf.math.approx_max_k(x, 2)
        total = tf.reduce_sum(values * [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tape.gradient(total, x), [[0, 1, 2], [3, 0, 4]])


def _batched(make):
    rng = np.random.RandomState(0)
    return make(lambda *s: tf.constant(rng.rand(*s) + 1))


BRACKETS = {
    "full": lambda r: L.LinearOperatorFullMatrix(r(2, 4, 3, 3)),
    "diag": lambda r: L.LinearOperatorDiag(r(2, 4, 3)),
    "scaled": lambda r: L.LinearOperatorScaledIdentity(3, r(2, 4)),
    "identity": lambda r: L.LinearOperatorIdentity(3, [2, 4], tf.float64),
    "lower": lambda r: L.LinearOperatorLowerTriangular(r(2, 4, 3, 3)),
    "householder": lambda r: L.LinearOperatorHouseholder(r(2, 4, 3)),
    "toeplitz": lambda r: L.LinearOperatorToeplitz(r(4, 3), r(2, 4, 3)),
    "tridiag": lambda r: L.LinearOperatorTridiag(r(2, 4, 3, 3), "compact"),
    "sequence": lambda r: L.LinearOperatorTridiag([r(2, 4, 3) for _ in range(3)], "sequence"),
    "circulant": lambda r: L.LinearOperatorCirculant2D(r(2, 4, 2, 2), tf.float64),
    "adjoint": lambda r: L.LinearOperatorAdjoint(L.LinearOperatorFullMatrix(r(2, 4, 3, 3))),
    "update": lambda r: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(r(3)), r(2, 4, 3, 2)),
}


@pytest.mark.parametrize("name", BRACKETS)
def test_brackets_choose_from_the_batch(name):
    operator = _batched(BRACKETS[name])
    dense = operator.to_dense().numpy()
    members = dense.reshape(8, *dense.shape[2:])
    for at in (0, (1, 2), (slice(None), 1), (..., 1), slice(None, None, -1)):
        part = operator[at]
        assert type(part) is type(operator)
        wanted = members[np.arange(8).reshape(2, 4)[at]]
        np.testing.assert_allclose(part.to_dense(), wanted, atol=1e-12)


# The classes and hints that TensorFlow 2.21 gives were asked for.
@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("diag", "diag", "Diag"),
        ("diag", "scaled", "Diag"),
        ("scaled", "scaled", "ScaledIdentity"),
        ("identity", "full", "FullMatrix"),
        ("lower", "diag", "LowerTriangular"),
        ("scaled", "lower", "LowerTriangular"),
        ("circulant", "circulant", "Circulant2D"),
        ("full", "diag", "Composition"),
    ],
)
def test_products_keep_their_structure(left, right, kind):
    one, two = _batched(BRACKETS[left]), _batched(BRACKETS[right])
    made = one @ two
    assert type(made).__name__ == f"LinearOperator{kind}"
    exact = one.to_dense() @ two.to_dense()
    np.testing.assert_allclose(made.to_dense(), exact, atol=1e-9)


def test_a_self_adjoint_operator_squared_is_positive_definite():
    operator = full(SYMMETRIC, is_self_adjoint=True, is_positive_definite=True)
    squared = operator @ operator
    assert squared.is_self_adjoint and squared.is_positive_definite
    zeros = L.LinearOperatorZeros(4, dtype=tf.float64)
    assert isinstance(zeros @ L.LinearOperatorZeros(4, dtype=tf.float64), type(zeros))


def test_the_condition_of_matrices_that_are_not_square():
    operator = L.LinearOperatorFullMatrix(tf.constant([[3.0, 0.0], [0.0, 1.0], [0, 0]]))
    np.testing.assert_allclose(operator.cond(), 3.0, rtol=1e-6)


@pytest.mark.parametrize(
    "operator",
    [L.LinearOperatorIdentity(2), L.LinearOperatorScaledIdentity(2, 3.0), L.LinearOperatorZeros(2)],
    ids=lambda o: type(o).__name__,
)
def test_the_argument_of_add_to_tensor_is_called_mat(operator):
    given = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    found = operator.add_to_tensor(mat=given)
    np.testing.assert_allclose(found, operator.to_dense().numpy() + given)
