"""PNG with 16 bits a channel, which Pillow reads and writes at 8 bits in colour.

Follows https://www.w3.org/TR/png-3/.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from intaglio.base.errors import UnsupportedFileError, invalid_argument
from intaglio.base.limits import check_decoded

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Channels by colour type, for those that exist with 16 bits.
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
# Where the header ends that the first chunk holds.
HEADER_END = 29
COLORS = {channels: color for color, channels in CHANNELS.items()}


def depth_of(contents: bytes) -> int:
    """The bits of a channel (of a palette's index) as the header has them."""
    return contents[24] if len(contents) > 24 else 0


def decoded(contents: bytes) -> np.ndarray:
    """The uint16 pixels [height, width, channels] of a file with 16 bits a channel."""
    if len(contents) < HEADER_END:
        raise invalid_argument("Invalid PNG data: the header is cut off")
    width, height, _, color, _, _, interlaced = struct.unpack(">IIBBBBB", contents[16:29])
    if interlaced:
        raise UnsupportedFileError(
            "Interlaced PNG files with 16 bits a channel cannot be read: "
            "decode with dtype=tf.uint8, or save the file without interlacing."
        )
    if color not in CHANNELS or not width or not height:
        raise invalid_argument(f"Invalid PNG data: colour type {color}, {width} x {height} pixels")
    channels = CHANNELS[color]
    needed = height * (1 + width * 2 * channels)
    check_decoded(needed, "A PNG image")
    try:
        # What there is more of is not read.
        data = zlib.decompressobj().decompress(_parts(contents, b"IDAT"), needed)
    except zlib.error as e:
        raise invalid_argument(f"Invalid PNG data: {e}") from None
    step = 2 * channels
    if len(data) < needed:
        raise invalid_argument("Invalid PNG data: there are too few pixels")
    rows = np.frombuffer(data, np.uint8, needed)
    rows = rows.reshape(height, 1 + width * step)
    plain = _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, step))
    return plain.view(">u2").astype(np.uint16)


def _parts(contents: bytes, kind: bytes) -> bytes:
    """The data of all chunks of a kind, one after the other."""
    at, found = len(SIGNATURE), bytearray()
    while at + 8 <= len(contents):
        length, name = struct.unpack(">I4s", contents[at : at + 8])
        if name == kind:
            found += contents[at + 8 : at + 8 + length]
        at += 12 + length
    return bytes(found)


def _unfiltered(kinds: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Undoes the rows' filters.

    A pixel depends on those to the left, above, and above left; so all pixels of one
    diagonal are found at once, from the two diagonals before it.
    """
    height, width, step = rows.shape
    if kinds.max(initial=0) > 4:
        raise invalid_argument(f"Invalid PNG data: filter {kinds.max()} does not exist")
    whole = np.zeros((height + 1, width + 1, step), np.int16)
    for diagonal in range(height + width - 1):
        y = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        left, up, corner = whole[y + 1, x], whole[y, x + 1], whole[y, x]
        kind = kinds[y][:, None]
        guess = np.select(
            [kind == 1, kind == 2, kind == 3, kind == 4],
            [left, up, (left + up) >> 1, _paeth(left, up, corner)],
            np.int16(0),
        )
        whole[y + 1, x + 1] = (rows[y, x] + guess) & 255
    return np.ascontiguousarray(whole[1:, 1:].astype(np.uint8))


def _paeth(left: np.ndarray, up: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Of the three neighbours the one nearest to left + up - corner."""
    to_left, to_up = np.abs(up - corner), np.abs(left - corner)
    to_corner = np.abs(left + up - 2 * corner)
    best = np.where(to_up <= to_corner, up, corner)
    return np.where((to_left <= to_up) & (to_left <= to_corner), left, best)


def encoded(image: np.ndarray, compression: int) -> bytes:
    """A file of uint16 pixels [height, width, channels], without filters."""
    height, width, channels = image.shape
    head = struct.pack(">IIBBBBB", width, height, 16, COLORS[channels], 0, 0, 0)
    rows = np.zeros((height, 1 + 2 * width * channels), np.uint8)
    rows[:, 1:] = image.astype(">u2").view(np.uint8).reshape(height, -1)
    data = zlib.compress(rows.tobytes(), compression)
    parts = ((b"IHDR", head), (b"IDAT", data), (b"IEND", b""))
    return SIGNATURE + b"".join([_chunk(name, part) for name, part in parts])


def _chunk(name: bytes, data: bytes) -> bytes:
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
