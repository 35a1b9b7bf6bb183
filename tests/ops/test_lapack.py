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


@pytest.mark.parametrize("rows", [4, 512])
def test_the_others_have_what_the_library_gives_them(monkeypatch, library, rows):
    run = lambda: tf.linalg.solve(square(rows), square(rows))  # noqa: E731
    assert threads_of(monkeypatch, library, run, "solve") == [4]


def test_a_program_that_wants_one_thread_gets_one(monkeypatch, library):
    monkeypatch.setattr(OPTIONS, "threads_intra", 1)
    run = lambda: tf.linalg.solve(square(512), square(512))  # noqa: E731
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


def test_infinities_end_a_singular_value_decomposition() -> None:
    matrix = [[np.inf, 0, 1e308], [np.inf, -1e308, 0], [np.inf, np.inf, -1e308]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not converge"):
        tf.linalg.svd(tf.constant(matrix, tf.float64))
