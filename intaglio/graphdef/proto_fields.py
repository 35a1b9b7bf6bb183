"""Fields of serialized protocol buffers as tensors, and tensors as fields of them.

Follows https://protobuf.dev/programming-guides/encoding for what is written. Messages are found by
name in a set of descriptors that the caller gives, or among the messages of TensorFlow.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError

from intaglio.base.dtypes import (
    DType,
    as_dtype,
    bool_,
    float32,
    float64,
    int32,
    int64,
    string,
    uint32,
    uint64,
)
from intaglio.base.errors import DataLossError, ShapeError, invalid_argument
from intaglio.graphdef import (
    event_messages,  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declared there
    example_messages,  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declared there
    saved_messages,  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declared there
)
from intaglio.graphdef.declarations import POOL
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

_Field = descriptor_pb2.FieldDescriptorProto
_UNPACKABLE = (_Field.TYPE_STRING, _Field.TYPE_BYTES, _Field.TYPE_MESSAGE, _Field.TYPE_GROUP)
_MASK = (1 << 64) - 1
LOCAL = (b"", b"local://")


def _varint(number: int) -> bytes:
    number &= _MASK
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 ^ number >> 63)


def _sized(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _packer(form: str, mask: int | None = None) -> Callable[[Any], bytes]:
    pack = struct.Struct(form).pack
    return pack if mask is None else lambda number: pack(number & mask)


_32 = (1 << 32) - 1
# By the type of a field: its name, the dtypes that it may have, the number of its form on the
# wire, and how one value is written.
KINDS: dict[int, tuple[str, tuple[DType, ...], int, Callable[[Any], bytes]]] = {
    _Field.TYPE_DOUBLE: ("double", (float64,), 1, _packer("<d")),
    _Field.TYPE_FLOAT: ("float", (float32, float64), 5, _packer("<f")),
    _Field.TYPE_INT64: ("int64", (int64,), 0, _varint),
    _Field.TYPE_UINT64: ("uint64", (uint64,), 0, _varint),
    _Field.TYPE_INT32: ("int32", (int32, int64), 0, _varint),
    _Field.TYPE_FIXED64: ("fixed64", (uint64,), 1, _packer("<Q")),
    _Field.TYPE_FIXED32: ("fixed32", (uint32, uint64), 5, _packer("<I", _32)),
    _Field.TYPE_BOOL: ("bool", (bool_,), 0, _varint),
    _Field.TYPE_STRING: ("string", (string,), 2, _sized),
    _Field.TYPE_MESSAGE: ("message", (string,), 2, _sized),
    _Field.TYPE_BYTES: ("bytes", (string,), 2, _sized),
    _Field.TYPE_UINT32: ("uint32", (uint32, uint64), 0, _varint),
    _Field.TYPE_ENUM: ("enum", (int32,), 0, _varint),
    _Field.TYPE_SFIXED32: ("sfixed32", (int32, int64), 5, _packer("<I", _32)),
    _Field.TYPE_SFIXED64: ("sfixed64", (int64,), 1, _packer("<q")),
    _Field.TYPE_SINT32: ("sint32", (int32, int64), 0, _zigzag),
    _Field.TYPE_SINT64: ("sint64", (int64,), 0, _zigzag),
}


@functools.lru_cache(maxsize=64)
def descriptor(source: bytes, message_type: str) -> Any:
    """The descriptor of a message type. Raises InvalidArgumentError if there is none."""
    pool = POOL
    if source not in LOCAL:
        pool = descriptor_pool.DescriptorPool()
        for file in _files(source):
            pool.Add(file)
    try:
        return pool.FindMessageTypeByName(message_type)
    except KeyError:
        raise invalid_argument(f"No descriptor found for message type {message_type}") from None


def _files(source: bytes) -> Any:
    if source.startswith(b"bytes://"):
        data = source[len(b"bytes://") :]
    else:
        try:
            with open(source, "rb") as file:
                data = file.read()
        except OSError:
            data = b"\xff"
    found = descriptor_pb2.FileDescriptorSet()
    try:
        found.ParseFromString(data)
    except DecodeError:
        raise invalid_argument(
            f"The descriptor source {source!r} does not represent a serialized file "
            "descriptor set: give 'bytes://' with one, the path of a file that has one, or "
            "'local://' for the messages of TensorFlow"
        ) from None
    return found.file


def _source(text: Any) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def _fields(source: Any, message_type: str, names: Sequence[str]) -> list[Any]:
    kind = descriptor(_source(source), message_type)
    found = [kind.fields_by_name.get(name) for name in names]
    for name, field in zip(names, found, strict=True):
        if field is None:
            raise invalid_argument(f"Unknown field: {name} in message type {message_type}")
    return found


def is_repeated(field: Any) -> bool:
    """Whether a field has several values. Versions of protobuf before 6.31 say it by the label."""
    if hasattr(field, "is_repeated"):
        return field.is_repeated
    return field.label == _Field.LABEL_REPEATED


def _is_packed(field: Any) -> bool:
    """Whether the values of a repeated number are written together: proto3 does unless told otherwise."""
    if hasattr(field, "is_packed"):
        return field.is_packed
    if not is_repeated(field) or field.type in _UNPACKABLE:
        return False
    options = field.GetOptions()
    if options.HasField("packed"):
        return options.packed
    file = descriptor_pb2.FileDescriptorProto()
    field.file.CopyToProto(file)
    return file.syntax == "proto3"


# -- decoding --------------------------------------------------------------------------


def _reader(field: Any) -> Callable[[Any], list[Any]]:
    """What gives the values of a field in a message, none where it is absent."""
    name = field.name
    if is_repeated(field):
        return lambda message: list(getattr(message, name))
    if field.has_presence:
        return lambda m: [getattr(m, name)] if m.HasField(name) else []
    blank = field.default_value
    return lambda m: [v] if (v := getattr(m, name)) != blank else []


def _as_elements(field: Any, values: list[Any]) -> list[Any]:
    if field.type == _Field.TYPE_STRING:
        return [v.encode() for v in values]
    if field.type == _Field.TYPE_MESSAGE:
        return [v.SerializePartialToString(deterministic=True) for v in values]
    return values


def _column(field: Any, dtype: DType, messages: Sequence[Any]) -> tuple[Any, Any]:
    """(how many values each message has, values [message, most]) of one field."""
    lists = list(map(_reader(field), messages))
    sizes = np.array([len(values) for values in lists], np.int32)
    blank: Any = b"" if dtype is string else 0
    if not is_repeated(field) and field.type != _Field.TYPE_MESSAGE:
        blank = _as_elements(field, [field.default_value])[0]
    column = np.full((len(lists), max(1, int(sizes.max()))), blank, dtype.numpy)
    flat = _as_elements(field, [value for values in lists for value in values])
    if flat:
        data = np.empty(len(flat), dtype.numpy)
        data[:] = flat
        column[np.arange(column.shape[1]) < sizes[:, None]] = data
    return sizes, column


def _parsed(kind: Any, data: bytes, message_format: str) -> Any:
    message = message_factory.GetMessageClass(kind)()
    try:
        if message_format == "text":
            text_format.Parse(data, message)
        else:
            message.MergeFromString(data)
    except (DecodeError, text_format.ParseError) as e:
        raise DataLossError(
            None, None, f"Unable to parse {message_format} protobuf {data[:40]!r}: {e}"
        ) from None
    return message


@op
class DecodeProtoV2(Op):
    """(how often each field occurs [..., field], the values of each field [..., most])."""

    signature = (
        "bytes: string; message_type: str, field_names: list(str),"
        " output_types: list(type), descriptor_source: str = 'local://',"
        " message_format: str = 'binary', sanitize: bool = False"
        " -> sizes: int32, values: *output_types"
    )
    differentiable = False

    def infer(self, bytes: Spec, field_names, output_types) -> Any:
        batch = bytes.shape
        if batch is None:
            return Spec(int32, None), [Spec(t, None) for t in output_types]
        return (
            Spec(int32, (*batch, len(field_names))),
            [Spec(t, (*batch, None)) for t in output_types],
        )

    def kernel(
        self, bytes, message_type, field_names, output_types, descriptor_source, message_format
    ):
        if len(field_names) != len(output_types):
            raise invalid_argument(
                "field_names and output_types attributes must have the same length, not "
                f"{len(field_names)} and {len(output_types)}"
            )
        if message_format not in ("binary", "text"):
            raise invalid_argument(f"format must be one of binary or text, not {message_format}")
        fields = _fields(descriptor_source, message_type, field_names)
        for field, dtype in zip(fields, output_types, strict=True):
            if dtype not in KINDS[field.type][1]:
                raise invalid_argument(
                    f"Unexpected output type for {field.full_name}: "
                    f"{KINDS[field.type][0]} to {dtype.name}"
                )
        data = np.asarray(bytes)
        if not data.size:
            raise invalid_argument("The bytes argument must contain at least one value")
        kind = descriptor(_source(descriptor_source), message_type)
        messages = [_parsed(kind, one, message_format) for one in data.reshape(-1)]
        columns = [
            _column(field, dtype, messages)
            for field, dtype in zip(fields, output_types, strict=True)
        ]
        sizes = np.zeros((*data.shape, len(fields)), np.int32)
        for i, (counts, _) in enumerate(columns):
            sizes[..., i] = counts.reshape(data.shape)
        return sizes, [column.reshape((*data.shape, -1)) for _, column in columns]


# -- encoding --------------------------------------------------------------------------


def _written(field: Any, sizes: Any, values: Any) -> list[bytes]:
    """A field of every message: `sizes` [message] of the `values` [message, most]."""
    name, types, form, write = KINDS[field.type]
    dtype = as_dtype(values.dtype)
    if dtype not in types:
        raise invalid_argument(
            f"Incompatible type for field {field.name}.  Saw dtype: {dtype.name} but "
            f"field type is: {name}"
        )
    wanted = np.arange(values.shape[1]) < sizes[:, None]
    flat = list(map(write, values[wanted].tolist()))
    counts = wanted.sum(axis=1)
    ends = np.cumsum(counts).tolist()
    parts = [flat[e - c : e] for e, c in zip(ends, counts.tolist(), strict=True)]
    if _is_packed(field):
        head = _varint(field.number << 3 | 2)
        return [head + _sized(b"".join(one)) if one else b"" for one in parts]
    head = _varint(field.number << 3 | form)
    return [b"".join([head + value for value in one]) for one in parts]


def _check_values(sizes: Any, values: Sequence[Any], names: Sequence[str]) -> Any:
    """The shape of the batch. Raises InvalidArgumentError for shapes that do not fit."""
    if len(values) != len(names):
        raise invalid_argument(
            f"Length of inputs and field_names must match: {len(values)} vs. {len(names)}"
        )
    for name, value in zip(names, values, strict=True):
        if value.ndim < 2:
            raise invalid_argument(
                f"Invalid shape for field {name}.  Saw shape {list(value.shape)} but it "
                "should be at least a matrix."
            )
    batch = values[0].shape[:-1]
    if sizes.shape != (*batch, len(names)):
        raise invalid_argument(
            "sizes should be batch_size + [len(field_names)].  Saw: "
            f"{list(sizes.shape)} but expected: {[*batch, len(names)]}"
        )
    for name, value in zip(names, values, strict=True):
        if value.shape[:-1] != batch:
            raise invalid_argument(
                f"Values must match up to the last dimension: {name} has the shape "
                f"{list(value.shape)} for the batch {list(batch)}"
            )
    flat = sizes.reshape(-1, len(names))
    for i, value in enumerate(values):
        if np.any(flat[:, i] > value.shape[-1]):
            at = int(np.argmax(flat[:, i] > value.shape[-1]))
            raise invalid_argument(
                "Size to write must not be larger than value tensor; but saw: "
                f"{flat[at, i]} > {value.shape[-1]} at message {at} field {i}"
            )
    return batch


@op
class EncodeProto(Op):
    """Serialized messages whose fields have the first `sizes` of the values."""

    signature = (
        "sizes: int32, values: *Tinput_types; field_names: list(str), message_type: str,"
        " descriptor_source: str = 'local://' -> bytes: string"
    )
    differentiable = False

    def infer(self, sizes: Spec, values: list[Spec]) -> Spec:
        for value in values:
            if value.rank is not None and value.rank < 2:
                raise ShapeError(f"Shape must be at least rank 2 but is rank {value.rank}")
        shape = next((s.shape for s in (sizes, *values) if s.shape), None)
        return Spec(string, None if shape is None else shape[:-1])

    def kernel(self, sizes, values, field_names, message_type, descriptor_source):
        arrays = [np.asarray(v) for v in values]
        batch = _check_values(sizes, arrays, field_names)
        fields = _fields(descriptor_source, message_type, field_names)
        flat = sizes.reshape(-1, len(fields))
        order = sorted(range(len(fields)), key=lambda i: fields[i].number)
        columns = [
            _written(fields[i], flat[:, i], arrays[i].reshape(len(flat), arrays[i].shape[-1]))
            for i in order
        ]
        encoded = np.empty(len(flat), object)
        encoded[:] = [b"".join(one) for one in zip(*columns, strict=True)]
        return encoded.reshape(batch)
