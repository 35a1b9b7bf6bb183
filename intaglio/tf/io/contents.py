"""Whole files in and out of programs, of `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io.
"""

from __future__ import annotations

import os
from typing import Any

from intaglio.base import files
from intaglio.base.dtypes import string
from intaglio.graphdef.declarations import as_text
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.state.variable import Variable
from intaglio.trace.graph import Graph


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The bytes of a file as a string scalar.

    Raises NotFoundError if there is none.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.txt"
    >>> tf.io.write_file(path, "text")
    >>> tf.io.read_file(path).numpy()
    b'text'
    """
    return raw.ReadFile(filename, name=name)


@dispatchable
def write_file(filename: Any, contents: Any, name: str | None = None) -> Any:
    """Makes `contents` the bytes of a file, and the folders that it is to be in.

    The file is written under another name and then renamed: it is never read half written.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/new/a.txt"
    >>> tf.io.write_file(path, "text")
    >>> tf.io.gfile.exists(path)
    True
    """
    return raw.WriteFile(filename, contents, name=name)


@dispatchable
def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names of the files that a pattern, or one of a vector, matches; sorted.

    >>> tf.io.matching_files("/no/such/folder/*").numpy().tolist()
    []
    """
    return raw.MatchingFiles(pattern, name=name)


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """A variable with the names of the files that match when it is created.

    >>> tf.io.match_filenames_once("/no/such/folder/*").shape
    TensorShape([0])
    """
    found = raw.MatchingFiles(convert.to_tensor(pattern, string))
    return Variable(found, trainable=False, name=name, validate_shape=False)


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph (or GraphDef) to `logdir/name`, as text or bytes; returns the path.

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

__all__ = ["match_filenames_once", "matching_files", "read_file", "write_file", "write_graph"]
