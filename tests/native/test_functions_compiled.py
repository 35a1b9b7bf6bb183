"""`tf.function(jit_compile=True)`: the same results, from machine code where there is some."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import regions


def test_a_compiled_function_gives_what_the_eager_one_gives():
    def step(x, w):
        h = tf.nn.relu(tf.matmul(x, w) - 0.5)
        return tf.reduce_sum(tf.sigmoid(h) * h, axis=-1)

    compiled = tf.function(step, jit_compile=True)
    for rows in (1, 5, 32):
        x = tf.random.stateless_normal([rows, 16], [1, rows])
        w = tf.random.stateless_normal([16, 8], [2, 3])
        np.testing.assert_allclose(compiled(x, w), step(x, w), rtol=2e-6)


def test_the_first_call_is_compiled_already(monkeypatch):
    made = []
    whole = regions.Program
    monkeypatch.setattr(regions, "Program", lambda g: made.append(g) or whole(g))
    tf.function(lambda x: tf.exp(x) * 2.0, jit_compile=True)(tf.ones([3]))
    assert len(made) == 1


@pytest.mark.parametrize("outer_jit", [None, False])
def test_a_compiled_function_stays_so_where_an_interpreted_one_calls_it(monkeypatch, outer_jit):
    made = []
    whole = regions.Program
    monkeypatch.setattr(regions, "Program", lambda g: made.append(g) or whole(g))
    inner = tf.function(lambda x: tf.exp(x) * 2.0, jit_compile=True)
    outer = tf.function(lambda x: inner(x) + 1.0, jit_compile=outer_jit)
    x = tf.constant([0.5, 1.0])
    results = [outer(x).numpy() for _ in range(4)]  # as traced, then optimised
    assert {"Exp", "Mul"} < {n.op.name for n in made[0].nodes}
    assert len(made) == 1
    for result in results:
        np.testing.assert_allclose(result, np.exp(x.numpy()) * 2 + 1, rtol=1e-6)


def test_a_compiled_function_that_a_compiled_one_calls_is_part_of_it():
    inner = tf.function(lambda x: tf.exp(x) * 2.0, jit_compile=True)
    outer = tf.function(lambda x: inner(x) + 1.0, jit_compile=True)
    outer(tf.ones([3]))
    assert "3 of 3 steps" in outer.compile_report()


def test_a_training_step_with_its_gradients_and_variables():
    def trained(jit):
        w = tf.Variable(tf.ones([4]))

        @tf.function(jit_compile=jit)
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.tanh(w * x) - y))
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        x = tf.constant([0.5, -1.0, 2.0, 0.25])
        losses = [step(x, tf.sin(x)).numpy() for _ in range(20)]
        return losses, w.numpy()

    for got, wanted in zip(trained(True), trained(None), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_the_report_names_every_step():
    @tf.function(jit_compile=True)
    def f(x, w):
        h = tf.tanh(tf.matmul(x, w) * 2.0 + 1.0)
        return tf.linalg.svd(h, compute_uv=False), tf.raw_ops.IgammaGradA(a=h, x=h)

    assert f.compile_report() == ""
    f(tf.ones([20, 30]), tf.ones([30, 20]))
    first, *steps = f.compile_report().splitlines()
    assert first.endswith("machine code")
    text = "\n".join(steps)
    assert "one loop: Mul, AddV2, Tanh" in text
    assert "MatMul: kernel" in text
    assert "NumPy: Svd" in text
    assert "NumPy: IgammaGradA" in text
    assert __file__ in text
    g = tf.function(lambda x: x + 1)
    g(1.0)
    assert "interpreted; jit_compile=True compiles it at once" in g.compile_report()


def test_conditions_and_loops_stay_as_they_are():
    @tf.function(jit_compile=True)
    def collatz(n):
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    assert collatz(tf.constant(27)).numpy() == 111


def test_without_llvmlite_functions_are_interpreted_which_is_logged_once():
    program = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "from intaglio import tf\n"
        "for _ in range(2):\n"
        "    f = tf.function(lambda x: tf.exp(x) * 2.0, jit_compile=True)\n"
        "    print(f(tf.zeros([2])).numpy())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[2. 2.]\n[2. 2.]\n"
    assert run.stderr.count("pip install 'intaglio[jit]'") == 1


def test_tapes_around_compiled_functions_run_native_code_too(monkeypatch):
    made = []
    whole = regions.Program
    monkeypatch.setattr(regions, "Program", lambda g: made.append(g) or whole(g))
    w = tf.Variable(tf.reshape(tf.range(64.0) * 0.01, [8, 8]))

    def model(x):
        for _ in range(3):
            x = tf.tanh(tf.matmul(x, w))
        return tf.reduce_sum(x * x)

    gradients = []
    for function in (model, tf.function(model, jit_compile=True)):
        with tf.GradientTape() as tape:
            y = function(tf.ones([4, 8]))
        gradients.append(tape.gradient(y, w).numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-5)
    assert len(made) == 2  # forward and backward
