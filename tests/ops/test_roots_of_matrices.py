"""Square roots and eigenvalues of matrices at the edges: triangular, singular, nilpotent, of one element.

TensorFlow 2.21 was asked. It gives NaN for the root of zeros, which is zero here; a matrix that has no root
has NaN in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

DTYPES = ["float32", "float64", "complex64", "complex128"]
COMPLEX = DTYPES[2:]


def _modes(function: Any, *arrays: Any) -> list[Any]:
    modes: list[Any] = [function, tf.function(function), tf.function(function, jit_compile=True)]
    return [mode(*map(tf.constant, arrays)).numpy() for mode in modes]


@pytest.mark.parametrize("dtype", COMPLEX)
def test_negative_numbers_have_roots_on_both_sides_of_the_cut(dtype: str) -> None:
    for imaginary, want in ((0.0, 3j), (-0.0, -3j)):
        for got in _modes(tf.linalg.sqrtm, np.array([[complex(-9, imaginary)]], dtype)):
            np.testing.assert_array_equal(got, [[want]])
    for got in _modes(tf.linalg.sqrtm, np.array([[-4, 5], [0, -9]], dtype)):
        np.testing.assert_allclose(got, [[2j, -1j], [0, 3j]], rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_matrices(dtype: str) -> None:
    for size in (1, 2, 5):
        for got in _modes(tf.linalg.sqrtm, np.zeros((size, size), dtype)):
            np.testing.assert_array_equal(got, np.zeros((size, size)))
    for nilpotent in ([[0, 1], [0, 0]], [[0, 0], [1, 0]]):
        for got in _modes(tf.linalg.sqrtm, np.array(nilpotent, dtype)):
            assert np.isnan(got).all()
    both = np.array([[[4, 1], [0, 9]], [[0, 1], [0, 0]], [[np.nan, 0], [0, 1]]], dtype)
    for got in _modes(tf.linalg.sqrtm, both):
        np.testing.assert_allclose(got[0], [[2, 0.2], [0, 3]], rtol=1e-6)
        assert np.isnan(got[1:]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=30)
@given(
    size=st.integers(1, 6), seed=st.integers(0, 999), lower=st.booleans(), singular=st.booleans()
)
def test_squares_of_roots_of_triangular_matrices(
    dtype: str, size: int, seed: int, lower: bool, singular: bool
) -> None:
    rng = np.random.default_rng(seed)
    a = rng.uniform(-1, 1, (3, size, size)) + 2 * size * np.eye(size)
    if singular:
        a[:, -1] = 0
    x: Any = (np.tril if lower else np.triu)(a).astype(dtype)
    root: Any = tf.linalg.sqrtm(x).numpy()
    scale = np.abs(x).max() * size
    np.testing.assert_allclose(root @ root, x, atol=scale * 1e3 * np.finfo(x.real.dtype).eps)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2.0])
def test_the_eigenvalue_of_one_complex_element_is_itself(dtype: str, value: float) -> None:
    x = np.array([[[value]], [[1]]], dtype)
    for got in _modes(tf.linalg.eigvals, x):
        np.testing.assert_array_equal(got, x[..., 0])
    found: Any = tf.linalg.eig(x)
    values, vectors = (t.numpy() for t in found)
    np.testing.assert_array_equal(values, x[..., 0])
    np.testing.assert_array_equal(vectors, np.ones((2, 1, 1)))


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=30)
@given(size=st.integers(1, 9), seed=st.integers(0, 999), batch=st.integers(1, 3))
def test_hermitian_matrices_and_others_in_one_batch(
    dtype: str, size: int, seed: int, batch: int
) -> None:
    """Roots of positive definite matrices, and logarithms of indefinite ones, by their eigenvectors."""
    rng = np.random.default_rng(seed)
    other: Any = rng.standard_normal((batch, size, size))
    if dtype in COMPLEX:
        other = other + 1j * rng.standard_normal(other.shape)
    hermitian: Any = other + other.conj().swapaxes(-1, -2)
    definite = other @ other.conj().swapaxes(-1, -2) + np.eye(size)
    definite = (definite + definite.conj().swapaxes(-1, -2)) / 2
    error = size * 1e3 * np.finfo(dtype).eps
    x: Any = np.concatenate([definite, other / 8 + 2 * size * np.eye(size)]).astype(dtype)
    root: Any = tf.linalg.sqrtm(x).numpy()
    np.testing.assert_allclose(root @ root, x, atol=error * np.abs(x).max())
    assert all(tf.linalg.eigvals(r).numpy().real.min() > 0 for r in root)
    if dtype in COMPLEX:
        # One eigenvalue is known to be negative, and none is near 0.
        values, vectors = np.linalg.eigh(hermitian)
        values += np.sign(values)
        values[:, 0] = -abs(values[:, 0])
        hermitian = (vectors * values[:, None, :]) @ vectors.conj().swapaxes(-1, -2)
        hermitian = (hermitian + hermitian.conj().swapaxes(-1, -2)) / 2
        x = np.concatenate([hermitian, other / 8 + 2 * size * np.eye(size)]).astype(dtype)
        found: Any = tf.linalg.logm(tf.constant(x))
        np.testing.assert_allclose(tf.linalg.expm(found), x, atol=error * np.abs(x).max())
        angles = np.linalg.eigvals(found.numpy()).imag
        assert (np.abs(angles) < np.pi + 1e-3).all()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_logarithms_of_a_batch_are_those_of_its_matrices(dtype: str) -> None:
    """One with an element that is not finite has no logarithm, as in TensorFlow; the others have theirs."""
    matrices = [np.full((2, 2), np.nan), [[2, 1], [1, 2]], [[1, 2], [0, 3]], [[np.inf, 0], [0, 1]]]
    singles = [tf.linalg.logm(np.asarray(m, dtype)).numpy() for m in matrices]
    assert [bool(np.isnan(m).all()) for m in singles] == [True, False, False, True]
    for chosen in ([0, 1, 2, 3], [0, 3], [1, 0], [0, 2], [1, 2]):
        for got in _modes(tf.linalg.logm, np.asarray([matrices[i] for i in chosen], dtype)):
            np.testing.assert_allclose(got, [singles[i] for i in chosen], rtol=1e-5, atol=1e-6)
