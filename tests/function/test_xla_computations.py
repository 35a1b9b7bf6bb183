"""`tf.xla.experimental`. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

ONE = tf.ones(1)
compiled = tf.xla.experimental.compile


@pytest.mark.parametrize(
    ("computation", "results"),
    [
        (lambda: ONE, [[1.0]]),
        (lambda: 3, [3]),
        (lambda: (ONE, 2.0), [[1.0], 2.0]),
        (lambda: {"a": ONE}, {"a": [1.0]}),
        (lambda: [[ONE]], [[[1.0]]]),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_results(computation: Callable[[], Any], results: Any, traced: bool) -> None:
    def run() -> Any:
        return compiled(computation)

    found = tf.function(run)() if traced else run()
    values = tf.nest.map_structure(lambda t: t.numpy().tolist(), found)
    assert values == results


def test_inputs() -> None:
    (added,) = compiled(lambda a, b: a + b, [1.0, tf.ones(2)])
    assert added.numpy().tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="inputs must be a list"):
        compiled(lambda a: a, tf.ones(2))
    with pytest.raises(ValueError, match="None values not supported"):
        compiled(lambda: (ONE, None))


def test_variables_change_and_gradients_pass() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            (y,) = compiled(lambda t: t * t * v, [x])
        compiled(lambda: v.assign_add(1.0))
        return tape.gradient(y, [v])

    assert step(tf.constant(3.0))[0].numpy() == 9.0 and v.numpy() == 3.0


def test_the_scope_is_one_of_graphs() -> None:
    def inside(x: Any) -> Any:
        with tf.xla.experimental.jit_scope():
            return x + 1

    assert tf.function(inside)(tf.constant(1)).numpy() == 2
    with pytest.raises(RuntimeError, match="not supported when eager"):
        inside(tf.constant(1))
