"""Automatic control dependencies: order of effects, and what is left out."""

import pytest

from intaglio import tf


def graph_of(f, *args):
    return f.get_concrete_function(*args).graph


def control_of(graph):
    return {n.name: [c.name for c in n.control_inputs] for n in graph.nodes}


def test_reads_and_writes_of_one_variable_keep_their_order():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        y = x * v
        v.assign_add(y)
        v.assign(v * 2.0)
        return y

    control = control_of(graph_of(f, tf.constant(1.0)))
    assert control["AssignAddVariableOp"] == ["mul/ReadVariableOp"]
    (assign,) = [n for n in control if n.startswith("AssignVariableOp")]
    assert "AssignAddVariableOp" in control[assign]
    assert float(f(tf.constant(3.0))) == 3.0
    assert float(v) == 8.0


def test_different_variables_do_not_wait_for_one_another():
    a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def f():
        a.assign(3.0)
        b.assign(4.0)

    assert all(not c for c in control_of(graph_of(f)).values())


def test_writes_run_though_nothing_needs_them():
    v = tf.Variable(0)

    @tf.function
    def f(x):
        v.assign_add(1)
        tf.gather(x, [9])
        return x

    x = tf.constant([1.0])
    for _ in range(3):
        f(x)
    assert int(v) == 3


def test_unneeded_reads_are_left_out_of_what_runs():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        v.read_value()
        return x

    concrete = f.get_concrete_function(tf.constant(1))
    assert "ReadVariableOp" not in [n.type for n in concrete.frozen.nodes]


def test_effects_of_inner_functions_happen_once_and_in_order():
    v = tf.Variable(1.0)

    @tf.function
    def double():
        v.assign(v * 2.0)

    @tf.function
    def f():
        double()
        v.assign_add(1.0)
        double()

    f()
    assert float(v) == 6.0
    nodes = graph_of(f).nodes
    calls = [n for n in nodes if n.type == "StatefulPartitionedCall"]
    assert len(calls) == 2
    assert [c.type for c in calls[1].control_inputs] == ["AssignAddVariableOp"]


def test_inner_functions_that_only_read_may_be_left_out():
    v = tf.Variable(1.0)
    read = tf.function(lambda: v + 1.0)

    @tf.function
    def f(x):
        read()
        return x

    concrete = f.get_concrete_function(tf.constant(1))
    types = [n.type for n in concrete.graph.nodes]
    assert "StatefulPartitionedCall" in types


@pytest.mark.parametrize("effect", ["print", "assert"])
def test_prints_and_asserts_stay(effect, capfd):
    @tf.function
    def f(x):
        if effect == "print":
            tf.print("seen", x)
        else:
            tf.debugging.assert_positive(x, message="must be positive")
        return x

    f(tf.constant(1))
    if effect == "print":
        f(tf.constant(2))
        out, err = capfd.readouterr()
        assert (out + err).splitlines() == ["seen 1", "seen 2"]
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
            f(tf.constant(-1))
