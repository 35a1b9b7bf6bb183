"""Functions called from many threads: one trace for each signature, others meanwhile."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from intaglio import tf
from intaglio.function import pipeline


def in_threads(jobs):
    """Runs the jobs at once; returns results, raises what one of them raised."""
    results: list = [None] * len(jobs)
    errors: list = []
    barrier = threading.Barrier(len(jobs))

    def work(i):
        try:
            barrier.wait()
            results[i] = jobs[i]()
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(jobs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
    assert not any(t.is_alive() for t in threads), "a thread hangs"
    if errors:
        raise errors[0]
    return results


def test_one_signature_is_traced_once():
    traces = []

    @tf.function
    def f(x):
        traces.append(threading.get_ident())
        time.sleep(0.05)
        return x + 1

    t = tf.constant(1)
    results = in_threads([lambda: int(f(t))] * 8)
    assert results == [2] * 8
    assert len(traces) == 1


def test_one_new_signature_is_traced_once_after_the_first_call():
    traces = []

    @tf.function
    def f(x):
        traces.append(x.shape.rank)
        time.sleep(0.03)
        return x + 1

    f(tf.constant(1))
    t = tf.constant([1, 2])
    in_threads([lambda: f(t)] * 6)
    assert traces == [0, 1]


def test_different_signatures_are_traced_at_the_same_time():
    meeting = threading.Barrier(2, timeout=10)

    @tf.function
    def f(x, wait):
        if wait:
            meeting.wait()
        return x + 1

    f(tf.constant(1), False)
    one, two = tf.constant([1]), tf.constant([1, 2])
    in_threads([lambda: f(one, True), lambda: f(two, True)])
    assert f.experimental_get_tracing_count() == 3


def test_calls_are_not_disturbed_by_traces_of_other_threads():
    stop = threading.Event()
    g = tf.function(lambda x: x * 3)
    t = tf.constant(7)
    g(t)

    def tracing():
        n = 0
        while not stop.is_set():
            n += 1
            tf.function(lambda x: x + n)(t)  # noqa: B023

    def calling():
        try:
            return {int(g(t)) for _ in range(300)}
        finally:
            stop.set()

    assert in_threads([tracing, calling])[1] == {21}


def test_a_failing_trace_lets_the_next_thread_try():
    attempts = []

    @tf.function
    def f(x):
        attempts.append(1)
        time.sleep(0.02)
        if len(attempts) == 1:
            raise ValueError("first")
        return x

    def attempt():
        try:
            return int(f(tf.constant(5)))
        except ValueError:
            return None

    results = in_threads([attempt] * 4)
    assert sorted(results, key=str) == [5, 5, 5, None]
    assert len(attempts) == 2


@pytest.fixture
def hurried():
    """Threads switch after every few bytecodes."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried")
def test_threads_that_ask_first_get_one_method():
    class Layer(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            traces.append(x)
            if self.v is None:
                self.v = tf.Variable(3.0)
            return x * self.v

    x = tf.constant(2.0)
    for _ in range(20):
        traces: list = []
        layer = Layer()
        assert in_threads([lambda: float(layer(x))] * 4) == [6.0] * 4  # noqa: B023
        assert len(traces) == 2  # the second without making variables


@pytest.mark.usefixtures("hurried")
def test_tapes_of_several_threads_watch_one_new_tensor():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    for _ in range(100):
        x = tf.constant([3.0])
        found = in_threads([lambda: gradient(x)] * 4)  # noqa: B023
        assert [g is not None and float(g[0]) for g in found] == [6.0] * 4


@pytest.mark.usefixtures("hurried")
def test_threads_that_draw_first_have_one_stream_of_random_numbers():
    for _ in range(20):
        f = tf.function(lambda: tf.random.uniform([]))
        f.get_concrete_function()
        drawn = in_threads([lambda: float(f())] * 4)  # noqa: B023
        assert len({*drawn}) == 4


def test_one_thread_compiles_while_others_run_what_there_is(monkeypatch):
    made = []
    tiered = pipeline.tiered

    def slow(*args, **kwargs):
        made.append(threading.get_ident())
        time.sleep(0.05)
        return tiered(*args, **kwargs)

    monkeypatch.setattr(pipeline, "tiered", slow)
    concrete = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1))
    concrete.prepare()
    runs = in_threads([concrete.prepare] * 4)
    assert len(made) == 1
    assert [int(run(np.int32(1))[0]) for run in runs] == [2] * 4


def test_a_function_that_calls_itself_on_python_numbers():
    @tf.function
    def f(n):
        return f(n - 1) + 1 if n > 0 else tf.constant(0)

    assert int(f(5)) == 5
    assert f.experimental_get_tracing_count() == 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_during_a_trace_does_not_wait_for_it():
    tracing, finish = threading.Event(), threading.Event()
    parent = os.getpid()

    @tf.function
    def f(x):
        if os.getpid() == parent:
            tracing.set()
            finish.wait(10)
        return x + 1

    thread = threading.Thread(target=lambda: f(tf.constant(1)))
    thread.start()
    tracing.wait(10)
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # ends the process if it waits for ever
        os._exit(0 if int(f(tf.constant(2))) == 3 else 1)
    finish.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
