"""Tensors as messages, and the classes of errors that TensorFlow was seen to raise."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize(
    "value", [3, 2.5, True, "text", [[1, 2], [3, 4]], [b"a", b"b"], np.arange(4, dtype=np.uint8)]
)
def test_there_and_back(value: object) -> None:
    there = tf.make_tensor_proto(value)
    back = tf.make_ndarray(there)
    np.testing.assert_array_equal(back, tf.constant(value).numpy())
    assert back.dtype == tf.constant(value).dtype.as_numpy_dtype


def test_shape_and_dtype() -> None:
    proto = tf.make_tensor_proto([1, 2, 3, 4], dtype=tf.float64, shape=[2, 2])
    assert proto.dtype == tf.float64.as_datatype_enum
    assert tf.make_ndarray(proto).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_one_value_for_all_only_on_request() -> None:
    with pytest.raises(ValueError, match="cannot fill"):
        tf.make_tensor_proto(1, shape=[3])
    assert tf.make_ndarray(tf.make_tensor_proto(1, shape=[3], allow_broadcast=True)).tolist() == [
        1,
        1,
        1,
    ]


def test_verified_shape() -> None:
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True)
