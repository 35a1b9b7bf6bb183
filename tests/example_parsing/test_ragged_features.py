"""RaggedFeature: rows in records, by every kind of partition, one by one and in batches.

TensorFlow 2.21 was asked for the numbers of ragged dimensions, and for what records mean that
lack a partition.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

RaggedFeature: Any = tf.io.RaggedFeature
Rows = list[list[int]]
WAYS: dict[str, Any] = {
    "lengths": lambda rows: [len(r) for r in rows],
    "splits": lambda rows: [0, *itertools.accumulate(len(r) for r in rows)],
    "starts": lambda rows: [0, *itertools.accumulate(len(r) for r in rows)][:-1],
    "limits": lambda rows: list(itertools.accumulate(len(r) for r in rows)),
    "ids": lambda rows: [i for i, r in enumerate(rows) for _ in r],
}
PARTITIONS: dict[str, Any] = {
    "lengths": RaggedFeature.RowLengths("lengths"),
    "splits": RaggedFeature.RowSplits("splits"),
    "starts": RaggedFeature.RowStarts("starts"),
    "limits": RaggedFeature.RowLimits("limits"),
    "ids": RaggedFeature.ValueRowIds("ids"),
}


def record(**features: list[int]) -> bytes:
    """A serialized Example of integers."""
    made = {
        k: tf.train.Feature(int64_list=tf.train.Int64List(value=v)) for k, v in features.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def with_rows(rows: Rows, **more: list[int]) -> bytes:
    """A record with its rows in all partitions."""
    ways = {name: way(rows) for name, way in WAYS.items()}
    return record(v=[x for r in rows for x in r], **ways, **more)


def parsed(records: Any, *partitions: Any, splits: Any = tf.int32) -> Any:
    """The feature of a record, or of several."""
    feature = RaggedFeature(tf.int64, partitions=partitions, value_key="v", row_splits_dtype=splits)
    read = tf.io.parse_example if isinstance(records, list) else tf.io.parse_single_example
    return read(records, {"r": feature})["r"]


some_rows = st.lists(st.lists(st.integers(-5, 300), max_size=3), max_size=4)


@settings(max_examples=25, deadline=None)
@given(st.lists(some_rows, min_size=1, max_size=5), st.sampled_from([tf.int32, tf.int64]))
def test_all_partitions_agree(batch: list[Rows], splits: Any) -> None:
    data = [with_rows(rows) for rows in batch]
    for name, part in PARTITIONS.items():
        wanted = batch
        if name == "ids":  # which say nothing of rows behind the last value
            wanted = [r[: max((i + 1 for i, x in enumerate(r) if x), default=0)] for r in batch]
        found = parsed(data, part, splits=splits)
        assert found.to_list() == wanted, name
        assert found.row_splits.dtype is splits
        for one, rows in zip(data, wanted, strict=True):
            assert parsed(one, part, splits=splits).to_list() == rows, name


@pytest.mark.parametrize("name", PARTITIONS)
def test_records_without_the_feature_have_no_rows(name: str) -> None:
    rows = [[1, 2], [], [3]]
    data = [with_rows(rows), record(), with_rows([[4]])]
    assert parsed(data, PARTITIONS[name]).to_list() == [rows, [], [[4]]]
    assert parsed([record(), record()], PARTITIONS[name]).to_list() == [[], []]


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions_of_partitions(name: str) -> None:
    data = [with_rows([[1, 2], [3, 4], [5, 6]], outer=[1, 2]), with_rows([[7, 8]], outer=[0, 1])]
    found = parsed(data, RaggedFeature.RowLengths("outer"), PARTITIONS[name])
    assert found.to_list() == [[[[1, 2]], [[3, 4], [5, 6]]], [[], [[7, 8]]]]


@pytest.mark.parametrize("graph", [False, True])
def test_innermost_rows_of_one_length_are_dimensions(graph: bool) -> None:
    read: Any = tf.function(parsed) if graph else parsed
    uniform = RaggedFeature.UniformRowLength
    data = [with_rows([[1, 2], [3, 4]], two=[2, 0]), with_rows([[5, 6]], two=[1])]
    found = read(data, uniform(2))
    assert found.to_list() == [[[1, 2], [3, 4]], [[5, 6]]]
    assert found.ragged_rank == 1
    assert found.shape.as_list() == [2, None, 2]
    twice = read(data, uniform(2), uniform(1))
    assert twice.to_list() == [[[[1], [2]], [[3], [4]]], [[[5], [6]]]]
    assert twice.ragged_rank == 1
    under = read(data, RaggedFeature.RowLengths("two"), uniform(2))
    assert under.to_list() == [[[[1, 2], [3, 4]], []], [[[5, 6]]]]
    assert under.ragged_rank == 2
    above = read(data, uniform(1), RaggedFeature.RowLengths("lengths"))
    assert above.to_list() == [[[[1, 2]], [[3, 4]]], [[[5, 6]]]]
    assert above.ragged_rank == 3
    one = read(data[0], uniform(2))
    assert isinstance(one, tf.Tensor)
    assert one.numpy().tolist() == [[1, 2], [3, 4]]


# -- lists of features -----------------------------------------------------------------------


def sequence_with_rows(steps: list[Rows]) -> bytes:
    """A serialized SequenceExample: each step has its rows in all partitions."""

    def integers(values: list[int]) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    columns = {"v": lambda rows: [x for r in rows for x in r], **WAYS}
    lists = {
        name: tf.train.FeatureList(feature=[integers(column(rows)) for rows in steps])
        for name, column in columns.items()
    }
    whole = tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list=lists))
    return whole.SerializeToString()


def parsed_sequences(records: Any, *partitions: Any, splits: Any = tf.int32) -> Any:
    """The feature of a sequence, or of several."""
    feature = RaggedFeature(tf.int64, partitions=partitions, value_key="v", row_splits_dtype=splits)
    several = isinstance(records, list)
    read = tf.io.parse_sequence_example if several else tf.io.parse_single_sequence_example
    return read(records, sequence_features={"r": feature})[1]["r"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(some_rows, max_size=3), min_size=1, max_size=3),
    st.sampled_from([tf.int32, tf.int64]),
)
def test_steps_of_sequences_have_rows(batch: list[list[Rows]], splits: Any) -> None:
    data = [sequence_with_rows(steps) for steps in batch]
    for name in ("lengths", "splits", "starts", "limits"):
        found = parsed_sequences(data, PARTITIONS[name], splits=splits)
        assert found.to_list() == batch, name
        assert found.row_splits.dtype is splits
        for one, steps in zip(data, batch, strict=True):
            assert parsed_sequences(one, PARTITIONS[name], splits=splits).to_list() == steps, name


@pytest.mark.parametrize("graph", [False, True])
def test_rows_of_sequences_as_tensorflow_cuts_them(graph: bool) -> None:
    read: Any = tf.function(parsed_sequences) if graph else parsed_sequences
    data = [sequence_with_rows([[[1], [2, 3]], [[4, 5]]]), sequence_with_rows([[[7]]])]
    data.append(tf.train.SequenceExample().SerializeToString())
    uniform = RaggedFeature.UniformRowLength(1)
    wanted = [[[[1], [2, 3]], [[4, 5]]], [[[7]]], []]
    for name in PARTITIONS:
        found = read(data, PARTITIONS[name])
        assert found.to_list() == wanted, name
        assert found.shape.as_list() == [3, None, None, None]
    cut = read(data, uniform)
    assert cut.to_list() == [[[[1], [2], [3]], [[4], [5]]], [[[7]]], []]
    assert cut.shape.as_list() == [3, None, None, 1]
    below = read(data, RaggedFeature.RowLengths("lengths"), uniform)
    assert below.to_list() == [[[[[1]], [[2], [3]]], [[[4], [5]]]], [[[[7]]]], []]
