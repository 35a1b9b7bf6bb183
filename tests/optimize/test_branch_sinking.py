"""Branches that give unlike shapes take what is computed from them with them."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import shapes
from intaglio.ir import walk
from intaglio.optimize.branch_sinking import evaluated_with_branches
from intaglio.runtime import interpreter


def unlike(x: Any, n: Any) -> Any:
    y = x[:2] if tf.reduce_sum(x) > 0 else x
    return tf.reduce_sum(y), tf.size(y) + n


def in_sequence(x: Any, n: Any) -> Any:
    y = x[:2] if tf.reduce_sum(x) > 0 else x
    z = tf.concat([y, y], 0)
    if n > 1:
        z = z[1:]
    return tf.reduce_max(z), tf.gather(z, tf.range(7) % tf.size(z))


def nested(x: Any, n: Any) -> Any:
    if n > 1:
        y = x[1:] if tf.reduce_sum(x) > 0 else tf.reshape(x, [2, 2])[:, 0]
    else:
        y = x
    return tf.reduce_prod(y)


def of_several(x: Any, n: Any) -> Any:
    y = tf.switch_case(n, [lambda: x[:1], lambda: x[:2], lambda: x[:3]])
    known = tf.reduce_sum(x)
    return tf.reduce_sum(y) + known, known * 2.0


def of_other_ranks(x: Any, n: Any) -> Any:
    y = tf.cond(n > 1, lambda: tf.reshape(x, [2, 2]), lambda: x[:3])
    return tf.reduce_sum(tf.exp(y)), tf.rank(y)


FUNCTIONS = [unlike, in_sequence, nested, of_several, of_other_ranks]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results(function: Any) -> None:
    concrete = tf.function(function).get_concrete_function(
        tf.TensorSpec([4], tf.float32), tf.TensorSpec([], tf.int32)
    )
    graph = concrete.frozen
    found = evaluated_with_branches(graph, [(4,), ()])
    nodes = [n for g in (found, *walk.nested(found)) for n in g.nodes]
    assert all([shapes.known(v.dims) for n in nodes for v in n.outputs])
    assert [n.op.control_flow for n in nodes].count("branch")
    for sign, n in itertools.product((1, -1), range(3)):
        arrays = np.float32([1, 2, 3, 4]) * sign, np.int32(n)
        own = interpreter.run_graph(found, arrays)
        for a, b in zip(own, interpreter.run_graph(graph, arrays), strict=True):
            np.testing.assert_array_equal(a, b)


def test_effects_keep_their_order() -> None:
    """Reads and writes between what moves, move with it."""
    first, second = tf.Variable(1.0), tf.Variable(1.0)

    def f(v: Any, x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            y = x[:2]
        else:
            y = x
            v.assign_add(1.0)
        early = v * 1.0
        z = tf.reduce_sum(y) + v
        v.assign(z)
        w = tf.concat([y, y], 0)
        return early, z, tf.reduce_max(w) + v, v * 2.0

    spec = tf.TensorSpec([4], tf.float32)
    one, other = [
        tf.function(functools.partial(f, v)).get_concrete_function(spec) for v in (first, second)
    ]
    found = evaluated_with_branches(one.frozen, [(4,), None])
    captured = one.capture_arrays
    for x in (np.float32([1, 2, 3, 4]), np.float32([-1, -2, -3, -4]), np.float32([1, 1, 1, 1])):
        own = interpreter.run_graph(found, [x, *captured])
        for a, b in zip(own, other(tf.constant(x)), strict=True):
            np.testing.assert_array_equal(a, b.numpy())
        assert first.numpy() == second.numpy()


def test_unused_results_of_unlike_shapes_go() -> None:
    """What branches give besides stays, and so do their effects."""
    count = tf.Variable(0)

    def f(x: Any) -> Any:
        def one() -> Any:
            count.assign_add(1)
            return x[:2], tf.reduce_sum(x)

        return tf.cond(tf.reduce_sum(x) > 0, one, lambda: (x, tf.reduce_max(x)))[1]

    concrete = tf.function(f).get_concrete_function(tf.TensorSpec([4], tf.float32))
    graph = concrete.frozen
    found = evaluated_with_branches(graph, [None] * len(graph.inputs))
    (branch,) = [n for n in found.nodes if n.op.control_flow == "branch"]
    assert [v.dims for v in branch.outputs] == [()]
    for x in (np.ones(4, np.float32), -np.ones(4, np.float32)):
        (value,) = interpreter.run_graph(found, [x, *concrete.capture_arrays])
        np.testing.assert_array_equal(value, x.sum() if x[0] > 0 else x.max())
    assert count.numpy() == 1
