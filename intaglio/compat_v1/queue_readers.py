"""Readers of files that a queue names: `tf.compat.v1.TFRecordReader` and its neighbours.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/ReaderBase.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import int64
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace import scopes


class ReaderBase:
    """What all readers do. Raises RuntimeError eagerly."""

    def __init__(self, reader_ref: Any, supports_serialize: bool = False) -> None:
        if scopes.executing_eagerly():
            raise RuntimeError(
                "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into your "
                "model."
            )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Any:
        """The reader's handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader could write its state down."""
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The key and the value of the next record; the queue has the names of the files."""
        return raw.ReaderReadV2(self._reader_ref, _handle(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """The keys and the values of at most `num_records` records."""
        count = convert.to_tensor(num_records, int64)
        return raw.ReaderReadUpToV2(self._reader_ref, _handle(queue), count, name=name)

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records the reader has given."""
        return raw.ReaderNumRecordsProducedV2(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many files the reader has read to the end."""
        return raw.ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Any:
        """Raises NotImplementedError: use tf.data, whose iterators are saved in checkpoints."""
        raise NotImplementedError(
            "serialize_state of a reader: use tf.data and tf.train.Checkpoint"
        )

    def restore_state(self, state: Any, name: str | None = None) -> Any:
        """Raises NotImplementedError, as `serialize_state` does."""
        raise NotImplementedError("restore_state of a reader: use tf.data and tf.train.Checkpoint")

    def reset(self, name: str | None = None) -> Any:
        """The operation that forgets the file that is being read."""
        return raw.ReaderResetV2(self._reader_ref, name=name)


def _handle(queue: Any) -> Any:
    return queue if isinstance(queue, Tensor) else queue.queue_ref


class WholeFileReader(ReaderBase):
    """Reads files whole; keys are their names."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.WholeFileReaderV2(name=name), True)


class IdentityReader(ReaderBase):
    """Gives the names themselves, as keys and values."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.IdentityReaderV2(name=name), True)


class TextLineReader(ReaderBase):
    """Reads lines of text files, after `skip_header_lines` of each."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(raw.TextLineReaderV2(skip_header_lines=skip_header_lines or 0, name=name))


class TFRecordReader(ReaderBase):
    """Reads records of TFRecord files."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression = getattr(options, "compression_type", "") or ""
        super().__init__(raw.TFRecordReaderV2(compression_type=compression, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Reads records of `record_bytes` bytes, behind a header and before a footer of each file."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(
            raw.FixedLengthRecordReaderV2(
                record_bytes=record_bytes,
                header_bytes=header_bytes or 0,
                footer_bytes=footer_bytes or 0,
                hop_bytes=hop_bytes or 0,
                encoding=encoding or "",
                name=name,
            )
        )
