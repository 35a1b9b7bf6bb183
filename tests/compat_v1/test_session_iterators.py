"""Datasets in sessions: iterators of plain graphs. TensorFlow 2.21 was asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def drained(session: Any, element: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


def test_each_session_goes_through_the_elements_once() -> None:
    with tf.Graph().as_default() as graph:
        scale = tf.constant(3, tf.int64)
        dataset = v1.data.Dataset.range(5).map(lambda x: x * scale)
        element = v1.data.make_one_shot_iterator(dataset).get_next()
    for _ in range(2):
        with v1.Session(graph=graph) as session:
            assert drained(session, element) == [0, 3, 6, 9, 12]
            assert drained(session, element) == []


def test_an_initializer_begins_again_with_what_is_fed() -> None:
    with tf.Graph().as_default():
        count = v1.placeholder(tf.int64, [])
        iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(count))
        element = iterator.get_next()
        with pytest.raises(ValueError, match="make_initializable_iterator"):
            v1.data.make_one_shot_iterator(tf.data.Dataset.range(count))
        with v1.Session() as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"):
                session.run(element)
            for n in (2, 3):
                session.run(iterator.initializer, {count: n})
                assert drained(session, element) == list(range(n))


def test_one_iterator_serves_several_datasets() -> None:
    with tf.Graph().as_default():
        first = tf.data.Dataset.from_tensor_slices({"x": np.array([1, 2, 3], "f")}).batch(3)
        second = tf.data.Dataset.from_tensor_slices({"x": np.array([9], "f")}).batch(1)
        iterator = v1.data.Iterator.from_structure(
            v1.data.get_output_types(first), v1.data.get_output_shapes(first)
        )
        starts = [iterator.make_initializer(d) for d in (first, second)]
        total = tf.reduce_sum(iterator.get_next()["x"])
        with pytest.raises(TypeError, match="got dataset"):
            iterator.make_initializer(tf.data.Dataset.from_tensors({"x": 1}))
        with pytest.raises(ValueError, match="does not have an initializer"):
            print(iterator.initializer)
        with v1.Session() as session:
            totals = []
            for start in starts:
                session.run(start)
                totals.append(session.run(total))
    assert totals == [6.0, 9.0]


def test_eagerly_iterators_are_pythons() -> None:
    iterator = v1.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    assert [int(iterator.get_next()), int(next(iterator))] == [0, 1]
    with pytest.raises(RuntimeError, match="not supported in eager mode"):
        v1.data.make_initializable_iterator(tf.data.Dataset.range(2))
