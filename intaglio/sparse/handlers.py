"""The table of public functions and their dispatch targets for sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype, int32
from intaglio.composite_ops.math import counting
from intaglio.opdef import convert, dispatch, raw
from intaglio.opdef.dispatch import handle
from intaglio.sparse.tensor import SparseTensor, quotient
from intaglio.trace.scopes import name_scope

# Elementwise functions of 0 that are 0, as far as TensorFlow has them for sparse tensors.
_OF_VALUES = [
    f"math.{name}"
    for name in [
        "abs",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "bessel_i0e",
        "bessel_i1e",
        "erf",
        "negative",
        "sign",
        "sin",
        "sqrt",
        "square",
        "tan",
        "tanh",
    ]
]
_SPARSE = (False, (SparseTensor,))


def of_values(function: Callable[[Any], Any], x: Any) -> Any:
    """The function of the values, at their indices."""
    return x.with_values(function(x.values))


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The values in another dtype."""
    with name_scope(name or "Cast"):
        return x.with_values(raw.Cast(x.values, DstT=as_dtype(dtype)))


def identity(input: Any, name: str | None = None) -> Any:
    """The same, each part a tensor of its own."""
    with name_scope(name or "Identity"):
        parts = (input.indices, input.values, input.dense_shape)
        return input._type_spec._from_components([raw.Identity(p) for p in parts])


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same, through which no gradient flows."""
    with name_scope(name or "StopGradient"):
        return input.with_values(raw.StopGradient(input.values))


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The shape of the whole tensor."""
    return raw.Cast(input.dense_shape, DstT=as_dtype(out_type or int32), name=name)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The number of elements of the whole tensor."""
    counted = raw.Prod(input.dense_shape, 0)
    return raw.Cast(counted, DstT=as_dtype(out_type or int32), name=name)


def rank(input: Any, name: str | None = None) -> Any:
    """The number of dimensions."""
    known = input.shape.rank
    return (
        raw.Size(input.dense_shape, name=name) if known is None else convert.to_tensor(known, int32)
    )


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raises TypeError unless the values have the dtype."""
    wanted = as_dtype(tf_type)
    if tensor.dtype is not wanted:
        raise TypeError(
            f"{message or ''}  {tensor} must be of type {wanted!r}; got {tensor.dtype!r}"
        )


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """A sparse tensor times a dense one that is broadcast to its shape."""
    if isinstance(y, SparseTensor):
        if isinstance(x, SparseTensor):
            convert.to_tensor(y)  # refuses
        return y * x
    return x * y


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """A sparse tensor divided by a dense one that is broadcast to its shape."""
    return quotient(x, y)


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """How often each integer occurs among the values, in all rows together or (`axis=-1`) in each."""
    values = arr.values
    counted = values if weights is None else getattr(weights, "values", weights)
    if axis != -1:
        weights = None if weights is None else counted
        return counting.bincount(
            values, weights, minlength, maxlength, dtype, name, axis, binary_output
        )
    counting.check_weights(weights, binary_output)
    with name_scope(name or "bincount"):
        values = counting.counted_integers(values)
        size = counting.length_of_counts(values, minlength, maxlength)
        none = np.zeros(0, as_dtype(dtype or int32).numpy)
        return raw.SparseBincount(
            arr.indices,
            values,
            arr.dense_shape,
            size,
            convert.to_tensor(none if weights is None else counted),
            binary_output=binary_output,
        )


_BY_NAME: dict[str, tuple[Callable[..., Any], str]] = {
    "math.bincount": (bincount, "arr"),
    "cast": (cast, "x"),
    "identity": (identity, "input"),
    "stop_gradient": (stop_gradient, "input"),
    "shape": (shape, "input"),
    "size": (size, "input"),
    "rank": (rank, "input"),
    "debugging.assert_type": (assert_type, "tensor"),
    "math.divide": (divide, "x"),
}


def register() -> None:
    """Lets public functions take sparse tensors."""
    for name, (handler, parameters) in _BY_NAME.items():
        handle(name, handler, **dict.fromkeys(parameters.split(), SparseTensor))
    both = [((0, (False, (SparseTensor,))),), ((1, (False, (SparseTensor,))),)]
    dispatch.register(dispatch.public("math.multiply"), multiply, both)
    dispatch.handle_elementwise(_OF_VALUES, of_values, [(_SPARSE,)])
