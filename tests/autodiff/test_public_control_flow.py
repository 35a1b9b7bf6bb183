"""Gradients through tf.cond, tf.while_loop and tf.map_fn, by variables too."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.autodiff.derivative import Derivative
from intaglio.ir import walk
from intaglio.ir.verify import verify


@pytest.fixture
def v():
    return tf.Variable(2.0)


def test_cond_reads_the_variable_in_both_branches(v):
    @tf.function
    def f(x):
        return tf.cond(x > 1.0, lambda: v * x, lambda: v * v * x)

    for x, expected in ((3.0, 3.0), (0.5, 2.0)):
        with tf.GradientTape() as tape:
            y = f(tf.constant(x))
        assert float(tape.gradient(y, v)) == expected


def test_a_branch_without_a_gradient_gives_zeros(v):
    @tf.function
    def f(x):
        return tf.cond(x > 1.0, lambda: v * x, lambda: 0.0)

    with tf.GradientTape() as tape:
        y = f(tf.constant(0.5))
    assert float(tape.gradient(y, v)) == 0.0


def test_a_gather_in_a_branch():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(x):
        rows = lambda: tf.reduce_sum(tf.gather(table, [0, 0]))  # noqa: E731
        return tf.cond(x > 1.0, rows, lambda: 0.0)

    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    found = tf.convert_to_tensor(tape.gradient(y, table))
    np.testing.assert_array_equal(found, [[2.0, 2.0], [0.0, 0.0]])


def test_while_loop_by_a_variable_that_every_iteration_reads(v):
    @tf.function
    def f(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), (tf.constant(0), x))[
            1
        ]

    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(tf.constant(1.0))
        first = inner.gradient(y, v)
    assert (float(first), float(outer.gradient(first, v))) == (12.0, 12.0)


def test_forward_mode_through_a_loop():
    @tf.function
    def f(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), (tf.constant(0), x))[
            1
        ]

    x = tf.constant(1.1)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = f(x)
    assert float(acc.jvp(y)) == pytest.approx(8 * 1.1**7, rel=1e-5)


def test_map_fn(v):
    @tf.function
    def f(x):
        return tf.map_fn(lambda a: a * v * a, x)

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    dv, dx = tape.gradient(y, [v, x])
    assert float(dv) == 5.0
    np.testing.assert_array_equal(dx, [4.0, 8.0])


def test_derived_graphs_are_valid(v):
    @tf.function
    def f(x):
        step = lambda i, y: (i + 1, tf.cond(y > 1.0, lambda: y * v, lambda: y + x))  # noqa: E731
        return tf.while_loop(lambda i, y: i < 3, step, (tf.constant(0), x))[1]

    x = tf.constant(1.1)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        first = tape.gradient(y, x)
    tape.gradient(first, [x, v])
    derived = f.get_concrete_function(x).frozen.derived.values()
    derivatives = [d for d in derived if isinstance(d, Derivative)]
    graphs = [b.graph for d in derivatives for b in d._backward.values()]
    assert graphs
    for graph in graphs:
        for part in (graph, *walk.nested(graph)):
            verify(part)


def test_variables_of_branches_and_bodies_are_watched():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def branch(i):
        with tf.GradientTape() as tape:
            y = tf.cond(
                i > 0, lambda: tf.reduce_sum(tf.gather(table, [i])), lambda: tf.reduce_sum(table)
            )
        return tf.convert_to_tensor(tape.gradient(y, table))

    assert branch(tf.constant(1)).numpy().tolist() == [[0, 0], [1, 1]]
    assert branch(tf.constant(0)).numpy().tolist() == [[1, 1], [1, 1]]

    @tf.function
    def loop():
        with tf.GradientTape() as tape:
            y = tf.while_loop(
                lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(table * table)), (0, 0.0)
            )[1]
        return tape.gradient(y, table)

    assert loop().numpy().tolist() == [[6, 12], [18, 24]]


def test_vectorized_map():
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0]])
    product = tf.vectorized_map(lambda row: row[0] * row[1], (x, y))
    assert product.numpy().tolist() == [[5, 12], [15, 24]]

    @tf.function
    def traced(x):
        return tf.vectorized_map(lambda r: tf.cast(tf.reduce_sum(r) * r, tf.int32), x)

    assert traced(x).numpy().tolist() == [[3, 6], [21, 28]]


def test_conditions_are_single_truth_values():
    with pytest.raises(tf.errors.InvalidArgumentError, match="bool"):
        tf.function(lambda x: tf.cond(x, lambda: 1.0, lambda: 2.0))(tf.constant(3))
    loop = tf.function(lambda x: tf.while_loop(lambda i: x, lambda i: i + 1, [tf.constant(0)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        loop(tf.constant([True, False]))
    with pytest.raises(TypeError):
        tf.while_loop(lambda i: 3, lambda i: i + 1, [tf.constant(0)], maximum_iterations=2)
    with pytest.raises(TypeError):
        tf.while_loop(lambda i: i < 3, lambda i: None, [tf.constant(0)])
