"""What is the same in every iteration of a loop: where it is read, and what gradients keep of it."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.optimize.pipeline import optimize


def optimized(function, *args):
    """The function's graph after all passes."""
    concrete = tf.function(function).get_concrete_function(*args)
    return optimize(concrete.frozen)


def loops(graph):
    """The bodies of a graph's loops."""
    return [n.attrs["body"] for n in graph.nodes if n.op.name.endswith("While")]


def names(graph):
    """The ops of a graph."""
    return [n.op.name for n in graph.nodes]


def recurrent(w, b):
    """A cell whose weights are variables, which every iteration reads."""

    def run(x):
        h = tf.zeros_like(x[0])
        for t in tf.range(5):
            h = tf.tanh(tf.nn.bias_add(x[t] + h @ w, b))
        return h

    return run


def step(run, variables):
    """The gradients of a sum of squares by variables."""

    def gradients(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(run(x) ** 2.0)
        return tape.gradient(loss, variables)

    return gradients


def variables():
    """Weights and a bias."""
    rng = np.random.default_rng(0)
    return [tf.Variable(rng.normal(size=s).astype("f") * 0.5) for s in ((6, 6), (6,))]


def rows():
    return tf.reshape(tf.range(90.0), [5, 3, 6]) * 0.01


def test_variables_are_read_before_the_loop():
    run = recurrent(*variables())
    graph = optimized(run, rows())
    (body,) = loops(graph)
    assert "ReadVariableOp" not in names(body)
    assert "ReadVariableOp" in names(graph)
    assert names(body).count("MatMul") == 1
    np.testing.assert_allclose(tf.function(run)(rows()), run(rows()), rtol=1e-6)


def test_gradients_keep_no_lists_of_weights():
    w, b = variables()
    run = step(recurrent(w, b), [w, b])
    graph = optimized(run, rows())
    forward, backward = loops(graph)
    pushed = [n.inputs[1].dims for n in forward.nodes if n.op.name == "TensorListPushBack"]
    assert pushed and (6, 6) not in pushed
    # Sums of products and of rows are made after the loop.
    products = [n for n in backward.nodes if n.op.name == "MatMul"]
    assert len(products) == 1 and not products[0].attrs["transpose_b"]
    assert "BiasAddGrad" not in names(backward) and "BiasAddGrad" in names(graph)
    for compiled in (False, True):
        made = tf.function(run, jit_compile=compiled)
        for got, wanted in zip(made(rows()), run(rows()), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


def test_loops_within_loops():
    w, _ = variables()

    def run(x):
        for _ in tf.range(3):
            for _ in tf.range(4):
                x = tf.tanh(x @ w)
            x += 1.0
        return x

    graph = optimized(run, rows()[0])
    (outer,) = loops(graph)
    (inner,) = loops(outer)
    assert "ReadVariableOp" not in [*names(outer), *names(inner)]
    np.testing.assert_allclose(tf.function(run)(rows()[0]), run(rows()[0]), rtol=1e-6)
    gradients = step(run, [w])
    (got,) = tf.function(gradients)(rows()[0])
    np.testing.assert_allclose(got, gradients(rows()[0])[0], rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("effect", ["assigned", "printed"])
def test_loops_with_effects_read_in_every_iteration(effect):
    v = tf.Variable(1.0)

    def run(x):
        for _ in tf.range(4):
            x = x * v
            if effect == "assigned":
                v.assign(v + 1.0)
            else:
                tf.print(x, summarize=1)
        return x

    (body,) = loops(optimized(run, tf.constant(1.0)))
    assert "ReadVariableOp" in names(body)
    v.assign(1.0)
    assert tf.function(run)(tf.constant(1.0)) == (24.0 if effect == "assigned" else 1.0)


def test_lists_that_are_looked_at_stay():
    def run(x, w):
        rows = tf.raw_ops.EmptyTensorList(
            element_shape=tf.constant([6, 6]), max_num_elements=-1, element_dtype=tf.float32
        )
        for _ in tf.range(3):
            x = x @ w
            rows = tf.raw_ops.TensorListPushBack(input_handle=rows, tensor=w)
        return x, tf.raw_ops.TensorListStack(
            input_handle=rows, element_shape=[6, 6], element_dtype=tf.float32
        )

    args = rows()[0], tf.eye(6)
    for got, wanted in zip(tf.function(run)(*args), run(*args), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_variables_lie_in_order():
    transposed = np.arange(12.0).reshape(3, 4).T
    v = tf.Variable(transposed)
    v.assign(tf.constant(transposed) + 1.0)
    product = tf.function(lambda x: x @ v, jit_compile=True)
    x = tf.ones([2, 4], tf.float64)
    np.testing.assert_array_equal(product(x), np.ones((2, 4)) @ (transposed + 1.0))
    v.assign(tf.transpose(tf.constant(transposed.T.copy())))
    assert v.handle is not None and v.numpy().flags.c_contiguous
