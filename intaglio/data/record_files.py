"""TFRecord files: reading, writing, compression.

A record is its length (8 bytes), a checksum of that, the data, a checksum of the data.
"""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors, files, replacing
from intaglio.base.crc32c import crc32c, crc32c_of_each, masked, masked_all
from intaglio.base.limits import check_decoded
from intaglio.data import snappy

LENGTH = struct.Struct("<QI")
CHECK = struct.Struct("<I")
HEAD, TAIL = LENGTH.size, CHECK.size
_READ_BYTES = 1 << 20  # bytes read at a time: the checksums of their records are computed together
_COMPRESSED_READ_BYTES = 1 << 18  # bytes of a compressed file that are read at a time
_ZLIB, _GZIP = 15, 31  # for `zlib`: the largest window, and which head comes first
_WRITE_BYTES = 1 << 18  # bytes of records that are written at a time
COMPRESSIONS = ("", "GZIP", "ZLIB", "SNAPPY")


class _Inflated(io.RawIOBase):
    """A stream of the decompressed data of a file; closing it closes the file.

    `header` is the data's header format, as `zlib` takes it in `wbits`. Raises DataLossError for data
    of another form.
    """

    def __init__(self, file: Any, header: int) -> None:
        self._below = file
        self._header = header
        self._inflate = zlib.decompressobj(header)
        self._ended = False

    def readable(self) -> bool:
        """True: it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer, or a part of it; 0 at the end."""
        target = memoryview(buffer).cast("B")
        while not self._ended:
            data = self._inflate.unconsumed_tail or self._below.read(_COMPRESSED_READ_BYTES)
            if self._inflate.eof:
                # Files of this form may be put one behind the other, those of ZLIB not.
                data = self._inflate.unused_data + data
                if not data.strip(b"\0") or self._header == _ZLIB:
                    break
                self._inflate = zlib.decompressobj(self._header)
            elif not data:
                raise errors.DataLossError(None, None, "truncated compressed file")
            try:
                inflated = self._inflate.decompress(data, len(target))
            except zlib.error as e:
                number, _, reason = str(e).removeprefix("Error ").partition(" ")
                reason = reason.rpartition(": ")[2]
                raise errors.DataLossError(
                    None, None, f"inflate() failed with error {number}: {reason}"
                ) from None
            if inflated:
                target[: len(inflated)] = inflated
                return len(inflated)
        self._ended = True
        return 0

    def close(self) -> None:
        """Closes the file too."""
        super().close()
        self._below.close()


def opened(path: str, compression: str) -> Any:
    """The file, decompressed. Raises NotFoundError, or InvalidArgumentError for a bad type."""
    if compression not in COMPRESSIONS:
        raise errors.invalid_argument("Unsupported compression_type.")
    file = files.opened(path, "rb")
    if compression == "":
        return file
    if compression == "SNAPPY":
        with file:
            return io.BytesIO(snappy.decompressed(file.read()))
    raw = _Inflated(file, _GZIP if compression == "GZIP" else _ZLIB)
    return io.BufferedReader(raw, _COMPRESSED_READ_BYTES)


def check_compression(compression: str) -> None:
    """Raises InvalidArgumentError for a compression that does not exist."""
    if compression not in COMPRESSIONS:
        raise errors.invalid_argument(
            f"Unsupported compression_type: {compression}; it may be {', '.join(map(repr, COMPRESSIONS))}."
        )


def begins_record(head: bytes) -> bool:
    """Whether bytes are the head of a record: a length with its checksum. True for an empty file."""
    if len(head) < HEAD:
        return not head
    return masked(crc32c(head[:8])) == LENGTH.unpack_from(head)[1]


def records(file: Any) -> Iterator[bytes]:
    """The records in an open file. Raises DataLossError for a bad one."""
    data, offset = (b"", 0)  # bytes that are not yet cut into records, and their offset
    while True:
        # A length is believed as far as there are bytes: no more are asked for than are there.
        more = file.read(min(max(_READ_BYTES, _missing(data, offset)), max(_READ_BYTES, len(data))))
        check_decoded(len(data) + len(more), "A record")
        data = data + more if data else more
        starts, end = _starts(data)
        if starts:
            yield from _checked(data, np.array(starts), offset)
            data, offset = data[end:], offset + end
        if not more:
            if len(data) >= HEAD:  # less is no record, as TensorFlow reads
                _missing(data, offset)
                raise errors.DataLossError(None, None, _truncated(offset))
            return


def _starts(data: bytes) -> tuple[list[int], int]:
    """The offsets of the complete records, and that of the first incomplete one."""
    starts: list[int] = []
    at, size, unpack = 0, len(data), LENGTH.unpack_from
    while at + HEAD <= size:
        end = at + HEAD + TAIL + unpack(data, at)[0]
        if end > size:
            break
        starts.append(at)
        at = end
    return starts, at


def _missing(data: bytes, offset: int) -> int:
    """The number of missing bytes of a record. Raises DataLossError if its length is corrupted."""
    if len(data) < HEAD:
        return 0
    length, check = LENGTH.unpack_from(data)
    if masked(crc32c(data[:8])) != check:
        raise _corrupted(offset, " (Is this even a TFRecord file?)")
    return length + HEAD + TAIL - len(data)


def _corrupted(offset: int, hint: str = "") -> Exception:
    return errors.DataLossError(None, None, f"corrupted record at {offset}{hint}")


def _checked(data: bytes, starts: np.ndarray, offset: int) -> Iterator[bytes]:
    """The records up to the first one with a wrong checksum."""
    octets = np.frombuffer(data, np.uint8)
    lengths = _numbers(octets, starts, 8).view("<i8").ravel()
    ends = starts + HEAD + lengths
    of_lengths = crc32c_of_each(data, starts, np.full(len(starts), 8))
    of_data = crc32c_of_each(data, starts + HEAD, lengths)
    known = _numbers(octets, starts + 8, 4).view("<u4").ravel() == masked_all(of_lengths)
    right = known & (_numbers(octets, ends, 4).view("<u4").ravel() == masked_all(of_data))
    good = len(starts) if right.all() else int(np.argmin(right))
    for start, end in zip((starts + HEAD)[:good].tolist(), ends.tolist(), strict=False):
        yield data[start:end]
    if good < len(starts):
        hint = "" if known[good] else " (Is this even a TFRecord file?)"
        raise _corrupted(offset + int(starts[good]), hint)


def _numbers(octets: np.ndarray, offsets: np.ndarray, size: int) -> np.ndarray:
    """The `size` bytes at each offset, as rows."""
    return octets[offsets[:, None] + np.arange(size)]


def _truncated(offset: int) -> str:
    return f"truncated record at {offset}' failed with Read less bytes than requested"


def framed(records: Sequence[bytes]) -> bytes:
    """Records as they are in a file, each with its length and checksums."""
    count = len(records)
    lengths = np.fromiter(map(len, records), np.int64, count)
    heads = np.empty(count, np.dtype([("length", "<i8"), ("check", "<u4")]))
    heads["length"] = lengths
    eight = lengths.astype("<i8", copy=False).tobytes()
    heads["check"] = masked_all(crc32c_of_each(eight, np.arange(count) * 8, np.full(count, 8)))
    whole = b"".join(records)
    checks = crc32c_of_each(whole, np.cumsum(lengths) - lengths, lengths)
    before, behind = heads.tobytes(), masked_all(checks).astype("<u4", copy=False).tobytes()
    parts: list[bytes] = []
    for i, record in enumerate(records):
        parts += (before[i * HEAD : (i + 1) * HEAD], record, behind[i * TAIL : (i + 1) * TAIL])
    return b"".join(parts)


_DEFLATE = (-1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, 0)


class RecordWriter:
    """Writes records to a file, which takes the place of an older one when it is closed or flushed.

    The older file stays if the process is killed before, or the disk is full.
    `deflate` has zlib's arguments level, method, wbits, memLevel and strategy.
    """

    def __init__(self, path: str, compression: str = "", deflate: tuple[int, ...] = ()) -> None:
        check_compression(compression)
        self._compression = compression
        self._path = path
        # Records that are written together, for their checksums are computed together.
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._new: Any = None
        if files.scheme_of(path) in ("", "file"):
            with files.explained(path):
                self._new = replacing.NewFile(path.removeprefix("file://"))
            self._file: Any = self._new.file
        else:
            self._file = files.opened(path, "wb")
        self._zlib: Any = None
        if compression in ("GZIP", "ZLIB"):
            level, method, window, memory, strategy = deflate or _DEFLATE
            window += 16 * (compression == "GZIP")
            self._zlib = zlib.compressobj(level, method, window, memory, strategy)

    @property
    def closed(self) -> bool:
        """True once the file is complete."""
        return self._file.closed

    def write(self, record: bytes) -> None:
        """Adds a record."""
        self._pending.append(record)
        self._pending_bytes += len(record) + HEAD + TAIL
        if self._pending_bytes >= _WRITE_BYTES:
            self._write_pending()

    def _write_pending(self) -> None:
        """Writes the pending records to the file."""
        if not self._pending:
            return
        data = framed(self._pending)
        self._pending, self._pending_bytes = [], 0
        if self._zlib is not None:
            data = self._zlib.compress(data)
        elif self._compression == "SNAPPY":
            data = snappy.compressed(data)
        with self._writing():
            self._file.write(data)

    @contextlib.contextmanager
    def _writing(self) -> Generator[None]:
        """Converts errors of the file system, and discards the incomplete file after one."""
        try:
            with files.explained(self._path):
                yield
        except BaseException:
            if self._new is not None:
                self._new.discard()
            else:
                self._file.close()
            raise

    def flush(self) -> None:
        """Flushes the written records to the file, where other processes can read them."""
        self._write_pending()
        with self._writing():
            if self._zlib is not None:
                self._file.write(self._zlib.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()
            if self._new is not None:
                self._new.publish()

    def close(self) -> None:
        """Completes the file."""
        if self._file.closed:
            return
        self._write_pending()
        with self._writing():
            if self._zlib is not None:
                self._file.write(self._zlib.flush())
            if self._new is not None:
                self._new.commit()
            else:
                self._file.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()
