"""Writers of event files, for summaries that sessions return.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/summary/FileWriter.
"""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

from intaglio.base import later
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.meta_graphs import export_meta_graph
from intaglio.graphdef.event_messages import Event, SessionLog, Summary
from intaglio.trace import scopes
from intaglio.trace.graph import Graph


class FileWriter:
    """Writes summaries and graphs to an event file in a folder, which TensorBoard reads.

    Args:
      logdir: the folder, created if it is not there.
      graph: a graph to write at once.
      max_queue: how many events may wait.
      flush_secs: how many seconds they may wait.
      filename_suffix: the end of the file's name.

    Raises RuntimeError eagerly.
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        if scopes.executing_eagerly():
            raise RuntimeError(
                "v1.summary.FileWriter is not compatible with eager execution. Use `tf.summary.create_file_writer`,"
                "or a `with v1.Graph().as_default():` context"
            )
        self._folder = os.fspath(logdir)
        self._options = max_queue, int(flush_secs * 1000), filename_suffix or ""
        self._steps: set[Any] = set()  # SessionLogs and metadata of plugins that are written
        self._plugins: set[str] = set()
        self._closed = True
        self.reopen()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
        if graph is not None:
            self.add_meta_graph(export_meta_graph(graph=graph, graph_def=graph_def))

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder."""
        return self._folder

    def reopen(self) -> None:
        """Begins a new file after `close`; does nothing before."""
        if self._closed:
            self._writer: Any = later.named("intaglio.data.event_files:EventWriter")()
            self._writer.open(self._folder, *self._options)
            self._closed = False

    def flush(self) -> None:
        """Writes the events that wait."""
        self._writer.flush()

    def close(self) -> None:
        """Writes the events that wait, and ends the file."""
        self._writer.close()
        self._closed = True

    def add_event(self, event: Any) -> None:
        """Writes an event as it is."""
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=2,
            )
            return
        self._writer.add(event)

    def _add(self, event: Any, step: Any) -> None:
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a Summary message, or the bytes of one. Metadata of a tag are written once."""
        message = Summary()
        if isinstance(summary, bytes):
            message.ParseFromString(summary)
        else:
            message.CopyFrom(summary)
        for value in message.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._plugins:
                value.ClearField("metadata")
            else:
                self._plugins.add(value.tag)
        self._add(Event(summary=message), global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Writes a SessionLog message."""
        self._add(
            Event(session_log=SessionLog.FromString(session_log.SerializeToString())), global_step
        )

    def add_graph(self, graph: Any = None, global_step: Any = None, graph_def: Any = None) -> None:
        """Writes a graph. Raises TypeError for what is none, ValueError without one."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if isinstance(graph, Graph):
            graph_def = graph.as_graph_def(add_shapes=True)
        elif graph is not None:
            if not hasattr(graph, "SerializeToString"):
                raise TypeError(
                    "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
                )
            graph_def = graph
        elif graph_def is None:
            raise ValueError("Neither graph nor graph_def is specified.")
        self._add(Event(graph_def=graph_def.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Writes a MetaGraphDef message. Raises TypeError for anything else."""
        if not hasattr(meta_graph_def, "meta_info_def"):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Writes a RunMetadata message under a tag. Raises ValueError for a tag that comes twice."""
        if tag in self._steps:
            raise ValueError("The provided tag was already used for this event type")
        self._steps.add(tag)
        event = Event()
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = run_metadata.SerializeToString()
        self._add(event, global_step)


class FileWriterCache:
    """One writer for each folder."""

    _lock = threading.RLock()
    _writers: dict[str, FileWriter] = {}

    @staticmethod
    def get(logdir: Any) -> FileWriter:
        """The folder's writer, created if there is none; it writes the graph that is the default one."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._writers:
                FileWriterCache._writers[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._writers[logdir]

    @staticmethod
    def clear() -> None:
        """Closes all writers, and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers.clear()
