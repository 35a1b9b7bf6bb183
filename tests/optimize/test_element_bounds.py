"""Bounds of elements contain the elements, for random expressions and data."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.optimize.element_bounds import bounds_of
from intaglio.runtime import interpreter

UNARY = [
    lambda x: -x,
    tf.abs,
    lambda x: x % 5,
    lambda x: x // 3,
    lambda x: tf.reverse(x, [0]),
    lambda x: tf.cast(x > 2, tf.int32),
    lambda x: tf.reshape(tf.stack([x, x]), [-1])[:4],
    lambda x: tf.gather(x, [3, 0, 1, 1]),
    lambda x: tf.cast(tf.math.ceil(tf.cast(x, tf.float32) / 2.0), tf.int32),
    lambda x: tf.where(x > 1, x, -x),
    lambda x: tf.fill([4], tf.reduce_max(x)),
    lambda x: tf.fill([4], tf.reduce_sum(x)),
    lambda x: tf.fill([4], tf.argmax(x, output_type=tf.int32)),
]
BINARY = [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum]


@pytest.mark.parametrize("seed", range(40))
def test_elements_are_within(seed: int) -> None:
    rng = random.Random(seed)

    def f(x: Any, y: Any) -> Any:
        values = [x % 7, y % 4]
        for _ in range(6):
            if rng.random() < 0.6:
                values.append(rng.choice(UNARY)(rng.choice(values)))
            else:
                values.append(rng.choice(BINARY)(rng.choice(values), rng.choice(values)))
        return values

    spec = tf.TensorSpec([4], tf.int32)
    graph = tf.function(f, autograph=False).get_concrete_function(spec, spec).frozen
    bounds = [bounds_of(v) for v in graph.outputs]
    assert bounds[0] == (0, 6)
    assert bounds[1] == (0, 3)
    run = interpreter.compiled(graph)
    data = np.random.default_rng(seed)
    for _ in range(20):
        arrays = [data.integers(-100, 100, 4).astype(np.int32) for _ in range(2)]
        for own, array in zip(bounds, run(*arrays), strict=True):
            if own is not None:
                assert own.low <= array.min() <= array.max() <= own.high


def test_what_overflows_has_none() -> None:
    graph = (
        tf.function(lambda x: tf.abs(x) % 100 * tf.constant(2**30), autograph=False)
        .get_concrete_function(tf.TensorSpec([2], tf.int32))
        .frozen
    )
    assert bounds_of(graph.outputs[0]) is None
