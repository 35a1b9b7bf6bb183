"""Gradients of branches and loops, eagerly, through functions and inside them."""

from __future__ import annotations

import pytest

from intaglio import tf
from intaglio.opdef import raw
from intaglio.trace.graph import record
from tests.autodiff.orders import assert_derivatives, derivative

F = tf.float64
SHAPES = [(), None]


def graph_of(function, *specs):
    made, result = record(function, "branch", [(d, s, f"x{i}") for i, (d, s) in enumerate(specs)])
    made.outputs = [v if v.graph is made else made.capture(v) for v in result]
    return made.freeze_function()


def branch(x, shape):
    """A choice between two functions of x and 2 x, of two results each."""
    pair = [(F, shape)] * 2
    square = graph_of(lambda x, y: [x * x * y, x], *pair)
    sine = graph_of(lambda x, y: [x * raw.Sin(y) * x * x, y], *pair)
    a, b = raw.StatelessIf(
        raw.Greater(x, 1.0), [x, x * 2.0], then_branch=square, else_branch=sine, Tout=[F, F]
    )
    return a * b


def case(x, shape):
    """A choice by index."""
    graphs = [
        graph_of(lambda x: [x * x], (F, shape)),
        graph_of(lambda x: [raw.Exp(x) * x], (F, shape)),
        graph_of(lambda x: [raw.Const(value=raw_two(), dtype=F)], (F, shape)),
    ]
    index = raw.Cast(x, DstT=tf.int32)
    return raw.StatelessCase(index, [x], branches=graphs, Tout=[F])[0] * x


def raw_two():
    """The number two as an array."""
    import numpy as np

    return np.asarray(2.0)


def loop(x, shape, turns=4):
    """x <- sin(x) w x, a few times, where no iteration changes w."""
    state = [(tf.int32, ()), (F, shape), (F, shape)]
    cond = graph_of(lambda i, x, w: [raw.Less(i, turns)], *state)
    body = graph_of(lambda i, x, w: [i + 1, raw.Sin(x) * w * x, w], *state)
    return raw.StatelessWhile([0, x, x * 2.0], cond=cond, body=body)[1]


def nested(x, shape):
    """A loop with a loop and a branch in it."""
    state = [(tf.int32, ()), (F, shape)]

    def turn(i, x):
        return [i + 1, branch(loop(x, shape, 2) * 0.5, shape) + x]

    cond = graph_of(lambda i, x: [raw.Less(i, 2)], *state)
    return raw.StatelessWhile([0, x], cond=cond, body=graph_of(turn, *state))[1]


CASES = [
    pytest.param(branch, 1.5, 3, id="then"),
    pytest.param(branch, 0.5, 3, id="else"),
    pytest.param(case, 0.5, 2, id="case 0"),
    pytest.param(case, 1.5, 2, id="case 1"),
    pytest.param(case, 2.5, 2, id="case 2, constant"),
    pytest.param(loop, 1.3, 3, id="loop"),
    pytest.param(nested, 0.7, 2, id="nested"),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("function", "x", "orders"), CASES)
def test_eager_ops(function, x, orders, shape):
    assert_derivatives(lambda v: function(v, shape), x, orders)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("function", "x", "orders"), CASES)
def test_through_a_function(function, x, orders, shape):
    spec = [tf.TensorSpec(shape, F)]
    traced = tf.function(lambda v: function(v, shape), input_signature=spec)
    assert_derivatives(traced, x, orders)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("function", "x", "orders"), CASES)
def test_tapes_inside_a_function(function, x, orders, shape):
    spec = [tf.TensorSpec(shape, F)]
    eager = derivative(lambda v: function(v, shape), orders)
    inside = tf.function(derivative(lambda v: function(v, shape), orders), input_signature=spec)
    v = tf.constant(x, F)
    assert float(inside(v)) == pytest.approx(float(eager(v)))


def test_no_iteration_at_all():
    x = tf.constant(3.0, F)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loop(x, (), 0)
    assert float(tape.gradient(y, x)) == 1.0
