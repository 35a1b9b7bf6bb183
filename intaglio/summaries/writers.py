"""Writers of event files, and whether and where summaries go, of `tf.summary`.

Follows https://www.tensorflow.org/api_docs/python/tf/summary.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from intaglio.base.dtypes import bool_, int32, int64, string
from intaglio.base.threads import Inherited
from intaglio.graphdef import event_messages
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor
from intaglio.state.hooks import HOOKS
from intaglio.trace import choices
from intaglio.trace.graph import Graph
from intaglio.trace.scopes import current_name_scope, init_scope, name_scope


class _State(Inherited):
    """What a thread has set."""

    def __init__(self) -> None:
        self.writer: SummaryWriter | None = None
        self.condition: Any = True
        self.step: Any = None


STATE = _State()


class SummaryWriter:
    """Where summaries go; this one writes none. `create_file_writer` makes one that does."""

    _resource: Any = None
    _closed = False

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def set_as_default(self, step: Any = None) -> None:
        """Summaries of this thread go here from now on; `step` is their step."""
        self._check_open()
        STATE.writer = self
        if step is not None:
            STATE.step = step

    @contextmanager
    def as_default(self, step: Any = None) -> Generator[SummaryWriter]:
        """Summaries of the block go here. Raises RuntimeError if the writer is closed."""
        self._check_open()
        before, before_step = STATE.writer, STATE.step
        STATE.writer = self
        if step is not None:
            STATE.step = step
        try:
            yield self
            self.flush()
        finally:
            STATE.writer = before
            if step is not None:
                STATE.step = before_step

    def init(self) -> Any:
        """Does nothing: the file is there."""

    def flush(self) -> Any:
        """Writes what waits."""
        if self._resource is not None and not self._closed:
            return raw.FlushSummaryWriter(self._resource)
        return None

    def close(self) -> Any:
        """Writes what waits, and ends the file."""
        if self._resource is None or self._closed:
            return None
        self._closed = True
        return raw.CloseSummaryWriter(self._resource)


class _FileWriter(SummaryWriter):
    def __init__(
        self, logdir: Any, max_queue: Any, flush_millis: Any, suffix: Any, name: Any
    ) -> None:
        with init_scope():
            self._resource = raw.SummaryWriter(name=name)
            raw.CreateSummaryFileWriter(
                self._resource,
                convert.to_tensor(
                    os.fspath(logdir) if hasattr(logdir, "__fspath__") else logdir, string
                ),
                convert.to_tensor(10 if max_queue is None else max_queue, int32),
                convert.to_tensor(120_000 if flush_millis is None else flush_millis, int32),
                convert.to_tensor(".v2" if suffix is None else suffix, string),
            )


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer to a new event file in a folder, which is created if it is not there.

    Args:
      logdir: the folder, here or elsewhere.
      max_queue: how many summaries may wait; 10 by default.
      flush_millis: how long they may wait; two minutes by default.
      filename_suffix: the end of the file's name; ".v2" by default.

    `experimental_trackable` and `experimental_mesh` have no effect.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.summary.create_file_writer(folder).as_default(step=1):
    ...     _ = tf.summary.scalar("loss", 0.5)
    >>> len(tf.io.gfile.listdir(folder))
    1
    """
    if logdir is None:
        return SummaryWriter()
    return _FileWriter(logdir, max_queue, flush_millis, filename_suffix, name)


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing.

    >>> with tf.summary.create_noop_writer().as_default():
    ...     bool(tf.summary.should_record_summaries())
    False
    """
    return SummaryWriter()


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Writes what waits in a writer, or in the default one.

    >>> tf.summary.flush()
    """
    chosen = STATE.writer if writer is None else writer
    return None if chosen is None else chosen.flush()


@contextmanager
def record_if(condition: Any) -> Generator[None]:
    """Summaries of the block are written if `condition` is true: a bool, tensor or function.

    >>> with tf.summary.record_if(False):
    ...     bool(tf.summary.should_record_summaries())
    False
    """
    before = STATE.condition
    STATE.condition = condition
    try:
        yield
    finally:
        STATE.condition = before


def should_record_summaries() -> Tensor:
    """Whether summaries are written at present: a bool tensor. Of replicas, the first one writes them.

    >>> bool(tf.summary.should_record_summaries())
    False
    """
    no_writer = STATE.writer is None or STATE.writer._resource is None
    if no_writer or not HOOKS.is_first_replica():
        return convert.to_tensor(False)
    condition = STATE.condition
    return convert.to_tensor(condition() if callable(condition) else condition, bool_)


def step_of(step: Any) -> Tensor:
    """The step given, or the one that was set. Raises ValueError if there is none."""
    if step is None:
        step = STATE.step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return raw.Cast(convert.to_tensor(step), DstT=int64)


def recorded(record: Callable[[Tensor], Any]) -> Tensor:
    """`record(writer)` if summaries are written; whether they are, as a tensor."""
    wanted = should_record_summaries()

    def yes() -> Tensor:
        assert STATE.writer is not None
        record(STATE.writer._resource)
        return convert.to_tensor(True)

    if isinstance(wanted, EagerTensor):
        return yes() if bool(wanted) else convert.to_tensor(False)
    return choices.cond(wanted, yes, lambda: convert.to_tensor(False), None)


def write(
    tag: Any, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Writes a tensor under a tag; returns whether it was written, as a tensor.

    Args:
      tag: the name that it is shown under.
      tensor: the value, or a function that makes it if it is written.
      step: the number of the step; by default the one set.
      metadata: a SummaryMetadata message, or its bytes, that names the plugin that shows it.

    Raises ValueError if there is a writer and no step.

    >>> bool(tf.summary.write("weights", [1.0, 2.0], step=1))  # no writer
    False
    """
    with name_scope(name or "write_summary"):
        if STATE.writer is None:
            return convert.to_tensor(False)
        if metadata is None:
            data = b""
        elif isinstance(metadata, bytes):
            data = metadata
        else:
            data = metadata.SerializeToString()

        def record(writer: Tensor) -> Any:
            value = tensor() if callable(tensor) else tensor
            return raw.WriteSummary(
                writer,
                step_of(step),
                convert.to_tensor(value),
                convert.to_tensor(tag, string),
                convert.to_tensor(data, string),
            )

        return recorded(record)


def graph(graph_data: Any) -> Tensor:
    """Writes a graph (or GraphDef) for TensorBoard's page of graphs.

    Raises ValueError for what is no graph.

    >>> bool(tf.summary.graph(tf.Graph()))  # no writer
    False
    """
    message: Any = graph_data
    if isinstance(graph_data, Graph):
        message = graph_data.as_graph_def(add_shapes=True)
    if not hasattr(message, "SerializeToString"):
        raise ValueError(
            "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received "
            f"graph_data={graph_data} of type {type(graph_data).__name__}."
        )
    data = convert.to_tensor(message.SerializeToString(), string)
    return recorded(lambda writer: raw.WriteGraphSummary(writer, convert.to_tensor(0, int64), data))


def metadata_of(plugin: str, data_class: str, description: str | None, content: bytes = b"") -> Any:
    """The SummaryMetadata message of a plugin's values."""
    result = event_messages.SummaryMetadata(
        summary_description=description or "", data_class=f"DATA_CLASS_{data_class}"
    )
    result.plugin_data.plugin_name = plugin
    result.plugin_data.content = content
    return result


@contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Generator[tuple[str, str]]:
    """A name scope for a summary: yields its tag, and the scope's name.

    The tag is the name within the current scopes; unlike the scope's it is not made unique.

    `default_name` is the name if `name` is None; `values` has no effect.

    >>> with tf.name_scope("train"), tf.summary.experimental.summary_scope("loss") as (tag, _):
    ...     print(tag)
    train/loss
    """
    chosen = name or default_name
    outer = current_name_scope()
    tag = f"{outer}/{chosen}" if outer else chosen
    inner = chosen.replace(" ", "_") or default_name
    with name_scope(inner) as scope:
        yield tag, scope


__all__ = [
    "SummaryWriter",
    "create_file_writer",
    "create_noop_writer",
    "flush",
    "graph",
    "record_if",
    "should_record_summaries",
    "write",
]
