"""The logarithm of the gamma function and its derivative as vector code.

The method is that of the ops' own kernels (`ops/math/gamma_functions.py`), in double precision:
small arguments are increased by the recurrence, those below 1/2 are reflected, large ones have
Stirling's series (NIST Digital Library of Mathematical Functions, 5.5 and 5.11). All branches
except the reflection are computed for all elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from intaglio.native.llvm.vectors import FLOAT, Builder, Lanes
from intaglio.native.vector_math.double_word import in_double
from intaglio.native.vector_math.exponentials import horner, log
from intaglio.native.vector_math.trigonometric import sin, tan
from intaglio.ops.math.gamma_functions import (
    ASYMPTOTIC_FROM,
    DIGAMMA_SERIES,
    LGAMMA_AT_TWO,
    LGAMMA_AT_TWO_SHORT,
    LGAMMA_SERIES,
)


def lgamma(s: Builder, x: Lanes) -> Lanes:
    """log(|gamma(x)|)."""
    series = LGAMMA_AT_TWO_SHORT if x.kind == FLOAT else LGAMMA_AT_TWO
    return _double_lgamma(tuple(reversed(series)))(s, x)


def _double_lgamma(at_two: tuple[float, ...]) -> Callable[..., Lanes]:
    """lgamma by the coefficients of lgamma(2 + t) / t, the lowest power's first."""

    def of(s: Builder, x: Lanes) -> Lanes:
        one, half = s.const(1, x), s.const(0.5, x)
        reflected = s.lt(x, half)
        z = s.select(reflected, s.sub(one, x), x)
        value = _from_half(s, z, at_two)

        def below() -> Lanes:
            # x - rint(x) keeps the sine exact near the poles.
            sine = s.abs(sin(s, s.mul(s.const(math.pi, x), s.sub(x, s.rint(x)))))
            other = s.sub(s.sub(s.const(math.log(math.pi), x), log(s, sine)), value)
            other = s.select(s.eq(sine, s.const(0, x)), s.const(math.inf, x), other)
            return s.select(reflected, other, value)

        value = s.either(s.any(reflected), below, lambda: value)
        return s.select(s.isinf(x), s.const(math.inf, x), value)

    return in_double(of)


def _from_half(s: Builder, z: Lanes, at_two: tuple[float, ...]) -> Lanes:
    """lgamma for arguments of at least 1/2."""
    one = s.const(1, z)
    # gamma(z) = (z - 1) gamma(z - 1), down to 5/2.
    lowered, product = z, one
    for _ in range(ASYMPTOTIC_FROM - 2):
        high = s.ge(lowered, s.const(2.5, z))
        lowered = s.select(high, s.sub(lowered, one), lowered)
        product = s.select(high, s.mul(product, lowered), product)
    # From there on relative to the zeros at 1 and 2.
    low = s.lt(lowered, s.const(1.5, z))
    t = s.sub(lowered, s.select(low, one, s.const(2, z)))
    large = s.ge(z, s.const(ASYMPTOTIC_FROM, z))
    logarithm = log(s, s.select(large, z, s.select(low, lowered, product)))
    near = s.fma(t, horner(s, t, at_two), s.select(low, s.neg(logarithm), logarithm))
    inverse = s.div(one, z)
    far = s.mul(inverse, horner(s, s.mul(inverse, inverse), LGAMMA_SERIES))
    far = s.add(far, s.const(0.5 * math.log(2 * math.pi), z))
    far = s.add(s.sub(s.mul(s.sub(z, s.const(0.5, z)), logarithm), z), far)
    return s.select(s.lt(z, s.const(ASYMPTOTIC_FROM, z)), near, far)


@in_double
def digamma(s: Builder, x: Lanes) -> Lanes:
    """The derivative of lgamma; NaN at 0, -1, -2, ..."""
    one, bound = s.const(1, x), s.const(ASYMPTOTIC_FROM, x)
    reflected = s.lt(x, s.const(0.5, x))
    z = s.select(reflected, s.sub(one, x), x)
    low = s.lt(z, bound)
    up = s.select(low, s.add(z, bound), z)
    inverse = s.div(one, up)
    square = s.mul(inverse, inverse)
    value = s.sub(log(s, up), s.mul(s.const(0.5, x), inverse))
    value = s.sub(value, s.mul(square, horner(s, square, DIGAMMA_SERIES)))
    value = s.select(low, s.sub(value, _reciprocals(s, s.select(low, z, one))), value)

    def below() -> Lanes:
        offset = s.sub(x, s.rint(x))
        pole = s.eq(offset, s.const(0, x))
        cotangent = s.div(s.const(math.pi, x), tan(s, s.mul(s.const(math.pi, x), offset)))
        other = s.select(pole, s.const(math.nan, x), s.sub(value, cotangent))
        return s.select(reflected, other, value)

    return s.either(s.any(reflected), below, lambda: value)


def _reciprocals(s: Builder, z: Lanes) -> Lanes:
    """1 / z + 1 / (z + 1) + ... up to where the series converges, as one division."""
    one = s.const(1, z)
    product, slope, factor = z, one, z
    for _ in range(1, ASYMPTOTIC_FROM):
        factor = s.add(factor, one)
        slope = s.fma(slope, factor, product)
        product = s.mul(product, factor)
    return s.div(slope, product)
