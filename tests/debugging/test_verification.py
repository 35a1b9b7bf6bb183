"""`intaglio.verify` compares the ways to run a call, and names the first op that differs."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.debugging.verification import NotRepeatableError
from intaglio.native import pipeline as native_pipeline
from intaglio.optimize import pipeline
from tests.debugging.planted import SIGMOID_FOR_TANH

MODES = ["eager", "graph", "optimized graph", "machine code"]


def line(function: Any, text: str) -> int:
    """The number of the line of a function that has a text."""
    lines, first = inspect.getsourcelines(function.python_function)
    return first + next(i for i, source in enumerate(lines) if text in source)


@tf.function
def layers(x: Any) -> Any:
    a = tf.exp(x * 0.1)
    b = tf.tanh(a) * 2.0
    return tf.reduce_sum(a + b), b


X = tf.constant(np.linspace(-2.0, 2.0, 35, dtype=np.float32).reshape(5, 7))


def test_modes_agree() -> None:
    found = intaglio.verify(layers, X)
    assert found
    assert found.modes == MODES
    assert not found.left_out
    assert str(found) == "layers: eager, graph, optimized graph and machine code agree"
    np.testing.assert_allclose(found.result[1], 2 * np.tanh(np.exp(X.numpy() * 0.1)), rtol=1e-5)


def test_a_plain_function_is_traced() -> None:
    assert intaglio.verify(lambda x: x + 1, tf.constant(1))


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a function, got int"):
        intaglio.verify(3)


def test_wrong_pass_of_the_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [*pipeline.PASSES[:4], ("planted", SIGMOID_FOR_TANH), *pipeline.PASSES[4:]]
    monkeypatch.setattr(pipeline, "PASSES", steps)
    (difference,) = intaglio.verify(layers, X).differences
    assert difference.mode == "optimized graph"
    assert difference.op == "Tanh"
    assert difference.where.lineno == line(layers, "tf.tanh")
    np.testing.assert_allclose(difference.expected, np.tanh(np.exp(X.numpy() * 0.1)), rtol=1e-5)
    assert "b = tf.tanh(a) * 2.0" in str(difference)


def test_wrong_pass_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    step = native_pipeline.Step("planted", SIGMOID_FOR_TANH, native_pipeline.NATIVE)
    steps = [*native_pipeline.LOWERING_PASSES[:12], step, *native_pipeline.LOWERING_PASSES[12:]]
    monkeypatch.setattr(native_pipeline, "LOWERING_PASSES", steps)
    checked = intaglio.verify(layers)
    with pytest.raises(intaglio.VerificationError, match="machine code: Tanh at File") as raised:
        checked(X)
    (difference,) = raised.value.verification.differences
    assert difference.where.lineno == line(layers, "tf.tanh")


def test_a_value_that_has_changed_since_the_trace() -> None:
    class Model:
        k = 1.0

        @tf.function
        def scaled(self, x: Any) -> Any:
            for _ in tf.range(3):
                x = x * 2.0
                x = x + self.k
            return x

    model = Model()
    assert intaglio.verify(model.scaled, X)
    model.k = 2.0
    with intaglio.captures("freeze"):
        (difference,) = intaglio.verify(model.scaled, X).differences
    assert (difference.mode, difference.reference) == ("graph", "eager")
    assert difference.where.source == "x = x + self.k"


def test_variables_have_the_effect_of_one_call() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return v * 2.0

    result = intaglio.verify(step)(tf.constant([1.0, 1.0]))
    assert result.numpy().tolist() == [4.0, 6.0]
    assert v.numpy().tolist() == [2.0, 3.0]


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    v = tf.Variable([1.0, 2.0], name="weights")

    @tf.function
    def step(x: Any) -> Any:
        v.assign(tf.tanh(x))

    steps = [*pipeline.PASSES, ("planted", SIGMOID_FOR_TANH)]
    monkeypatch.setattr(pipeline, "PASSES", steps)
    (difference,) = intaglio.verify(step, tf.constant([1.0, 1.0])).differences
    assert difference.op == "Tanh"
    assert difference.what == "variable 'weights'"


def test_random_ops_get_the_numbers_that_were_drawn_eagerly() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x * tf.random.normal([2]) + tf.random.uniform([2])

    assert intaglio.verify(f, tf.constant([1.0, 2.0]))


def test_errors_are_compared() -> None:
    @tf.function
    def f(x: Any, i: Any) -> Any:
        return tf.gather(x, i)

    with pytest.raises(tf.errors.InvalidArgumentError):
        intaglio.verify(f)(tf.constant([1, 2]), tf.constant(5))


def test_what_prints_prints_once_more_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        tf.print("x:", x)
        return x + 1

    assert intaglio.verify(f, tf.constant(1))
    assert "x: 1" in capsys.readouterr().err


def test_what_reaches_outside_is_refused() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.numpy_function(lambda a: a, [x], tf.int32)

    with pytest.raises(NotRepeatableError, match=r"PyFunc at test_verification.py:.* calls Python"):
        intaglio.verify(f, tf.constant(1))
    with intaglio.stance("verify"):
        assert int(f(tf.constant(1))) == 1


def test_without_machine_code() -> None:
    f = tf.function(lambda x: x + 1, jit_compile=False)
    found = intaglio.verify(f, tf.constant(1))
    assert found.modes == MODES[:3]
    assert found.left_out == {"machine code": "jit_compile=False forbids it"}


def test_stance(monkeypatch: pytest.MonkeyPatch) -> None:
    with intaglio.stance("verify"):
        assert layers(X)[1].shape == [5, 7]
    monkeypatch.setattr(pipeline, "PASSES", [*pipeline.PASSES, ("planted", SIGMOID_FOR_TANH)])
    with intaglio.stance("verify"), pytest.raises(intaglio.VerificationError):
        layers(X)


def test_training_step_under_a_tape() -> None:
    v = tf.Variable([[0.5, -1.0], [2.0, 0.1]])

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.softmax(x @ v) ** 2)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    checked = intaglio.verify(step)
    losses = [float(checked(tf.constant([[1.0, 2.0]]))) for _ in range(4)]
    assert losses == sorted(losses, reverse=True)


UNARY = [tf.exp, tf.tanh, tf.sqrt, tf.nn.relu, tf.square, tf.sin]
STEPS = st.lists(st.sampled_from(range(len(UNARY))), min_size=1, max_size=4)


@settings(max_examples=12)
@given(STEPS, st.sampled_from([np.float32, np.float64, np.float16]), st.integers(0, 2))
def test_any_chain_agrees(steps: list[int], dtype: Any, loops: int) -> None:
    def f(x: Any) -> Any:
        for _ in tf.range(loops):
            x = x * tf.cast(0.5, x.dtype)
        for i in steps:
            x = tf.nn.l2_normalize(UNARY[i](tf.abs(x)), 0)
        return tf.reduce_sum(x, 0), x

    data = np.random.default_rng(0).standard_normal((4, 6)).astype(dtype)
    assert intaglio.verify(f, tf.constant(data))
