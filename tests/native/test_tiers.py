"""Plain functions become native code once they are hot, at a call that the graph alone decides."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.options import OPTIONS
from intaglio.native import tiers
from intaglio.native.tiers import Counted, Shapes, Timed

from . import background


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def compiled(run):
    """Waits for the code. True if there is some."""
    before = run.run
    run.compile()
    run.compiling.join()
    return run.run is not before


def test_a_loop_that_takes_long_is_compiled_in_the_background(monkeypatch):
    monkeypatch.setattr(tiers, "HOT_SHARE", 0.0)
    f = tf.function(collatz)
    concrete = f.get_concrete_function(tf.constant(27))
    run = concrete.optimized_run()
    assert isinstance(run, Timed)
    interpreted = run.run
    assert f(tf.constant(27)).numpy() == 111
    assert run.compiling is not None
    run.compiling.join()
    assert run.run is not interpreted
    for n in (1, 6, 27, 97):
        assert f(tf.constant(n)).numpy() == interpreted(np.asarray(n, np.int32))[0]


def test_graphs_without_loops_are_compiled_too_if_all_ops_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(tiers, "HOT_SHARE", 0.0)

    @tf.function
    def step(road):
        car = road >= 0
        free = ~tf.roll(car, -1, 1)
        v = tf.where(car & free, tf.minimum(road + 1, 5), -1)
        return tf.maximum(v, tf.roll(road, 1, 1)) // 2

    road = tf.constant(np.random.default_rng(0).integers(-1, 5, (4, 30)).astype(np.int32))
    run = run_of(step, road)
    assert isinstance(run, Timed)
    expected = run.run(road.numpy())[0]
    for _ in range(3):
        np.testing.assert_array_equal(step(road), expected)
        if run.compiling is not None:
            run.compiling.join()
    assert run.native and "compiled, for it took long" in step.compile_report()


def test_functions_that_forbid_it_and_ops_that_round_otherwise_stay_interpreted():
    plain = tf.function(collatz, jit_compile=False)
    assert not isinstance(plain.get_concrete_function(tf.constant(1)).optimized_run(), Timed)

    @tf.function
    def growing(x):
        while tf.reduce_all(x < 100.0):
            x = tf.exp(x)
        return x

    run = growing.get_concrete_function(tf.ones([2])).optimized_run()
    assert not isinstance(run, Timed)


def test_variables_and_what_fails_are_as_before():
    v = tf.Variable([1, 2, 3])

    @tf.function
    def step(x, at):
        for i in tf.range(3):
            v.assign_add(x * i)
        return v[at] // x[0]

    x = tf.constant([2, 3, 4])
    run = step.get_concrete_function(x, tf.constant(0)).optimized_run()
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


# -- graphs whose last bits may change with it -----------------------------------------------


@pytest.fixture
def soon(monkeypatch):
    """Every graph is compiled after two calls, and changes over after three more: nothing runs in the background."""
    background.at_once(monkeypatch)
    monkeypatch.setattr(tiers, "MIN_CALLS", 2)
    monkeypatch.setattr(tiers, "MAX_CALLS", 2)
    monkeypatch.setattr(tiers, "MIN_INTERPRETED_SECONDS", 0.0)


def smooth(x):
    return tf.reduce_sum(tf.tanh(x) * tf.exp(-x), 1)


def training():
    """A step that changes a variable, but for this gives `smooth`."""
    v = tf.Variable(0.0)

    def step(x):
        v.assign_add(1.0)
        return smooth(x) + 0.0 * v

    step.variable = v
    return step


def run_of(function, *arguments):
    return function.get_concrete_function(*arguments).optimized_run()


@pytest.mark.usefixtures("soon")
def test_a_hot_graph_changes_over_at_the_same_call_every_time():
    x = tf.constant(np.linspace(-3, 3, 600, dtype=np.float32).reshape(20, 30))
    seen = []
    for _ in range(2):
        f = tf.function(training())
        run = run_of(f, x)
        assert isinstance(run, Counted)
        interpreted = run.run
        changed, results = [], []
        assert "compiled from call 6 on" in f.compile_report()
        for _ in range(8):
            results.append(f(x).numpy())
            changed.append(run.run is not interpreted)
        assert changed == [False] * 5 + [True] * 3
        np.testing.assert_allclose(results[-1], results[0], rtol=1e-6)
        for interpreted_result in results[:5]:
            np.testing.assert_array_equal(interpreted_result, results[0])
        for compiled_result in results[5:]:
            np.testing.assert_array_equal(compiled_result, results[5])
        seen.append(results)
        assert "compiled, after 5 calls" in f.compile_report()
    np.testing.assert_array_equal(*seen)


@pytest.mark.usefixtures("soon")
def test_calls_are_interpreted_for_as_long_as_the_background_takes(monkeypatch):
    """TensorFlow compiles before a call, or not at all: this is our own."""
    waiting = background.later(monkeypatch)
    x = tf.constant(np.linspace(-3, 3, 600, dtype=np.float32).reshape(20, 30))
    f = tf.function(training())
    run = run_of(f, x)
    expected = f(x).numpy()

    def calls(count):
        for _ in range(count):
            np.testing.assert_array_equal(f(x), expected)

    calls(20)
    (compilation,) = waiting
    compilation()
    calls(20)
    (_, check) = waiting
    assert not run.native and "interpreted" in f.compile_report()
    number = run.change
    check()
    for _ in range(3):
        np.testing.assert_allclose(f(x), expected, rtol=1e-6)
    assert run.native and run.change - number <= 2
    assert len(waiting) == 2 and f"after {run.change} calls" in f.compile_report()


@pytest.mark.usefixtures("soon")
def test_the_check_sees_the_variables_and_streams_of_its_call(monkeypatch):
    """What the program has done since then, also with seeds, is not seen; and the program's streams go on."""
    waiting = background.later(monkeypatch)

    def train(seed, checked):
        tf.random.set_seed(seed)
        v, w = tf.Variable(tf.zeros([4, 5])), tf.Variable(tf.ones([5]))

        @tf.function
        def step(x):
            noise = tf.random.normal([4, 5], seed=3)
            v.assign_add(tf.tanh(x) * w + noise)
            w.assign(tf.reduce_mean(tf.exp(-v * v), 0))
            return tf.reduce_sum(v)

        x = tf.constant(np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5))
        results = []
        for _ in range(12):
            results.append(step(x).numpy())
            if checked and len(waiting) == 1 and len(results) == 3:
                waiting[0]()
        if checked:
            tf.random.set_seed(seed + 1)
            waiting[1]()
            assert run_of(step, x)._agreed_run is not None
            tf.random.set_seed(seed)
        return results, v.numpy()

    interpreted, checked = train(5, False), (waiting.clear(), train(5, True))[1]
    np.testing.assert_array_equal(interpreted[0], checked[0])
    np.testing.assert_array_equal(interpreted[1], checked[1])


@pytest.mark.usefixtures("soon")
def test_open_shapes_are_counted_one_by_one(monkeypatch):
    monkeypatch.setattr(tiers, "MAX_COUNTED_SHAPES", 2)
    f = tf.function(training(), input_signature=[tf.TensorSpec([None, 3])])
    run = run_of(f)
    assert isinstance(run, Shapes)
    expected = {}
    for _ in range(6):
        for rows in (1, 4, 7):
            got = f(tf.ones([rows, 3])).numpy()
            np.testing.assert_allclose(got, expected.setdefault(rows, got), rtol=1e-6)
    assert "compiled for 2 of 2 shapes, each after 5 calls" in f.compile_report()
    changed = {k[0]: c.run is not run.run for k, c in run._found.items()}
    assert changed == {(1, 3): True, (4, 3): True}


@pytest.mark.usefixtures("soon")
def test_what_stays_interpreted(monkeypatch):
    x = tf.ones([2, 3])

    step, total = training(), tf.Variable(0.0, trainable=False)

    @tf.function
    def named(x):
        return tf.strings.as_string(step(x))

    @tf.function
    def measured(x):
        total.assign_add(step.variable)
        return smooth(x)

    for f in (named, measured, tf.function(smooth), tf.function(step, jit_compile=False)):
        assert not isinstance(run_of(f, x), (Counted, Shapes))
    assert isinstance(run_of(tf.function(step), x), Counted)
    monkeypatch.setattr(OPTIONS, "deterministic", True)
    assert not isinstance(run_of(tf.function(step), x), Counted)


@pytest.mark.usefixtures("soon")
def test_errors_assertions_and_variables_are_as_before():
    total = tf.Variable(0.0)

    @tf.function
    def step(x, at):
        tf.debugging.assert_less(x, 10.0, message="too large")
        total.assign(total + tf.reduce_sum(tf.exp(x)))
        return tf.gather(x, at)

    x, large = tf.constant([1.0, 2.0]), tf.constant([1.0, 20.0])
    at, beyond = tf.constant(1), tf.constant(2)
    messages = []
    for _ in range(9):
        assert step(x, at).numpy() == 2.0
        before = total.numpy()
        for arguments in ((large, at), (x, beyond)):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                step(*arguments)
            messages.append(str(caught.value))
        total.assign(before)
    assert run_of(step, x, at).native
    assert len(set(messages)) == 2
    np.testing.assert_allclose(before, 9 * np.exp([1.0, 2.0]).sum(), rtol=1e-5)


@pytest.mark.usefixtures("soon")
def test_threads_may_call_while_it_changes_over():
    x = tf.random.stateless_uniform([50, 50], [1, 2])
    expected = smooth(x).numpy()
    f = tf.function(training())
    wrong = []

    def calls():
        for _ in range(20):
            if not np.allclose(f(x).numpy(), expected, rtol=1e-5):
                wrong.append(1)

    threads = [threading.Thread(target=calls) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
