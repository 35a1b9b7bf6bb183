"""Pipelines as GraphDefs. TensorFlow 2.21 was asked which ops its own have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

v1: Any = tf.compat.v1

# A transformation, and the op by which TensorFlow's graph names it.
STEPS: dict[str, tuple[Any, str]] = {
    "shuffle": (lambda d: d.shuffle(3, seed=1), "ShuffleDatasetV3"),
    "batch": (lambda d: d.batch(2), "BatchDatasetV2"),
    "map": (lambda d: d.map(lambda x: x * 2), "MapDataset"),
    "prefetch": (lambda d: d.prefetch(2), "PrefetchDataset"),
    "repeat": (lambda d: d.repeat(2), "RepeatDataset"),
    "take": (lambda d: d.take(2), "TakeDataset"),
    "skip": (lambda d: d.skip(1), "SkipDataset"),
    "interleave": (
        lambda d: d.interleave(lambda x: tf.data.Dataset.from_tensors(x).shuffle(2), 2),
        "InterleaveDataset",
    ),
}


def graph_def_of(dataset: Any) -> Any:
    """The message in the dataset's string tensor."""
    return v1.GraphDef.FromString(dataset._as_serialized_graph().numpy())


def datasets_in(graph_def: Any) -> list[str]:
    """The ops of the nodes that are datasets."""
    return [n.op for n in graph_def.node if "Dataset" in n.op]


@settings(max_examples=25, deadline=None)
@given(names=st.lists(st.sampled_from(list(STEPS)), max_size=5))
def test_each_stage_is_a_node(names: list[str]) -> None:
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(4.0))
    for name in names:
        dataset = STEPS[name][0](dataset)
    graph_def = graph_def_of(dataset)
    assert datasets_in(graph_def) == ["TensorSliceDataset", *[STEPS[n][1] for n in names]]
    assert graph_def.node[-1].op == "_Retval"
    assert graph_def.node[-1].input[0] == graph_def.node[-2].name
    functions = [n.op for f in graph_def.library.function for n in f.node_def]
    assert ("ShuffleDatasetV3" in functions) == ("interleave" in names)


def test_a_stage_that_is_used_twice_is_one_node() -> None:
    rows = tf.data.Dataset.range(3)
    found = datasets_in(graph_def_of(tf.data.Dataset.zip((rows, rows.batch(1)))))
    assert found == ["RangeDataset", "BatchDatasetV2", "ZipDataset"]


def test_the_data_are_constants() -> None:
    graph_def = graph_def_of(tf.data.Dataset.range(1, 7, 2))
    constants = [tf.make_ndarray(n.attr["value"].tensor).item() for n in graph_def.node[:3]]
    assert constants == [1, 7, 2]


def test_windows_hold_their_elements() -> None:
    (window, *_) = tf.data.Dataset.range(4).window(2)
    assert datasets_in(graph_def_of(window)) == ["TensorSliceDataset"]
    (window, *_) = tf.data.Dataset.from_generator(lambda: ([1], [1, 2]), tf.int32).window(2)
    with pytest.raises(TypeError, match="several shapes"):
        window._as_serialized_graph()


def test_a_graph_names_the_stages_of_its_dataset() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        text = session.run(tf.data.Dataset.range(3).batch(2)._as_serialized_graph())
    found = v1.GraphDef.FromString(text)
    assert datasets_in(found) == ["RangeDataset", "BatchDatasetV2"]
