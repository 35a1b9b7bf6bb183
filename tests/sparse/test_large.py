"""Sparse tensors of many elements: the quick ways give what dense arithmetic does."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels.sparse_product import product
from intaglio.ops.sparse import indices as coordinates

RNG = np.random.default_rng(0)


def _sparse(shape, count, dtype=np.float32, shuffled=False):
    flat = np.sort(RNG.choice(int(np.prod(shape)), count, replace=False))
    if shuffled:
        RNG.shuffle(flat)
    indices = np.stack(np.unravel_index(flat, shape), axis=1).astype(np.int64)
    return tf.SparseTensor(indices, RNG.standard_normal(count).astype(dtype), shape)


def _dense(x):
    found = np.zeros(x.shape.as_list(), x.dtype.as_numpy_dtype)
    np.add.at(found, tuple(x.indices.numpy().T), x.values.numpy())
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [0, 1, 7, 16, 33])
def test_products(dtype, width):
    run = product(dtype)
    assert run is not None
    for rows, inner, count in ((1, 1, 1), (5, 9, 0), (30, 20, 100), (400, 300, 9000)):
        to, of = RNG.integers(0, rows, count), RNG.integers(0, inner, count)
        values = RNG.standard_normal(count).astype(dtype)
        dense = RNG.standard_normal((inner, width)).astype(dtype)
        wanted = np.zeros((rows, width), dtype)
        np.add.at(wanted, to, dense[of] * values[:, None])
        np.testing.assert_array_equal(run(to, of, values, dense, rows), wanted)


@pytest.mark.parametrize("adjoint_a", [False, True])
@pytest.mark.parametrize("adjoint_b", [False, True])
def test_matmul_of_large_ones(adjoint_a, adjoint_b):
    a = _sparse((500, 400), 20000, shuffled=True)
    inner = 500 if adjoint_a else 400
    b = RNG.standard_normal((48, inner) if adjoint_b else (inner, 48)).astype(np.float32)
    found = tf.sparse.sparse_dense_matmul(a, b, adjoint_a, adjoint_b).numpy()
    left, right = _dense(a), b
    wanted = (left.T if adjoint_a else left) @ (right.T if adjoint_b else right)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(40, 50), (3, 4, 5), (600,)])
def test_sums_and_extremes(shape):
    size = int(np.prod(shape))
    for counts in ((0, 5), (5, 0), (size // 3, size // 2), (size, size // 4), (size // 2, size)):
        a, b = (_sparse(shape, n) for n in counts)
        for found, wanted in (
            (tf.sparse.add(a, b), _dense(a) + _dense(b)),
            (tf.sparse.maximum(a, b), np.maximum(_dense(a), _dense(b))),
        ):
            np.testing.assert_array_equal(tf.sparse.to_dense(found), wanted)
            assert coordinates.in_order(found.indices.numpy())
        np.testing.assert_array_equal(tf.sparse.add(a, _dense(b)), _dense(a) + _dense(b))


@pytest.mark.parametrize("parts", [1, 2, 7, 11])
def test_split(parts):
    x = _sparse((30, 23), 300)
    found = tf.sparse.split(x, parts, axis=1)
    np.testing.assert_array_equal(np.concatenate([_dense(p) for p in found], axis=1), _dense(x))


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("count", [0, 20, 290])
def test_empty_rows_are_filled(shuffled, count):
    x = _sparse((40, 9), count, shuffled=shuffled)
    filled, empty = tf.sparse.fill_empty_rows(x, 5.0)
    there = np.bincount(x.indices.numpy()[:, 0], minlength=40)
    np.testing.assert_array_equal(empty, there == 0)
    wanted = _dense(x)
    wanted[there == 0, 0] = 5
    np.testing.assert_array_equal(_dense(filled), wanted)
    assert (np.diff(filled.indices.numpy()[:, 0]) >= 0).all()


def test_slices_and_broadcast_products():
    x = _sparse((20, 30), 200)
    part = tf.sparse.slice(x, [3, 28], [10, 9])
    np.testing.assert_array_equal(_dense(part), _dense(x)[3:13, 28:])
    for shape in ((20, 30), (1, 30), (20, 1), (1, 1)):
        other = RNG.standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(_dense(x * other), _dense(x) * other)
