"""Event files, which TensorBoard reads: TFRecord files of Event messages."""

from __future__ import annotations

import atexit
import itertools
import os
import socket
import threading
import time
import weakref
from typing import Any

from intaglio.base import files
from intaglio.base.dtypes import RESOURCE_MARKER
from intaglio.base.errors import FailedPreconditionError
from intaglio.data.record_files import RecordWriter
from intaglio.graphdef import event_messages, tensors
from intaglio.graphdef.declarations import merge

VERSION = "brain.Event:2"
SOURCE = "intaglio"
_numbers = itertools.count()


class EventWriter:
    """The value of a summary writer's handle: a file of events, in the order in which they were added.

    Events wait until `max_queue` of them are there or `flush_millis` have passed; the threads
    of a program share a writer.
    """

    __slots__ = (
        "__weakref__",
        "_capacity",
        "_closed",
        "_due",
        "_file",
        "_lock",
        "_pause",
        "_queue",
    )

    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file: RecordWriter | None = None
        self._queue: list[bytes] = []
        self._closed = False
        self._capacity = self._pause = self._due = 0.0

    def open(self, folder: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        """Begins a file in the folder, if none is open."""
        with self._lock:
            if self._file is not None:
                return
            files.make_folders(folder)
            now = time.time()
            name = f"events.out.tfevents.{int(now)}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}{suffix}"
            self._file = RecordWriter(files.join(folder, name))
            self._capacity, self._pause = max_queue, flush_millis / 1000
            self._due = time.monotonic() + self._pause
            head = event_messages.Event(wall_time=now, file_version=VERSION)
            head.source_metadata.writer = SOURCE
            self._file.write(head.SerializeToString())
            self._file.flush()
            _open.add(self)

    def add(self, event: Any) -> None:
        """Adds an event, with the current time if it has none. Raises FailedPreconditionError without a file."""
        event.wall_time = event.wall_time or time.time()
        with self._lock:
            if self._file is None:
                what = "closed" if self._closed else "not initialized"
                raise FailedPreconditionError(None, None, f"The summary writer is {what}.")
            self._queue.append(event.SerializeToString())
            if len(self._queue) > self._capacity or time.monotonic() > self._due:
                self._flush()

    def _flush(self) -> None:
        assert self._file is not None
        queue, self._queue = self._queue, []
        for record in queue:
            self._file.write(record)
        self._file.flush()
        self._due = time.monotonic() + self._pause

    def flush(self) -> None:
        """Writes the pending events."""
        with self._lock:
            if self._file is not None:
                self._flush()

    def close(self) -> None:
        """Writes the pending events and closes the file."""
        with self._lock:
            file = self._file
            if file is not None:
                self._flush()
                file.close()
            self._file, self._closed = None, True

    def add_tensor(self, tag: str, array: Any, step: int, metadata: bytes) -> None:
        """Adds a value under a tag."""
        event = event_messages.Event(step=step)
        value = event.summary.value.add(tag=tag)
        value.tensor.CopyFrom(tensors.tensor_proto(array))
        if metadata:
            merge(value.metadata, metadata)  # as TensorFlow 2.21 does with damaged ones
        self.add(event)

    def add_graph(self, graph_def: bytes, step: int = 0) -> None:
        """Adds a graph."""
        self.add(event_messages.Event(step=step, graph_def=graph_def))

    def add_summary(self, summary: bytes, step: int) -> None:
        """Adds the bytes of a Summary message."""
        event = event_messages.Event(step=step)
        event.summary.MergeFromString(summary)
        self.add(event)

    def __del__(self) -> None:
        self.close()


_open: weakref.WeakSet[EventWriter] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for writer in list(_open):
        writer.close()
