"""What makes a factorisation one, whatever signs its vectors have; gradients of symmetric inputs."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw

RNG = np.random.RandomState(4)
TALL, SQUARE = RNG.randn(2, 4, 3), RNG.randn(2, 3, 3)
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2) + np.eye(3)


def adjoint(x):
    return x.swapaxes(-1, -2).conj()


@pytest.mark.parametrize("x", [TALL, adjoint(TALL), TALL + 1j * TALL[..., ::-1]])
@pytest.mark.parametrize("full", [False, True])
def test_factors_multiply_to_the_matrix(x, full):
    q, r = (t.numpy() for t in raw.Qr(x, full_matrices=full))
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    np.testing.assert_allclose(
        adjoint(q) @ q,
        np.broadcast_to(np.eye(q.shape[-1]), (2, q.shape[-1], q.shape[-1])),
        atol=1e-12,
    )
    np.testing.assert_allclose(np.tril(r, -1), 0, atol=1e-12)
    s, u, v = (t.numpy() for t in raw.Svd(x, full_matrices=full))
    k = s.shape[-1]
    np.testing.assert_allclose((u[..., :k] * s[:, None]) @ adjoint(v[..., :k]), x, atol=1e-12)
    assert (np.diff(s.real) <= 0).all()


def test_eigenvectors():
    e, v = (t.numpy() for t in raw.SelfAdjointEigV2(POSITIVE))
    np.testing.assert_allclose(POSITIVE @ v, v * e[:, None], atol=1e-12)
    assert (np.diff(e) >= 0).all()


def symmetric_slope(function, direction):
    """The derivative along a symmetric direction, by differences and by the tape."""
    x = raw.Identity(POSITIVE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    gradient = tape.gradient(y, x).numpy()
    step = 1e-6
    up = function(raw.Identity(POSITIVE + step * direction)).numpy()
    down = function(raw.Identity(POSITIVE - step * direction)).numpy()
    return (up - down) / (2 * step), (gradient * direction).sum()


WEIGHTS = RNG.randn(2, 3, 3)
FUNCTIONS = {
    "cholesky": lambda x: raw.Sum(raw.Mul(raw.Cholesky(x), WEIGHTS), [0, 1, 2]),
    "eigenvalues": lambda x: raw.Sum(
        raw.Mul(raw.SelfAdjointEigV2(x, compute_v=False).e, WEIGHTS[:, 0]), [0, 1]
    ),
    "eigenvectors": lambda x: raw.Sum(
        raw.Mul(raw.Square(raw.SelfAdjointEigV2(x).v), WEIGHTS), [0, 1, 2]
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_symmetric_matrices(name):
    direction = SQUARE + adjoint(SQUARE)
    differences, tape = symmetric_slope(FUNCTIONS[name], direction)
    np.testing.assert_allclose(tape, differences, rtol=1e-5)


def test_a_matrix_that_is_not_positive_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="was not successful"):
        raw.Cholesky([[1.0, 2.0], [2.0, 1.0]])
