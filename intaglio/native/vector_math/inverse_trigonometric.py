"""The inverses of sine, cosine and tangent as vector code.

All are the angle of a point, which is the nearest angle of a table plus a Taylor series of the
difference.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Builder, Lanes
from intaglio.native.vector_math.double_word import Pair, exact_sum
from intaglio.native.vector_math.exponentials import horner


class _Format(NamedTuple):
    """What the functions need to know of a floating-point format."""

    half_pi: tuple[float, float]  # a sum of two numbers of this format
    angles: tuple[tuple[float, float], ...]  # those whose tangents are `_SLOPES`
    series: list[float]


# The tangents of the table's angles, and the least slope for which each angle is the nearest.
_SLOPES = (0.5, 1.0)
_FROM = (0.25, 0.75)


def _series(terms: int) -> list[float]:
    return [(-1) ** n / (2 * n + 1) for n in range(1, terms + 1)]


_FORMATS = {
    FLOAT: _Format(
        (1.5707963705062866, -4.371138828673793e-08),
        (
            (0.46364760398864746, 5.01215868808913e-09),
            (0.7853981852531433, -2.1855694143368964e-08),
        ),
        _series(6),
    ),
    DOUBLE: _Format(
        (1.5707963267948966, 6.123233995736766e-17),
        ((0.4636476090008061, 2.2698777452961687e-17), (0.7853981633974483, 3.061616997868383e-17)),
        _series(14),
    ),
}


def _angle(
    s: Builder, y: Lanes, x: Lanes, negative_x: Lanes | None = None, less: Lanes | None = None
) -> Lanes:
    """The angle of a point with x, y >= 0, not both 0; pi less the angle where `negative_x`.

    `less`, the effect of a rounding error, is subtracted from the angle where y < x.
    """
    form, zero = _FORMATS[x.kind], s.const(0, x)
    steep = s.gt(y, x)
    small, large = s.select(steep, x, y), s.select(steep, y, x)
    slope = zero
    known = Pair(zero, zero)
    for value, start, angle in zip(_SLOPES, _FROM, form.angles, strict=True):
        here = s.gt(small, s.mul(large, s.const(start, x)))
        slope = s.select(here, s.const(value, x), slope)
        known = Pair(
            *[s.select(here, s.const(part, x), old) for part, old in zip(angle, known, strict=True)]
        )
    # tan(a - b) = (tan a - tan b) / (1 + tan a tan b)
    t = s.div(s.fma(s.neg(slope), large, small), s.fma(slope, small, large))
    square = s.mul(t, t)
    rest = s.mul(s.mul(t, square), horner(s, square, form.series))
    if less is not None:
        rest = s.sub(rest, less)
    return _from_right(s, known, t, rest, steep, negative_x)


def _from_right(
    s: Builder, known: Pair, t: Lanes, rest: Lanes, steep: Lanes, negative_x: Lanes | None
) -> Lanes:
    """known + t + rest; pi / 2 less that where `steep`, and pi less the result where `negative_x`."""
    half_pi = _FORMATS[t.kind].half_pi
    zero = s.const(0, t)
    base, backward = Pair(zero, zero), steep
    tests = [(steep, 1)] if negative_x is None else [(steep, 1), (negative_x, 2)]
    for test, quarters in tests:
        base = Pair(
            *[
                s.select(test, s.sub(s.const(quarters * part, t), b), b)
                for part, b in zip(half_pi, base, strict=True)
            ]
        )
    if negative_x is not None:
        backward = s.bit_xor(steep, negative_x)

    def directed(v: Lanes) -> Lanes:
        return s.select(backward, s.neg(v), v)

    start = exact_sum(s, base.high, directed(known.high))
    total = exact_sum(s, start.high, directed(t))
    lower = s.add(base.low, directed(s.add(known.low, rest)))
    return s.add(total.high, s.add(s.add(start.low, total.low), lower))


def _is_tiny(s: Builder, a: Lanes) -> Lanes:
    return s.lt(a, s.const(2.0**-28, a))


def atan(s: Builder, x: Lanes) -> Lanes:
    """The angle in radians whose tangent is x."""
    a = s.minimum(s.abs(x), s.const(2.0**60, x))
    y = _angle(s, a, s.const(1, x))
    y = s.select(_is_tiny(s, a), a, y)
    return s.intrinsic("copysign", s.select(s.isnan(x), x, y), x)


def asin(s: Builder, x: Lanes) -> Lanes:
    """The angle in radians whose sine is x."""
    a = s.abs(x)
    square = s.fma(s.neg(x), x, s.const(1, x))
    other = s.sqrt(square)
    # The effect of the root's rounding error on the angle, to first order.
    half = s.mul(a, s.const(0.5, x))
    lost = s.mul(s.fma(s.neg(other), other, square), half)
    less = s.select(s.lt(half, s.const(0.25, x)), lost, s.const(0, x))
    y = s.select(_is_tiny(s, a), a, _angle(s, a, other, less=less))
    y = s.select(s.gt(a, s.const(1, x)), s.const(math.nan, x), y)
    return s.intrinsic("copysign", y, x)


def acos(s: Builder, x: Lanes) -> Lanes:
    """The angle in radians whose cosine is x."""
    a = s.abs(x)
    other = s.sqrt(s.fma(s.neg(x), x, s.const(1, x)))
    y = _angle(s, other, a, s.lt(x, s.const(0, x)))
    return s.select(s.gt(a, s.const(1, x)), s.const(math.nan, x), y)


def atan2(s: Builder, y: Lanes, x: Lanes) -> Lanes:
    """The angle in radians of the point (x, y), in all four quadrants."""
    zero, one = s.const(0, x), s.const(1, x)
    a, b = s.abs(y), s.abs(x)
    most = s.maximum(a, b)
    infinite = s.const(math.inf, x)
    endless, nowhere = s.eq(most, infinite), s.eq(most, zero)
    # Infinities are equal; where both are 0 the signs of x and y decide.
    a = s.select(endless, s.select(s.eq(a, infinite), one, zero), a)
    b = s.select(endless, s.select(s.eq(b, infinite), one, zero), b)
    b = s.select(nowhere, one, b)
    far, near = (2.0**60, 2.0**-60) if x.kind == FLOAT else (2.0**600, 2.0**-600)
    scale = s.select(s.gt(most, s.const(far, x)), s.const(near, x), one)
    scale = s.select(s.lt(most, s.const(near, x)), s.const(far, x), scale)
    a, b = s.mul(a, scale), s.mul(b, scale)
    bits = s.bits(x)
    negative = s.lt(bits, s.const(0, bits))
    angle = _angle(s, a, b, negative)
    # For large positive x the angle is the slope.
    slope = s.div(a, b)
    flat = s.logical_and(s.lt(slope, s.const(2.0**-60, x)), s.logical_not(negative))
    return s.intrinsic("copysign", s.select(flat, slope, angle), y)
