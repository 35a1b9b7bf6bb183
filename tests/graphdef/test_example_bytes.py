"""Serialized Examples read in tables say what their messages say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.dtypes import DType
from intaglio.graphdef import example_parsing
from intaglio.graphdef.example_messages import Example

KEYS: tuple[str, ...] = (
    "a",
    "b",
    "a-key-that-is-longer-than-two-words",
    "a-key-that-is-longer-THAN-two-words",
    "ü",
    "",
)
KINDS: dict[str, Any] = {
    "int64_list": st.integers(-(2**63), 2**63 - 1) | st.integers(0, 200),
    "float_list": st.floats(width=32, allow_nan=False),
    "bytes_list": st.binary(max_size=5) | st.binary(min_size=126, max_size=130),
}
TYPES: dict[str, DType] = {
    "int64_list": tf.int64,
    "float_list": tf.float32,
    "bytes_list": tf.string,
}
# One kind for each key, as in files of records.
KIND_OF: dict[str, str] = dict(zip(KEYS, [*KINDS, *KINDS], strict=True))


def varint(number: int) -> bytes:
    """Seven bits in each byte."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def field(tag: int, contents: bytes) -> bytes:
    """A field of a length that it says."""
    return bytes([tag]) + varint(len(contents)) + contents


@st.composite
def features(draw: Any) -> bytes:
    """A field `feature` of Features: in most cases as it is written, in some as it may be."""
    key = draw(st.sampled_from(KEYS))
    kind = KIND_OF[key]
    message = Example().features.feature[""]
    values = draw(
        st.lists(KINDS[kind], min_size=1, max_size=4)
        | st.just([1] * 200 if kind == "int64_list" else [])
    )
    getattr(message, kind).value.extend(values)
    getattr(message, kind).SetInParent()
    whole = message.SerializeToString()
    how = draw(st.integers(0, 12))
    name, value = field(0x0A, key.encode()), field(0x12, whole)
    if how == 0:
        return field(0x0A, value + name)
    if how == 1:
        return field(0x0A, name + value + b"\x78\x05")  # and an unknown field
    if how == 2 and kind == "int64_list":
        loose = b"".join(b"\x08" + varint(v & (2**64 - 1)) for v in values)
        return field(0x0A, name + field(0x12, field(0x1A, loose)))
    if how == 3:
        return field(0x0A, name + field(0x12, whole + whole))
    return field(0x0A, name + value)


@st.composite
def serialized(draw: Any) -> bytes:
    """An Example."""
    parts = draw(st.lists(features(), max_size=5))
    if draw(st.integers(0, 9)) == 0:
        return b"".join(field(0x0A, part) for part in parts) + b"\x7a\x01x"
    return field(0x0A, b"".join(parts)) if parts or draw(st.booleans()) else b""


def read(message: Any, key: str) -> list[Any]:
    """The values of a feature of a message."""
    held = message.features.feature
    return list(getattr(held[key], KIND_OF[key]).value) if key in held else []


@settings(max_examples=150, deadline=None)
@given(st.lists(serialized(), max_size=6), st.integers(1, 8))
def test_tables_say_what_messages_say(records: list[bytes], times: int) -> None:
    # With unknown fields between key and value protobuf drops a map's entry, in tables as well.
    data = records * times
    messages = [Example.FromString(r) for r in data]
    # Two of the keys differ in their middle only, so that no digest distinguishes them.
    for few, keys in ((10**6, KEYS), (0, KEYS), (0, KEYS[:3] + KEYS[4:])):
        wants = [(key.encode(), TYPES[KIND_OF[key]], False) for key in keys]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(example_parsing, "_MAX_FEATURES_FOR_MESSAGES", few)
            columns = example_parsing.columns_of(data, wants, [])
        for key, column in zip(keys, columns, strict=True):
            lists = [read(m, key) for m in messages]
            assert column.counts.tolist() == [len(x) for x in lists], key
            flat = [v for x in lists for v in x]
            assert column.values.tolist() == (
                flat if KIND_OF[key] != "float_list" else np.array(flat, np.float32).tolist()
            )
            present = [key in m.features.feature for m in messages]
            assert (column.lengths >= 0).tolist() == present


@settings(max_examples=60, deadline=None)
@given(st.lists(serialized(), min_size=30, max_size=40), st.data())
def test_what_is_cut_short_is_refused_as_one_record_is(records: list[bytes], data: Any) -> None:
    at = data.draw(st.integers(0, len(records) - 1))
    cut = records[at][: data.draw(st.integers(0, max(len(records[at]) - 1, 0)))]
    spec = {key: tf.io.VarLenFeature(TYPES[KIND_OF[key]]) for key in KEYS}

    def outcome(serialized: Any) -> Any:
        try:
            found = tf.io.parse_example(serialized, spec)
        except tf.errors.InvalidArgumentError as error:
            return "Could not parse example input" in error.message
        return {k: v.values.numpy().tolist() for k, v in found.items()}

    alone, among = outcome([cut]), outcome([*records[:at], cut, *records[at + 1 :]])
    assert isinstance(alone, bool) == isinstance(among, bool)
    assert alone is not False and among is not False


def entry(key: bytes, feature: bytes) -> bytes:
    """One feature of an Example."""
    return field(0x0A, field(0x0A, key) + field(0x12, feature))


ONE = field(0x1A, field(0x0A, b"\x01"))
TWO = field(0x1A, field(0x0A, b"\x02"))


@pytest.mark.parametrize(
    "parts",
    [
        [entry(b"x", TWO), entry(b"x", ONE)],  # the last of a name counts
        [entry(b"x", ONE), entry(b"x", b"")],  # unless it has no list
        [entry(b"\xff", TWO), entry(b"x", ONE)],  # names are bytes
        [entry(b"z", field(0x1A, b"\x0a\x05\x01")), entry(b"x", ONE)],  # z is not requested
    ],
)
@pytest.mark.parametrize("count", [1, 100])
def test_records_that_tensorflow_parsed(parts: list[bytes], count: int) -> None:
    record = field(0x0A, b"".join(parts))
    spec = {"x": tf.io.FixedLenFeature([], tf.int64, default_value=-9)}
    assert tf.io.parse_single_example(record, spec)["x"].numpy() == 1
    assert tf.io.parse_example([record] * count, spec)["x"].numpy().tolist() == [1] * count


@pytest.mark.parametrize("shape", [[], [3], [200]])
@pytest.mark.parametrize("count", [3, 300])
def test_dense_features_with_defaults(shape: list[int], count: int) -> None:
    size = int(np.prod(shape))
    rows: list[bytes] = []
    wanted: list[Any] = []
    for i in range(count):
        values = [float(i * size + j) for j in range(size)]
        feature = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))}
        if i % 3:
            feature["x"] = tf.train.Feature(float_list=tf.train.FloatList(value=values))
        rows.append(
            tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
        )
        wanted.append(np.reshape(values if i % 3 else [7.0] * size, shape))
    spec = {
        "x": tf.io.FixedLenFeature(shape, tf.float32, np.full(shape, 7.0, np.float32)),
        "n": tf.io.FixedLenFeature([1], tf.int64),
    }
    found = tf.io.parse_example(rows, spec)
    np.testing.assert_array_equal(found["x"].numpy(), np.array(wanted, np.float32))
    assert found["n"].numpy().tolist() == [[i] for i in range(count)]


@pytest.mark.parametrize(
    "keys", [["k1", "k2"], [f"key number {i:4} of very many" for i in range(1000)]]
)
def test_many_keys(keys: list[str]) -> None:
    feature = {
        k: tf.train.Feature(int64_list=tf.train.Int64List(value=[i])) for i, k in enumerate(keys)
    }
    record = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    spec = {k: tf.io.FixedLenFeature([], tf.int64) for k in keys}
    found = tf.io.parse_example([record, record], spec)
    assert [found[k].numpy().tolist() for k in keys] == [[i, i] for i in range(len(keys))]


def test_a_key_that_is_longer_than_the_records() -> None:
    record = field(0x0A, entry(b"x", ONE))
    spec = {key: tf.io.FixedLenFeature([], tf.int64, 5) for key in ("x", "long" * 2000)}
    found = tf.io.parse_example([record] * 100, spec)
    assert [v.numpy().tolist() for v in found.values()] == [[5] * 100, [1] * 100]
