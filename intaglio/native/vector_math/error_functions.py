"""The error function and its inverse as vector code: a Taylor series up to 1, beyond it the
approximations of the ops' own kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Builder, Lanes
from intaglio.native.llvm.x86 import entries
from intaglio.native.vector_math.double_word import (
    Pair,
    exact_product,
    exact_sum,
    in_double,
    plus,
    times,
)
from intaglio.native.vector_math.exponentials import exp, horner, limited, log
from intaglio.native.vector_math.piecewise_polynomials import Cut, Piecewise
from intaglio.ops.math.error_functions import ERFC, ERFC_FAR, NDTRI_FAR, NDTRI_MIDDLE, NDTRI_TAIL

Ratio = tuple[Sequence[float], Sequence[float]]

# erf(x) = 2/sqrt(pi) (x - x**3/3 + x**5/10 - ...); the first two coefficients as double words.
_FIRST = (1.1283791670955126, 1.533545961316588e-17)
_SECOND = (-0.37612638903183754, 1.3391897206030649e-17)
_SERIES = [
    2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(20)
]

# exp(a * a) erfc(a) from 0 to 11, fitted with errors of a tenth of a unit in the last place of
# float32.
_SINGLE = (
    (
        0.033539386966450944,
        0.23274249177417403,
        0.7389772425528472,
        1.245426297277476,
        1.00000000672791,
    ),
    (
        0.05944642944273728,
        0.4125484533998773,
        1.3391352466338424,
        2.4175199275911257,
        2.373806135208136,
        1.0,
    ),
)

# From 3.95 on erf is 1 in float32; from 10.1 on erfc underflows.
ERF = Piecewise(np.vectorize(math.erf), 4.0, {16: Cut(3, 1.375, 5), 8: Cut(1, 0.375, 7)}, near=True)
SCALED_ERFC = Piecewise(
    np.vectorize(lambda a: math.exp(a * a) * math.erfc(a)),
    10.2,
    {16: Cut(2, 0.75, 6), 8: Cut(1, 0.75, 8)},
)


def _ratio(s: Builder, x: Lanes, coefficients: Ratio) -> Lanes:
    above, below = [_polynomial(s, x, part) for part in coefficients]
    return s.div(above, below)


def _polynomial(s: Builder, x: Lanes, coefficients: Sequence[float]) -> Lanes:
    total = s.const(coefficients[0], x)
    for c in coefficients[1:]:
        total = s.fma(total, x, s.const(c, x))
    return total


def _inside(s: Builder, x: Lanes) -> Pair:
    """erf(x) for |x| <= 1, as a double word, because 1 - erf(x) cancels."""
    zero = s.const(0, x)
    first, second = (Pair(*[s.const(part, x) for part in parts]) for parts in (_FIRST, _SECOND))
    square = exact_product(s, x, x)
    rest = s.mul(square.high, horner(s, square.high, _SERIES[2:]))
    factor = plus(s, first, times(s, square, plus(s, second, Pair(rest, zero))))
    return times(s, Pair(x, zero), factor)


def _outside(s: Builder, a: Lanes) -> Lanes:
    """erfc(a) for a >= 1: exp(-a * a) times a ratio of polynomials."""
    bounded = s.minimum(a, s.const(40, a))
    near = _ratio(s, s.minimum(bounded, s.const(8, a)), ERFC)
    far = _ratio(s, s.maximum(bounded, s.const(8, a)), ERFC_FAR)
    ratio = s.select(s.ge(bounded, s.const(8, a)), far, near)
    square = exact_product(s, bounded, bounded)
    return s.mul(exp(s, s.neg(square.high), s.neg(square.low)), ratio)


def erf(s: Builder, x: Lanes) -> Lanes:
    """The error function."""
    if entries(x.kind):
        a = limited(s, s.abs(x), high=ERF.top)
        return s.intrinsic("copysign", ERF(s, a), x)
    one, a = s.const(1, x), s.abs(x)
    square = s.mul(x, x)
    # x + (2/sqrt(pi) - 1) x + ...: the first coefficient itself is not exact enough.
    series = [_FIRST[0] - 1, *_SERIES[1 : 10 if x.kind == FLOAT else 20]]
    near = s.fma(x, horner(s, square, series), x)
    # From 6 on it is 1; up to 8 one ratio is used.
    beyond = s.minimum(s.maximum(a, one), s.const(6, x))
    square = exact_product(s, beyond, beyond)
    tail = exp(s, s.neg(square.high), s.neg(square.low))
    tail = s.mul(tail, _ratio(s, beyond, _SINGLE if x.kind == FLOAT else ERFC))
    far = s.intrinsic("copysign", s.sub(one, tail), x)
    y = s.select(s.gt(a, one), far, near)
    return s.select(s.isnan(x), x, y)


def erfc(s: Builder, x: Lanes) -> Lanes:
    """1 - erf(x), without cancellation where it is small."""
    return _single_erfc(s, x) if x.kind == FLOAT else _double_erfc(s, x)


def _single_erfc(s: Builder, x: Lanes) -> Lanes:
    """For float32: exp(-a * a) times a smooth function, up to where the result underflows."""
    if not entries(x.kind):
        return s.converted(_double_erfc(s, s.converted(x, DOUBLE)), FLOAT)
    a = limited(s, s.abs(x), high=SCALED_ERFC.top)
    square = exact_product(s, a, a)
    power = exp(s, s.neg(square.high), s.neg(square.low))
    # Rounded once: the exponential alone may have nearly the error that the result may have.
    scaled = SCALED_ERFC.pair(s, a)
    product = exact_product(s, power, scaled.high)
    tail = s.add(product.high, s.fma(power, scaled.low, product.low))
    return s.select(s.lt(x, s.const(0, x)), s.sub(s.const(2, x), tail), tail)


def _double_erfc(s: Builder, x: Lanes) -> Lanes:
    one, a = s.const(1, x), s.abs(x)
    tail = _outside(s, s.maximum(a, one))
    far = s.select(s.lt(x, s.const(0, x)), s.sub(s.const(2, x), tail), tail)
    inside = _inside(s, s.select(s.le(a, one), x, one))
    rest = exact_sum(s, one, s.neg(inside.high))
    near = s.add(rest.high, s.sub(rest.low, inside.low))
    y = s.select(s.le(a, one), near, far)
    return s.select(s.isnan(x), s.const(math.nan, x), y)


@in_double
def ndtri(s: Builder, p: Lanes) -> Lanes:
    """The quantile function of the standard normal distribution."""
    zero, one, edge = s.const(0, p), s.const(1, p), math.exp(-2)
    upper = s.gt(p, s.const(1 - edge, p))
    low = s.select(upper, s.sub(one, p), p)
    middle = s.gt(low, s.const(edge, p))
    y = s.sub(low, s.const(0.5, p))
    square = s.mul(y, y)
    central = s.fma(y, s.mul(square, _ratio(s, square, NDTRI_MIDDLE)), y)
    central = s.mul(central, s.const(math.sqrt(2 * math.pi), p))
    inside = s.select(s.gt(low, zero), low, s.const(0.1, p))
    x = s.sqrt(s.mul(s.const(-2, p), log(s, inside)))
    z = s.div(one, x)
    near, far = (s.mul(z, _ratio(s, z, part)) for part in (NDTRI_TAIL, NDTRI_FAR))
    rest = s.select(s.lt(x, s.const(8, p)), near, far)
    tail = s.sub(s.sub(x, s.mul(log(s, x), z)), rest)
    y = s.select(middle, central, s.select(upper, tail, s.neg(tail)))
    y = s.select(s.eq(p, zero), s.const(-math.inf, p), y)
    y = s.select(s.eq(p, one), s.const(math.inf, p), y)
    outside = s.const(math.nan, p)
    return s.select(s.ge(p, zero), s.select(s.le(p, one), y, outside), outside)


@in_double
def erfinv(s: Builder, x: Lanes) -> Lanes:
    """The inverse of the error function."""
    one, half, a = s.const(1, x), s.const(0.5, x), s.abs(x)
    y = ndtri(s, s.mul(s.sub(one, a), half))
    y = s.intrinsic("copysign", s.mul(y, s.const(-math.sqrt(0.5), x)), x)
    # One step of Newton's method: near 0 the probability has lost digits.
    slope = s.mul(s.const(2 / math.sqrt(math.pi), x), exp(s, s.neg(s.mul(y, y))))
    better = s.sub(y, s.div(s.sub(erf(s, y), x), slope))
    return s.select(s.lt(a, half), better, y)
