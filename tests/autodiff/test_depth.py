"""Deep programs do not meet Python's recursion limit, and what is done is let go."""

import gc
import weakref

import pytest

from intaglio import tf

DEPTH = 3000


def deep(x):
    for _ in range(DEPTH):
        x = x * 1.0001
    return x


EXPECTED = pytest.approx(1.0001**DEPTH, rel=1e-3)


def test_tape():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = deep(x)
    assert float(tape.gradient(y, x)) == EXPECTED


def test_call_and_graph():
    x = tf.constant(1.0)
    traced = tf.function(deep, autograph=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = traced(x)
    assert float(tape.gradient(y, x)) == EXPECTED
    inside = tf.function(lambda x: tf.gradients(deep(x), x)[0], autograph=False)
    assert float(inside(x)) == EXPECTED


def test_traced_functions_and_tapes_are_freed():
    def run():
        variable = tf.Variable([1.0, 2.0])
        traced = tf.function(lambda x: tf.reduce_sum(x * variable), autograph=False)
        with tf.GradientTape() as tape:
            loss = traced(tf.constant([1.0, 2.0]))
        assert tape.gradient(loss, variable).numpy().tolist() == [1.0, 2.0]
        return [weakref.ref(o) for o in (variable, traced, tape)]

    references = run()
    gc.collect()
    assert [r() for r in references] == [None] * 3


def test_a_used_tape_keeps_nothing():
    gc.disable()
    try:
        a = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(a)
            b = a * a
            c = tf.exp(b)
        tape.gradient(c, a)
        reference = weakref.ref(b)
        del b
        assert reference() is None
    finally:
        gc.enable()


def test_operands_that_no_wanted_gradient_needs_are_let_go():
    x, fixed = tf.constant([[1.0]]), tf.constant([[2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(x)
        reference = weakref.ref(y)
        z = y @ fixed * 3.0
        del y
        w = z / 2.0
        inner = weakref.ref(z)
        del z
    assert inner() is None  # only its dtype and shape are known to the tape
    assert reference() is not None  # the gradient of exp needs its result
    assert float(tape.gradient(w, x)[0, 0]) == pytest.approx(2.718281828 * 3)
