"""The position of an index in a permutation that is never materialised.

The permutation is the Simon cipher (Beaulieu et al., "The Simon and Speck families of lightweight
block ciphers", 2013) of three key words and few rounds, on blocks of as many bits as the indices
have and at least 16; results out of range are ciphered again (cycle walking). Its constants were
found from TensorFlow's answers.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from intaglio.base.dtypes import int32, int64, uint32, uint64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

WORDS = 3
MIN_BITS = 16
# One bit for each round key, from the lowest.
SEQUENCE = 0xF5
# Where a block has at most so many times the range's numbers, all of them are ciphered once, rather
# than some of them repeatedly.
MAX_FULL_BLOCK = 4096
KEYS_AT_A_TIME = 16


def _rotate_left(x: Any, by: int, half: Any, mask: Any) -> Any:
    """Words of `half` bits, rotated to the left."""
    return ((x << np.uint64(by)) | (x >> (half - np.uint64(by)))) & mask


def _round_keys(key: Any, rounds: int, half: Any, mask: Any) -> list[Any]:
    """The key of each round, from the three words in the last axis of `key`."""
    keys = [key[..., i] & mask for i in range(WORDS)]
    three, one = half - np.uint64(3), half - np.uint64(1)
    for i in range(WORDS, rounds):
        last = keys[-1]
        mixed = ((last << three) | (last >> np.uint64(3))) & mask
        mixed = mixed ^ (((mixed << one) | (mixed >> np.uint64(1))) & mask)
        bit = np.uint64((SEQUENCE >> (i - WORDS)) & 1 ^ 3)
        keys.append((~keys[i - WORDS] & mask) ^ mixed ^ bit)
    return keys


def _enciphered(x: Any, keys: list[Any], half: Any, mask: Any) -> Any:
    left, right = x & mask, (x >> half) & mask
    for key in keys:
        bits = _rotate_left(left, 1, half, mask) & _rotate_left(left, 8, half, mask)
        left, right = right ^ bits ^ _rotate_left(left, 2, half, mask) ^ key, left
    return left | (right << half)


def _half_bits(largest: Any) -> Any:
    """Half of the bits of a block for numbers up to `largest`."""
    # The logarithm is taken in doubles, as TensorFlow takes it.
    bits = np.ceil(np.log2(np.maximum(largest, 1).astype(np.float64))).astype(int)
    return (np.maximum(bits + bits % 2, MIN_BITS) // 2).astype(np.uint64)


def _walked(index: Any, key: Any, largest: Any, rounds: int) -> Any:
    """The cipher, again and again for those beyond the range."""
    half = _half_bits(largest)
    mask = (np.uint64(1) << half) - np.uint64(1)
    keys = _round_keys(key, rounds, half, mask)
    found = _enciphered(index, keys, half, mask)
    while True:
        out = np.flatnonzero(found > largest)
        if not len(out):
            return found
        rest = [k[out] for k in keys]
        found[out] = _enciphered(found[out], rest, half[out], mask[out])


def _tables(key: Any, largest: Any, rounds: int) -> Any:
    """For each key and range the whole permutation, [keys, numbers of a block]."""
    half = np.uint64(MIN_BITS // 2)
    mask = (np.uint64(1) << half) - np.uint64(1)
    keys = [k[:, None] for k in _round_keys(key, rounds, half, mask)]
    every = np.arange(1 << MIN_BITS, dtype=np.uint64)
    to = _enciphered(every, keys, half, mask).astype(np.int64)
    bound = largest[:, None].astype(np.int64)
    wanted = slice(0, int(bound.max()) + 1)
    inside = every[wanted].astype(np.int64) <= bound
    # An element beyond the range is mapped again: twice as far each time.
    # (Numbers beyond the range may go round among themselves for ever.)
    while np.any((to[:, wanted] > bound) & inside):
        to = np.where(to > bound, np.take_along_axis(to, to, axis=1), to)
    return to[:, wanted]


@functools.lru_cache(maxsize=16)
def _table(key: tuple[int, ...], largest: int, rounds: int) -> Any:
    words = np.array([key], np.uint64)
    return _tables(words, np.array([largest]), rounds)[0]


def shuffled(index: Any, key: Any, largest: Any, rounds: int) -> Any:
    """The position of each index; all are vectors of uint64, keys [index, word]."""
    found = np.empty_like(index)
    few = largest < MAX_FULL_BLOCK
    if not few.all():
        rest = ~few
        found[rest] = _walked(index[rest], key[rest], largest[rest], rounds)
    if few.any():
        cases = np.concatenate([key[few], largest[few, None]], axis=1)
        kinds, which = np.unique(cases, axis=0, return_inverse=True)
        which, own = which.reshape(-1), index[few].astype(np.int64)
        if len(kinds) == 1:
            words = tuple(kinds[0, :WORDS].tolist())
            found[few] = _table(words, int(kinds[0, WORDS]), rounds)[own]
            return found
        result = np.empty(len(own), np.uint64)
        for start in range(0, len(kinds), KEYS_AT_A_TIME):
            part = kinds[start : start + KEYS_AT_A_TIME]
            tables = _tables(part[:, :WORDS], part[:, WORDS], rounds)
            here = (which >= start) & (which < start + len(part))
            result[here] = tables[which[here] - start, own[here]]
        found[few] = result
    return found


@op
class RandomIndexShuffle(Op):
    """The position of `index` in the permutation of 0 to `max_index` determined by `seed`."""

    signature = "index: dtype, seed: Tseed, max_index: dtype; rounds: int = 4 -> output: dtype"
    differentiable = False
    dtype = (int32, uint32, int64, uint64)
    Tseed = (int32, uint32, int64, uint64)
    without_default = ("Tseed",)

    def infer(self, index: Spec, seed: Spec, max_index: Spec) -> Spec:
        if seed.shape is not None and (seed.rank not in (1, 2) or seed.shape[-1] not in (3, None)):
            raise ShapeError(
                f"Seed must be a vector of size 3 or a matrix of size [n, 3], got {seed.shape}"
            )
        ranks = (index.rank, seed.rank, max_index.rank)
        if None in ranks:
            return Spec(index.dtype, None)
        sizes = [s.shape[0] for s in (index, max_index) if s.shape]
        if seed.rank == 2 and seed.shape:
            sizes.append(seed.shape[0])
        if not sizes:
            return Spec(index.dtype, ())
        return Spec(index.dtype, (next((n for n in sizes if n is not None), None),))

    def kernel(self, index, seed, max_index, rounds):
        _check(index, seed, max_index, rounds)
        sizes = [len(x) for x in (index, max_index) if x.ndim]
        sizes += [len(seed)] if seed.ndim == 2 else []
        shape = (max(sizes),) if sizes else ()
        count = (max(sizes),) if sizes else (1,)

        def broadcast(x: Any) -> Any:
            return np.broadcast_to(x.astype(np.uint64), count)

        words = (seed.astype(np.uint64) & np.uint64(0xFFFFFFFF)).reshape(-1, WORDS)
        result = shuffled(
            broadcast(index), np.broadcast_to(words, (*count, WORDS)), broadcast(max_index), rounds
        )
        return result.astype(index.dtype).reshape(shape)


def _check(index: Any, seed: Any, largest: Any, rounds: int) -> None:
    if seed.ndim not in (1, 2) or seed.shape[-1] != WORDS:
        raise invalid_argument(
            f"Seed must be a vector of size [3] or a matrix of size [n, 3] but got "
            f"{list(seed.shape)}"
        )
    sizes = {len(x) for x in (index, largest) if x.ndim == 1}
    sizes |= {len(seed)} if seed.ndim == 2 else set()
    if index.ndim > 1 or largest.ndim > 1 or len(sizes) > 1 or 0 in sizes:
        raise invalid_argument(
            "index and max_index must be scalars or vectors of one size that is not 0, "
            f"but got {list(index.shape)} and {list(largest.shape)} for a seed of "
            f"{list(seed.shape)}"
        )
    if rounds < WORDS + 1 or rounds % 2:
        raise invalid_argument(f"rounds must be even and at least 4, not {rounds}")
    if np.any(index < 0):
        raise invalid_argument(f"index must be >= 0 but was {index.min()}")
    if np.any(largest < 0):
        raise invalid_argument(f"max_index must be >= 0 but was {largest.min()}")
    if np.any(index > largest):
        raise invalid_argument(
            f"max_index must be >= index, but {np.min(largest)} < {np.max(index)}"
        )
