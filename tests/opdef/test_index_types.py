"""Shapes, axes and counts in other types than integers. TensorFlow 2.21 was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

X = tf.constant([[3.0, 1.0], [2.0, 4.0]])
TAKEN: list[tuple[Callable[[], Any], Any]] = [
    (lambda: tf.reshape(X, np.array([4.0])), [3, 1, 2, 4]),
    (lambda: tf.reshape(X, np.array([4.7], np.float32)), [3, 1, 2, 4]),
    (lambda: tf.reshape(X, np.array([4], np.uint8)), [3, 1, 2, 4]),
    (lambda: tf.reshape(X, [tf.constant(4.0)]), [3, 1, 2, 4]),
    (lambda: tf.reshape(X, [1, tf.constant(4, tf.float64)]), [[3, 1, 2, 4]]),
    (lambda: tf.transpose(X, np.array([1.0, 0.0])), [[3, 2], [1, 4]]),
    (lambda: tf.reduce_sum(X, np.float32(0)), [5, 5]),
    (lambda: tf.concat([X, X], np.float32(1)), [[3, 1, 3, 1], [2, 4, 2, 4]]),
    (lambda: tf.math.top_k(X, np.float32(1))[0], [[3], [4]]),
    (lambda: tf.one_hot(np.array([1.0]), 2), [[0, 1]]),
    (lambda: tf.fill(np.array([2.0]), 7), [7, 7]),
    (lambda: tf.reverse(X, np.array([0.0])), [[2, 4], [3, 1]]),
]
REFUSED: list[Callable[[], Any]] = [
    lambda: tf.reshape(X, [4.0]),
    lambda: tf.reshape(X, tf.constant([4.0])),
    lambda: tf.reshape(X, [np.array(2.0), np.array(2.0)]),
    lambda: tf.gather(X, np.array([1.0])),
    lambda: tf.slice(X, np.array([1.0, 0.0]), np.array([1.0, 1.0])),
    lambda: tf.roll(X, np.float32(1), 0),
]


@pytest.mark.parametrize(("call", "wanted"), TAKEN)
def test_arrays_become_the_default_type(call: Callable[[], Any], wanted: Any) -> None:
    assert call().numpy().tolist() == wanted
    assert tf.function(call)().numpy().tolist() == wanted


@pytest.mark.parametrize("call", REFUSED)
def test_lists_tensors_and_indices_keep_their_type(call: Callable[[], Any]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="list of allowed values"):
        call()
    with pytest.raises(TypeError, match="list of allowed values"):
        tf.function(call)()


def test_python_numbers_are_no_axes() -> None:
    with pytest.raises(TypeError, match="dtype int32"):
        tf.expand_dims(X, 0.0)  # pyright: ignore[reportArgumentType]  # what is tested
