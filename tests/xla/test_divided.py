"""Functions with nodes that are no part of an XLA program: programs before and after what the host computes."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import intaglio
from intaglio import tf
from intaglio.xla import compilation


@pytest.fixture(autouse=True)
def _backend(monkeypatch):
    monkeypatch.setattr(compilation, "VERIFY", True)
    with intaglio.backend("xla"):
        yield


X = tf.constant([1.0, 2.0, 1.0, 5.0])


def _unique(x):
    return tf.unique(tf.sin(x) * 2.0)[0] + 1.0


def _two_nodes(x):
    y = tf.sin(x) * 2.0
    values, places = tf.unique(tf.cast(x, tf.int32))
    kept = tf.boolean_mask(y, y > 0.0)
    return tf.reduce_sum(kept) + tf.cast(tf.reduce_sum(values), tf.float32), places, kept


def _in_a_loop(x):
    total = x[:1] * 0.0
    for i in tf.range(3):
        found, _ = tf.unique(x * tf.cast(i, tf.float32))
        total += tf.reduce_sum(found)
    return total * 2.0


def _in_a_branch(x):
    y = tf.exp(x)
    if tf.reduce_sum(x) > 3.0:
        y = y + tf.cast(tf.size(tf.unique(x)[0]), tf.float32)
    return y - 1.0


def _constants_and_inputs(x):
    return tf.unique(x)[0], x, tf.constant(3), tf.sin(x)


def _of_a_list(x):
    rows = []
    for i in tf.range(3):
        rows.append(tf.unique(x[: i + 1])[0][0] * 2.0)
    return tf.stack(rows) + 1.0


@pytest.mark.parametrize(
    "function", [_unique, _two_nodes, _in_a_loop, _in_a_branch, _constants_and_inputs, _of_a_list]
)
def test_results_are_those_of_the_interpreter(function):
    run, plain = tf.function(function, jit_compile=True), tf.function(function)
    for x in (X, -X, tf.ones(4), X):
        got, wanted = tf.nest.flatten(run(x)), tf.nest.flatten(plain(x))
        for a, b in zip(got, wanted, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=2e-6)
    assert "which the host computes" in run.compile_report()


def test_the_report_names_each_crossing(caplog):
    run = tf.function(_two_nodes, jit_compile=True)
    with caplog.at_level(logging.WARNING):
        run(X), run(X)
    assert caplog.text.count("Unique runs on the host, between XLA programs") == 1
    assert caplog.text.count("Where runs on the host, between XLA programs") == 1
    report = run.compile_report()
    assert "divided by Unique (line" in report and "divided by Where (line" in report
    assert "1 tensors go to the host" in report and report.count("XLA programs, by jax") == 3
    assert "XLA program for arguments (4,)" in str(run.explain())


def test_effects_stay_in_order():
    def make():
        v = tf.Variable([1.0, 2.0])

        def step(x):
            v.assign_add(tf.reduce_sum(x) * tf.ones(2))
            before = v[0] * 1.0
            values, _ = tf.unique(x * v[0])
            v.assign(v * tf.reduce_sum(values))
            noise = tf.random.uniform([2], seed=3)
            v.assign_add(noise)
            return before, v + 0.0, tf.random.uniform([1], seed=4)

        return step, v

    (step, v), (plain, w) = make(), make()
    tf.random.set_seed(5)
    run = tf.function(step, jit_compile=True)
    got = [run(X) for _ in range(3)]
    tf.random.set_seed(5)
    expected = tf.function(plain)
    for mine in got:
        for a, b in zip(mine, expected(X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)
    np.testing.assert_allclose(v, w, rtol=1e-5)


def test_errors_of_the_host_are_raised_once():
    v = tf.Variable(0.0)

    @tf.function(
        jit_compile=True, input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)]
    )
    def step(x, axis):
        v.assign_add(1.0)
        values, _ = tf.unique(x)
        return tf.gather(values, axis)

    step(X, 0)
    reads_far = tf.function(
        lambda x, size: tf.unique(tf.reshape(tf.sin(x), size))[0] + 1.0,
        jit_compile=True,
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([1], tf.int32)],
    )
    assert reads_far(X, [4]).shape == (3,)
    with pytest.raises(tf.errors.InvalidArgumentError):
        reads_far(X, [3])
    assert v.numpy() == 1.0
