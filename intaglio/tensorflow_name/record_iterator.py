"""`tf_record_iterator` of TensorFlow 1: the records of a file, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from intaglio.data import record_files


def tf_record_iterator(path: str, options: Any = None) -> Iterator[bytes]:
    """The records of the file as bytes. Raises DataLossError for a damaged one.

    `options` is a `tf.io.TFRecordOptions`, or its type of compression.
    """
    kind = getattr(options, "compression_type", options)
    with record_files.opened(path, kind or "") as file:
        yield from record_files.records(file)
