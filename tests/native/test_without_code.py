"""All nodes without code are found by one lowering, those of branches and bodies among them."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf
from intaglio.native import pipeline
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.pipeline import Graphs
from intaglio.native.program import Program, without_code
from intaglio.optimize.inline import inline_calls
from intaglio.optimize.pipeline import optimize


def graph_of(function: Any, *specs: tf.TensorSpec) -> Any:
    traced: Any = tf.function(function)
    concrete = traced.get_concrete_function(*specs)
    return pipeline.run(optimize(inline_calls(concrete.frozen)), Graphs.CALLED)


def test_each_node_is_named_once() -> None:
    """Not what is computed of their results, nor the branch that has one of them."""

    def f(x: Any) -> Any:
        y = tf.linalg.expm(x) * 2.0

        def one() -> Any:
            return tf.cast(tf.strings.length(tf.strings.as_string(y)), tf.float32) + y

        z = tf.cond(y[0, 0] > 0.0, one, lambda: y)
        total = tf.constant(0.0)
        for i in tf.range(tf.cast(z[0, 0], tf.int32)):
            total += tf.strings.to_number(tf.strings.as_string(i))
        return tf.linalg.expm(z @ x) + total

    graph = graph_of(f, tf.TensorSpec([3, 3], tf.float32))
    with pytest.raises(Unsupported):
        Program(graph)
    found = sorted([node.op.name for node, reason in without_code(graph) if reason])
    assert found == ["AsString", "AsString", "MatrixExponential", "MatrixExponential"]


def test_graphs_with_code_have_none() -> None:
    def f(x: Any, v: Any) -> Any:
        total = tf.zeros_like(x)
        for i in tf.range(tf.cast(x[0], tf.int32)):
            total += tf.sin(x) * tf.cast(i, tf.float32)
        return tf.nn.softmax(total), tf.concat([x, v], 0)

    spec = tf.TensorSpec([5], tf.float32)
    assert without_code(graph_of(f, spec, spec)) == []


def test_variables_are_written_alike() -> None:
    v = tf.Variable([1.0, 2.0])

    def f(x: Any) -> Any:
        v.assign_add(x)
        lengths = tf.strings.length(tf.strings.as_string(v))
        v.assign(v * tf.cast(lengths, tf.float32))
        return v.read_value()

    found = without_code(graph_of(f, tf.TensorSpec([2], tf.float32)))
    assert [node.op.name for node, _ in found] == ["AsString"]
