"""Graphs run in sessions, as programs of TensorFlow 1 do. Values and errors are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf

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
