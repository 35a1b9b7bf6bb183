"""What tracing has made of each line."""

import json
import pathlib

import pytest

from intaglio import tf


def test_lines_of_loops_and_functions() -> None:
    def layer(x):
        return tf.nn.relu(x) + 1.0

    @tf.function
    def f(x):
        for _ in range(5):
            x = layer(x)
        for _ in tf.range(3):
            x = tf.sin(x)
        return x

    f(tf.ones([4]))
    profile = f.trace_profile()
    by_source = {line.where.source: line for line in profile if line.where is not None}
    assert by_source["return tf.nn.relu(x) + 1.0"].times == 5
    assert by_source["x = tf.sin(x)"].times == 1  # its body is once in the graph
    assert by_source["x = tf.sin(x)"].ops == {"Sin": 1}
    assert profile.nodes == sum(line.nodes for line in profile)
    assert not profile.advice


def test_a_call_that_makes_several_nodes_ran_once() -> None:
    @tf.function
    def f(x):
        return tf.nn.l2_normalize(x) + tf.linalg.norm(x)

    f(tf.ones([4]))
    assert {line.times for line in f.trace_profile()} == {1}


def test_bytes_of_constants() -> None:
    table = tf.ones([1000])

    @tf.function
    def f(x):
        return x + tf.constant(table.numpy())

    f(tf.constant(1.0))
    (line,) = [line for line in f.trace_profile() if "table" in line.where.source]
    assert line.bytes >= 4000


def test_speedscope_and_table(tmp_path: pathlib.Path) -> None:
    f = tf.function(lambda x: x * 2.0)
    with pytest.raises(ValueError, match="no trace yet"):
        f.trace_profile()
    f(tf.constant(1.0))
    profile = f.trace_profile()
    profile.save(tmp_path / "f.json")
    assert json.loads((tmp_path / "f.json").read_text())["profiles"]
    assert "x * 2.0" in str(profile) and "<table>" in profile._repr_html_()


def test_nodes_without_a_line() -> None:
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(3):
                y = y * x
        return tape.gradient(y, x)

    f(tf.constant(1.0))
    graph = f.get_concrete_function(tf.constant(1.0)).graph
    assert any(not node.origin for node in graph.nodes)  # the number of iterations
    profile = f.trace_profile()
    assert profile.nodes == sum([line.nodes for line in profile])
    assert any(step.name == "Const" for s in profile.times.samples for step in s.stack)
