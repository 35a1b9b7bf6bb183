"""Slices of tensors in bundles: their names, and the keys of their entries.

The entry of a tensor that is stored in slices lists them; each slice is an entry of its own. Its
key is an ordered code: zero, the tensor's name, the number of dimensions, and start and length of
each, in bytes that sort as the numbers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import errors

# Start and length along every axis; a length of -1 is all of it.
Slice = tuple[tuple[int, int], ...]
ALL = -1
# What the keys of slices begin with, and no name of a tensor.
PREFIX = "\0"
_ESCAPED = {0x00: b"\0\xff", 0xFF: b"\xff\0"}


def key(name: str, extents: Slice) -> bytes:
    """The key of a slice."""
    numbers = [n for extent in extents for n in extent]
    text = name.encode("utf-8", "surrogateescape")
    escaped = b"".join([_ESCAPED.get(byte, bytes([byte])) for byte in text])
    return _count(0) + escaped + b"\0\1" + _count(len(extents)) + b"".join(map(_number, numbers))


def _count(value: int) -> bytes:
    """A number from 0 on: how many bytes it has, then those."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def _number(value: int) -> bytes:
    """A number of any sign: as many ones as there are bytes, a bit for the sign, the number.

    Below zero all bits are the opposite of those of the number's complement.
    """
    if value < 0:
        return bytes([255 - byte for byte in _number(~value)])
    size = value.bit_length() // 7 + 1
    ones = (1 << size) - 1 << 7 * size
    return (ones | value).to_bytes(size, "big")


def read(spec: str) -> tuple[tuple[int, ...], Slice]:
    """The whole shape and the slice of a text such as `6 4 0,3:0,4`.

    Raises InvalidArgumentError for another text.
    """
    *dims, parts = spec.split()
    try:
        shape = tuple(map(int, dims))
        extents = tuple([_extent(part) for part in parts.split(":")])
        if len(extents) != len(shape):
            raise ValueError
    except ValueError:
        raise errors.invalid_argument(
            f"'{spec}' is no slice of a tensor: write the whole shape, then start and length along each axis, "
            "such as '6 4 0,3:0,4'"
        ) from None
    return shape, extents


def _extent(text: str) -> tuple[int, int]:
    if text == "-":
        return 0, ALL
    start, length = map(int, text.split(","))
    if start < 0 or length < 1:
        raise ValueError
    return start, length


def text(shape: Sequence[int], extents: Slice) -> str:
    """What `read` reads."""
    parts = ":".join(["-" if n == ALL else f"{s},{n}" for s, n in extents])
    return " ".join([*map(str, shape), parts])


def bounds(extents: Slice) -> tuple[Any, ...]:
    """The slice as an index of an array."""
    return tuple([slice(s, None if n == ALL else s + n) for s, n in extents])
