"""Small matrices in the lanes of vectors: NumPy's results, and NumPy's errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.native.kernels import small_matrices
from intaglio.native.runtime import entry
from intaglio.opdef import machine_code
from intaglio.ops.linalg import elimination, lapack

pytestmark = pytest.mark.skipif(not entry.AVAILABLE, reason="kernels need machine code")

RNG = np.random.RandomState(2)
SHAPES = [
    (1, 1, 1),
    (3, 2, 1),
    (5, 6, 3),
    (7, 7, 7),
    (16, 8, 2),
    (33, 31, 5),
    (40, 32, 32),
    (19, 3, 4),
]
CLOSE = {np.float32: 2e-3, np.float64: 1e-10}


def regular(count, rows):
    """Matrices whose large elements are not on the diagonal."""
    found = RNG.uniform(-1, 1, (count, rows, rows)) + 3 * np.eye(rows)
    return np.ascontiguousarray(found[:, RNG.permutation(rows)])


def positive(count, rows):
    x = RNG.standard_normal((count, rows, rows))
    return x @ x.swapaxes(-1, -2) / rows + np.eye(rows)


def kernel(what, dtype, count, rows, columns, lower=False, adjoint=False):
    double = dtype is np.float64
    return small_matrices.batched(what, double, count, rows, columns, lower, adjoint)


def assert_close(found, wanted, dtype):
    assert found.dtype == dtype
    scale = np.abs(wanted).max(initial=1)
    np.testing.assert_allclose(found, wanted, atol=CLOSE[dtype] * scale)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("shape", SHAPES)
def test_kernels_compute_what_numpy_does(dtype, shape):
    count, rows, _ = shape
    a, b = regular(count, rows), RNG.standard_normal(shape).astype(dtype)
    p = positive(count, rows)
    x, y = a.astype(dtype), p.astype(dtype)
    assert_close(kernel("cholesky", dtype, count, rows, rows)(y), np.linalg.cholesky(p), dtype)
    assert_close(kernel("determinant", dtype, count, rows, rows)(x), np.linalg.det(a), dtype)
    for adjoint in (False, True):
        left = a.swapaxes(-1, -2) if adjoint else a
        solve = kernel("solve", dtype, *shape, adjoint=adjoint)
        assert_close(solve(x, b), np.linalg.solve(left, b), dtype)
        inverse = kernel("inverse", dtype, count, rows, rows, adjoint=adjoint)
        assert_close(inverse(x), np.linalg.inv(left), dtype)
        for lower in (False, True):
            triangle = np.tril(p) if lower else np.triu(p)
            left = triangle.swapaxes(-1, -2) if adjoint else triangle
            solve = kernel("triangular", dtype, *shape, lower=lower, adjoint=adjoint)
            assert_close(solve(y, b), np.linalg.solve(left, b), dtype)


@pytest.mark.parametrize("what", ["cholesky", "determinant", "inverse", "solve", "triangular"])
@given(
    double=st.booleans(),
    count=st.integers(1, 40),
    rows=st.integers(1, 12),
    columns=st.integers(1, 5),
    lower=st.booleans(),
    adjoint=st.booleans(),
    seed=st.integers(0, 1000),
    levels=st.sampled_from([2, 5, 1000]),
)
@settings(max_examples=40, deadline=None)
def test_numpy_has_the_bits_of_the_kernels(
    what, double, count, rows, columns, lower, adjoint, seed, levels
):
    """Of few levels pivots are equal, and matrices singular."""
    rng = np.random.default_rng(seed)
    dtype = np.float64 if double else np.float32
    a = (rng.integers(-levels, levels + 1, (count, rows, rows)) / levels).astype(dtype)
    if what == "cholesky":
        a = (a @ a.swapaxes(1, 2) + (levels - 4) * np.eye(rows)).astype(dtype)
    columns = columns if what in ("solve", "triangular") else rows
    arrays = [a, rng.standard_normal((count, rows, columns)).astype(dtype)][
        : 2 if what in ("solve", "triangular") else 1
    ]
    run = small_matrices.batched(what, double, count, rows, columns, lower, adjoint)
    assert run is not None
    wanted = run(*arrays)
    try:
        found = elimination.computed(what, *arrays, lower=lower, adjoint=adjoint)
    except elimination.Refused:
        assert wanted is NotImplemented
    except elimination.Undecided:
        assert wanted is NotImplemented or not np.isfinite(wanted).all()
    else:
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_an_eager_call_is_the_same_before_and_after_there_is_a_kernel(value, monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    x = np.random.default_rng(0).standard_normal((70, 9, 9)).astype(np.float32)
    broken = x.copy()
    broken[3, 2] = value

    def inverses(matrices):
        try:
            return tf.linalg.inv(matrices).numpy().tobytes()
        except tf.errors.InvalidArgumentError as e:
            return str(e)

    found = []
    for ready in (lambda *kind: None, HOOKS.select_kernel):
        monkeypatch.setattr(HOOKS, "kernel_when_ready", ready)
        found.append([inverses(x), inverses(broken)])
    assert found[0] == found[1]


BAD = {"nan": np.nan, "infinite": np.inf, "zero": 0.0}


@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
@pytest.mark.parametrize("at", [0, 4, 20])
def test_what_numpy_may_refuse_is_left_to_it(value, at):
    x = np.tile(np.eye(3, dtype=np.float32), (21, 1, 1))
    x[at, 1, 1] = value
    rhs = np.ones((21, 3, 2), np.float32)
    for what in ("cholesky", "inverse", "solve", "triangular"):
        arrays = (x, rhs) if what in ("solve", "triangular") else (x,)
        run = kernel(what, np.float32, 21, 3, arrays[-1].shape[-1])
        if np.isinf(value) and what in ("cholesky", "triangular"):
            continue
        assert run(*arrays) is NotImplemented, what


CALLS = {
    "cholesky": lambda x, b: tf.linalg.cholesky(x),
    "solve": lambda x, b: tf.linalg.solve(x, b),
    "adjoint": lambda x, b: tf.linalg.solve(x, b, adjoint=True),
    "inverse": lambda x, b: tf.linalg.inv(x),
    "triangular": lambda x, b: tf.linalg.triangular_solve(x, b, lower=False, adjoint=True),
    "determinant": lambda x, b: tf.linalg.det(x),
    "by factors": lambda x, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(x), b),
    "logdet": lambda x, b: tf.linalg.logdet(x),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(3, 2), (4, 1), (2, 3, 5, 2), (300, 4, 3), (33, 33)])
def test_compiled_functions_and_their_gradients(name, shape, monkeypatch):
    *batch, rows, _ = shape
    x = tf.constant(positive(int(np.prod(batch)), rows).reshape(*batch, rows, rows)[..., ::1])
    if not batch:
        x = tf.reshape(x, [rows, rows])
    b = tf.constant(RNG.standard_normal([*batch, rows, shape[-1]]))

    def run(x, b):
        with tf.GradientTape() as tape:
            tape.watch([x, b])
            y = CALLS[name](x, b)
            total = tf.reduce_sum(tf.sin(y))
        return y, *[g for g in tape.gradient(total, [x, b]) if g is not None]

    compiled = tf.function(run, jit_compile=True)(x, b)
    eager = run(x, b)
    monkeypatch.setattr(lapack, "MAX_SMALL_ROWS", 0)
    for results in (compiled, eager):
        for mine, wanted in zip(results, run(x, b), strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-8, atol=1e-10)


def test_errors_are_those_of_eager_calls():
    bad = tf.constant(-np.ones((2, 3, 3), np.float32))
    rhs = tf.ones([2, 3, 1])
    for call in (tf.linalg.inv, lambda x: tf.linalg.solve(x, rhs)):
        compiled = tf.function(call, jit_compile=True)
        with pytest.raises(tf.errors.InvalidArgumentError):
            compiled(bad)
    singular = tf.function(tf.linalg.det, jit_compile=True)(bad)
    np.testing.assert_array_equal(singular, [0, 0])


def test_a_filter_is_one_native_loop():
    @tf.function(jit_compile=True)
    def run(x, noise):
        for _ in tf.range(5):
            gain = tf.linalg.solve(x + noise, x)
            x = x - tf.matmul(gain, x, transpose_a=True) + noise
        return x

    x, noise = tf.eye(3) * 2.0, tf.eye(3) * 0.5
    wanted = run.python_function(x, noise)
    np.testing.assert_allclose(run(x, noise), wanted, atol=1e-5)
    assert "NumPy" not in run.compile_report()
