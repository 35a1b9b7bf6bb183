"""Graphs that are too large for one function: they are cut into pieces, in the order of their nodes."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import regions
from intaglio.native.passes import partitioning


@pytest.fixture(autouse=True)
def made(monkeypatch):
    programs = []
    whole = regions.Program
    monkeypatch.setattr(partitioning, "MAX_FUNCTION_NODES", 30)
    monkeypatch.setattr(partitioning, "NODES_PER_PIECE", 10)
    monkeypatch.setattr(regions, "Program", lambda g: programs.append(whole(g)) or programs[-1])
    return programs


def test_pieces_give_what_the_whole_gives(made):
    v = tf.Variable(tf.ones([3]))

    def work(x, y):
        first = x
        for i in range(12):
            x = tf.tanh(x) * 1.5 + tf.cast(i, tf.float32)
            y = tf.reverse(y, [0]) + x
            if i % 4 == 0:
                v.assign_add(x)
                x = tf.sort(x)
        return x, y + first, v + 0.0

    x, y = tf.constant([0.5, -1.0, 2.0]), tf.constant([3.0, 4.0, 5.0])
    compiled = tf.function(work, jit_compile=True)
    for _ in range(3):
        before = v.numpy()
        got = [r.numpy() for r in compiled(x, y)]
        after = v.numpy()
        v.assign(before)
        for mine, theirs in zip(got, work(x, y), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)
        np.testing.assert_allclose(v.numpy(), after, rtol=1e-6)
    assert len(made) > 4
    assert all(len(p.graph.nodes) < 60 for p in made)


def test_one_op_of_many_operands_is_cut_too(made):
    f = tf.function(lambda x: tf.add_n([x * float(i) for i in range(40)]), jit_compile=True)
    np.testing.assert_array_equal(f(tf.ones([2])), np.full(2, 780.0))
    assert len(made) > 3


def test_gradients_and_loops(made):
    @tf.function(jit_compile=True)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in range(20):
                y = y * 1.1 + float(i)
            for _ in tf.range(3):
                y = y * y * 0.01
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(f(x), f.python_function(x), rtol=1e-5)
    assert len(made) > 2
