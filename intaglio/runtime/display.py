"""How eager tensors print, exactly as TensorFlow prints them."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes, shapes


def _value_text(tensor: Any, is_repr: bool) -> str:
    array = np.asarray(tensor._array)
    if array.ndim == 0 and array.dtype == object:
        return repr(array[()])
    return np.array_repr(array) if is_repr and array.ndim else str(array)


def _object_text(tensor: Any) -> str:
    """A resource's handle; other objects are not shown."""
    return repr(tensor._array) if tensor.dtype is dtypes.resource else "<unprintable>"


def eager_str(tensor: Any) -> str:
    """`tf.Tensor([1 2], shape=(2,), dtype=int32)`."""
    dtype = tensor.dtype
    if not dtype.is_numpy_compatible:
        return f"tf.Tensor({_object_text(tensor)}, shape={shapes.text(tensor.dims)}, dtype={dtype.name})"
    value = _value_text(tensor, False)
    gap = "\n" if "\n" in value else ""
    return (
        f"tf.Tensor({gap}{value}, shape={shapes.text(tensor.dims)}, dtype={dtype.name})"
    )


def eager_repr(tensor: Any) -> str:
    """`<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>`."""
    dtype = tensor.dtype
    head = f"<tf.Tensor: shape={shapes.text(tensor.dims)}, dtype={dtype.name}"
    if dtype is dtypes.resource or dtype is dtypes.variant:
        return f"{head}, value={_object_text(tensor)}>"
    value = _value_text(tensor, True)
    gap = "\n" if "\n" in value else ""
    return f"{head}, numpy={gap}{value}>"
