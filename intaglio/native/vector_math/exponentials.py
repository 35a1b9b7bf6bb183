"""Exponentials and logarithms as vector code, for float32 and float64.

Each function reduces its argument to a small interval, where a series is summed by Horner's rule
with fused multiplications. The series are Taylor's, whose coefficients need no table; on these
intervals they need one or two terms more than the minimax polynomials.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.native.llvm import x86
from intaglio.native.llvm.vectors import FLOAT, Builder, Kind, Lanes
from intaglio.native.vector_math.piecewise_polynomials import Cut, Piecewise


def integer_bits(value: float, kind: Kind) -> int:
    """The bits of a number as an integer."""
    if kind == FLOAT:
        return int(np.float32(value).view(np.int32))
    return int(np.float64(value).view(np.int64))


class _Format:
    """The constants of a floating-point format."""

    def __init__(self, kind: Kind) -> None:
        dtype = np.float32 if kind == FLOAT else np.float64
        info = np.finfo(dtype)
        self.fraction = info.nmant
        self.bias = info.maxexp - 1
        self.smallest = float(info.smallest_normal)
        # Added to a small number, it leaves the number's integer part in the lowest bits.
        self.magic = 1.5 * 2.0**self.fraction
        self.magic_bits = integer_bits(self.magic, kind)
        # exp overflows above the first. Below the second it has no normal number: one unit in the
        # last place less than the logarithm of the smallest, for the error of the approximation.
        self.largest_exponent = math.log(float(info.max)) + 0.01
        least = dtype(math.log(self.smallest))
        self.least_exponent = float(least - np.spacing(least))
        # ln 2 in two parts; the multiples of the first are exact.
        spare = info.nmant - (12 if kind == FLOAT else 14)
        self.ln2_high = math.floor(math.log(2) * 2.0**spare) / 2.0**spare
        self.ln2_low = _LN2_TAIL + (math.log(2) - self.ln2_high)
        self.terms = 8 if kind == FLOAT else 14
        self.log_terms = 4 if kind == FLOAT else 11


# ln 2 less its nearest float64.
_LN2_TAIL = 2.3190468138462996e-17
_FORMATS: dict[Kind, _Format] = {}


def _format(x: Lanes) -> _Format:
    found = _FORMATS.get(x.kind)
    if found is None:
        found = _FORMATS[x.kind] = _Format(x.kind)
    return found


def horner(s: Builder, x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """c[0] + c[1] x + c[2] x**2 + ..."""
    total = s.const(coefficients[-1], x)
    for c in coefficients[-2::-1]:
        total = s.fma(total, x, s.const(c, x))
    return total


def limited(s: Builder, x: Lanes, low: float = -math.inf, high: float = math.inf) -> Lanes:
    """x clamped to limits; NaN stays NaN. These are the instructions min and max of x86."""
    if low > -math.inf:
        least = s.const(low, x)
        x = s.select(s.gt(least, x), least, x)
    if high < math.inf:
        most = s.const(high, x)
        x = s.select(s.lt(most, x), most, x)
    return x


def _reduced(s: Builder, x: Lanes) -> tuple[Lanes, Lanes]:
    """k as integers and r with x = k ln 2 + r, |r| <= ln 2 / 2."""
    form = _format(x)
    shifted = s.fma(x, s.const(1 / math.log(2), x), s.const(form.magic, x))
    k = s.sub(shifted, s.const(form.magic, x))
    r = s.fma(k, s.const(-form.ln2_high, x), x)
    r = s.fma(k, s.const(-form.ln2_low, x), r)
    bits = s.bits(shifted)
    return s.sub(bits, s.const(form.magic_bits, bits)), r


def _power_of_two(s: Builder, k: Lanes, x: Lanes) -> Lanes:
    """2 ** k for integers k that give normal numbers."""
    form = _format(x)
    return s.floats(s.shift_left(s.add(k, s.const(form.bias, k)), form.fraction))


def exp(s: Builder, x: Lanes, tail: Any = None, doublings: int = 0) -> Lanes:
    """exp(x + tail) * 2 ** doublings; a tail is small beside x.

    Results below the smallest normal number are 0, as TensorFlow's are: processors take a hundred
    times as long for subnormal numbers, also where the result is rounded to 0.
    """
    form = _format(x)
    higher = doublings * math.log(2)
    least = form.least_exponent - higher
    underflows = s.lt(x, s.const(least, x))
    x = limited(s, x, least, form.largest_exponent + abs(higher))
    y = _normal_exp(s, x, tail, doublings)
    return s.select(underflows, s.const(0, x), y)


def _normal_exp(s: Builder, x: Lanes, tail: Any, doublings: int) -> Lanes:
    """`exp` of an x that is clamped to where the result is a normal number, or infinite."""
    if x86.has_parts(x.kind):
        return _table_exp(s, x, tail, doublings)
    form = _format(x)
    k, r = _reduced(s, x)
    if tail is not None:
        r = s.add(r, tail)
    if doublings:
        k = s.add(k, s.const(doublings, k))
    rest = horner(s, r, [1 / math.factorial(n) for n in range(2, form.terms)])
    p = s.add(s.fma(s.mul(r, r), rest, r), s.const(1, r))
    # Two steps, because 2 ** k itself may be out of range where the result is not.
    half = s.shift_right(k, 1)
    p = s.mul(p, _power_of_two(s, half, x))
    return s.mul(p, _power_of_two(s, s.sub(k, half), x))


# The powers of 2 between 1 and 2 that fit into a register, and their rounding errors.
_SIXTEENTHS = [2.0 ** (n / 16) for n in range(16)]
_LOST = [power / float(np.float32(power)) - 1 for power in _SIXTEENTHS]
# (exp(r) - 1) / r for |r| <= ln 2 / 32: Taylor's terms, with r**3 / 24 as the nearest multiple of
# r.
_GROWTH = [1.0, 1 / 2 + (math.log(2) / 32) ** 2 / 32, 1 / 6]


def _table_exp(s: Builder, x: Lanes, tail: Any, doublings: int) -> Lanes:
    """`exp` of float32, with 2 ** (k / 16) from a table, so that a short series is enough."""
    form = _format(x)
    magic = s.const(form.magic / 16, x)
    shifted = s.fma(x, s.const(1 / math.log(2), x), magic)
    # A multiple of 1/16: its fraction indexes the table, the integer part scales the result.
    k = s.sub(shifted, magic)
    part = x86.picked(s, _SIXTEENTHS, s.bits(shifted))
    r = s.fma(k, s.const(-form.ln2_high, x), x)
    r = s.fma(k, s.const(-form.ln2_low, x), r)
    if doublings:
        k = s.add(k, s.const(doublings, x))
    if tail is None:
        y = s.fma(s.mul(part, r), horner(s, r, _GROWTH), part)
    else:  # with a tail, the rounding errors of the table count
        r = s.add(r, tail)
        lost = x86.picked(s, _LOST, s.bits(shifted))
        y = s.fma(part, s.fma(r, horner(s, r, _GROWTH), lost), part)
    return x86.scaled(s, y, k)


def _half_of_expm1(s: Builder, x: Lanes, low: float) -> Lanes:
    """(exp(x) - 1) / 2, for x clamped from below; half of it, because the whole may be out of
    range."""
    form = _format(x)
    k, r = _reduced(s, limited(s, x, low, form.largest_exponent))
    rest = horner(s, r, [1 / math.factorial(n) for n in range(2, form.terms + 1)])
    p = s.fma(s.mul(r, r), rest, r)
    half = _power_of_two(s, s.sub(k, s.const(1, k)), x)
    return s.fma(p, half, s.sub(half, s.const(0.5, x)))


def expm1(s: Builder, x: Lanes) -> Lanes:
    """exp(x) - 1, without cancellation for small x."""
    form = _format(x)
    y = _half_of_expm1(s, x, -(form.fraction + 3) * math.log(2))
    # Halves of the smallest numbers, and the sign of 0, would be lost.
    small = s.lt(s.abs(x), s.const(2.0 ** -(form.fraction + 2), x))
    return s.select(small, x, s.add(y, y))


# tanh(a) / a - 1 as a polynomial in a * a up to _NEAR, and exp(2 r), whose first terms are 1 and
# 2 r, up to ln 2 / 4: fitted with errors of a fiftieth of a unit in the last place of float32.
_NEAR = 0.55
_TANH = [
    -0.3333331755914112,
    0.13332586123562892,
    -0.0538523085384543,
    0.021071673959108365,
    -0.006274232900153613,
]
_SQUARED_EXP = [
    1.0,
    2.0,
    1.9999997379024306,
    1.3333216503548475,
    0.6666942094806007,
    0.2677989469184071,
    0.08841341690695913,
]


# From 9.02 on it is 1 in float32.
TANH = Piecewise(np.tanh, 9.3, {16: Cut(2, 0.625, 5), 8: Cut(1, 0.75, 7)})


def tanh(s: Builder, x: Lanes) -> Lanes:
    """The hyperbolic tangent."""
    if x86.entries(x.kind):
        a = limited(s, s.abs(x), high=TANH.top)
        return s.intrinsic("copysign", TANH(s, a), x)
    return _single_tanh(s, x) if x.kind == FLOAT else _double_tanh(s, x)


def _single_tanh(s: Builder, x: Lanes) -> Lanes:
    """1 - 2 / (exp(2|x|) + 1) where that loses nothing, for smaller |x| a polynomial."""
    form, one = _format(x), s.const(1, x)
    most = s.const((form.fraction + 5) * math.log(2) / 2, x)
    a = s.abs(x)
    a = s.select(s.gt(a, most), most, a)
    square = s.mul(a, a)
    near = s.fma(s.mul(square, horner(s, square, _TANH)), a, a)
    magic = s.const(form.magic, x)
    k = s.fma(a, s.const(2 / math.log(2), x), magic)
    r = s.fma(s.sub(k, magic), s.const(-math.log(2) / 2, x), a)
    # The shift leaves only the lowest bits of k, in the position of the exponent, where they are
    # added.
    power = s.shift_left(s.bits(k), form.fraction)
    grown = s.floats(s.add(s.bits(horner(s, r, _SQUARED_EXP)), power))
    far = s.sub(one, s.div(s.const(2, x), s.add(grown, one)))
    # NaN does not compare greater, and the polynomial keeps it.
    y = s.select(s.ge(a, s.const(_NEAR, x)), far, near)
    return s.intrinsic("copysign", y, x)


def _double_tanh(s: Builder, x: Lanes) -> Lanes:
    """h / (h + 1) with h = (exp(2|x|) - 1) / 2."""
    one = s.const(1, x)
    most = (_format(x).fraction + 5) * math.log(2) / 2
    a = limited(s, s.abs(x), 0.0, most)
    h = _half_of_expm1(s, s.add(a, a), 0.0)
    d = s.add(h, one)
    lost = s.sub(h, s.sub(d, one))
    inverse = s.div(one, d)
    y = s.mul(h, inverse)
    # One step of Newton's method corrects the rounding errors of the sum and of the quotient.
    left = s.sub(s.fma(s.neg(y), d, h), s.mul(y, lost))
    return s.intrinsic("copysign", s.fma(left, inverse, y), x)


def log_parts(s: Builder, x: Lanes) -> tuple[Lanes, Lanes]:
    """e (as numbers) and f with x = 2**e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)."""
    form = _format(x)
    up = form.fraction + 1
    tiny = s.lt(x, s.const(form.smallest, x))
    bits = s.bits(s.select(tiny, s.mul(x, s.const(2.0**up, x)), x))
    above = s.sub(bits, s.const(integer_bits(math.sqrt(0.5), x.kind), bits))
    e = s.shift_right(above, form.fraction)
    m = s.floats(s.sub(bits, s.shift_left(e, form.fraction)))
    number = s.converted(e, x.kind)
    number = s.select(tiny, s.sub(number, s.const(up, x)), number)
    return number, s.sub(m, s.const(1, x))


def log(s: Builder, x: Lanes, correction: Any = None) -> Lanes:
    """The natural logarithm; `correction` is added before the last rounding."""
    if x86.has_parts(x.kind):
        return _table_log(s, x, correction)
    form = _format(x)
    e, f = log_parts(s, x)
    # log(1 + f) = 2 artanh(z), z = f / (2 + f); f, the first term of the series, is added last.
    z = s.div(f, s.add(f, s.const(2, x)))
    zz = s.mul(z, z)
    series = horner(s, zz, [2 / (2 * n + 3) for n in range(form.log_terms)])
    series = s.mul(series, zz)
    half = s.mul(s.mul(f, f), s.const(0.5, x))
    small = s.mul(e, s.const(form.ln2_low, x))
    if correction is not None:
        small = s.add(small, correction)
    tail = s.sub(half, s.fma(z, s.add(half, series), small))
    y = s.fma(e, s.const(form.ln2_high, x), s.sub(f, tail))
    zero, infinite = s.const(0, x), s.const(math.inf, x)
    y = s.select(s.eq(x, infinite), infinite, y)
    y = s.select(s.eq(x, zero), s.const(-math.inf, x), y)
    lost = s.logical_not(s.ge(x, zero))
    return s.select(lost, s.const(math.nan, x), y)


@functools.cache
def _inverses() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Inverses of numbers from 3/4 to 3/2, by the highest bits of their fractions, and the
    logarithms of the inverted numbers, which are almost float32 themselves. Around 1 the inverse is
    1."""
    inverses, logarithms = np.ones(16), np.zeros(16)
    for n in range(16):
        low, high = (1 + (n + i) / 16 for i in (0, 1))
        if n >= 8:
            low, high = low / 2, high / 2
        if 1 in (low, high):
            continue
        middle = np.float32(2 / (low + high))
        tried = middle + np.arange(-64, 64, dtype=np.float32) * np.spacing(middle)
        values = -np.log(tried.astype(np.float64))
        best = np.abs(values - values.astype(np.float32)).argmin()
        inverses[n], logarithms[n] = tried[best], values[best]
    return tuple(inverses.tolist()), tuple(logarithms.tolist())


# log(1 + r) / r - 1, over r, for -1/32 <= r < 1/16.
_NEAR_ONE = [-1 / 2, 1 / 3, -1 / 4, 1 / 5, -1 / 6]


def _table_log(s: Builder, x: Lanes, correction: Any) -> Lanes:
    """The logarithm in float32, with inverses from a table. Where x is no positive number, its
    exponent and significand (`x86`) give the result of IEEE 754."""
    form = _format(x)
    m = x86.significand(s, x)
    e = s.sub(x86.exponent(s, x), x86.exponent(s, m))
    index = s.shift_right(s.bits(m), form.fraction - 4)
    inverses, logarithms = _inverses()
    r = s.fma(m, x86.picked(s, inverses, index), s.const(-1, x))
    high = s.fma(e, s.const(form.ln2_high, x), x86.picked(s, logarithms, index))
    low = s.fma(e, s.const(form.ln2_low, x), r)
    if correction is not None:
        low = s.add(low, correction)
    return s.add(high, s.fma(s.mul(r, r), horner(s, r, _NEAR_ONE), low))


def log1p(s: Builder, x: Lanes) -> Lanes:
    """log(1 + x), without cancellation for small x."""
    one = s.const(1, x)
    u = s.add(one, x)
    # The rounding error of 1 + x, to first order.
    lost = s.div(s.sub(x, s.sub(u, one)), u)
    whole = s.logical_and(s.isfinite(u), s.ne(u, s.const(0, x)))
    y = log(s, u, s.select(whole, lost, s.const(0, x)))
    return s.select(s.eq(x, s.const(0, x)), x, y)
