"""First calls, which run a graph node by node: results, errors, memory and state as with generated code."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import errors
from intaglio.runtime import interpreter

SIDE = 256


def frozen(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs).frozen


def test_only_the_first_call_is_run_node_by_node(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    run_nodes = interpreter.run_nodes
    monkeypatch.setattr(
        interpreter, "run_nodes", lambda *args: runs.append(len(args)) or run_nodes(*args)
    )
    f = tf.function(lambda x: tf.tanh(x) + 1.0)
    x = tf.range(3.0)
    first, second = f(x), f(x)
    assert len(runs) == 1
    np.testing.assert_array_equal(first, second)
    concrete = tf.function(lambda x: tf.tanh(x) + 1.0).get_concrete_function(x)
    assert [concrete(x).shape for _ in range(3)] == [(3,)] * 3
    assert len(runs) == 2


def test_outputs_may_be_inputs_constants_lists_or_nothing() -> None:
    def function(x):
        parts = tf.split(x, 3)
        values, indices = tf.math.top_k(x, 2)
        return x, tf.constant(4), parts, values, indices, tf.unstack(tf.zeros([0]))

    graph = frozen(function, tf.TensorSpec([6]))
    array = np.array([3, 1, 2, 9, 8, 7], np.float32)
    for a, b in zip(
        interpreter.run_nodes(graph, array), interpreter.compiled(graph)(array), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_values_are_dropped_after_their_last_use() -> None:
    def chain(x):
        for _ in range(20):
            x = tf.tanh(x)
        return x

    graph = frozen(chain, tf.TensorSpec([SIDE, SIDE]))
    array = np.ones([SIDE, SIDE], np.float32)
    tf.tanh(array)  # its kernel is compiled
    tracemalloc.start()
    try:
        interpreter.run_nodes(graph, array)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.2 * array.nbytes


def test_errors_name_the_node_and_the_line() -> None:
    @tf.function
    def function(x, i):
        y = tf.gather(x, i)
        return y + 1.0

    with pytest.raises(tf.errors.InvalidArgumentError, match="not in") as caught:
        function(tf.ones([3]), tf.constant([7]))
    assert "GatherV2" in str(caught.value)
    line = function.python_function.__code__.co_firstlineno + 2
    assert f"line {line}, in function" in str(caught.value)


def test_errors_in_loops_and_calls_name_all_nodes() -> None:
    @tf.function
    def inner(x, i):
        return tf.gather(x, i)

    @tf.function
    def outer(x):
        total = 0.0
        for i in tf.range(5):
            total += inner(x, i)
        return total

    graph = outer.get_concrete_function(tf.TensorSpec([3])).frozen
    with pytest.raises(Exception) as caught:
        interpreter.run_nodes(graph, np.ones(3, np.float32))
    nodes = interpreter.failing_nodes(caught.value)
    names = [n.op.name for n in nodes]
    assert names[0] in ("While", "StatelessWhile", "For") and names[-1] == "GatherV2", names
    inputs = interpreter.failing_inputs(caught.value)
    assert inputs["indices"] == 3 and inputs["params"].shape == (3,)


def test_what_cannot_run_raises_before_anything_has_run() -> None:
    v = tf.Variable(1.0)

    def function():
        v.assign_add(1.0)
        with tf.device("/job:worker/task:7"):
            return v + 1.0

    with pytest.raises(errors.InvalidArgumentError, match="Cannot assign a device"):
        tf.function(function)()
    assert v.numpy() == 1.0


def test_random_numbers_go_on_after_the_first_call() -> None:
    def drawn():
        tf.random.set_seed(3)
        f = tf.function(lambda: tf.random.uniform([2], seed=5))
        return [f().numpy().tolist() for _ in range(6)]

    numbers = drawn()
    assert len({tuple(n) for n in numbers}) == 6
    assert numbers == drawn()
    tf.random.set_seed(3)
    assert numbers == [tf.random.uniform([2], seed=5).numpy().tolist() for _ in range(6)]
