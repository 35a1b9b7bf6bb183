"""ForwardAccumulator. Answers asked of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw

ACC = tf.autodiff.ForwardAccumulator
X = tf.constant([1.0, 2.0])


def jvp(function, primals, tangents, **options):
    with ACC(primals, tangents) as acc:
        y = function(primals)
    return acc.jvp(y, **options)


def test_elementwise():
    np.testing.assert_allclose(jvp(raw.Sin, X, X), X * np.cos(X), rtol=1e-6)


def test_through_a_function_with_random_numbers():
    @tf.function
    def noisy(x):
        return x * tf.random.uniform([2]) * x

    with ACC(X, tf.ones([2])) as acc:
        y = noisy(X)
    np.testing.assert_allclose(acc.jvp(y) * X, 2.0 * y, rtol=1e-6)


def test_structures():
    matrix = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = jvp(lambda p: raw.MatMul(p[1], raw.Reshape(p[0], [2, 1])), [X, matrix], [X, matrix])
    np.testing.assert_array_equal(found, [[10.0], [22.0], [34.0]])


def test_nested_accumulators():
    with ACC(X, tf.ones([2])) as outer:
        with ACC(X, tf.ones([2])) as inner:
            y = X * X * X
        d = inner.jvp(y)
    np.testing.assert_array_equal(d, [3.0, 12.0])
    np.testing.assert_array_equal(outer.jvp(d), [6.0, 12.0])
    np.testing.assert_array_equal(outer.jvp(y), [3.0, 12.0])


def test_forward_over_backward_and_backward_over_forward():
    v = tf.constant([1.0, 0.0])
    with ACC(X, v) as acc:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = X * X * X
        d = tape.gradient(y, X)
    np.testing.assert_array_equal(acc.jvp(d), [6.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(X)
        with ACC(X, v) as acc:
            y = X * X * X
        d = acc.jvp(y)
    np.testing.assert_array_equal(tape.gradient(d, X), [6.0, 0.0])


def test_variables():
    v = tf.Variable([1.0, 2.0])
    with ACC(v, tf.constant([1.0, 0.0])) as acc:
        y = v * v
    np.testing.assert_array_equal(acc.jvp(y), [2.0, 0.0])
    np.testing.assert_array_equal(acc.jvp(v), [1.0, 0.0])


def test_custom_gradients_are_transposed():
    @tf.custom_gradient
    def own(x):
        return x * x, lambda upstream: upstream * 10.0

    np.testing.assert_array_equal(jvp(own, X, X), [10.0, 20.0])


def test_unconnected():
    other = tf.constant(2.0)
    assert jvp(lambda x: other, X, X) is None
    assert float(jvp(lambda x: other, X, X, unconnected_gradients="zero")) == 0.0


def test_misuse_is_refused():
    with pytest.raises(ValueError, match="same nested structure"):
        ACC([X], X)
    with pytest.raises(ValueError, match="primal multiple times"):
        ACC([X, X], [X, X])
    with pytest.raises(ValueError, match="requested dtype float32"):
        ACC(X, tf.constant([1.0, 2.0], tf.float64))
    acc = ACC(X, X)
    with acc, pytest.raises(ValueError, match="already recording"), acc:
        pass
