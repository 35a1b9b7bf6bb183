"""Functions of complex numbers as vector code, from functions of real numbers in float64.

Branch cuts and signs are those of W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987);
results for infinities and NaN those of annex G of the C standard, as in NumPy and TensorFlow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from intaglio.native.llvm.vectors import DOUBLE, Lanes, Unsupported

# A builder with the functions of real numbers, and a complex number as its parts.
Builder = Any
Parts = tuple[Lanes, Lanes]
# Beyond this, hyperbolic tangents are 1 in float64.
TANH_SATURATION = 20.0


def of(s: Builder, name: str, *operands: Lanes) -> Lanes:
    """A function of complex numbers by its name. Raises Unsupported for one without code."""
    formula = FORMULAS.get(name)
    if formula is None:
        raise Unsupported(f"{name} of {operands[0].kind.name}")
    parts = [s.parts(x) for x in operands]
    narrow = parts[0][0].kind
    wide = [tuple([s.converted(p, DOUBLE) for p in pair]) for pair in parts]
    real, imaginary = formula(s, *wide)
    return s.complex(s.converted(real, narrow), s.converted(imaginary, narrow))


def _const(s: Builder, value: float) -> Lanes:
    return s.constant(value, DOUBLE)


def _product(s: Builder, x: Parts, y: Parts) -> Parts:
    (a, b), (c, d) = x, y
    return s.sub(s.mul(a, c), s.mul(b, d)), s.add(s.mul(a, d), s.mul(b, c))


def _shifted(s: Builder, z: Parts, by: float) -> Parts:
    return s.add(z[0], _const(s, by)), z[1]


def _conj(s: Builder, z: Parts) -> Parts:
    return z[0], s.neg(z[1])


def _rotated(function: Callable[[Builder, Parts], Parts]) -> Callable[..., Parts]:
    """The circular function of a hyperbolic one: f(z) = -i g(i z), in the branches of g."""

    def rotated(s: Builder, z: Parts) -> Parts:
        real, imaginary = function(s, (s.neg(z[1]), z[0]))
        return imaginary, s.neg(real)

    return rotated


def _infinite(s: Builder, z: Parts) -> Lanes:
    """True where a part is infinite, whatever the other is."""
    return s.logical_or(s.isinf(z[0]), s.isinf(z[1]))


def _finite(s: Builder, x: Lanes) -> Lanes:
    return s.lt(s.abs(x), _const(s, math.inf))


def _is_zero(s: Builder, x: Lanes) -> Lanes:
    return s.eq(x, _const(s, 0))


def _signed(s: Builder, value: float, x: Lanes) -> Lanes:
    """A number with the sign of another."""
    return s.intrinsic("copysign", _const(s, value), x)


def _size(s: Builder, z: Parts) -> Lanes:
    """|z| without intermediate overflow."""
    a, b = map(s.abs, z)
    most, least = s.maximum(a, b), s.minimum(a, b)
    ratio = s.div(least, s.select(s.eq(most, _const(s, 0)), _const(s, 1), most))
    size = s.mul(most, s.sqrt(s.add(s.square(ratio), _const(s, 1))))
    return s.select(_infinite(s, z), _const(s, math.inf), size)


def _log_size(s: Builder, z: Parts) -> Lanes:
    """log |z|, exact where that is near 1."""
    a, b = map(s.abs, z)
    one, half = _const(s, 1), _const(s, 0.5)
    most, least = s.maximum(a, b), s.minimum(a, b)
    product = s.mul(s.sub(most, one), s.add(most, one))
    near = s.mul(half, s.log1p(s.fma(least, least, product)))
    nothing = s.logical_or(s.eq(most, _const(s, 0)), s.isinf(most))
    ratio = s.select(nothing, _const(s, 0), s.div(least, s.select(nothing, one, most)))
    far = s.add(s.log(most), s.mul(half, s.log1p(s.square(ratio))))
    close = s.logical_and(s.gt(most, _const(s, 0.7)), s.lt(most, _const(s, 1.5)))
    return s.select(_infinite(s, z), _const(s, math.inf), s.select(close, near, far))


def log(s: Builder, z: Parts) -> Parts:
    """The logarithm: log |z| and the argument."""
    return _log_size(s, z), s.atan2(z[1], z[0])


def log1p(s: Builder, z: Parts) -> Parts:
    """log(1 + z), exact for small z."""
    a, b = z
    square = s.fma(b, b, s.mul(a, s.add(a, _const(s, 2))))
    near = s.mul(_const(s, 0.5), s.log1p(square))
    far = _log_size(s, _shifted(s, z, 1.0))
    small = s.lt(s.abs(square), _const(s, 0.5))
    return s.select(small, near, far), s.atan2(b, s.add(a, _const(s, 1)))


def expm1(s: Builder, z: Parts) -> Parts:
    """e ** z - 1, exact for small z."""
    a, b = z
    half = s.sin(s.mul(b, _const(s, 0.5)))
    lost = s.mul(_const(s, 2), s.square(half))
    real = s.sub(s.mul(s.expm1(a), s.cos(b)), lost)
    return real, s.select(s.eq(b, _const(s, 0)), b, s.mul(s.exp(a), s.sin(b)))


def sqrt(s: Builder, z: Parts) -> Parts:
    """The square root with a real part that is not negative."""
    a, b = z
    half, zero = _const(s, 0.5), _const(s, 0)
    root = s.sqrt(s.fma(half, s.abs(a), s.mul(half, _size(s, z))))
    root = s.select(s.isinf(b), _const(s, math.inf), root)
    none = s.eq(root, zero)
    rest = s.div(s.mul(half, s.abs(b)), s.select(none, _const(s, 1), root))
    rest = s.select(s.logical_and(s.isinf(b), s.isinf(root)), root, rest)
    right = s.ge(a, zero)
    real, imaginary = s.select(right, root, rest), s.select(right, rest, root)
    # NaN is on neither side of the branch cut.
    imaginary = s.select(s.isnan(a), s.select(s.isinf(b), root, a), imaginary)
    return s.select(s.isnan(a), imaginary, real), s.intrinsic("copysign", imaginary, b)


def _crossed(s: Builder, growing: Lanes, factor: Lanes, angle: Lanes) -> Lanes:
    """growing * factor; the angle itself, a zero with its sign, where the angle is zero."""
    return s.select(s.eq(angle, _const(s, 0)), angle, s.mul(growing, factor))


def sinh(s: Builder, z: Parts) -> Parts:
    """The hyperbolic sine."""
    a, b = z
    steady = s.logical_or(_is_zero(s, a), s.isinf(a))
    aimless = s.logical_and(steady, s.logical_not(_finite(s, b)))
    real = s.select(aimless, a, s.mul(s.sinh(a), s.cos(b)))
    return real, _crossed(s, s.cosh(a), s.sin(b), b)


def cosh(s: Builder, z: Parts) -> Parts:
    """The hyperbolic cosine."""
    a, b = z
    aimless = s.logical_and(s.isinf(a), s.logical_not(_finite(s, b)))
    real = s.select(aimless, _const(s, math.inf), s.mul(s.cosh(a), s.cos(b)))
    flat = s.logical_or(_is_zero(s, a), _is_zero(s, b))
    nothing = s.mul(_signed(s, 0.0, a), _signed(s, 1.0, b))
    return real, s.select(flat, nothing, s.mul(s.sinh(a), s.sin(b)))


def tanh(s: Builder, z: Parts) -> Parts:
    """The hyperbolic tangent."""
    a, b = z
    one, zero, limit = _const(s, 1), _const(s, 0), _const(s, TANH_SATURATION)
    far, infinite = s.gt(s.abs(a), limit), s.isinf(a)
    near = s.select(far, one, a)
    slope, grown = s.tan(b), s.sinh(near)
    beta, square = s.fma(slope, slope, one), s.square(grown)
    below = s.fma(beta, square, one)
    root = s.sqrt(s.add(one, square))
    real = s.div(s.mul(s.mul(beta, root), grown), below)
    tail = s.mul(_const(s, 4), s.mul(s.sin(b), s.cos(b)))
    tail = s.mul(tail, s.exp(s.mul(_const(s, -2), s.abs(a))))
    saturated = s.logical_and(far, s.logical_or(infinite, _finite(s, b)))
    real = s.select(saturated, _signed(s, 1.0, a), s.select(_is_zero(s, a), a, real))
    imaginary = s.select(far, s.select(infinite, zero, tail), s.div(slope, below))
    return real, s.select(_is_zero(s, b), b, imaginary)


def cos(s: Builder, z: Parts) -> Parts:
    """The cosine: the hyperbolic one of i z."""
    return cosh(s, (s.neg(z[1]), z[0]))


def asin(s: Builder, z: Parts) -> Parts:
    """The number whose sine is z."""
    a, b = z
    infinite = _infinite(s, z)
    below = sqrt(s, (s.sub(_const(s, 1), a), s.neg(b)))
    above = sqrt(s, _shifted(s, z, 1.0))
    product = _product(s, below, above)[0]
    real = s.atan2(a, s.select(infinite, s.abs(b), product))
    imaginary = s.asinh(_product(s, _conj(s, below), above)[1])
    real = s.select(_is_zero(s, a), a, real)
    imaginary = s.select(_is_zero(s, b), s.select(_inside(s, a), b, imaginary), imaginary)
    return real, s.select(infinite, _signed(s, math.inf, b), imaginary)


def _inside(s: Builder, x: Lanes) -> Lanes:
    """True where a number is between -1 and 1."""
    return s.le(s.abs(x), _const(s, 1))


def _half_angle(s: Builder, z: Parts, above: Lanes, beside: Lanes) -> Lanes:
    """2 atan2(above, beside), the real part of the inverse cosine; where z is infinite, the
    argument of z."""
    infinite = _infinite(s, z)
    y, x = s.select(infinite, z[1], above), s.select(infinite, z[0], beside)
    return s.mul(s.select(infinite, _const(s, 1), _const(s, 2)), s.atan2(y, x))


def acos(s: Builder, z: Parts) -> Parts:
    """The number whose cosine is z."""
    a, b = z
    below = sqrt(s, (s.sub(_const(s, 1), a), s.neg(b)))
    above = sqrt(s, _shifted(s, z, 1.0))
    real = s.abs(_half_angle(s, z, below[0], above[0]))
    real = s.select(_is_zero(s, a), _const(s, math.pi / 2), real)
    imaginary = s.asinh(_product(s, _conj(s, above), below)[1])
    return real, s.select(_infinite(s, z), _signed(s, math.inf, s.neg(b)), imaginary)


def acosh(s: Builder, z: Parts) -> Parts:
    """The number whose hyperbolic cosine is z."""
    a, b = z
    below, above = sqrt(s, _shifted(s, z, -1.0)), sqrt(s, _shifted(s, z, 1.0))
    real = s.asinh(_product(s, _conj(s, below), above)[0])
    imaginary = _half_angle(s, z, below[1], above[0])
    imaginary = s.select(_is_zero(s, a), _signed(s, math.pi / 2, b), imaginary)
    return s.select(_infinite(s, z), _const(s, math.inf), real), imaginary


def atanh(s: Builder, z: Parts) -> Parts:
    """The number whose hyperbolic tangent is z."""
    a, b = z
    one, quarter = _const(s, 1), _const(s, 0.25)
    size = s.abs(a)
    gap = s.sub(one, size)
    square = s.fma(b, b, s.square(gap))
    real = s.mul(quarter, s.log1p(s.div(s.mul(_const(s, 4), size), square)))
    angle = s.atan2(s.add(b, b), s.sub(s.mul(gap, s.add(one, size)), s.square(b)))
    imaginary = s.mul(_const(s, 0.5), angle)
    infinite = _infinite(s, z)
    around = s.select(s.isnan(b), b, _signed(s, math.pi / 2, b))
    real = s.select(s.logical_or(infinite, _is_zero(s, a)), _const(s, 0), real)
    return s.intrinsic("copysign", real, a), s.select(infinite, around, imaginary)


def power(s: Builder, x: Parts, y: Parts) -> Parts:
    """e ** (y log x), and 1 where y is 0. Of infinities and of 0 the angle is lost: the power is infinite
    with a part that is NaN, or 0 (`special_powers` in `ops/math/arithmetic.py` is the same)."""
    zero, one = _const(s, 0), _const(s, 1)
    length, angle = log(s, x)
    unknown = s.logical_and(s.isinf(length), s.ne(angle, angle))
    a, b = _product(s, y, (length, s.select(unknown, zero, angle)))
    size = s.exp(a)
    real, imaginary = s.mul(size, s.cos(b)), _crossed(s, size, s.sin(b), b)
    lost = s.logical_not(_finite(s, b))
    large = s.logical_and(lost, s.eq(a, _const(s, math.inf)))
    small = s.logical_and(lost, s.eq(a, _const(s, -math.inf)))
    real = s.select(small, zero, s.select(large, _const(s, math.inf), real))
    imaginary = s.select(small, zero, s.select(large, _const(s, math.nan), imaginary))
    no_power = s.logical_and(_is_zero(s, y[0]), _is_zero(s, y[1]))
    return s.select(no_power, one, real), s.select(no_power, zero, imaginary)


FORMULAS: dict[str, Callable[..., Parts]] = {
    **{f.__name__: f for f in (log, log1p, expm1, sqrt, sinh, cosh, tanh, cos)},
    **{f.__name__: f for f in (asin, acos, acosh, atanh, power)},
    "sin": _rotated(sinh),
    "tan": _rotated(tanh),
    "asinh": _rotated(asin),
    "atan": _rotated(atanh),
}
