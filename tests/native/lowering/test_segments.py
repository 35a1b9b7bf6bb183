"""Segments and sparse products in machine code: what is dropped, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("name", ["sum", "max", "min", "prod"])
def test_rows_of_negative_segments_are_dropped_without_the_interpreter(name):
    function = getattr(tf.math, f"unsorted_segment_{name}")
    x = tf.constant(np.random.default_rng(0).normal(size=(50, 7)).astype("f4"))

    @tf.function(jit_compile=True)
    def call(x, ids):
        return function(x, ids, 5)

    ids = tf.constant(np.random.default_rng(1).integers(-2, 5, 50))
    made, wanted = call(x, ids), function(x, ids, 5)
    np.testing.assert_allclose(made, wanted, rtol=1e-6)
    assert "NumPy" not in call.compile_report()
    (program,) = [call.get_concrete_function(x, ids)]
    assert np.all(
        program(x, -tf.ones_like(ids)).numpy() == function(x, -tf.ones_like(ids), 5).numpy()
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(x, ids + 5)


def test_sparse_products_are_rows_taken_and_added():
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(30, 40)) * (rng.uniform(size=(30, 40)) < 0.02)
    sparse = tf.sparse.from_dense(whole.astype("f4"))
    x = tf.constant(rng.normal(size=(40, 8)).astype("f4"))
    call = tf.function(
        lambda x: tf.nn.relu(tf.sparse.sparse_dense_matmul(sparse, x)), jit_compile=True
    )
    np.testing.assert_allclose(call(x), np.maximum(whole @ x.numpy(), 0), rtol=1e-4, atol=1e-5)
    assert "NumPy" not in call.compile_report()


def test_a_sparse_product_with_an_index_outside_stays_an_error():
    call = tf.function(
        lambda i, x: tf.raw_ops.SparseTensorDenseMatMul(
            a_indices=i, a_values=tf.ones([2]), a_shape=tf.constant([3, 3], tf.int64), b=x
        ),
        jit_compile=True,
    )
    x = tf.ones([3, 2])
    assert call(tf.constant([[0, 1], [2, 2]], tf.int64), x).numpy().sum() == 4
    for bad in ([[0, 1], [-1, 2]], [[0, 1], [3, 2]], [[0, 3], [1, 2]]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(tf.constant(bad, tf.int64), x)
