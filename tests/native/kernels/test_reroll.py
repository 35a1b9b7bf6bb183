"""What repeats is written once: in elementwise graphs, in rows of layers, and for other numbers."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import reroll
from intaglio.native.llvm import jit
from intaglio.native.pipeline import ready
from intaglio.native.program import Program
from intaglio.optimize.pipeline import optimize

SPEC = tf.TensorSpec([30, 7], tf.float32)
SMALL = tf.TensorSpec([3], tf.float32)


def graph_of(function, *specs):
    """The optimised graph."""
    return optimize(tf.function(function).get_concrete_function(*specs).frozen)


def texts_of(function, *specs):
    """The code of a function and of the loops that it calls."""
    writer = Program(graph_of(function, *specs)).writer
    return [writer.code.text(), *[f.text() for f in writer.functions.values()]]


def instructions(function, *specs):
    """How many there are."""
    return sum(text.count("\n") for text in texts_of(function, *specs))


def chain(x, y):
    for i in range(60):
        x = tf.tanh(x * (0.5 + i / 100) + y) - 0.1
    return x


def oscillation(x, y):
    """Each iteration takes what the two before it have made, and the last two are results."""
    before = x * 0.5
    for i in range(50):
        before, x = x, x * (i / 1000 - 0.5) + before
    return x - y, before


def halves(x, y):
    """Two stretches with something else between them."""
    for _ in range(40):
        x = tf.abs(x) * 0.9 - y
    x = tf.where(x > 0.0, x, -y)
    for i in range(40):
        x = tf.maximum(x, y) * 0.25 + float(i)
    return x + y


def collecting(x, y):
    """Every iteration makes something that is needed at the end: no loop in registers does that."""
    found = []
    for i in range(40):
        x = x * 0.5 + y
        found.append(x * float(i))
    return tf.add_n(found[::8]) + found[3]


def fibonacci(x, y):
    for _ in range(45):
        x, y = y, tf.bitwise.bitwise_xor(x + y, x)
    return x


@pytest.mark.parametrize("spec", [SPEC, SMALL])
@pytest.mark.parametrize("function", [chain, oscillation, halves, collecting])
def test_what_repeats_gives_the_same(function, spec):
    rng = np.random.default_rng(0)
    x, y = (tf.constant(rng.normal(size=spec.shape), tf.float32) for _ in range(2))
    wanted, got = function(x, y), tf.function(function, jit_compile=True)(x, y)
    for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)


def test_integers_repeat_too():
    x, y = tf.range(100), tf.range(100) * 3
    got = tf.function(fibonacci, jit_compile=True)(x, y)
    np.testing.assert_array_equal(got, fibonacci(x, y))


def test_a_stretch_is_written_once():
    def iterations(count):
        def run(x, y):
            for i in range(count):
                x = tf.tanh(x * float(i) + y)
            return x

        return run

    few, many = (instructions(iterations(n), SPEC, SPEC) for n in (100, 400))
    assert few == many


def test_the_parts_of_a_graph():
    graph = graph_of(oscillation, SPEC, SPEC)
    body = next(n.attrs["body"] for n in ready(graph).nodes if n.op.name == "_FusedElementwise")
    found = [p for p in reroll.periods(body) if isinstance(p, reroll.Repeat)]
    assert [p.period for p in found] == [2]
    assert found[0].iterations >= 48
    assert {depth for _, depth, _ in found[0].carried} == {1, 2}


def layers(count):
    rng = np.random.default_rng(1)
    weights = [tf.constant(rng.normal(size=(20, 20)) / 5, tf.float32) for _ in range(count)]

    def run(x):
        for i, w in enumerate(weights):
            x = tf.tanh(tf.matmul(x, w) + float(i))
        return x

    return run


def test_layers_of_one_shape_share_their_code():
    spec = tf.TensorSpec([30, 20], tf.float32)
    few, many = (instructions(layers(n), spec) for n in (10, 100))
    assert few == many
    x = tf.ones([30, 20])
    got = tf.function(layers(100), jit_compile=True)(x)
    np.testing.assert_allclose(got, layers(100)(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [[2, 2], [40, 40]])
def test_functions_that_differ_in_numbers_are_the_same_code(shape):
    def scaled(number):
        return lambda x: tf.sqrt(x * number) + number / 3.0

    x = tf.ones(shape)
    programs = [Program(graph_of(scaled(n), tf.TensorSpec(shape))) for n in (2.0, 7.5)]
    first, second = (p.writer.compiled() for p in programs)
    assert first is second
    for number, program in zip((2.0, 7.5), programs, strict=True):
        (got,) = program.run(np.ones(shape, np.float32))
        np.testing.assert_array_equal(got, scaled(number)(x))


def test_loops_of_other_programs_are_used_again(monkeypatch):
    made = []
    monkeypatch.setattr(jit.Module, "__init__", _counting(made))

    def used(count):
        return lambda x: tf.reduce_sum(tf.exp(x * 3.0) - 1.25) * float(count)

    spec = tf.TensorSpec([50, 50])
    Program(graph_of(used(1), spec))
    before = len(made)
    Program(graph_of(lambda x: used(2)(x) + tf.reduce_max(x), spec))
    assert not [text for text in made[before:] if "define void @loop_" in text]


def test_threads_share_code_while_it_is_compiled():
    x, wrong = tf.ones([50, 50]) / 3.0, []

    def work(number):
        for iteration in range(5):
            scale = float(10 * number + iteration)
            function = lambda x, c=scale: tf.sqrt(x * c + 1.0) * 0.5 - c  # noqa: E731
            (got,) = Program(graph_of(function, tf.TensorSpec([50, 50]))).run(x.numpy())
            if (got != function(x)).numpy().any():
                wrong.append(scale)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def _counting(made):
    original = jit.Module.__init__

    def init(self, text):
        made.append(text)
        original(self, text)

    return init
