"""CRC-32C (Castagnoli) of bytes, the checksum of TFRecord files, tables and tensor bundles.

Once a process has summed enough bytes to make loading the compiler profitable, native code with the
processor's CRC instruction computes it. Before, and without a compiler, long data is divided into lanes whose
checksums NumPy computes in parallel. They are combined: the checksum of a concatenation is that of the first
part, advanced by the length of the second (a linear map), xor that of the second.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from intaglio.base.hooks import HOOKS

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_LANES = 2048  # data with only a few bytes for each lane is summed byte by byte
_MIN_BYTES_FOR_LANES = 1 << 14
_PIECE_BYTES = 64  # bytes of the pieces into which parts are divided
_BYTES_AT_A_TIME = 1 << 20  # bytes that are summed together
# Number of bytes after which loading the compiler is profitable, and the bytes that each part adds to its size.
MIN_BYTES_FOR_COMPILER = 4 << 20
_BYTES_PER_PART = 64
# Bytes below which Python's table is faster than the call of a kernel.
_MIN_BYTES_FOR_KERNEL = 24


class _Totals:
    """The number of bytes summed so far without native code."""

    done = 0


def _kernel(size: int) -> Callable[..., Any] | None:
    """The native kernel, once it is profitable for the total of bytes; None before, or without a compiler."""
    if _Totals.done < MIN_BYTES_FOR_COMPILER:
        _Totals.done += size
        return None
    return HOOKS.select_kernel("checksums")


def _byte_table() -> list[int]:
    table: list[int] = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _byte_table()


@functools.cache
def _pair_table() -> np.ndarray:
    """The table of checksum updates by two bytes, indexed by 16 bits."""
    one = np.array(_TABLE, np.uint32)
    low = np.tile(one, 256)
    return one[low & 0xFF] ^ (low >> np.uint32(8)) ^ np.repeat(one, 256)


def extend(crc: int, data: bytes | memoryview) -> int:
    """The checksum of the data with the checksum `crc`, followed by `data`."""
    run = _kernel(len(data) + _BYTES_PER_PART) if len(data) >= _MIN_BYTES_FOR_KERNEL else None
    if run is not None:
        return int(run(np.frombuffer(data, np.uint8), [0], [len(data)], [crc])[0])
    if len(data) < _MIN_BYTES_FOR_LANES:
        return _short(crc, data)
    lane = len(data) // _LANES & ~1
    whole = lane * _LANES
    found = _side_by_side(np.frombuffer(data, np.dtype("<u2"), whole // 2))
    return _short(_moved(crc, whole) ^ found, memoryview(data)[whole:])


def crc32c(data: bytes | memoryview) -> int:
    """The checksum of `data`."""
    return extend(0, data)


def crc32c_of_each(data: bytes, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The checksums (uint32) of many parts of `data`, computed in parallel.

    Zeros in front change nothing if the checksum begins with zero, and it does once the
    first four bytes are inverted. So parts of like lengths fill the rows of a table from
    the right, and all pieces of all rows are one column of the computation.
    """
    octets = np.frombuffer(data, np.uint8)
    run = _kernel(int(lengths.sum()) + _BYTES_PER_PART * len(starts))
    if run is not None:
        return run(octets, starts, lengths, np.zeros(len(starts), np.uint32))
    result = np.empty(len(starts), np.uint32)
    # A power of two of pieces, of 64 to 128 bytes, so that few zeros are added.
    pieces = 1 << np.log2(np.maximum(lengths // _PIECE_BYTES, 1)).astype(np.int64)
    sizes = np.maximum(-(-lengths // pieces) + 7 & ~7, 8)
    shapes = pieces << 8 | sizes
    for shape in np.unique(shapes).tolist():
        count, size = shape >> 8, shape & 0xFF
        (chosen,) = np.nonzero(shapes == shape)
        step = max(_BYTES_AT_A_TIME // (count * size), 1)
        for at in range(0, len(chosen), step):
            some = chosen[at : at + step]
            result[some] = _of_rows(octets, starts[some], lengths[some], count, size)
    for i in np.nonzero(lengths < 4)[0]:
        start = int(starts[i])
        result[i] = crc32c(data[start : start + int(lengths[i])])
    return result


def _of_rows(
    octets: np.ndarray, starts: np.ndarray, lengths: np.ndarray, count: int, size: int
) -> np.ndarray:
    """The checksums of parts that fill rows of `count` pieces of `size` bytes."""
    width = count * size
    table = np.zeros((len(starts), width), np.uint8)
    length = int(lengths[0])
    if (lengths == length).all():
        apart = np.diff(starts)
        if len(starts) > 1 and (apart == apart[0]).all():
            rows = np.lib.stride_tricks.as_strided(
                octets[int(starts[0]) :], (len(starts), length), (int(apart[0]), 1)
            )
            table[:, width - length :] = rows
        else:
            table[:, width - length :] = octets[starts[:, None] + np.arange(length)]
        if length >= 4:
            table[:, width - length : width - length + 4] ^= 0xFF
    else:
        before = np.cumsum(lengths) - lengths
        indices = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
        blank = width - lengths
        table[np.arange(width) >= blank[:, None]] = octets[indices]
        first = (np.arange(len(starts)) * width + blank)[lengths >= 4]
        table.reshape(-1)[first[:, None] + np.arange(4)] ^= 0xFF
    columns = np.ascontiguousarray(table.view("<u2").reshape(-1, size // 2).T)
    return _joined(_columns(columns, 0), size, len(starts)) ^ np.uint32(0xFFFFFFFF)


def masked(crc: int) -> int:
    """The masked form in which checksums are stored, as they may be part of checksummed data."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def masked_all(crc: np.ndarray) -> np.ndarray:
    """The masked forms of checksums (uint32)."""
    return (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(_MASK_DELTA)


def _short(crc: int, data: Iterable[int]) -> int:
    crc ^= 0xFFFFFFFF
    table = _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _side_by_side(pairs: np.ndarray) -> int:
    """The checksum of data that divides into `_LANES` equal lanes of byte pairs."""
    columns = np.ascontiguousarray(pairs.reshape(_LANES, -1).T)
    crc = ~_columns(columns, 0xFFFFFFFF)
    return int(_joined(crc, columns.shape[0] * 2, 1)[0])


def _columns(columns: np.ndarray, first: int) -> np.ndarray:
    """The checksums of the columns, each continued from `first`."""
    table = _pair_table()
    crc = np.full(columns.shape[1], first, np.uint32)
    for column in columns:
        crc = table[(crc ^ column) & 0xFFFF] ^ (crc >> np.uint32(16))
    return crc


def _joined(crc: np.ndarray, length: int, count: int) -> np.ndarray:
    """`count` checksums of neighbouring parts of `length` bytes, joined two by two."""
    while len(crc) > count:
        tables = _move_tables(length)
        left = crc[0::2]
        moved = tables[0][left & 0xFF]
        for i in (1, 2, 3):
            moved = moved ^ tables[i][(left >> np.uint32(8 * i)) & 0xFF]
        crc = moved ^ crc[1::2]
        length *= 2
    return crc


def _moved(crc: int, length: int) -> int:
    """A checksum advanced by `length` bytes."""
    if not crc:
        return 0
    tables = _move_tables(length)
    return int(
        tables[0][crc & 0xFF]
        ^ tables[1][crc >> 8 & 0xFF]
        ^ tables[2][crc >> 16 & 0xFF]
        ^ tables[3][crc >> 24]
    )


@functools.lru_cache(256)
def _move_tables(length: int) -> np.ndarray:
    """The linear map that advances a checksum by `length` bytes, as tables for each of its four bytes."""
    columns = [1 << i for i in range(32)]  # the images of the single bits
    step = [_TABLE[c & 0xFF] ^ (c >> 8) for c in columns]  # one byte
    while length:
        if length & 1:
            columns = [_applied(step, c) for c in columns]
        step = [_applied(step, c) for c in step]
        length >>= 1
    tables = np.zeros((4, 256), np.uint32)
    for bit, image in enumerate(columns):
        byte, within = divmod(bit, 8)
        having = (np.arange(256) >> within & 1).astype(bool)
        tables[byte, having] ^= np.uint32(image)
    return tables


def _applied(columns: list[int], value: int) -> int:
    result = 0
    for column in columns:
        if value & 1:
            result ^= column
        value >>= 1
    return result
