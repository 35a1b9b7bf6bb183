"""Constant folding: what is known of shapes once values are constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base import shapes
from intaglio.optimize.pipeline import optimize


def optimized(function, *signature):
    traced: Any = tf.function(function)
    return optimize(traced.get_concrete_function(*signature).frozen)


def test_what_a_folded_value_has_is_inferred_for_what_depends_on_it() -> None:
    def f(x):
        flags = tf.constant([True, False, True, True])
        chosen = tf.boolean_mask(tf.range(4.0), flags)  # its length is not inferred
        table = chosen[:, None] * x
        return table, tf.shape(table)[0] + 1

    graph = optimized(f, tf.TensorSpec([5]))
    table, count = graph.outputs
    assert table.dims == (3, 5)
    assert count.node.op.name == "Const"
    assert int(count.node.attrs["value"]) == 4


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 3))
def test_all_shapes_behind_constants_are_known_and_right(flags, columns, power) -> None:
    def f(x):
        rows = tf.where(tf.constant(flags))[:, 0]
        y = tf.cast(rows, tf.float32)[:, None] + x
        y = tf.tile(y, [1, 2])
        for _ in range(power):
            y = tf.concat([y, y * 2.0], 0)
        return y, tf.reduce_sum(y, 0), tf.reshape(y, [-1])

    x = np.arange(columns, dtype=np.float32)
    graph = optimized(f, tf.TensorSpec([columns]))
    for value, result in zip(graph.outputs, f(tf.constant(x)), strict=True):
        assert shapes.known(value.dims)
        assert value.dims == tuple(result.shape)
    for got, want in zip(tf.function(f, jit_compile=True)(x), f(tf.constant(x)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_linspace_has_the_shape_that_tensorflow_gives_it(axis) -> None:
    found = []

    @tf.function
    def f(start, count):
        found.append(tf.linspace(start, [3.0, 4.0], 5, axis=axis).shape)
        found.append(tf.linspace(start, [3.0, 4.0], count, axis=axis).shape)
        return tf.linspace(start, [3.0, 4.0], count, axis=axis)

    result = f(tf.constant([1.0, 2.0]), tf.constant(5))
    # TensorFlow 2.21 was asked.
    assert found[0] == result.shape == ((5, 2) if axis == 0 else (2, 5))
    assert found[1].as_list() == ([None, 2] if axis == 0 else [2, None])


def test_linspace_along_an_axis_that_is_a_tensor() -> None:
    f = tf.function(lambda a, n: tf.linspace(a, a + 1, n, axis=tf.constant(0)))
    assert f(tf.constant([1.0, 2.0]), 3).shape == (3, 2)
