"""What programs of TensorFlow 1 rely on besides graphs. TensorFlow 2.21 was asked for all answers."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


@pytest.fixture
def of_objects() -> Generator[None]:
    """Shapes have objects for sizes."""
    v1.disable_v2_tensorshape()
    yield
    v1.enable_v2_tensorshape()


@pytest.mark.usefixtures("of_objects")
def test_sizes_are_objects() -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 4, 6], name="x")
        shape: Any = x.get_shape()
        assert (shape[0].value, shape[1].value, shape.as_list()) == (None, 4, [None, 4, 6])
        assert [d.value for d in shape] == [None, 4, 6]
        assert str(shape) == "(?, 4, 6)"
        assert repr(shape) == "TensorShape([Dimension(None), Dimension(4), Dimension(6)])"
        assert str(x) == 'Tensor("x:0", shape=(?, 4, 6), dtype=float32)'
        assert str(shape[1:]) == "(4, 6)"
        assert (shape[1] * 2, int(shape[2])) == (8, 6)
        for made, expected in (
            (tf.reshape(x, [-1, shape[1] * shape[2]]), [None, 24]),
            (tf.zeros([shape[1], 2]), [4, 2]),
            (tf.zeros(shape[1:]), [4, 6]),
            (v1.get_variable("w", [shape[2], 3]), [6, 3]),
            (tf.stack([tf.shape(x)[0], shape[1]]), [2]),
            (tf.one_hot([1], shape[1]), [1, 4]),
        ):
            assert made.shape.as_list() == expected
        assert np.zeros(shape[1:]).shape == (4, 6)
        with pytest.raises(TypeError, match="__int__ returned non-int"):
            tf.zeros([shape[0]])
        with pytest.raises(TypeError, match="Failed to convert elements of"):
            tf.reshape(x, [shape[0], 4])
    v1.enable_v2_tensorshape()
    assert (shape[0], shape[1], str(shape)) == (None, 4, "(None, 4, 6)")


def test_the_name_of_a_variable_is_fetched_as_its_value() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("v", initializer=[1.0, 2.0])
        session.run(v1.global_variables_initializer())
        assert session.run("v:0").tolist() == [1.0, 2.0]


def test_a_variable_of_another_dtype_is_not_shared() -> None:
    with tf.Graph().as_default():
        v1.get_variable("v", [2])
        with (
            v1.variable_scope("", reuse=True),
            pytest.raises(ValueError, match="specified dtype int32 and found dtype float32"),
        ):
            v1.get_variable("v", [2], dtype=tf.int32)


def test_variables_without_averages_are_restored_by_their_own_names() -> None:
    with tf.Graph().as_default():
        w = v1.get_variable("w", [2])
        v1.get_variable("b", [2])
        v1.train.get_or_create_global_step()
        average: Any = tf.train.ExponentialMovingAverage(0.9)
        average.apply([w])
        averaged = ["b/ExponentialMovingAverage", "global_step", "w/ExponentialMovingAverage"]
        assert sorted(average.variables_to_restore()) == averaged
        own = ["b", "global_step", "w/ExponentialMovingAverage"]
        assert sorted(average.variables_to_restore([w])) == own


def test_placeholders_with_defaults_have_names() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder_with_default([1.0, 2.0], [None], name="x")
        assert (x.name, x.shape.as_list()) == ("x:0", [None])
        assert session.run(x * 2).tolist() == [2.0, 4.0]
        assert session.run(x * 2, {"x:0": [5.0]}).tolist() == [10.0]


def test_nothing_is_uninitialized_among_no_variables() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("v", [2])
        assert session.run(v1.report_uninitialized_variables()).tolist() == [b"v"]
        assert session.run(v1.report_uninitialized_variables([])).tolist() == []


def test_variables_in_bodies_are_those_of_the_graph() -> None:
    with tf.Graph().as_default(), v1.Session() as session:

        def scaled(x: Any) -> Any:
            with v1.variable_scope("cell", reuse=v1.AUTO_REUSE):
                return x * v1.get_variable("w", initializer=v1.constant_initializer(2.0), shape=[])

        def body(i: Any, x: Any) -> tuple[Any, Any]:
            return i + 1, scaled(x)

        before = scaled(tf.constant(1.0))
        looped = v1.while_loop(lambda i, _: i < 3, body, [tf.constant(0), 1.0])[1]
        chosen = v1.cond(before > 1, lambda: scaled(before), lambda: before)

        def other(i: Any, x: Any) -> tuple[Any, Any]:
            return i + 1, x + v1.get_variable("new", initializer=5.0)

        later = v1.while_loop(lambda i, _: i < 1, other, [tf.constant(0), 1.0])[1]
        assert [v.name for v in v1.global_variables()] == ["cell/w:0", "new:0"]
        session.run(v1.global_variables_initializer())
        assert session.run([before, looped, chosen, later]) == [2.0, 8.0, 4.0, 6.0]
        gradient = v1.gradients(looped, v1.trainable_variables()[:1])[0]
        assert session.run(gradient) == 12.0


def test_what_is_fed_is_in_the_graph() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(1.0)
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor: The name"):
            session.run(x, {"none:0": 1.0})
