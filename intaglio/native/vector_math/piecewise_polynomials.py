"""Functions of one float32 as piecewise polynomials whose coefficients are in registers.

A vector register holds a table of 16 numbers (8 in those of 256 bits), and one permutation selects
a number of it for every lane: a column of coefficients costs one instruction, whatever intervals
the lanes are in. A short polynomial is enough where one for the whole range would be three times as
long, or a quotient.

The index of an argument's interval is the highest bits of a + shift: a binade of the sum is divided
into equal intervals, and the shift makes the intervals next to 0 wider than those of a itself would
be. Each polynomial is around a centre in its interval where the function is almost a float32, so
that rounding its value loses nothing (S. Gal, "Computing Elementary Functions: A New Approach for
Achieving High Accuracy and Good Performance", 1986). The centre of the first is 0, where the value
is exact, so that small results have the same relative accuracy as others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.llvm.vectors import Builder, Lanes
from intaglio.native.llvm.x86 import entries, picked
from intaglio.native.vector_math.double_word import Pair

# The bits of a float32's fraction.
FRACTION = 23
# The points of an interval at which polynomials are fitted, and the candidates for its centre.
POINTS, CENTRES = 12, 64


class Cut(NamedTuple):
    """The division of a range: 2**bits intervals to a binade of a + shift; and the polynomials'
    degree."""

    bits: int
    shift: float
    degree: int

    @property
    def first(self) -> int:
        """The index of the interval that starts at 0."""
        return int(np.float32(self.shift).view(np.int32)) >> (FRACTION - self.bits)

    def edges(self, size: int) -> Any:
        """The starts of so many intervals, and the end of the last one."""
        indices = np.arange(self.first, self.first + size + 1, dtype=np.int32)
        sums = (indices << (FRACTION - self.bits)).view(np.float32)
        return sums.astype(np.float64) - self.shift


class Fitted(NamedTuple):
    """The table in registers, indexed by the lowest bits of the interval's index."""

    centres: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]


class Piecewise:
    """A function on [0, top] as polynomials; its value at 0 is a float32."""

    def __init__(
        self, function: Callable[[Any], Any], top: float, cuts: dict[int, Cut], near: bool = False
    ) -> None:
        """`function` maps arrays of float64; `cuts` are by the length of a table.

        With `near` the polynomial next to 0 is f(a) - a, for a slope there that is no float32.
        """
        self.function = function
        self.top = top
        self.cuts = cuts
        self.near = near
        self.fitted = functools.cache(self._fitted)

    def __call__(self, s: Builder, a: Lanes) -> Lanes:
        """The function of numbers from 0 to `top`; NaN for NaN."""
        return s.fma(*self._parts(s, a))

    def pair(self, s: Builder, a: Lanes) -> Pair:
        """The same as a double word, with some digits more than a float32."""
        slope, r, value = self._parts(s, a)
        high = s.fma(slope, r, value)
        return Pair(high, s.fma(slope, r, s.sub(value, high)))

    def _parts(self, s: Builder, a: Lanes) -> tuple[Lanes, Lanes, Lanes]:
        """The slope from a centre, the distance from it, and the function's value there."""
        size = entries(a.kind)
        cut, (centres, coefficients) = self.cuts[size], self.fitted(size)
        moved = s.add(a, s.const(cut.shift, a))
        index = s.shift_right(s.bits(moved), FRACTION - cut.bits)
        r = s.sub(a, picked(s, centres, index))
        total = picked(s, coefficients[-1], index)
        for column in coefficients[-2:0:-1]:
            total = s.fma(total, r, picked(s, column, index))
        value = picked(s, coefficients[0], index)
        if self.near:
            second = s.const(cut.edges(size)[1] + cut.shift, a)
            value = s.select(s.lt(moved, second), a, value)
        return total, r, value

    def _fitted(self, size: int) -> Fitted:
        """Centres and coefficients for tables of a length."""
        cut = self.cuts[size]
        edges = np.clip(cut.edges(size), 0, self.top)
        low, high = edges[:-1, None], edges[1:, None]
        centres = self._centres(low, high)
        values = self.function(centres)
        # Chebyshev's nodes, and the function there less its value at the centre.
        angles = (np.arange(POINTS) + 0.5) * np.pi / POINTS
        half = np.maximum(high - low, 1e-3) / 2
        r = low + half * (1 + np.cos(angles)) - centres
        slopes = (self.function(centres + r) - values) / r
        if self.near:
            slopes[0] -= 1
        # In the first interval errors are relative to the argument, elsewhere to the value.
        weights = np.where(low == 0, 1.0, np.abs(r))[..., None]
        powers = (r / half)[..., None] ** np.arange(cut.degree)
        found = np.linalg.pinv(powers * weights) @ (slopes[..., None] * weights)
        found = found[..., 0] / half ** np.arange(cut.degree)
        columns = np.concatenate([centres, values, found], axis=1)
        # The lowest bits of the first index need not be 0.
        rolled = np.roll(columns.astype(np.float32), cut.first % size, axis=0)
        first, *rest = [tuple(column.tolist()) for column in rolled.T]
        return Fitted(first, tuple(rest))

    def _centres(self, low: Any, high: Any) -> Any:
        """Float32 numbers near the middle of the intervals whose values are almost float32 numbers."""
        middle = ((low + high) / 2).astype(np.float32)
        steps = np.arange(-CENTRES // 2, CENTRES // 2)
        tried = (middle + steps * np.spacing(middle)).astype(np.float64)
        values = self.function(tried)
        rounded = values.astype(np.float32)
        off = np.abs(values - rounded) / np.spacing(rounded)
        best = np.take_along_axis(tried, off.argmin(1)[:, None], 1)
        return np.where(low == 0, 0.0, best)
