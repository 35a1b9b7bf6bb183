"""`compute_batch_size`, by which Keras shares out datasets. TensorFlow 2.21 was asked for the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf
from intaglio.data.sharding import compute_batch_size

NUMBERS = tf.data.Dataset.range(16)
SIZES: dict[str, tuple[int, Callable[[], Any]]] = {
    "batch": (8, lambda: NUMBERS.batch(8)),
    "padded": (5, lambda: NUMBERS.padded_batch(5)),
    "then the same elements": (4, lambda: NUMBERS.batch(4).repeat(2).shuffle(3).take(2)),
    "chosen by a predicate": (4, lambda: NUMBERS.batch(4).filter(lambda x: x[0] > 2)),
    "changed by a function": (-1, lambda: NUMBERS.batch(4).map(lambda x: x[:2])),
    "of static size": (4, lambda: NUMBERS.batch(4, drop_remainder=True).map(lambda x: x + 1)),
    "made by functions": (-1, lambda: NUMBERS.flat_map(lambda x: NUMBERS.batch(2))),
    "zipped": (4, lambda: tf.data.Dataset.zip((NUMBERS.batch(4), NUMBERS.batch(4)))),
    "zipped with others": (-1, lambda: tf.data.Dataset.zip((NUMBERS.batch(4), NUMBERS.batch(2)))),
    "one after the other": (4, lambda: NUMBERS.batch(4).concatenate(NUMBERS.batch(4))),
    "a tensor": (3, lambda: tf.data.Dataset.from_tensors(tf.ones([3, 2]))),
}


@pytest.mark.parametrize("name", SIZES)
def test_size_of_batches(name: str) -> None:
    expected, make = SIZES[name]
    found = compute_batch_size(make())
    assert (found.dtype, int(found)) == (tf.int64, expected)


def test_batches_that_are_divided_anew() -> None:
    """TensorFlow says -1 there; it is the size for which the batches are divided."""
    assert int(compute_batch_size(NUMBERS.batch(4).rebatch(2))) == 2


def test_elements_without_a_batch_dimension() -> None:
    with pytest.raises(IndexError):
        compute_batch_size(NUMBERS)


def test_batched_datasets_say_the_size_that_was_asked_for() -> None:
    numbers = tf.data.Dataset.range(10)
    sizes = {
        "plain": numbers.batch(3),
        "dropping": numbers.batch(3, drop_remainder=True),
        "parallel": numbers.batch(3, num_parallel_calls=2),
        "padded": numbers.padded_batch(3),
        "ragged": numbers.ragged_batch(3),
    }
    found = {k: (int(d._batch_size), bool(d._drop_remainder)) for k, d in sizes.items()}
    assert found == {**dict.fromkeys(sizes, (3, False)), "dropping": (3, True)}
    others = [numbers, numbers.batch(3).unbatch(), numbers.batch(3).map(lambda x: x)]
    assert not any(hasattr(d, "_batch_size") for d in [*others, numbers.batch(3).prefetch(1)])
