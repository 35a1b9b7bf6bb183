"""What `tf.is_tensor` says of values. TensorFlow 2.21 was asked."""

from __future__ import annotations

from typing import Any

from intaglio import tf


class Pair(tf.experimental.ExtensionType):
    """An extension type that holds a tensor."""

    first: tf.Tensor


def test_tensors_whole_and_in_parts() -> None:
    ragged = tf.ragged.constant([[1]])
    tensors: list[Any] = [
        tf.constant(1),
        tf.Variable(1),
        ragged,
        tf.sparse.from_dense([1]),
        tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0])),
    ]
    assert all(tf.is_tensor(value) for value in tensors)


def test_values_that_hold_tensors_are_none() -> None:
    data = tf.data.Dataset.range(3)
    others: list[Any] = [
        data,
        iter(data),
        data.element_spec,
        tf.experimental.Optional.from_value(1),
        Pair(tf.constant(1)),
        tf.TensorArray(tf.float32, 1),
        tf.experimental.DynamicRaggedShape.from_tensor(tf.ragged.constant([[1]])),
        tf.linalg.LinearOperatorIdentity(2),
        [tf.constant(1)],
        1.0,
    ]
    assert not any(tf.is_tensor(value) for value in others)
