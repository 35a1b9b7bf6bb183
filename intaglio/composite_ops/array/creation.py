"""Creation of tensors, and their shapes.

Follows https://www.tensorflow.org/api_docs/python/tf: `tf.constant`, `tf.zeros`,
`tf.range`, `tf.shape` and their kin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes, shapes
from intaglio.base.composite import ActsAsTensor, TensorInParts
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.errors import (
    InvalidArgumentError,
    ResourceExhaustedError,
    ShapeError,
    invalid_argument,
)
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import Dims, TensorShape, as_dims
from intaglio.ir.graph import SymbolicTensor
from intaglio.ir.replicas import NotOneProgram, differs_by_replica
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable, without_global_dispatch
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor
from intaglio.runtime.executors import executor_of
from intaglio.runtime.hooks import HOOKS

# Known tensors with fewer elements than this are written into graphs as constants.
MAX_CONSTANT_ELEMENTS = 1000

newaxis = None
_TENSORS = (ActsAsTensor, TensorInParts)


@without_global_dispatch
@dispatchable
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor of a Python or NumPy value.

    With `shape`, the value takes that shape: reshaped if it has as many elements, repeated
    if it has one. Raises TypeError if the value does not fit `dtype` or `shape`, ValueError
    for ragged lists and None.

    >>> print(tf.constant([1, 2], shape=[2, 1]).numpy())
    [[1]
     [2]]
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, SymbolicTensor):
        raise TypeError(f"Expected any non-tensor type, but got a tensor instead: {value!r}")
    if isinstance(value, EagerTensor):
        if wanted is not None and value.dtype is not wanted:
            raise TypeError(
                f"Expected tensor {value} with dtype {wanted!r}, but got dtype {value.dtype!r}."
            )
        array = value._array
        if shape is None and door.level().eager:
            return value
    elif convert.holds_tensors(value):
        tensor = convert.to_tensor(value, wanted, name)
        return tensor if shape is None else raw.Reshape(tensor, list(as_dims(shape)))  # type: ignore[arg-type]  # a full shape
    else:
        array = convert.to_array(value, wanted)
    if shape is not None:
        array = _shaped(array, as_dims(shape), value)
    return door.level().constant(array, name)


def _shaped(array: Any, dims: Dims, value: Any) -> Any:
    count = shapes.count(dims)
    if array.shape == dims:
        return array
    if count is not None and array.size == count:
        return array.reshape(dims)
    if count is not None and array.size == 1:
        check_allocated((count,), array.dtype.itemsize, "tf.constant")
        result = np.empty(dims, array.dtype)  # type: ignore[arg-type]  # a known shape
        result[...] = array.reshape(())
        return result
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from {value!r}) "
        f"has {array.size:d} elements, but got `shape` {shapes.text(dims)} with {count} elements)."
    )


@dispatchable
def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """The value as a tensor; tensors stay as they are.

    `dtype_hint` is used if the value fits it and `dtype` is not given. Raises ValueError for
    a tensor of another dtype or ragged lists, TypeError for a value that does not fit.

    >>> tf.convert_to_tensor([1, 2]).dtype
    tf.int32
    """
    wanted = None if dtype is None else as_dtype(dtype)
    hint = None if dtype_hint is None else as_dtype(dtype_hint)
    plain = name
    if plain is None and not isinstance(value, Tensor) and not door.level().eager:
        plain = "packed" if convert.holds_tensors(value) else "Const"
    return convert.to_tensor(value, wanted, plain, hint)


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Any, priority: int = 100
) -> None:
    """Lets values of a class, or of a tuple of classes, become tensors by a function.

    `conversion_func(value, dtype=None, name=None, as_ref=False)` returns a tensor, of `dtype`
    if that is given, or NotImplemented: then the next one is called. Those with smaller
    `priority` are called first, then those registered first. Raises TypeError for arguments of
    other kinds, and for the classes of Python's and NumPy's numbers and arrays.

    https://www.tensorflow.org/api_docs/python/tf/register_tensor_conversion_function

    >>> class Celsius:
    ...     degrees = 20.0
    >>> def convert(value, dtype=None, name=None, as_ref=False):
    ...     return tf.constant(value.degrees, dtype, name=name or "celsius")
    >>> tf.register_tensor_conversion_function(Celsius, convert)
    >>> print(tf.add(Celsius(), 1.5).numpy())
    21.5
    """
    convert.register(base_type, conversion_func, priority)


def is_tensor(x: Any) -> bool:
    """True for tensors, variables, ragged and sparse tensors and indexed slices.

    Also for objects of libraries whose attribute `is_tensor_like` says so.

    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)
    (True, False)
    """
    return isinstance(x, _TENSORS) or bool(getattr(x, "is_tensor_like", False))


def is_symbolic_tensor(tensor: Any) -> bool:
    """True for a tensor of a graph, which has no value.

    >>> tf.is_symbolic_tensor(tf.constant(1))
    False
    """
    return isinstance(tensor, SymbolicTensor)


@without_global_dispatch
@dispatchable
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value as a NumPy array if it is known without running, else None.

    With `partial`, an integer vector of which some elements are known comes as an array of
    objects with None for the others. What is no tensor is its own value.

    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    if not isinstance(tensor, SymbolicTensor):
        return None if is_tensor(tensor) else tensor
    spec = tensor.spec
    if spec.dtype in (dtypes.resource, dtypes.variant):
        return None
    if spec.value is not None:
        return dtypes.as_numbers(np.asarray(spec.value))
    if differs_by_replica(tensor):
        raise NotOneProgram("Python code depends on which replica it runs for")
    if partial and spec.partial is not None:
        return np.array(spec.partial, object)
    return None


# -- filled tensors ------------------------------------------------------------------


def static_dims(shape: Any) -> tuple[int, ...] | None:
    """A shape argument as integers, None if it is a tensor without a static value."""
    if isinstance(shape, (list, tuple)):
        sizes: list[int] = []
        for d in shape:
            if type(d) is not int:
                if isinstance(d, SymbolicTensor):
                    if d.spec.value is None:
                        return None
                    d = d.spec.value
                elif d is None:
                    raise ValueError(
                        "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
                    )
                if isinstance(d, (list, tuple)):  # no vector: the op says so
                    return None
                if getattr(d, "shape", ()) != ():
                    raise ValueError(f"A shape is a list of integers, not {shape!r}.")
                if isinstance(d, (float, np.floating)):
                    raise TypeError(f"Cannot convert {shape!r} to EagerTensor of dtype int32")
                d = int(d)
            sizes.append(d)
        return tuple(sizes)
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
        return tuple(shape.as_list())  # type: ignore[arg-type]  # a full shape
    if isinstance(shape, SymbolicTensor):
        value = shape.spec.value
        return None if value is None else tuple(np.atleast_1d(value).tolist())
    if isinstance(shape, EagerTensor) or not hasattr(type(shape), "__tf_tensor__"):
        array = shape._array if isinstance(shape, EagerTensor) else np.asarray(shape)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"A shape holds integers, not {shape!r}.")
        return tuple(np.atleast_1d(array).tolist())
    return None


def _filled(shape: Any, value: Any, dtype: DType, name: str | None, own: str) -> Tensor:
    dims = static_dims(shape)
    here = door.level()
    if dims is None:
        vector = convert.to_tensor(shape)
        if vector.dims is None or vector.dims == ():
            vector = raw.Reshape(vector, [-1])
        return raw.Fill(vector, np.asarray(value, dtype.numpy), name=name or own)
    if any(d < 0 for d in dims):
        bad = next(d for d in dims if d < 0)
        message = f"Dimension {bad} must be >= 0"
        if here.eager:
            raise InvalidArgumentError(None, None, f"{message} [Op:Fill] name: ")
        raise ValueError(message)
    if here.eager:
        return here.constant(_block(dims, value, dtype), name)
    if (shapes.count(dims) or 0) < MAX_CONSTANT_ELEMENTS:
        return here.constant(_block(dims, value, dtype), name or own)
    return raw.Fill(np.asarray(dims, np.int32), _block((), value, dtype), name=name or own)


def _block(dims: tuple[int, ...], value: Any, dtype: DType) -> Any:
    check_allocated(dims, dtype.numpy.itemsize, "A tensor of one value")
    try:
        if value == 0 and dtype is not dtypes.string:
            return np.zeros(dims, dtype.numpy)
        return np.full(dims, b"" if dtype is dtypes.string else value, dtype.numpy)
    except MemoryError as e:
        raise ResourceExhaustedError(None, None, str(e)) from None


@dispatchable
def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros (False, empty strings) of a shape. Raises InvalidArgumentError if it is negative.

    >>> print(tf.zeros([2, 2]).numpy())
    [[0. 0.]
     [0. 0.]]
    """
    return _laid(_filled(shape, 0, as_dtype(dtype), name, "zeros"), layout)


@dispatchable
def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """Ones (True) of a shape. Raises InvalidArgumentError if it is negative, TypeError for strings.

    >>> print(tf.ones([2, 2], tf.int32).numpy())
    [[1 1]
     [1 1]]
    """
    wanted = as_dtype(dtype)
    if wanted is dtypes.string:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return _laid(_filled(shape, 1, wanted, name, "ones"), layout)


def _laid(tensor: Tensor, layout: Any) -> Tensor:
    """The tensor with a layout of a mesh, if one is given."""
    return tensor if layout is None else HOOKS.copy_to_mesh(tensor, layout)


def _filled_like(op: Any, input: Any, dtype: Any, value: Any, name: str) -> Tensor:
    """One value in the shape of a tensor, by `op` where the shape or the devices are the tensor's own."""
    x = convert.to_tensor(input)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    if executor_of((x,)) is not None:
        return op(x if wanted is x.dtype else raw.Cast(x, DstT=wanted), name=name)
    if wanted is dtypes.variant or not shapes.known(x.dims):
        if wanted is x.dtype:
            return op(x, name=name)
        return _filled(shape(x), value, wanted, name, name)
    return _filled(x.dims, value, wanted, name, name)


@dispatchable
def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Zeros of the shape of a tensor, and of its dtype unless `dtype` is passed.

    >>> print(tf.zeros_like([[1, 2]]).numpy())
    [[0 0]]
    """
    return _laid(_filled_like(raw.ZerosLike, input, dtype, 0, name or "zeros_like"), layout)


@dispatchable
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Ones of the shape of a tensor, and of its dtype unless `dtype` is passed.

    >>> print(tf.ones_like([[1, 2]]).numpy())
    [[1 1]]
    """
    return _laid(_filled_like(raw.OnesLike, input, dtype, 1, name or "ones_like"), layout)


@dispatchable
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` with the scalar `value` everywhere.

    >>> print(tf.fill([2, 3], 7).numpy())
    [[7 7 7]
     [7 7 7]]
    """
    return _laid(raw.Fill(dims, value, name=name), layout)


@dispatchable
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices of shape `batch_shape + [num_rows, num_columns]`.

    >>> print(tf.eye(2).numpy())
    [[1. 0.]
     [0. 1.]]
    """
    kind = as_dtype(dtype)
    columns = num_rows if num_columns is None else num_columns
    batch = () if batch_shape is None else static_dims(batch_shape)
    sizes = static_dims([num_rows, columns])
    if sizes is not None and batch is not None:
        whole = (*batch, *sizes)
        for size in whole:
            if size < 0:
                raise invalid_argument(f"Dimension {size} must be >= 0 [Op:Fill] name: ")
        if (shapes.count(whole) or 0) < MAX_CONSTANT_ELEMENTS or door.level().eager:
            check_allocated(whole, kind.size, "tf.eye")
            matrix = np.broadcast_to(np.eye(*sizes, dtype=kind.numpy), whole)
            return door.level().constant(matrix, name or "eye")
    lead: Any = [] if batch_shape is None else [convert.to_tensor(batch_shape)]
    size = raw.Minimum(num_rows, columns)
    diagonal = ones(raw.ConcatV2([*lead, raw.Pack([size])], 0), kind)
    return raw.MatrixDiagV3(
        diagonal, 0, num_rows, columns, np.zeros((), kind.numpy), name=name or "eye/diag"
    )


_RANGE_ORDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@dispatchable
def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Tensor:
    """start, start + delta, ... up to but not including limit; `range(n)` counts from 0.

    The dtype is the given one, else the widest among the arguments. Raises
    InvalidArgumentError (ValueError in a graph) if delta is 0 or points away from limit.

    >>> print(tf.range(1, 10, 3).numpy())
    [1 4 7]
    """
    if limit is None:
        start, limit = 0, start
    numbers = (start, limit, delta)
    if dtype is not None:
        wanted = as_dtype(dtype)
    elif all(type(v) is int for v in numbers):
        wanted = dtypes.int32
        if any(not -0x80000000 <= v <= 0x7FFFFFFF for v in numbers):
            wanted = dtypes.int64
    else:
        found = [_dtype_of(v) for v in numbers]
        wanted = found[0]
        if len(set(found)) > 1:
            wanted = max(found, key=_range_rank)
    first, end, step = [_as(v, wanted) for v in numbers]
    if door.level().eager and not any(isinstance(v, Tensor) for v in (first, end, step)):
        try:
            return door.level().constant(raw.Range.kernel_fn(first, end, step))
        except InvalidArgumentError:
            pass  # the op raises the error with its name
    return raw.Range(first, end, step, name=name)


def _dtype_of(value: Any) -> DType:
    if convert.holds_tensors(value):
        return convert.to_tensor(value).dtype
    return dtypes.from_numpy(convert.to_array(value).dtype)


def _range_rank(dtype: DType) -> int:
    if dtype not in _RANGE_ORDER:
        raise ValueError(f"tf.range cannot mix {dtype.name} with other types")
    return _RANGE_ORDER.index(dtype)


def _as(value: Any, dtype: DType) -> Any:
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        value = convert.to_tensor(value)
        return value if value.dtype is dtype else raw.Cast(value, DstT=dtype)
    if isinstance(value, float) and dtype.is_integer:
        return np.asarray(int(value), dtype.numpy)
    return np.asarray(value, dtype.numpy)


# -- shapes --------------------------------------------------------------------------


def _index_type(out_type: Any) -> DType:
    kind = dtypes.int32 if out_type is None else as_dtype(out_type)
    if kind not in dtypes.INDEX:
        raise door.not_among(raw.Shape, "out_type", kind, dtypes.INDEX)
    return kind


@dispatchable
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape as an integer vector of `out_type`, int32 by default.

    >>> print(tf.shape([[1, 2, 3]]).numpy())
    [1 3]
    """
    x = convert.to_tensor(input)
    kind = _index_type(out_type)
    if shapes.known(x.dims):
        array = np.array(x.dims, kind.numpy)
        return door.level().constant(array, name or "Shape")
    return raw.Shape(x, out_type=kind, name=name)


@dispatchable
def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors of one dtype.

    >>> [x.numpy().tolist() for x in tf.shape_n([tf.zeros([2]), tf.zeros([3, 1])])]
    [[2], [3, 1]]
    """
    return raw.ShapeN(list(input), out_type=out_type, name=name)


@dispatchable
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements, a scalar of `out_type`, int32 by default.

    >>> print(tf.size([[1, 2], [3, 4]]).numpy())
    4
    """
    x = convert.to_tensor(input)
    kind = _index_type(out_type)
    count = shapes.count(x.dims)
    if count is not None:
        return door.level().constant(np.asarray(count, kind.numpy), name or "Size")
    return raw.Size(x, out_type=kind, name=name)


@dispatchable
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions as an int32 scalar.

    >>> print(tf.rank([[1, 2], [3, 4]]).numpy())
    2
    """
    x = convert.to_tensor(input)
    if x.dims is not None:
        return door.level().constant(np.asarray(len(x.dims), np.int32), name or "Rank")
    return raw.Rank(x, name=name)


@dispatchable
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two known shapes broadcast to. Raises ValueError if they do not fit.

    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))
    TensorShape([2, 3])
    """
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    try:
        return TensorShape(shapes.broadcast(as_dims(x), as_dims(y)))
    except ShapeError:
        raise ValueError(
            f"Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either equal or one of them is 1. Received: {x} and {y}."
        ) from None


@dispatchable
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shapes given as integer vectors broadcast to.

    >>> print(tf.broadcast_dynamic_shape([2, 1], [3]).numpy())
    [2 3]
    """
    return raw.BroadcastArgs(shape_x, shape_y)


@dispatchable
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """x, whose shape is checked when it is known.

    Raises InvalidArgumentError (ValueError while tracing) if it is another.

    >>> print(tf.ensure_shape([[1, 2]], [None, 2]).numpy())
    [[1 2]]
    """
    return raw.EnsureShape(x, shape=TensorShape(shape), name=name)


__all__ = [
    "constant",
    "convert_to_tensor",
    "register_tensor_conversion_function",
    "is_tensor",
    "is_symbolic_tensor",
    "get_static_value",
    "zeros",
    "ones",
    "zeros_like",
    "ones_like",
    "fill",
    "eye",
    "range",
    "shape",
    "shape_n",
    "size",
    "rank",
    "broadcast_static_shape",
    "broadcast_dynamic_shape",
    "ensure_shape",
    "newaxis",
]
