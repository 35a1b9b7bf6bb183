"""Argument checks of feature columns."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, as_dtype, string


def checked_key(key: Any) -> str:
    """A feature's name. Raises ValueError for what is no text."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return key


def checked_shape(shape: Any, key: str) -> tuple[int, ...]:
    """A shape as a tuple. Raises TypeError or ValueError for what is none."""
    dims = tuple(shape) if np.iterable(shape) else (shape,)
    for dim in dims:
        if not isinstance(dim, numbers.Integral):
            raise TypeError(f"shape dimensions must be integer. shape: {dims}, key: {key}")
        if dim < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {dims}, key: {key}")
    return tuple(map(int, dims))


def checked_default(value: Any, shape: tuple[int, ...], dtype: DType, key: str) -> Any:
    """A default value of a shape, nested tuples of numbers.

    Raises ValueError for another shape, TypeError for what is no number of the dtype.
    """
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and not dtype.is_floating):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: {key}"
        )
    if array.ndim and array.shape != shape:
        raise ValueError(
            f"The shape of default_value must be equal to given shape. default_value: {value}, shape: {shape}, "
            f"key: {key}"
        )
    whole = np.broadcast_to(array, shape).astype(float if dtype.is_floating else int)
    return _tuples(whole.tolist())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def number_dtype(dtype: Any, message: str) -> DType:
    """The dtype of numbers. Raises ValueError, with a message, for another."""
    found = as_dtype(dtype)
    if not (found.is_floating or found.is_integer):
        raise ValueError(message)
    return found


def category_dtype(dtype: Any, key: str, what: str = "") -> DType:
    """The dtype of text or integers. Raises ValueError for another."""
    found = as_dtype(dtype)
    if found is not string and not found.is_integer:
        raise ValueError(
            f"column_name: {key} {what}dtype must be string or integer. dtype: {found}."
        )
    return found


def checked_function(function: Any) -> Any:
    """A function or None. Raises TypeError for another."""
    if function is not None and not callable(function):
        raise TypeError(f"normalizer_fn must be a callable. Given: {function}")
    return function


def oov(key: str, default_value: Any, num_oov_buckets: int) -> int:
    """The category of values outside a vocabulary. Raises ValueError if it is specified twice."""
    if num_oov_buckets:
        if default_value not in (None, -1):
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    return -1 if default_value is None else default_value


def checked_embedding(
    dimension: Any, initializer: Any, checkpoint: Sequence[Any], what: str
) -> None:
    """Raises ValueError for invalid parameters of vectors."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint[0] is None) != (checkpoint[1] is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. {what}")
