"""Products of matrices against float64, for every remainder of a tile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.errors import InvalidArgumentError
from intaglio.native.kernels import matmul
from intaglio.native.kernels.matmul import (
    BLOCK_BYTES,
    MIN_PACKED_ROWS,
    MIN_PACKED_ROWS_FAR,
    PAGE_BYTES,
)
from intaglio.native.kernels.microkernel import TILE_ROWS
from intaglio.native.runtime import entry


def product(a, b, transpose_a=False, transpose_b=False):
    run = matmul.product(a.shape, b.shape, transpose_a, transpose_b, a.dtype)
    assert run is not None
    return run(a, b)


def check(rows, inner, columns, transpose_a=False, transpose_b=False, dtype="float32"):
    rng = np.random.default_rng(rows * 1000 + columns)
    a = rng.normal(size=(rows, inner)).astype(dtype)
    b = rng.normal(size=(inner, columns)).astype(dtype)
    left = np.ascontiguousarray(a.T) if transpose_a else a
    right = np.ascontiguousarray(b.T) if transpose_b else b
    got = product(left, right, transpose_a, transpose_b)
    exact = a.astype(np.longdouble) @ b
    bound = np.abs(a) @ np.abs(b)
    assert got.shape == exact.shape
    assert got.dtype == dtype
    # The classical bound of a sum of `inner` products.
    assert np.all(np.abs(got - exact) <= inner * np.finfo(dtype).eps * bound + 1e-37)


@settings(deadline=None, max_examples=80)
@given(
    st.integers(1, 70),
    st.integers(1, 50),
    st.integers(1, 150),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["float32", "float64"]),
)
def test_any_shape(rows, inner, columns, transpose_a, transpose_b, dtype):
    check(rows, inner, columns, transpose_a, transpose_b, dtype)


@pytest.mark.parametrize(
    "rows", [TILE_ROWS, MIN_PACKED_ROWS - 1, MIN_PACKED_ROWS, MIN_PACKED_ROWS + TILE_ROWS + 1]
)
@pytest.mark.parametrize(
    "inner", [BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES + 3]
)
def test_blocks_and_packed_panels(rows, inner):
    check(rows, inner, 70)
    check(rows, inner, 70, transpose_b=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [TILE_ROWS, MIN_PACKED_ROWS_FAR - 1, MIN_PACKED_ROWS_FAR, 31])
def test_panels_whose_rows_are_pages_apart(rows, dtype):
    check(rows, 19, PAGE_BYTES // np.dtype(dtype).itemsize, dtype=dtype)


def test_what_results_overwrite_is_not_added(monkeypatch):
    fill = np.full((130, 150), np.nan, "float32")
    monkeypatch.setattr(matmul.entry, "filling", lambda kernel, *_: kernel)
    for inner in (7, BLOCK_BYTES + 9):
        a, b = np.ones((130, inner), "float32"), np.ones((inner, 150), "float32")
        run: Any = matmul.product(a.shape, b.shape)
        run(a, b, fill)
        np.testing.assert_array_equal(fill, inner)


def test_several_threads(monkeypatch):
    monkeypatch.setattr(matmul, "MIN_SHARED_MULTIPLICATIONS", 1)
    for rows in (1, 5, 6, 7, 100, 257):
        check(rows, 40, 130)


def test_threads_claim_large_parts_one_by_one():
    for size, claims in ((128, 1), (2048, 64)):
        run: Any = matmul.product((size, size), (size, size))
        words = run.steps[0].frame
        parts = words[len(entry.HEADER)]
        assert words[entry.HEADER.index("max_tasks")] >= min(parts, claims)
        threads = matmul.thread_count()
        assert parts >= (entry.TASKS_PER_THREAD * threads if threads > 1 else 1)


def test_results_do_not_depend_on_how_rows_and_columns_are_shared(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=s).astype("float32") for s in ((151, 500), (500, 200)))
    alone = product(a, b)
    monkeypatch.setattr(matmul, "MIN_SHARED_MULTIPLICATIONS", 1)
    for threads, group in ((2, 1024), (7, 1024), (64, 1024), (2, 20)):
        monkeypatch.setattr(matmul, "thread_count", lambda n=threads: n)
        monkeypatch.setattr(matmul, "ROWS_PER_GROUP", group)
        np.testing.assert_array_equal(product(a, b), alone)


def test_products_of_small_integers_are_exact():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, s).astype("float32") for s in ((65, 300), (300, 33)))
    np.testing.assert_array_equal(product(a, b), a @ b)


def test_a_nan_stays_in_its_row_and_an_infinity_too():
    a, b = np.ones((8, 8), np.float32), np.ones((8, 20), np.float32)
    a[3, 2], a[5, 1] = np.nan, np.inf
    got = product(a, b)
    assert np.isnan(got[3]).all() and np.isinf(got[5]).all()
    assert np.isfinite(np.delete(got, [3, 5], axis=0)).all()


def test_matrices_that_are_not_in_order_are_copied():
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    b = np.ones((3, 6), np.float32)
    np.testing.assert_array_equal(product(a[:, ::2], b), a[:, ::2] @ b)


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("batches", [((2, 3), (2, 3)), ((5,), ()), ((1,), (4,)), ((2, 1), (2, 1))])
def test_batches(batches, transposed):
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        a = rng.integers(-4, 5, (*batches[0], 13, 21)).astype(dtype)
        b = rng.integers(-4, 5, (*batches[1], 21, 70)).astype(dtype)
        left = np.ascontiguousarray(a.swapaxes(-1, -2)) if transposed[0] else a
        right = np.ascontiguousarray(b.swapaxes(-1, -2)) if transposed[1] else b
        run = matmul.products(left.shape, right.shape, *transposed, dtype)
        assert run is not None
        np.testing.assert_array_equal(run(left, right), a @ b)


def test_batches_that_broadcast_otherwise_are_left_to_numpy():
    assert matmul.products((2, 1, 4, 4), (1, 3, 4, 4)) is None
    assert matmul.products((2, 4, 5), (2, 4, 5)) is None
    assert matmul.products((0, 4, 5), (0, 5, 4)) is None


def test_what_is_left_to_numpy():
    assert matmul.product((0, 3), (3, 2)) is None
    assert matmul.product((2, 3), (4, 2)) is None
    assert matmul.product((5000, 5000), (5000, 5000)) is None


def test_eager_products_of_doubles_and_of_integers_in_doubles():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 10, s).astype("float64") for s in ((200, 300), (300, 100)))
    np.testing.assert_array_equal(tf.matmul(a, b), a @ b)
    a, b = (rng.integers(-(2**31), 2**31, s).astype("int32") for s in (a.shape, b.shape))
    np.testing.assert_array_equal(tf.matmul(a, b), a @ b)


def test_in_a_compiled_function():
    @tf.function(jit_compile=True)
    def f(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.reduce_sum(tf.tanh(tf.matmul(x, w)))
        return tape.gradient(y, [x, w])

    x = tf.random.stateless_normal([5, 7], [1, 2])
    w = tf.random.stateless_normal([7, 3], [3, 4])
    for got, wanted in zip(f(x, w), f.python_function(x, w), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises((InvalidArgumentError, ValueError)):
        f(x, tf.ones([3, 3]))
