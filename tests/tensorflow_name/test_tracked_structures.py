"""Lists, tuples and dicts in attributes of libraries' layers. Answers are those of TensorFlow 2.21 and Keras 2."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.state.tracking import AutoTrackable
from intaglio.tensorflow_name.tracked_structures import (
    ListWrapper,
    NoDependency,
    TrackableDataStructure,
    sticky_attribute_assignment,
    wrap_or_unwrap,
)


class Layer(AutoTrackable):
    """Sets attributes as layers of Keras 2 do: past AutoTrackable."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, sticky_attribute_assignment(self, name, value))


def test_a_list_that_grows_has_what_is_in_it() -> None:
    found = wrap_or_unwrap([tf.Variable(1.0)])
    assert isinstance(found, TrackableDataStructure)
    assert len(found.trainable_weights) == 1
    found.append({"a": [tf.Variable(2.0, trainable=False)]})
    assert (len(found.trainable_weights), len(found.non_trainable_weights)) == (1, 1)
    assert len(found.weights) == 2


def test_what_is_wrapped() -> None:
    v = tf.Variable(1.0)
    for value in ([1], {"a": 1}, OrderedDict(a=1), (v, 1)):
        assert wrap_or_unwrap(value) == value
        assert isinstance(wrap_or_unwrap(value), TrackableDataStructure)
        assert wrap_or_unwrap(wrap_or_unwrap(value)) == value
    for value in ((1, 2), "text", 3, None, v):
        assert wrap_or_unwrap(value) is value
    assert wrap_or_unwrap(NoDependency([1])) == [1]


def test_checkpoints_have_the_names_of_plain_lists(tmp_path: Any) -> None:
    layer = Layer()
    layer.parts = [tf.Variable(1.0), {"b": tf.Variable(2.0)}]
    layer._self_setattr_tracking = False
    layer.hidden = [tf.Variable(3.0)]
    path = tf.train.Checkpoint(layer=layer).save(str(tmp_path / "c"))
    names = [n for n, _ in tf.train.list_variables(path) if n.startswith("layer")]
    suffix = "/.ATTRIBUTES/VARIABLE_VALUE"
    assert names == [f"layer/parts/0{suffix}", f"layer/parts/1/b{suffix}"]
    layer.parts[1]["b"].assign(0.0)
    tf.train.Checkpoint(layer=layer).restore(path)
    assert float(layer.parts[1]["b"]) == 2.0


@given(
    st.recursive(
        st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(max_size=2), x), max_leaves=9
    )
)
def test_wrapped_structures_are_what_they_hold(value: Any) -> None:
    wrapped = wrap_or_unwrap(value)
    assert wrapped == value
    assert json.dumps(wrapped) == json.dumps(value)
    assert tf.nest.flatten(wrapped) == tf.nest.flatten(value)
    assert tf.nest.map_structure(lambda x: x + 1, wrapped) == tf.nest.map_structure(
        lambda x: x + 1, value
    )
    assert isinstance(wrapped, ListWrapper) is isinstance(value, list)


@pytest.mark.parametrize(
    ("value", "shown", "text"),
    [
        ([1, {"a": 2}], "ListWrapper([1, DictWrapper({'a': 2})])", None),
        ([], "ListWrapper([])", None),
        ({"a": [1]}, "DictWrapper({'a': ListWrapper([1])})", "{'a': ListWrapper([1])}"),
        ({}, "DictWrapper({})", "{}"),
    ],
)
def test_wrapped_structures_say_what_they_are(value: Any, shown: str, text: str | None) -> None:
    # TensorFlow 2.21's answers were recorded.
    wrapped = wrap_or_unwrap(value)
    assert repr(wrapped) == shown
    assert str(wrapped) == f"{wrapped}" == (text or shown)


def test_a_wrapped_tuple_shows_its_elements() -> None:
    module = tf.Module(name="m")
    wrapped = wrap_or_unwrap((1, [module]))
    assert repr(wrapped) == f"_TupleWrapper((1, ListWrapper([{module!r}])))"
    assert str(wrapped) == f"(1, ListWrapper([{module!r}]))"
