"""Candidate samplers: a sample of the classes, and the expected count of each.

The classes are TensorFlow's own for the same seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import files
from intaglio.base.dtypes import float32, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random import philox
from intaglio.ops.random.philox import Stream

# Numbers of 32 bits set aside for each class to be drawn.
RESERVED_COUNTERS = 2048
DOUBLE = np.dtype(np.float64)
SINGLE = np.dtype(np.float32)
LOWEST_FLOAT32 = np.finfo(np.float32).min

RANGE = (
    "true_classes: int64; num_true: int, num_sampled: int, unique: bool,"
    " range_max: int, seed: int = 0, seed2: int = 0 -> sampled_candidates: int64,"
    " true_expected_count: float32, sampled_expected_count: float32"
)

Draw = Callable[[Stream, int], Any]


def unique_samples(draw: Draw, stream: Stream, wanted: int) -> tuple[Any, int]:
    """(the first `wanted` distinct classes, the number of samples that they took)."""
    count = 4 * wanted
    while True:
        sampled = draw(stream, count)
        _, first = np.unique(sampled, return_index=True)
        if len(first) >= wanted:
            first = np.sort(first)[:wanted]
            return sampled[first], int(first[-1]) + 1
        count *= 4


def expected(probs: Any, sampled: int, tries: int | None) -> Any:
    """How often classes are expected among the sampled ones; once at most if unique.

    Where all classes that were drawn differed, TensorFlow takes them for drawn independently.
    """
    if tries is None or tries == sampled:
        return (probs * sampled).astype(np.float32)
    return (-np.expm1(tries * np.log1p(-probs))).astype(np.float32)


def _specs(true_classes: Spec, num_true: int, num_sampled: int) -> Any:
    if true_classes.rank not in (None, 2):
        raise ShapeError(f"Shape must be rank 2 but is rank {true_classes.rank}")
    batch = None if true_classes.shape is None else true_classes.shape[0]
    return (
        Spec(int64, (num_sampled,)),
        Spec(float32, (batch, num_true)),
        Spec(float32, (num_sampled,)),
    )


# The size of the number of a class.
CLASS_BYTES = 8


class Sampler(Op):
    """(sampled classes, expected counts of the true classes, and of the sampled ones)."""

    differentiable = False
    stateful = True
    droppable = True

    def infer(self, true_classes: Spec, num_true, num_sampled) -> Any:
        return _specs(true_classes, num_true, num_sampled)

    def check(self, true: Any, num_true: int, count: int, unique: bool, size: int) -> None:
        """Raises InvalidArgumentError for classes out of range, and too many of them."""
        _check_true(true, num_true)
        if count < 1:
            raise invalid_argument(f"num_sampled must be at least 1, not {count}")
        if unique and count > size:
            raise invalid_argument("Sampler's range is too small.")
        check_allocated((count,), CLASS_BYTES, "A sample of classes")
        outside = true[(true < 0) | (true >= size)]
        if len(outside):
            raise invalid_argument(
                f"`true_candidate` out of range [0, {size}), received {outside[0]}"
            )

    def sampled(
        self,
        true: Any,
        num_true: int,
        count: int,
        unique: bool,
        size: int,
        stream: Any,
        draw: Draw,
        probability: Callable[[Any], Any],
    ) -> Any:
        """The outputs. Raises InvalidArgumentError for classes out of range."""
        self.check(true, num_true, count, unique, size)
        start = stream.take(RESERVED_COUNTERS * count // 4)
        tries = None
        if unique:
            classes, tries = unique_samples(draw, start, count)
        else:
            classes = draw(start, count)
        return (
            classes.astype(np.int64),
            expected(probability(true), count, tries),
            expected(probability(classes), count, tries),
        )


def _check_true(true: Any, num_true: int) -> None:
    if true.ndim != 2:
        raise invalid_argument("true_classes must be a matrix")
    if true.shape[1] != num_true:
        raise invalid_argument(
            f"true_classes must have num_true columns, expected: {true.shape[1]} was: {num_true}"
        )


def _uniform_draw(size: int) -> Draw:
    return lambda stream, count: (philox.bits64(stream, count) % np.uint64(size)).astype(np.int64)


@op
class UniformCandidateSampler(Sampler):
    """Classes that are all equally likely."""

    signature = RANGE

    def kernel(self, true_classes, num_true, num_sampled, unique, range_max, stream):
        return self.sampled(
            true_classes,
            num_true,
            num_sampled,
            unique,
            range_max,
            stream,
            _uniform_draw(range_max),
            lambda c: np.full(c.shape, 1 / range_max),
        )


@op
class LogUniformCandidateSampler(Sampler):
    """Classes of probability log((c + 2) / (c + 1)) / log(range_max + 1): frequent ones first."""

    signature = RANGE

    def kernel(self, true_classes, num_true, num_sampled, unique, range_max, stream):
        whole = np.log1p(range_max)

        def draw(start: Stream, count: int) -> Any:
            numbers = np.exp(philox.uniform(start, count, DOUBLE) * whole)
            return (numbers.astype(np.int64) - 1) % range_max

        def probability(classes: Any) -> Any:
            return np.log((classes + 2.0) / (classes + 1.0)) / whole

        return self.sampled(
            true_classes, num_true, num_sampled, unique, range_max, stream, draw, probability
        )


@op
class FixedUnigramCandidateSampler(Sampler):
    """Classes of given frequencies, from a list or the last column of a file."""

    signature = (
        "true_classes: int64; num_true: int, num_sampled: int, unique: bool,"
        " range_max: int, vocab_file: str = '', distortion: float = 1.0,"
        " num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0,"
        " unigrams: list(float) = [], seed: int = 0, seed2: int = 0"
        " -> sampled_candidates: int64, true_expected_count: float32,"
        " sampled_expected_count: float32"
    )

    def kernel(
        self,
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        vocab_file,
        distortion,
        num_reserved_ids,
        num_shards,
        shard,
        unigrams,
        stream,
    ):
        if bool(vocab_file) == bool(len(unigrams)):
            raise invalid_argument("Must provide either vocab_file or unigrams.")
        frequencies = _frequencies(vocab_file) if vocab_file else np.asarray(unigrams, np.float32)
        # The classes of a shard are counted anew, the given ones from its reserved ones on.
        reserved = np.zeros(len(range(shard, num_reserved_ids, num_shards)), np.float32)
        own = (len(reserved) + np.arange(len(frequencies))) % num_shards == shard
        weights = np.concatenate([reserved, frequencies[own].astype(np.float32) ** distortion])
        if len(weights) != range_max:
            raise invalid_argument(
                f"range is {range_max} must be equal to weights size  {len(weights)}"
            )
        if not weights.any() or (unique and np.count_nonzero(weights) < num_sampled):
            raise invalid_argument("Sampler's range is too small.")
        shares, others = _alias_table(weights)
        total = weights.sum(dtype=np.float64)

        def draw(start: Stream, count: int) -> Any:
            numbers = philox.bits32(start, 2 * count).reshape(count, 2)
            column = numbers[:, 1] % len(shares)
            kept = philox.unit(numbers[:, 0], SINGLE) < shares[column]
            return np.where(kept, column, others[column])

        return self.sampled(
            true_classes,
            num_true,
            num_sampled,
            unique,
            range_max,
            stream,
            draw,
            lambda classes: weights[classes] / total,
        )


def _alias_table(weights: Any) -> tuple[Any, Any]:
    """Walker's alias method: (the shares of columns that are their own class, the others' classes).

    All columns are equally likely. Columns are filled up in the order of Vose's algorithm, "A
    linear algorithm for generating random numbers with a given distribution" (1991), with stacks.
    """
    count = len(weights)
    sizes = (weights.astype(np.float64) * count / weights.sum(dtype=np.float64)).tolist()
    shares, others = [1.0] * count, list(range(count))
    small = [i for i, size in enumerate(sizes) if size < 1]
    large = [i for i, size in enumerate(sizes) if size >= 1]
    while small and large:
        low, high = small.pop(), large.pop()
        shares[low], others[low] = sizes[low], high
        sizes[high] -= 1 - sizes[low]
        (small if sizes[high] < 1 else large).append(high)
    return np.array(shares, np.float32), np.array(others)


class Learned(Sampler):
    """Classes with the frequencies of the true ones in earlier calls, plus one each."""

    def kernel(self, true_classes, num_true, num_sampled, unique, range_max, stream):
        def counted(kept: Any) -> Any:
            seen = np.ones(range_max, np.int64) if kept is None else kept.copy()
            np.add.at(seen, true_classes.reshape(-1), 1)
            return seen

        def draw(start: Stream, count: int) -> Any:
            positions = philox.bits32(start, count) % sums[-1]
            return np.searchsorted(sums, positions, side="right")

        self.check(true_classes, num_true, num_sampled, unique, range_max)
        before = stream.exchange(counted)
        weights = np.ones(range_max, np.int64) if before is None else before
        sums = np.cumsum(weights)
        return self.sampled(
            true_classes,
            num_true,
            num_sampled,
            unique,
            range_max,
            stream,
            draw,
            lambda classes: weights[classes] / sums[-1],
        )


@op
class LearnedUnigramCandidateSampler(Learned):
    """The frequencies that were seen; threads wait for one another."""

    signature = RANGE


@op
class ThreadUnsafeUnigramCandidateSampler(Learned):
    """As LearnedUnigramCandidateSampler; here threads wait too."""

    signature = RANGE


def _frequencies(path: str) -> Any:
    """The last column of a file of comma-separated values."""
    with files.explained(path), open(path, encoding="utf-8") as lines:
        return np.array([float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()])


@op
class AllCandidateSampler(Op):
    """All classes, each once."""

    signature = (
        "true_classes: int64; num_true: int, num_sampled: int, unique: bool,"
        " seed: int = 0, seed2: int = 0 -> sampled_candidates: int64,"
        " true_expected_count: float32, sampled_expected_count: float32"
    )
    differentiable = False
    stateful = True
    droppable = True

    def infer(self, true_classes: Spec, num_true, num_sampled) -> Any:
        return _specs(true_classes, num_true, num_sampled)

    def kernel(self, true_classes, num_true, num_sampled):
        _check_true(true_classes, num_true)
        if num_sampled < 1:
            raise invalid_argument(f"num_sampled must be at least 1, not {num_sampled}")
        wrong = true_classes[(true_classes < 0) | (true_classes >= num_sampled)]
        if len(wrong):
            raise invalid_argument(
                f"`true_candidate` out of range [0, {num_sampled}), received {wrong[0]}"
            )
        check_allocated((num_sampled,), CLASS_BYTES, "A sample of classes")
        one = np.float32(1)
        return (np.arange(num_sampled), np.full(true_classes.shape, one), np.full(num_sampled, one))


@op
class ComputeAccidentalHits(Op):
    """Where sampled classes are true ones: (rows, indices into the sample, the lowest float)."""

    signature = (
        "true_classes: int64, sampled_candidates: int64; num_true: int, seed: int = 0,"
        " seed2: int = 0 -> indices: int32, ids: int64, weights: float32"
    )
    differentiable = False

    def infer(self, true_classes: Spec) -> Any:
        if true_classes.rank not in (None, 2):
            raise ShapeError(f"Shape must be rank 2 but is rank {true_classes.rank}")
        return Spec(int32, (None,)), Spec(int64, (None,)), Spec(float32, (None,))

    def kernel(self, true_classes, sampled_candidates, num_true):
        if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
            raise invalid_argument("true_classes must be a batch_size * num_true matrix")
        if sampled_candidates.ndim != 1:
            raise invalid_argument("sampled_candidates must be a vector")
        # Of a class that is sampled twice, the last index counts.
        last, from_end = np.unique(sampled_candidates[::-1], return_index=True)
        hits = true_classes[:, :, None] == last
        rows, _, at = np.nonzero(hits)
        positions = len(sampled_candidates) - 1 - from_end[at]
        return (
            rows.astype(np.int32),
            positions.astype(np.int64),
            np.full(len(rows), LOWEST_FLOAT32, np.float32),
        )
