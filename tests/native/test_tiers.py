"""Loops of plain functions become native code in the background, and nobody can tell."""

from __future__ import annotations

import numpy as np

from intaglio import tf
from intaglio.native import tiers
from intaglio.native.tiers import Tiered


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def compiled(run):
    """Waits for the code. True if there is some."""
    before = run.run
    run._compile()
    run.compiling.join()
    return run.run is not before


def test_a_loop_that_takes_long_is_compiled_in_the_background(monkeypatch):
    monkeypatch.setattr(tiers, "PATIENCE", 0.0)
    f = tf.function(collatz)
    concrete = f.get_concrete_function(tf.constant(27))
    run = concrete.settle()
    assert isinstance(run, Tiered)
    interpreted = run.run
    assert f(tf.constant(27)).numpy() == 111
    assert run.compiling is not None
    run.compiling.join()
    assert run.run is not interpreted
    for n in (1, 6, 27, 97):
        assert f(tf.constant(n)).numpy() == interpreted(np.asarray(n, np.int32))[0]


def test_functions_that_forbid_it_and_ops_that_round_otherwise_stay_interpreted():
    plain = tf.function(collatz, jit_compile=False)
    assert not isinstance(plain.get_concrete_function(tf.constant(1)).settle(), Tiered)

    @tf.function
    def growing(x):
        while tf.reduce_all(x < 100.0):
            x = tf.exp(x)
        return x

    run = growing.get_concrete_function(tf.ones([2])).settle()
    assert not isinstance(run, Tiered)


def test_variables_and_what_fails_are_as_before():
    v = tf.Variable([1, 2, 3])

    @tf.function
    def step(x, at):
        for i in tf.range(3):
            v.assign_add(x * i)
        return v[at] // x[0]

    x = tf.constant([2, 3, 4])
    run = step.get_concrete_function(x, tf.constant(0)).settle()
    assert compiled(run)
    assert step(x, tf.constant(1)).numpy() == (2 + 9) // 2
    np.testing.assert_array_equal(v.numpy(), [7, 11, 15])
    message = ""
    try:
        step(x * 0, tf.constant(1))
    except tf.errors.InvalidArgumentError as e:
        message = str(e)
    assert "division by zero" in message
    np.testing.assert_array_equal(v.numpy(), [7, 11, 15])
