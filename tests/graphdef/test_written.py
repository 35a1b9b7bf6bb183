"""Types, shapes and specs as messages. The bytes are those of TensorFlow 2.21, which was asked."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf

CASES: list[tuple[Any, str, bytes]] = [
    (tf.float32, "tensorflow.SerializedDType", b"\x08\x01"),
    (
        tf.TensorShape([1, None]),
        "tensorflow.TensorShapeProto",
        b"\x12\x02\x08\x01\x12\x0b\x08" + b"\xff" * 9 + b"\x01",
    ),
    (tf.TensorShape(None), "tensorflow.TensorShapeProto", b"\x18\x01"),
    (
        tf.TensorSpec([2], tf.int8, "n"),
        "tensorflow.TensorSpecProto",
        b"\x0a\x01n\x12\x04\x12\x02\x08\x02\x18\x06",
    ),
]


@pytest.mark.parametrize(("value", "name", "data"), CASES)
def test_there_and_back(value: Any, name: str, data: bytes) -> None:
    proto = value.experimental_as_proto()
    assert proto.SerializeToString() == data
    kind = type(value)
    assert kind.experimental_type_proto() is type(proto)
    assert type(proto).DESCRIPTOR.full_name == name
    again = kind.experimental_from_proto(proto)
    assert again == value or (again.rank is None and value.rank is None)
