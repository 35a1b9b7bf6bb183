"""Operands: what kind a value is of, and values as tensors of one type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import DType, as_dtype, cast_array
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.promotion import lattice
from intaglio.promotion.lattice import Kind
from intaglio.promotion.weak_tensor import WeakTensor

_PYTHON: dict[type, Kind] = {
    bool: Kind(dtypes.bool_),
    int: lattice.INT,
    float: lattice.FLOAT,
    complex: lattice.COMPLEX,
    str: Kind(dtypes.string),
    bytes: Kind(dtypes.string),
}
_NESTED = (list, tuple, range)


def kind_of(value: Any) -> Kind:
    """The kind of a value: weak for Python numbers, lists of them and weak tensors.

    Raises NotImplementedError for what has no type, and what `lattice.join` raises for lists.
    """
    found = _PYTHON.get(type(value))
    if found is not None:
        return found
    if isinstance(value, _NESTED):
        return lattice.join_all(map(kind_of, value))
    dtype = convert.dtype_of(value)
    if dtype is None:
        raise NotImplementedError(f"{convert.describe(value)} has no type to be promoted.")
    return Kind(dtype, isinstance(value, WeakTensor))


def kind_of_type(type_: Any) -> Kind:
    """The kind of an array, a number or a type: Python's types are weak, as their numbers."""
    if type_ is None:
        return lattice.FLOAT
    if isinstance(type_, (type, np.dtype, DType)):
        own = _PYTHON.get(type_) if isinstance(type_, type) else None  # type: ignore[arg-type]  # hashable
        return Kind(as_dtype(type_)) if own is None else own
    return kind_of(type_)


def as_array(value: Any, dtype: DType) -> Any:
    """A value without tensors as an array of the type of its kind.

    Raises OverflowError for integers that do not fit it: Python's count as int32.
    """
    try:
        wide = np.array(value)
        if wide.dtype != np.int64:
            return np.array(value, dtype.numpy)
        converted = wide.astype(dtype.numpy)
        if dtype.is_integer and (converted != wide).any():  # NumPy 1 would wrap them
            raise OverflowError
        return converted
    except OverflowError:
        raise OverflowError(
            f"{convert.describe(value)} is too large to convert to np.{dtype.name}, as which "
            f"Python's numbers count: say which type it has, tf.constant(value, tf.int64)"
        ) from None
    except (TypeError, ValueError):
        return convert.to_array(value, dtype)  # which raises the better error


def as_tensor(value: Any, dtype: DType) -> Tensor:
    """`value` as a tensor of this type, cast if need be. Raises what `as_array` raises."""
    if isinstance(value, (list, tuple)) and convert.holds_tensors(value):
        items: Any = value
        return raw.Pack([as_tensor(item, dtype) for item in items], axis=0)
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        tensor = convert.to_tensor(value)
        return tensor if tensor.dtype is dtype else raw.Cast(tensor, DstT=dtype)
    array = as_array(value, kind_of(value).dtype)
    if array.dtype != dtype.numpy:
        array = cast_array(array, dtype)
    return convert.to_tensor(array)


def promoted(values: Iterable[Any]) -> tuple[list[Tensor], bool]:
    """The values as tensors of their common type, and whether that is weak.

    Raises what `lattice.join` raises.
    """
    operands = list(values)
    dtype, weak = lattice.join_all(map(kind_of, operands))
    if dtype is dtypes.string:
        raise NotImplementedError("Strings are not promoted.")
    return [as_tensor(value, dtype) for value in operands], weak
