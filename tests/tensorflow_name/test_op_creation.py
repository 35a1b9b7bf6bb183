"""Nodes from messages, and class methods that libraries take over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.tensorflow_name.dispatchers import OpDispatcher
from intaglio.tensorflow_name.op_creation import create_c_op, record_gradient

CALLS: list[tuple[str, Any, list[Any]]] = [
    ("Mul", lambda x, y: tf.raw_ops.Mul(x=x, y=y), ["x", "y"]),
    ("MatMul", lambda x, y: tf.matmul(x, y, transpose_b=True), ["x", "y"]),
    ("ConcatV2", lambda x, y: tf.concat([x, y], 1), ["x", "y", 1]),
    ("AddN", lambda x, y: tf.add_n([x, y]), ["x", "y"]),
    ("LeakyRelu", lambda x, y: tf.nn.leaky_relu(x, 0.3), ["x"]),
]


@pytest.mark.parametrize(("kind", "call", "inputs"), CALLS, ids=[c[0] for c in CALLS])
def test_a_node_of_a_message_equals_its_source(kind: str, call: Any, inputs: list[Any]) -> None:
    x = tf.constant([[1.0, -2.0], [3.0, 4.0]])
    y = tf.constant([[0.5, 2.0], [-1.0, 3.0]])

    @tf.function
    def again(x: Any, y: Any) -> Any:
        made = call(x, y).op
        assert made.type == kind
        message = made.node_def
        message.name, message.attr["_cloned"].b = "again", True
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            given = [{"x": x, "y": y}[i] if isinstance(i, str) else tf.constant(i) for i in inputs]
            graph = x.graph
            node = graph._create_op_from_tf_operation(create_c_op(graph, message, given, []))
            node._control_flow_post_processing()
            assert node.name == "again"
            attrs = [v for a in node.op_def.attr for v in (a.name, node.get_attr(a.name))]
            record_gradient(node.type, node.inputs, attrs, node.outputs)
        return node.outputs[0], tape.gradient(node.outputs[0], [x, y])

    with tf.GradientTape() as tape:
        tape.watch([x, y])
        wanted = call(x, y)
    result, gradients = again(x, y)
    np.testing.assert_array_equal(result, wanted)
    for own, other in zip(gradients, tape.gradient(wanted, [x, y]), strict=True):
        assert (own is None) == (other is None)
        assert own is None or np.array_equal(own, other)


def test_eager_ops_are_recorded_afterwards() -> None:
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = tf.nn.leaky_relu(-x, 0.25)
            z = tf.square(x)
        record_gradient("Square", [x], ["T", tf.float32], [z])
    assert tape.gradient(z, x).numpy().tolist() == [4.0, 6.0]
    assert y is not None
    with pytest.raises(ValueError, match="Op type not registered 'Nothing'"):
        record_gradient("Nothing", [x], [], [z])


class _Symbol:
    """Stands for a ragged tensor, as Keras' symbolic ones do."""

    __getitem__ = tf.RaggedTensor.__getitem__


class _Taken(OpDispatcher):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def handle(self, args: Any, kwargs: Any) -> Any:
        if any(isinstance(a, _Symbol) for a in args):
            self.calls.append((args, kwargs))
            return "taken"
        return self.NOT_SUPPORTED


@pytest.fixture(name="dispatcher")
def _dispatcher() -> Iterator[_Taken]:
    from intaglio.opdef import dispatch  # only to clean up

    before = list(dispatch.EVERYWHERE)
    method = dispatch.handlers_of(tf.RaggedTensor.from_row_lengths)
    assert method is not None
    yield _Taken()
    dispatch.EVERYWHERE[:] = before
    method.clear()


@pytest.mark.parametrize(
    "name",
    [
        *("from_value_rowids", "from_row_splits", "from_row_lengths", "from_row_starts"),
        *("from_row_limits", "from_uniform_row_length", "from_nested_value_rowids"),
        *("from_nested_row_splits", "from_nested_row_lengths", "from_tensor", "from_sparse"),
    ],
)
def test_class_methods_of_ragged_tensors_can_be_taken_over(name: str) -> None:
    from intaglio.opdef import dispatch  # only to clean up

    taken = _Taken()
    method = getattr(tf.RaggedTensor, name)
    taken.register(method)
    try:
        given = _Symbol()
        assert method(given, 2) == "taken"
        assert taken.calls == [((tf.RaggedTensor, given, 2), {})]
        with pytest.raises((TypeError, ValueError)):
            method(object(), [0, 3])
    finally:
        handlers = dispatch.handlers_of(method)
        assert handlers is not None
        handlers.clear()


def test_indexing_of_what_stands_for_a_ragged_tensor(dispatcher: _Taken) -> None:
    function = tf.__operators__.ragged_getitem
    dispatcher.register(function)
    symbol = _Symbol()
    assert symbol[1:] == "taken"
    assert dispatcher.calls == [((symbol, slice(1, None)), {})]
    assert function(tf.ragged.constant([[1], [2, 3]]), 1).numpy().tolist() == [2, 3]


def test_maps_of_messages_are_written_while_a_function_is_traced() -> None:
    @tf.function
    def marked(x: Any) -> Any:
        message = tf.add(x, x).op.node_def
        message.attr["mark"].b = True
        return x if message.attr["mark"].b else -x

    assert marked(tf.constant(1.0)).numpy() == 1.0
