"""Rules that take all attributes that they do not name."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


@pytest.fixture
def scaled():
    class RulesProbe(Op):
        signature = (
            "x: float32; scale: float = 2.0, shift: float = 0.0, note: str = '' -> y: float32"
        )

        def infer(self, x: Spec) -> Spec:
            return x

        def kernel(self, x, scale, **attrs):
            assert set(attrs) == {"shift", "note"}
            return x * scale + attrs["shift"]

        def gradient(self, dy, scale, **attrs):
            rest: Any = {**attrs, "shift": 0.0}
            return raw.RulesProbe(dy, scale=scale, **rest)

    yield op(RulesProbe)
    raw.withdraw("RulesProbe")


@pytest.mark.parametrize("run", [lambda f: f, tf.function, tf.function(jit_compile=True)])
def test_kernels_and_gradients_get_the_other_attributes(scaled, run):
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = raw.RulesProbe(x, scale=3.0, shift=1.0, note="n")
        return y, tape.gradient(y, x)

    y, d = run(both)(tf.constant(2.0))
    assert (y.numpy(), d.numpy()) == (7.0, 3.0)


def test_defaults_are_among_them(scaled):
    assert raw.RulesProbe(tf.constant(2.0)).numpy() == 4.0


@pytest.mark.parametrize("run", [lambda f: f, tf.function, tf.function(jit_compile=True)])
def test_an_input_whose_spec_is_returned_is_not_the_result(scaled, run):
    # A constant's Spec holds its value: the rule above means the dtype and shape.
    result = run(lambda: raw.RulesProbe(tf.ones([2]), scale=3.0))()
    assert result.numpy().tolist() == [3.0, 3.0]
