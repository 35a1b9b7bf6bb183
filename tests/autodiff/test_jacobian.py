"""Jacobians and Hessians. Answers and messages asked of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw

X = tf.constant([1.0, 2.0])
M = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def jacobian(function, x, **options):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.jacobian(y, x, **options)


def test_elementwise():
    np.testing.assert_array_equal(jacobian(lambda x: x * x, X), [[2.0, 0.0], [0.0, 4.0]])


def test_shapes_are_joined():
    found = jacobian(lambda m: raw.MatMul(m, [[1.0], [2.0]]), M)
    assert found.shape == (3, 1, 3, 2)
    np.testing.assert_array_equal(found[1, 0], [[0, 0], [1, 2], [0, 0]])


def test_structures_and_unconnected_sources():
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = X * X
    found = tape.jacobian(y, {"a": X, "b": [M]})
    assert found["b"] == [None]
    assert found["a"].shape == (2, 2)
    zero = tape.jacobian(y, M, unconnected_gradients="zero")
    assert zero.shape == (2, 3, 2)
    again = tape.jacobian(y, X, experimental_use_pfor=False)
    np.testing.assert_array_equal(again, found["a"])


def test_second_derivatives():
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as inner:
            inner.watch(X)
            y = X * X * X
        first = inner.gradient(y, X)
    np.testing.assert_array_equal(outer.jacobian(first, X), [[6.0, 0.0], [0.0, 12.0]])


def test_a_tape_sees_a_jacobian():
    with tf.GradientTape() as outer:
        outer.watch(X)
        y = jacobian(lambda x: x * x * x, X)
    np.testing.assert_array_equal(outer.gradient(y, X), [6.0, 12.0])


def test_batch_jacobian():
    with tf.GradientTape() as tape:
        tape.watch(M)
        y = M * M
    found = tape.batch_jacobian(y, M)
    np.testing.assert_array_equal(found, [np.diag(2 * row) for row in M.numpy()])


def test_misuse_is_refused():
    with pytest.raises(RuntimeError, match="must be created with persistent=True"):
        jacobian(lambda x: x, X, experimental_use_pfor=False)
    with tf.GradientTape() as tape:
        tape.watch(M)
        y = raw.Transpose(M, [1, 0])
    with pytest.raises(ValueError, match="Need first dimension of target shape"):
        tape.batch_jacobian(y, M)
    with pytest.raises(RuntimeError, match="not supported when eager execution"):
        tf.hessians(y, M)


@pytest.mark.parametrize("shape", [[2], [None], None], ids=str)
def test_in_a_function(shape):
    @tf.function(input_signature=[tf.TensorSpec(shape)])
    def inside(x):
        return jacobian(lambda v: v * v, x)

    np.testing.assert_array_equal(inside(X), [[2.0, 0.0], [0.0, 4.0]])


@pytest.mark.parametrize("shape", [[2], [None]], ids=str)
def test_hessians(shape):
    @tf.function(input_signature=[tf.TensorSpec(shape)])
    def inside(x):
        return tf.hessians(x * x * x, x)[0]

    np.testing.assert_array_equal(inside(X), [[6.0, 0.0], [0.0, 12.0]])


@pytest.mark.parametrize("dims", [(3, 2), (None, 2), (None, None), None])
@pytest.mark.parametrize("together", [True, False])
def test_unconnected_jacobians_have_the_shapes_of_the_call(dims: Any, together: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            z = tf.sin(y)
        whole = tape.jacobian(z, x, unconnected_gradients="zero", experimental_use_pfor=together)
        if dims is None:
            return whole, tf.zeros([3, 4, 2])
        return whole, tape.batch_jacobian(z, x, experimental_use_pfor=together)

    run = tf.function(f, input_signature=[tf.TensorSpec(dims), tf.TensorSpec(dims and [None, 4])])
    whole, rows = run(tf.ones([3, 2]), tf.ones([3, 4]))
    np.testing.assert_array_equal(whole, np.zeros([3, 4, 3, 2], "f4"))
    np.testing.assert_array_equal(rows, np.zeros([3, 4, 2], "f4"))
