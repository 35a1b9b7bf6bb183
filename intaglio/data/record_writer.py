"""The writer of TFRecord files in `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io/TFRecordWriter.
"""

from __future__ import annotations

import os
import zlib
from typing import Any

from intaglio.base import errors
from intaglio.data.record_files import RecordWriter

_COMPRESSIONS = ("", "GZIP", "ZLIB")


class TFRecordOptions:
    """The compression options of a TFRecord file; numeric ones are those of zlib.

    Raises ValueError for a compression that does not exist.

    >>> tf.io.TFRecordOptions("GZIP", compression_level=9).compression_type
    'GZIP'
    """

    compression_type_map = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The compression type of options, a name, a number or None."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        found = cls.compression_type_map.get(options, options)
        if found not in _COMPRESSIONS:
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return found

    def _deflate(self) -> tuple[int, ...]:
        def or_default(value: int | None, default: int) -> int:
            return default if value is None else value

        return (
            or_default(self.compression_level, zlib.Z_DEFAULT_COMPRESSION),
            or_default(self.compression_method, zlib.DEFLATED),
            or_default(self.window_bits, 15),
            or_default(self.mem_level, zlib.DEF_MEM_LEVEL),
            or_default(self.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
        )


class TFRecordWriter:
    """Writes records to a TFRecord file; a context manager.

    `options` is a `TFRecordOptions` or the name of a compression. Raises NotFoundError if
    there is no such folder.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as file:
    ...     file.write(b"one")
    >>> [r.numpy() for r in tf.data.TFRecordDataset(path)]
    [b'one']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        self._writer = RecordWriter(
            os.fsdecode(path),
            TFRecordOptions.get_compression_type_string(options),
            options._deflate(),
        )

    def write(self, record: Any) -> None:
        """Adds a record. Raises FailedPreconditionError once the file is closed."""
        if not isinstance(record, (bytes, str)):
            raise TypeError(f"write(): a record is bytes or text, not {type(record).__name__}")
        self._check_open()
        self._writer.write(record.encode() if isinstance(record, str) else record)

    def flush(self) -> None:
        """Flushes the written records to the file."""
        self._check_open()
        self._writer.flush()

    def close(self) -> None:
        """Completes the file."""
        self._writer.close()

    def _check_open(self) -> None:
        if self._writer.closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


__all__ = ["TFRecordOptions", "TFRecordWriter"]
