"""`intaglio.bisect` names the rewrite or the lowering that makes a result wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.ir.rewrite import Fuel, Meter, metered
from intaglio.native import pipeline as native_pipeline
from intaglio.native.lowering import registry
from intaglio.opdef import raw
from intaglio.optimize import pipeline
from tests.debugging.planted import SIGMOID_FOR_TANH, replacing

X = tf.constant(np.linspace(-2.0, 2.0, 35, dtype=np.float32).reshape(5, 7))


@tf.function
def layers(x: Any) -> Any:
    a = tf.exp(x * 0.1 * 1.0)
    b = tf.tanh(a) * 2.0
    return tf.reduce_sum(a + b) + tf.reduce_sum(tf.exp(x * 0.1 * 1.0))


def test_nothing_is_wrong() -> None:
    assert intaglio.bisect(layers, X) is None


def test_pass_of_the_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PASSES", [*pipeline.PASSES, ("planted", SIGMOID_FOR_TANH)])
    found = intaglio.bisect(layers, X)
    assert (found.stage, found.step, found.rewrite) == ("optimizer", "planted", 1)
    assert (found.before, found.after) == (["Tanh"], ["Sigmoid"])
    assert [f.source for f in found.lines] == ["b = tf.tanh(a) * 2.0"]
    assert found.total >= 1  # sharing the exponentials comes first
    assert "rewrite 1 of the pass 'planted' of the optimizer" in str(found)
    assert "Tanh became Sigmoid" in str(found)


def test_pass_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    step = native_pipeline.Step("planted", SIGMOID_FOR_TANH, native_pipeline.NATIVE)
    steps = [*native_pipeline.LOWERING_PASSES[:12], step, *native_pipeline.LOWERING_PASSES[12:]]
    monkeypatch.setattr(native_pipeline, "LOWERING_PASSES", steps)
    found = intaglio.bisect(layers, X)
    assert (found.stage, found.step) == ("compiler", "planted")
    assert [f.source for f in found.lines] == ["b = tf.tanh(a) * 2.0"]


def test_which_of_several_rewrites(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass is right about the first op that it changes, and wrong about the second."""

    @tf.function
    def f(x: Any) -> Any:
        a = tf.nn.relu(x * x)
        b = tf.nn.relu(x)
        return a, b

    planted = ("relu", replacing(raw.Relu, raw.Identity))
    monkeypatch.setattr(pipeline, "PASSES", [planted, *pipeline.PASSES])
    found = intaglio.bisect(f, X)
    assert (found.step, found.rewrite, found.total) == ("relu", 2, 1)
    assert [frame.source for frame in found.lines] == ["b = tf.nn.relu(x)"]


def test_in_the_body_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    @tf.function
    def f(x: Any) -> Any:
        i = tf.reduce_sum(tf.cast(x > 100.0, tf.int32))
        while i < 3:
            x = tf.tanh(x)
            i += 1
        return x

    monkeypatch.setattr(pipeline, "PASSES", [*pipeline.PASSES, ("planted", SIGMOID_FOR_TANH)])
    found = intaglio.bisect(f, X)
    assert (found.step, found.before) == ("planted", ["Tanh"])
    assert [frame.source for frame in found.lines] == ["x = tf.tanh(x)"]


def test_lowering(monkeypatch: pytest.MonkeyPatch) -> None:
    @tf.function
    def f(x: Any) -> Any:
        a = tf.exp(x * 0.1)
        b = tf.cumsum(a, 1)
        return b + a

    lowered = registry.LOWERINGS["Cumsum"]
    monkeypatch.setitem(registry.LOWERINGS, "Cumsum", _of_other_axis(lowered))
    found = intaglio.bisect(f, X)
    assert (found.stage, found.step) == ("lowering", "Cumsum")
    assert [frame.source for frame in found.lines] == ["b = tf.cumsum(a, 1)"]
    assert "the machine code of Cumsum is wrong without any rewrite" in str(found)


def _of_other_axis(lowered: Any) -> Any:
    """The lowering of a cumulated sum that leaves out each element's own."""

    def wrong(writer: Any, node: Any) -> Any:
        attrs = node.attrs
        node.attrs = {**attrs, "exclusive": True}
        try:
            return lowered(writer, node)
        finally:
            node.attrs = attrs

    return wrong


def test_variables_are_what_they_were() -> None:
    v = tf.Variable([1.0])

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return v * 1.0

    assert intaglio.bisect(step, tf.constant([1.0])) is None
    assert v.numpy().tolist() == [1.0]


def test_what_reaches_outside_is_refused() -> None:
    f = tf.function(lambda x: tf.numpy_function(lambda a: a, [x], tf.int32))
    with pytest.raises(ValueError, match=r"bisect runs .* several times"):
        intaglio.bisect(f, tf.constant(1))


def test_one_meter_for_all_fuel() -> None:
    meter = Meter(3)
    with metered(meter):
        assert [Fuel().burn(), Fuel().burn(), Fuel().burn(), Fuel().burn()] == [True] * 3 + [False]
    assert meter.spent == 3
    assert Fuel(1).burn()


@settings(max_examples=6)
@given(st.lists(st.sampled_from(["exp", "sin", "tanh", "square"]), min_size=2, max_size=6))
def test_the_line_is_found_in_any_chain(names: list[str]) -> None:
    """The pass is wrong about `tanh`: it is blamed if there is one, with one of its lines."""

    @tf.function
    def f(x: Any) -> Any:
        for name in names:
            x = getattr(tf, name)(x) * 0.5 if name != "tanh" else tf.tanh(x)
        return x

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "PASSES", [*pipeline.PASSES, ("planted", SIGMOID_FOR_TANH)])
        found = intaglio.bisect(f, X)
    if "tanh" in names:
        assert (found.step, found.before, found.rewrite) == ("planted", ["Tanh"], 1)
    else:
        assert found is None
