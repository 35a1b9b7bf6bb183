"""`tf.compat.v1.wrap_function` and parts of graphs as functions; answers are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def test_a_function_of_tensors() -> None:
    f = v1.wrap_function(lambda x, y: {"sum": x + y}, [tf.TensorSpec([], tf.float32)] * 2)
    assert float(f(tf.constant(1.0), tf.constant(2.0))["sum"]) == 3.0
    with tf.GradientTape() as tape:
        x = tf.constant(3.0)
        tape.watch(x)
        z = f(x, x)["sum"] ** 2
    assert float(tape.gradient(z, x)) == 24.0
    with pytest.raises((TypeError, ValueError)):
        f(tf.constant(1.0))


def test_variables_belong_to_the_function() -> None:
    def count(x):
        return v1.get_variable("total", initializer=2.0, use_resource=True).assign_add(x)

    f = v1.wrap_function(count, [tf.TensorSpec([], tf.float32)])
    assert [float(f(tf.constant(3.0))) for _ in range(2)] == [5.0, 8.0]
    assert [float(v) for v in f.variables] == [8.0]


def _frozen_graph() -> Any:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        hidden = tf.matmul(x, tf.constant([[1.0], [2.0]]), name="hidden")
        tf.nn.relu(hidden, name="y")
    return graph.as_graph_def()


def test_parts_of_an_imported_graph() -> None:
    proto = _frozen_graph()
    whole = v1.wrap_function(lambda: tf.import_graph_def(proto, name=""), [])
    assert [op.name for op in whole.graph.get_operations()][-1] == "y"
    f = whole.prune("x:0", "y:0")
    np.testing.assert_array_equal(f(tf.constant([[1.0, 2.0], [-1.0, 0.0]])), [[5.0], [0.0]])
    both = whole.prune(
        [whole.graph.get_tensor_by_name("x:0")], {"y": "y:0", "h": ["hidden:0"], "op": "hidden"}
    )
    found = both(x=tf.constant([[-1.0, 0.0]]))
    assert found["op"] is None and found["h"][0].numpy() == [[-1.0]]
    second = whole.prune("hidden:0", "y:0")
    np.testing.assert_array_equal(second(tf.constant([[-1.0], [2.0]])), [[0.0], [2.0]])
    again = both.prune("x:0", "hidden:0")
    np.testing.assert_array_equal(again(tf.constant([[1.0, 1.0]])), [[3.0]])
    with pytest.raises(KeyError, match="nothing"):
        whole.prune("x:0", "nothing:0")


def test_captures_and_variables_of_a_part() -> None:
    v, c = tf.Variable([1.0, 2.0]), tf.constant([10.0, 20.0])

    def f(x):
        return {"read": tf.identity(v * x, name="read"), "sum": tf.identity(c + x, name="total")}

    whole = v1.wrap_function(f, [tf.TensorSpec([2], tf.float32, name="x")])
    part = whole.prune("x:0", "read:0")
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(part(x))
    assert tape.gradient(y, v).numpy().tolist() == [3.0, 4.0]
    v.assign([0.0, 1.0])
    assert part(x).numpy().tolist() == [0.0, 4.0]
    assert whole.prune("x:0", "total:0")(x).numpy().tolist() == [13.0, 24.0]
    assert len(part.captured_inputs) == 1


def test_it_is_kept_in_a_saved_model(tmp_path: Any) -> None:
    module = tf.Module()
    module.f = v1.wrap_function(lambda x: x * 2.0, [tf.TensorSpec([None], tf.float32, name="x")])
    tf.saved_model.save(
        module,
        str(tmp_path),
        signatures={"serving_default": module.f.prune("x:0", {"y": module.f.outputs[0]})},
    )
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.signatures["serving_default"](tf.constant([2.0]))["y"].numpy().tolist() == [4.0]
