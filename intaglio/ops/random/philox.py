"""Philox4x32-10 counter streams and the distributions drawn from them, vectorised.

The generator is that of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
1, 2, 3" (2011). A stream is a 64-bit key and a 128-bit counter (two uint64, low half first);
block i of the stream is the cipher of counter + i: four uint32. How blocks become floats,
integers and normals follows TensorFlow's results, bit for bit where NumPy's functions allow.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from intaglio.opdef.machine_code import exact_kernel
from intaglio.ops.compiled import select_kernel

MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
WEYL_0 = 0x9E3779B9
WEYL_1 = 0xBB67AE85
LOW = np.uint64(0xFFFFFFFF)
HIGH = np.uint64(32)
MASK64 = (1 << 64) - 1
# Blocks that are ciphered at a time: the working arrays fit into the processor's cache.
CHUNK_BLOCKS = 8192
# So many blocks are ciphered without NumPy, whose calls would take longer.
MAX_PYTHON_BLOCKS = 8
# Counters reserved for each output that consumes a variable number of random numbers.
RESERVED = 256
TRUNCATE_AT = 2.0
# Uniform numbers below this are taken for it: their logarithms are needed.
MIN_UNIFORM = 1e-7
# Multiplications that NumPy makes for each number.
WORK_PER_NUMBER = 4
# The same for random bits, which NumPy computes in passes over memory.
WORK_PER_BITS = 8
# And those that a swap in Python is worth.
WORK_PER_SWAP = 32


class Stream(NamedTuple):
    """A position in a stream: a key and the counter's two halves, as Python ints."""

    key: int
    low: int
    high: int

    def skipped(self, blocks: int) -> Stream:
        """The stream `blocks` blocks later."""
        counter = (self.low | self.high << 64) + blocks
        return Stream(self.key, counter & MASK64, counter >> 64 & MASK64)


def blocks(stream: Stream, count: int, step: int = 1) -> np.ndarray:
    """`count` blocks, `step` counters apart, as uint32 of shape (count, 4)."""
    result = _compiled("bits", stream, 4 * count, step)
    if result is not None:
        return result.reshape(count, 4)
    if count <= MAX_PYTHON_BLOCKS:
        few = [_one(stream.skipped(i * step)) for i in range(count)]
        return np.array(few, np.uint32).reshape(count, 4)
    return blocks_at(stream, np.arange(count, dtype=np.uint64) * np.uint64(step))


def _compiled(kind: str, stream: Stream, count: int, step: int = 1) -> Any:
    """So many numbers of a kind from machine code; None without a kernel."""
    if kind == "normal":  # NumPy's logarithms and roots have other last bits
        draw = select_kernel("random", np.float32, WORK_PER_NUMBER * count, kind, count)
    else:
        draw = exact_kernel("random", WORK_PER_BITS * count, kind, count)
    return draw and draw(np.array([*stream, step], np.uint64))


def blocks_at(stream: Stream, offsets: np.ndarray) -> np.ndarray:
    """The blocks at these counters (uint64) from the stream's own, in this order."""
    result = np.empty((len(offsets), 4), "<u4")
    for start in range(0, len(offsets), CHUNK_BLOCKS):
        part = slice(start, start + CHUNK_BLOCKS)
        _cipher(stream, offsets[part], result[part])
    return result.astype(np.uint32, copy=False)


def _one(stream: Stream) -> tuple[int, int, int, int]:
    """One block in Python's own integers: faster than NumPy for a few."""
    x0, x1 = stream.low & 0xFFFFFFFF, stream.low >> 32
    x2, x3 = stream.high & 0xFFFFFFFF, stream.high >> 32
    for k0, k1 in _round_keys(stream.key):
        p0, p1 = x0 * 0xD2511F53, x2 * 0xCD9E8D57
        x0, x1 = p1 >> 32 ^ x1 ^ k0, p1 & 0xFFFFFFFF
        x2, x3 = p0 >> 32 ^ x3 ^ k1, p0 & 0xFFFFFFFF
    return x0, x1, x2, x3


def _cipher(stream: Stream, offsets: np.ndarray, out: np.ndarray) -> None:
    low = offsets + np.uint64(stream.low)
    high = (low < offsets).astype(np.uint64)
    high += np.uint64(stream.high)
    x0, x1, x2, x3 = low & LOW, low >> HIGH, high & LOW, high >> HIGH
    m0, m1 = MULTIPLIERS[:, 0]
    p0, p1 = low, high  # their memory: each number is in the words
    for key_0, key_1 in _wide_round_keys(stream.key):
        np.multiply(x0, m0, out=p0)
        np.multiply(x2, m1, out=p1)
        x1 ^= key_0
        x3 ^= key_1
        np.right_shift(p1, HIGH, out=x0)
        np.right_shift(p0, HIGH, out=x2)
        x0 ^= x1
        x2 ^= x3
        np.bitwise_and(p1, LOW, out=x1)
        np.bitwise_and(p0, LOW, out=x3)
    pairs = out.view("<u8")
    x1 <<= HIGH
    x3 <<= HIGH
    np.bitwise_or(x0, x1, out=pairs[:, 0])
    np.bitwise_or(x2, x3, out=pairs[:, 1])


@functools.lru_cache(64)
def _round_keys(key: int) -> list[tuple[int, int]]:
    """The two key words of each of the ten rounds."""
    return [
        ((key + i * WEYL_0) & 0xFFFFFFFF, ((key >> 32) + i * WEYL_1) & 0xFFFFFFFF)
        for i in range(10)
    ]


@functools.lru_cache(64)
def _wide_round_keys(key: int) -> list[tuple[np.uint64, np.uint64]]:
    """The same as NumPy's 64-bit integers."""
    return [(np.uint64(a), np.uint64(b)) for a, b in _round_keys(key)]


def bits32(stream: Stream, count: int) -> np.ndarray:
    """`count` uint32, four from each block."""
    return blocks(stream, -(-count // 4)).reshape(-1)[:count]


def bits64(stream: Stream, count: int) -> np.ndarray:
    """`count` uint64, two from each block, the low half first."""
    return blocks(stream, -(-count // 2)).astype("<u4", copy=False).view("<u8").reshape(-1)[:count]


def from_seed(seed: int, seed2: int) -> Stream:
    """The stream of a stateful op with these seeds."""
    return Stream(seed & MASK64, 0, seed2 & MASK64)


def scrambled(seed: int, seed2: int) -> Stream:
    """The stream of a stateless op: the seeds go through the cipher once."""
    mixed = bits64(Stream(0x02461E293EC8F720, seed & MASK64, seed2 & MASK64), 2)
    return Stream(int(mixed[0]), 0, int(mixed[1]))


# -- uniform -------------------------------------------------------------------------


def unit(bits: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Floats in [0, 1) whose mantissa is the low bits of `bits` (uint32; pairs for float64)."""
    if dtype == np.float32:
        single = bits & np.uint32(0x7FFFFF)
        single |= np.uint32(0x3F800000)
        unit = single.view(np.float32)
        unit -= np.float32(1)
        return unit
    if dtype == np.float64:
        pairs = bits.reshape(-1, 2).astype(np.uint64)
        mantissa = (pairs[:, 0] & np.uint64(0xFFFFF)) << HIGH | pairs[:, 1]
        return (mantissa | np.uint64(0x3FF << 52)).view(np.float64) - 1.0
    if dtype == np.float16:
        small = (bits & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
        return small.view(np.float16) - np.float16(1)
    small = (bits & np.uint32(0x7F)).astype(np.uint16) | np.uint16(127 << 7)
    brief: Any = small.view(ml_dtypes.bfloat16)
    return brief - ml_dtypes.bfloat16(1)


def uniform(stream: Stream, count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """`count` floats in [0, 1)."""
    wide = 2 if dtype == np.float64 else 1
    if dtype.itemsize > 2:
        kind = "uniform" if wide == 1 else "uniform_double"
        result = _compiled(kind, stream, count)
        if result is not None:
            return result
    return unit(bits32(stream, count * wide), dtype)


def uniform_int(
    stream: Stream, count: int, low: Any, high: Any, dtype: np.dtype[Any]
) -> np.ndarray:
    """`count` integers in [low, high): random bits modulo the width of the range."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    words = full_int(stream, count, unsigned)
    span = int(high) - int(low)
    offset = unsigned.type(int(low) % (1 << 8 * dtype.itemsize))
    return (words % unsigned.type(span) + offset).view(dtype)


def full_int(stream: Stream, count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """`count` integers over the dtype's whole range."""
    draw = bits64 if dtype.itemsize == 8 else bits32
    return draw(stream, count).view(dtype)


# -- normal --------------------------------------------------------------------------


def box_muller(bits: np.ndarray, double: bool) -> np.ndarray:
    """Two normal numbers for each two uniform ones: sin and cos of one angle, in this order.

    float64 equals TensorFlow's. For float32 the C library rounds a few logarithms, sines and
    cosines incorrectly, while here they are rounded correctly: 98.5 % of the numbers are equal, the
    others differ by 3 units in the last place at most.
    """
    dtype = np.dtype(np.float64 if double else np.float32)
    u = unit(bits, dtype).reshape(-1, 2)
    result = np.empty(u.shape, dtype)
    for start in range(0, len(u), CHUNK_BLOCKS):
        _pairs(u[start : start + CHUNK_BLOCKS], result[start : start + CHUNK_BLOCKS])
    return result


def _pairs(u: np.ndarray, out: np.ndarray) -> None:
    kind = out.dtype.type
    first = np.maximum(u[:, 0], kind(MIN_UNIFORM)).astype(np.float64)
    radius = np.sqrt(kind(-2) * np.log(first).astype(kind))
    # The angle is rounded to float32 only after the product, the functions of it likewise.
    angle = (2 * math.pi * u[:, 1].astype(np.float64)).astype(kind).astype(np.float64)
    np.multiply(np.sin(angle).astype(kind), radius, out=out[:, 0])
    np.multiply(np.cos(angle).astype(kind), radius, out=out[:, 1])


def normal(stream: Stream, count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """`count` standard normals; float16 and bfloat16 are computed in float32."""
    if dtype == np.float64:
        return box_muller(blocks(stream, -(-count // 2)), True).reshape(-1)[:count]
    result = _single_normals(stream, -(-count // 4)).reshape(-1)[:count]
    return result.astype(dtype, copy=False)


def _single_normals(stream: Stream, count: int, step: int = 1) -> np.ndarray:
    """The four normal float32s of each of `count` blocks, `step` counters apart."""
    result = _compiled("normal", stream, 4 * count, step)
    if result is None:
        result = box_muller(blocks(stream, count, step), False)
    return result.reshape(count, 4)


def truncated_normal(stream: Stream, count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """`count` standard normals, drawn again while outside (-2, 2).

    Each group of four (two for float64) has counters of its own, from which it takes
    block after block until it is full.
    """
    double = dtype == np.float64
    group = 2 if double else 4
    groups = -(-count // group)
    step = RESERVED * group // 4
    result = np.empty((groups, group), np.float64 if double else np.float32)
    filled = np.zeros(groups, np.int64)
    left = np.arange(groups)
    if double:
        normals = box_muller(blocks(stream, groups, step), True).reshape(groups, group)
    else:
        normals = _single_normals(stream, groups, step)
    attempt = 0
    while len(left):
        _fill(result, filled, left, normals)
        left = left[filled[left] < group]
        attempt += 1
        offsets = left.astype(np.uint64) * np.uint64(step) + np.uint64(attempt)
        words = blocks_at(stream, offsets)
        normals = box_muller(words, double).reshape(len(left), group)
    return result.reshape(-1)[:count].astype(dtype, copy=False)


def _fill(result: np.ndarray, filled: np.ndarray, rows: np.ndarray, normals: np.ndarray) -> None:
    """Appends the normals within the bounds to their groups."""
    near = np.abs(normals) < TRUNCATE_AT
    for column in range(normals.shape[1]):
        good = near[:, column] & (filled[rows] < result.shape[1])
        taken = rows[good]
        result[taken, filled[taken]] = normals[good, column]
        filled[taken] += 1


# -- permutations and categories -----------------------------------------------------


def permutation(stream: Stream, count: int) -> np.ndarray:
    """A permutation of range(count), by a Fisher-Yates shuffle."""
    if count < 2:
        return np.arange(count)
    left = np.arange(count, 1, -1, dtype=np.uint32)
    swaps = bits32(stream, max(count - 1, 0)) % left
    swapped = exact_kernel("permutation", WORK_PER_SWAP * count, count)
    if swapped is not None:
        return swapped(swaps)
    order = list(range(count))
    for i, offset in enumerate(swaps.tolist()):
        j = i + offset
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def categories(stream: Stream, logits: np.ndarray, count: int) -> np.ndarray:
    """`count` samples from each row of unnormalised log-probabilities, as int64.

    Rows consume their random numbers one after the other; logits that are not finite are never
    sampled.
    """
    rows = len(logits)
    uniforms = uniform(stream, rows * count, np.dtype(np.float64)).reshape(rows, count)
    finite = np.isfinite(logits)
    is_regular = finite.all()
    sums = logits.astype(np.float64)
    if not is_regular:
        sums[~finite] = -np.inf
    top = sums.max(axis=1, keepdims=True, initial=-np.inf)
    sums -= top if is_regular else np.where(np.isfinite(top), top, 0.0)
    np.exp(sums, out=sums)
    if not is_regular:
        sums[~finite] = 0.0
    np.cumsum(sums, axis=1, out=sums)
    wanted = uniforms * sums[:, -1:]
    result = np.empty((rows, count), np.int64)
    if count < rows:
        for draw in range(count):
            above = sums > wanted[:, draw, None]
            result[:, draw] = above.argmax(axis=1)
            none = ~above[:, -1]
            if none.any():
                result[none, draw] = logits.shape[1]
        return result
    for row in range(rows):
        result[row] = np.searchsorted(sums[row], wanted[row], side="right")
    return result
