"""Estimates of the cost model: what a graph costs follows from what it computes, not from how it was written."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf
from intaglio.native import cost_model, tiers
from intaglio.optimize.pipeline import optimize


def graph_of(f, *args):
    traced: Any = tf.function(f)
    return traced.get_concrete_function(*args).frozen


def test_constants_cost_the_compiler_nothing():
    def sliced(x):
        for i in range(20):
            x = x[:, 1:] * 0.5 + x[:, :-1] * float(i)
        return x

    traced = graph_of(sliced, tf.ones([4, 64]))
    optimized = optimize(traced)
    assert len(traced.nodes) > 1.2 * len(optimized.nodes)
    before, after = map(cost_model.compiler_seconds, (traced, optimized))
    assert after <= before < 1.1 * after


@pytest.mark.parametrize("dims", [[50000], [None]])
def test_what_depends_on_data_saves_nothing_where_inputs_have_known_shapes(dims):
    def f(x):
        found = tf.boolean_mask(x, x > 0.0)
        return tf.reduce_sum(tf.exp(found) * found)

    spec = tf.TensorSpec(dims)
    graph = tf.function(f, input_signature=[spec]).get_concrete_function().frozen
    every = cost_model.interpreted_seconds(graph, cost_model.UNKNOWN_TRIP_COUNT_LOW_ESTIMATE)
    saved = cost_model.replaceable_seconds(graph)
    assert (saved == every) if dims == [None] else (0.0 < saved < every)


def test_a_graph_of_data_dependent_shapes_is_not_compiled_ahead():
    def by_data(x):
        for _ in range(40):
            x = tf.boolean_mask(x, x > 0.0)
            x = tf.exp(x) * 0.5
        return tf.reduce_sum(x)

    def known(x):
        for _ in range(40):
            x = tf.exp(x) * 0.5
        return tf.reduce_sum(x)

    x = tf.ones([20000])
    assert tiers.is_profitable(graph_of(known, x))
    assert not tiers.is_profitable(graph_of(by_data, x))


def test_functions_of_several_series_take_the_compiler_long():
    def series(x):
        return tf.math.special.bessel_k0(x) + tf.math.special.bessel_k0(x * 2.0)

    def short(x):
        return tf.exp(x) + tf.exp(x * 2.0)

    x = tf.ones([20000])
    longer, other = (cost_model.compiler_seconds(graph_of(f, x)) for f in (series, short))
    assert longer - other == pytest.approx(cost_model.PER_SERIES)
    assert tiers.is_profitable(graph_of(short, tf.ones([1000, 1000])))
    assert not tiers.is_profitable(graph_of(series, x))


@pytest.mark.parametrize("rows", [1, 64, 1000])
def test_open_dimensions_cost_what_known_ones_do(rows):
    def f(x, w):
        return tf.reduce_sum(tf.sort(tf.exp(x @ w) * 2.0), 0)

    spec = tf.TensorSpec([None, 40])
    traced: Any = tf.function(f, input_signature=[spec, tf.TensorSpec([40, 30])])
    opened = traced.get_concrete_function().frozen
    known = graph_of(f, tf.ones([rows, 40]), tf.ones([40, 30]))
    seconds = cost_model.interpreted_seconds(opened, open_dim=rows)
    assert seconds == pytest.approx(cost_model.interpreted_seconds(known))
    assert seconds > cost_model.interpreted_seconds(opened)
