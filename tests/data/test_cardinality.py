"""How many elements datasets say that they have, and how many are open at a time.

TensorFlow 2.21 was asked for all the numbers.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

Dataset = tf.data.Dataset
numbers: Any = Dataset.range
INFINITE, UNKNOWN = -1, -2


def slices(*shape: int) -> Any:
    return Dataset.from_tensor_slices(tf.zeros(shape))


@pytest.mark.parametrize(
    ("dataset", "wanted"),
    [
        (lambda: Dataset.from_tensors(tf.zeros([5, 2])), 5),
        (lambda: slices(4, 5, 2), 20),
        (lambda: numbers(10).batch(3), UNKNOWN),
        (lambda: numbers(10).batch(3, drop_remainder=True), 9),
        (lambda: numbers(10).batch(3, drop_remainder=True).prefetch(1), 9),
        (lambda: numbers(10).batch(3, drop_remainder=True).filter(lambda x: True), UNKNOWN),
        (lambda: slices(4, 5).repeat(), INFINITE),
        (lambda: numbers(10).batch(3).repeat(), INFINITE),
        (lambda: numbers(0).batch(3, drop_remainder=True), 0),
        (lambda: slices(4, 0), UNKNOWN),
        # One component that knows is enough.
        (lambda: Dataset.zip(numbers(10).batch(2, drop_remainder=True), numbers(10).batch(2)), 10),
        (
            lambda: Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]])).batch(
                1, drop_remainder=True
            ),
            2,
        ),
        (lambda: Dataset.from_tensors(tf.sparse.from_dense([[1, 2], [3, 0]])), UNKNOWN),
    ],
)
def test_rows_of_elements(dataset: Callable[[], Any], wanted: int) -> None:
    rows = dataset().unbatch()
    assert rows.cardinality().numpy() == wanted
    if wanted >= 0:
        assert len(list(rows)) == wanted


@pytest.mark.parametrize("stop", [False, True])
def test_datasets_in_an_order_of_their_own(stop: bool) -> None:
    def size(datasets: Any, **kwargs: Any) -> int:
        found = Dataset.sample_from_datasets(datasets, stop_on_empty_dataset=stop, **kwargs)
        return int(found.cardinality())

    assert size([numbers(3), numbers(4)]) == UNKNOWN
    assert size([numbers(3).repeat(), numbers(4).repeat()]) == INFINITE
    assert size([numbers(3), numbers(4).repeat()]) == INFINITE
    assert size([numbers(3), numbers(4)], weights=[0.0, 1.0]) == 4
    assert size([numbers(3)]) == 3
    chosen = Dataset.choose_from_datasets(
        [numbers(3), numbers(4).repeat()], numbers(2).repeat(), stop_on_empty_dataset=stop
    )
    assert int(chosen.cardinality()) == INFINITE


@pytest.mark.parametrize(
    ("processors", "given", "open_at_a_time"),
    [
        (1, {}, 1),
        (3, {}, 3),
        (12, {}, 12),
        (40, {}, 40),
        (12, {"num_parallel_calls": 2}, 2),
        (12, {"num_parallel_calls": 6}, 6),
        (2, {"num_parallel_calls": tf.data.AUTOTUNE}, 1),
        (5, {"num_parallel_calls": tf.data.AUTOTUNE}, 2),
        (40, {"num_parallel_calls": tf.data.AUTOTUNE}, 14),
        (40, {"cycle_length": 3}, 3),
    ],
)
def test_interleave_without_a_number_goes_by_the_processors(
    monkeypatch: pytest.MonkeyPatch, processors: int, given: dict[str, Any], open_at_a_time: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    made = numbers(50).interleave(lambda i: Dataset.from_tensors(i).repeat(2), **given)
    assert [int(x) for x in made].index(0, 1) == open_at_a_time


def test_rows_of_datasets_that_are_read_again() -> None:
    rows = numbers(10).batch(3, drop_remainder=True).unbatch()
    again = pickle.loads(pickle.dumps(rows))
    assert int(again.cardinality()) == 9
