"""Public functions on tensors whose rank only the run knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

X = np.arange(12.0).reshape(2, 3, 2)[:, ::-1]
FUNCTIONS: dict[str, Callable[[Any, int], Any]] = {
    "sort": lambda x, axis: tf.sort(x, axis=axis),
    "argsort": lambda x, axis: tf.argsort(x, axis=axis, direction="DESCENDING"),
    "repeat": lambda x, axis: tf.repeat(x, 2, axis=axis),
    "repeat each": lambda x, axis: tf.repeat(x, [2, 1, 0], axis=1),
}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_unknown_rank_gives_the_same(name: str, axis: int) -> None:
    function = FUNCTIONS[name]
    traced = tf.function(
        lambda x: function(x, axis), input_signature=[tf.TensorSpec(None, tf.float64)]
    )
    np.testing.assert_array_equal(traced(tf.constant(X)), function(tf.constant(X), axis))


def test_repeat_from_the_end_needs_the_rank() -> None:
    signature = [tf.TensorSpec(None, tf.float64)]
    with pytest.raises(ValueError, match="may only be negative if rank"):
        tf.function(lambda x: tf.repeat(x, 2, axis=-1), signature)(tf.constant(X))
