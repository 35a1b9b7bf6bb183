"""What nodes do with resources: facts of ops, and of the graphs that nodes run."""

from __future__ import annotations

import pytest

from intaglio import tf
from intaglio.base.dtypes import resource
from intaglio.ir import resources
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op


def graph_of(function):
    return tf.function(function).get_concrete_function().frozen


def effects(node):
    """For each resource of a node whether it is read, and whether it is written."""
    return [
        (resources.reads(node, i), resources.writes(node, i))
        for i, v in enumerate(node.inputs)
        if v.dtype is resource
    ]


def only(graph, name):
    return next(n for n in graph.nodes if n.op.name == name)


def test_ops_say_what_they_do():
    v = tf.Variable([1.0, 2.0])

    def program():
        v.assign([3.0, 4.0])
        v.scatter_nd_add([[1]], [1.0])
        return tf.gather(v, [1])

    graph = graph_of(program)
    assert effects(only(graph, "AssignVariableOp")) == [(False, True)]
    assert effects(only(graph, "ResourceScatterNdAdd")) == [(True, True)]
    assert effects(only(graph, "ResourceGather")) == [(True, False)]
    assert resources.written(graph) == {0}


def test_a_node_does_what_its_graphs_do():
    v, u = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])

    def program():
        for _ in tf.range(3):
            if tf.reduce_sum(u) > 0:
                v.assign_add(tf.gather(u, [1, 0]))
        return v + u

    graph = graph_of(program)
    names = {id(t): i for i, t in enumerate(graph.inputs)}
    loop = next(n for n in graph.nodes if n.op.has_graphs)
    found = {
        names[id(value)]: (resources.reads(loop, i), resources.writes(loop, i))
        for i, value in enumerate(loop.inputs)
        if value.dtype is resource
    }
    assert sorted(found.values()) == [(True, False), (True, True)]
    assert resources.written(graph) == {i for i, (_, writes) in found.items() if writes}
    handed_on = [v for v in loop.outputs if v.dtype is resource]
    assert {id(resources.origin(v)) for v in handed_on} == {id(v) for v in graph.inputs}


def test_what_comes_from_elsewhere_may_be_any_variable():
    v = tf.Variable([1.0, 2.0])

    def program():
        handle = raw.Identity(v.handle)
        raw.AssignVariableOp(handle, tf.constant([0.0, 0.0]))
        return v + 1.0

    assert resources.written(graph_of(program)) == {0}


def test_what_may_be_dropped_writes_nothing():
    class Dropped(Op):
        """Declared wrongly."""

        signature = "handle: resource -> y: float32"
        stateful = True
        droppable = True

    with pytest.raises(TypeError, match="cannot be droppable"):
        op(Dropped)
