"""Asks TensorFlow which ops `jit_compile=True` refuses: those that XLA has no kernel for.

    path/to/python-with-tensorflow -m tests.parity.record_whole_graph

from the repository's root. Writes tests/parity/whole_graph.json: the names. Ops without samples are
asked for with programs of their own.
"""

from __future__ import annotations

import datetime
import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from tests.ops import samples
from tests.parity.record import _given

PAGE = pathlib.Path(__file__).parent / "whole_graph.json"


def _table():
    initial = tf.lookup.KeyValueTensorInitializer(tf.constant([1]), tf.constant([3]))
    table = tf.lookup.StaticHashTable(initial, -1)
    return lambda: table.lookup(tf.constant([1]))


def _changed():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    one = tf.constant([1], tf.int64)
    return table, one


def _iterated():
    data = tf.data.Dataset.range(3)

    def body():
        total = tf.constant(0, tf.int64)
        for x in data:
            total += x
        return total

    return body


def _reader(name: str):
    """Counts what a reader has read, or reads with it."""
    ops, read = tf.raw_ops, "ReaderReadV2" if name == "ReaderReadV2" else "ReaderReadUpToV2"

    def body():
        kind = "TextLineReaderV2" if name.startswith("Reader") else name
        sizes = {"record_bytes": 1} if name.startswith("FixedLength") else {}
        reader = getattr(ops, kind)(**sizes)
        if "Read" not in name.removeprefix("Reader"):
            count = name if name.startswith("ReaderNum") else "ReaderNumRecordsProducedV2"
            found = getattr(ops, name)(reader_handle=reader) if name == "ReaderResetV2" else None
            with tf.control_dependencies([found] if found is not None else []):
                return getattr(ops, count)(reader_handle=reader)
        queue = ops.FIFOQueueV2(component_types=[tf.string])
        many = {"num_records": 1} if read == "ReaderReadUpToV2" else {}
        return getattr(ops, read)(reader_handle=reader, queue_handle=queue, **many)[0]

    return lambda: body


READERS = (
    "FixedLengthRecordReaderV2 IdentityReaderV2 ReaderNumRecordsProducedV2 "
    "ReaderNumWorkUnitsCompletedV2 ReaderReadUpToV2 ReaderReadV2 ReaderResetV2 TFRecordReaderV2 "
    "TextLineReaderV2 WholeFileReaderV2"
)
PROGRAMS = {
    **{name: _reader(name) for name in READERS.split()},
    "EagerPyFunc": lambda: lambda: tf.py_function(lambda: 1.0, [], tf.float32),
    "PyFunc": lambda: lambda: tf.numpy_function(lambda: 1.0, [], tf.float64),
    "PrintV2": lambda: lambda: tf.print(1.0),
    "LookupTableFindV2": _table,
    "LookupTableInsertV2": lambda: lambda: _changed()[0].insert(*_changed()[1:] * 2),
    "IteratorGetNext": _iterated,
    "ReadFile": lambda: lambda: tf.strings.length(tf.io.read_file("x")),
    "Timestamp": lambda: tf.timestamp,
}


def _refusal(call, op: str, *arguments) -> bool | None:
    """True if it is refused for the op; None if that is unknown."""
    try:
        call(*arguments)
    except Exception as e:
        text = str(e)
        if "unsupported operations" in text and (op in text or op in PROGRAMS):
            return True
        return None if "unsupported operations" in text else False
    return False


def refused(op: str, known: list[samples.Sample]) -> bool:
    """True if XLA refuses all samples of an op that succeed."""
    asked = [s for s in known if not s.error][:3]
    found = []
    for sample in asked:
        if any(isinstance(v, np.ndarray) and v.dtype == object for v in sample.args.values()):
            found.append(True)
            continue
        found.append(_refusal(_called, op, sample))
    return bool(found) and all(f is True for f in found)


def _called(sample: samples.Sample):
    """The op on arguments of a function: what is constant would be computed beforehand."""
    args = {k: _given(v) for k, v in sample.args.items()}
    tensors = {
        k: v
        for k, v in args.items()
        if tf.nest.flatten(v) and all(map(tf.is_tensor, tf.nest.flatten(v)))
    }
    rest = {k: v for k, v in args.items() if k not in tensors}
    op = getattr(tf.raw_ops, sample.op)
    return tf.function(lambda **given: op(**given, **rest), jit_compile=True)(**tensors)


def main() -> None:
    """Writes the page."""
    names = [
        op
        for op, known in sorted(samples.load().items())
        if not op.startswith("_") and refused(op, known)
    ]
    names += [
        op for op, make in PROGRAMS.items() if _refusal(tf.function(make(), jit_compile=True), op)
    ]
    page = {
        "_meta": {"tensorflow": tf.__version__, "date": str(datetime.date.today())},
        "refused": sorted({*names}),
    }
    PAGE.write_text(json.dumps(page, indent=1) + "\n")
    print(len(page["refused"]), "ops")


if __name__ == "__main__":
    main()
