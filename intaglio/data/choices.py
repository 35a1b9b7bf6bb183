"""Weighted random indices, generated in blocks, for `sample_from_datasets`.

TensorFlow draws each index by a stateless op whose two seeds are the next numbers of a random dataset.
Here a block of them is computed at a time, with the same results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, float64
from intaglio.data.seeds import Samples
from intaglio.data.sources import Source
from intaglio.data.stage import INFINITE, OUTPUTS, Advance, Element, Root, Stage
from intaglio.opdef.op import op
from intaglio.ops.random import philox

_NUMBERS_PER_BLOCK = 512  # draws computed at a time
_KEY = 0x02461E293EC8F720  # that of the cipher that mixes the seeds of stateless ops
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@op
class RandomChoicesDataset(Source):
    """Numbers drawn with these log-probabilities, without end; an op of our own."""

    signature = f"logits: T, seed_generator: resource; {OUTPUTS} -> handle: variant"
    T = (float32, float64)

    def kernel(self, logits, seed_generator):
        weights = np.exp(logits.astype(np.float64) - logits.max())
        sums = np.cumsum(weights, axis=-1).reshape(-1)

        def open(root: Root) -> Advance:
            choices = _RandomIndices(Samples(*seed_generator.seeds()), sums)
            root.keep(choices.save, choices.restore)
            return choices.advance

        return Stage("RandomChoices", INFINITE, open)


class _RandomIndices:
    """The numbers of one iteration."""

    __slots__ = ("_at", "_indices", "_samples", "_start", "_sums")

    def __init__(self, samples: Samples, sums: np.ndarray) -> None:
        self._samples = samples
        self._sums = sums
        self._start: Any = samples.save()
        self._indices: list[Any] = []
        self._at = 0

    def advance(self) -> Element:
        """The next number."""
        if self._at == len(self._indices):
            self._refill()
        number = self._indices[self._at]
        self._at += 1
        return (number,)

    def _refill(self) -> None:
        self._start = self._samples.save()
        count = _NUMBERS_PER_BLOCK if self._indices else 8
        numbers = [self._samples.next() for _ in range(2 * count)]
        seeds = np.array(numbers, np.uint64).reshape(count, 2)
        wanted = _uniform(seeds) * self._sums[-1]
        self._indices = list(np.searchsorted(self._sums, wanted, side="right"))
        self._at = 0

    def save(self) -> Any:
        """The start of the block, its length, and the number of its indices already returned."""
        return [self._start, len(self._indices), self._at]

    def restore(self, position: Any) -> None:
        """Computes the block again, and continues in it."""
        start, length, at = position
        self._samples.restore(tuple(start))
        self._indices, self._at = [], 0
        if length > 8:
            self._indices = [0]  # so that a long block is drawn
        if length:
            self._refill()
        self._at = at


def _uniform(seeds: np.ndarray) -> np.ndarray:
    """For each pair of seeds the first float64 in [0, 1) of a stateless op with it."""
    key = [np.uint64(_KEY & 0xFFFFFFFF), np.uint64(_KEY >> 32)]
    zero = np.zeros(len(seeds), np.uint64)
    first, second = seeds[:, 0], seeds[:, 1]
    mixed = _cipher([first, zero, second, zero], key)
    words = _cipher([zero, zero, mixed[2], mixed[3]], mixed[:2])
    mantissa = (words[0] & np.uint64(0xFFFFF)) << _HALF | words[1]
    return (mantissa | np.uint64(0x3FF << 52)).view(np.float64) - 1.0


def _cipher(words: list[Any], key: list[Any]) -> list[Any]:
    """Ten rounds of Philox on words of 32 bits in uint64, each column with its own key."""
    x0, x1, x2, x3 = words
    k0, k1 = key
    m0, m1 = [np.uint64(m) for m in philox.MULTIPLIERS.ravel().tolist()]
    w0, w1 = np.uint64(philox.WEYL_0), np.uint64(philox.WEYL_1)
    for _ in range(10):
        p0, p1 = x0 * m0, x2 * m1
        x0, x1, x2, x3 = (p1 >> _HALF ^ x1 ^ k0, p1 & _LOW, p0 >> _HALF ^ x3 ^ k1, p0 & _LOW)
        k0, k1 = (k0 + w0) & _LOW, (k1 + w1) & _LOW
    return [x0, x1, x2, x3]
