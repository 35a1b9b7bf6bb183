"""How many threads factorisations take: one below some hundred rows, and the setting comes back."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.options import OPTIONS
from intaglio.cpython.numpy_libraries import Lapack, linalg_loop
from intaglio.ops.linalg import lapack
from intaglio.ops.linalg.lapack import OneThread


class Library:
    """Stands for OpenBLAS on a machine of four processors."""

    def __init__(self):
        self.threads = 4
        self.one = OneThread(lambda: self.threads, self.set)

    def set(self, threads):
        self.threads = threads


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setattr(lapack, "ONE_THREAD", made.one)
    return made


def threads_of(monkeypatch, library, call):
    """What the setting is whenever one of NumPy's loops over matrices runs."""
    seen = []

    def watched(name):
        loop = linalg_loop(name)

        def run(*args):
            seen.append(library.threads)
            return loop(*args)

        return loop and run

    monkeypatch.setattr(lapack, "linalg_loop", watched)
    monkeypatch.setattr(lapack, "lapack_functions", lambda letter: None)
    call()
    assert library.threads == 4
    return seen


def square(rows, *batch):
    return tf.constant(np.eye(rows) + np.zeros([*batch, rows, rows]) + 0.01 / rows)


@pytest.mark.parametrize(
    "call",
    [
        tf.linalg.cholesky,
        tf.linalg.inv,
        tf.linalg.det,
        tf.linalg.slogdet,
        tf.linalg.eigh,
        tf.linalg.eigvalsh,
        tf.linalg.eig,
        tf.linalg.svd,
        lambda x: tf.linalg.solve(x, x),
    ],
)
def test_matrices_of_some_hundred_rows_have_one_thread(monkeypatch, library, call):
    assert threads_of(monkeypatch, library, lambda: call(square(64, 2))) == [1]


def test_orthogonal_factors_have_one_thread(monkeypatch, library):
    functions = lapack.lapack_functions("d")
    if functions is None:
        pytest.skip("NumPy has another library")
    seen = []

    def watched(a, columns):
        seen.append(library.threads)
        return Lapack.orthogonalise(functions, a, columns)

    monkeypatch.setattr(functions, "orthogonalise", watched)
    tf.linalg.qr(square(64, 2))
    assert (seen, library.threads) == ([1], 4)


def test_few_equations_with_many_right_hand_sides_have_one_thread(monkeypatch, library):
    wide = tf.ones([4, 300], tf.float64)
    run = lambda: tf.linalg.solve(square(4), wide)  # noqa: E731
    assert threads_of(monkeypatch, library, run) == [1]


def test_triangular_solutions_have_one_thread(monkeypatch, library):
    functions = lapack.lapack_functions("d")
    if functions is None:
        pytest.skip("NumPy has another library")
    seen = []

    def watched(*arguments):
        seen.append(library.threads)
        return Lapack.solve_triangular(functions, *arguments)

    monkeypatch.setattr(functions, "solve_triangular", watched)
    for rows, columns in ((12, 300), (64, 1), (4, 4), (4, 1 << 18)):
        tf.linalg.triangular_solve(square(rows), tf.ones([rows, columns], tf.float64))
    assert (seen, library.threads) == ([1, 1, 4, 4], 4)


@pytest.mark.parametrize("rows", [4, 1024])
def test_the_others_have_what_the_library_gives_them(monkeypatch, library, rows):
    run = lambda: tf.linalg.solve(square(rows), square(rows))  # noqa: E731
    assert threads_of(monkeypatch, library, run) == [4]


def test_a_program_that_wants_one_thread_gets_one(monkeypatch, library):
    monkeypatch.setattr(OPTIONS, "threads_intra", 1)
    run = lambda: tf.linalg.solve(square(1024), square(1024))  # noqa: E731
    assert threads_of(monkeypatch, library, run) == [1]


def test_the_setting_comes_back_after_an_error(library):
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.inv(tf.zeros([64, 64]))
    assert library.threads == 4


def test_the_last_of_several_threads_sets_it_back(library):
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with library.one:
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait(10)
    with library.one:
        assert library.threads == 1
    assert library.threads == 1
    leave.set()
    thread.join()
    assert library.threads == 4


def test_after_a_fork_no_lock_is_held(library):
    library.one.__enter__()  # by a thread that the new process has not
    library.one.after_fork()
    assert library.threads == 4
    with library.one:
        assert library.threads == 1
    assert library.threads == 4


@pytest.mark.skipif(lapack.ONE_THREAD is None, reason="NumPy has another library")
def test_the_library_that_numpy_has_loaded():
    one = lapack.ONE_THREAD
    before = one._get()
    with one:
        assert one._get() == 1
    assert one._get() == before >= 1


RNG = np.random.RandomState(7)
LETTERS = {"float32": 2e-3, "float64": 1e-9, "complex64": 2e-3, "complex128": 1e-9}


def matrices_of(dtype, *shape):
    """Random matrices with a large diagonal, if they are square."""
    found = RNG.uniform(-1, 1, shape)
    if dtype.startswith("complex"):
        found = found + 1j * RNG.uniform(-1, 1, shape)
    if shape[-1] == shape[-2]:
        found = found + 3 * np.eye(shape[-1])
    return found.astype(dtype)


def adjoint_of(x):
    return x.swapaxes(-1, -2).conj()


@pytest.fixture(params=["with LAPACK", "with NumPy's loops", "with NumPy alone"])
def functions(request, monkeypatch):
    """By the functions of NumPy's library, and where it, or loops in NumPy, have other names."""
    if request.param != "with LAPACK":
        monkeypatch.setattr(lapack, "lapack_functions", lambda letter: None)
    if request.param == "with NumPy alone":
        monkeypatch.setattr(lapack, "linalg_loop", lambda name: None)


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize("dtype", LETTERS)
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1, 1), (1, 3)),
        ((5, 5), (5, 1)),
        ((2, 4, 4), (2, 4, 3)),
        ((33, 33), (33, 9)),
        ((2, 40, 40), (2, 40, 1)),
        ((0, 4, 4), (0, 4, 2)),
        ((36, 36), (36, 0)),
        ((0, 0), (0, 2)),
    ],
)
def test_solutions_solve(dtype, adjoint, left, right):
    a, b = matrices_of(dtype, *left), matrices_of(dtype, *right)
    matrix = adjoint_of(a) if adjoint else a
    x = tf.linalg.solve(a, b, adjoint=adjoint).numpy()
    assert x.dtype == a.dtype
    np.testing.assert_allclose(matrix @ x, b, atol=LETTERS[dtype])
    inverse = tf.linalg.inv(a, adjoint=adjoint).numpy()
    identity = np.zeros(left, dtype) + np.eye(left[-1])
    np.testing.assert_allclose(matrix @ inverse, identity, atol=LETTERS[dtype])
    lu, p = tf.linalg.lu(a)
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(lu, p), a, atol=LETTERS[dtype])


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize("dtype", LETTERS)
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1, 1), (1, 1)),
        ((7, 7), (3, 7, 2)),
        ((2, 1, 4, 4), (3, 4, 5)),
        ((50, 50), (50, 50)),
        ((5, 7, 4, 4), (5, 7, 4, 3)),
        ((40, 1, 1), (40, 1, 1)),
        ((0, 3, 3), (1, 3, 2)),
        ((3, 3), (3, 0)),
    ],
)
def test_triangular_solutions_read_one_triangle(dtype, adjoint, lower, left, right):
    a, b = matrices_of(dtype, *left), matrices_of(dtype, *right)
    triangle = np.tril(a) if lower else np.triu(a)
    x = tf.linalg.triangular_solve(a, b, lower=lower, adjoint=adjoint).numpy()
    left_side = adjoint_of(triangle) if adjoint else triangle
    residual = left_side.astype(np.complex128) @ x
    scale = max(np.abs(x).max(initial=1), 1)
    np.testing.assert_allclose(residual, np.zeros_like(residual) + b, atol=LETTERS[dtype] * scale)


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_singular_matrices_are_refused(rows):
    zeros = tf.zeros([2, rows, rows])
    for call in (tf.linalg.inv, tf.linalg.lu, lambda x: tf.linalg.solve(x, x)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            call(zeros)


def test_infinities_end_a_singular_value_decomposition() -> None:
    matrix = [[np.inf, 0, 1e308], [np.inf, -1e308, 0], [np.inf, np.inf, -1e308]]
    for part in tf.linalg.svd(tf.constant([matrix, np.eye(3)], tf.float64)):
        assert np.isnan(part[0]).all()
        assert np.isfinite(part[1]).all()


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize("dtype", LETTERS)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1),
        (3, 2),
        (2, 3),
        (2, 5, 5),
        (40, 7),
        (7, 40),
        (3, 36, 36),
        (2, 0, 3, 3),
        (0, 3),
        (3, 0),
    ],
)
def test_factors_are_the_matrix(dtype, full, shape):
    a, tolerance = matrices_of(dtype, *shape), LETTERS[dtype]
    q, r = (t.numpy() for t in tf.linalg.qr(a, full_matrices=full))
    assert q.dtype == r.dtype == a.dtype
    inner = shape[-2] if full else min(shape[-2:])
    assert q.shape == (*shape[:-1], inner) and r.shape == (*shape[:-2], inner, shape[-1])
    np.testing.assert_allclose(q @ r, a, atol=tolerance)
    np.testing.assert_allclose(
        adjoint_of(q) @ q, np.eye(inner) + 0 * (adjoint_of(q) @ q), atol=tolerance
    )
    np.testing.assert_array_equal(np.tril(r, -1), np.zeros_like(r))
    if 0 in shape:
        return
    s, u, v = (t.numpy() for t in tf.linalg.svd(a, full_matrices=full))
    k = min(shape[-2:])
    assert u.dtype == v.dtype == a.dtype and s.dtype == a.real.dtype
    np.testing.assert_allclose(
        (u[..., :k] * s[..., None, :]) @ adjoint_of(v[..., :k]), a, atol=tolerance
    )
    np.testing.assert_allclose(tf.linalg.svd(a, compute_uv=False).numpy(), s, atol=tolerance)


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize("dtype", LETTERS)
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 33, 33), (130, 130), (0, 4, 4)])
def test_eigenvalues_and_determinants_agree(dtype, shape):
    a, tolerance = matrices_of(dtype, *shape), LETTERS[dtype]
    hermitian = a @ adjoint_of(a) / shape[-1] + np.eye(shape[-1], dtype=dtype)
    e, v = (t.numpy() for t in tf.linalg.eigh(hermitian))
    np.testing.assert_allclose(hermitian @ v, v * e[..., None, :], atol=tolerance * 10)
    np.testing.assert_allclose(tf.linalg.eigvalsh(hermitian).numpy(), e, atol=tolerance * 10)
    sign, size = (t.numpy() for t in tf.linalg.slogdet(hermitian))
    np.testing.assert_allclose(sign, np.ones(shape[:-2]), atol=tolerance)
    np.testing.assert_allclose(size.real, np.log(e.real).sum(-1), atol=tolerance * 10)
    determinant = tf.linalg.det(hermitian).numpy()
    np.testing.assert_allclose(determinant, np.exp(size), rtol=tolerance * 10)
    factor = tf.linalg.cholesky(hermitian).numpy()
    np.testing.assert_allclose(factor @ adjoint_of(factor), hermitian, atol=tolerance * 10)
    general, _ = tf.linalg.eig(hermitian)
    np.testing.assert_allclose(np.sort(general.numpy().real), np.sort(e.real), atol=tolerance * 10)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_determinants_whose_parts_are_out_of_range(scale):
    """A product of pivots may leave the range of its dtype where the whole does not."""
    rows = 160
    diagonal = np.repeat([scale, 1 / scale], rows // 2).astype(np.float32)
    found = tf.linalg.det(np.diag(diagonal)).numpy()
    np.testing.assert_allclose(found, 1.0, rtol=1e-3)
    assert tf.linalg.det(tf.zeros([rows, rows])).numpy() == 0
    sign, size = tf.linalg.slogdet(tf.zeros([rows, rows]))
    assert (sign.numpy(), size.numpy()) == (0, -np.inf)


@pytest.mark.parametrize("rows", [3, 128, 160])
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_determinants_of_infinities(rows, infinity):
    """As TensorFlow, which was asked: infinite, of the sign of the product."""
    diagonal = np.ones(rows, np.float32)
    diagonal[1] = infinity
    assert tf.linalg.det(np.diag(diagonal)).numpy() == infinity
    sign, size = tf.linalg.slogdet(np.diag(diagonal))
    assert (sign.numpy(), size.numpy()) == (np.sign(infinity), np.inf)
    diagonal[2] = np.nan
    assert np.isnan(tf.linalg.det(np.diag(diagonal)).numpy())


def test_one_matrix_without_factors_leaves_the_others():
    good = np.array([[4.0, 2.0], [2.0, 3.0]], np.float32)
    found = tf.linalg.cholesky(np.stack([good, -good, good])).numpy()
    np.testing.assert_allclose(found[0] @ found[0].T, good, atol=1e-6)
    np.testing.assert_array_equal(found[1], [[np.nan, 0], [np.nan, np.nan]])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("count", [1, 40, 200])
def test_rows_of_many_matrices_are_swapped(rows, count):
    a = RNG.uniform(-1, 1, (count, rows, rows))
    lu, p = (t.numpy() for t in tf.linalg.lu(a))
    low = np.tril(lu, -1) + np.eye(rows)
    np.testing.assert_allclose(
        low @ np.triu(lu), np.take_along_axis(a, p[..., None], 1), atol=1e-12
    )
    assert (np.abs(np.tril(lu, -1)) <= 1 + 1e-12).all()
