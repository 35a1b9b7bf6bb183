"""tf.gradients inside functions and graphs. Answers asked of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

X = tf.constant(3.0)


def values(found):
    return [None if v is None else float(v) for v in found]


def test_intermediate_sources_and_stops():
    @tf.function
    def f(x):
        a = x * x
        b = a * x
        return (
            tf.gradients(b, [a, x]),
            tf.gradients(b, [a, x], stop_gradients=[a]),
            tf.gradients(b, [a, x], stop_gradients=[x]),
        )

    free, stop_a, stop_x = f(X)
    assert values(free) == [3.0, 27.0]
    assert values(stop_a) == [3.0, 9.0]
    assert values(stop_x) == [3.0, 27.0]


def test_weights_and_unconnected():
    @tf.function
    def f(x):
        return (
            tf.gradients([x * x, x * 3.0], [x, x], grad_ys=[tf.constant(2.0), None]),
            tf.gradients(tf.constant(1.0), x),
            tf.gradients(tf.constant(1.0), x, unconnected_gradients="zero"),
        )

    weighted, none, zero = f(X)
    assert values(weighted) == [15.0, 15.0]
    assert none == [None]
    assert values(zero) == [0.0]


def test_second_order_and_variables():
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        y = x * x * x * v
        first = tf.gradients(y, x)[0]
        return first, tf.gradients(first, [x, v])

    first, (second, mixed) = f(X)
    assert (float(first), float(second), float(mixed)) == (54.0, 36.0, 27.0)


def test_through_a_nested_call():
    inner = tf.function(lambda x: x * x * x)

    @tf.function
    def f(x):
        first = tf.gradients(inner(x), x)[0]
        return first, tf.gradients(first, x)[0]

    assert values(f(X)) == [27.0, 18.0]


def test_unknown_shapes():
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    def f(x, y):
        return tf.gradients(x * y, [x, y])

    dx, dy = f(tf.ones([2, 1]), tf.ones([3]))
    np.testing.assert_array_equal(dx, [[3.0], [3.0]])
    np.testing.assert_array_equal(dy, [2.0, 2.0, 2.0])


def test_misuse_is_refused():
    with pytest.raises(RuntimeError, match=r"tf\.gradients is not supported when eager"):
        tf.gradients(X, X)

    @tf.function
    def f(x):
        return tf.gradients(tf.complex(x, x), x)

    with pytest.raises(TypeError, match="must set grad_ys"):
        f(X)
