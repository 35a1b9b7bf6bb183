"""Bessel functions of the first kind as vector code, by the series of the ops' own kernels.

Up to 8 they are Chebyshev series, which all elements take; beyond it series in 1 / x, which are computed
if any element is there (`ops/math/bessel_functions.py`), in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from intaglio.native.llvm.vectors import Builder, Lanes
from intaglio.native.vector_math.double_word import in_double
from intaglio.native.vector_math.exponentials import exp
from intaglio.native.vector_math.trigonometric import cos, sin
from intaglio.ops.math.bessel_series import (
    EDGE,
    I0_FAR,
    I0_NEAR,
    I1_FAR,
    I1_NEAR,
    J0_NEAR,
    J1_NEAR,
    P0,
    P1,
    Q0,
    Q1,
)


def _series(s: Builder, t: Lanes, coefficients: Sequence[float]) -> Lanes:
    """A Chebyshev series by Clenshaw's recurrence."""
    first, *others = coefficients
    double, one, two = s.add(t, t), s.const(0, t), s.const(0, t)
    for c in reversed(others):
        one, two = s.fma(double, one, s.sub(s.const(c, t), two)), one
    return s.fma(t, one, s.sub(s.const(first, t), two))


def _joined(s: Builder, size: Lanes, near: Lanes, far: Callable[[], Lanes]) -> Lanes:
    """`near` up to the edge, what `far` gives beyond it."""
    beyond = s.gt(size, s.const(EDGE, size))
    return s.either(s.any(beyond), lambda: s.select(beyond, far(), near), lambda: near)


def _scaled(s: Builder, x: Lanes, near: Sequence[float], far: Sequence[float], order: int) -> Lanes:
    """exp(-|x|) times a modified function."""
    size, one = s.abs(x), s.const(1, x)
    low = _series(s, s.fma(size, s.const(0.25, x), s.neg(one)), near)

    def high() -> Lanes:
        t = s.sub(s.div(s.const(16, x), size), one)
        return s.div(_series(s, t, far), s.sqrt(size))

    value = _joined(s, size, s.mul(size, low) if order else low, high)
    return s.intrinsic("copysign", value, x) if order else value


def _i0e(s: Builder, x: Lanes) -> Lanes:
    return _scaled(s, x, I0_NEAR, I0_FAR, 0)


def _i1e(s: Builder, x: Lanes) -> Lanes:
    return _scaled(s, x, I1_NEAR, I1_FAR, 1)


def _i0(s: Builder, x: Lanes) -> Lanes:
    return s.mul(exp(s, s.abs(x)), _i0e(s, x))


def _i1(s: Builder, x: Lanes) -> Lanes:
    return s.mul(exp(s, s.abs(x)), _i1e(s, x))


def _first(
    s: Builder, x: Lanes, near: Sequence[float], waves: tuple[Sequence[float], ...], order: int
) -> Lanes:
    """J of order 0 or 1."""
    size, one = s.abs(x), s.const(1, x)
    square = s.mul(size, size)
    low = _series(s, s.fma(square, s.const(1 / 32, x), s.neg(one)), near)

    def high() -> Lanes:
        t = s.sub(s.div(s.const(128, x), square), one)
        p, q = (_series(s, t, c) for c in waves)
        phase = s.sub(size, s.const((2 * order + 1) * math.pi / 4, x))
        scale = s.sqrt(s.div(s.const(2 / math.pi, x), size))
        wave = s.sub(s.mul(p, cos(s, phase)), s.mul(s.div(q, size), sin(s, phase)))
        return s.mul(scale, wave)

    value = _joined(s, size, s.mul(size, low) if order else low, high)
    if not order:
        return value
    return s.select(s.lt(x, s.const(0, x)), s.neg(value), value)


def _j0(s: Builder, x: Lanes) -> Lanes:
    return _first(s, x, J0_NEAR, (P0, Q0), 0)


def _j1(s: Builder, x: Lanes) -> Lanes:
    return _first(s, x, J1_NEAR, (P1, Q1), 1)


# By the names of the rules' builder.
BESSEL = {
    f"bessel{function.__name__}": in_double(function)
    for function in (_i0, _i0e, _i1, _i1e, _j0, _j1)
}
