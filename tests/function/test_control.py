"""Stances, budgets of retraces, warming up."""

import logging
import os
import subprocess
import sys
import threading

import pytest

import intaglio
from intaglio import tf


def make():
    ran = []

    @tf.function
    def f(x):
        ran.append(1)
        return x + 1

    return f, ran


def ones(n):
    return tf.ones([n])


def test_eager_stance_runs_python():
    f, ran = make()
    f(ones(1))
    with intaglio.stance("eager"):
        for _ in range(3):
            f(ones(2))
    assert (len(ran), f.experimental_get_tracing_count()) == (4, 1)
    f(ones(1))
    assert len(ran) == 4


def test_no_new_traces():
    f, _ = make()
    for _ in range(5):
        f(ones(1))
    with intaglio.stance("no_new_traces"):
        assert f(ones(1)).numpy().tolist() == [2.0]
        with pytest.raises(intaglio.NewTraceError, match=r"x\.shape\[0\] was 1, now 2"):
            f(ones(2))
    assert f.experimental_get_tracing_count() == 1


def test_eager_on_miss():
    f, ran = make()
    f(ones(1))
    with intaglio.stance("eager_on_miss"):
        f(ones(1))
        assert f(ones(2)).numpy().tolist() == [2.0, 2.0]
    assert (len(ran), f.experimental_get_tracing_count()) == (2, 1)


def test_stance_of_one_function_and_innermost():
    f, ran = make()
    g, others = make()
    with intaglio.stance("eager", f):
        for _ in range(2):
            f(ones(1))
            g(ones(1))
        assert (len(ran), len(others)) == (2, 1)
        with intaglio.stance("default"):
            f(ones(1))
            f(ones(1))
        assert len(ran) == 3


def test_stance_of_a_method():
    class Model:
        def __init__(self):
            self.ran = 0

        @tf.function
        def f(self, x):
            self.ran += 1
            return x

    model = Model()
    with intaglio.stance("eager", model.f):
        model.f(ones(1))
        model.f(ones(1))
    assert model.ran == 2


def test_stance_is_the_threads_own():
    f, ran = make()
    with intaglio.stance("eager"):
        f(ones(1))
        thread = threading.Thread(target=lambda: [f(ones(1)) for _ in range(3)])
        thread.start()
        thread.join()
    assert len(ran) == 2


def test_unknown_choices():
    with pytest.raises(ValueError, match="stance takes 'default', 'eager'"):
        intaglio.stance("lazy")
    with pytest.raises(ValueError, match="on_exceed takes 'raise', 'warn', 'eager'"):
        intaglio.retrace_budget(1, "ignore")


def test_budget_raises_with_the_cause_of_each_trace():
    f, _ = make()
    with intaglio.retrace_budget(2):
        for n in range(3):
            f(ones(n))
        with pytest.raises(intaglio.RetraceBudgetError) as caught:
            f(ones(3))
    text = str(caught.value)
    assert "f was to be traced again 3 times, and the budget is 2" in text
    assert "x.shape[0] was 0, now 1" in text
    assert "x.shape[0] was 2, now 3" in text
    assert f.experimental_get_tracing_count() == 3
    f(ones(3))  # none outside


def test_budget_warns_once(caplog):
    f, _ = make()
    caplog.set_level(logging.WARNING)
    with intaglio.retrace_budget(1, "warn"):
        for n in range(4):
            f(ones(n))
    assert sum("the budget is 1" in r.getMessage() for r in caplog.records) == 1
    assert f.experimental_get_tracing_count() == 4


def test_budget_runs_eagerly():
    f, ran = make()
    with intaglio.retrace_budget(1, "eager"):
        for n in range(4):
            assert f(ones(n)).shape == [n]
    assert (len(ran), f.experimental_get_tracing_count()) == (4, 2)


def test_budget_of_recreated_functions():
    bias = tf.Variable(1.0)

    def run():
        @tf.function
        def f(x):
            return x + bias

        f(ones(1))

    run()
    with intaglio.retrace_budget(0):
        for _ in range(3):
            make()[0](ones(1))  # other values around it
    with intaglio.retrace_budget(2), pytest.raises(intaglio.RetraceBudgetError):
        for _ in range(4):
            run()


def test_budget_for_each_call_site():
    f, _ = make()
    f(ones(0))
    with intaglio.retrace_budget(1, per="call_site"):
        f(ones(1))
        f(ones(2))
        with pytest.raises(intaglio.RetraceBudgetError):
            for n in (3, 4):
                f(ones(n))


def test_environment(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from intaglio import tf\n"
        "f = tf.function(lambda x: x)\n"
        "for n in range(4):\n"
        "    f(tf.zeros([n]))\n"
        "print(f.experimental_get_tracing_count())\n"
    )

    def run(**variables):
        done = subprocess.run(
            [sys.executable, str(program)],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip() or done.stderr

    assert run(INTAGLIO_STANCE="eager") == "0"
    assert run(INTAGLIO_RETRACE_BUDGET="1:eager") == "2"
    assert "RetraceBudgetError" in run(INTAGLIO_RETRACE_BUDGET="1:raise")
    assert "stance takes" in run(INTAGLIO_STANCE="fast")


def test_warmup_traces_and_compiles():
    f, ran = make()
    traces = f.warmup([tf.TensorSpec([2]), (tf.TensorSpec([3]),)])
    assert [t.output_shapes for t in traces] == [[2], [3]]
    f(ones(2))
    f(ones(3))
    assert len(ran) == 2


def test_warmup_in_the_background_runs_calls_eagerly():
    started, go = threading.Event(), threading.Event()

    @tf.function
    def f(x):
        if not tf.executing_eagerly():
            started.set()
            go.wait(10)
        return x + 1

    future = f.warmup([tf.TensorSpec([2])], background=True)
    assert started.wait(10)
    assert f(ones(2)).numpy().tolist() == [2.0, 2.0]
    assert f.experimental_get_tracing_count() == 0
    go.set()
    assert len(future.result(10)) == 1
    f(ones(2))
    assert f.experimental_get_tracing_count() == 1


def test_warmup_in_the_background_gives_its_error():
    @tf.function
    def f(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        f.warmup([tf.TensorSpec([2])], background=True).result(10)
