"""Double-word arithmetic: sums, products and quotients as pairs of a number and its rounding error.

T. J. Dekker, "A floating-point technique for extending the available precision" (Numerische
Mathematik 18, 1971).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Builder, Lanes


class Pair(NamedTuple):
    """The sum of a number and a remainder of about its rounding error."""

    high: Lanes
    low: Lanes


def ordered_sum(s: Builder, x: Lanes, y: Lanes) -> Pair:
    """x + y exactly, for |x| >= |y|."""
    high = s.add(x, y)
    return Pair(high, s.sub(y, s.sub(high, x)))


def exact_sum(s: Builder, x: Lanes, y: Lanes) -> Pair:
    """x + y exactly."""
    high = s.add(x, y)
    part = s.sub(high, x)
    return Pair(high, s.add(s.sub(x, s.sub(high, part)), s.sub(y, part)))


def exact_product(s: Builder, x: Lanes, y: Lanes) -> Pair:
    """x * y exactly."""
    high = s.mul(x, y)
    return Pair(high, s.fma(x, y, s.neg(high)))


def times(s: Builder, x: Pair, y: Pair) -> Pair:
    """x * y."""
    high, low = exact_product(s, x.high, y.high)
    low = s.fma(x.high, y.low, low)
    return ordered_sum(s, high, s.fma(x.low, y.high, low))


def plus(s: Builder, x: Pair, y: Pair) -> Pair:
    """x + y."""
    high, low = exact_sum(s, x.high, y.high)
    return ordered_sum(s, high, s.add(low, s.add(x.low, y.low)))


def quotient(s: Builder, x: Pair, y: Pair) -> Pair:
    """x / y."""
    first = s.div(x.high, y.high)
    left = s.fma(s.neg(first), y.high, x.high)
    left = s.add(left, s.sub(x.low, s.mul(first, y.low)))
    return ordered_sum(s, first, s.div(left, y.high))


def in_double(function: Callable[..., Lanes]) -> Callable[..., Lanes]:
    """A function for float64, extended to float32: computed in float64 and rounded once."""

    def widened(s: Builder, *operands: Lanes) -> Lanes:
        if operands[0].kind != FLOAT:
            return function(s, *operands)
        wide = [s.converted(x, DOUBLE) for x in operands]
        return s.converted(function(s, *wide), FLOAT)

    widened.__name__ = function.__name__
    widened.__doc__ = function.__doc__
    return widened


def in_double_by_precision(function: Callable[..., Lanes]) -> Callable[..., Lanes]:
    """`in_double` of a function whose first argument is True for float32 operands: then its
    approximations may be shorter."""

    def chosen(s: Builder, *operands: Lanes) -> Lanes:
        if operands[0].kind != FLOAT:
            return function(s, False, *operands)
        wide = [s.converted(x, DOUBLE) for x in operands]
        return s.converted(function(s, True, *wide), FLOAT)

    chosen.__name__ = function.__name__
    chosen.__doc__ = function.__doc__
    return chosen
