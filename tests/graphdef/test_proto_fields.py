"""Fields of messages whose types the caller describes. TensorFlow 2.21 was asked for all of it."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2

from intaglio import tf

# The kind of a field, the dtype, and what is written for the number 1 in the first field.
KINDS = {
    "double": ("float64", b"\x09\x00\x00\x00\x00\x00\x00\xf0?"),
    "float": ("float32", b"\x0d\x00\x00\x80?"),
    "int64": ("int64", b"\x08\x01"),
    "uint64": ("uint64", b"\x08\x01"),
    "int32": ("int32", b"\x08\x01"),
    "fixed64": ("uint64", b"\x09\x01\x00\x00\x00\x00\x00\x00\x00"),
    "fixed32": ("uint32", b"\x0d\x01\x00\x00\x00"),
    "bool": ("bool", b"\x08\x01"),
    "uint32": ("uint32", b"\x08\x01"),
    "sfixed32": ("int32", b"\x0d\x01\x00\x00\x00"),
    "sfixed64": ("int64", b"\x09\x01\x00\x00\x00\x00\x00\x00\x00"),
    "sint32": ("int32", b"\x08\x02"),
    "sint64": ("int64", b"\x08\x02"),
}


def source(kind: str, default: str = "", packed: bool = False) -> bytes:
    """A set of descriptors with the message `t.M`: `one` and `many` of a kind."""
    fields = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t")
    message = file.message_type.add(name="M")
    number = getattr(fields, f"TYPE_{kind.upper()}")
    one = message.field.add(name="one", number=1, type=number, label=1)
    if default:
        one.default_value = default
    many = message.field.add(name="many", number=2, type=number, label=3)
    many.options.packed = packed
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def decoded(data: list[bytes], names: list[str], dtype: Any, given: bytes) -> Any:
    sizes, values = tf.io.decode_proto(
        data, "t.M", names, [dtype] * len(names), b"bytes://" + given
    )
    return sizes.numpy().tolist(), [v.numpy().tolist() for v in values]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_field_there_and_back(kind: str) -> None:
    dtype, wire = KINDS[kind]
    given = source(kind, default="true" if kind == "bool" else "7")
    one = tf.constant(np.array([[1]], dtype))
    made = tf.io.encode_proto([[1]], [one], ["one"], "t.M", b"bytes://" + given)
    assert made.numpy().tolist() == [wire]
    # What is absent has the field's default.
    sizes, (values,) = decoded([wire, b""], ["one"], dtype, given)
    assert sizes == [[1], [0]] and values == [[1], [True if kind == "bool" else 7]]


@pytest.mark.parametrize("packed", [False, True])
def test_repeated_numbers(packed: bool) -> None:
    given = source("sint32", packed=packed)
    numbers = tf.constant([[-1, 2, -3], [4, 0, 0]])
    made = tf.io.encode_proto([[3], [1]], [numbers], ["many"], "t.M", b"bytes://" + given)
    assert made.numpy()[0] == (b"\x12\x03\x01\x04\x05" if packed else b"\x10\x01\x10\x04\x10\x05")
    found = decoded(made.numpy().tolist(), ["many"], "int64", given)
    assert found == ([[3], [1]], [[[-1, 2, -3], [4, 0, 0]]])


def test_descriptors_from_a_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "set.pb"
    path.write_bytes(source("string", default="none"))
    sizes, (values,) = tf.io.decode_proto(
        [b"\x0a\x02hi", b""], "t.M", ["one"], [tf.string], str(path)
    )
    assert values.numpy().tolist() == [[b"hi"], [b"none"]]
    assert sizes.numpy().tolist() == [[1], [0]]


def test_shapes_in_graphs() -> None:
    @tf.function
    def both(data: Any) -> Any:
        return tf.io.decode_proto(data, "tensorflow.TensorProto", ["int_val"], [tf.int32])

    sizes, (values,) = both.get_concrete_function(
        tf.TensorSpec([2, None], tf.string)
    ).structured_outputs
    assert sizes.shape.as_list() == [2, None, 1]
    assert values.shape.as_list() == [2, None, None]


def test_descriptors_that_are_none() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="descriptor set"):
        decoded([b""], ["one"], "int32", b"zz")
