"""Powers as vector code: exp(y log x), with a logarithm of higher precision than the operands."""

from __future__ import annotations

import math

from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Builder, Lanes
from intaglio.native.vector_math.double_word import (
    Pair,
    exact_product,
    exact_sum,
    plus,
    quotient,
    times,
)
from intaglio.native.vector_math.exponentials import exp, horner, limited, log_parts

# ln 2 as a double word; the multiples of the first part by exponents are exact.
_LN2 = (0.6931471805598903, 5.497923018708371e-14)
_THIRD = (1 / 3, 1.850371707708594e-17)
_FIFTHS = [1 / (2 * n + 5) for n in range(12)]


def _wide_log(s: Builder, x: Lanes) -> Pair:
    """log x with about ten bits more than the type has, for positive finite x.

    log m = 2 (z + z**3/3 + z**5/5 + ...) with z = (m - 1) / (m + 1).
    """
    e, f = log_parts(s, x)
    zero, two = s.const(0, x), s.const(2, x)
    z = quotient(s, Pair(f, zero), exact_sum(s, two, f))
    square = times(s, z, z)
    series = s.mul(square.high, horner(s, square.high, _FIFTHS))
    factor = plus(s, Pair(*[s.const(part, x) for part in _THIRD]), Pair(series, zero))
    rest = times(s, times(s, square, factor), z)
    half = plus(s, z, rest)
    of_two = Pair(*[s.mul(e, s.const(part, x)) for part in _LN2])
    return plus(s, of_two, Pair(s.add(half.high, half.high), s.add(half.low, half.low)))


def _wide_magnitude(s: Builder, a: Lanes, y: Lanes) -> Lanes:
    """a ** y for positive finite a; any number where it is out of range."""
    high, low = _wide_log(s, a)
    product = exact_product(s, y, high)
    tail = s.fma(y, low, product.low)
    # Where the result is infinite or 0 the product's remainder is NaN.
    bounded = s.lt(s.abs(product.high), s.const(1000, a))
    return exp(s, product.high, s.select(bounded, tail, s.const(0, a)))


# log2((1 + z) / (1 - z)) / z in z * z, and 2 ** r for |r| <= 1/2; the errors are negligible in
# float32.
_LOG2 = [2 / (math.log(2) * (2 * n + 1)) for n in range(7)]
_EXP2 = [math.log(2) ** n / math.factorial(n) for n in range(9)]
# Beyond, 2 to this power is infinite or 0 in float32.
_FURTHEST = 160.0
_MAGIC = 1.5 * 2.0**52


def _single_magnitude(s: Builder, a: Lanes, y: Lanes) -> Lanes:
    """The same for float32: in float64, whose logarithm has enough digits."""
    e, f, y = (s.converted(part, DOUBLE) for part in (*log_parts(s, a), y))
    z = s.div(f, s.add(f, s.const(2, f)))
    logarithm = s.fma(z, horner(s, s.mul(z, z), _LOG2), e)
    power = limited(s, s.mul(y, logarithm), -_FURTHEST, _FURTHEST)
    shifted = s.add(power, s.const(_MAGIC, power))
    r = s.sub(power, s.sub(shifted, s.const(_MAGIC, power)))
    # Shifted, only the lowest bits are left: the exponents are added.
    whole = s.shift_left(s.bits(shifted), 52)
    grown = s.add(s.bits(horner(s, r, _EXP2)), whole)
    return s.converted(s.floats(grown), FLOAT)


def power(s: Builder, x: Lanes, y: Lanes) -> Lanes:
    """x ** y, with the special cases of IEEE 754's `pow`."""
    zero, one, infinite = (s.const(v, x) for v in (0, 1, math.inf))
    a = s.abs(x)
    ordinary = s.logical_and(s.gt(a, zero), s.lt(a, infinite))
    magnitude = _single_magnitude if x.kind == FLOAT else _wide_magnitude
    value = magnitude(s, s.select(ordinary, a, one), y)
    extreme = s.logical_or(s.logical_not(ordinary), s.isinf(y))
    grows = s.eq(s.gt(y, zero), s.gt(a, one))
    value = s.select(extreme, s.select(grows, infinite, zero), value)
    value = s.select(s.eq(a, one), one, value)
    value = _signed(s, x, y, value)
    value = s.select(s.logical_or(s.isnan(x), s.isnan(y)), s.add(x, y), value)
    return s.select(s.logical_or(s.eq(y, zero), s.eq(x, one)), one, value)


def _signed(s: Builder, x: Lanes, y: Lanes, value: Lanes) -> Lanes:
    """`value` with the sign of a power of x; NaN for fractional powers of negative numbers."""
    zero, half = s.const(0, x), s.const(0.5, x)
    whole = s.eq(s.floor(y), y)
    odd = s.logical_and(whole, s.ne(s.floor(s.mul(y, half)), s.mul(y, half)))
    bits = s.bits(x)
    negative = s.lt(bits, s.const(0, bits))
    value = s.select(s.logical_and(negative, odd), s.neg(value), value)
    finite = s.logical_and(s.isfinite(x), s.isfinite(y))
    broken = s.logical_and(s.logical_and(s.lt(x, zero), s.logical_not(whole)), finite)
    return s.select(broken, s.const(math.nan, x), value)
