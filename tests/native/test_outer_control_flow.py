"""Loops with something in them that has no native code: what has some is compiled nevertheless."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import regions


@pytest.fixture
def programs(monkeypatch):
    made = []
    whole = regions.Program

    def program(graph):
        made.append(whole(graph))
        return made[-1]

    monkeypatch.setattr(regions, "Program", program)
    return made


def test_the_body_of_a_loop_with_shapes_that_depend_on_data(programs):
    def run(x):
        for i in tf.range(4):
            if tf.reduce_max(x) > 10.0:
                x = x - tf.reduce_sum(tf.unique(x)[0])
            x = x * 2.0 + tf.cast(i, tf.float32)
        return x

    x = tf.constant([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(tf.function(run, jit_compile=True)(x), run(x))
    assert len(programs) > 2


def test_a_loop_that_makes_sure(programs):
    @tf.function(jit_compile=True)
    def run(x):
        for _ in tf.range(2):
            x = x * 2.0 + 1.0
            tf.debugging.assert_less(x, 10.0)
        return x

    assert run(tf.constant(1.0)).numpy() == 7.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        run(tf.constant(3.0))
    assert programs


def test_variables_between_native_parts():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(jit_compile=True)
    def run(x):
        before = v + 0.0
        v.assign_add(x)
        ordered = tf.sort(v)
        v.assign(v * 2.0)
        return before, ordered, v.read_value()

    x = tf.constant([5.0, -5.0, 0.0])
    for _ in range(3):
        old = v.numpy()
        before, ordered, after = run(x)
        np.testing.assert_array_equal(before, old)
        np.testing.assert_array_equal(ordered, np.sort(old + x.numpy()))
        np.testing.assert_array_equal(after, (old + x.numpy()) * 2)
        np.testing.assert_array_equal(after, v)
