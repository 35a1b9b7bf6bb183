"""Values while a model is carried out: tensors, NumPy arrays of initializers, lists for sequences, None."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper

from intaglio.base import dtypes
from intaglio.base.dtypes import DType
from intaglio.composite_ops.array import creation
from intaglio.opdef import convert, raw


class ModelError(ValueError):
    """A model that cannot be loaded: the message names the file or node, and what is wrong."""


def dtype_of(number: int) -> DType:
    """The dtype of ONNX' element type. Raises ModelError for one that there is none for."""
    if number == onnx.TensorProto.STRING:
        return dtypes.string
    try:
        return dtypes.from_numpy(np.dtype(helper.tensor_dtype_to_np_dtype(number)))
    except (KeyError, TypeError, ValueError) as e:
        raise ModelError(f"elements of ONNX' type {number}, which tensors have not") from e


def tensor(x: Any, dtype: Any = None) -> Any:
    """A value as a tensor."""
    return convert.to_tensor(x, dtype) if dtype is not None else convert.to_tensor(x)


def static(x: Any) -> np.ndarray | None:
    """The numbers if they are known while the function is traced, else None."""
    if isinstance(x, np.ndarray):
        return x
    found = creation.get_static_value(x)
    return None if found is None else np.asarray(found)


def known(x: Any, what: str) -> np.ndarray:
    """The numbers of a value. Raises ModelError if they are computed when the function runs."""
    found = static(x)
    if found is None:
        raise ModelError(f"{what} must be known when the model is loaded, and is computed")
    return found


def ints(x: Any, what: str) -> list[int]:
    """The integers of a value that must be known."""
    return [int(v) for v in known(x, what).reshape(-1)]


def dims(x: Any) -> tuple[int | None, ...]:
    """The dimensions. Raises ModelError for a tensor of unknown rank."""
    found = x.shape if isinstance(x, np.ndarray) else x.dims
    if found is None:
        raise ModelError("an operator on a tensor of unknown rank")
    return tuple(found)


def rank(x: Any) -> int:
    """The number of dimensions."""
    return len(dims(x))


def shape(x: Any) -> Any:
    """The sizes, of int64: known if they can be."""
    sizes = None if not isinstance(x, np.ndarray) and x.dims is None else dims(x)
    if sizes is not None and None not in sizes:
        return np.array(sizes, np.int64)
    return raw.Shape(x, out_type=dtypes.int64)


def size(x: Any, axis: int) -> Any:
    """The size of a dimension: a number, or a scalar of int64."""
    found = dims(x)[axis]
    return found if found is not None else raw.Shape(x, out_type=dtypes.int64)[axis]


def vector(parts: Any) -> Any:
    """Sizes, numbers or scalars of int64, as a vector."""
    if all(isinstance(p, (int, np.integer)) for p in parts):
        return np.array(list(parts), np.int64)
    scalars = [np.array(p, np.int64) if isinstance(p, (int, np.integer)) else p for p in parts]
    return raw.Pack([cast(s, dtypes.int64) for s in scalars], axis=0)


def cast(x: Any, dtype: Any) -> Any:
    """The elements in another dtype."""
    wanted = dtypes.as_dtype(dtype)
    if isinstance(x, np.ndarray):
        return x if x.dtype == wanted.numpy else x.astype(wanted.numpy)
    return x if x.dtype is wanted else raw.Cast(x, DstT=wanted)


def like(value: Any, x: Any) -> np.ndarray:
    """A number of the dtype of a tensor."""
    return np.asarray(value, numpy_dtype(x))


def numpy_dtype(x: Any) -> Any:
    """The NumPy dtype of a value."""
    return x.dtype if isinstance(x, np.ndarray) else x.dtype.numpy


def element(x: Any) -> DType:
    """The dtype of a value."""
    return dtypes.from_numpy(x.dtype) if isinstance(x, np.ndarray) else x.dtype


def transpose(x: Any, perm: Any) -> Any:
    """The dimensions in another order."""
    order = [int(p) for p in perm]
    if order == sorted(order):
        return x
    return raw.Transpose(x, np.array(order, np.int32))


def reshape(x: Any, sizes: Any) -> Any:
    """The elements in another shape."""
    return raw.Reshape(
        x, np.asarray(sizes, np.int64) if isinstance(sizes, (list, tuple)) else sizes
    )


def is_float(x: Any) -> bool:
    """Whether elements are floating-point numbers."""
    return element(x).is_floating
