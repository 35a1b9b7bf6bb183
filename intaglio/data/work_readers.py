"""Readers of the files that a queue names, as TensorFlow 1 has them.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/ReaderBase. A reader takes the next name
from the queue when it has read a file to its end.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio.base.dtypes import RESOURCE_MARKER, int64, resource, string
from intaglio.base.errors import invalid_argument
from intaglio.data.queues import Queue
from intaglio.data.record_files import HEAD, TAIL, opened, records
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

# Keys and values, in the order of a file.
Pairs = Iterator[tuple[bytes, bytes]]


class Reader:
    """The value behind a reader's handle."""

    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = None

    def __init__(self, read: Callable[[str], Pairs]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._current: Pairs | None = None
        self.produced = self.completed = 0

    def reset(self) -> None:
        """Forgets the file that is being read, and how many were."""
        with self._lock:
            self._current = None
            self.produced = self.completed = 0

    def next_up_to(self, queue: Queue, count: int) -> list[tuple[bytes, bytes]]:
        """At most `count` pairs of one file, at least one.

        Raises OutOfRangeError if the queue is closed and empty.
        """
        with self._lock:
            while True:
                if self._current is None:
                    self._current = self._read(_path(queue.dequeue(1)[0][0]))
                found = list(itertools.islice(self._current, count))
                if len(found) < count:
                    self._current = None
                    self.completed += 1
                if found:
                    self.produced += len(found)
                    return found


def _path(array: Any) -> str:
    return os.fsdecode(bytes(np.asarray(array, object)[()]))


class ReaderTable:
    """Readers that are found by name."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Reader] = {}
        self._lock = threading.Lock()

    def get(self, container: str, name: str, read: Callable[[str], Pairs]) -> Reader:
        """The reader of that name, created if there is none; a new one without a name."""
        if not name:
            return Reader(read)
        with self._lock:
            return self._found.setdefault((container, name), Reader(read))


TABLE = ReaderTable()
_NAMES = "container: str = '', shared_name: str = '' -> reader_handle: resource"


class _Making(Op):
    stateful = True
    differentiable = False
    reaches_outside = "files"

    def infer(self) -> Spec:
        return Spec(resource, ())


@op
class TextLineReaderV2(_Making):
    """Reads lines; keys are `file:number`."""

    signature = f"; skip_header_lines: int = 0, {_NAMES}"

    def kernel(self, skip_header_lines, container, shared_name):
        def read(path: str) -> Pairs:
            with opened(path, "") as file:
                for number, line in enumerate(file, 1):
                    if number > skip_header_lines:
                        text = line.removesuffix(b"\n").removesuffix(b"\r")
                        yield os.fsencode(f"{path}:{number}"), text

        return TABLE.get(container, shared_name, read)


@op
class WholeFileReaderV2(_Making):
    """Reads files whole; keys are their names."""

    signature = f"; {_NAMES}"

    def kernel(self, container, shared_name):
        def read(path: str) -> Pairs:
            with opened(path, "") as file:
                yield os.fsencode(path), file.read()

        return TABLE.get(container, shared_name, read)


@op
class IdentityReaderV2(_Making):
    """Gives the names themselves, as keys and values."""

    signature = f"; {_NAMES}"

    def kernel(self, container, shared_name):
        return TABLE.get(
            container, shared_name, lambda path: iter([(os.fsencode(path), os.fsencode(path))])
        )


@op
class TFRecordReaderV2(_Making):
    """Reads records of TFRecord files; keys are `file:offset`."""

    signature = (
        "; container: str = '', shared_name: str = '', compression_type: str = ''"
        " -> reader_handle: resource"
    )

    def kernel(self, compression_type, container, shared_name):
        def read(path: str) -> Pairs:
            with opened(path, compression_type) as file:
                offset = 0
                for record in records(file):
                    yield os.fsencode(f"{path}:{offset}"), record
                    offset += HEAD + len(record) + TAIL

        return TABLE.get(container, shared_name, read)


@op
class FixedLengthRecordReaderV2(_Making):
    """Reads records of so many bytes; keys are `file:number`."""

    signature = (
        "; header_bytes: int = 0, record_bytes: int, footer_bytes: int = 0, hop_bytes: int = 0,"
        " container: str = '', shared_name: str = '', encoding: str = ''"
        " -> reader_handle: resource"
    )

    def kernel(
        self, header_bytes, record_bytes, footer_bytes, hop_bytes, container, shared_name, encoding
    ):
        if encoding not in ("", "ZLIB"):
            raise invalid_argument("The value of encoding must be either '' or 'ZLIB'")

        def read(path: str) -> Pairs:
            with opened(path, encoding) as file:
                data = file.read()
            end = len(data) - footer_bytes - record_bytes
            step = hop_bytes or record_bytes
            for number, start in enumerate(range(header_bytes, end + 1, step)):
                yield os.fsencode(f"{path}:{number}"), data[start : start + record_bytes]

        return TABLE.get(container, shared_name, read)


class _Reading(Op):
    stateful = True
    differentiable = False
    reaches_outside = "files"


def _texts(values: Any) -> np.ndarray:
    found = np.empty(len(values), object)
    found[:] = values
    return found


@op
class ReaderReadV2(_Reading):
    """The next record."""

    signature = "reader_handle: resource, queue_handle: resource -> key: string, value: string"

    def infer(self) -> Any:
        return Spec(string, ()), Spec(string, ())

    def kernel(self, reader_handle, queue_handle):
        ((key, value),) = reader_handle.next_up_to(queue_handle, 1)
        return np.array(key, object), np.array(value, object)


@op
class ReaderReadUpToV2(_Reading):
    """The next records, at most so many."""

    signature = (
        "reader_handle: resource, queue_handle: resource, num_records: int64"
        " -> keys: string, values: string"
    )

    def infer(self) -> Any:
        return Spec(string, (None,)), Spec(string, (None,))

    def kernel(self, reader_handle, queue_handle, num_records):
        pairs = reader_handle.next_up_to(queue_handle, int(num_records))
        return _texts([k for k, _ in pairs]), _texts([v for _, v in pairs])


class _Counting(_Reading):
    def infer(self) -> Spec:
        return Spec(int64, ())


@op
class ReaderNumRecordsProducedV2(_Counting):
    """How many records the reader has given."""

    signature = "reader_handle: resource -> records_produced: int64"

    def kernel(self, reader_handle):
        return np.asarray(reader_handle.produced, np.int64)


@op
class ReaderNumWorkUnitsCompletedV2(_Counting):
    """How many files the reader has read to the end."""

    signature = "reader_handle: resource -> units_completed: int64"

    def kernel(self, reader_handle):
        return np.asarray(reader_handle.completed, np.int64)


@op
class ReaderResetV2(_Reading):
    """Forgets the file that is being read."""

    signature = "reader_handle: resource -> "

    def infer(self) -> None:
        return None

    def kernel(self, reader_handle):
        reader_handle.reset()
