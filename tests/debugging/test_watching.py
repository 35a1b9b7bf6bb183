"""`intaglio.watch` shows the tensors that a traced function binds to names."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import intaglio
from intaglio import tf


def seen(call: Any, *patterns: str) -> list[tuple[int, str, Any]]:
    found: list[tuple[int, str, Any]] = []
    with intaglio.watch(
        *patterns, to=lambda w: found.append((w.call, w.name, w.value.tolist()))
    ) as block:
        call()
    assert sum(map(len, block.values.values())) == len(found)
    return found


@pytest.mark.parametrize("jit", [None, True])
def test_names_of_a_training_step(jit: bool | None) -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=jit)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss, _other = tf.reduce_sum(x * v), tf.reduce_mean(x)
        grads = tape.gradient(loss, [v])
        v.assign_sub(grads[0])
        return loss

    def calls() -> None:
        for _ in range(2):
            step(tf.constant([1.0, 1.0]))

    assert seen(calls, "loss", "grad*") == [
        (1, "loss", 3.0),
        (1, "grads[0]", [1.0, 1.0]),
        (2, "loss", 1.0),
        (2, "grads[0]", [1.0, 1.0]),
    ]
    assert v.numpy().tolist() == [-1.0, 0.0]


def test_iterations_and_branches() -> None:
    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(3):
            inner = x * 2
            x = inner
        if x > 100:
            rare = x + 1
        else:
            rare = x - 1
        return rare

    found = seen(lambda: f(tf.constant(1)), "inner")
    assert [value for _, _, value in found[:3]] == [2, 4, 8]
    assert (1, "rare", 7) in seen(lambda: f(tf.constant(1)), "rare")


def test_attributes_and_values_that_nothing_needs() -> None:
    class Model:
        @tf.function
        def call(self, x: Any) -> Any:
            self.double = x * 2
            return x

    model = Model()
    assert seen(lambda: model.call(tf.constant(2)), "self.doub*") == [(1, "self.double", 4)]


def test_arguments_functions_called_and_structures() -> None:
    def inner(batch: Any) -> Any:
        parts = {"a": batch + 1, "b": [batch + 2]}
        return parts["a"] + parts["b"][0]

    f = tf.function(lambda x: inner(x))
    found = seen(lambda: f(tf.constant(1)), "batch", "parts")
    assert sorted(found) == [(1, "batch", 1), (1, "parts['a']", 2), (1, "parts['b'][0]", 3)]


def test_the_function_keeps_its_traces() -> None:
    ran: list[int] = []

    @tf.function
    def f(x: Any) -> Any:
        ran.append(1)
        y = x + 1
        return y * 2

    f(tf.constant(1))
    seen(lambda: f(tf.constant(1)), "y")
    f(tf.constant(1))
    assert f.experimental_get_tracing_count() == 1
    assert len(ran) == 2


def test_printed(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        loss = tf.reduce_sum(x)
        wide = x * 2
        return loss + tf.reduce_sum(wide)

    with intaglio.watch("loss", "wide"):
        f(tf.range(10.0))
    text = capsys.readouterr().err
    assert "f call 1, test_watching.py:" in text
    assert ": loss = 45.0\n" in text
    assert ": wide = float32[10] from 0 to 18, mean 9\n" in text


def test_errors_are_reported_as_usual() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = tf.gather([1, 2], x)
        return y * 2

    with intaglio.watch("y"), pytest.raises(tf.errors.InvalidArgumentError, match=r"line|indices"):
        f(tf.constant(7))


def test_a_debugger_goes_on_afterwards() -> None:
    def follow(*args: Any) -> Any:
        return None

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        seen(lambda: tf.function(lambda x: x + 1)(tf.constant(1)), "x")
        assert sys.gettrace() is follow
    finally:
        sys.settrace(before)


def test_without_names() -> None:
    with pytest.raises(ValueError, match='watch\\("loss", "grad\\*"\\)'):
        intaglio.watch()


def test_a_name_that_no_tensor_has_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    @tf.function
    def f(x):
        loss = tf.reduce_sum(x)
        return loss + 1.0

    with intaglio.watch("los", "l*", to=lambda w: None):
        f(tf.ones([2]))
        f(tf.ones([2]))
    (record,) = caplog.records
    assert record.getMessage() == "watch: no tensor of f has the name 'los'; it has loss, x"
