"""`tf.make_tensor_proto` and `tf.make_ndarray`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype
from intaglio.base.shapes import as_dims, known
from intaglio.graphdef import messages, tensors
from intaglio.opdef import convert


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """Values as a TensorProto message.

    Args:
      values: a number, text, array, or nested list of them.
      dtype: the dtype of the message; by default that of the values.
      shape: the shape of the message; by default that of the values.
      verify_shape: the values must have exactly this shape.
      allow_broadcast: a single value may fill all elements.

    Raises:
      TypeError: the values do not fit the dtype, or not the shape under `verify_shape`.
      ValueError: the values cannot fill the shape.

    Follows https://www.tensorflow.org/api_docs/python/tf/make_tensor_proto.

    >>> tf.make_tensor_proto([1.5], tf.float32).float_val
    [1.5]
    """
    if isinstance(values, messages.TensorProto):
        return values
    array = convert.to_array(values, None if dtype is None else as_dtype(dtype))
    wanted = array.shape if shape is None else as_dims(shape)
    if not known(wanted):
        raise ValueError(f"A tensor message has a fully known shape, not {shape}.")
    if verify_shape and wanted != array.shape:
        raise TypeError(f"Expected Tensor's shape: {wanted}, but got {array.shape}.")
    if math.prod(wanted) != array.size:
        if array.size != 1 or not allow_broadcast:
            raise ValueError(
                f"{array.size} values cannot fill a tensor of shape {wanted}; "
                "a single value can with allow_broadcast=True."
            )
        array = np.broadcast_to(array.reshape(-1)[:1], (math.prod(wanted),))
    return tensors.tensor_proto(array.reshape(wanted))


def make_ndarray(tensor: Any) -> np.ndarray:
    """A TensorProto message (ours or TensorFlow's) as a new NumPy array.

    Raises:
      TypeError: it is no message.
      ValueError: the message contradicts itself, or its dtype has no array.

    Follows https://www.tensorflow.org/api_docs/python/tf/make_ndarray.

    >>> tf.make_ndarray(tf.make_tensor_proto([1, 2]))
    array([1, 2], dtype=int32)
    """
    if not isinstance(tensor, messages.TensorProto):
        if not hasattr(tensor, "SerializeToString"):
            raise TypeError(f"`tensor` must be a TensorProto, got {tensor!r}")
        tensor = messages.TensorProto.FromString(tensor.SerializeToString())
    return np.array(tensors.array_of(tensor))


__all__ = ["make_ndarray", "make_tensor_proto"]
