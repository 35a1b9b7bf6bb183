"""Trigonometric functions and their inverses as vector code.

Arguments are reduced as W. J. Cody and W. Waite do (Software Manual for the Elementary
Functions, 1980): fused multiplications by the parts of pi/2 lose nothing. The series are Taylor's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from intaglio.native.exact import (
    Pair,
    exact_product,
    exact_sum,
    in_double,
    ordered_sum,
    quotient,
)
from intaglio.native.exponentials import horner
from intaglio.native.lanes import Builder, Kind, Lanes

# pi / 2 as a sum of three numbers.
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
# Beyond, multiples of pi / 2 are not counted well enough; the system's own functions are called.
_FAR = 2.0**40
# Added to a number of quarter turns, it leaves their integer in the lowest bits.
_MAGIC = 1.5 * 2.0**52
_MAGIC_BITS = 0x4338000000000000
_SINE = [(-1) ** n / math.factorial(2 * n + 1) for n in range(1, 9)]
_COSINE = [(-1) ** n / math.factorial(2 * n) for n in range(2, 10)]
_INTEGER = Kind("i64", 64, "i")


class _Reduced(NamedTuple):
    """An angle as quarter turns and what is left: sine and cosine of that, with their rests."""

    turns: Lanes
    sine: Pair
    cosine: Pair


def _reduced(s: Builder, x: Lanes) -> _Reduced:
    shifted = s.fma(x, s.const(2 / math.pi, x), s.const(_MAGIC, x))
    k = s.sub(shifted, s.const(_MAGIC, x))
    bits = s.bits(shifted)
    turns = s.sub(bits, s.const(_MAGIC_BITS, bits))
    # The first step is exact. The second one's rounding error is kept.
    first = s.fma(k, s.const(-_HALF_PI[0], x), x)
    product = exact_product(s, k, s.const(-_HALF_PI[1], x))
    r = exact_sum(s, first, product.high)
    low = s.fma(k, s.const(-_HALF_PI[2], x), s.add(r.low, product.low))
    r = ordered_sum(s, r.high, low)
    # -0.0 must stay what it is.
    r = Pair(s.select(s.eq(k, s.const(0, x)), x, r.high), r.low)
    return _Reduced(turns, *_sine_and_cosine(s, r))


def _sine_and_cosine(s: Builder, r: Pair) -> tuple[Pair, Pair]:
    """Both for |r| <= pi / 4 (and a little more)."""
    x, one = r.high, s.const(1, r.high)
    square = s.mul(x, x)
    cube = s.mul(square, x)
    half = s.mul(square, s.const(0.5, x))
    # sin(high + low) = sin(high) + low cos(high), and cosines likewise.
    rest = s.fma(s.neg(half), r.low, r.low)
    rest = s.fma(cube, horner(s, square, _SINE), rest)
    sine = Pair(x, rest)
    near = s.sub(one, half)
    lost = s.sub(s.sub(one, near), half)
    tail = s.mul(s.mul(square, square), horner(s, square, _COSINE))
    cosine = Pair(near, s.add(s.sub(lost, s.mul(x, r.low)), tail))
    return sine, cosine


def _chosen(s: Builder, turns: Lanes, sine: Pair, cosine: Pair) -> Lanes:
    """The sine after so many quarter turns."""
    odd = s.ne(s.bit_and(turns, s.const(1, turns)), s.const(0, turns))
    over = s.ne(s.bit_and(turns, s.const(2, turns)), s.const(0, turns))
    high = s.select(odd, cosine.high, sine.high)
    low = s.select(odd, cosine.low, sine.low)
    y = s.add(high, low)
    # Where the rest is 0 the sum would lose the sign of 0.
    y = s.select(s.eq(low, s.const(0, low)), high, y)
    return s.select(over, s.neg(y), y)


def _nearby(
    name: str,
) -> Callable[[Callable[..., Lanes]], Callable[..., Lanes]]:
    """Leaves vectors with large arguments to LLVM's function of that name."""

    def declare(function: Callable[..., Lanes]) -> Callable[..., Lanes]:
        def reduced(s: Builder, x: Lanes) -> Lanes:
            far = s.any(s.gt(s.abs(x), s.const(_FAR, x)))
            return s.either(far, lambda: s.intrinsic(name, x), lambda: function(s, x))

        reduced.__name__ = function.__name__
        reduced.__doc__ = function.__doc__
        return reduced

    return declare


@in_double
@_nearby("sin")
def sin(s: Builder, x: Lanes) -> Lanes:
    """The sine of an angle in radians."""
    return _chosen(s, *_reduced(s, x))


@in_double
@_nearby("cos")
def cos(s: Builder, x: Lanes) -> Lanes:
    """The cosine of an angle in radians."""
    turns, sine, cosine = _reduced(s, x)
    return _chosen(s, s.add(turns, s.const(1, turns)), sine, cosine)


@in_double
@_nearby("tan")
def tan(s: Builder, x: Lanes) -> Lanes:
    """The tangent of an angle in radians."""
    turns, sine, cosine = _reduced(s, x)
    odd = s.ne(s.bit_and(turns, s.const(1, turns)), s.const(0, turns))
    sine, cosine = ordered_sum(s, *sine), ordered_sum(s, *cosine)
    above = Pair(
        *[s.select(odd, s.neg(c), v) for c, v in zip(cosine, sine, strict=True)]
    )
    below = Pair(*[s.select(odd, v, c) for c, v in zip(cosine, sine, strict=True)])
    y = quotient(s, above, below)
    return s.select(s.eq(x, s.const(0, x)), x, s.add(y.high, y.low))


# Angles whose tangents are 0, 1/4, ... 1, as pairs.
_STEPS = 4
_ANGLES = (
    (0.0, 0.0),
    (0.24497866312686414, 1.0698755618734451e-17),
    (0.4636476090008061, 2.2698777452961687e-17),
    (0.6435011087932844, 1.5834785051444286e-17),
    (0.7853981633974483, 3.061616997868383e-17),
)
_ARC = [(-1) ** n / (2 * n + 1) for n in range(1, 12)]


def _arc(s: Builder, y: Pair, x: Pair, turned: Lanes) -> Lanes:
    """The angle of a point with x, y >= 0, not both 0; what is left to pi where `turned`.

    The angle is known for the nearest of `_STEPS` slopes up to 1; the series gives the rest.
    """
    zero = s.const(0, x.high)
    steep = s.gt(y.high, x.high)
    small = Pair(*[s.select(steep, a, b) for a, b in zip(x, y, strict=True)])
    large = Pair(*[s.select(steep, b, a) for a, b in zip(x, y, strict=True)])
    slope = s.mul(s.div(small.high, large.high), s.const(_STEPS, zero))
    step = s.rint(slope)
    c = s.mul(step, s.const(1 / _STEPS, zero))
    # tan(a - b) = (tan a - tan b) / (1 + tan a tan b)
    high = s.fma(s.neg(c), large.high, small.high)
    above = Pair(high, s.fma(s.neg(c), large.low, small.low))
    below = exact_sum(s, large.high, s.mul(c, small.high))
    t = quotient(s, above, Pair(below.high, s.add(below.low, large.low)))
    square = s.mul(t.high, t.high)
    rest = s.fma(s.mul(t.high, square), horner(s, square, _ARC), t.low)
    known = _known_angle(s, step)
    # pi / 2 less the angle where x and y changed places, pi less it where turned.
    base = Pair(zero, zero)
    backward = s.const(False, s.eq(zero, zero))
    for test, quarters in ((steep, 1), (turned, 2)):
        parts = [s.const(quarters * part, zero) for part in _HALF_PI[:2]]
        base = Pair(
            *[
                s.select(test, s.sub(part, b), b)
                for part, b in zip(parts, base, strict=True)
            ]
        )
        backward = s.bit_xor(backward, test)

    def directed(v: Lanes) -> Lanes:
        return s.select(backward, s.neg(v), v)

    start = exact_sum(s, base.high, directed(known.high))
    lower = s.add(base.low, directed(s.add(known.low, rest)))
    total = exact_sum(s, start.high, directed(t.high))
    tail = s.add(s.add(start.low, total.low), lower)
    return s.add(total.high, tail)


def _known_angle(s: Builder, step: Lanes) -> Pair:
    found = [s.const(part, step) for part in _ANGLES[0]]
    for index, angle in enumerate(_ANGLES[1:], 1):
        here = s.eq(step, s.const(index, step))
        found = [
            s.select(here, s.const(part, step), old)
            for part, old in zip(angle, found, strict=True)
        ]
    return Pair(*found)


@in_double
def atan(s: Builder, x: Lanes) -> Lanes:
    """The angle in radians whose tangent is x."""
    zero, one = s.const(0, x), s.const(1, x)
    a = s.minimum(s.abs(x), s.const(2.0**60, x))
    never = s.const(False, s.eq(x, x))
    y = _arc(s, Pair(a, zero), Pair(one, zero), never)
    y = s.select(s.lt(a, s.const(2.0**-28, x)), a, y)
    return s.intrinsic("copysign", s.select(s.isnan(x), x, y), x)


@in_double
def asin(s: Builder, x: Lanes) -> Lanes:
    """The angle in radians whose sine is x."""
    zero = s.const(0, x)
    a = s.abs(x)
    never = s.const(False, s.eq(x, x))
    y = _arc(s, Pair(a, zero), _other_side(s, x), never)
    y = s.select(s.lt(a, s.const(2.0**-28, x)), a, y)
    y = s.select(s.gt(a, s.const(1, x)), s.const(math.nan, x), y)
    return s.intrinsic("copysign", y, x)


@in_double
def acos(s: Builder, x: Lanes) -> Lanes:
    """The angle in radians whose cosine is x."""
    zero = s.const(0, x)
    y = _arc(s, _other_side(s, x), Pair(s.abs(x), zero), s.lt(x, zero))
    return s.select(s.gt(s.abs(x), s.const(1, x)), s.const(math.nan, x), y)


def _other_side(s: Builder, x: Lanes) -> Pair:
    """sqrt(1 - x**2)."""
    square = exact_product(s, x, x)
    left = exact_sum(s, s.const(1, x), s.neg(square.high))
    whole = ordered_sum(s, left.high, s.sub(left.low, square.low))
    root = s.sqrt(whole.high)
    lost = s.add(s.fma(s.neg(root), root, whole.high), whole.low)
    twice = s.add(root, root)
    none = s.eq(root, s.const(0, x))
    rest = s.div(lost, s.select(none, s.const(1, x), twice))
    return Pair(root, s.select(none, s.const(0, x), rest))


@in_double
def atan2(s: Builder, y: Lanes, x: Lanes) -> Lanes:
    """The angle in radians of the point (x, y), in all four quarters."""
    zero, one = s.const(0, x), s.const(1, x)
    a, b = s.abs(y), s.abs(x)
    most = s.maximum(a, b)
    infinite = s.const(math.inf, x)
    endless, nowhere = s.eq(most, infinite), s.eq(most, zero)
    # Infinities are as far as each other; where both are 0 the signs of x and y decide.
    a = s.select(endless, s.select(s.eq(a, infinite), one, zero), a)
    b = s.select(endless, s.select(s.eq(b, infinite), one, zero), b)
    b = s.select(nowhere, one, b)
    scale = s.select(s.gt(most, s.const(2.0**600, x)), s.const(2.0**-400, x), one)
    scale = s.select(s.lt(most, s.const(2.0**-600, x)), s.const(2.0**400, x), scale)
    a, b = s.mul(a, scale), s.mul(b, scale)
    negative = s.lt(s.bits(x), s.const(0, s.bits(x)))
    angle = _arc(s, Pair(a, zero), Pair(b, zero), negative)
    # Far out to the right the angle is the slope.
    slope = s.div(a, b)
    flat = s.logical_and(s.lt(slope, s.const(2.0**-60, x)), s.logical_not(negative))
    angle = s.select(flat, slope, angle)
    return s.intrinsic("copysign", angle, y)
