"""What Sonnet and its tests ask of TensorFlow. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf
from tests.tensorflow_name.process import printed_by


class Doubling:
    """A callable object with an attribute."""

    def __init__(self) -> None:
        self.times = 2
        self.name = "hidden"

    def __call__(self, x: Any) -> Any:
        return x * self.times


def test_a_function_has_the_attributes_of_the_object() -> None:
    traced: Any = tf.function(Doubling())
    assert traced.times == 2 and traced.name != "hidden"
    assert traced(tf.constant(3)).numpy() == 6


def negated(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator."""
    return lambda *args: -function(*args)


def test_functions_are_decorated_before_they_are_traced() -> None:
    traced: Any = tf.function(lambda x: x + 1)
    traced._decorate(negated)
    assert traced(tf.constant(1)).numpy() == -2
    with pytest.raises(ValueError, match="cannot be decorated after"):
        traced._decorate(negated)


def test_a_decorated_method_still_belongs_to_its_object() -> None:
    class Adder:
        step = 3

        @tf.function
        def add(self, x: Any) -> Any:
            return x + self.step

    method: Any = Adder.add
    method._decorate(negated)
    assert Adder().add(tf.constant(1)).numpy() == -4


def test_a_registered_conversion_comes_before_the_inherited_one() -> None:
    class Held(tf.Variable):
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

    declined: list[Any] = []

    def convert(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        declined.append(dtype)
        return value.tensor

    tf.register_tensor_conversion_function(Held, convert)
    held = Held(tf.constant([1.0, 2.0]))
    assert tf.ones_like(held).numpy().tolist() == [1.0, 1.0]
    assert (tf.constant(2.0) * held).numpy().tolist() == [2.0, 4.0]
    assert declined and (tf.Variable(3.0) + 1.0).numpy() == 4.0


X = [[1, 2], [3, 4]]
Y = [[10, 20], [30, 40]]


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ([True, False], [[1, 2], [30, 40]]),
        (True, X),
        ([[False, True], [True, False]], [[10, 2], [3, 40]]),
    ],
)
def test_where_as_it_was(condition: Any, chosen: Any) -> None:
    where = tf.compat.v1.where
    assert where(condition, X, Y).numpy().tolist() == chosen
    assert where([True, False]).numpy().tolist() == [[0]]
    with pytest.raises(ValueError, match="must both be non-None"):
        where(condition, X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same size"):
        where(condition, X, 1)


def test_the_version_is_there_too() -> None:
    assert tf.compat.v1.version.VERSION == tf.version.VERSION


def test_strategies_unwrap() -> None:
    assert tf.distribute.MirroredStrategy().unwrap(3) == (3,)


def test_the_runtime_has_the_device_and_whether_it_is_eager() -> None:
    lines = printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        import tensorflow as tf
        from tensorflow.python.eager import context
        print(context.context().device_spec.device_type)
        print(context.context().executing_eagerly())
        tf.function(lambda: print(context.context().executing_eagerly()))()
        """
    )
    assert lines == ["None", "True", "False"]


def test_references_are_in_an_order() -> None:
    """Sonnet flattens dictionaries whose keys they are."""
    one, other = tf.Variable(1.0).ref(), tf.Variable(2.0).ref()
    assert sorted([one, other]) == sorted([other, one])
    with pytest.raises(TypeError, match="Cannot compare wrapped object"):
        sorted([one, 3])
