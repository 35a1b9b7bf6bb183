"""Hashes of many texts at once: FarmHash's Fingerprint64, SipHash-2-4 and MurmurHash64A.

A hash is written once, in sums, products and shifts of words of 64 bits that wrap. NumPy carries
it out for all texts that take the same steps together, as arrays of uint64 from one buffer in
which the texts are concatenated; a compiler emits it for one text in registers
(`native/kernels/strings.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

Words: TypeAlias = Any  # a uint64 for each text
State = tuple[Words, ...]


class Source(Protocol):
    """The source of a hash's words: one text, or several in parallel."""

    @property
    def size(self) -> Words:
        """The lengths."""
        ...

    def word(self, at: Any) -> Words:
        """The eight bytes from an offset on; a negative one counts back from the end."""
        ...

    def every(self, value: int) -> Words:
        """The same word for each."""
        ...

    def iterations(self, count: Any, step: Callable[[Any, State], State], state: State) -> State:
        """The state after so many steps, which are functions of their index."""
        ...

    def choice(self, test: Any, yes: Words, no: Words) -> Words:
        """One of two words each."""
        ...


Step = Callable[[Source], Words]


class Texts:
    """Texts of different lengths in one buffer: a source of arrays."""

    __slots__ = ("_starts", "_windows", "lengths", "size")

    def __init__(self, starts: Any, lengths: Any, windows: Any) -> None:
        self._starts = starts
        self._windows = windows
        self.lengths = lengths
        self.size = lengths.astype(np.uint64)

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        """All of the texts."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        buffer = np.frombuffer(b"".join([*texts, bytes(8)]), np.uint8)
        windows = np.lib.stride_tricks.sliding_window_view(buffer, 8)
        return cls(np.cumsum(lengths) - lengths, lengths, windows)

    def __len__(self) -> int:
        return len(self.lengths)

    def some(self, rows: Any) -> Texts:
        """Those with these numbers."""
        return Texts(self._starts[rows], self.lengths[rows], self._windows)

    def alike(self, counts: Any) -> Iterator[tuple[Any, Texts, int]]:
        """The texts in groups for which a number is the same: which they are, they, and the number."""
        for count in np.unique(counts).tolist():
            rows = np.flatnonzero(counts == count)
            yield rows, self.some(rows), count

    def word(self, at: Any) -> Words:
        """The eight bytes from an offset on, or from so many bytes before the end."""
        begins = self._starts + at
        if at < 0:
            begins += self.lengths
        return self._windows[begins].view("<u8")[:, 0].astype(np.uint64, copy=False)

    def every(self, value: int) -> Words:
        """The same word for each."""
        return np.full(len(self), value, np.uint64)

    def iterations(self, count: Any, step: Callable[[Any, State], State], state: State) -> State:
        """The state after so many steps."""
        for i in range(count):
            state = step(i, state)
        return state

    def choice(self, test: Any, yes: Words, no: Words) -> Words:
        """One of two words each."""
        return np.where(test, yes, no)


def _rest(texts: Source, at: Any) -> Words:
    """The fewer than eight bytes from an offset to the end, padded with zeros."""
    bits = (texts.size & 7) << 3
    return texts.word(at) & ((texts.every(1) << bits) - 1)


# -- SipHash -------------------------------------------------------------------------


def _left(x: Words, by: int) -> Words:
    return x << by | x >> 64 - by


def _sip_round(state: State) -> State:
    v0, v1, v2, v3 = state
    v0, v2 = v0 + v1, v2 + v3
    v1, v3 = _left(v1, 13) ^ v0, _left(v3, 16) ^ v2
    v0, v2 = _left(v0, 32) + v3, v2 + v1
    return v0, _left(v1, 17) ^ v2, _left(v2, 32), _left(v3, 21) ^ v0


def _sip_word(state: State, word: Words) -> State:
    v0, v1, v2, v3 = state
    v0, v1, v2, v3 = _sip_round(_sip_round((v0, v1, v2, v3 ^ word)))
    return v0 ^ word, v1, v2, v3


def siphash(texts: Source, count: Any, k0: Words, k1: Words) -> Words:
    """The hash of texts of `count` whole words, with a key of two."""
    state = (
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    )
    state = texts.iterations(count, lambda i, s: _sip_word(s, texts.word(i * 8)), state)
    last = _rest(texts, count * 8) | texts.size << 56
    v0, v1, v2, v3 = _sip_word(state, last)
    state = (v0, v1, v2 ^ 0xFF, v3)
    for _ in range(4):
        state = _sip_round(state)
    v0, v1, v2, v3 = state
    return v0 ^ v1 ^ v2 ^ v3


def siphashes(texts: Sequence[bytes], key: Sequence[int]) -> Words:
    """SipHash-2-4 of Aumasson and Bernstein (2012)."""
    known = Texts.of(texts)
    result = np.empty(len(known), np.uint64)
    for rows, some, count in known.alike(known.lengths // 8):
        k0, k1 = (some.every(k % 2**64) for k in key)
        result[rows] = siphash(some, count, k0, k1)
    return result


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


def _factor(texts: Source) -> Words:
    return texts.size * 2 + _K2


def _none(texts: Source) -> Words:
    return texts.every(_K2)


def _few(texts: Source) -> Words:
    n = texts.size
    word = texts.word(0)
    y = (word & 0xFF) + (((word >> (n >> 1) * 8) & 0xFF) << 8)
    z = n + (((word >> (n - 1) * 8) & 0xFF) << 2)
    return _mixed(y * _K2 ^ z * _K0) * _K2


def _half(texts: Source) -> Words:
    first, last = texts.word(0) & 0xFFFFFFFF, texts.word(-4) & 0xFFFFFFFF
    return _pair(texts.size + (first << 3), last, _factor(texts))


def _short(texts: Source) -> Words:
    factor = _factor(texts)
    a, b = texts.word(0) + _K2, texts.word(-8)
    return _pair(_right(b, 37) * factor + a, (_right(a, 25) + b) * factor, factor)


def _ends(texts: Source, first: int) -> tuple[Words, Words, Words, Words]:
    """The start and end of a text of up to 64 bytes, as two numbers, and two of its parts."""
    factor = _factor(texts)
    a, b = texts.word(0) * first, texts.word(8)
    c, d = texts.word(-8) * factor, texts.word(-16) * _K2
    y = _right(a + b, 43) + _right(c, 30) + d
    return y, _pair(y, a + _right(b + _K2, 18) + c, factor), a, factor


def _middle(texts: Source) -> Words:
    return _ends(texts, _K1)[1]


def _double(texts: Source) -> Words:
    y, z, a, factor = _ends(texts, _K2)
    e, f = texts.word(16) * factor, texts.word(24)
    g = (y + texts.word(-32)) * factor
    h = (z + texts.word(-24)) * factor
    first = _right(e + f, 43) + _right(g, 30) + h
    return _pair(first, e + _right(f + a, 18) + g, factor)


# The longest texts of each variant of the hash for up to 64 bytes.
SHORT_TEXTS: tuple[tuple[int, Step], ...] = (
    (0, _none),
    (3, _few),
    (7, _half),
    (16, _short),
    (32, _middle),
    (64, _double),
)


def _weak(texts: Source, at: Any, a: Words, b: Words) -> tuple[Words, Words]:
    """32 bytes and two seeds as two numbers."""
    w, x, y, z = (texts.word(at + 8 * i) for i in range(4))
    a = a + w
    b = _right(b + a + z, 21)
    both = a + x + y
    return both + z, b + _right(both, 44) + a


def fingerprint_of_long(texts: Source, count: Any) -> Words:
    """That of more than 64 bytes: `count` blocks, which leave some bytes, then the last 64 bytes."""
    none = texts.every(0)
    y = texts.every((81 * _K1 + 113) % 2**64)
    z = _mixed(y * _K2 + 113) * _K2
    x = texts.word(0) + 81 * _K2 % 2**64
    x, y, z, v0, v1, w0, w1 = texts.iterations(
        count,
        lambda i, state: _block(texts, i * 64, state, _K1, 1),
        (x, y, z, none, none, none, none),
    )
    factor = ((z & 0xFF) << 1) + _K1
    w0 = w0 + (texts.size - 1 & 63)
    v0 = v0 + w0
    w0 = w0 + v0
    state = _block(texts, -64, (x, y, z, v0, v1, w0, w1), factor, 9)
    x, y, z, v0, v1, w0, w1 = state
    first = _pair(v0, w0, factor) + _mixed(y) * _K0 + z
    return _pair(first, _pair(v1, w1, factor) + x, factor)


def _block(texts: Source, at: Any, state: State, factor: Words, times: int) -> State:
    x, y, z, v0, v1, w0, w1 = state
    x = _right(x + y + v0 + texts.word(at + 8), 37) * factor
    y = _right(y + v1 + texts.word(at + 48), 42) * factor
    x = x ^ w1 * times
    y = y + v0 * times + texts.word(at + 40)
    z = _right(z + w0, 33) * factor
    v0, v1 = _weak(texts, at, v1 * factor, x + w0)
    w0, w1 = _weak(texts, at + 32, z + w1, y + texts.word(at + 16))
    return z, y, x, v0, v1, w0, w1


def fingerprints(texts: Sequence[bytes]) -> Words:
    """FarmHash's Fingerprint64 (Pike and Alakuijala, Google, 2014)."""
    known = Texts.of(texts)
    result = np.empty(len(known), np.uint64)
    above = -1
    for most, step in SHORT_TEXTS:
        rows = np.flatnonzero((known.lengths > above) & (known.lengths <= most))
        if len(rows):
            result[rows] = step(known.some(rows))
        above = most
    long = np.flatnonzero(known.lengths > above)
    if len(long):
        blocks = (known.lengths[long] - 1) // 64
        for rows, some, count in known.some(long).alike(blocks):
            result[long[rows]] = fingerprint_of_long(some, count)
    return result


# -- MurmurHash ----------------------------------------------------------------------

_MURMUR = 0xC6A4A7935BD1E995
SEED = 0xDECAFCAFFE


def murmurhash(texts: Source, count: Any, seed: int = SEED) -> Words:
    """The hash of texts of `count` whole words."""

    def taken(i: Any, state: State) -> State:
        k = _mixed(texts.word(i * 8) * _MURMUR) * _MURMUR
        return ((state[0] ^ k) * _MURMUR,)

    (h,) = texts.iterations(count, taken, (texts.size * _MURMUR ^ seed,))
    with_rest = (h ^ _rest(texts, count * 8)) * _MURMUR
    h = texts.choice((texts.size & 7) > 0, with_rest, h)
    return _mixed(_mixed(h) * _MURMUR)


def murmurs(texts: Sequence[bytes], seed: int = SEED) -> Words:
    """MurmurHash64A of Appleby (2008)."""
    known = Texts.of(texts)
    result = np.empty(len(known), np.uint64)
    for rows, some, count in known.alike(known.lengths // 8):
        result[rows] = murmurhash(some, count, seed)
    return result
