"""Philox on jax: the functions of `intaglio.ops.random.philox` for streams that a program computes.

Integer arithmetic gives the same bits on every device. How bits become uniform numbers, normals
and integers is the code of `philox` itself, recorded; loops over data are loops of XLA here.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.ops.random import philox
from intaglio.xla.arrays import Array, unwrapped, wrapped
from intaglio.xla.state import Stream
from intaglio.xla.values import Untraceable, is_traced

Any_Stream = philox.Stream | Stream


def _word(value: Any) -> Any:
    return jnp.asarray(np.uint64(value) if isinstance(value, int) else value, jnp.uint64)


def _ciphered(stream: Any_Stream, offsets: Any) -> Any:
    """The blocks at these counters from the stream's own, as uint32 of shape (count, 4)."""
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    key = _word(stream.key)
    low = offsets + _word(stream.low)
    high = (low < offsets).astype(jnp.uint64) + _word(stream.high)
    x0, x1, x2, x3 = low & mask, low >> half, high & mask, high >> half
    k0, k1 = key & mask, key >> half
    for _ in range(10):
        p0, p1 = x0 * np.uint64(0xD2511F53), x2 * np.uint64(0xCD9E8D57)
        x0, x1 = (p1 >> half) ^ x1 ^ k0, p1 & mask
        x2, x3 = (p0 >> half) ^ x3 ^ k1, p0 & mask
        k0 = (k0 + np.uint64(philox.WEYL_0)) & mask
        k1 = (k1 + np.uint64(philox.WEYL_1)) & mask
    return jnp.stack([x0, x1, x2, x3], axis=1).astype(jnp.uint32)


def blocks(stream: Any_Stream, count: int, step: int = 1) -> Any:
    """`count` blocks, `step` counters apart."""
    offsets = jnp.arange(count, dtype=jnp.uint64) * np.uint64(step)
    return Array(_ciphered(stream, offsets))


def blocks_at(stream: Any_Stream, offsets: Any) -> Any:
    """The blocks at these counters from the stream's own."""
    return Array(_ciphered(stream, jnp.asarray(unwrapped(offsets))))


def bits64(stream: Any_Stream, count: int) -> Any:
    """`count` uint64, two from each block, the low half first."""
    words = blocks(stream, -(-count // 2)).value.astype(jnp.uint64)
    pairs = words[:, 0::2] | words[:, 1::2] << np.uint64(32)
    return Array(pairs.reshape(-1)[:count])


def seeded(seed: Any) -> Any_Stream:
    """The stream of a seed of two integers."""
    value = unwrapped(seed)
    if not is_traced(value):
        return philox.scrambled(int(value[0]), int(value[1]))
    first = Stream(0x02461E293EC8F720, value[0].astype(jnp.uint64), value[1].astype(jnp.uint64))
    mixed = bits64(first, 2).value
    return Stream(mixed[0], jnp.uint64(0), mixed[1])


def keyed(key: Any, counter: Any, alg: Any) -> Any_Stream:
    """The stream of a key and a counter."""
    chosen, words, start = unwrapped(alg), unwrapped(key), unwrapped(counter)
    if is_traced(chosen) or int(chosen) not in (1, 3):
        raise Untraceable("an algorithm of random numbers other than Philox")
    return Stream(words[0], start[0], start[1])


def permutation(stream: Any_Stream, count: int) -> Any:
    """A permutation of range(count), by a Fisher-Yates shuffle."""
    if count < 2:
        return wrapped(np.arange(count))
    left = np.arange(count, 1, -1, dtype=np.uint32)
    words = blocks(stream, -(-(count - 1) // 4)).value.reshape(-1)[: count - 1]
    offsets = (words % left).astype(jnp.int64)

    def swap(i: Any, order: Any) -> Any:
        j = i + offsets[i]
        a, b = order[i], order[j]
        return order.at[i].set(b).at[j].set(a)

    return Array(lax.fori_loop(0, count - 1, swap, jnp.arange(count)))


def truncated_normal(stream: Any_Stream, count: int, dtype: Any) -> Any:
    """`count` standard normals, each group drawn again until it is full of those in (-2, 2)."""
    double = dtype == np.float64
    group = 2 if double else 4
    groups = -(-count // group)
    step = philox.RESERVED * group // 4
    kind = jnp.float64 if double else jnp.float32
    rows = jnp.arange(groups, dtype=jnp.uint64) * np.uint64(step)

    def more(carry: Any) -> Any:
        return jnp.any(carry[1] < group)

    def draw(carry: Any) -> Any:
        result, filled, attempt = carry
        normals = _normals(_ciphered(stream, rows + attempt), double).reshape(groups, group)
        for column in range(group):
            value = normals[:, column]
            good = (jnp.abs(value) < philox.TRUNCATE_AT) & (filled < group)
            here = good[:, None] & (jnp.arange(group) == filled[:, None])
            result = jnp.where(here, value[:, None], result)
            filled = filled + good
        return result, filled, attempt + np.uint64(1)

    start = (jnp.zeros((groups, group), kind), jnp.zeros(groups, jnp.int64), jnp.uint64(0))
    result, _, _ = lax.while_loop(more, draw, start)
    return Array(result.reshape(-1)[:count].astype(dtype))


def _normals(words: Any, double: bool) -> Any:
    """`philox.box_muller` of blocks."""
    return unwrapped(box_muller(Array(words), double))


def box_muller(bits: Any, double: bool) -> Any:
    """Two normals for each two uniform draws, as `philox.box_muller`."""
    words = unwrapped(bits)
    if double:
        pairs = words.reshape(-1, 2).astype(jnp.uint64)
        mantissa = (pairs[:, 0] & np.uint64(0xFFFFF)) << np.uint64(32) | pairs[:, 1]
        one = lax.bitcast_convert_type(mantissa | np.uint64(0x3FF << 52), jnp.float64)
        unit, kind = one - 1.0, jnp.float64
    else:
        single = (words.reshape(-1) & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)
        unit = lax.bitcast_convert_type(single, jnp.float32) - np.float32(1)
        kind = jnp.float32
    u = unit.reshape(-1, 2)
    first = jnp.maximum(u[:, 0], kind(philox.MIN_UNIFORM)).astype(jnp.float64)
    radius = jnp.sqrt(kind(-2) * jnp.log(first).astype(kind))
    angle = (2 * np.pi * u[:, 1].astype(jnp.float64)).astype(kind).astype(jnp.float64)
    sides = [f(angle).astype(kind) * radius for f in (jnp.sin, jnp.cos)]
    return Array(jnp.stack(sides, axis=1))


def _unused(*args: Any, **kwargs: Any) -> None:
    """There is no machine code for a stream that the program computes."""


# What takes the place of philox' own functions while kernels are recorded.
COUNTERPARTS: dict[Any, Any] = {
    philox.blocks: blocks,
    philox.blocks_at: blocks_at,
    philox.bits64: bits64,
    philox.permutation: permutation,
    philox.truncated_normal: truncated_normal,
    philox.box_muller: box_muller,
    philox._compiled: _unused,
}

__all__ = ["COUNTERPARTS", "jax", "keyed", "seeded"]
