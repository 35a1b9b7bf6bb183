"""Random numbers go on from call to call, also where the trace is optimised in between.

The numbers are those that TensorFlow 2.21 printed for the same programs.
"""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf


def test_numbers_do_not_start_again_when_the_trace_is_optimised() -> None:
    tf.random.set_seed(1)

    @tf.function
    def f(n):
        first = tf.random.uniform([])
        inner = 0.0
        for _ in tf.range(n):
            inner = tf.random.uniform([])
        return first, inner

    seen = [tuple(float(v) for v in f(tf.constant(2))) for _ in range(4)]
    assert [s[0] for s in seen] == pytest.approx(
        [0.8126964569091797, 0.5272892713546753, 0.8489425182342529, 0.8928561210632324]
    )
    assert [s[1] for s in seen] == pytest.approx(
        [0.5272892713546753, 0.8928561210632324, 0.9844201803207397, 0.28153514862060547]
    )


def test_no_number_comes_twice_through_inner_functions() -> None:
    tf.random.set_seed(2)

    @tf.function
    def inner():
        return tf.random.normal([])

    @tf.function
    def outer():
        return inner(), inner()

    seen = [float(v) for _ in range(6) for v in outer()]
    assert len(set(seen)) == len(seen)


def test_passes_can_be_switched_off() -> None:
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        f = tf.function(lambda x: tf.identity(tf.identity(x)) + 1.0)
        assert [float(f(tf.constant(1.0))) for _ in range(4)] == [2.0] * 4
        concrete = f.get_concrete_function(tf.constant(1.0))
        assert concrete._run is concrete.frozen.compiled
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


@pytest.mark.parametrize("branches", [False, True])
def test_a_forward_function_has_streams_of_its_own(branches: bool) -> None:
    """TensorFlow 2.21 starts again for calls under a tape, with and without control flow."""
    tf.random.set_seed(7)

    @tf.function
    def f(x: Any) -> Any:
        number = tf.random.normal([])
        if branches and x > 0.0:
            x = x * 1.0
        return x * number

    x = tf.constant(1.0)
    plain = [float(f(x)) for _ in range(3)]
    taped: list[float] = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x) == y
        taped.append(float(y))
    assert taped == plain
    assert float(f(x)) not in plain
