"""Bessel functions as vector code, by the series of the ops' own kernels.

Up to 8 (modified ones of the second kind: up to 2) they are Chebyshev series in x, beyond it series
in 1 / x (`ops/math/bessel_functions.py`), in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from intaglio.native.llvm.vectors import Builder, Lanes
from intaglio.native.vector_math.double_word import in_double_by_precision
from intaglio.native.vector_math.exponentials import exp, log
from intaglio.native.vector_math.piecewise_series import pieces, series
from intaglio.native.vector_math.trigonometric import cos, sin
from intaglio.ops.math.bessel_series import (
    EDGE,
    I0_FAR,
    I0_NEAR,
    I1_FAR,
    I1_NEAR,
    J0_NEAR,
    J1_NEAR,
    K0_FAR,
    K0_NEAR,
    K1_FAR,
    K1_NEAR,
    P0,
    P1,
    Q0,
    Q1,
    Y0_NEAR,
    Y1_NEAR,
)

Function = Callable[[Builder, bool, Lanes], Lanes]
# The edge up to which modified functions of the second kind are a series in x.
SECOND_EDGE = 2.0


def _joined(s: Builder, size: Lanes, near: Callable[[], Lanes], far: Callable[[], Lanes]) -> Lanes:
    """`near` up to the edge, `far` beyond it; NaN for NaN."""
    edge = s.const(EDGE, size)
    return pieces(s, s.const(math.nan, size), (s.le(size, edge), near), (s.gt(size, edge), far))


def _scaled(
    s: Builder, short: bool, x: Lanes, near: Sequence[float], far: Sequence[float], order: int
) -> Lanes:
    """exp(-|x|) times a modified function of the first kind."""
    size, one = s.abs(x), s.const(1, x)

    def low() -> Lanes:
        value = series(s, s.fma(size, s.const(0.25, x), s.neg(one)), near, short)
        return s.mul(size, value) if order else value

    def high() -> Lanes:
        t = s.sub(s.div(s.const(16, x), size), one)
        return s.div(series(s, t, far, short), s.sqrt(size))

    value = _joined(s, size, low, high)
    return s.intrinsic("copysign", value, x) if order else value


def _i0e(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _scaled(s, short, x, I0_NEAR, I0_FAR, 0)


def _i1e(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _scaled(s, short, x, I1_NEAR, I1_FAR, 1)


def _i0(s: Builder, short: bool, x: Lanes) -> Lanes:
    return s.mul(exp(s, s.abs(x)), _i0e(s, short, x))


def _i1(s: Builder, short: bool, x: Lanes) -> Lanes:
    return s.mul(exp(s, s.abs(x)), _i1e(s, short, x))


def _second(
    s: Builder, short: bool, x: Lanes, near: Function, far: Sequence[float], scaled: bool
) -> Lanes:
    """A modified function of the second kind, or exp(x) times it; infinite up to 0."""
    zero, edge = s.const(0, x), s.const(SECOND_EDGE, x)

    def low() -> Lanes:
        value = near(s, short, x)
        return s.mul(exp(s, x), value) if scaled else value

    def high() -> Lanes:
        t = s.sub(s.div(s.const(4, x), x), s.const(1, x))
        value = s.div(series(s, t, far, short), s.sqrt(x))
        return value if scaled else s.mul(exp(s, s.neg(x)), value)

    infinite = s.select(s.le(x, zero), s.const(math.inf, x), s.const(math.nan, x))
    inside = s.logical_and(s.gt(x, zero), s.le(x, edge))
    return pieces(s, infinite, (inside, low), (s.gt(x, edge), high))


def _near_zero(s: Builder, x: Lanes) -> tuple[Lanes, Lanes]:
    """x^2 / 2 - 1, the argument of a series up to the edge, and log(x / 2)."""
    half = s.mul(x, s.const(0.5, x))
    return s.sub(s.mul(x, half), s.const(1, x)), log(s, half)


def _k0_near(s: Builder, short: bool, x: Lanes) -> Lanes:
    t, logarithm = _near_zero(s, x)
    return s.sub(series(s, t, K0_NEAR, short), s.mul(logarithm, _i0(s, short, x)))


def _k1_near(s: Builder, short: bool, x: Lanes) -> Lanes:
    t, logarithm = _near_zero(s, x)
    return s.add(s.div(series(s, t, K1_NEAR, short), x), s.mul(logarithm, _i1(s, short, x)))


def _k0(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _second(s, short, x, _k0_near, K0_FAR, False)


def _k0e(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _second(s, short, x, _k0_near, K0_FAR, True)


def _k1(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _second(s, short, x, _k1_near, K1_FAR, False)


def _k1e(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _second(s, short, x, _k1_near, K1_FAR, True)


def _wave(s: Builder, short: bool, x: Lanes, order: int, second: bool) -> Lanes:
    """J or Y of order 0 or 1 beyond the edge."""
    p, q = (P0, Q0) if order == 0 else (P1, Q1)
    t = s.sub(s.div(s.const(128, x), s.mul(x, x)), s.const(1, x))
    p_value, q_value = series(s, t, p, short), s.div(series(s, t, q, short), x)
    phase = s.sub(x, s.const((2 * order + 1) * math.pi / 4, x))
    scale = s.sqrt(s.div(s.const(2 / math.pi, x), x))
    sine, cosine = sin(s, phase), cos(s, phase)
    if second:
        return s.mul(scale, s.add(s.mul(p_value, sine), s.mul(q_value, cosine)))
    return s.mul(scale, s.sub(s.mul(p_value, cosine), s.mul(q_value, sine)))


def _in_square(s: Builder, short: bool, x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """A series in x^2 up to the edge."""
    t = s.fma(s.mul(x, x), s.const(1 / 32, x), s.const(-1, x))
    return series(s, t, coefficients, short)


def _j0_near(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _in_square(s, short, x, J0_NEAR)


def _j1_near(s: Builder, short: bool, x: Lanes) -> Lanes:
    return s.mul(x, _in_square(s, short, x, J1_NEAR))


def _j0(s: Builder, short: bool, x: Lanes) -> Lanes:
    size = s.abs(x)
    far = lambda: _wave(s, short, size, 0, False)  # noqa: E731
    return _joined(s, size, lambda: _j0_near(s, short, size), far)


def _j1(s: Builder, short: bool, x: Lanes) -> Lanes:
    size = s.abs(x)
    far = lambda: _wave(s, short, size, 1, False)  # noqa: E731
    value = _joined(s, size, lambda: _j1_near(s, short, size), far)
    return s.select(s.lt(x, s.const(0, x)), s.neg(value), value)


def _other(s: Builder, short: bool, x: Lanes, near: Function, order: int) -> Lanes:
    """A function of the second kind; -infinity up to 0."""
    zero, edge = s.const(0, x), s.const(EDGE, x)
    infinite = s.select(s.le(x, zero), s.const(-math.inf, x), s.const(math.nan, x))
    return pieces(
        s,
        infinite,
        (s.logical_and(s.gt(x, zero), s.le(x, edge)), lambda: near(s, short, x)),
        (s.gt(x, edge), lambda: _wave(s, short, x, order, True)),
    )


def _y0_near(s: Builder, short: bool, x: Lanes) -> Lanes:
    logarithm = s.mul(s.const(2 / math.pi, x), log(s, s.mul(x, s.const(0.5, x))))
    return s.fma(logarithm, _j0_near(s, short, x), _in_square(s, short, x, Y0_NEAR))


def _y1_near(s: Builder, short: bool, x: Lanes) -> Lanes:
    smooth = s.mul(x, _in_square(s, short, x, Y1_NEAR))
    product = s.mul(log(s, s.mul(x, s.const(0.5, x))), _j1_near(s, short, x))
    rest = s.sub(product, s.div(s.const(1, x), x))
    return s.fma(s.const(2 / math.pi, x), rest, smooth)


def _y0(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _other(s, short, x, _y0_near, 0)


def _y1(s: Builder, short: bool, x: Lanes) -> Lanes:
    return _other(s, short, x, _y1_near, 1)


# The functions by their names in the rules' builder.
BESSEL = {
    f"bessel{function.__name__}": in_double_by_precision(function)
    for function in (_i0, _i0e, _i1, _i1e, _j0, _j1, _k0, _k0e, _k1, _k1e, _y0, _y1)
}
