"""How many threads factorisations take: one below some hundred rows, and the setting comes back."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.options import OPTIONS
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


def threads_of(monkeypatch, library, call, name):
    """What the setting is while a function of `numpy.linalg` runs."""
    seen = []
    function = getattr(np.linalg, name)

    def watched(*args):
        seen.append(library.threads)
        return function(*args)

    monkeypatch.setattr(np.linalg, name, watched)
    monkeypatch.setattr(lapack, "lapack_functions", lambda letter: None)
    call()
    assert library.threads == 4
    return seen


def square(rows, *batch):
    return tf.constant(np.eye(rows) + np.zeros([*batch, rows, rows]) + 0.01 / rows)


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "cholesky": tf.linalg.cholesky,
        "inv": tf.linalg.inv,
        "det": tf.linalg.det,
        "slogdet": tf.linalg.slogdet,
        "qr": tf.linalg.qr,
        "eigh": tf.linalg.eigh,
        "eig": tf.linalg.eig,
        "svd": tf.linalg.svd,
        "solve": lambda x: tf.linalg.solve(x, x),
    }.items(),
)
def test_matrices_of_some_hundred_rows_have_one_thread(monkeypatch, library, name, call):
    assert threads_of(monkeypatch, library, lambda: call(square(64, 2)), name) == [1]


@pytest.mark.parametrize("rows", [4, 1024])
def test_the_others_have_what_the_library_gives_them(monkeypatch, library, rows):
    run = lambda: tf.linalg.solve(square(rows), square(rows))  # noqa: E731
    assert threads_of(monkeypatch, library, run, "solve") == [4]


def test_a_program_that_wants_one_thread_gets_one(monkeypatch, library):
    monkeypatch.setattr(OPTIONS, "threads_intra", 1)
    run = lambda: tf.linalg.solve(square(1024), square(1024))  # noqa: E731
    assert threads_of(monkeypatch, library, run, "solve") == [1]


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


@pytest.fixture(params=["with LAPACK", "with NumPy alone"])
def functions(request, monkeypatch):
    """Both ways to compute: by the functions of NumPy's library, and where it has other names."""
    if request.param == "with NumPy alone":
        monkeypatch.setattr(lapack, "lapack_functions", lambda letter: None)


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
