"""Hyperbolic functions and their inverses as vector code, from exponentials and logarithms."""

from __future__ import annotations

import math

from intaglio.native.llvm.vectors import Builder, Lanes
from intaglio.native.vector_math.double_word import exact_sum
from intaglio.native.vector_math.exponentials import exp, horner, log

# Up to here sinh is a Taylor series: the difference of exponentials cancels.
_SMALL = 1.5
_SERIES = [1 / math.factorial(2 * n + 1) for n in range(1, 12)]
# Beyond, 1 is negligible beside x * x.
_LARGE = 2.0**28


def sinh(s: Builder, x: Lanes) -> Lanes:
    """The hyperbolic sine: h - 1 / (4 h) with h = exp(|x|) / 2; a Taylor series for small x."""
    a = s.abs(x)
    square = s.mul(x, x)
    near = s.fma(s.mul(square, a), horner(s, square, _SERIES), a)
    h = exp(s, a, doublings=-1)
    far = s.sub(h, s.div(s.const(0.25, x), h))
    y = s.select(s.lt(a, s.const(_SMALL, x)), near, far)
    return s.intrinsic("copysign", y, x)


def cosh(s: Builder, x: Lanes) -> Lanes:
    """The hyperbolic cosine: h + 1 / (4 h) with h = e ** |x| / 2."""
    h = exp(s, s.abs(x), doublings=-1)
    return s.add(h, s.div(s.const(0.25, x), h))


def asinh(s: Builder, x: Lanes) -> Lanes:
    """The inverse hyperbolic sine: log(1 + a + a**2 / (1 + sqrt(a**2 + 1))) with a = |x|."""
    one = s.const(1, x)
    a = s.abs(x)
    large = s.gt(a, s.const(_LARGE, x))
    near = s.minimum(a, s.const(_LARGE, x))
    square = s.mul(near, near)
    root = s.sqrt(s.add(square, one))
    y = _log1p_of_sum(s, near, s.div(square, s.add(one, root)))
    far = s.add(log(s, a), s.const(math.log(2), x))
    y = s.select(large, far, y)
    y = s.select(s.lt(a, s.const(2.0**-28, x)), a, y)
    return s.intrinsic("copysign", s.select(s.isnan(x), x, y), x)


def acosh(s: Builder, x: Lanes) -> Lanes:
    """The inverse hyperbolic cosine: log(1 + t + sqrt(2 t + t**2)) with t = x - 1."""
    one = s.const(1, x)
    large = s.gt(x, s.const(_LARGE, x))
    t = s.sub(s.minimum(x, s.const(_LARGE, x)), one)
    root = s.sqrt(s.fma(t, t, s.add(t, t)))
    y = _log1p_of_sum(s, root, t)
    far = s.add(log(s, x), s.const(math.log(2), x))
    y = s.select(large, far, y)
    return s.select(s.lt(x, one), s.const(math.nan, x), y)


def atanh(s: Builder, x: Lanes) -> Lanes:
    """The inverse hyperbolic tangent: log(1 + 2 a / (1 - a)) / 2 with a = |x|."""
    one = s.const(1, x)
    a = s.abs(x)
    below = exact_sum(s, one, s.neg(a))
    double = s.add(a, a)
    ratio = s.div(double, below.high)
    left = s.sub(s.fma(s.neg(ratio), below.high, double), s.mul(ratio, below.low))
    rest = s.div(left, below.high)
    edge = s.ge(a, one)
    zero = s.const(0, x)
    y = s.mul(_log1p_of_sum(s, ratio, s.select(edge, zero, rest)), s.const(0.5, x))
    y = s.select(s.lt(a, s.const(2.0**-28, x)), a, y)
    y = s.select(s.eq(a, one), s.const(math.inf, x), y)
    y = s.select(s.gt(a, one), s.const(math.nan, x), y)
    return s.intrinsic("copysign", y, x)


def _log1p_of_sum(s: Builder, x: Lanes, y: Lanes) -> Lanes:
    """log(1 + x + y) without rounding the sum, for x, y >= 0."""
    total = exact_sum(s, x, y)
    one = s.const(1, x)
    whole = exact_sum(s, one, total.high)
    lost = s.div(s.add(whole.low, total.low), whole.high)
    y = log(s, whole.high, lost)
    # Next to 0 the sum is the logarithm.
    tiny = s.lt(total.high, s.const(2.0**-54, x))
    return s.select(tiny, total.high, y)
