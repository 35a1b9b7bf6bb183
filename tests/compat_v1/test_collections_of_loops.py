"""Collections and training operations in loops and branches of a graph. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def _loop(body: Callable[[], Any]) -> Any:
    def step(i: Any, _: Any) -> Any:
        return i + 1, body()

    return tf.while_loop(lambda i, _: i < 3, step, [0, 0.0])[1]


def _branch(body: Callable[[], Any]) -> Any:
    here = v1.placeholder_with_default(True, [])
    return tf.cond(here, body, lambda: 0.0)


@pytest.mark.parametrize(("part", "final"), [(_loop, 2.75), (_branch, 2.0)])
def test_a_part_of_a_graph_has_its_collections(part: Any, final: float) -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        weight = v1.get_variable("weight", initializer=1.0, use_resource=True)
        graph.add_to_collection("mine", 3)
        seen: list[Any] = []

        def body() -> Any:
            seen.append((v1.get_collection("mine"), v1.trainable_variables()))
            graph_here = v1.get_default_graph()
            graph_here.add_to_collection("mine", 4)
            operation = v1.train.GradientDescentOptimizer(0.25).minimize((weight - 3.0) ** 2)
            assert v1.get_collection("train_op") == [operation]
            with tf.control_dependencies([operation]):
                return weight.read_value()

        result = part(body)
        assert seen == [([3], [weight])]
        assert v1.get_collection("mine") == [3, 4]
        session.run(v1.global_variables_initializer())
        assert session.run(result) == final


def test_a_functions_minimize_returns_an_operation() -> None:
    weight = tf.Variable(1.0)
    steps = tf.Variable(0, dtype=tf.int64)
    operations: list[Any] = []

    @tf.function
    def train() -> Any:
        optimizer = v1.train.GradientDescentOptimizer(0.25)
        loss = lambda: (weight - 3.0) ** 2  # noqa: E731
        operations.append(optimizer.minimize(loss, global_step=steps))
        return weight.read_value()

    assert train().numpy() == 2.0
    assert (train().numpy(), steps.numpy()) == (2.5, 2)
    assert isinstance(operations[0], tf.Operation)
