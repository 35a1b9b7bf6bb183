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


EYE = np.eye(3)


def _matrix(*changes):
    found = EYE.copy()
    for row, column, value in changes:
        found[row, column] = value
    return found


NAN, INF = np.nan, np.inf
SINGULAR = {
    "zero": EYE * 0,
    "zero inside": _matrix((1, 1, 0)),
    "indefinite": _matrix((0, 1, 2), (1, 0, 2)),
    "negative": -EYE,
    "NaN first": _matrix((0, 0, NAN)),
    "NaN below": _matrix((1, 0, NAN)),
    "NaN above": _matrix((0, 1, NAN)),
    "infinite first": _matrix((0, 0, INF)),
}
# How each answered in TensorFlow 2.21 for float32 and float64: "" is an error.
LOWER = np.tril(np.full((3, 3), NAN))
CHOLESKY = {
    "zero": LOWER,
    "zero inside": LOWER,
    "indefinite": LOWER,
    "negative": LOWER,
    "NaN first": LOWER,
    "NaN below": [[1, 0, 0], [NAN, NAN, 0], [0, NAN, NAN]],
    "NaN above": EYE,
    "infinite first": _matrix((0, 0, INF)),
}
FORWARD = {  # of ones, by the lower triangle
    "zero": [INF, NAN, NAN],
    "zero inside": [1, INF, NAN],
    "NaN first": [NAN, NAN, NAN],
    "NaN above": [1, 1, 1],
    "infinite first": [0, 1, 1],
}
REFUSED = {
    "solve": {"zero", "zero inside", "NaN first"},
    "inv": {"zero", "zero inside", "NaN first"},
    "lu": {"zero", "zero inside", "NaN first"},
    "eigvalsh": {"NaN first", "NaN below"},
    "svd": set(),
}
CALLS = {
    "solve": lambda x: tf.linalg.solve(x, tf.ones_like(x)),
    "inv": tf.linalg.inv,
    "lu": lambda x: tf.linalg.lu(x)[0],
    "eigvalsh": tf.linalg.eigvalsh,
    "svd": lambda x: tf.linalg.svd(x, compute_uv=False),
}


def _in_every_mode(function, x):
    compiled = tf.function(function, jit_compile=True)
    return [run(x) for run in (function, tf.function(function), compiled)]


def _batches(name, dtype):
    """A matrix alone, behind a regular one, and among many small ones."""
    one = SINGULAR[name].astype(dtype)
    yield one[None]
    yield np.stack([2 * EYE.astype(dtype), one])
    yield np.stack([*[2 * EYE.astype(dtype)] * 299, one])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SINGULAR)
def test_factors_of_matrices_that_are_not_positive(name, dtype):
    for x in _batches(name, dtype):
        for found in _in_every_mode(tf.linalg.cholesky, tf.constant(x)):
            np.testing.assert_array_equal(found[-1], np.asarray(CHOLESKY[name], dtype))
            if len(x) > 1:
                np.testing.assert_allclose(found[0], np.sqrt(2) * EYE, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", FORWARD)
def test_a_zero_on_the_diagonal_of_a_triangle_divides(name, dtype):
    for x in _batches(name, dtype):
        ones = np.ones((len(x), 3, 1), dtype)
        for lower in (True, False):
            turned = x if lower else np.ascontiguousarray(x[:, ::-1, ::-1])
            run = lambda x, lower=lower, ones=ones: tf.linalg.triangular_solve(x, ones, lower)  # noqa: E731
            for found in _in_every_mode(run, tf.constant(turned)):
                real = tf.math.real(found)[-1].numpy()[:, 0]
                if dtype != "complex64" or np.isfinite(FORWARD[name]).all():
                    np.testing.assert_array_equal(real if lower else real[::-1], FORWARD[name])
                if len(x) > 1:
                    np.testing.assert_array_equal(tf.math.real(found[0]), np.full((3, 1), 0.5))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize(
    "name", ["zero", "zero inside", "NaN first", "NaN below", "infinite first"]
)
def test_matrices_without_an_inverse_are_refused(name, what, dtype):
    for x in _batches(name, dtype):
        runs = [CALLS[what]] + [tf.function(CALLS[what], jit_compile=jit) for jit in (False, True)]
        for run in runs:
            if name in REFUSED[what]:
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"invertible|successful"):
                    run(tf.constant(x))
                continue
            found = run(tf.constant(x)).numpy()
            assert np.isfinite(found[:-1]).all()
            if what == "svd" and name.startswith(("NaN", "inf")):
                assert np.isnan(found[-1]).all()
