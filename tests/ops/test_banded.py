"""Banded matrices: LAPACK's solutions are those of the steps in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.opdef import raw
from intaglio.ops.linalg import lapack

RNG = np.random.RandomState(3)
CLOSE = {"float32": 2e-3, "float64": 1e-9, "complex64": 2e-3, "complex128": 1e-9}


def numbers(dtype, *shape):
    found = RNG.uniform(-1, 1, shape)
    if dtype.startswith("complex"):
        found = found + 1j * RNG.uniform(-1, 1, shape)
    return found.astype(dtype)


def both(monkeypatch, call):
    """The result with NumPy's library, and the one of NumPy alone."""
    first = call().numpy()
    with monkeypatch.context() as patch:
        patch.setattr(lapack, "lapack_functions", lambda letter: None)
        return first, call().numpy()


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("batch", [(), (3,), (2, 1), (0,)])
@pytest.mark.parametrize(("size", "columns"), [(1, 1), (2, 1), (3, 5), (30, 2), (5, 0)])
def test_tridiagonal(monkeypatch, dtype, batch, size, columns):
    diagonals = numbers(dtype, *batch, 3, size)
    diagonals[..., 1, :] += 3
    rhs = numbers(dtype, *batch, size, columns)
    first, second = both(monkeypatch, lambda: raw.TridiagonalSolve(diagonals, rhs))
    np.testing.assert_allclose(first, second, atol=CLOSE[dtype])


def test_rows_are_exchanged_and_singular_matrices_give_nan(monkeypatch):
    diagonals = np.array([[[1, 2, 0], [0, 0, 3], [0, 4, 5]], [[0, 0, 0], [1, 0, 1], [0, 0, 0]]])
    rhs = np.ones([2, 3, 2])
    first, second = both(monkeypatch, lambda: raw.TridiagonalSolve(diagonals.astype(float), rhs))
    np.testing.assert_allclose(first, second)
    assert np.isfinite(first[0]).all()
    assert np.isnan(first[1]).all()


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1, 1), (1, 1)),
        ((3, 20), (20, 2)),
        ((5, 3), (3, 1)),
        ((2, 2, 9), (9, 1)),
        ((4, 6), (2, 6, 2)),
    ],
)
def test_triangular_bands(monkeypatch, dtype, lower, adjoint, left, right):
    bands, rhs = numbers(dtype, *left), numbers(dtype, *right)
    bands[..., 0 if lower else -1, :] += 4

    def call():
        return raw.BandedTriangularSolve(bands, rhs, lower=lower, adjoint=adjoint)

    first, second = both(monkeypatch, call)
    np.testing.assert_allclose(first, second, atol=CLOSE[dtype])
