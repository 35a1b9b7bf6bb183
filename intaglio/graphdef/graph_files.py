"""Graphs written to files.

Follows https://www.tensorflow.org/api_docs/python/tf/io/write_graph.
"""

from __future__ import annotations

import os
from typing import Any

from intaglio.base import files
from intaglio.graphdef.declarations import as_text
from intaglio.trace.graph import Graph


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph (or GraphDef) to `logdir/name`, as text or bytes; returns the path.

    `as_text` writes the text format, else the binary one.

    >>> import tempfile
    >>> with tf.Graph().as_default() as graph:
    ...     _ = tf.constant(1.0)
    >>> path = tf.io.write_graph(graph, tempfile.mkdtemp(), "graph.pbtxt")
    >>> tf.io.gfile.exists(path)
    True
    """
    message: Any = graph_or_graph_def
    if isinstance(graph_or_graph_def, Graph):
        message = graph_or_graph_def.as_graph_def()
    folder = os.fsdecode(logdir)
    if not files.exists(folder):
        files.make_folders(folder)
    path = files.join(folder, name)
    files.write(path, _text(message).encode() if as_text else message.SerializeToString())
    return path


_text = as_text


__all__ = ["write_graph"]
