"""Functions of complex numbers as vector code, from those of their parts in float64.

Branches and signs are those of W. Kahan, Branch cuts for complex elementary functions (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from intaglio.native.llvm.vectors import DOUBLE, Lanes, Unsupported

# A builder with the functions of real numbers, and a complex number as its parts.
Builder = Any
Parts = tuple[Lanes, Lanes]
# Beyond this hyperbolic tangents are 1 in float64.
TANH_SATURATION = 20.0


def of(s: Builder, name: str, *operands: Lanes) -> Lanes:
    """A function of complex numbers by its name. Raises Unsupported for one that is not here."""
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
    """f with which i f(z) is the function of i z: a circular function of a hyperbolic one."""

    def rotated(s: Builder, z: Parts) -> Parts:
        real, imaginary = function(s, (s.neg(z[1]), z[0]))
        return imaginary, s.neg(real)

    return rotated


def _size(s: Builder, z: Parts) -> Lanes:
    """|z| without intermediate overflow."""
    a, b = map(s.abs, z)
    most, least = s.maximum(a, b), s.minimum(a, b)
    ratio = s.div(least, s.select(s.eq(most, _const(s, 0)), _const(s, 1), most))
    size = s.mul(most, s.sqrt(s.add(s.square(ratio), _const(s, 1))))
    infinite = s.logical_or(s.isinf(a), s.isinf(b))
    return s.select(infinite, _const(s, math.inf), size)


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
    return s.select(close, near, far)


def log(s: Builder, z: Parts) -> Parts:
    """The logarithm: of the size, and the angle."""
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
    """The root with a real part that is not negative."""
    a, b = z
    half, zero = _const(s, 0.5), _const(s, 0)
    root = s.sqrt(s.fma(half, s.abs(a), s.mul(half, _size(s, z))))
    none = s.eq(root, zero)
    rest = s.div(s.mul(half, s.abs(b)), s.select(none, _const(s, 1), root))
    rest = s.select(s.logical_and(s.isinf(b), s.isinf(root)), root, rest)
    right = s.ge(a, zero)
    real, imaginary = s.select(right, root, rest), s.select(right, rest, root)
    # A number that is none has no side.
    imaginary = s.select(s.isnan(a), s.select(s.isinf(b), root, a), imaginary)
    return s.select(s.isnan(a), imaginary, real), s.intrinsic("copysign", imaginary, b)


def _crossed(s: Builder, growing: Lanes, factor: Lanes, angle: Lanes) -> Lanes:
    """A product that is nothing, with its sign, where the angle is nothing."""
    return s.select(s.eq(angle, _const(s, 0)), angle, s.mul(growing, factor))


def sinh(s: Builder, z: Parts) -> Parts:
    """The hyperbolic sine."""
    a, b = z
    return s.mul(s.sinh(a), s.cos(b)), _crossed(s, s.cosh(a), s.sin(b), b)


def cosh(s: Builder, z: Parts) -> Parts:
    """The hyperbolic cosine."""
    a, b = z
    return s.mul(s.cosh(a), s.cos(b)), s.mul(s.sinh(a), s.sin(b))


def tanh(s: Builder, z: Parts) -> Parts:
    """The hyperbolic tangent."""
    a, b = z
    one, limit = _const(s, 1), _const(s, TANH_SATURATION)
    far = s.gt(s.abs(a), limit)
    near = s.select(far, one, a)
    slope, grown = s.tan(b), s.sinh(near)
    beta, square = s.fma(slope, slope, one), s.square(grown)
    below = s.fma(beta, square, one)
    root = s.sqrt(s.add(one, square))
    real = s.div(s.mul(s.mul(beta, root), grown), below)
    tail = s.mul(_const(s, 4), s.mul(s.sin(b), s.cos(b)))
    tail = s.mul(tail, s.exp(s.mul(_const(s, -2), s.abs(a))))
    real = s.select(far, s.intrinsic("copysign", one, a), real)
    return real, s.select(far, tail, s.div(slope, below))


def cos(s: Builder, z: Parts) -> Parts:
    """The cosine: the hyperbolic one of i z."""
    return cosh(s, (s.neg(z[1]), z[0]))


def asin(s: Builder, z: Parts) -> Parts:
    """The number whose sine is z."""
    below = sqrt(s, (s.sub(_const(s, 1), z[0]), s.neg(z[1])))
    above = sqrt(s, _shifted(s, z, 1.0))
    real = s.atan2(z[0], _product(s, below, above)[0])
    return real, s.asinh(_product(s, _conj(s, below), above)[1])


def acos(s: Builder, z: Parts) -> Parts:
    """The number whose cosine is z."""
    below = sqrt(s, (s.sub(_const(s, 1), z[0]), s.neg(z[1])))
    above = sqrt(s, _shifted(s, z, 1.0))
    real = s.mul(_const(s, 2), s.atan2(below[0], above[0]))
    return real, s.asinh(_product(s, _conj(s, above), below)[1])


def acosh(s: Builder, z: Parts) -> Parts:
    """The number whose hyperbolic cosine is z."""
    below, above = sqrt(s, _shifted(s, z, -1.0)), sqrt(s, _shifted(s, z, 1.0))
    real = s.asinh(_product(s, _conj(s, below), above)[0])
    return real, s.mul(_const(s, 2), s.atan2(below[1], above[0]))


def atanh(s: Builder, z: Parts) -> Parts:
    """The number whose hyperbolic tangent is z."""
    a, b = z
    one, quarter = _const(s, 1), _const(s, 0.25)
    size = s.abs(a)
    gap = s.sub(one, size)
    square = s.fma(b, b, s.square(gap))
    real = s.mul(quarter, s.log1p(s.div(s.mul(_const(s, 4), size), square)))
    angle = s.atan2(s.add(b, b), s.sub(s.mul(gap, s.add(one, size)), s.square(b)))
    return s.intrinsic("copysign", real, a), s.mul(_const(s, 0.5), angle)


def power(s: Builder, x: Parts, y: Parts) -> Parts:
    """e ** (y log x); of nothing, 1 or nothing."""
    zero, one = _const(s, 0), _const(s, 1)
    a, b = _product(s, y, log(s, x))
    size = s.exp(a)
    real, imaginary = s.mul(size, s.cos(b)), _crossed(s, size, s.sin(b), b)
    nothing = s.logical_and(s.eq(x[0], zero), s.eq(x[1], zero))
    no_power = s.logical_and(s.eq(y[0], zero), s.eq(y[1], zero))
    whole = s.logical_and(s.gt(y[0], zero), s.eq(y[1], zero))
    lost = s.select(whole, zero, _const(s, math.nan))
    real = s.select(nothing, lost, real)
    imaginary = s.select(nothing, lost, imaginary)
    return s.select(no_power, one, real), s.select(no_power, zero, imaginary)


FORMULAS: dict[str, Callable[..., Parts]] = {
    **{f.__name__: f for f in (log, log1p, expm1, sqrt, sinh, cosh, tanh, cos)},
    **{f.__name__: f for f in (asin, acos, acosh, atanh, power)},
    "sin": _rotated(sinh),
    "tan": _rotated(tanh),
    "asinh": _rotated(asin),
    "atan": _rotated(atanh),
}
