"""Traces that leave dimensions open: native code for each shape that calls have."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.function import versions
from intaglio.native import regions
from intaglio.optimize.specialize import specialized

OPEN = tf.TensorSpec([None, 3], tf.float32)


def work(x):
    count = tf.cast(tf.shape(x)[0], tf.float32)
    for _ in tf.range(3):
        x = tf.nn.relu(x * 0.5 + 1.0)
    return tf.reduce_sum(x, 0) / count, tf.reshape(x, [-1])


def test_every_shape_has_a_version_of_its_own(monkeypatch):
    made = []
    whole = regions.Program
    monkeypatch.setattr(regions, "Program", lambda g: made.append(g) or whole(g))
    f = tf.function(work, input_signature=[OPEN], jit_compile=True)
    for rows in (1, 4, 50, 4, 1):
        x = tf.random.stateless_normal([rows, 3], [1, rows])
        for got, want in zip(f(x), work(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)
    assert f.experimental_get_tracing_count() == 1
    assert len(made) == 3


def test_more_shapes_than_versions(monkeypatch):
    monkeypatch.setattr(versions, "MAX_SHAPES", 2)
    f = tf.function(work, input_signature=[OPEN], jit_compile=True)
    for rows in (1, 2, 3, 4, 1, 5):
        x = tf.random.stateless_normal([rows, 3], [1, rows])
        for got, want in zip(f(x), work(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_wrong_shapes_fail_as_elsewhere():
    f = tf.function(
        lambda x, y: x + y,
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])],
        jit_compile=True,
    )
    assert f(tf.ones([3]), tf.ones([1])).shape == (3,)
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.ones([3]), tf.ones([2]))


def test_what_follows_from_shapes_is_known():
    concrete = tf.function(work).get_concrete_function(OPEN)
    graph = specialized(concrete.frozen, [(7, 3)])
    assert graph.outputs[0].dims == (3,)
    assert graph.inputs[0].dims == (7, 3)
    assert concrete.frozen.inputs[0].dims == (None, 3)


def test_variables_of_a_version_have_their_shapes(monkeypatch):
    """A graph that reads and writes variables is one native function for each shape of its inputs."""
    made = []
    regions_of = regions.Regions.__init__

    def record(self, graph, exact=False):
        regions_of(self, graph, exact)
        made.append(self)

    monkeypatch.setattr(regions.Regions, "__init__", record)
    weights = tf.Variable(tf.ones([3, 2]))

    @tf.function(input_signature=[OPEN], jit_compile=True)
    def step(x):
        y = tf.reduce_sum(x @ weights)
        weights.assign_sub(tf.ones([3, 2]) * 0.25)
        return y

    assert float(step(tf.ones([4, 3]))) == 24.0
    assert float(step(tf.ones([5, 3]))) == 22.5
    assert len(made) == 2
    assert all(each.whole is not None for each in made)
