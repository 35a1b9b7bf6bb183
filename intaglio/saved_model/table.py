"""Sorted string tables: the index files of tensor bundles, written and read.

The format is LevelDB's (https://github.com/google/leveldb/blob/main/doc/table_format.md):
data blocks of sorted keys that share prefixes, an index block, and a footer. Nothing in a
file is believed before it was checked, and work is bounded by the size of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from intaglio.base.crc32c import crc32c, extend, masked
from intaglio.graphdef.declarations import MalformedError

_MAGIC = 0xDB4775248B80FB57
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5  # a byte for the kind of compression, and the checksum
_BLOCK_BYTES = 1 << 18
_RESTART_INTERVAL = 16
_PLAIN, _SNAPPY = 0, 1
# Entries share prefixes, so that a small file could claim endless keys: all keys together
# may have this many bytes for each byte of the file.
_MAX_KEY_BYTES_PER_FILE_BYTE = 64


def varint(value: int) -> bytes:
    """A number in 7-bit groups, low groups first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes | memoryview, at: int, end: int) -> tuple[int, int]:
    """The number at `at` and where it ends. Raises MalformedError at the end of the data."""
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise MalformedError("a number is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


# -- writing ---------------------------------------------------------------------------


class _Block:
    """The entries of a block under construction."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.restarts: list[int] = []
        self.count = 0
        self.last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self.count % _RESTART_INTERVAL:
            limit = min(len(key), len(self.last))
            while shared < limit and key[shared] == self.last[shared]:
                shared += 1
        else:
            self.restarts.append(len(self.data))
        self.data += varint(shared) + varint(len(key) - shared) + varint(len(value))
        self.data += key[shared:] + value
        self.last = key
        self.count += 1

    def finished(self) -> bytes:
        restarts = self.restarts or [0]
        ends = struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
        return bytes(self.data) + ends


def write(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A table of (key, value) pairs, which come sorted by their keys."""
    out = bytearray()

    def put(block: bytes) -> bytes:
        handle = varint(len(out)) + varint(len(block))
        kind = bytes([_PLAIN])
        out.extend(block + kind)
        out.extend(struct.pack("<I", masked(extend(crc32c(block), kind))))
        return handle

    index, block = _Block(), _Block()
    for key, value in entries:
        block.add(key, value)
        if len(block.data) >= _BLOCK_BYTES:
            index.add(block.last, put(block.finished()))
            block = _Block()
    if block.count or not index.count:
        index.add(block.last, put(block.finished()))
    handles = put(_Block().finished()) + put(index.finished())
    out.extend(handles.ljust(_FOOTER_BYTES - 8, b"\0") + struct.pack("<Q", _MAGIC))
    return bytes(out)


# -- reading ---------------------------------------------------------------------------


def read(data: bytes, name: str) -> dict[bytes, bytes]:
    """All entries of a table. Raises MalformedError that names the file for any damage."""
    try:
        return _read(data)
    except MalformedError as e:
        raise MalformedError(f"{name} is no readable table: {e}") from None


def _read(data: bytes) -> dict[bytes, bytes]:
    if len(data) < _FOOTER_BYTES:
        raise MalformedError(f"it has {len(data)} bytes")
    footer = data[-_FOOTER_BYTES:]
    if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise MalformedError("it does not end as a table does")
    _, at = _handle(footer, 0)
    index, _ = _handle(footer, at)
    found: dict[bytes, bytes] = {}
    last: bytes | None = None
    next_free = spent = 0
    for _, value in _entries(_block(data, *index)):
        (offset, size), _ = _handle(value, 0)
        if offset < next_free:  # blocks overlap: a small file could claim endless entries
            raise MalformedError("its blocks overlap")
        next_free = offset + size + _TRAILER_BYTES
        for key, content in _entries(_block(data, offset, size)):
            if last is not None and key <= last:
                raise MalformedError("its keys are not in order")
            spent += len(key)
            if spent > _MAX_KEY_BYTES_PER_FILE_BYTE * len(data):
                raise MalformedError("its keys are far longer than itself")
            found[key] = content
            last = key
    return found


def _handle(data: bytes | memoryview, at: int) -> tuple[tuple[int, int], int]:
    offset, at = read_varint(data, at, len(data))
    size, at = read_varint(data, at, len(data))
    return (offset, size), at


def _block(data: bytes, offset: int, size: int) -> memoryview:
    """The content of a block, its checksum verified."""
    end = offset + size
    if end + _TRAILER_BYTES > len(data) - _FOOTER_BYTES:
        raise MalformedError(f"a block of {size} bytes at {offset} ends outside of it")
    view = memoryview(data)
    kind = data[end]
    (stored,) = struct.unpack("<I", view[end + 1 : end + _TRAILER_BYTES])
    if masked(crc32c(view[offset : end + 1])) != stored:
        raise MalformedError(f"the block at {offset} does not have its checksum")
    if kind == _SNAPPY:
        raise MalformedError("its blocks are compressed with Snappy, which is not read")
    if kind != _PLAIN:
        raise MalformedError(f"a block is compressed in the unknown way {kind}")
    return view[offset:end]


def _entries(block: memoryview) -> Iterator[tuple[bytes, bytes]]:
    if len(block) < 4:
        raise MalformedError("a block is too short")
    (restarts,) = struct.unpack("<I", block[-4:])
    end = len(block) - 4 - 4 * restarts
    if end < 0:
        raise MalformedError("a block has too many restart points")
    at, key = 0, b""
    while at < end:
        numbers = block[at : at + 3]
        if len(numbers) == 3 and at + 3 <= end and max(numbers) < 128:  # most are of one byte each
            (shared, rest, length), at = numbers, at + 3
        else:
            shared, at = read_varint(block, at, end)
            rest, at = read_varint(block, at, end)
            length, at = read_varint(block, at, end)
        if shared > len(key) or at + rest + length > end:
            raise MalformedError("an entry ends outside of its block")
        key = key[:shared] + bytes(block[at : at + rest])
        at += rest
        yield key, bytes(block[at : at + length])
        at += length
