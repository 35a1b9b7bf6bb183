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


def test_a_fed_string_chooses_the_iterator() -> None:
    with tf.Graph().as_default():
        datasets = [v1.data.Dataset.range(3).batch(2), v1.data.Dataset.range(10, 13).batch(2)]
        first = datasets[0].make_initializable_iterator(shared_name="first")
        second = datasets[1].make_one_shot_iterator()
        handle = v1.placeholder(tf.string, [])
        chosen = v1.data.Iterator.from_string_handle(
            handle, datasets[0].output_types, datasets[0].output_shapes
        )
        element = chosen.get_next(name="element")
        assert element.name == "element:0" and element.shape.as_list() == [None]
        with pytest.raises(ValueError, match="does not have an initializer"):
            _ = chosen.initializer
        for _ in range(2):  # each session has iterators of its own
            with v1.Session() as session:
                a, b = session.run([first.string_handle("a"), second.string_handle()])
                session.run(first.initializer)
                found = [session.run(element, {handle: h}).tolist() for h in (a, b, a, b)]
                assert found == [[0, 1], [10, 11], [2], [12]]
                with pytest.raises(tf.errors.OutOfRangeError):
                    session.run(element, {handle: a})
                with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
                    session.run(element, {handle: "another"})
                others = v1.data.Iterator.from_string_handle(handle, tf.float32).get_next()
                session.run(first.initializer)
                with pytest.raises(tf.errors.InvalidArgumentError, match="Data type mismatch"):
                    session.run(others, {handle: a})


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d.from_tensor_slices([1, 2, 3]),
        lambda d: d.range(3).map(lambda x: x + 1).map_with_legacy_function(tf.identity),
        lambda d: d.zip((d.range(1, 4), d.range(3))).map(lambda a, b: a),
        lambda d: d.from_tensors([1, 2, 3]).flat_map(tf.data.Dataset.from_tensor_slices),
        lambda d: d.range(9).filter_with_legacy_function(lambda x: (x > 0) & (x < 4)).take(3),
        lambda d: d.range(1, 3).concatenate(tf.data.Dataset.range(3, 4)).batch(2).unbatch(),
        lambda d: d.from_generator(lambda: iter([1, 2, 3]), tf.int32).cache().prefetch(1),
        lambda d: d.range(1, 4).apply(lambda x: x.repeat(1)).with_options(tf.data.Options()),
    ],
)
def test_datasets_of_tensorflow_1_stay_such(make: Any) -> None:
    """They and what is made of them have the older methods; those of `tf.data` have not."""
    eager = make(v1.data.Dataset)
    assert isinstance(eager, v1.data.Dataset) and isinstance(eager, tf.data.Dataset)
    assert [int(x) for x in eager] == [1, 2, 3] == [int(x) for x in eager.make_one_shot_iterator()]
    assert eager.output_classes is tf.Tensor and eager.output_types.is_integer
    with pytest.raises(RuntimeError, match="not supported in eager mode"):
        eager.make_initializable_iterator()
    with tf.Graph().as_default(), v1.Session() as session:
        element = make(v1.data.Dataset).make_one_shot_iterator().get_next()
        assert drained(session, element) == [1, 2, 3]
    plain = make(tf.data.Dataset) if "legacy" not in str(make.__code__.co_names) else None
    assert plain is None or not isinstance(plain, v1.data.Dataset)
    assert plain is None or not hasattr(plain, "make_one_shot_iterator")


def test_the_structure_of_elements_in_parts() -> None:
    """TensorFlow's answers for a dict with a sparse tensor, and for lines of files."""
    sparse = tf.sparse.from_dense([[1.0, 0.0]])
    dataset = v1.data.Dataset.from_tensor_slices({"a": [1], "b": sparse})
    assert dataset.output_types == {"a": tf.int32, "b": tf.float32}
    assert dataset.output_shapes == {"a": [], "b": [2]}
    assert dataset.output_classes == {"a": tf.Tensor, "b": tf.SparseTensor}
    assert v1.data.get_output_classes(tf.data.Dataset.range(2)) is tf.Tensor
    lines = v1.data.TextLineDataset(["none.txt"]).map(tf.strings.length)
    assert lines.output_types == tf.int32 and isinstance(lines, v1.data.Dataset)
