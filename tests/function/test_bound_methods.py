"""Methods of objects as functions: what `tf.function` makes of one that is bound already."""

from __future__ import annotations

import inspect
from typing import Any

from intaglio import tf


class Layer:
    """A layer as Keras has them: further arguments have defaults."""

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Twice the inputs."""
        return inputs * (3.0 if training else 2.0)


class Module(tf.Module):
    """A module with a traced method."""

    @tf.function
    def double(self, x: Any, times: int = 2) -> Any:
        """The argument, several times."""
        return x * times


def test_a_bound_method_takes_an_input_signature() -> None:
    """Exports of layers depend on it; TensorFlow needs no arguments here either."""
    call = tf.function(Layer().call, input_signature=[tf.TensorSpec([None, 2])])
    trace = call.get_concrete_function()
    assert trace(tf.ones((3, 2))).numpy().tolist() == [[2.0, 2.0]] * 3
    assert list(call._trackable_children("savedmodel")) == ["trace_0"]
    assert call._trackable_children("checkpoint") == {}


def test_the_signature_of_a_method_is_without_self() -> None:
    assert str(inspect.signature(Module().double)).startswith("(x")
    assert [*inspect.signature(Module().double).parameters] == ["x", "times"]
