"""Gradients of calls of traced functions: eager, nested, of any order."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.autodiff.derivative import Derivative
from tests.autodiff.orders import assert_derivatives, derivative


@tf.function
def cubed(x):
    return x * x * x


@tf.function
def nested(x):
    return cubed(x) * x


SHAPES = [None, ()]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_derivatives_of_a_call(shape):
    spec = [tf.TensorSpec(shape, tf.float64)]
    assert_derivatives(tf.function(lambda x: tf.sin(x) * x * x, input_signature=spec), 0.7)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_derivatives_of_a_nested_call(shape):
    spec = [tf.TensorSpec(shape, tf.float64)]
    function = tf.function(lambda x: nested(x) * cubed(x), input_signature=spec)
    assert_derivatives(function, 0.7)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_tapes_inside_a_function(order, shape):
    spec = [tf.TensorSpec(shape, tf.float64)]
    inside = tf.function(derivative(nested, order), input_signature=spec)
    expected = [4 * 0.7**3, 12 * 0.7**2, 24 * 0.7][order - 1]
    x = tf.constant(0.7, tf.float64)
    assert float(inside(x)) == pytest.approx(expected)
    assert_derivatives(inside, 0.7, 1)


def test_persistent_tape_over_a_call():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = cubed(x)
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    assert [float(v) for v in (first, second, tape.gradient(second, x))] == [27, 18, 6]


def test_variables_captured_by_a_function():
    v = tf.Variable([1.0, 2.0])
    scale = tf.Variable(3.0, trainable=False)

    @tf.function
    def loss(x):
        return tf.reduce_sum(v * v * x * scale)

    with tf.GradientTape() as tape:
        y = loss(tf.constant([1.0, 10.0]))
    assert tape.watched_variables() == (v,)
    np.testing.assert_allclose(tape.gradient(y, v), [6.0, 120.0])


def test_second_derivative_by_a_captured_variable():
    v = tf.Variable(2.0)

    @tf.function
    def fourth():
        return v * v * v * v

    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = fourth()
        first = inner.gradient(y, v)
    assert (float(first), float(outer.gradient(first, v))) == (32.0, 48.0)


def test_unused_outputs_and_inputs():
    @tf.function
    def two(x, y):
        return x * x, y * 3.0, tf.cast(x, tf.int32)

    x, y = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, b, c = two(x, y)
    assert [None if g is None else float(g) for g in tape.gradient(a, [x, y])] == [6, None] or (
        float(tape.gradient(a, y)) == 0.0
    )
    assert float(tape.gradient([a, b], y)) == 3.0
    assert c.dtype == tf.int32


def test_assignments_run_once_under_a_tape():
    count = tf.Variable(0)

    @tf.function
    def step(x):
        count.assign_add(1)
        return x * x

    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = step(x)
        d = inner.gradient(y, x)
    assert float(outer.gradient(d, x)) == 2.0
    assert int(count) == 1


def test_random_numbers_are_the_same_in_both_passes():
    @tf.function
    def noisy(x):
        return x * tf.random.uniform([4])

    x = tf.ones([4])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = noisy(x)
    np.testing.assert_array_equal(tape.gradient(y, x), y)


def test_a_gather_gives_indexed_slices_through_a_call():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def rows():
        return tf.gather(v, [0, 0])

    with tf.GradientTape() as tape:
        y = rows()
    found = tape.gradient(y, v)
    np.testing.assert_array_equal(tf.convert_to_tensor(found), [[2, 2], [0, 0]])


def test_backward_graphs_are_built_once():
    @tf.function
    def square(x):
        return x * x

    x = tf.constant(3.0)
    concrete = square.get_concrete_function(x)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x)
        tape.gradient(y, x)
    derived = [d for d in concrete.frozen.derived.values() if isinstance(d, Derivative)]
    assert len(derived) == 1
    assert len(derived[0]._backward) == 1
