"""Seeds of shuffled and random datasets: TensorFlow's own sequence of numbers.

Follows https://www.tensorflow.org/api_docs/python/tf/random/set_seed.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import RESOURCE_MARKER, resource, variant
from intaglio.base.locks import lasting_lock
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random import philox
from intaglio.runtime.random_state import fresh_bits, op_seeds

_BLOCKS_PER_BATCH = 256  # blocks drawn at a time


class Samples:
    """An iterator over the uint32 numbers of one Philox stream."""

    __slots__ = ("_blocks", "_numbers", "_seeds", "_stream")

    def __init__(self, seed: int, seed2: int) -> None:
        self._begin(seed, seed2)

    def _begin(self, seed: int, seed2: int) -> None:
        self._seeds = seed, seed2
        self._stream = philox.from_seed(seed, seed2)
        self._numbers: list[int] = []  # the next one last
        self._blocks = 0  # so many have been drawn

    def next(self) -> int:
        """The next number."""
        try:
            return self._numbers.pop()
        except IndexError:
            count = _BLOCKS_PER_BATCH if self._blocks else 4
            numbers = philox.blocks(self._stream, count).ravel()[::-1].tolist()
            self._numbers = numbers
            self._stream = self._stream.skipped(count)
            self._blocks += count
            return numbers.pop()

    def save(self) -> tuple[int, int, int]:
        """The seeds, and the number of numbers already returned."""
        return *self._seeds, 4 * self._blocks - len(self._numbers)

    def restore(self, position: tuple[int, int, int]) -> None:
        """Goes on behind so many numbers of the stream with these seeds."""
        seed, seed2, taken = position
        self._begin(seed, seed2)
        blocks, rest = divmod(taken, 4)
        self._stream = self._stream.skipped(blocks)
        self._blocks = blocks
        for _ in range(rest):
            self.next()


class SeedGenerator:
    """Gives every iteration its two seeds: new ones, or always the same."""

    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    spec = None

    def __init__(self, seed: int, seed2: int, reshuffle: bool) -> None:
        self._fixed = None if reshuffle else (seed, seed2)
        self._samples = Samples(seed, seed2)
        self._lock = lasting_lock()

    def seeds(self) -> tuple[int, int]:
        """The seeds of the next iteration."""
        if self._fixed:
            return self._fixed
        with self._lock:
            return self._samples.next(), self._samples.next()

    def save(self) -> tuple[int, int, int]:
        """How far the seeds have been given out."""
        with self._lock:
            return self._samples.save()

    def restore(self, position: tuple[int, int, int]) -> None:
        """Gives out the seeds behind a position."""
        with self._lock:
            self._samples.restore(position)
            if self._fixed:
                self._fixed = position[:2]

    @property
    def reshuffle(self) -> bool:
        """Whether every iteration gets seeds of its own."""
        return self._fixed is None


@op
class AnonymousSeedGenerator(Op):
    """A seed generator that only its handle refers to."""

    signature = "seed: int64, seed2: int64, reshuffle: bool; -> handle: resource, deleter: variant"
    stateful = True
    on_host = True
    droppable = True
    differentiable = False

    def infer(self) -> Any:
        return Spec(resource, ()), Spec(variant, ())

    def kernel(self, seed, seed2, reshuffle):
        if not int(seed) and not int(seed2):
            seed, seed2 = fresh_bits(63), fresh_bits(63)
        generator = SeedGenerator(int(seed), int(seed2), bool(reshuffle))
        return generator, generator


def dataset_seeds(seed: int | None) -> tuple[int, int]:
    """The two seeds of a dataset with the user's `seed`; (0, 0) without any seed."""
    first, second = op_seeds(seed)
    if (seed is not None or first or second) and not (first or second):
        return 0, 2**63 - 1
    return first, second
