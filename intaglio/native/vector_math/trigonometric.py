"""Sine, cosine and tangent as vector code.

Arguments are reduced as by W. J. Cody and W. Waite ("Software Manual for the Elementary Functions",
1980): fused multiplications by the parts of pi/2 lose nothing. The series are Taylor's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Builder, Lanes
from intaglio.native.vector_math.double_word import (
    Pair,
    exact_product,
    exact_sum,
    in_double,
    ordered_sum,
    quotient,
)
from intaglio.native.vector_math.exponentials import horner, integer_bits


class _Format(NamedTuple):
    """The constants of a floating-point format."""

    half_pi: tuple[float, float, float]  # a sum of three numbers of this format
    # Beyond, multiples of pi / 2 are not accurate enough.
    far: float
    # Added to a number of quadrants, it leaves the integer in the lowest bits of the sum.
    magic: float
    sine: list[float]
    cosine: list[float]


def _series(first: int, terms: int) -> list[float]:
    """Every other coefficient of the Taylor series of exp, with alternating signs."""
    return [(-1) ** (n // 2) / math.factorial(n) for n in range(first, first + 2 * terms, 2)]


_FORMATS = {
    FLOAT: _Format(
        (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        2.0**16,
        1.5 * 2.0**23,
        _series(3, 4),
        _series(4, 4),
    ),
    DOUBLE: _Format(
        (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
        2.0**40,
        1.5 * 2.0**52,
        _series(3, 8),
        _series(4, 8),
    ),
}


class _Reduced(NamedTuple):
    """An angle as a number of quadrants and a remainder, whose sine and cosine are double words."""

    quadrants: Lanes
    sine: Pair
    cosine: Pair


def _reduced(s: Builder, x: Lanes) -> _Reduced:
    form = _FORMATS[x.kind]
    magic = s.const(form.magic, x)
    shifted = s.fma(x, s.const(2 / math.pi, x), magic)
    k = s.sub(shifted, magic)
    bits = s.bits(shifted)
    quadrants = s.sub(bits, s.const(integer_bits(form.magic, x.kind), bits))
    # The first step is exact. The second one's rounding error is kept.
    high, middle, low = [s.const(-part, x) for part in form.half_pi]
    first = s.fma(k, high, x)
    product = exact_product(s, k, middle)
    r = exact_sum(s, first, product.high)
    r = ordered_sum(s, r.high, s.fma(k, low, s.add(r.low, product.low)))
    # -0.0 must stay -0.0.
    r = Pair(s.select(s.eq(k, s.const(0, x)), x, r.high), r.low)
    return _Reduced(quadrants, *_sine_and_cosine(s, r))


def _sine_and_cosine(s: Builder, r: Pair) -> tuple[Pair, Pair]:
    """Both for |r| <= pi / 4 (and a little more)."""
    x, one = r.high, s.const(1, r.high)
    form = _FORMATS[x.kind]
    square = s.mul(x, x)
    half = s.mul(square, s.const(0.5, x))
    # sin(high + low) = sin(high) + low cos(high), and cosines likewise.
    rest = s.fma(s.neg(half), r.low, r.low)
    rest = s.fma(s.mul(square, x), horner(s, square, form.sine), rest)
    near = s.sub(one, half)
    lost = s.sub(s.sub(one, near), half)
    tail = s.mul(s.mul(square, square), horner(s, square, form.cosine))
    return Pair(x, rest), Pair(near, s.add(s.sub(lost, s.mul(x, r.low)), tail))


def _chosen(s: Builder, quadrants: Lanes, sine: Pair, cosine: Pair) -> Lanes:
    """The sine after so many quadrants."""
    odd = _has_bit(s, quadrants, 1)
    high = s.select(odd, cosine.high, sine.high)
    low = s.select(odd, cosine.low, sine.low)
    y = s.add(high, low)
    # Where the remainder is 0 the sum would lose the sign of 0.
    y = s.select(s.eq(low, s.const(0, low)), high, y)
    return s.select(_has_bit(s, quadrants, 2), s.neg(y), y)


def _has_bit(s: Builder, quadrants: Lanes, bit: int) -> Lanes:
    return s.ne(s.bit_and(quadrants, s.const(bit, quadrants)), s.const(0, quadrants))


def _nearby(function: Callable[..., Lanes]) -> Callable[..., Lanes]:
    """Falls back to double precision for vectors with large arguments, and from there to the C
    library."""
    name = function.__name__

    @in_double
    def of_system(s: Builder, x: Lanes) -> Lanes:
        far = s.any(s.gt(s.abs(x), s.const(_FORMATS[DOUBLE].far, x)))
        return s.either(far, lambda: s.intrinsic(name, x), lambda: function(s, x))

    def reduced(s: Builder, x: Lanes) -> Lanes:
        if x.kind == DOUBLE:
            return of_system(s, x)
        far = s.any(s.gt(s.abs(x), s.const(_FORMATS[x.kind].far, x)))
        return s.either(far, lambda: of_system(s, x), lambda: function(s, x))

    reduced.__name__ = name
    reduced.__doc__ = function.__doc__
    return reduced


@_nearby
def sin(s: Builder, x: Lanes) -> Lanes:
    """The sine of an angle in radians."""
    return _chosen(s, *_reduced(s, x))


@_nearby
def cos(s: Builder, x: Lanes) -> Lanes:
    """The cosine of an angle in radians."""
    quadrants, sine, cosine = _reduced(s, x)
    return _chosen(s, s.add(quadrants, s.const(1, quadrants)), sine, cosine)


@_nearby
def tan(s: Builder, x: Lanes) -> Lanes:
    """The tangent of an angle in radians."""
    quadrants, sine, cosine = _reduced(s, x)
    odd = _has_bit(s, quadrants, 1)
    sine, cosine = ordered_sum(s, *sine), ordered_sum(s, *cosine)
    pairs = list(zip(sine, cosine, strict=True))
    above = Pair(*[s.select(odd, s.neg(c), v) for v, c in pairs])
    below = Pair(*[s.select(odd, v, c) for v, c in pairs])
    y = quotient(s, above, below)
    return s.select(s.eq(x, s.const(0, x)), x, s.add(y.high, y.low))
