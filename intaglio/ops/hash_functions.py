"""Hashes of many texts at once: FarmHash's Fingerprint64, SipHash-2-4 and MurmurHash64A.

The texts lie end to end in one buffer. Those that take the same steps go through them together,
as arrays of uint64, in which sums and products wrap as the hashes want it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

Words: TypeAlias = Any  # a uint64 for each text
Step = Callable[["Texts", Any], Words]


class Texts:
    """Texts of different lengths, and the eight bytes from any place on of some of them."""

    __slots__ = ("_starts", "_windows", "lengths")

    def __init__(self, texts: list[bytes]) -> None:
        self.lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self._starts = np.cumsum(self.lengths) - self.lengths
        buffer = np.frombuffer(b"".join([*texts, bytes(8)]), np.uint8)
        self._windows = np.lib.stride_tricks.sliding_window_view(buffer, 8)

    def __len__(self) -> int:
        return len(self.lengths)

    def word(self, rows: Any, at: Any) -> Words:
        """The eight bytes `at` bytes into each of these texts, or as many bytes back from its end."""
        begins = self._starts[rows] + at
        if np.ndim(at) == 0 and at < 0:
            begins += self.lengths[rows]
        return self._windows[begins].view("<u8")[:, 0].astype(np.uint64, copy=False)

    def rest(self, rows: Any, at: int) -> Words:
        """The fewer than eight bytes from a place to the end, with zeros behind."""
        bits = 8 * (self.lengths[rows] - at).astype(np.uint64)
        return self.word(rows, at) & ((np.uint64(1) << bits) - np.uint64(1))

    def size(self, rows: Any) -> Words:
        """The lengths."""
        return self.lengths[rows].astype(np.uint64)

    def by_words(self) -> Iterator[tuple[Any, int]]:
        """The texts in groups that have the same number of whole words, and that number."""
        words = self.lengths // 8
        for count in np.unique(words).tolist():
            yield np.flatnonzero(words == count), count


# -- SipHash -------------------------------------------------------------------------


def _left(x: Words, by: int) -> Words:
    return x << by | x >> 64 - by


def _sip_round(state: tuple[Words, ...]) -> tuple[Words, ...]:
    v0, v1, v2, v3 = state
    v0, v2 = v0 + v1, v2 + v3
    v1, v3 = _left(v1, 13) ^ v0, _left(v3, 16) ^ v2
    v0, v2 = _left(v0, 32) + v3, v2 + v1
    return v0, _left(v1, 17) ^ v2, _left(v2, 32), _left(v3, 21) ^ v0


def siphashes(texts: list[bytes], key: tuple[int, int]) -> Words:
    """SipHash-2-4 of Aumasson and Bernstein (2012)."""
    known = Texts(texts)
    result = np.empty(len(known), np.uint64)
    k0, k1 = np.array(key).astype(np.int64).view(np.uint64)
    seeds = (
        k0 ^ np.uint64(0x736F6D6570736575), k1 ^ np.uint64(0x646F72616E646F6D),
        k0 ^ np.uint64(0x6C7967656E657261), k1 ^ np.uint64(0x7465646279746573),
    )  # fmt: skip
    for rows, count in known.by_words():
        state = tuple(np.full(len(rows), seed) for seed in seeds)
        for i in range(count):
            state = _sip_word(state, known.word(rows, 8 * i))
        last = known.rest(rows, 8 * count) | known.size(rows) << 56
        v0, v1, v2, v3 = _sip_word(state, last)
        state = (v0, v1, v2 ^ 0xFF, v3)
        for _ in range(4):
            state = _sip_round(state)
        v0, v1, v2, v3 = state
        result[rows] = v0 ^ v1 ^ v2 ^ v3
    return result


def _sip_word(state: tuple[Words, ...], word: Words) -> tuple[Words, ...]:
    v0, v1, v2, v3 = state
    v0, v1, v2, v3 = _sip_round(_sip_round((v0, v1, v2, v3 ^ word)))
    return v0 ^ word, v1, v2, v3


# -- FarmHash ------------------------------------------------------------------------

_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


def _right(x: Words, by: int) -> Words:
    return x >> by | x << 64 - by


def _mixed(x: Words) -> Words:
    return x ^ x >> 47


def _pair(u: Words, v: Words, factor: Words) -> Words:
    """Two numbers as one."""
    a = _mixed((u ^ v) * factor)
    return _mixed((v ^ a) * factor) * factor


def fingerprints(texts: list[bytes]) -> Words:
    """FarmHash's Fingerprint64 (Pike and Alakuijala, Google, 2014)."""
    known = Texts(texts)
    result = np.full(len(known), np.uint64(_K2))
    steps: tuple[tuple[int, int, Step], ...] = (
        (1, 3, _few), (4, 7, _half), (8, 16, _short), (17, 32, _middle), (33, 64, _double),
    )  # fmt: skip
    for least, most, step in steps:
        rows = np.flatnonzero((known.lengths >= least) & (known.lengths <= most))
        if len(rows):
            result[rows] = step(known, rows)
    blocks = np.maximum(known.lengths - 1, 0) // 64
    for count in np.unique(blocks[blocks > 0]).tolist():
        rows = np.flatnonzero(blocks == count)
        result[rows] = _long(known, rows, count)
    return result


def _factor(texts: Texts, rows: Any) -> Words:
    return texts.size(rows) * 2 + _K2


def _few(texts: Texts, rows: Any) -> Words:
    n = texts.size(rows)
    word = texts.word(rows, 0)
    y = (word & 0xFF) + (((word >> (n >> 1) * 8) & 0xFF) << 8)
    z = n + (((word >> (n - 1) * 8) & 0xFF) << 2)
    return _mixed(y * _K2 ^ z * _K0) * _K2


def _half(texts: Texts, rows: Any) -> Words:
    n = texts.size(rows)
    first = texts.word(rows, 0) & 0xFFFFFFFF
    last = texts.word(rows, texts.lengths[rows] - 4) & 0xFFFFFFFF
    return _pair(n + (first << 3), last, _factor(texts, rows))


def _short(texts: Texts, rows: Any) -> Words:
    factor = _factor(texts, rows)
    a, b = texts.word(rows, 0) + _K2, texts.word(rows, -8)
    return _pair(_right(b, 37) * factor + a, (_right(a, 25) + b) * factor, factor)


def _ends(texts: Texts, rows: Any, first: int) -> tuple[Words, Words, Words, Words]:
    """What a text of up to 64 bytes begins and ends with, as two numbers, and two of its parts."""
    factor = _factor(texts, rows)
    a, b = texts.word(rows, 0) * first, texts.word(rows, 8)
    c, d = texts.word(rows, -8) * factor, texts.word(rows, -16) * _K2
    y = _right(a + b, 43) + _right(c, 30) + d
    return y, _pair(y, a + _right(b + _K2, 18) + c, factor), a, factor


def _middle(texts: Texts, rows: Any) -> Words:
    return _ends(texts, rows, _K1)[1]


def _double(texts: Texts, rows: Any) -> Words:
    y, z, a, factor = _ends(texts, rows, _K2)
    e, f = texts.word(rows, 16) * factor, texts.word(rows, 24)
    g = (y + texts.word(rows, -32)) * factor
    h = (z + texts.word(rows, -24)) * factor
    first = _right(e + f, 43) + _right(g, 30) + h
    return _pair(first, e + _right(f + a, 18) + g, factor)


def _weak(texts: Texts, rows: Any, at: int, a: Words, b: Words) -> tuple[Words, Words]:
    """32 bytes and two seeds as two numbers."""
    w, x, y, z = (texts.word(rows, at + 8 * i) for i in range(4))
    a = a + w
    b = _right(b + a + z, 21)
    both = a + x + y
    return both + z, b + _right(both, 44) + a


def _long(texts: Texts, rows: Any, count: int) -> Words:
    """More than 64 bytes: all blocks but the last, then the last 64 bytes."""
    none = np.zeros(len(rows), np.uint64)
    y = none + (81 * _K1 + 113) % 2**64
    z = _mixed(y * _K2 + 113) * _K2
    x = texts.word(rows, 0) + 81 * _K2 % 2**64
    state: Any = (x, y, z, (none, none), (none, none))
    for i in range(count):
        state = _block(texts, rows, 64 * i, state, _K1, 1)
    x, y, z, v, w = state
    factor = ((z & 0xFF) << 1) + _K1
    w = (w[0] + (texts.size(rows) - 1 & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _block(texts, rows, -64, (x, y, z, v, w), factor, 9)
    first = _pair(v[0], w[0], factor) + _mixed(y) * _K0 + z
    return _pair(first, _pair(v[1], w[1], factor) + x, factor)


def _block(
    texts: Texts, rows: Any, at: int, state: Any, factor: Words, times: int
) -> Any:
    x, y, z, v, w = state
    x = _right(x + y + v[0] + texts.word(rows, at + 8), 37) * factor
    y = _right(y + v[1] + texts.word(rows, at + 48), 42) * factor
    x = x ^ w[1] * times
    y = y + v[0] * times + texts.word(rows, at + 40)
    z = _right(z + w[0], 33) * factor
    v = _weak(texts, rows, at, v[1] * factor, x + w[0])
    w = _weak(texts, rows, at + 32, z + w[1], y + texts.word(rows, at + 16))
    return z, y, x, v, w


# -- MurmurHash ----------------------------------------------------------------------

_MURMUR = 0xC6A4A7935BD1E995


def murmurs(texts: list[bytes], seed: int = 0xDECAFCAFFE) -> Words:
    """MurmurHash64A of Appleby (2008)."""
    known = Texts(texts)
    result = np.empty(len(known), np.uint64)
    for rows, count in known.by_words():
        h = known.size(rows) * _MURMUR ^ seed
        for i in range(count):
            k = _mixed(known.word(rows, 8 * i) * _MURMUR) * _MURMUR
            h = (h ^ k) * _MURMUR
        more = known.lengths[rows] > 8 * count
        h = np.where(more, (h ^ known.rest(rows, 8 * count)) * _MURMUR, h)
        result[rows] = _mixed(_mixed(h) * _MURMUR)
    return result
