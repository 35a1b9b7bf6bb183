"""Hashes of strings: numbers of buckets that stay the same everywhere."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, int64, uint8
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec

_MASK = (1 << 64) - 1


def _buckets(
    function: Callable[[bytes], int], texts: Any, num_buckets: int
) -> np.ndarray:
    if num_buckets < 1:
        raise invalid_argument(
            f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1"
        )
    numbers = [function(v) % num_buckets for v in np.asarray(texts).reshape(-1)]
    return np.array(numbers, np.int64).reshape(np.shape(texts))


# -- SipHash -------------------------------------------------------------------------


def _left(x: int, by: int) -> int:
    return (x << by | x >> 64 - by) & _MASK


def _sip_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = (v0 + v1) & _MASK
    v2 = (v2 + v3) & _MASK
    v1, v3 = _left(v1, 13) ^ v0, _left(v3, 16) ^ v2
    v0 = (_left(v0, 32) + v3) & _MASK
    v2 = (v2 + v1) & _MASK
    v3, v1 = _left(v3, 21) ^ v0, _left(v1, 17) ^ v2
    return v0, v1, _left(v2, 32), v3


def siphash(key: tuple[int, int], text: bytes) -> int:
    """SipHash-2-4 of Aumasson and Bernstein (2012)."""
    k0, k1 = key[0] & _MASK, key[1] & _MASK
    state = (
        k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573,
    )  # fmt: skip
    whole = len(text) // 8 * 8
    words = list(struct.unpack(f"<{whole // 8}Q", text[:whole]))
    words.append(int.from_bytes(text[whole:], "little") | (len(text) & 0xFF) << 56)
    for word in words:
        v0, v1, v2, v3 = state
        v0, v1, v2, v3 = _sip_round(*_sip_round(v0, v1, v2, v3 ^ word))
        state = (v0 ^ word, v1, v2, v3)
    v0, v1, v2, v3 = state
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


@op
class StringToHashBucketStrong(Op):
    """A keyed hash modulo the number of buckets: inputs cannot be made to collide."""

    signature = "input: string; num_buckets: int, key: list(int) -> output: int64"
    differentiable = False

    def infer(self, input: Spec, key: Any) -> Spec:
        if len(key) != 2:
            raise ShapeError("Key must have 2 elements")
        return Spec(int64, input.shape)

    def kernel(self, input, num_buckets, key):
        if len(key) != 2:
            raise invalid_argument("Key must have 2 elements")
        return _buckets(lambda text: siphash(key, text), input, num_buckets)


# -- FarmHash ------------------------------------------------------------------------

_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


def _right(x: int, by: int) -> int:
    x &= _MASK
    return (x >> by | x << 64 - by) & _MASK


def _mixed(x: int) -> int:
    x &= _MASK
    return x ^ x >> 47


def _pair(u: int, v: int, factor: int) -> int:
    """Two numbers as one."""
    a = _mixed((u ^ v) * factor)
    return _mixed((v ^ a) * factor) * factor & _MASK


def _word(text: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(text[at : at + size], "little")


def fingerprint(text: bytes) -> int:
    """FarmHash's Fingerprint64 (Pike and Alakuijala, Google, 2014)."""
    n = len(text)
    if n > 64:
        return _long(text)
    factor = (_K2 + 2 * n) & _MASK
    if n > 16:
        return _middle(text, factor)
    if n >= 8:
        a, b = _word(text, 0) + _K2, _word(text, n - 8)
        c = _right(b, 37) * factor + a
        d = (_right(a, 25) + b) * factor
        return _pair(c & _MASK, d & _MASK, factor)
    if n >= 4:
        return _pair(n + (_word(text, 0, 4) << 3), _word(text, n - 4, 4), factor)
    if n:
        y = text[0] + (text[n >> 1] << 8)
        z = n + (text[n - 1] << 2)
        return _mixed(y * _K2 ^ z * _K0) * _K2 & _MASK
    return _K2


def _middle(text: bytes, factor: int) -> int:
    """17 to 64 bytes."""
    n = len(text)
    first = _K1 if n <= 32 else _K2
    a, b = _word(text, 0) * first & _MASK, _word(text, 8)
    c, d = _word(text, n - 8) * factor, _word(text, n - 16) * _K2
    y = (_right(a + b, 43) + _right(c, 30) + d) & _MASK
    z = _pair(y, (a + _right(b + _K2, 18) + c) & _MASK, factor)
    if n <= 32:
        return z
    e, f = _word(text, 16) * factor, _word(text, 24)
    g = (y + _word(text, n - 32)) * factor
    h = (z + _word(text, n - 24)) * factor
    return _pair(
        (_right(e + f, 43) + _right(g, 30) + h) & _MASK,
        (e + _right(f + a, 18) + g) & _MASK,
        factor,
    )


def _weak(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes and two seeds as two numbers."""
    w, x, y, z = struct.unpack_from("<4Q", text, at)
    a += w
    b = _right(b + a + z, 21)
    c = a
    a += x + y
    b += _right(a, 44)
    return (a + z) & _MASK, (b + c) & _MASK


def _long(text: bytes) -> int:
    """More than 64 bytes: all blocks but the last, then the last 64 bytes."""
    n = len(text)
    y = 81 * _K1 + 113
    z = _mixed(y * _K2 + 113) * _K2
    x = 81 * _K2 + _word(text, 0)
    state = (x, y, z, (0, 0), (0, 0))
    for at in range(0, (n - 1) // 64 * 64, 64):
        state = _block(text, at, state, _K1, 1)
    x, y, z, v, w = state
    factor = _K1 + ((z & 0xFF) << 1)
    w = (w[0] + ((n - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _block(text, n - 64, (x, y, z, v, w), factor, 9)
    first = _pair(v[0], w[0], factor) + _mixed(y) * _K0 + z
    second = _pair(v[1], w[1], factor) + x
    return _pair(first & _MASK, second & _MASK, factor)


def _block(text: bytes, at: int, state: Any, factor: int, times: int) -> Any:
    x, y, z, v, w = state
    x = _right(x + y + v[0] + _word(text, at + 8), 37) * factor
    y = _right(y + v[1] + _word(text, at + 48), 42) * factor
    x ^= w[1] * times
    y += v[0] * times + _word(text, at + 40)
    z = _right(z + w[0], 33) * factor
    v = _weak(text, at, v[1] * factor, x + w[0])
    w = _weak(text, at + 32, z + w[1], y + _word(text, at + 16))
    return z & _MASK, y & _MASK, x & _MASK, v, w


@op
class StringToHashBucketFast(Op):
    """A quick hash modulo the number of buckets, the same on every machine."""

    signature = "input: string; num_buckets: int -> output: int64"
    differentiable = False

    def infer(self, input: Spec) -> Spec:
        return Spec(int64, input.shape)

    def kernel(self, input, num_buckets):
        return _buckets(fingerprint, input, num_buckets)


@op
class Fingerprint(Op):
    """Eight bytes for each row: the FarmHash fingerprint of its bytes.

    A row of one string has the string's own; one of several the fingerprint of theirs.
    """

    signature = "data: T, method: string -> fingerprint: uint8"
    T = ALL
    differentiable = False

    def infer(self, data: Spec, method: Spec) -> Spec:
        if data.rank == 0:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        if method.rank not in (0, None):
            raise ShapeError(f"Shape must be rank 0 but is rank {method.rank}")
        count = None if data.shape is None else data.shape[0]
        return Spec(uint8, (count, 8))

    def kernel(self, data, method):
        if np.ndim(data) == 0:
            raise invalid_argument("`data` should have at least one dimension: []")
        if np.ndim(method) != 0:
            raise invalid_argument(
                f"`method` should be a scalar string: {list(np.shape(method))}"
            )
        name = np.asarray(method).item()
        if name != b"farmhash64":
            raise invalid_argument(
                f"Unsupported fingerprint method: {name.decode(errors='replace')}; "
                "the method there is is 'farmhash64'"
            )
        numbers = [fingerprint(_bytes_of(row)) for row in data]
        return np.array(numbers, "<u8").view(np.uint8).reshape(-1, 8)


def _bytes_of(row: Any) -> bytes:
    """What a row is hashed by."""
    if isinstance(row, bytes):
        return row
    if row.dtype.kind != "O":
        return row.tobytes()
    if row.size == 1:
        return row.item()
    own = np.array([fingerprint(v) for v in row.reshape(-1)], "<u8")
    return own.tobytes()


# -- MurmurHash ----------------------------------------------------------------------


def murmur(text: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A of Appleby (2008)."""
    factor = 0xC6A4A7935BD1E995
    n = len(text)
    h = (seed ^ n * factor) & _MASK
    whole = n // 8 * 8
    for k in struct.unpack(f"<{n // 8}Q", text[:whole]):
        k = _mixed(k * factor) * factor & _MASK
        h = (h ^ k) * factor & _MASK
    if n > whole:
        h = (h ^ int.from_bytes(text[whole:], "little")) * factor & _MASK
    h = _mixed(h) * factor & _MASK
    return _mixed(h)


@op
class StringToHashBucket(Op):
    """A hash modulo the number of buckets."""

    signature = "string_tensor: string; num_buckets: int -> output: int64"
    differentiable = False

    def infer(self, string_tensor: Spec) -> Spec:
        return Spec(int64, string_tensor.shape)

    def kernel(self, string_tensor, num_buckets):
        return _buckets(murmur, string_tensor, num_buckets)
