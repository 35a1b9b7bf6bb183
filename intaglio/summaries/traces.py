"""The graphs that are traced meanwhile, of `tf.summary`.

Follows https://www.tensorflow.org/api_docs/python/tf/summary/trace_on.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.locks import lasting_lock
from intaglio.base.log import logger
from intaglio.function import tracing
from intaglio.graphdef import event_messages
from intaglio.opdef import convert
from intaglio.summaries import writers
from intaglio.trace.graph import FuncGraph

_lock = lasting_lock()
_graphs: list[FuncGraph] | None = None


def _keep(graph: FuncGraph) -> None:
    if _graphs is not None:
        _graphs.append(graph)


def trace_on(
    graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None
) -> None:
    """Keeps the graphs of functions that are traced from now on, for `trace_export`.

    Times of ops are not measured here: `profiler` logs that.

    `graph` keeps the graphs of functions; `profiler_outdir` has no effect.

    >>> tf.summary.trace_on()
    >>> tf.summary.trace_off()
    """
    global _graphs
    if profiler:
        logger().warning(
            "tf.summary.trace_on: graphs are kept, ops are not timed; tf.profiler.experimental "
            "records the blocks that tf.profiler.experimental.Trace names"
        )
    with _lock:
        _graphs = []
        if graph and _keep not in tracing.LISTENERS:
            tracing.LISTENERS.append(_keep)


def trace_off() -> None:
    """Stops keeping graphs, and forgets those that were kept.

    >>> tf.summary.trace_off()
    """
    global _graphs
    with _lock:
        _graphs = None
        if _keep in tracing.LISTENERS:
            tracing.LISTENERS.remove(_keep)


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Writes the graphs that were kept to the default writer, and stops keeping them.

    Raises ValueError if `trace_on` was not called.

    `profiler_outdir` has no effect.

    >>> tf.summary.trace_on()
    >>> tf.summary.trace_export("step", step=0)  # no writer
    """
    with _lock:
        found = _graphs
    if found is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    message = event_messages.RunMetadata()
    for graph in found:
        graph_def = graph.as_graph_def(add_shapes=True)
        entry = message.function_graphs.add()
        entry.pre_optimization_graph.MergeFrom(graph_def)
        entry.post_optimization_graph.MergeFrom(graph_def)
        entry.partition_graphs.add().MergeFrom(graph_def)
        message.partition_graphs.add().MergeFrom(graph_def)
    metadata = writers.metadata_of("graph_run_metadata_graph", "BLOB_SEQUENCE", None, b"1")
    data = message.SerializeToString()
    writers.write(name, lambda: convert.to_tensor([data]), step, metadata)
    trace_off()


__all__ = ["trace_export", "trace_off", "trace_on"]
