"""Functions of `tensorflow.python.framework`, `.ops` and `.util` that libraries call."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Generator
from typing import Any

import numpy as np

from intaglio.base import later, nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import float32, int32
from intaglio.base.shapes import TensorShape
from intaglio.compat_v1.assignments import name_scope
from intaglio.composite_ops.array.creation import get_static_value
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.ir.walk import live_nodes
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor
from intaglio.optimize.fold import fold_constants
from intaglio.trace import scopes
from intaglio.trace.assertions import check

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


def concatenated_shape(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """The sizes of two shapes one after the other: an integer vector, or with `static` a list.

    A tensor may be one of both. The list is None where one is not known. Raises ValueError for a tensor
    that is neither scalar nor vector, and for a vector of a shape that is not known.
    """
    parts: list[Any] = []
    for name, part in (("prefix", prefix), ("suffix", suffix)):
        if isinstance(part, Tensor):
            if part.shape.rank not in (0, 1):
                raise ValueError(
                    f"{name} tensor must be either a scalar or vector, but saw tensor: {part}"
                )
            part = raw.Reshape(part, [-1])
            parts.append(TensorShape(get_static_value(part)) if static else part)
        else:  # a size alone is a shape of one dimension
            sizes = [part] if isinstance(part, int) else part
            parts.append(TensorShape(sizes))
    if static:
        joined = parts[0].concatenate(parts[1])
        return None if joined.rank is None else joined.as_list()
    if any(isinstance(p, TensorShape) and not p.is_fully_defined() for p in parts):
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    vectors = [p if isinstance(p, Tensor) else np.asarray(p.as_list(), np.int32) for p in parts]
    return raw.ConcatV2(vectors, 0)


def try_evaluate_constant(tensor: Any) -> Any:
    """The value of a tensor of a graph as a NumPy array if constants determine it, else None."""
    known = get_static_value(tensor)
    if known is not None or not isinstance(tensor, SymbolicTensor):
        return known
    nodes = live_nodes([n for n in tensor.graph.nodes if not n.op.must_run], [tensor])
    part = fold_constants(Graph("constant", [], nodes, [tensor]))
    return get_static_value(part.outputs[0])


def convert_variables_to_tensors(values: Any) -> Any:
    """The structure with what its variables hold in their places, also those inside of composite values."""

    def read(value: Any) -> Any:
        if isinstance(value, CompositeTensor):
            return value._convert_variables_to_tensors()
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
    """A composite value as it is, or one that a registered function makes of `value`; else a tensor."""
    return convert.to_tensor_or_composite(value, dtype, name)


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


def op_name_scope(
    name: Any, default_name: Any = None, values: Any = None, skip_on_eager: bool = True
) -> Any:
    """TensorFlow 1's scope of names, as op functions enter it; eagerly nothing unless asked for.

    What the block gets is the scope's name with a slash, eagerly None.
    """
    if skip_on_eager and scopes.executing_eagerly():
        return contextlib.nullcontext()
    return name_scope(name, default_name, values)


def shape_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = None
) -> Any:
    """The sizes of a tensor, sparse or not, as an integer vector; known ones as a constant."""
    return later.named("intaglio.tf:shape")(input, out_type or int32, name)


def size_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = int32
) -> Any:
    """The number of elements of a tensor, sparse or not."""
    return later.named("intaglio.tf:size")(input, out_type, name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Any:
    """The rank of a tensor, sparse or not."""
    return later.named("intaglio.tf:rank")(input, name)


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


def slice_variable(variable: Any, slice_spec: Any) -> Any:
    """A part of what a variable holds."""
    return convert.to_tensor(variable)[slice_spec]


def unknown_shape(rank: int | None = None, **_: Any) -> TensorShape:
    """A shape whose sizes are not known."""
    return TensorShape(None if rank is None else [None] * rank)


def internal_convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, **_: Any
) -> Any:
    """The value as a tensor."""
    return convert.to_tensor(value, dtype, name=name)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name inside a scope; the marks of colocation and of control inputs stay in front."""
    if not import_scope:
        return name
    mark = next((m for m in ("^", "loc:@") if name.startswith(m)), "")
    return f"{mark}{import_scope.rstrip('/')}/{name[len(mark) :]}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope that it begins with."""
    if not export_scope:
        return name
    mark = next((m for m in ("^", "loc:@") if name.startswith(m)), "")
    return mark + name[len(mark) :].removeprefix(f"{export_scope.rstrip('/')}/")


def register_proto_function(collection_name: str, **_: Any) -> None:
    """Registers nothing: collections of one's own are not written into messages."""


def assert_splits_match(nested_splits_lists: Any) -> list[Any]:
    """Checks that ragged tensors have equal rows: operations that fail when they run.

    Raises ValueError if one is nested deeper than another.
    """
    first, *others = nested_splits_lists
    message = "Inputs must have identical ragged splits"
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(f"{message}. Input received: {nested_splits_lists}")
    return [
        check(raw.All(raw.Equal(one, other), np.int32(0)), [message])
        for splits in others
        for one, other in zip(splits, first, strict=True)
    ]
