"""Plain functions whose compilation pays at once are machine code from their first call on."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.function import pipeline, versions
from intaglio.native import fallback, tiers
from intaglio.native.tiers import AheadOfTime


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    """Every compilation pays."""
    monkeypatch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", float("inf"))
    monkeypatch.setattr(versions, "MIN_ELEMENTS", 4)


def smooth(x):
    return tf.reduce_sum(tf.tanh(x) * tf.exp(-x), 1) / tf.norm(x)


X = np.linspace(-3, 3, 600, dtype=np.float32).reshape(20, 30)


def test_all_calls_give_the_bits_of_the_code():
    f, jit = tf.function(smooth), tf.function(smooth, jit_compile=True)
    expected = jit(X).numpy()
    assert (expected != smooth(tf.constant(X)).numpy()).any()  # or the test shows nothing
    for _ in range(4):
        np.testing.assert_array_equal(f(X).numpy(), expected)
    assert "compiled, before its first call" in f.compile_report()


def test_a_trace_without_inputs_and_functions_that_forbid_it():
    assert tf.function(lambda: smooth(tf.constant(X)))().numpy().shape == (20,)
    f = tf.function(smooth, jit_compile=False)
    np.testing.assert_array_equal(f(X).numpy(), smooth(tf.constant(X)).numpy())
    concrete = f.get_concrete_function(tf.constant(X))
    assert not isinstance(concrete.prepare(), AheadOfTime)


def test_what_reaches_outside_is_interpreted_beside_the_code(capfd):
    @tf.function
    def f(x):
        tf.print("here")
        return smooth(x)

    first = f(X).numpy()
    np.testing.assert_allclose(first, smooth(tf.constant(X)).numpy(), rtol=1e-5)
    for _ in range(3):
        np.testing.assert_array_equal(f(X), first)
    (core,) = f.get_concrete_function(tf.constant(X)).optimized_run().cores
    assert isinstance(core, AheadOfTime) and core.native
    assert capfd.readouterr().err.count("here") == 4


@pytest.mark.parametrize("persistent", [False, True])
def test_forward_and_backward_graphs_of_a_tape(persistent):
    weights = tf.Variable(np.ones((30, 5), np.float32))

    def loss(x):
        return tf.reduce_sum(tf.tanh(x @ weights) ** 2)

    def gradients(function):
        with tf.GradientTape(persistent=persistent) as tape:
            x = tf.constant(X)
            tape.watch(x)
            value = function(x)
        sources = [weights, x]
        return [value, *tape.gradient(value, sources)]

    plain, jit = tf.function(loss), tf.function(loss, jit_compile=True)
    expected = [v.numpy() for v in gradients(jit)]
    for _ in range(3):
        for found, wanted in zip(gradients(plain), expected, strict=True):
            np.testing.assert_array_equal(found.numpy(), wanted)


def test_open_dimensions_are_compiled_for_the_shapes_of_calls(monkeypatch):
    monkeypatch.setattr(versions, "MAX_SHAPES", 2)
    f = tf.function(smooth, input_signature=[tf.TensorSpec([None, None])])
    jit = tf.function(smooth, jit_compile=True)
    for _ in range(2):
        for rows in (20, 7):
            np.testing.assert_array_equal(f(X[:rows]).numpy(), jit(X[:rows]).numpy())
        # One shape more than are compiled.
        np.testing.assert_array_equal(f(X[:3]).numpy(), smooth(tf.constant(X[:3])).numpy())
    assert "compiled for 2 shapes" in f.compile_report()


def test_variables_that_are_not_trained_change_once_a_call():
    calls = tf.Variable(0, trainable=False)
    mean = tf.Variable(np.zeros(20, np.float32), trainable=False)

    @tf.function
    def f(x):
        calls.assign_add(1)
        mean.assign(0.5 * mean + 0.5 * smooth(x))
        return mean + 1.0

    expected = np.zeros(20, np.float32)
    for n in range(1, 4):
        result = f(X).numpy()
        expected = 0.5 * expected + 0.5 * smooth(tf.constant(X)).numpy()
        np.testing.assert_allclose(mean.numpy(), expected, rtol=1e-6)
        np.testing.assert_array_equal(result, mean.numpy() + 1)
        assert calls.numpy() == n


def test_random_numbers_go_on_as_they_do_eagerly():
    @tf.function
    def draw():
        return tf.random.uniform([4]), tf.random.uniform([4])

    def numbers(options):
        tf.random.set_seed(5)
        function = tf.function(draw.python_function, **options)
        return np.array([function() for _ in range(3)])

    plain = numbers({})
    np.testing.assert_array_equal(plain, numbers({"jit_compile": False}))
    assert len(np.unique(plain)) == plain.size


def test_errors_of_the_program_are_raised_and_change_nothing():
    v = tf.Variable([1.0, 2.0], trainable=False)

    @tf.function
    def f(x, i):
        tf.debugging.assert_greater(x, 0.0)
        v.assign_add(x)
        return tf.gather(v, i)

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant([-1.0, 1.0]), tf.constant(0))
    np.testing.assert_array_equal(v.numpy(), [1, 2])
    assert f(tf.constant([1.0, 1.0]), tf.constant(1)).numpy() == 3


def test_code_that_computes_something_else_is_not_called(monkeypatch, caplog):
    real = pipeline.native.compiled

    def wrong(graph):
        run = real(graph)
        return lambda *arrays: tuple([r + 1 for r in run(*arrays)])

    monkeypatch.setattr(fallback, "VERIFY", False)
    monkeypatch.setattr("intaglio.function.pipeline.native.compiled", wrong)
    f = tf.function(smooth)
    for _ in range(3):
        np.testing.assert_allclose(f(X).numpy(), smooth(tf.constant(X)).numpy(), rtol=1e-6)
    assert "is interpreted, for the native compiler failed" in caplog.text
    assert "could not be compiled" in f.compile_report()


def test_threads_that_call_it_first_at_once_get_the_same():
    f = tf.function(smooth)
    results, start = [], threading.Barrier(4)

    def call():
        start.wait()
        results.append(f(X).numpy())

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("written", [False, True])
def test_the_check_loses_no_assignment_of_another_thread(monkeypatch, written):
    """Another thread assigns while the first call is checked: its value stays, unless the call itself assigns."""
    v = tf.Variable(np.zeros(20, np.float32), trainable=False)
    real, checks = pipeline.native.compiled, []

    def disturbed(graph):
        run = real(graph)

        def call(*arrays):
            if not checks:
                checks.append(1)
                other = threading.Thread(target=v.assign, args=[np.full(20, 7, np.float32)])
                other.start()
                other.join()
            return run(*arrays)

        return call

    monkeypatch.setattr("intaglio.function.pipeline.native.compiled", disturbed)

    @tf.function
    def f(x, write):
        if write:
            v.assign_add(smooth(x) * 0.0 + 1.0)
        return smooth(x)

    f(X, tf.constant(written))
    assert checks
    np.testing.assert_array_equal(v.numpy(), np.full(20, 8 if written else 7))


def test_it_pays_by_the_graph_alone(monkeypatch):
    monkeypatch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", 50)

    @tf.function
    def f(x):
        for _ in tf.range(20):
            x = tf.exp(-x * x)
        return x

    large, small = tf.zeros([300, 100]), tf.zeros([3])
    assert isinstance(f.get_concrete_function(large).prepare(), AheadOfTime)
    assert not isinstance(f.get_concrete_function(small).prepare(), AheadOfTime)
