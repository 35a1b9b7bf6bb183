"""Snappy's blocks, each after its length, as in TensorFlow's files of records.

Follows https://github.com/google/snappy/blob/main/format_description.txt.
"""

from __future__ import annotations

from intaglio.base import errors
from intaglio.base.limits import check_decoded

_MAX_LITERAL_BYTES = 1 << 16  # bytes in a literal that is written


def compressed(data: bytes) -> bytes:
    """A block with the data as literals: valid, and no smaller."""
    parts = [_varint(len(data))]
    for start in range(0, len(data), _MAX_LITERAL_BYTES):
        part = data[start : start + _MAX_LITERAL_BYTES]
        last = len(part) - 1
        if last < 60:
            parts.append(bytes([last << 2]))
        else:
            parts.append(bytes([61 << 2]) + last.to_bytes(2, "little"))
        parts.append(part)
    block = b"".join(parts)
    return len(block).to_bytes(4, "big") + block


def decompressed(data: bytes) -> bytes:
    """The data of all blocks. Raises DataLossError if they are no such."""
    found = bytearray()
    at = 0
    try:
        while at < len(data):
            size = int.from_bytes(data[at : at + 4], "big")
            if at + 4 + size > len(data):
                raise IndexError
            found += _block(data[at + 4 : at + 4 + size])
            at += 4 + size
    except IndexError:
        raise errors.DataLossError(
            None, None, "the data are not compressed with SNAPPY, or are cut off"
        ) from None
    return bytes(found)


def _block(block: bytes) -> bytearray:
    size, at = _number(block)
    check_decoded(size, "SNAPPY")
    output = bytearray()
    while at < len(block):
        if len(output) > size:
            raise IndexError
        tag = block[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                wide = length - 59
                length = int.from_bytes(block[at : at + wide], "little")
                at += wide
            output += block[at : at + length + 1]
            at += length + 1
            continue
        if tag & 3 == 1:
            length, back = (tag >> 2 & 7) + 4, tag >> 5 << 8 | block[at]
            at += 1
        else:
            wide = 2 if tag & 3 == 2 else 4
            length, back = ((tag >> 2) + 1, int.from_bytes(block[at : at + wide], "little"))
            at += wide
        _copy(output, back, length)
    if len(output) != size:
        raise IndexError
    return output


def _copy(output: bytearray, back: int, length: int) -> None:
    """Appends a copy of the bytes `back` before the end; source and copy may overlap."""
    if not 0 < back <= len(output):
        raise IndexError
    start = len(output) - back
    pattern = bytes(output[start : start + length])
    output += (pattern * (length // len(pattern) + 1))[:length]


def _number(data: bytes) -> tuple[int, int]:
    number = shift = at = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])
