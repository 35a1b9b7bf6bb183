"""`intaglio.check_nans` names the op and the line that first gave a NaN or an infinity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.debugging import nans
from intaglio.native import compilation


@intaglio.check_nans()
def found(call: Any) -> Any:
    try:
        call()
    except intaglio.NonFiniteError as e:
        return e
    return None


def test_eager_op() -> None:
    e = found(lambda: tf.math.log(tf.constant([1.0, -1.0])))
    assert (e.op, e.kind, e.where.function) == ("Log", "NaN", "<lambda>")
    assert e.inputs["x"].tolist() == [1.0, -1.0]
    assert "in 1 of 2 elements" in str(e)
    assert isinstance(e, FloatingPointError)


def test_infinities_may_be_allowed() -> None:
    def divide() -> Any:
        return tf.constant([1.0]) / tf.constant([0.0])

    assert found(divide).kind == "infinity"
    with intaglio.check_nans(infinities=False):
        divide()


def test_op_that_only_passes_a_nan_on_is_not_blamed() -> None:
    bad = tf.constant([np.nan])
    assert found(lambda: bad + 1.0) is None


@pytest.mark.parametrize("jit", [None, True])
def test_iteration_of_a_loop(jit: bool | None) -> None:
    @tf.function(jit_compile=jit)
    def f(x: Any) -> Any:
        for _ in tf.range(5):
            x = x - 1.0
            x = tf.sqrt(x)
        return x

    e = found(lambda: f(tf.constant([10.0, 300.0])))
    assert (e.op, e.where.source) == ("Sqrt", "x = tf.sqrt(x)")
    (step,) = e.path
    assert step.startswith("in iteration 3 of the loop")
    assert e.inputs["x"].shape == (2,)
    assert str(e).startswith("f: Sqrt at ")


@pytest.mark.parametrize("jit", [None, True])
def test_variable(jit: bool | None) -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=jit)
    def step(x: Any) -> Any:
        large = tf.exp(x)
        v.assign_add(large / large)
        return x

    e = found(lambda: step(tf.constant([10.0, 300.0])))
    assert (e.op, e.where.source) == ("RealDiv", "v.assign_add(large / large)")
    assert "Before that, Exp gave an infinity at test_nans.py" in str(e)
    assert found(lambda: step(tf.constant([10.0, 10.0]))) is not None  # v is NaN now
    assert "had a NaN before the call" in str(found(lambda: step(tf.constant([1.0, 1.0]))))


def test_gradient_of_a_function() -> None:
    v = tf.Variable([1.0, 0.0])

    @tf.function
    def f() -> Any:
        return tf.reduce_sum(tf.where(v > 0.0, tf.sqrt(tf.math.log(v)), 0.0))

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            loss = f()
        return tape.gradient(loss, v)

    e = found(gradient)
    assert (e.op, e.kind) == ("Mul", "NaN")
    assert "Before that, SqrtGrad gave an infinity" in str(e)


def test_nan_that_is_not_returned() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.where(x > 0.0, tf.math.log(x), 0.0)

    assert found(lambda: f(tf.constant([1.0, -1.0]))) is None


def test_argument() -> None:
    f = tf.function(lambda x: x + 1.0)
    assert "x had a NaN before the call" in str(found(lambda: f(tf.constant([np.nan]))))


def test_what_machine_code_alone_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    f = tf.function(lambda x: x * 2.0, jit_compile=True)
    compiled = compilation.compiled

    def wrong(graph: Any) -> Any:
        run = compiled(graph)
        return lambda *arrays: tuple([a * np.nan for a in run(*arrays)])

    monkeypatch.setattr("intaglio.function.pipeline.native.compiled", wrong)
    assert "intaglio.bisect(f, *args)" in str(found(lambda: f(tf.constant([1.0]))))


def test_random_numbers_are_those_of_the_call() -> None:
    @tf.function
    def f() -> Any:
        return tf.sqrt(tf.random.uniform([64], -0.1, 1.0))

    for _ in range(20):
        e = found(f)
        if e is not None:
            assert e.op == "Sqrt"
            return
    pytest.fail("1280 numbers and none is negative")


def test_only_in_the_block() -> None:
    f = tf.function(lambda x: tf.math.log(x))
    with intaglio.check_nans():
        pass
    assert np.isnan(f(tf.constant(-1.0)).numpy())
    assert np.isnan(tf.math.log(-1.0).numpy())


def test_inside_a_traced_function() -> None:
    @tf.function
    @intaglio.check_nans()
    def f(x: Any) -> Any:
        return x + 1

    with pytest.raises(RuntimeError, match="Put it around the call"):
        f(1)


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from([-2.0, 0.0, 3.0, np.inf, -np.inf, np.nan]), min_size=1), st.booleans()
)
def test_what_is_counted(values: list[float], half: bool) -> None:
    array = np.array(values, tf.bfloat16.as_numpy_dtype if half else np.float32)
    assert nans._counted("NaN", array) == sum(np.isnan(values))
    assert nans._counted("infinity", array) == sum(np.isinf(values))
