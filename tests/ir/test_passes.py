"""Passes that declare which ops they look for."""

import pytest

from intaglio import tf
from intaglio.ir import passes, walk
from intaglio.ir.verify import InvalidGraphError
from intaglio.opdef import raw


def graph_of(function, *specs):
    return tf.function(function).get_concrete_function(*specs).frozen


def exponentials():
    return graph_of(lambda x: tf.exp(x), tf.TensorSpec([2]))


def test_a_graph_without_the_ops_is_not_walked(monkeypatch) -> None:
    monkeypatch.setattr(passes, "VERIFY", False)
    walked = []

    @passes.looks_for(lambda op: op is raw.Tanh)
    def change(graph, fuel=None):
        walked.append(graph)
        return graph

    graph = exponentials()
    assert change(graph) is graph and not walked
    other = graph_of(lambda x: tf.tanh(x), tf.TensorSpec([2]))
    assert change(other) is other and walked == [other]


def test_each_op_is_asked_about_once(monkeypatch) -> None:
    monkeypatch.setattr(passes, "VERIFY", False)
    asked = []
    change = passes.looks_for(lambda op: bool(asked.append(op)))(lambda graph, fuel=None: graph)
    for _ in range(3):
        change(exponentials())
    assert len(asked) == len(set(asked)) > 0


def test_a_pass_that_looks_for_more_than_it_says_is_found(monkeypatch) -> None:
    monkeypatch.setattr(passes, "VERIFY", True)
    other = exponentials()
    change = passes.looks_for(lambda op: op is raw.Tanh)(lambda graph, fuel=None: other)
    with pytest.raises(InvalidGraphError, match="has no op that it looks for"):
        change(exponentials())


def test_ops_of_graphs_below() -> None:
    def function(x):
        return tf.while_loop(lambda v: tf.reduce_sum(v) < 9.0, lambda v: (tf.exp(v),), (x,))

    graph = graph_of(function, tf.TensorSpec([2]))
    assert raw.Exp not in walk.own_ops(graph)
    assert {raw.Exp, raw.Sum, raw.Less} <= walk.all_ops(graph)
    assert walk.all_ops(graph) is walk.all_ops(graph)
