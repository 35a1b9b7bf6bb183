"""Functions of `tensorflow.python.framework`, `.ops` and `.util` that libraries call."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Generator
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import float32
from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.array.creation import get_static_value
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor
from intaglio.trace import scopes

# What control flow is here: one op for each loop and branch.
ENABLE_CONTROL_FLOW_V2 = True


def enabled() -> bool:
    """True: the behaviour is TensorFlow 2's (`tensorflow.python.tf2.enabled`)."""
    return True


def in_xla_context(graph: Any) -> bool:
    """True for the graph of a function with `jit_compile=True`, and for those traced inside of it."""
    return getattr(graph, "compiled_whole", False)


def as_shape(shape: Any) -> TensorShape:
    """The argument as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape that an integer vector stands for; sizes that are not known are None.

    Raises ValueError for what is neither a vector nor the scalar -1.
    """
    if isinstance(tensor, TensorShape):
        return tensor
    value = convert.to_tensor(tensor)
    known = get_static_value(value, partial=True)
    if value.shape.rank == 0:
        if known is None or int(known) != -1:
            raise ValueError(
                "Received a scalar with value other than -1: a shape is an integer vector; "
                f"the scalar -1 is an unknown one. Received: {tensor}"
            )
        return TensorShape(None)
    if known is None:
        return (
            TensorShape([None] * value.shape[0]) if value.shape[0] is not None else as_shape(None)
        )
    return TensorShape([None if d is None or d == -1 else int(d) for d in np.asarray(known)])


def try_evaluate_constant(tensor: Any) -> Any:
    """The value of a tensor of a graph as a NumPy array if it is known, else None."""
    return get_static_value(tensor)


def convert_variables_to_tensors(values: Any) -> Any:
    """The structure with what its variables hold in their places."""

    def read(value: Any) -> Any:
        return convert.to_tensor(value) if hasattr(value, "read_value") else value

    return nest.map_structure(read, values)


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """The input; its gradient is a LookupError with the message."""
    return raw.PreventGradient(input, message=message, name=name)


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Normal numbers between `minvals` and `maxvals`, one row of `shape` for each parameter."""
    tensors = [convert.to_tensor(x, dtype=dtype) for x in (means, stddevs, minvals, maxvals)]
    return raw.ParameterizedTruncatedNormal(shape, *tensors, seed=0, seed2=seed or 0, name=name)


def make_composite_tensor(cls: Any, module_name: str = "tf.linalg") -> Any:
    """The class of linear operators as it is: all of them are composite tensors."""
    return cls


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A composite value as it is, anything else as a tensor."""
    if isinstance(value, CompositeTensor):
        return value
    return convert.to_tensor(value, dtype=dtype, name=name)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """The output, which is computed only after operations and tensors; eagerly it is returned as it is.

    The output may be a tensor or a composite one. Raises TypeError for a dependency that is no op or tensor.
    """
    if scopes.executing_eagerly():
        return output_tensor
    first = list(dependencies)
    with (
        scopes.name_scope(name or "control_dependency") as scope,
        scopes.control_dependencies(first),
    ):
        output = convert_to_tensor_or_composite(output_tensor)
        if isinstance(output, IndexedSlices):
            values = raw.Identity(output.values, name=scope)
            return IndexedSlices(values, output.indices, output.dense_shape)
        if isinstance(output, CompositeTensor):
            return nest.map_structure(raw.Identity, output, expand_composites=True)
        return raw.Identity(output, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Any:
    """The weights, of the shape of the values or ones in it, broadcast to them."""
    values = convert.to_tensor(values)
    weights = convert.to_tensor(weights, dtype=values.dtype.base_dtype)
    if weights.shape.is_fully_defined() and weights.shape == values.shape:
        return weights
    return raw.Mul(weights, raw.OnesLike(values))


def is_resource_variable(var: Any) -> bool:
    """True for a variable."""
    return hasattr(var, "read_value") and hasattr(var, "handle")


def numpy_text(tensor: Any, is_repr: bool = False) -> str:
    """The value of a tensor as NumPy prints it."""
    if not tensor.dtype.is_numpy_compatible:
        return "<unprintable>"
    text = repr(tensor.numpy()) if is_repr else str(tensor.numpy())
    return "\n" + text if "\n" in text else text


def name_from_scope_name(name: str) -> str:
    """The name without the slash at its end."""
    return name.removesuffix("/")


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """Another seed, by MD5 of the seed and a text; None for None."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def smart_constant_value(pred: Any) -> Any:
    """The value of a condition if it is known when the graph is recorded, else None.

    Raises TypeError for what is neither a tensor nor a bool, nor 0 or 1.
    """
    if isinstance(pred, Tensor):
        return get_static_value(pred)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Got: {type(pred)}")


@contextlib.contextmanager
def null_context(*_: Any, **__: Any) -> Generator[None]:
    """Does nothing."""
    yield


class Reference:
    """Stands for one object: equal to another reference to the same object only."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def deref(self) -> Any:
        """The object."""
        return self._wrapped
