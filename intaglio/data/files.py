"""Datasets of the contents of files: lines of text, records; and of file names.

Follows https://www.tensorflow.org/api_docs/python/tf/data/TextLineDataset and
https://www.tensorflow.org/api_docs/python/tf/data/TFRecordDataset.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.data.record_files import opened, records
from intaglio.data.sources import Source
from intaglio.data.stage import UNKNOWN, Advance, Element, Root, Stage, exhausted
from intaglio.opdef.op import op

_READ_BYTES = 1 << 20  # bytes read at a time


def text_array(value: bytes) -> Any:
    """A string scalar."""
    return np.array(value, object)


def over_files(
    filenames: Any, read: Callable[[bytes], Iterator[Element]]
) -> Callable[[Root], Advance]:
    """Opens an iteration over the files, one after the other."""
    names = [bytes(n) for n in np.asarray(filenames, object).ravel()]

    def open(root: Root) -> Advance:
        number = -1  # of the file that is open
        count = 0  # of the elements that it has given
        current: Advance = exhausted

        def advance() -> Element:
            nonlocal number, count, current
            while True:
                try:
                    element = current()
                    count += 1
                    return element
                except StopIteration:
                    current, count = exhausted, 0
                    if number + 1 >= len(names):
                        raise
                    number += 1
                    current = read(names[number]).__next__
                except Exception:
                    current = exhausted
                    raise

        def restore(position: Any) -> None:
            nonlocal number, count, current
            number, count, ended = position
            if not ended:
                current = read(names[number]).__next__
                for _ in range(count):
                    current()

        root.keep(lambda: [number, count, current is exhausted], restore)
        return advance

    return open


@op
class TextLineDataset(Source):
    """The lines of text files, without their ends."""

    signature = (
        "filenames: string, compression_type: string, buffer_size: int64;"
        " metadata: str = '' -> handle: variant"
    )
    path_inputs = ("filenames",)

    def kernel(self, filenames, compression_type):
        compression = compression_type[()].decode()

        def read(name: bytes) -> Iterator[Element]:
            with opened(os.fsdecode(name), compression) as f:
                for line in f:
                    yield (text_array(line.removesuffix(b"\n").removesuffix(b"\r")),)

        return Stage("TextLine", UNKNOWN, over_files(filenames, read))


@op
class TFRecordDataset(Source):
    """The records of TFRecord files."""

    signature = TextLineDataset.signature
    path_inputs = ("filenames",)

    def kernel(self, filenames, compression_type):
        compression = compression_type[()].decode()

        def read(name: bytes) -> Iterator[Element]:
            with opened(os.fsdecode(name), compression) as f:
                for record in records(f):
                    yield (text_array(record),)

        return Stage("TFRecord", UNKNOWN, over_files(filenames, read))


@op
class FixedLengthRecordDatasetV2(Source):
    """Records of one length, between a head and a foot that are left out."""

    signature = (
        "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64,"
        " buffer_size: int64, compression_type: string; metadata: str = ''"
        " -> handle: variant"
    )
    path_inputs = ("filenames",)

    def kernel(self, filenames, header_bytes, record_bytes, footer_bytes, compression_type):
        compression = compression_type[()].decode()
        head, size, foot = int(header_bytes), int(record_bytes), int(footer_bytes)

        def read(name: bytes) -> Iterator[Element]:
            path = os.fsdecode(name)
            with opened(path, compression) as f:
                if not compression:
                    body = f.seek(0, os.SEEK_END) - head - foot
                    _check_whole(path, body, head, size, foot)
                    f.seek(0)
                f.read(head)
                read_so_far, rest = 0, b""
                while more := f.read(max(_READ_BYTES, size)):
                    rest += more
                    usable = max(len(rest) - foot, 0) // size * size
                    for at in range(0, usable, size):
                        yield (text_array(rest[at : at + size]),)
                    rest, read_so_far = rest[usable:], read_so_far + usable
            _check_whole(path, read_so_far + len(rest) - foot, head, size, foot)

        return Stage("FixedLengthRecord", UNKNOWN, over_files(filenames, read))


def _check_whole(path: str, body: int, head: int, size: int, foot: int) -> None:
    if body % size:
        raise errors.invalid_argument(
            f'Excluding the header ({head} bytes) and footer ({foot} bytes), input file "{path}" '
            f"has body length {body} bytes, which is not an exact multiple of the record length "
            f"({size} bytes)."
        )


def check_matches(names: Any, pattern: Any) -> None:
    """Raises InvalidArgumentError if no file was found."""
    if not len(names):
        shown = ", ".join([os.fsdecode(p) for p in np.asarray(pattern).ravel()])
        raise errors.invalid_argument(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            + repr(f"No files matched pattern: {shown}".encode())
        )
