"""Dawson's integral, the exponential one, Fresnel's and Spence's as vector code.

The method is that of the ops' own kernels (`ops/math/special_integrals.py`): Chebyshev series, in
double precision.
"""

from __future__ import annotations

import math

from intaglio.native.llvm.vectors import Builder, Lanes
from intaglio.native.vector_math.double_word import in_double_by_precision
from intaglio.native.vector_math.exponentials import exp, log, log1p
from intaglio.native.vector_math.piecewise_series import pieces, series
from intaglio.native.vector_math.trigonometric import cos, sin
from intaglio.ops.math.integral_series import (
    DAWSON_FAR,
    DAWSON_MIDDLE,
    DAWSON_NEAR,
    EI_AROUND_ZERO,
    EI_FAR,
    EI_MIDDLE,
    EI_NEAR,
    EI_REST,
    EI_ZERO,
    EULER,
    FRESNEL_COS,
    FRESNEL_F,
    FRESNEL_G,
    FRESNEL_SIN,
    SPENCE,
)


@in_double_by_precision
def dawson(s: Builder, short: bool, x: Lanes) -> Lanes:
    """exp(-x^2) times the integral of exp(t^2) from 0 to x."""
    size, one = s.abs(x), s.const(1, x)
    low, high = s.const(2.5, x), s.const(5, x)

    def near() -> Lanes:
        t = s.sub(s.div(s.mul(size, size), s.const(3.125, x)), one)
        return s.mul(size, series(s, t, DAWSON_NEAR, short))

    def middle() -> Lanes:
        t = s.sub(s.div(s.sub(size, low), s.const(1.25, x)), one)
        return s.div(series(s, t, DAWSON_MIDDLE, short), size)

    def far() -> Lanes:
        t = s.sub(s.div(s.const(50, x), s.mul(size, size)), one)
        return s.div(series(s, t, DAWSON_FAR, short), size)

    value = pieces(
        s,
        s.const(math.nan, x),
        (s.le(size, low), near),
        (s.logical_and(s.gt(size, low), s.le(size, high)), middle),
        (s.gt(size, high), far),
    )
    return s.select(s.lt(x, s.const(0, x)), s.neg(value), value)


@in_double_by_precision
def expint(s: Builder, short: bool, x: Lanes) -> Lanes:
    """The integral of exp(t) / t from -infinity to x, for x > 0; NaN below 0."""
    zero, one = s.const(0, x), s.const(1, x)
    low, high = s.const(6, x), s.const(24, x)

    def near() -> Lanes:
        t = s.sub(s.div(x, s.const(3, x)), one)
        power = exp(s, s.mul(x, s.const(0.5, x)))
        product = s.mul(s.mul(x, power), series(s, t, EI_NEAR, short))
        direct = s.add(s.add(s.const(EULER, x), log(s, x)), product)
        # Near the zero the sum cancels; what follows is the power series around it.
        d = s.sub(s.sub(x, s.const(EI_ZERO, x)), s.const(EI_REST, x))
        total = s.const(0, x)
        for c in reversed(EI_AROUND_ZERO):
            total = s.mul(s.add(total, s.const(c, x)), d)
        return s.select(s.lt(s.abs(d), s.const(1e-2, x)), total, direct)

    def middle() -> Lanes:
        t = s.sub(s.div(s.sub(x, low), s.const(9, x)), one)
        return s.mul(s.div(exp(s, x), x), series(s, t, EI_MIDDLE, short))

    def far() -> Lanes:
        t = s.sub(s.div(s.const(48, x), x), one)
        return s.mul(s.div(exp(s, x), x), series(s, t, EI_FAR, short))

    value = pieces(
        s,
        s.const(math.nan, x),
        (s.logical_and(s.gt(x, zero), s.le(x, low)), near),
        (s.logical_and(s.gt(x, low), s.le(x, high)), middle),
        (s.gt(x, high), far),
    )
    return s.select(s.eq(x, zero), s.const(-math.inf, x), value)


def _fresnel(s: Builder, short: bool, x: Lanes, cosine: bool) -> Lanes:
    """The integral of cos or sin of pi t^2 / 2 from 0 to x."""
    size, edge, one, two = s.abs(x), s.const(1.6, x), s.const(1, x), s.const(2, x)
    half = s.const(0.5, x)

    def near() -> Lanes:
        ratio = s.div(size, edge)
        square = s.mul(ratio, ratio)
        t = s.sub(s.mul(two, s.mul(square, square)), one)
        if cosine:
            return s.mul(size, series(s, t, FRESNEL_COS, short))
        cube = s.mul(s.mul(size, size), size)
        return s.mul(cube, series(s, t, FRESNEL_SIN, short))

    def far() -> Lanes:
        ratio = s.div(edge, size)
        square = s.mul(ratio, ratio)
        t = s.sub(s.mul(two, s.mul(square, square)), one)
        round_size = s.mul(s.const(math.pi, x), size)
        f = s.div(series(s, t, FRESNEL_F, short), round_size)
        g = s.div(series(s, t, FRESNEL_G, short), s.mul(s.mul(round_size, round_size), size))
        # The angle modulo 2 pi, from the part of x whose square is exact.
        squared = s.mul(size, size)
        periods = s.trunc(s.mul(squared, s.const(0.25, x)))
        rest = s.sub(squared, s.mul(periods, s.const(4, x)))
        angle = s.mul(s.const(math.pi / 2, x), rest)
        angle = s.select(s.gt(size, s.const(1e8, x)), s.const(0, x), angle)
        sine, cos_angle = sin(s, angle), cos(s, angle)
        if cosine:
            value = s.sub(s.fma(f, sine, half), s.mul(g, cos_angle))
        else:
            value = s.sub(s.sub(half, s.mul(f, cos_angle)), s.mul(g, sine))
        return s.select(s.isinf(size), half, value)

    nan = s.const(math.nan, x)
    value = pieces(s, nan, (s.lt(size, edge), near), (s.ge(size, edge), far))
    return s.intrinsic("copysign", value, x)


@in_double_by_precision
def fresnel_cos(s: Builder, short: bool, x: Lanes) -> Lanes:
    """The integral of cos(pi t^2 / 2) from 0 to x."""
    return _fresnel(s, short, x, True)


@in_double_by_precision
def fresnel_sin(s: Builder, short: bool, x: Lanes) -> Lanes:
    """The integral of sin(pi t^2 / 2) from 0 to x."""
    return _fresnel(s, short, x, False)


@in_double_by_precision
def spence(s: Builder, short: bool, x: Lanes) -> Lanes:
    """The integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x.

    Reduced to the dilogarithm of [-1/2, 1/2]: beyond 3/2 by spence(1 / x), next to 0 by Euler's
    reflection formula.
    """
    zero, one = s.const(0, x), s.const(1, x)
    third = s.const(math.pi * math.pi / 6, x)
    inverted = s.gt(x, s.const(1.5, x))
    y = s.select(inverted, s.div(one, x), x)
    reflected = s.lt(y, s.const(0.5, x))
    w = s.select(reflected, y, s.sub(one, y))
    value = s.mul(w, series(s, s.add(w, w), SPENCE, short))

    def below() -> Lanes:
        product = s.mul(log(s, y), log1p(s, s.neg(y)))
        return s.sub(s.sub(third, product), value)

    direct = pieces(s, value, (reflected, below))

    def beyond() -> Lanes:
        logarithm = log(s, x)
        return s.sub(s.mul(s.const(-0.5, x), s.mul(logarithm, logarithm)), direct)

    value = pieces(s, direct, (inverted, beyond))
    regular = s.logical_and(s.gt(x, zero), s.isfinite(x))
    value = s.select(regular, value, s.const(math.nan, x))
    return s.select(s.eq(x, zero), third, value)


INTEGRALS = {f.__name__: f for f in (dawson, expint, fresnel_cos, fresnel_sin, spence)}
