"""Bessel functions of orders 0 and 1, of all kinds.

Computed in double precision: Chebyshev series up to 8 (modified ones of the second kind: up to 2),
beyond it series in 1 / x of the function without its growth, decay or oscillation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.opdef import raw
from intaglio.opdef.op import op
from intaglio.ops.families import constant
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
from intaglio.ops.math.chebyshev import PiecewiseSeries, pieces, series


def i0e(x: Any) -> Any:
    """exp(-|x|) I0(x)."""
    size = np.abs(x)
    return pieces(
        size,
        [
            (size <= EDGE, lambda s: series(s / 4 - 1, I0_NEAR)),
            (size > EDGE, lambda s: series(16 / s - 1, I0_FAR) / np.sqrt(s)),
        ],
    )


def i1e(x: Any) -> Any:
    """exp(-|x|) I1(x)."""
    size = np.abs(x)
    result = pieces(
        size,
        [
            (size <= EDGE, lambda s: s * series(s / 4 - 1, I1_NEAR)),
            (size > EDGE, lambda s: series(16 / s - 1, I1_FAR) / np.sqrt(s)),
        ],
    )
    return np.copysign(result, x)


def i0(x: Any) -> Any:
    """The modified function of the first kind, order 0; NaN at infinity."""
    return np.exp(np.abs(x)) * i0e(x)


def i1(x: Any) -> Any:
    """The modified function of the first kind, order 1; NaN at infinity."""
    return np.exp(np.abs(x)) * i1e(x)


def _k0_near(x: Any) -> Any:
    return series(x * x / 2 - 1, K0_NEAR) - np.log(x / 2) * i0(x)


def _k1_near(x: Any) -> Any:
    return series(x * x / 2 - 1, K1_NEAR) / x + np.log(x / 2) * i1(x)


def k0(x: Any, scaled: bool = False) -> Any:
    """The modified function of the second kind, order 0, or exp(x) times it."""
    return _second(x, _k0_near, K0_FAR, scaled)


def k1(x: Any, scaled: bool = False) -> Any:
    """The modified function of the second kind, order 1, or exp(x) times it."""
    return _second(x, _k1_near, K1_FAR, scaled)


def _infinite(x: Any) -> Any:
    return np.full(np.shape(x), np.inf)


def _second(x: Any, near: Any, far: Any, scaled: bool) -> Any:
    def low(s: Any) -> Any:
        return np.exp(s) * near(s) if scaled else near(s)

    def high(s: Any) -> Any:
        result = series(4 / s - 1, far) / np.sqrt(s)
        return result if scaled else np.exp(-s) * result

    return pieces(x, [(x <= 0, _infinite), ((x > 0) & (x <= 2), low), (x > 2, high)])


def _waves(x: Any, order: int) -> tuple[Any, Any, Any, Any]:
    """(scale, P, Q, phase) with J = scale * (P cos - Q sin), Y = scale * (P sin + Q cos)."""
    t = 128 / (x * x) - 1
    p, q = (P0, Q0) if order == 0 else (P1, Q1)
    phase = x - (2 * order + 1) * math.pi / 4
    return np.sqrt(2 / (math.pi * x)), series(t, p), series(t, q) / x, phase


def _first_far(order: int) -> Any:
    def value(x: Any) -> Any:
        scale, p, q, phase = _waves(x, order)
        return scale * (p * np.cos(phase) - q * np.sin(phase))

    return value


def _second_far(order: int) -> Any:
    def value(x: Any) -> Any:
        scale, p, q, phase = _waves(x, order)
        return scale * (p * np.sin(phase) + q * np.cos(phase))

    return value


def j0(x: Any) -> Any:
    """The function of the first kind, order 0; NaN at infinity."""
    size = np.abs(x)
    return pieces(
        size,
        [(size <= EDGE, lambda s: series(s * s / 32 - 1, J0_NEAR)), (size > EDGE, _first_far(0))],
    )


def j1(x: Any) -> Any:
    """The function of the first kind, order 1; NaN at infinity."""
    size = np.abs(x)
    result = pieces(
        size,
        [
            (size <= EDGE, lambda s: s * series(s * s / 32 - 1, J1_NEAR)),
            (size > EDGE, _first_far(1)),
        ],
    )
    return np.where(x < 0, -result, result)


def y0(x: Any) -> Any:
    """The function of the second kind, order 0; -infinity up to 0."""

    def near(s: Any) -> Any:
        return series(s * s / 32 - 1, Y0_NEAR) + 2 / math.pi * np.log(s / 2) * j0(s)

    return _other(x, near, _second_far(0))


def y1(x: Any) -> Any:
    """The function of the second kind, order 1; -infinity up to 0."""

    def near(s: Any) -> Any:
        smooth = s * series(s * s / 32 - 1, Y1_NEAR)
        return smooth + 2 / math.pi * (np.log(s / 2) * j1(s) - 1 / s)

    return _other(x, near, _second_far(1))


def _other(x: Any, near: Any, far: Any) -> Any:
    result = pieces(x, [((x > 0) & (x <= EDGE), near), (x > EDGE, far)])
    return np.where(x <= 0, -np.inf, result)


def _over(y: Any, x: Any, at_zero: float) -> Any:
    """y / x, and its limit at 0."""
    zero = raw.Equal(x, constant(0, x))
    safe_x = raw.SelectV2(zero, constant(1, x), x)
    return raw.SelectV2(zero, constant(at_zero, x), raw.RealDiv(y, safe_x))


@op
class BesselI0(PiecewiseSeries):
    """The modified Bessel function of the first kind, order 0."""

    function = staticmethod(i0)

    def scalar(self, s, x):
        return s.bessel_i0(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.BesselI1(x))


@op
class BesselI0e(PiecewiseSeries):
    """exp(-|x|) I0(x)."""

    function = staticmethod(i0e)

    def scalar(self, s, x):
        return s.bessel_i0e(x)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselI1e(x), raw.Mul(raw.Sign(x), y)))


@op
class BesselI1(PiecewiseSeries):
    """The modified Bessel function of the first kind, order 1."""

    function = staticmethod(i1)

    def scalar(self, s, x):
        return s.bessel_i1(x)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselI0(x), _over(y, x, 0.5)))


@op
class BesselI1e(PiecewiseSeries):
    """exp(-|x|) I1(x)."""

    function = staticmethod(i1e)

    def scalar(self, s, x):
        return s.bessel_i1e(x)

    def gradient(self, dy, x, y) -> Any:
        rest = raw.AddV2(raw.Mul(raw.Sign(x), y), _over(y, x, 0.5))
        return raw.Mul(dy, raw.Sub(raw.BesselI0e(x), rest))


@op
class BesselK0(PiecewiseSeries):
    """The modified Bessel function of the second kind, order 0."""

    function = staticmethod(k0)

    def scalar(self, s, x):
        return s.bessel_k0(x)

    def gradient(self, dy, x) -> Any:
        return raw.Neg(raw.Mul(dy, raw.BesselK1(x)))


@op
class BesselK0e(PiecewiseSeries):
    """exp(x) K0(x)."""

    function = staticmethod(lambda x: k0(x, True))

    def scalar(self, s, x):
        return s.bessel_k0e(x)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(y, raw.BesselK1e(x)))


@op
class BesselK1(PiecewiseSeries):
    """The modified Bessel function of the second kind, order 1."""

    function = staticmethod(k1)

    def scalar(self, s, x):
        return s.bessel_k1(x)

    def gradient(self, dy, x, y) -> Any:
        rest = raw.AddV2(raw.BesselK0(x), raw.RealDiv(y, x))
        return raw.Neg(raw.Mul(dy, rest))


@op
class BesselK1e(PiecewiseSeries):
    """exp(x) K1(x)."""

    function = staticmethod(lambda x: k1(x, True))

    def scalar(self, s, x):
        return s.bessel_k1e(x)

    def gradient(self, dy, x, y) -> Any:
        rest = raw.AddV2(raw.BesselK0e(x), raw.RealDiv(y, x))
        return raw.Mul(dy, raw.Sub(y, rest))


@op
class BesselJ0(PiecewiseSeries):
    """The Bessel function of the first kind, order 0."""

    function = staticmethod(j0)

    def scalar(self, s, x):
        return s.bessel_j0(x)

    def gradient(self, dy, x) -> Any:
        return raw.Neg(raw.Mul(dy, raw.BesselJ1(x)))


@op
class BesselJ1(PiecewiseSeries):
    """The Bessel function of the first kind, order 1."""

    function = staticmethod(j1)

    def scalar(self, s, x):
        return s.bessel_j1(x)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselJ0(x), _over(y, x, 0.5)))


@op
class BesselY0(PiecewiseSeries):
    """The Bessel function of the second kind, order 0."""

    function = staticmethod(y0)

    def scalar(self, s, x):
        return s.bessel_y0(x)

    def gradient(self, dy, x) -> Any:
        return raw.Neg(raw.Mul(dy, raw.BesselY1(x)))


@op
class BesselY1(PiecewiseSeries):
    """The Bessel function of the second kind, order 1."""

    function = staticmethod(y1)

    def scalar(self, s, x):
        return s.bessel_y1(x)

    def gradient(self, dy, x, y) -> Any:
        return raw.Mul(dy, raw.Sub(raw.BesselY0(x), raw.RealDiv(y, x)))
