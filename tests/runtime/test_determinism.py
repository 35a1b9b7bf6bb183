"""`tf.config.experimental.enable_op_determinism`: what draws without a seed raises. TensorFlow 2.21 was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

UNSEEDED: dict[str, Callable[[], Any]] = {
    "normal": lambda: tf.random.normal([1]),
    "shuffle": lambda: tf.random.shuffle([1, 2]),
    "function": lambda: tf.function(lambda: tf.random.uniform([1]))(),
    "dataset": lambda: list(tf.data.Dataset.range(3).shuffle(3)),
    "random dataset": lambda: list(tf.data.Dataset.random().take(1)),
    "dropout": lambda: tf.nn.dropout(tf.ones([3]), 0.5),
    "sampler": lambda: tf.random.uniform_candidate_sampler([[1]], 1, 1, False, 3),
    "categorical": lambda: tf.random.categorical([[1.0]], 1),
    "image": lambda: tf.image.random_flip_left_right(tf.ones([2, 2, 1])),
}


@pytest.fixture(autouse=True)
def deterministic() -> None:
    tf.random.set_seed(None)
    tf.config.experimental.enable_op_determinism()


@pytest.mark.parametrize("case", UNSEEDED)
def test_a_seed_is_needed(case: str) -> None:
    with pytest.raises(RuntimeError, match="require a seed to be set when determinism"):
        UNSEEDED[case]()
    tf.random.set_seed(1)
    UNSEEDED[case]()


def test_an_op_may_have_the_seed() -> None:
    tf.random.normal([1], seed=1)
    tf.function(lambda: tf.random.normal([1], seed=2))()
    assert len(list(tf.data.Dataset.range(3).shuffle(3, seed=1))) == 3
    tf.random.stateless_normal([1], [1, 2])
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError, match="require a seed"):
            tf.random.normal([1])
        tf.compat.v1.set_random_seed(3)
        tf.random.normal([1])


def test_generators_need_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="from_non_deterministic_state"):
        tf.random.Generator.from_non_deterministic_state()
    tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    assert tf.random.get_global_generator().normal([1]).shape == [1]
