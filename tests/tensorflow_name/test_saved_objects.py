"""The objects below a root and what is saved of them. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.tensorflow_name.saved_objects import (
    gather_initializers,
    list_objects,
    saveable_objects_from_trackable,
    streaming_restore,
)

v1: Any = tf.compat.v1


class _Model(tf.Module):
    """A root with a variable and a table."""

    def __init__(self) -> None:
        super().__init__()
        self.v = tf.Variable(1.0)
        self.t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int32, 0)


def test_objects_are_listed_and_eager_ones_need_no_initializer() -> None:
    model = _Model()
    assert list_objects(model) == [model, model.v, model.t]
    assert gather_initializers(model) == []


def test_the_initializers_of_a_graph_run_in_a_session() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        model: Any = tf.Module()
        model.a, model.b = tf.Variable(1.0), tf.Variable([2.0])
        operations = gather_initializers(model)
        assert len(operations) == 2
        session.run(operations)
        assert session.run([model.a, model.b])[1].tolist() == [2.0]


@pytest.mark.parametrize(
    ("dtype", "value"), [("float32", 4.0), ("int64", 4), ("bool", True), ("string", b"x")]
)
def test_a_variable_takes_its_value_back(dtype: str, value: Any) -> None:
    variable = tf.Variable(tf.zeros([], dtype) if dtype != "string" else "")
    ((key, create),) = saveable_objects_from_trackable(variable).items()
    assert key == ".TENSORS"
    saveable = create()
    assert [(s.name, s.dtype.name) for s in saveable.specs] == [("VARIABLE_VALUE", dtype)]
    saveable.restore([tf.constant(value, dtype)], None)
    assert create().specs[0].tensor.numpy() == value


def test_a_table_has_keys_and_values() -> None:
    table = _Model().t
    ((key, create),) = saveable_objects_from_trackable(table).items()
    assert key == ".TENSORS"
    assert [(s.name, s.dtype.name) for s in create().specs] == [
        ("-keys", "string"),
        ("-values", "int32"),
    ]
    assert create(name="x").specs[0].name == "x-keys"
    create().restore([[b"a", b"b"], [3, 4]], None)
    assert table.lookup(tf.constant(["b", "c"])).numpy().tolist() == [4, 0]


def test_a_table_of_a_graph_is_restored_by_an_operation() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
        (create,) = saveable_objects_from_trackable(table).values()
        saveable = create()
        places = [v1.placeholder(s.tensor.dtype, s.tensor.shape) for s in saveable.specs]
        assign = saveable.restore(places, None)
        session.run(assign, dict(zip(places, [[7], [0.5]], strict=True)))
        keys, values = session.run([s.tensor for s in saveable.specs])
        assert (keys.tolist(), values.tolist()) == ([7], [0.5])


def test_other_objects_save_what_they_say() -> None:
    assert saveable_objects_from_trackable(_Model()) == {}
    iterator = iter(tf.data.Dataset.range(4))
    (create,) = saveable_objects_from_trackable(iterator).values()
    saved = [s.tensor for s in create().specs]
    assert next(iterator).numpy() == 0
    create().restore(saved, None)
    assert next(iterator).numpy() == 0

    class _Own(tf.Module):
        def _gather_saveables_for_checkpoint(self) -> Any:
            return {"mine": np.ones}

    assert saveable_objects_from_trackable(_Own()) == {"mine": np.ones}


def test_variables_of_a_graph_are_restored_when_they_come(tmp_path: Any) -> None:
    saved: Any = tf.Module()
    saved.first, saved.later = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    prefix = tf.train.Checkpoint(saved).write(str(tmp_path / "values"))
    with tf.Graph().as_default(), v1.Session() as session:
        parts: Any = tf.Module()
        parts.first = v1.get_variable("first", initializer=[0.0, 0.0], use_resource=True)
        status = tf.train.Checkpoint(parts).read(prefix)
        streaming_restore(status=status, session=session)
        assert session.run(parts.first).tolist() == [1.0, 2.0]
        parts.later = v1.get_variable("later", initializer=0.0, use_resource=True)
        assert session.run(parts.later) == 3.0
        status.assert_consumed()
    streaming_restore(status)  # eagerly variables are restored when they are read
