"""Shapes that ops take as tensors: what is no shape. TensorFlow 2.21 was asked for every class and phrase."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

INVALID = tf.errors.InvalidArgumentError
X = tf.range(4.0)
OPS: dict[str, Any] = {
    "reshape": lambda s: tf.reshape(X, s),
    "fill": lambda s: tf.fill(s, 1.0),
    "broadcast_to": lambda s: tf.broadcast_to(1.0, s),
    "uniform": lambda s: tf.random.uniform(s),
    "normal": lambda s: tf.random.normal(s),
    "stateless_uniform": lambda s: tf.random.stateless_uniform(s, [1, 2]),
    "zeros": lambda s: tf.zeros(s),
    "ones": lambda s: tf.ones(s),
    "empty": lambda s: tf.raw_ops.Empty(shape=s, dtype=tf.float32, init=True),
    "scatter_nd": lambda s: tf.scatter_nd([[0]], [1.0], s),
}


def _open(op: Any) -> Any:
    """The op in a graph that knows nothing of the shape's value and rank."""
    return tf.function(op, input_signature=[tf.TensorSpec(None, tf.int32)])


@pytest.mark.parametrize("shape", [[-2], [2, -3]], ids=str)
@pytest.mark.parametrize("name", OPS)
def test_negative_sizes(name: str, shape: list[int]) -> None:
    op = OPS[name]
    with pytest.raises(INVALID):
        op(shape)
    with pytest.raises(ValueError):
        tf.function(lambda: op(shape))()
    with pytest.raises(INVALID):
        _open(op)(tf.constant(shape))


@pytest.mark.parametrize(
    "name", ["uniform", "normal", "stateless_uniform", "empty", "broadcast_to"]
)
def test_minus_one_is_unknown_until_the_graph_runs(name: str) -> None:
    f = tf.function(lambda: OPS[name]([-1]))
    assert f.get_concrete_function().output_shapes.as_list() == [None]
    with pytest.raises(INVALID, match="Dimension -1 must be >= 0"):
        f()


@pytest.mark.parametrize("name", OPS)
def test_a_matrix(name: str) -> None:
    op = OPS[name]
    with pytest.raises(INVALID):
        op([[2]])
    with pytest.raises(ValueError, match=r"rank|vector"):
        tf.function(lambda: op([[2]]))()
    if name in ("zeros", "ones"):  # they take its elements
        assert _open(op)(tf.constant([[2]])).shape == [2]
        return
    with pytest.raises(INVALID):
        _open(op)(tf.constant([[2]]))


def test_a_number_is_one_size() -> None:
    assert tf.reshape(X, 4).shape == tf.reshape(X, -1).shape == [4]
    assert _open(OPS["reshape"])(tf.constant(-1)).shape == [4]
    for op in (tf.function(lambda: tf.reshape(X, -2)), lambda: tf.reshape(X, -2)):
        with pytest.raises((ValueError, INVALID)):
            op()
    with pytest.raises(INVALID, match="Size 0 must be non-negative, not -2"):
        tf.reshape(X, -2)
    with pytest.raises(INVALID, match="4 values, but the requested shape has 2"):
        tf.reshape(X, 2)
    with pytest.raises(INVALID, match="4 values, but the requested shape has 2"):
        _open(OPS["reshape"])(tf.constant(2))
    with pytest.raises(INVALID, match=r"shape must be a vector of {int32,int64}, got shape \[\]"):
        _open(OPS["broadcast_to"])(tf.constant(2))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("reshape", r"sizes input must be 1-D, not \[1,1\]"),
        ("fill", r"dims must represent a vector, got shape \[1,1\]"),
        ("broadcast_to", r"shape must be a vector of {int32,int64}, got shape \[1,1\]"),
        ("empty", r"shape must be a vector of int32, got shape \[1,1\]"),
        ("scatter_nd", "Shape must be a vector"),
    ],
)
def test_what_is_said_of_a_matrix(name: str, said: str) -> None:
    with pytest.raises(INVALID, match=said):
        _open(OPS[name])(tf.constant([[2]]))


def test_gradients_of_slices_take_a_vector() -> None:
    with pytest.raises(INVALID):
        tf.raw_ops.StridedSliceGrad(
            shape=[-3], begin=[0], end=[1], strides=[1], dy=np.ones([1], np.float32)
        )
