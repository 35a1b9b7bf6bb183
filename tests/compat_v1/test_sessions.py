"""Graphs run in sessions, as programs of TensorFlow 1 do. Values and errors are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.compat_v1.default_graphs import graph_mode
from intaglio.graphdef.config_messages import CallableOptions
from intaglio.tensorflow_name import eager_context
from intaglio.trace.scopes import eager_mode

v1: Any = tf.compat.v1


def test_fetches_and_feeds() -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = x * 2.0
        word = tf.constant("abc")
        sparse = tf.sparse.from_dense([[1, 0], [0, 2]])
    with v1.Session(graph=graph) as session:
        fed = {x: [[1, 2], [3, 4]]}
        found = session.run({"y": y, "both": [x, "x:0"], "word": word}, fed)
        assert found["word"] == b"abc"
        np.testing.assert_array_equal(found["y"], [[2, 4], [6, 8]])
        np.testing.assert_array_equal(found["both"][1], fed[x])
        assert isinstance(session.run(tf.reduce_sum(y), {y: [[5.0, 6.0]]}), np.float32)
        assert session.run(sparse).values.tolist() == [1, 2]
        assert session.run(y.op, fed) is None
        assert session.make_callable(y, [x])([[1, 1]]).tolist() == [[2, 2]]


def test_libraries_choose_between_recording_and_running_at_once() -> None:
    """The answers of TensorFlow to `tensorflow.python.eager.context`'s modes, one inside of the other."""
    with tf.Graph().as_default() as graph, graph_mode():
        assert not tf.executing_eagerly()
        assert (tf.constant(1.0) + 2.0).graph is graph
    with graph_mode():
        tripled = tf.constant(3.0) * 3.0
        with tf.init_scope():
            assert not tf.executing_eagerly()
        with eager_mode():
            assert float(tf.constant(1.0) + 1.0) == 2.0
            with graph_mode():
                assert tf.constant(1.0).graph is tripled.graph is v1.get_default_graph()
        assert v1.Session().run(tripled) == 9.0
    assert tf.executing_eagerly()
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape, eager_mode():
        squared = v * v
    assert float(tape.gradient(squared, v)) == 6.0


def test_errors_of_a_run_are_those_of_ops() -> None:
    """Class, words and places in the message as on TensorFlow."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, None])
        y = v1.placeholder(tf.float32, [None, None])
        total = tf.add(x, y, name="total")
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        v1.Session(graph=graph).run(total, {x: np.ones([2, 3]), y: np.ones([4, 1])})
    error = raised.value
    assert error.op is total.op and error.node_def.op == "AddV2"
    assert error.message.startswith("Graph execution error:\n\nDetected at node 'total' defined at")
    assert "Node: 'total'\nIncompatible shapes: [2,3] vs. [4,1]\n\t [[{{node total}}]]" in str(
        error
    )
    assert "Original stack trace for 'total':" in str(error)
    assert "test_sessions.py" in str(error)


def test_variables_belong_to_the_session() -> None:
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", [2], initializer=v1.ones_initializer())
        more = v.assign_add([1.0, 2.0])
        start = v1.global_variables_initializer()
    first, second = v1.Session(graph=graph), v1.Session(graph=graph)
    for session in (first, second):
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)
        session.run(start)
    assert first.run(more).tolist() == [2, 3]
    assert first.run(v).tolist() == [2, 3]
    assert second.run(v).tolist() == [1, 1]
    v.load([7.0, 8.0], second)
    assert v.eval(second).tolist() == [7, 8]
    assert first.run(v).tolist() == [2, 3]


def test_rows_change_when_the_result_is_fetched() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=np.zeros([3, 2], np.float32))
        update = v1.scatter_update(v, [1], [[1.0, 2.0]])
        more = v1.scatter_add(v, [1, 1], [[1.0, 0.0], [1.0, 0.0]])
        session.run(v1.global_variables_initializer())
        assert session.run(v[1]).tolist() == [0.0, 0.0]
        assert session.run(update)[1].tolist() == [1.0, 2.0]
        assert session.run(more)[1].tolist() == [3.0, 2.0]


def test_ragged_tensors_are_values_with_rows() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        rows = [[[1, 2], [3]], [], [[4]]]
        ragged = tf.ragged.constant(rows)
        value = session.run(ragged)
        assert value.to_list() == rows
        assert (value.ragged_rank, value.shape, value.dtype) == (2, (3, None, None), np.int32)
        assert str(value) == f"<tf.RaggedTensorValue {rows}>"


def test_what_is_not_needed_does_not_run() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable(0)
        more = v.assign_add(1)
        session = v1.Session(graph=graph)
        session.run(v1.global_variables_initializer())
        session.run([v, v])
        assert session.run(v) == 0
        session.run(more)
        assert session.run(v) == 1
        with tf.control_dependencies([more.op]):
            after = tf.identity(v)
        assert session.run(after) == 2


@pytest.mark.parametrize("name", ["GradientDescent", "Momentum", "Adam", "Adagrad", "RMSProp"])
def test_optimizers_in_graphs_and_eagerly_are_one(name: str) -> None:
    options = {"momentum": 0.9} if name == "Momentum" else {}
    kind = getattr(v1.train, f"{name}Optimizer")
    eager, optimizer = tf.Variable([1.0, -2.0]), kind(0.1, **options)
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(eager**2), var_list=[eager])
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, -2.0])
        step = v1.train.get_or_create_global_step()
        train = kind(0.1, **options).minimize(tf.reduce_sum(v**2), global_step=step)
        start = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(start)
        for _ in range(3):
            session.run(train)
        found, steps = session.run([v, step])
    np.testing.assert_allclose(found, eager.numpy(), rtol=1e-6)
    assert steps == 3


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda s, x, y: s.run(None), TypeError, "invalid type"),
        (lambda s, x, y: s.run(y), tf.errors.InvalidArgumentError, "You must feed a value"),
        (lambda s, x, y: s.run(y, {x: [1.0]}), ValueError, "Cannot feed value of shape"),
        (lambda s, x, y: s.run(y, {x: y}), TypeError, "cannot be a tf.Tensor"),
        (lambda s, x, y: s.run("none:0"), ValueError, "not"),
        (lambda s, x, y: v1.Session(graph=tf.Graph()).run(y), RuntimeError, "is empty"),
        (lambda s, x, y: y.eval(), ValueError, "No default session"),
        (lambda s, x, y: (s.close(), s.run(y)), RuntimeError, "closed Session"),
    ],
)
def test_errors(call: Any, kind: Any, phrase: str) -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2])
        y = x + 1.0
    with pytest.raises(kind, match=phrase):
        call(v1.Session(graph=graph), x, y)


def test_tensors_of_plain_graphs_are_keys() -> None:
    with tf.Graph().as_default():
        a, b = tf.constant(1.0), tf.constant(1.0)
        v = tf.Variable(1.0)
        assert {a: 1, v: 2}[v] == 2
        assert a == a
        assert (a == b) is False
        assert (v == a) is False
    with pytest.raises(TypeError, match="unhashable"):
        hash(tf.constant(1.0))


def test_without_eager_execution() -> None:
    v1.disable_eager_execution()
    try:
        total = tf.constant(3) + 4
        assert not tf.executing_eagerly()
        with v1.Session() as session:
            assert session.run(total) == total.eval() == 7
        v1.reset_default_graph()
        assert not v1.get_default_graph().get_operations()
    finally:
        v1.enable_eager_execution()
    assert tf.executing_eagerly()


_OPS = [tf.add, tf.multiply, tf.maximum, tf.subtract]


@given(st.lists(st.sampled_from(_OPS), min_size=1, max_size=8), st.data())
def test_any_tensor_between_can_be_fed(ops: list[Any], data: Any) -> None:
    """A session is the program cut at what is fed."""
    with tf.Graph().as_default() as graph:
        values = [v1.placeholder(tf.float32, []), tf.constant(2.0)]
        pairs: list[tuple[int, int]] = []
        for op in ops:
            pair = tuple(data.draw(st.integers(0, len(values) - 1)) for _ in range(2))
            pairs.append(pair)
            values.append(op(values[pair[0]], values[pair[1]]))
    cut = data.draw(st.integers(0, len(values) - 1))
    fed = {values[0]: 1.5, values[cut]: -3.0}
    expected = [fed[values[0]], -3.0 if cut == 1 else 2.0]
    for i, (op, (a, b)) in enumerate(zip(ops, pairs, strict=True), 2):
        plain = op(expected[a], expected[b]).numpy()
        expected.append(-3.0 if i == cut else float(plain))
    with v1.Session(graph=graph) as session:
        assert [float(v) for v in session.run(values, fed)] == expected


def test_equality_in_functions_of_plain_graphs_is_identity() -> None:
    seen: list[Any] = []

    def see(x: Any) -> Any:
        seen.append((x == x, x == 0.0, x != 0.0))
        return x

    with tf.Graph().as_default():
        x = tf.constant(0.0)
        see(x)
        tf.while_loop(lambda i: i < 3.0, lambda i: see(i) + 1.0, (x,))
        tf.cond(x > 1.0, lambda: see(x), lambda: x)
        tf.function(see)(x)
        tf.map_fn(see, tf.ones([2]))
    assert seen == [(True, False, True)] * 5
    tf.function(see)(tf.constant(0.0))  # elsewhere elements are compared
    assert all(isinstance(t, tf.Tensor) for t in seen[-1])


def test_what_keras_2_does_in_graphs_of_tensorflow_1():
    """Its sessions initialize what is not; it walks along control edges and marks operations."""
    tf1 = tf.compat.v1
    with tf1.Graph().as_default(), tf1.Session(config=eager_context.get_config()) as session:
        first, second = tf1.Variable(1.0), tf1.get_variable("w", [2])
        asked = [tf1.is_variable_initialized(v) for v in (first, second)]
        assert session.run(asked) == [False, False]
        session.run(first.initializer)
        assert session.run(asked) == [True, False]
        with tf1.control_dependencies([first.initializer]):
            after = tf.no_op()
        assert after in [*first.initializer.outputs, *first.initializer._control_outputs]
        assert first.initializer not in after._control_outputs
        after._unconditional_update = True
        assert after._unconditional_update
        assert after._get_control_flow_context() is None
        assert eager_context.get_config().allow_soft_placement is False


def test_each_session_has_random_numbers_of_its_own() -> None:
    """A new session begins with the first numbers again, whatever another drew; TensorFlow was asked.

    In branches and loops too, and of fetches in other combinations one stream goes on.
    """
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(4)
        plain = v1.random_normal([2], seed=1)
        variable = v1.get_variable("v", [2])
        branch = tf.cond(tf.constant(True), lambda: v1.random_uniform([2]), lambda: tf.zeros([2]))
        loop = tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x + v1.random_uniform([2])), [0, tf.zeros([2])]
        )[1]
    fetches = [plain, branch, loop]
    first, second = v1.Session(graph=graph), v1.Session(graph=graph)
    drawn = [first.run(fetches) for _ in range(3)]
    np.testing.assert_allclose(drawn[0][0], [0.5251813, -0.5873255], rtol=1e-5)
    first.run(variable.initializer)
    np.testing.assert_array_equal(drawn[0], second.run(fetches))
    alone = [second.run(f) for f in fetches]
    np.testing.assert_array_equal(drawn[1], alone)
    np.testing.assert_array_equal(drawn[2], second.run(fetches[::-1])[::-1])
    second.run(variable.initializer)
    np.testing.assert_array_equal(first.run(variable), second.run(variable))
    third = v1.Session(graph=graph)
    np.testing.assert_array_equal(third.run([*fetches, plain])[:3], drawn[0])


def _options(feed: list[Any], fetch: list[Any], connections: list[tuple[Any, Any]]) -> Any:
    options = CallableOptions()
    options.feed.extend(t.name for t in feed)
    options.fetch.extend(t.name for t in fetch)
    for source, target in connections:
        options.tensor_connection.add(from_tensor=source.name, to_tensor=target.name)
    return options


def test_a_callable_with_connected_tensors() -> None:
    """TensorFlow was asked: a connection replaces a tensor, also one that depends on what is fed."""
    with tf.Graph().as_default():
        x, y = (tf.compat.v1.placeholder(tf.float32) for _ in range(2))
        doubled, random = x * 2.0, tf.random.uniform([])
        z, other = tf.compat.v1.placeholder(tf.float32), tf.constant(0.0) + 1.0
        three = tf.constant(3.0)
        with tf.compat.v1.Session() as session:
            call = session._make_callable_from_options(
                _options(
                    [x],
                    [y + z, z - random, other * 2.0],
                    [(doubled, y), (random, z), (three, other)],
                )
            )
            found, difference, replaced = call(np.float32(3.0))
            assert 6.0 <= found < 7.0
            assert difference == 0.0  # the random number is drawn once
            assert replaced == 6.0


def test_a_callable_without_a_value_for_a_placeholder() -> None:
    with tf.Graph().as_default():
        x, y = (tf.compat.v1.placeholder(tf.float32) for _ in range(2))
        with tf.compat.v1.Session() as session:
            call = session._make_callable_from_options(_options([], [y * 1.0], [(x, y)]))
            with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
                call()
