"""`import_graph_def` with tensors of the graph instead of the message's. TensorFlow 2.21 was asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


@pytest.fixture(scope="module")
def message() -> Any:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.multiply(x, 2.0, name="y")
        first, second = tf.split(tf.add(y, 1.0, name="z"), 2, name="parts")
        joined = tf.concat([second, first], 0)
        with tf.control_dependencies([y.op]):
            tf.identity(joined, name="result")
    return graph.as_graph_def()


@pytest.mark.parametrize(
    ("replaced", "result"),
    [
        ({"x:0": [5.0, 6.0]}, [13.0, 11.0]),
        ({"x": [5.0, 6.0]}, [13.0, 11.0]),
        ({"y:0": [5.0, 6.0]}, [7.0, 6.0]),
        ({"parts:1": [9.0]}, [9.0, 3.0]),
        ({"parts": [9.0]}, [5.0, 9.0]),
        ({"parts:0": [8.0], "parts:1": [9.0]}, [9.0, 8.0]),
        ({"result:0": [1.0, 2.0]}, [1.0, 2.0]),
    ],
)
def test_any_tensor_is_replaced_for_those_that_take_it(
    message: Any, replaced: Any, result: Any
) -> None:
    with tf.Graph().as_default() as graph:
        given = {k: tf.constant(v) for k, v in replaced.items()}
        (found,) = tf.import_graph_def(message, given, ["result:0"])
        names = [n.name for n in graph.get_operations() if n.name.startswith("import/")]
        assert {f"import/{n.name}" for n in message.node} == set(names)
        with v1.Session() as session:
            values = session.run(found, {"import/x:0": [1.0, 2.0]})
    np.testing.assert_array_equal(values, result)


def test_what_is_waited_for_is_replaced(message: Any) -> None:
    with tf.Graph().as_default() as graph:
        other = tf.constant(0.0, name="other")
        tf.import_graph_def(message, {"^y": other}, name="")
        assert graph.get_operation_by_name("result").control_inputs == [other.op]


@pytest.mark.parametrize(
    ("replaced", "phrase"),
    [
        ({"none:0": [1.0]}, "not found in graph_def"),
        ({"parts:7": [1.0]}, "not found in graph_def"),
        ({"z:0": np.int32([1, 2])}, "int32"),
        ({"z:0": [1.0, 2.0, 3.0]}, "divi"),
    ],
)
def test_errors(message: Any, replaced: Any, phrase: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=phrase):
        tf.import_graph_def(message, {k: tf.constant(v) for k, v in replaced.items()}, ["result:0"])
