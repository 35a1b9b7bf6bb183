"""The transforms of Winograd convolutions with 3x3 filters.

The method is that of Winograd, as Lavin and Gray describe it in "Fast Algorithms for Convolutional
Neural Networks" (CVPR 2016). Along an axis, `step` consecutive results are coefficients of a
product of two polynomials: one has the filter's elements as coefficients, the other follows from
the `step + 2` pixels under them. It is computed from values at as many points, which are zero,
pairs p and -p, and infinity. Every transform is a product with a small matrix; a pair of points
shares the sums of even and of odd terms.

With the points 0, 1, -1, infinity the transforms only add, subtract and halve: small integers give
exact results. More points save more multiplications, and their powers cost accuracy; 0.625 and 1.5
lose least among pairs of few binary digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import literal

Line = Sequence[str]
Term = tuple[float, str]


def _product(points: Sequence[float]) -> list[float]:
    """The coefficients of the product of (y - p**2), from the lowest."""
    coefficients = [1.0]
    for p in points:
        shifted = [0.0, *coefficients]
        coefficients = [b - p * p * a for a, b in zip([*coefficients, 0.0], shifted, strict=True)]
    return coefficients


class Transform:
    """The transforms for tiles of `step` times `step` results, by the pairs of points."""

    def __init__(self, points: tuple[float, ...]) -> None:
        self.points = points
        self.step = 2 * len(points)
        # The pixels of a tile along an axis, and the elements of its transform.
        self.seen = self.step + 2
        self.elements = self.seen**2
        self._whole = _product(points)
        self._without = [_product([*points[:i], *points[i + 1 :]]) for i in range(len(points))]
        self._weights = [
            2 * p * p * math.prod([p * p - o * o for o in points if o != p]) for p in points
        ]

    # -- what of a line, for each: values from the lowest point to infinity ----------------

    def of_pixels(self, s: Sums, line: Line) -> list[str]:
        """The transform of pixels, `seen` of them."""
        even, odd = line[0::2], line[1::2]
        transformed = [s.sum(zip(self._whole, even, strict=True))]
        for p, rest in zip(self.points, self._without, strict=True):
            outer = s.sum(zip(rest, even[1:], strict=True))
            inner = s.sum(zip(rest, odd[:-1], strict=True))
            transformed += s.both(outer, p, inner)
        return [*transformed, s.sum(zip(self._whole, odd, strict=True))]

    def of_filters(self, s: Sums, line: Line) -> list[str]:
        """The transform of three elements of a filter."""
        a, b, c = line
        transformed = [s.sum([(1 / self._whole[0], a)])]
        for p, weight in zip(self.points, self._weights, strict=True):
            outer = s.scaled(1 / weight, s.sum([(1.0, a), (p * p, c)]))
            transformed += s.both(outer, p / weight, b)
        return [*transformed, c]

    def of_products(self, s: Sums, line: Line) -> list[str]:
        """From products of transforms to `step` results."""
        pairs = self._pairs(s, line)
        transformed: list[str] = []
        for i in range(self.step):
            terms = [(p**i, pair[i % 2]) for p, pair in zip(self.points, pairs, strict=True)]
            terms += [(1.0, line[0])] * (i == 0) + [(1.0, line[-1])] * (i == self.step - 1)
            transformed.append(s.sum(terms))
        return transformed

    # -- the transposed matrices, for the filter gradient --------------------------

    def of_gradients(self, s: Sums, line: Line) -> list[str]:
        """`of_products` transposed: the transform of the gradients of `step` results."""
        transformed = [line[0]]
        for p in self.points:
            outer, inner = (
                s.sum([(p**i, line[i]) for i in range(first, self.step, 2)]) for first in (0, 1)
            )
            transformed += s.both(outer, 1.0, inner)
        return [*transformed, line[-1]]

    def to_filters(self, s: Sums, line: Line) -> list[str]:
        """`of_filters` transposed: from sums over tiles to three elements of a gradient."""
        pairs = self._pairs(s, line)
        first: list[Term] = [(1 / self._whole[0], line[0])]
        middle: list[Term] = []
        last: list[Term] = [(1.0, line[-1])]
        for p, weight, (total, less) in zip(self.points, self._weights, pairs, strict=True):
            first.append((1 / weight, total))
            middle.append((p / weight, less))
            last.append((p * p / weight, total))
        return [s.sum(first), s.sum(middle), s.sum(last)]

    def _pairs(self, s: Sums, line: Line) -> list[tuple[str, str]]:
        """The sum and the difference of the values at each pair of points."""
        return [
            (s.add(line[i], line[i + 1]), s.sub(line[i], line[i + 1]))
            for i in range(1, self.seen - 1, 2)
        ]


class Sums:
    """Emits sums of vectors that are multiplied by numbers."""

    def __init__(self, code: Code, tiles: Tiles) -> None:
        self.code, self.tiles = code, tiles
        self._vector, self._kind = tiles.vector, tiles.kind

    def add(self, x: str, y: str) -> str:
        """x + y"""
        return self.code.let(f"fadd {self._vector} {x}, {y}")

    def sub(self, x: str, y: str) -> str:
        """x - y"""
        return self.code.let(f"fsub {self._vector} {x}, {y}")

    def scaled(self, factor: float, x: str) -> str:
        """factor * x"""
        if factor == 1.0:
            return x
        return self.code.let(f"fmul {self._vector} {x}, {self._number(factor)}")

    def both(self, x: str, factor: float, y: str) -> list[str]:
        """x + factor * y and x - factor * y"""
        if factor == 1.0:
            return [self.add(x, y), self.sub(x, y)]
        if not self.tiles.fused or factor == 0.5:  # halves are exact
            y = self.scaled(factor, y)
            return [self.add(x, y), self.sub(x, y)]
        return [self.sum([(1.0, x), (f, y)]) for f in (factor, -factor)]

    def sum(self, terms: Sequence[Term] | zip[Term]) -> str:
        """The sum of factors times vectors; those with the factor 1 come first."""
        left = sorted([t for t in terms if t[0]], key=lambda t: (abs(t[0]) != 1, -t[0]))
        factor, x = left[0]
        total = self.scaled(factor, x)
        for factor, x in left[1:]:
            if abs(factor) == 1.0:
                total = self.add(total, x) if factor == 1.0 else self.sub(total, x)
            else:
                total = self.tiles.fma(self.code, x, self._number(factor), total)
        return total

    def _number(self, value: float) -> str:
        return f"splat ({self._kind.llvm} {literal(value, self._kind)})"


def two_dimensional(
    square: Sequence[str], side: int, along: Callable[[Line], list[str]]
) -> list[str]:
    """A one-dimensional transform applied along both axes of a square of `side` columns."""
    columns = [along(square[j::side]) for j in range(side)]
    rows = [along(row) for row in zip(*columns, strict=True)]
    return [value for row in rows for value in row]


# Tiles of 2x2 results take 16 multiplications instead of 36, tiles of 4x4 take 36 instead of 144.
F2_TRANSFORM, F4_TRANSFORM = Transform((1.0,)), Transform((0.625, 1.5))
