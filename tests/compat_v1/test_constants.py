"""Functions and graphs whose variables become constants; names, forms and errors are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.compat_v1.constants import convert_variables_to_constants_v2
from intaglio.compat_v1.graph_messages import function_def_to_graph, optimized

v1: Any = tf.compat.v1


def _everywhere() -> tuple[Any, list[Any]]:
    """A function that reads variables in a called function, a branch and a loop; and its variables."""
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    scale = tf.Variable(2.0)
    offset = tf.constant([5.0, 6.0])

    @tf.function
    def scaled(x):
        return x * scale + offset

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 2], tf.float32, name="x"),
            tf.TensorSpec([], tf.int32, name="n"),
        ]
    )
    def f(x, n):
        y = scaled(tf.matmul(x, table))
        if n > 2:
            y = y + scale
        else:
            y = y - table[0]
        for i in tf.range(n):
            y = y * scale + tf.gather(table, i % 2)
        return {
            "y": y,
            "rows": tf.gather(table, [1, 0]),
            "element": tf.gather_nd(table, [[0, 1]]),
            "n": n,
            "shape": tf.shape(table),
        }

    return f, [table, scale]


def _ops(graph_def: Any) -> set[str]:
    inside = [n for f in graph_def.library.function for n in f.node_def]
    return {n.op for n in (*graph_def.node, *inside)}


@given(
    x=st.lists(st.tuples(*[st.floats(-2, 2, width=32)] * 2), min_size=1, max_size=3),
    n=st.integers(0, 5),
)
def test_a_function_with_constants_returns_the_same(x: Any, n: int) -> None:
    f, _ = _everywhere()
    frozen = convert_variables_to_constants_v2(f.get_concrete_function())
    wanted = tf.nest.flatten(f(tf.constant(x), tf.constant(n)))
    for found in (
        frozen(tf.constant(x), tf.constant(n)),
        frozen(x=tf.constant(x), n=tf.constant(n)),
        tf.function(frozen)(tf.constant(x), tf.constant(n)),
    ):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_it_has_neither_variables_nor_captures() -> None:
    f, variables = _everywhere()
    frozen = convert_variables_to_constants_v2(f.get_concrete_function())
    before = frozen(tf.ones([1, 2]), tf.constant(3))
    variables[0].assign(tf.zeros([2, 2]))
    after = frozen(tf.ones([1, 2]), tf.constant(3))
    for a, b in zip(after, before, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [t.name for t in frozen.inputs] == ["x:0", "n:0"]
    names = [t.name for t in frozen.outputs]
    assert names == ["Identity:0", "Identity_1:0", "Identity_2:0", "Identity_3:0", "Identity_4:0"]
    assert frozen.captured_inputs == [] and frozen.variables == ()
    ops = _ops(frozen.graph.as_graph_def())
    assert not {o for o in ops if "Variable" in o or "Resource" in o}
    assert "StatefulPartitionedCall" not in ops
    assert {"GatherV2", "GatherNd", "Const", "MatMul"} <= ops


def test_a_function_that_writes_cannot_have_constants() -> None:
    v = tf.Variable(1.0)
    write = tf.function(lambda: v.assign_add(1.0)).get_concrete_function()
    with pytest.raises(ValueError, match=r"Input 0 of node AssignAddVariableOp .*incompatible"):
        convert_variables_to_constants_v2(write)


def test_tables_stay_arguments() -> None:
    keys = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    table = tf.lookup.StaticHashTable(keys, -1)
    look = tf.function(table.lookup).get_concrete_function(tf.TensorSpec([], tf.string))
    frozen = convert_variables_to_constants_v2(look)
    assert [t.dtype for t in frozen.inputs] == [tf.string, tf.resource]
    assert int(frozen(tf.constant("a"), table.resource_handle)[0]) == 1


def test_the_graph_of_a_session() -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        w = v1.get_variable("w", initializer=[2.0, 3.0], use_resource=True)
        other = v1.get_variable("other", initializer=1.0, use_resource=True)
        tf.add(x * w, other, name="y")
        tf.identity(x, name="unused")
        session = v1.Session(graph=graph)
        session.run(v1.global_variables_initializer())
        session.run(w.assign_add([1.0, 1.0]))
    whole = graph.as_graph_def()
    found = v1.graph_util.convert_variables_to_constants(session, whole, ["y"])
    names = {n.name: n.op for n in found.node}
    assert names["w"] == names["other"] == "Const" and "unused" not in names
    with tf.Graph().as_default() as again:
        tf.import_graph_def(found, name="")
        assert v1.Session(graph=again).run("y:0", {"x:0": [1.0, 1.0]}).tolist() == [4.0, 5.0]
    kept = v1.graph_util.convert_variables_to_constants(
        session, whole, ["y"], variable_names_blacklist=["other"]
    )
    assert {n.name: n.op for n in kept.node}["other"] == "VarHandleOp"


def test_parts_of_graphs() -> None:
    util = v1.graph_util
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        b = tf.identity(a, name="b")
        with tf.control_dependencies([tf.identity(a, name="first")]):
            tf.add(tf.debugging.check_numerics(b, "", name="check"), a, name="c")
        tf.constant(2.0, name="other")
    whole = graph.as_graph_def()
    part = util.extract_sub_graph(whole, ["c"])
    assert [n.name for n in part.node] == ["a", "b", "first", "check", "c"]
    with pytest.raises(AssertionError, match="nothing is not in graph"):
        util.extract_sub_graph(whole, ["nothing"])
    with pytest.raises(TypeError, match="dest_nodes"):
        util.extract_sub_graph(whole, "c")
    assert "b" not in [n.name for n in util.remove_training_nodes(part).node]
    assert "b" in [n.name for n in util.remove_training_nodes(part, ["b"]).node]
    assert util.tensor_shape_from_node_def_name(graph, "a") == []


def test_graphs_are_optimized_as_messages() -> None:
    """Calls are inlined, constants folded; the nodes of the collection keep their names."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.function(lambda a: a * tf.reduce_sum([1.0, 2.0]))(x)
        tf.identity(y, name="y")
        tf.add(tf.constant(1.0), 2.0, name="three")
        tf.constant(0.0, name="unused")
    meta = v1.train.export_meta_graph(graph_def=graph.as_graph_def(), graph=graph)
    meta.collection_def["train_op"].node_list.value.extend(["x:0", "y:0", "three"])
    found = optimized(None, meta)
    ops = {n.name: n.op for n in found.node}
    assert ops["three"] == "Const" and ops["x"] == "Placeholder" and "unused" not in ops
    assert not {"PartitionedCall", "StatefulPartitionedCall", "Sum"} & set(ops.values())
    with tf.Graph().as_default() as again:
        tf.import_graph_def(found, name="")
        values = v1.Session(graph=again).run(["y:0", "three:0"], {"x:0": [1.0, 2.0]})
    assert values[0].tolist() == [3.0, 6.0] and values[1] == 3.0


def test_called_functions_are_graphs_by_name() -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None], name="x")
        tf.cond(tf.size(x) > 1, lambda: x + 1.0, lambda: x)
        ((_, first), *_) = graph._functions.items()
        inner = function_def_to_graph(first.definition, input_shapes=[[3]])
    assert inner.inputs[0].shape == [3] and len(inner.outputs) == 1
