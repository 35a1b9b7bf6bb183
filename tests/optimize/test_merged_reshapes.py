"""Reshapes of reshapes: a -1 beside a 0 depends on the shape in between, as in TensorFlow 2.21."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from intaglio import tf

SHAPES = [(2, 0), (0, 3), (2, 0, 4), (0,), (6,)]
INNER = ([-1], [0], [-1, 1], [0, 5], [2, 0], [3, 2])
OUTER = ([-1], [-1, 0], [0, -1], [-1, 0, 3], [2, -1], [-1, 3], [4, -1, 0])


def outcome(function: Any, *inputs: Any) -> Any:
    """The shape of the result, or that there is none; of the call after the graph is optimised."""
    try:
        return [tuple(function(*inputs).shape) for _ in range(3)][-1]
    except (tf.errors.InvalidArgumentError, ValueError):
        return None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("known", [True, False])
def test_two_reshapes_give_what_they_give_eagerly(shape: tuple[int, ...], known: bool) -> None:
    x = tf.zeros(shape)
    for inner, outer in itertools.product(INNER, OUTER):
        want = outcome(lambda a, i=inner, o=outer: tf.reshape(tf.reshape(a, i), o), x)
        if want is None:
            continue  # one that fails between two that fit may be left out
        if known:
            signature = [tf.TensorSpec([None] * len(shape))]
            chain = tf.function(
                lambda a, i=inner, o=outer: tf.reshape(tf.reshape(a, i), o),
                input_signature=signature,
            )
            assert outcome(chain, x) == want, (inner, outer)
        else:
            chain = tf.function(lambda a, i, o: tf.reshape(tf.reshape(a, i), o))
            sizes = [tf.constant(np.asarray(n, np.int32)) for n in (inner, outer)]
            assert outcome(chain, x, *sizes) == want, (inner, outer)


def test_widths_of_empty_rows_are_those_of_the_reshaped_tensor() -> None:
    search = tf.function(
        lambda a: tf.searchsorted(tf.sort(tf.reshape(a, [-1])), tf.reshape(a, [-1]))
    )
    for _ in range(3):
        assert search(tf.zeros([2, 0])).shape == (0,)
