"""Damaged, truncated and contradictory files are refused by name; nothing crashes or runs."""

from __future__ import annotations

import pathlib
import random
import shutil
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base import crc32c
from intaglio.base.errors import OpError
from intaglio.graphdef.declarations import MalformedError
from intaglio.saved_model import bundle, names, reader, table

MODELS = pathlib.Path(__file__).parent / "models"
INDEX = "variables/variables.index"
DATA = "variables/variables.data-00000-of-00001"
REFUSED = (ValueError, OpError, NotImplementedError, OSError)


@pytest.fixture
def copied(tmp_path: pathlib.Path) -> pathlib.Path:
    shutil.copytree(MODELS / "tensorflow", tmp_path / "m")
    return tmp_path / "m"


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one thing wrong."""
    at = chance.randrange(len(data))
    kind = chance.randrange(4)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + chance.randbytes(chance.randrange(1, 9)) + data[at:]
    return data[:at] + data[at + chance.randrange(1, 9) :]


def stored(model: pathlib.Path) -> dict[str, Any]:
    """All that the bundle of a model has."""
    found = bundle.Bundle(str(model / "variables/variables"))
    return {name: found.array(name).tolist() for name in found}


@pytest.mark.parametrize("name", [INDEX, DATA])
def test_damaged_values_are_refused(name: str, copied: pathlib.Path) -> None:
    chance = random.Random(1)
    whole, values = (copied / name).read_bytes(), stored(copied)
    refused = 0
    for _ in range(100):
        (copied / name).write_bytes(damaged(whole, chance))
        try:
            found = stored(copied)
        except tf.errors.DataLossError:
            refused += 1
        else:  # bytes that mean nothing
            assert found == values
    assert refused > 70


def test_damaged_graphs_load_or_are_refused(copied: pathlib.Path) -> None:
    chance = random.Random(2)
    whole = (copied / names.MODEL).read_bytes()
    refused = 0
    for _ in range(40):
        (copied / names.MODEL).write_bytes(damaged(whole, chance))
        try:
            tf.saved_model.load(str(copied))
        except REFUSED:
            refused += 1
    assert refused > 15


def test_tables_of_random_bytes_are_refused() -> None:
    chance = random.Random(3)
    good = table.write([(b"a%03d" % i, b"value") for i in range(300)])
    for _ in range(300):
        data = chance.randbytes(chance.randrange(80)) + good[-48:]
        with pytest.raises(MalformedError, match="t is no readable table"):
            table.read(data, "t")


def test_a_table_cannot_claim_endless_keys() -> None:
    block = table.varint(0) + table.varint(60000) + table.varint(0) + bytes(60000)
    for i in range(4000):
        block += table.varint(60000 + i) + table.varint(1) + table.varint(0) + b"x"
    with pytest.raises(MalformedError, match="longer than itself"):
        table.read(_table_of(block), "t")


def _table_of(entries: bytes) -> bytes:
    """A table whose one data block has these entries."""
    out = b""
    handles = []
    for block in (entries, b"", None):
        if block is None:
            value = handles[0]
            block = table.varint(0) + table.varint(1) + table.varint(len(value))
            block += b"z" + value
        block += bytes(4) + (1).to_bytes(4, "little") + b"\0"
        handles.append(table.varint(len(out)) + table.varint(len(block) - 1))
        out += block + crc32c.masked(crc32c.crc32c(block)).to_bytes(4, "little")
    footer = (handles[1] + handles[2]).ljust(40, b"\0")
    return out + footer + table.write([])[-8:]


@pytest.mark.parametrize("count", [0, 1, 17, 5000])
def test_tables_give_back_their_entries(count: int) -> None:
    entries = [(b"key%06d" % i, bytes([i % 256]) * (i % 300)) for i in range(count)]
    assert table.read(table.write(entries), "t") == dict(entries)


def test_checksums_of_long_data_are_those_of_short() -> None:
    assert crc32c.crc32c(b"123456789") == 0xE3069283
    data = random.Random(4).randbytes(70001)
    for length in (16383, 16384, 16385, 70001):
        assert crc32c.extend(5, data[:length]) == crc32c._short(5, data[:length])
    parts = crc32c.extend(crc32c.crc32c(data[:40000]), data[40000:])
    assert parts == crc32c.crc32c(data)


def test_bundles_of_all_shapes(tmp_path: pathlib.Path) -> None:
    strings = np.empty((2, 2), object)
    strings[:] = [[b"", b"x" * 200], [b"\0", b"y"]]
    arrays: dict[str, Any] = {
        "b/x": strings,
        "a": np.float64(3),
        "zz": np.zeros((0, 3), np.int8),
        "ü": np.arange(30000, dtype=np.int64).reshape(3, -1),
    }
    bundle.write(str(tmp_path / "p"), arrays)
    found = bundle.Bundle(str(tmp_path / "p"))
    assert sorted(found) == sorted(arrays)
    for name, array in arrays.items():
        assert found.array(name).tolist() == np.asarray(array).tolist()
    with pytest.raises(tf.errors.NotFoundError, match="Key b not found in checkpoint"):
        found.array("b")


# -- contradictions ------------------------------------------------------------------------


def _changed(copied: pathlib.Path, change: Any) -> None:
    model = reader.read_message(str(copied))
    change(model.meta_graphs[0])
    (copied / names.MODEL).write_bytes(model.SerializeToString())


def _no_such_child(graph: Any) -> None:
    graph.object_graph_def.nodes[0].children[0].node_id = 10**6


def _no_such_function(graph: Any) -> None:
    for node in graph.object_graph_def.nodes:
        if node.WhichOneof("kind") == "function":
            node.function.concrete_functions[0] = "missing"


def _other_dtype(graph: Any) -> None:
    for node in graph.object_graph_def.nodes:
        if node.WhichOneof("kind") == "variable":
            node.variable.dtype = 9


def _extra_result(graph: Any) -> None:
    for found in graph.object_graph_def.concrete_functions.values():
        found.output_signature.CopyFrom(found.canonicalized_input_signature)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_no_such_child, "has the child 1000000, which does not exist"),
        (_no_such_function, "the concrete function 'missing' does not exist"),
        (_other_dtype, "is int64, its value"),
        (_extra_result, "are not those of its signature"),
    ],
)
def test_contradictions_are_named(change: Any, message: str, copied: pathlib.Path) -> None:
    _changed(copied, change)
    with pytest.raises(MalformedError, match=message):
        tf.saved_model.load(str(copied))


@pytest.mark.parametrize("op", ["PyFunc", "PyFuncStateless", "EagerPyFunc"])
def test_models_that_call_python_are_refused(op: str, copied: pathlib.Path) -> None:
    def change(graph: Any) -> None:
        for function in graph.graph_def.library.function:
            function.node_def[0].op = op

    _changed(copied, change)
    with pytest.raises(ValueError, match=f"calls Python .* op {op}.*never runs code"):
        tf.saved_model.load(str(copied))


def test_a_function_with_an_unknown_op_fails_when_it_is_called(copied: pathlib.Path) -> None:
    def change(graph: Any) -> None:
        for function in graph.graph_def.library.function:
            for node in function.node_def:
                if node.op == "StringJoin":
                    node.op = "NoSuchOp"

    _changed(copied, change)
    model = tf.saved_model.load(str(copied))
    assert int(model.step()) == 8
    with pytest.raises(NotImplementedError, match="not registered 'NoSuchOp'"):
        model.greet("x")
