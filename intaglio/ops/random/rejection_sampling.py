"""Gamma, Poisson and binomial numbers, by rejection sampling.

Every output has counters of its own, from which it takes block after block until a proposal is
accepted. The methods are those of Marsaglia and Tsang, "A simple method for generating gamma
variables" (2000), of Hormann, "The transformed rejection method for generating Poisson random
variables" (1993) and "The generation of binomial random variates" (1993), and Knuth's products and
sums for small means. The order in which they consume random numbers follows TensorFlow's results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.ops.math.gamma_functions import lgamma
from intaglio.ops.random import philox
from intaglio.ops.random.philox import RESERVED, Stream
from intaglio.ops.random.sampling_loops import gamma_rows, poisson_rows
from intaglio.ops.restricted import run_loops

DOUBLE = np.dtype(np.float64)
# Means below this are drawn by products or sums, others by transformed rejection.
SMALL_MEAN = 10.0
# Multiplications that NumPy makes for a number, in passes over memory.
WORK_PER_SAMPLE = 1500
# Blocks between a binomial number of a small mean and the next one's.
RESERVED_FOR_SUMS = 42


class Blocks:
    """For each output the next block of its own stretch of the stream."""

    def __init__(self, stream: Stream, streams: Any, reserved: Any = RESERVED) -> None:
        self._stream = stream
        self._next = streams.astype(np.uint64) * np.asarray(reserved, np.uint64)

    def take(self, rows: Any) -> Any:
        """The next block of each of these outputs, [rows, 4] uint32."""
        blocks = philox.blocks_at(self._stream, self._next[rows])
        self._next[rows] += np.uint64(1)
        return blocks


class Pairs:
    """Numbers that come two to a block; the second of a pair is taken first."""

    def __init__(self, blocks: Blocks, count: int, make: Callable[[Any], Any]) -> None:
        self._blocks, self._make = blocks, make
        self._values = np.empty((count, 2))
        self._left = np.zeros(count, np.int64)

    def take(self, rows: Any) -> Any:
        """The next number of each of these outputs."""
        empty = rows[self._left[rows] == 0]
        if len(empty):
            self._values[empty] = self._make(self._blocks.take(empty))
            self._left[empty] = 2
        self._left[rows] -= 1
        return self._values[rows, self._left[rows]]


def _uniforms(blocks: Blocks, count: int) -> Pairs:
    return Pairs(blocks, count, lambda b: philox.unit(b.reshape(-1), DOUBLE).reshape(-1, 2))


def _normals(blocks: Blocks, count: int) -> Pairs:
    return Pairs(blocks, count, lambda b: philox.box_muller(b.reshape(-1), True).reshape(-1, 2))


def gamma(stream: Stream, alpha: Any, streams: Any, double: bool = True) -> Any:
    """Gamma numbers of the shapes `alpha` (float64), each from its position in the stream.

    Those of machine code differ in the last bits of a float64: it is used where they are rounded.
    """
    count = len(alpha)
    if not double:
        loose = np.empty(count)
        arrays = (loose, alpha, streams)
        if run_loops(gamma_rows, WORK_PER_SAMPLE * count, *arrays, *stream, rows=count):
            return loose
    blocks = Blocks(stream, streams)
    uniforms, normals = _uniforms(blocks, count), _normals(blocks, count)
    result = np.full(count, np.nan)
    one = np.flatnonzero(alpha == 1)
    if len(one):
        result[one] = -np.log1p(-uniforms.take(one))
    low = alpha < 1
    d = np.where(low, alpha + 1, alpha) - 1 / 3
    c = 1 / 3 / np.sqrt(np.where(d > 0, d, 1.0))
    left = np.flatnonzero((alpha != 1) & (alpha > 0))
    while len(left):
        x = normals.take(left)
        v = 1 + c[left] * x
        fit = v > 0
        rows, x, v = left[fit], x[fit], v[fit] ** 3
        u = uniforms.take(rows)
        square = x * x
        with np.errstate(divide="ignore"):
            good = (u < 1 - 0.0331 * square * square) | (
                np.log(u) < 0.5 * square + d[rows] * (1 - v + np.log(v))
            )
        taken, value = rows[good], d[rows[good]] * v[good]
        short = low[taken]
        if short.any():
            power = uniforms.take(taken[short]) ** (1 / alpha[taken[short]])
            value[short] *= power
        result[taken] = value
        left = np.setdiff1d(left, taken, assume_unique=True)
    return result


def poisson(stream: Stream, rate: Any, streams: Any, most: float) -> Any:
    """Poisson numbers of the means `rate` (float64), as float64; 0 for a bad mean."""
    count = len(rate)
    drawn = np.empty(count)
    arrays = (drawn, rate, streams, most)
    if run_loops(poisson_rows, WORK_PER_SAMPLE * count, *arrays, *stream, rows=count):
        return drawn
    uniforms = _uniforms(Blocks(stream, streams), count)
    result = np.zeros(count)
    usable = (rate >= 0) & np.isfinite(rate)
    small = np.flatnonzero(usable & (rate < SMALL_MEAN))
    product, x = np.ones(count), np.zeros(count)
    floor = np.exp(-np.where(usable, rate, 0.0))
    while len(small):
        product[small] *= uniforms.take(small)
        done = product[small] <= floor[small]
        result[small[done]] = x[small[done]]
        small = small[~done]
        x[small] += 1
    left = np.flatnonzero(usable & (rate >= SMALL_MEAN))
    while len(left):
        mean = rate[left]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        inverse = 1.1239 + 1.1328 / (b - 3.4)
        u = uniforms.take(left) - 0.5
        v = uniforms.take(left)
        us = 0.5 - np.abs(u)
        with np.errstate(all="ignore"):
            k = np.floor((2 * a / us + b) * u + mean + 0.43)
            quick = (us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
            s = np.log(v * inverse / (a / (us * us) + b))
            clipped = np.maximum(k, 0.0)
            t = -mean + clipped * np.log(mean) - lgamma(clipped + 1)
            slow = (k >= 0) & ~((us < 0.013) & (v > us)) & (s <= t)
        good = (quick | slow) & (k <= most)
        result[left[good]] = k[good]
        left = left[~good]
    return result


def binomial(stream: Stream, counts: Any, probs: Any, streams: Any) -> Any:
    """How many of `counts` trials succeed, each with its probability, as float64."""
    size = len(counts)
    result = np.full(size, np.nan)
    usable = (counts >= 0) & (probs >= 0) & (probs <= 1) & np.isfinite(counts)
    p = np.where(probs <= 0.5, probs, 1 - probs)
    sure = usable & ((p == 0) | (counts == 0))
    result[sure] = 0.0
    few = counts * p < SMALL_MEAN
    reserved = np.where(few, RESERVED_FOR_SUMS, RESERVED)
    uniforms = _uniforms(Blocks(stream, streams, reserved), size)
    small = np.flatnonzero(usable & ~sure & few)
    total, found = np.zeros(size), np.zeros(size)
    while len(small):
        with np.errstate(divide="ignore"):
            steps = np.ceil(np.log(uniforms.take(small)) / np.log1p(-p[small]))
        total[small] += steps
        done = total[small] > counts[small]
        result[small[done]] = found[small[done]]
        small = small[~done]
        found[small] += 1
    _rejected(result, np.flatnonzero(usable & ~sure & ~few), counts, p, uniforms)
    return np.where(probs <= 0.5, result, counts - result)


def _rejected(result: Any, left: Any, counts: Any, probs: Any, uniforms: Pairs) -> None:
    """Binomial numbers with large means, by transformed rejection, into `result`."""
    while len(left):
        n, p = counts[left], probs[left]
        deviation = np.sqrt(n * p * (1 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        u = uniforms.take(left)
        v = uniforms.take(left)
        u = u - 0.5
        us = 0.5 - np.abs(u)
        with np.errstate(all="ignore"):
            k = np.floor((2 * a / us + b) * u + n * p + 0.5)
            quick = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
            r, m = p / (1 - p), np.floor((n + 1) * p)
            alpha = (2.83 + 5.1 / b) * deviation
            level = np.log(v * alpha / (a / (us * us) + b))
            bound = (
                (m + 0.5) * np.log((m + 1) / (r * (n - m + 1)))
                + (n + 1) * np.log((n - m + 1) / (n - k + 1))
                + (k + 0.5) * np.log(r * (n - k + 1) / (k + 1))
                + _tail(m)
                + _tail(n - m)
                - _tail(k)
                - _tail(n - k)
            )
            slow = (k >= 0) & (k <= n) & (level <= bound)
        good = quick | slow
        result[left[good]] = k[good]
        left = left[~good]


_TAILS = np.array(
    [
        math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
        for k in range(10)
    ]
)


def _tail(k: Any) -> Any:
    """What Stirling's formula for log(k!) leaves out."""
    inverse = 1 / (k + 1)
    square = inverse * inverse
    series = (1 / 12 - (1 / 360 - 1 / 1260 * square) * square) * inverse
    few = np.clip(k, 0, 9).astype(np.int64)
    return np.where(k <= 9, _TAILS[few], series)
