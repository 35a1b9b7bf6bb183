"""Datasets of what stands in files: lines of text, records, and the names themselves.

Follows https://www.tensorflow.org/api_docs/python/tf/data/TextLineDataset and
https://www.tensorflow.org/api_docs/python/tf/data/TFRecordDataset.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.crc32c import crc32c, masked
from intaglio.base.dtypes import string
from intaglio.data.sources import Source
from intaglio.data.stage import UNKNOWN, Advance, Element, Root, Stage, exhausted
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec

_LENGTH = struct.Struct("<QI")
_CHECK = struct.Struct("<I")


def text_array(value: bytes) -> Any:
    """A string scalar."""
    array = np.empty((), object)
    array[()] = value
    return array


def opened(name: bytes, compression: bytes) -> Any:
    """The file, decompressed. Raises NotFoundError, or InvalidArgumentError for a bad type."""
    path = os.fsdecode(name)
    try:
        if compression == b"":
            return open(path, "rb")
        if compression == b"GZIP":
            return gzip.open(path, "rb")
        if compression == b"ZLIB":
            with open(path, "rb") as f:
                return io.BytesIO(zlib.decompress(f.read()))
    except FileNotFoundError:
        raise errors.NotFoundError(
            None, None, f"{path}; No such file or directory"
        ) from None
    except IsADirectoryError:
        raise errors.FailedPreconditionError(
            None, None, f"{path}; Is a directory"
        ) from None
    except OSError as e:
        raise errors.PermissionDeniedError(None, None, f"{path}; {e.strerror}") from e
    raise errors.invalid_argument("Unsupported compression_type.")


def _over(
    filenames: Any, read: Callable[[bytes], Iterator[Element]]
) -> Callable[[Root], Advance]:
    """Opens an iteration over the files, one after the other."""
    names = [bytes(n) for n in np.asarray(filenames, object).ravel()]

    def open(root: Root) -> Advance:
        remaining = iter(names)
        current: Advance = exhausted

        def advance() -> Element:
            nonlocal current
            while True:
                try:
                    return current()
                except StopIteration:
                    current = read(next(remaining)).__next__
                except Exception:
                    current = exhausted
                    raise

        return advance

    return open


@op
class TextLineDataset(Source):
    """The lines of text files, without their ends."""

    signature = (
        "filenames: string, compression_type: string, buffer_size: int64;"
        " metadata: str = '' -> handle: variant"
    )

    def kernel(self, filenames, compression_type):
        compression = compression_type[()]

        def read(name: bytes) -> Iterator[Element]:
            with opened(name, compression) as f:
                for line in f:
                    yield (text_array(line.removesuffix(b"\n").removesuffix(b"\r")),)

        return Stage("TextLine", UNKNOWN, _over(filenames, read))


@op
class TFRecordDataset(Source):
    """The records of TFRecord files."""

    signature = TextLineDataset.signature

    def kernel(self, filenames, compression_type):
        compression = compression_type[()]

        def read(name: bytes) -> Iterator[Element]:
            with opened(name, compression) as f:
                for record in records(f):
                    yield (text_array(record),)

        return Stage("TFRecord", UNKNOWN, _over(filenames, read))


def records(file: Any) -> Iterator[bytes]:
    """The records in an open file. Raises DataLossError for a bad one."""
    offset = 0
    while True:
        head = file.read(_LENGTH.size)
        if not head:
            return
        if len(head) < _LENGTH.size:
            raise errors.DataLossError(None, None, f"truncated record at {offset}")
        length, check = _LENGTH.unpack(head)
        if masked(crc32c(head[:8])) != check:
            raise errors.DataLossError(
                None,
                None,
                f"corrupted record at {offset} (Is this even a TFRecord file?)",
            )
        body = file.read(length + _CHECK.size)
        if len(body) < length + _CHECK.size:
            raise errors.DataLossError(
                None,
                None,
                f"truncated record at {offset}' failed with Read less bytes than requested",
            )
        record = body[:length]
        if masked(crc32c(record)) != _CHECK.unpack(body[length:])[0]:
            raise errors.DataLossError(None, None, f"corrupted record at {offset}")
        yield record
        offset += _LENGTH.size + length + _CHECK.size


@op
class FixedLengthRecordDatasetV2(Source):
    """Records of one length, between a head and a foot that are left out."""

    signature = (
        "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64,"
        " buffer_size: int64, compression_type: string; metadata: str = ''"
        " -> handle: variant"
    )

    def kernel(
        self, filenames, header_bytes, record_bytes, footer_bytes, compression_type
    ):
        compression = compression_type[()]
        head, size, foot = int(header_bytes), int(record_bytes), int(footer_bytes)

        def read(name: bytes) -> Iterator[Element]:
            with opened(name, compression) as f:
                data = f.read()
            body = data[head : len(data) - foot]
            if len(body) % size:
                raise errors.invalid_argument(
                    f"Excess bytes in a file of records: {os.fsdecode(name)} has {len(body)} "
                    f"body bytes, which is no multiple of {size}."
                )
            for at in range(0, len(body), size):
                yield (text_array(body[at : at + size]),)

        return Stage("FixedLengthRecord", UNKNOWN, _over(filenames, read))


@op
class MatchingFiles(Op):
    """The names of the files that match the patterns, sorted."""

    signature = "pattern: string; -> filenames: string"
    differentiable = False

    def infer(self) -> Spec:
        return Spec(string, (None,))

    def kernel(self, pattern):
        names: set[bytes] = set()
        for p in np.asarray(pattern, object).ravel():
            names.update(map(os.fsencode, glob.glob(os.fsdecode(p))))
        found = np.empty(len(names), object)
        found[:] = sorted(names)
        return found


def demand_matches(names: Any, pattern: Any) -> None:
    """Raises InvalidArgumentError if no file was found."""
    if not len(names):
        shown = ", ".join([os.fsdecode(p) for p in np.asarray(pattern).ravel()])
        raise errors.invalid_argument(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            + repr(f"No files matched pattern: {shown}".encode())
        )
