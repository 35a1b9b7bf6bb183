"""Arrays that are constants: as operands of what is fused they have all their elements, as axes they are code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

REDUCTIONS = (tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_mean, tf.reduce_prod)
AXES = (None, 0, 1, [0, 1], [-1])
DTYPES = ("int32", "int64", "int16", "uint8", "float32", "float64")
X = np.linspace(-2.0, 3.0, 4 * 7, dtype="f4").reshape(4, 7)
LENGTHS = np.array([3, 7, 1, 0], "i4")


def agree(function: Callable[..., Any], *inputs: Any) -> None:
    """The compiled function gives what the eager one gives."""
    compiled = tf.function(function, jit_compile=True)
    arguments = [tf.constant(a) for a in inputs]
    for want, got in zip(
        tf.nest.flatten(function(*arguments)), tf.nest.flatten(compiled(*arguments)), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (1, 7), (4, 1), (4, 7), (1,), (1, 1), ()])
def test_an_array_is_compared_element_by_element(dtype: str, shape: tuple[int, ...]) -> None:
    numbers = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)

    def masked(x: Any, n: Any) -> Any:
        mask = tf.cast(numbers < tf.cast(n, dtype)[:, tf.newaxis], tf.float32)
        return [tf.reduce_sum(x * mask, a) for a in AXES], tf.reduce_sum(mask)

    agree(masked, X, LENGTHS)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_every_reduction_of_a_product_with_an_array(reduce: Any) -> None:
    weights = np.arange(7, dtype="i4") - 3
    agree(
        lambda x: [
            reduce(x * tf.cast(weights + tf.cast(x, tf.int32), tf.float32), a) for a in AXES
        ],
        X,
    )
    agree(lambda n: [reduce(n[:, tf.newaxis] * weights, a) for a in AXES], LENGTHS)


def test_one_array_is_axes_and_operand() -> None:
    both = tf.constant([0, 1])

    def f(x: Any, n: Any) -> Any:
        chosen = tf.cast(tf.cast(n, tf.int32)[:, tf.newaxis] > both, tf.float32)
        return tf.reduce_sum(x[:, :2] * chosen, both), tf.reduce_max(chosen * x[:, 1:3], both)

    agree(f, X, LENGTHS)


def test_masks_of_lengths() -> None:
    agree(lambda x, n: tf.reduce_sum(x * tf.sequence_mask(n, 7, tf.float32)), X, LENGTHS)
    agree(
        lambda x, n: tf.reduce_mean(tf.where(tf.range(7) < n[:, None], tf.exp(x), 0.0), 1),
        X,
        LENGTHS,
    )
    agree(
        lambda n: tf.reduce_sum(
            tf.one_hot(n % 5, 5) * tf.cast(tf.range(5) + n[:, None], tf.float32)
        ),
        LENGTHS,
    )


def test_rows_and_layers_with_arrays() -> None:
    positions = np.arange(7, dtype="i4")
    far = tf.cast(positions > 4, tf.float32) * -1e9

    def attention(x: Any, n: Any) -> Any:
        scores = x + tf.cast(positions >= n[:, tf.newaxis] + 1, tf.float32) * -1e9
        return tf.nn.softmax(scores), tf.nn.softmax(x + far), tf.nn.log_softmax(scores)

    agree(attention, X, LENGTHS)
    kernel = np.linspace(-1, 1, 7 * 7, dtype="f4").reshape(7, 7)
    agree(
        lambda x, n: tf.nn.relu(x @ kernel) * tf.cast(positions < n[:, None], tf.float32),
        X,
        LENGTHS,
    )


def test_recurrent_cells_with_arrays() -> None:
    kernel = np.linspace(-0.5, 0.5, 7 * 7, dtype="f4").reshape(7, 7)
    positions = np.arange(7, dtype="i4")

    def recurrence(x: Any) -> Any:
        state = x
        for i in tf.range(5):
            gate = tf.cast(positions < i, tf.float32)
            state = tf.tanh(state @ kernel + x) * gate + state * (1 - gate)
        return state

    agree(recurrence, X)
