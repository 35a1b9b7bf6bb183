"""How eager tensors print, exactly as TensorFlow prints them."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import as_numbers


def _text(array: Any, whole: bool) -> str:
    """The value as `repr` (`whole`) or `str` shows it; many lines begin on a new one."""
    if not isinstance(array, (np.ndarray, np.generic)):
        return repr(array)  # a resource or variant
    array = np.asarray(as_numbers(array))
    if array.ndim:
        text = np.array_repr(array) if whole else np.array_str(array)
    elif array.dtype == object:
        text = repr(array[()])
    else:
        text = repr(array.item()) if whole else str(array[()])
    return f"\n{text}" if "\n" in text else text


def eager_str(tensor: Any) -> str:
    """`tf.Tensor([1 2], shape=(2,), dtype=int32)`."""
    return (
        f"tf.Tensor({_text(tensor._array, False)}, "
        f"shape={shapes.text(tensor.dims)}, dtype={tensor.dtype.name})"
    )


def eager_repr(tensor: Any) -> str:
    """`<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>`."""
    dtype = tensor.dtype
    label = "numpy" if dtype.is_numpy_compatible else "value"
    return (
        f"<tf.Tensor: shape={shapes.text(tensor.dims)}, dtype={dtype.name}, "
        f"{label}={_text(tensor._array, True)}>"
    )
