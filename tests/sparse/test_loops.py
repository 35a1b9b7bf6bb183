"""Sparse tensors whose shape or rank changes in a loop; TensorFlow 2.21 gave the same answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf


def _vector() -> Any:
    return tf.SparseTensor([[0]], [1.0], [3])


def _matrix() -> Any:
    return tf.SparseTensor([[0, 1]], [1.0], [3, 4])


def _wider(s: Any) -> Any:
    return tf.sparse.expand_dims(s, 0)


def _longer(s: Any) -> Any:
    return tf.sparse.concat(0, [s, s])


SHAPE, SPEC = tf.TensorShape, tf.SparseTensorSpec


@pytest.mark.parametrize(
    "invariant, start, body, inside, shape",
    [
        (SHAPE(None), _vector, _wider, "<unknown>", [1, 1, 3]),
        (SPEC(None, tf.float32), _vector, _wider, "<unknown>", [1, 1, 3]),
        (SHAPE([None]), _vector, _wider, "<unknown>", [1, 1, 3]),
        (SHAPE([None]), _vector, _longer, "<unknown>", [12]),
        (SHAPE([2]), _matrix, _longer, "(None, None)", [12, 4]),
        (SHAPE(None), _matrix, _longer, "<unknown>", [12, 4]),
        (SPEC([None, 4], tf.float32), _matrix, _longer, "(None, 4)", [12, 4]),
    ],
)
def test_invariants(
    invariant: Any,
    start: Callable[[], Any],
    body: Callable[[Any], Any],
    inside: str,
    shape: list[int],
) -> None:
    seen: list[str] = []

    def step(i: Any, s: Any) -> Any:
        seen.append(str(s.shape))
        return i + 1, body(s)

    @tf.function
    def grown(n: Any) -> Any:
        first = [tf.constant(0), start()]
        return tf.while_loop(lambda i, s: i < n, step, first, [tf.TensorShape([]), invariant])[1]

    found = grown(tf.constant(2))
    assert found.dense_shape.numpy().tolist() == shape and set(seen) == {inside}
    whole = start()
    for _ in range(2):
        whole = body(whole)
    assert found.indices.numpy().tolist() == whole.indices.numpy().tolist()


def test_an_invariant_is_the_shape_of_the_shape() -> None:
    def loop() -> Any:
        invariants = [tf.TensorShape([]), tf.TensorShape([None, None])]
        return tf.while_loop(
            lambda i, s: i < 2, lambda i, s: (i + 1, s), [tf.constant(0), _matrix()], invariants
        )

    with pytest.raises(ValueError, match="Expected a shape with 1 dimension"):
        tf.function(loop)()


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_a_new_axis_where_the_rank_is_open(axis: int) -> None:
    spec = tf.SparseTensorSpec(None, tf.float32)
    open_rank = tf.function(lambda s: tf.sparse.expand_dims(s, axis), input_signature=[spec])
    found, wanted = open_rank(_matrix()), tf.sparse.expand_dims(_matrix(), axis)
    assert found.dense_shape.numpy().tolist() == wanted.dense_shape.numpy().tolist()
    assert found.indices.numpy().tolist() == wanted.indices.numpy().tolist()
