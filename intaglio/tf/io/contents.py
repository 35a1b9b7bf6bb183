"""Whole files in and out of programs, of `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import string
from intaglio.graphdef.graph_files import write_graph
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.state.variable import Variable


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


__all__ = ["match_filenames_once", "matching_files", "read_file", "write_file", "write_graph"]
