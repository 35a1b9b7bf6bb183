"""Clustering: the first centres of k-means, and the centres nearest to points.

Follows https://www.tensorflow.org/api_docs/python/tf/raw_ops/KmeansPlusPlusInitialization and its
neighbours. The method is that of Arthur and Vassilvitskii, "k-means++: the advantages of careful
seeding" (2007), with several candidates for each centre; KMC2ChainInitialization is the Markov chain of
Bachem and others, "Approximate k-means++ in sublinear time" (2016).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random import philox

MASK64 = (1 << 64) - 1


class _Numbers:
    """Random numbers one after the other, from the stream whose key is the seed."""

    def __init__(self, seed: int) -> None:
        self._blocks = philox.Stream(seed & MASK64, 0, 0)
        self._words: list[int] = []

    def word(self) -> int:
        """32 random bits."""
        if not self._words:
            self._words = philox.blocks(self._blocks, 1)[0].tolist()[::-1]
            self._blocks = self._blocks.skipped(1)
        return self._words.pop()

    def fraction(self) -> np.float32:
        """A number in [0, 1) of 23 random bits."""
        return np.float32(math.ldexp(self.word() & 0x7FFFFF, -23))

    def among(self, sums: np.ndarray) -> int:
        """An index that is as likely as its part of the sums so far."""
        found = np.searchsorted(sums, self.fraction() * sums[-1], "right")
        return min(int(found), len(sums) - 1)

    def below(self, bound: int) -> int:
        """An integer in [0, bound), all of them equally likely."""
        if bound & (bound - 1) == 0:
            return self._long() & (bound - 1)
        left_over = (MASK64 % bound) + 1
        while (drawn := self._long()) < left_over:
            pass
        return drawn % bound

    def _long(self) -> int:
        low = self.word()
        return low | self.word() << 32


def _matrix(value: Spec, name: str) -> Any:
    """The shape of a matrix. Raises ShapeError for another rank."""
    if value.shape is None:
        return (None, None)
    if len(value.shape) != 2:
        raise ShapeError(f"Shape must be rank 2 but is rank {len(value.shape)} for '{name}'")
    return value.shape


def _half_distances(points: Any, halves: Any, row: int) -> Any:
    """Half the squared distances of all points from one, at least 0; `halves` are half their squares."""
    return np.maximum(halves - points @ points[row] + halves[row], 0)


def _sum(values: Any) -> Any:
    """The sum in eight lanes, as TensorFlow adds: sums that would be equal tell candidates apart."""
    whole = len(values) // 8 * 8
    total = np.float32(0)
    if whole:
        lanes = np.add.reduce(values[:whole].reshape(-1, 8), axis=0)
        while len(lanes) > 1:
            lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
        total = lanes[0]
    for value in values[whole:]:
        total = total + value
    return total


@op
class KmeansPlusPlusInitialization(Op):
    """Rows of a matrix that are far from each other: each is drawn in proportion to squared distances.

    Of `num_retries_per_sample` + 1 rows drawn that one is taken that leaves the smallest sum of distances;
    the number is 2 + log(num_to_sample) where it is negative.
    """

    signature = (
        "points: float32, num_to_sample: int64, seed: int64, num_retries_per_sample: int64"
        " -> samples: float32"
    )

    def infer(self, points: Spec, num_to_sample: Spec) -> Spec:
        columns = _matrix(points, "points")[1]
        rows = None if num_to_sample.value is None else int(num_to_sample.value)
        return Spec(float32, (rows, columns))

    def kernel(self, points, num_to_sample, seed, num_retries_per_sample):
        number, retries = int(num_to_sample), int(num_retries_per_sample)
        if number <= 0:
            raise invalid_argument("Expected num_to_sample > 0.")
        if number > len(points):
            raise invalid_argument(
                f"Expected num_to_sample <= points.rows(). {number} vs {len(points)}."
            )
        if retries < 0:
            retries = 2 + int(math.log(number))
        numbers = _Numbers(int(seed))
        chosen: list[int] = []
        halves = np.float32(0.5) * np.einsum("ij,ij->i", points, points)
        distances = np.full(len(points), np.float32(np.inf))
        while len(chosen) < number:
            sums = np.cumsum(distances) if chosen else None
            best: Any = None
            for _ in range(retries + 1):
                row = numbers.below(len(points)) if sums is None else numbers.among(sums)
                nearer = np.minimum(distances, _half_distances(points, halves, row))
                left = _sum(nearer)
                if best is None or left < best[0]:
                    best = left, row, nearer
            chosen.append(best[1])
            distances = best[2]
        return points[chosen]


@op
class KMC2ChainInitialization(Op):
    """The index of a distance that is drawn in proportion to the distances, by a Markov chain."""

    signature = "distances: float32, seed: int64 -> index: int64"

    def infer(self, distances: Spec) -> Spec:
        if distances.shape is not None and len(distances.shape) != 1:
            raise ShapeError(f"Shape must be rank 1 but is rank {len(distances.shape)}")
        return Spec(int64, ())

    def kernel(self, distances, seed):
        if distances.ndim != 1:
            raise invalid_argument(
                f"Expected a vector of distances, not {distances.ndim} dimensions."
            )
        numbers = _Numbers(int(seed))
        index, current = 0, distances[0]
        for i, distance in enumerate(distances[1:], 1):
            if numbers.fraction() * current < distance:
                index, current = i, distance
        return np.int64(index)


@op
class NearestNeighbors(Op):
    """For each point the k nearest centres: their indices, and their squared distances."""

    signature = (
        "points: float32, centers: float32, k: int64"
        " -> nearest_center_indices: int64, nearest_center_distances: float32"
    )

    def infer(self, points: Spec, centers: Spec, k: Spec) -> Any:
        rows, columns = _matrix(points, "points")
        centres, of_centres = _matrix(centers, "centers")
        if None not in (columns, of_centres) and columns != of_centres:
            raise ShapeError(f"Points and centers must have equal columns: {columns}, {of_centres}")
        found = None
        if k.value is not None and centres is not None:
            found = min(int(k.value), centres)
        return Spec(int64, (rows, found)), Spec(float32, (rows, found))

    def kernel(self, points, centers, k):
        if k < 0:
            raise invalid_argument("k must be non-negative")
        if not len(points):
            raise invalid_argument("Expected points.rows() > 0.")
        if points.shape[1] != centers.shape[1]:
            raise invalid_argument("Points and centers must have the same dimensions")
        squares = np.einsum("ij,ij->i", points, points)[:, None]
        squares = squares + np.einsum("ij,ij->i", centers, centers)
        distances = squares - 2 * (points @ centers.T)
        order = np.argsort(distances, axis=1, kind="stable")[:, : int(k)]
        return order, np.take_along_axis(distances, order, 1)
