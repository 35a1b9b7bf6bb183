"""Arrays, shapes and attribute values as messages, and back with every claim checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import BY_NUMBER, DType, from_numpy
from intaglio.base.limits import check_decoded
from intaglio.base.shapes import Dims
from intaglio.graphdef import messages
from intaglio.graphdef.declarations import MalformedError

# No machine addresses more elements.
MAX_ELEMENTS = 1 << 48

_FIELD = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.string: "string_val",
    dtypes.int32: "int_val",
    dtypes.int16: "int_val",
    dtypes.int8: "int_val",
    dtypes.uint8: "int_val",
    dtypes.uint16: "int_val",
    dtypes.int64: "int64_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.bool_: "bool_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
}


def shape_proto(dims: Dims) -> Any:
    """A shape as a TensorShapeProto."""
    proto = messages.TensorShapeProto()
    if dims is None:
        proto.unknown_rank = True
    else:
        for d in dims:
            proto.dim.add(size=-1 if d is None else d)
    return proto


def shape_of(proto: Any) -> Dims:
    """A TensorShapeProto as a shape. Raises MalformedError for sizes below -1."""
    if proto.unknown_rank:
        return None
    sizes = [d.size for d in proto.dim]
    if len(sizes) > 254 or any(s < -1 for s in sizes):
        raise MalformedError(f"a shape has the impossible dimensions {sizes[:8]}")
    return tuple([None if s == -1 else s for s in sizes])


def tensor_proto(array: Any) -> Any:
    """An array as a TensorProto: bytes for many numbers, the typed field for one or for strings."""
    array = np.asarray(array)
    dtype = from_numpy(array.dtype)
    if dtype not in _FIELD:
        raise ValueError(f"A tensor of dtype {dtype.name} cannot be written to a message.")
    proto = messages.TensorProto(
        dtype=dtype.as_datatype_enum, tensor_shape=shape_proto(array.shape)
    )
    if dtype is not dtypes.string and array.size > 1:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
        return proto
    getattr(proto, _FIELD[dtype]).extend(_values(array, dtype))
    return proto


def _values(array: np.ndarray, dtype: DType) -> list[Any]:
    flat = array.reshape(-1)
    if dtype.is_complex:
        return flat.view(dtype.real_dtype.numpy).tolist()
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return flat.view(np.uint16).tolist()
    return flat.tolist()


def array_of(proto: Any) -> np.ndarray:
    """A TensorProto as an array. Raises MalformedError if its parts contradict each other."""
    dtype = dtype_of(proto.dtype)
    if dtype not in _FIELD:
        raise MalformedError(f"a tensor message of dtype {dtype.name} cannot be read")
    dims = shape_of(proto.tensor_shape)
    if dims is None or None in dims:
        raise MalformedError(f"a tensor message has the unknown shape {dims}")
    count = 1
    for d in dims:
        count *= d or 0
    if count > MAX_ELEMENTS:
        raise MalformedError(f"a tensor message claims {count} elements")
    # A few bytes can claim a shape of any size.
    check_decoded(count * dtype.numpy.itemsize, "A tensor message")
    if proto.tensor_content:
        return _from_content(proto.tensor_content, dtype, dims, count)
    return _from_field(list(getattr(proto, _FIELD[dtype])), dtype, dims, count)


def _from_content(content: bytes, dtype: DType, dims: Any, count: int) -> np.ndarray:
    if dtype is dtypes.string:
        raise MalformedError("a string tensor has tensor_content")
    if len(content) != count * dtype.size:
        raise MalformedError(
            f"a {dtype.name} tensor of shape {dims} has {len(content)} bytes, "
            f"not {count * dtype.size}"
        )
    return np.frombuffer(content, dtype.numpy).reshape(dims)


def _from_field(values: list[Any], dtype: DType, dims: Any, count: int) -> np.ndarray:
    width = 2 if dtype.is_complex else 1
    if len(values) > count * width or len(values) % width:
        raise MalformedError(f"a {dtype.name} tensor of shape {dims} has {len(values)} values")
    try:
        array = _array(values, dtype)
    except (OverflowError, ValueError) as e:
        raise MalformedError(f"a {dtype.name} tensor has values out of range: {e}") from None
    if len(array) == count:
        return array.reshape(dims)
    # The last value is repeated for all that follow; no value at all means zeros. One value for
    # all takes no memory, so that a small message cannot allocate much.
    filler = array[-1:] if len(array) else np.zeros(1, dtype.numpy)
    if dtype is dtypes.string and not len(array):
        filler[0] = b""
    if len(array) <= 1:
        return np.broadcast_to(filler.reshape((1,) * len(dims)), dims)
    return np.concatenate([array, np.repeat(filler, count - len(array))]).reshape(dims)


def _array(values: list[Any], dtype: DType) -> np.ndarray:
    if dtype is dtypes.string:
        result = np.empty(len(values), object)
        result[:] = values
        return result
    if dtype.is_complex:
        return np.array(values, dtype.real_dtype.numpy).view(dtype.numpy)
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.array(values, np.uint16).view(dtype.numpy)
    return np.array(values, dtype.numpy)


def dtype_of(number: int) -> DType:
    """A DataType number as a DType. Raises MalformedError if there is no such type."""
    found = BY_NUMBER.get(number)
    if found is None:
        raise MalformedError(f"there is no data type with the number {number}")
    return found


# -- attributes --------------------------------------------------------------------


def set_attribute(message: Any, value: Any, kind: str, function_name: Any) -> None:
    """Writes an attribute of the given kind; `function_name(graph)` names functions."""
    base, many = (kind[5:-1], True) if kind.startswith("list(") else (kind, False)
    target = message.list if many else message
    if many:
        target.SetInParent()
    for item in value if many else (value,):
        _set_one(target, item, base, many, function_name)


def _set_one(target: Any, item: Any, base: str, many: bool, function_name: Any) -> None:
    if base in ("shape", "tensor", "func"):
        if base == "shape":
            part = shape_proto(item)
        elif base == "tensor":
            part = tensor_proto(item)
        else:
            part = messages.NameAttrList(name=function_name(item))
        field = getattr(target, base)
        field.add().CopyFrom(part) if many else field.CopyFrom(part)
        return
    field, value = {
        "int": lambda: ("i", item),
        "float": lambda: ("f", item),
        "bool": lambda: ("b", item),
        "str": lambda: (
            "s",
            item if isinstance(item, bytes) else item.encode("utf-8", "surrogateescape"),
        ),
        "type": lambda: ("type", item.as_datatype_enum),
    }[base]()
    getattr(target, field).append(value) if many else setattr(target, field, value)


def attribute_of(message: Any, kind: str, function_of: Any) -> Any:
    """An attribute of the given kind from its message; `function_of(name)` finds functions."""
    base, many = (kind[5:-1], True) if kind.startswith("list(") else (kind, False)
    field = {"int": "i", "float": "f", "bool": "b", "str": "s"}.get(base, base)
    present = message.WhichOneof("value")
    if present != ("list" if many else field):
        raise MalformedError(f"an attribute of kind {kind} holds {present or 'nothing'}")
    values = getattr(message.list, field) if many else (getattr(message, field),)
    read = {
        "str": lambda v: v.decode("utf-8", "surrogateescape"),
        "type": dtype_of,
        "shape": shape_of,
        "tensor": array_of,
        "func": lambda v: function_of(v.name),
    }.get(base, lambda v: v)
    result = tuple([read(v) for v in values])
    return result if many else result[0]
