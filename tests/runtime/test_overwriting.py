"""Large intermediate values give their memory to the next kernel, and nothing else does."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from intaglio import tf
from intaglio.runtime import interpreter

SIDE = 512  # a matrix of 1 MiB


def matrix(seed: int, side: int = SIDE) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(side, side)).astype(np.float32)


def chain(x):
    y = x + 1.0
    for _ in range(6):
        y = tf.sin(y * 2.0) - 0.5
    return y


def used_twice(x):
    y = x * 2.0
    z = tf.sin(y)
    return tf.cos(y) + z, z


def views(x):
    y = tf.exp(x)
    flipped = tf.transpose(y)
    rows = tf.reshape(y, [-1])
    y = y * 2.0
    return flipped + y, rows


def inputs_and_outputs(x):
    y = tf.negative(x)
    z = tf.negative(y)
    return x, y, z, tf.negative(z)


def the_same_twice(x):
    y = x - 1.0
    return tf.square(y * y)


def broadcast(x):
    y = x[:1] * 2.0
    return tf.exp(y) + x, tf.exp(x) * y


def other_types(x):
    y = x * 3.0
    return tf.abs(tf.complex(y, x)) + tf.cast(tf.exp(y) > 1.0, tf.float32)


def products(x):
    return tf.nn.tanh(x @ x + 1.0) @ x


def constants(x):
    c = tf.constant(np.ones([SIDE, SIDE], np.float32))
    return (c + x) * c, tf.exp(c) + c


FUNCTIONS = [
    chain,
    used_twice,
    views,
    inputs_and_outputs,
    the_same_twice,
    broadcast,
    other_types,
    products,
    constants,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_the_eager_ones_and_arguments_stay(function) -> None:
    traced = tf.function(function, jit_compile=False)
    for seed in range(4):  # the last calls run optimised
        array = matrix(seed)
        x = tf.constant(array)
        expected = tf.nest.map_structure(lambda t: t.numpy(), function(x))
        got = tf.nest.map_structure(lambda t: t.numpy(), traced(x))
        for a, b in zip(tf.nest.flatten(expected), tf.nest.flatten(got), strict=True):
            assert (a == b).all()
        assert (x.numpy() == array).all()


def test_a_chain_needs_the_memory_of_one_result() -> None:
    graph = tf.function(chain).get_concrete_function(tf.TensorSpec([SIDE, SIDE])).frozen
    run = interpreter.compiled(graph)
    array = matrix(0)
    run(array)
    tracemalloc.start()
    try:
        run(array)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * array.nbytes


def test_variables_are_updated_in_place_unless_they_have_views() -> None:
    variable = tf.Variable(np.zeros([SIDE, SIDE], np.float32))

    @tf.function
    def step(d):
        variable.assign_sub(0.5 * d)
        variable.assign_add(d)

    def place() -> int:
        return variable.handle._array.read().ctypes.data

    one = tf.ones([SIDE, SIDE])
    for _ in range(4):
        step(one)
    before = place()
    for _ in range(4):
        step(one)
    assert place() == before
    for look in (
        lambda: variable.read_value(),
        lambda: variable.numpy(),
        lambda: variable[1:3],
        lambda: memoryview(variable.numpy()),
        lambda: tf.transpose(variable),
    ):
        held = look()
        seen = np.array(held)
        step(one)
        assert (np.array(held) == seen).all()
        del held
    assert (variable.numpy() == 0.5 * 13).all()
