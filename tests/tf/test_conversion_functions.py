"""`tf.register_tensor_conversion_function`. TensorFlow 2.21 was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import convert

register = tf.register_tensor_conversion_function


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    kept = list(convert._registered)
    yield
    convert._registered[:] = kept


def gives(result: Any) -> Any:
    def function(value, dtype=None, name=None, as_ref=False):
        return result(dtype) if callable(result) else result

    return function


@pytest.mark.parametrize(
    ("base_type", "function", "says"),
    [
        (1, gives(1), "`base_type` must be a type or a tuple of types"),
        ((str, 3), gives(1), "`base_type` must be a type or a tuple of types"),
        (str, 3, "`conversion_func` must be callable"),
        (int, gives(1), "Python numeric types and NumPy scalars and arrays"),
        ((str, float), gives(1), "Python numeric types and NumPy scalars and arrays"),
        (np.float32, gives(1), "Python numeric types and NumPy scalars and arrays"),
        (np.ndarray, gives(1), "Python numeric types and NumPy scalars and arrays"),
    ],
)
def test_what_cannot_be_registered(base_type: Any, function: Any, says: str) -> None:
    with pytest.raises(TypeError, match=re.escape(says)):
        register(base_type, function)


def test_the_order_of_functions() -> None:
    class Own:
        pass

    class Derived(Own):
        pass

    with pytest.raises(ValueError, match="unsupported type"):
        tf.convert_to_tensor(Own())
    register(Own, gives(lambda dtype: tf.constant(1, dtype)))
    assert tf.convert_to_tensor(Own()).numpy() == 1
    register(Own, gives(lambda dtype: tf.constant(2, dtype)), 50)
    register(base_type=(Own, str), conversion_func=gives(NotImplemented), priority=10)
    assert tf.convert_to_tensor(Own()).numpy() == 2
    assert tf.add(Derived(), 1).numpy() == 3
    assert tf.stack([Own(), 5]).numpy().tolist() == [2, 5]


def test_what_a_function_must_return() -> None:
    class Own:
        pass

    class Other:
        pass

    register(Own, gives(3))
    with pytest.raises(RuntimeError, match="returned non-Tensor: 3"):
        tf.convert_to_tensor(Own())
    register(Other, gives(lambda _: tf.constant(1.5)))
    assert tf.convert_to_tensor(Other()).numpy() == 1.5
    with pytest.raises(RuntimeError, match="requested = int32, actual = float32"):
        tf.convert_to_tensor(Other(), tf.int32)


def test_lists_are_converted_as_before() -> None:
    register(list, gives(lambda _: tf.constant(7)))
    assert tf.convert_to_tensor([1, 2]).numpy().tolist() == [1, 2]
    assert tf.stack([tf.constant(1), 2]).numpy().tolist() == [1, 2]
