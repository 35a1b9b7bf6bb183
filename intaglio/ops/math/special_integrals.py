"""Integrals without a closed form: exponential, Fresnel's, Dawson's and Spence's.

Computed in double precision from Chebyshev series.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.opdef import raw
from intaglio.opdef.op import op
from intaglio.ops.families import constant
from intaglio.ops.math.chebyshev import PiecewiseSeries, pieces, series
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


def dawson(x: Any) -> Any:
    """exp(-x^2) times the integral of exp(t^2) from 0 to x."""
    size = np.abs(x)
    result = pieces(
        size,
        [
            (size <= 2.5, lambda s: s * series(s * s / 3.125 - 1, DAWSON_NEAR)),
            ((size > 2.5) & (size <= 5), lambda s: series((s - 2.5) / 1.25 - 1, DAWSON_MIDDLE) / s),
            (size > 5, lambda s: series(50 / (s * s) - 1, DAWSON_FAR) / s),
        ],
    )
    return np.where(x < 0, -result, result)


def _ei_near(x: Any) -> Any:
    direct = EULER + np.log(x) + x * np.exp(x / 2) * series(x / 3 - 1, EI_NEAR)
    # Near its zero the sum cancels; there the power series around the zero is used.
    d = x - EI_ZERO - EI_REST
    near = np.abs(d) < 1e-2
    h = np.where(near, d, 0.0)
    return np.where(near, _around_zero(h), direct)


def _around_zero(h: Any) -> Any:
    """The power series of Ei around its zero: from x * f' = exp(x)."""
    total = np.zeros_like(h)
    for c in reversed(EI_AROUND_ZERO):
        total = (total + c) * h
    return total


def expint(x: Any) -> Any:
    """The integral of exp(t) / t from -infinity to x, for x > 0; NaN below 0."""
    result = pieces(
        x,
        [
            ((x > 0) & (x <= 6), _ei_near),
            ((x > 6) & (x <= 24), lambda s: np.exp(s) / s * series((s - 6) / 9 - 1, EI_MIDDLE)),
            (x > 24, lambda s: np.exp(s) / s * series(48 / s - 1, EI_FAR)),
        ],
    )
    return np.where(x == 0, -np.inf, result)


def _fresnel(x: Any) -> tuple[Any, Any]:
    """(C, S), the integrals of cos and sin of pi t^2 / 2 from 0 to x."""
    size = np.abs(x)
    near = size < 1.6
    inside = np.where(near, size, 0.0)
    t = 2 * (inside / 1.6) ** 4 - 1
    c_near = inside * series(t, FRESNEL_COS)
    s_near = inside**3 * series(t, FRESNEL_SIN)
    outside = np.where(near, 2.0, size)
    t = 2 * (1.6 / outside) ** 4 - 1
    f = series(t, FRESNEL_F) / (math.pi * outside)
    g = series(t, FRESNEL_G) / (math.pi * outside * (math.pi * outside) * outside)
    # The angle modulo 2 pi, from the part of x whose square is exact.
    angle = math.pi / 2 * np.fmod(outside * outside, 4.0)
    angle = np.where(outside > 1e8, 0.0, angle)
    c_far = 0.5 + f * np.sin(angle) - g * np.cos(angle)
    s_far = 0.5 - f * np.cos(angle) - g * np.sin(angle)
    c = np.where(near, c_near, np.where(np.isinf(size), 0.5, c_far))
    s = np.where(near, s_near, np.where(np.isinf(size), 0.5, s_far))
    return np.copysign(c, x), np.copysign(s, x)


def _small_spence(w: Any) -> Any:
    """The dilogarithm of w in [-1/2, 1/2]."""
    return w * series(2 * w, SPENCE)


def spence(x: Any) -> Any:
    """The integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x."""
    third = math.pi * math.pi / 6
    result = pieces(
        x,
        [
            ((x > 0) & (x < 0.5), lambda s: third - np.log(s) * np.log1p(-s) - _small_spence(s)),
            ((x >= 0.5) & (x <= 1.5), lambda s: _small_spence(1 - s)),
            ((x > 1.5) & (x <= 2), lambda s: _inverted(s, _small_spence(1 - 1 / s))),
            (
                x > 2,
                lambda s: _inverted(
                    s, third - np.log(1 / s) * np.log1p(-1 / s) - _small_spence(1 / s)
                ),
            ),
        ],
    )
    result = np.where(np.isinf(x), np.nan, result)
    return np.where(x == 0, third, result)


def _inverted(x: Any, at_inverse: Any) -> Any:
    """spence(x) from spence(1 / x)."""
    return -0.5 * np.log(x) ** 2 - at_inverse


@op
class Dawsn(PiecewiseSeries):
    """Dawson's integral."""

    function = staticmethod(dawson)

    def scalar(self, s, x):
        return s.dawson(x)

    def gradient(self, dy, x, y) -> Any:
        slope = raw.Sub(constant(1, x), raw.Mul(constant(2, x), raw.Mul(x, y)))
        return raw.Mul(dy, slope)


@op
class Expint(PiecewiseSeries):
    """The exponential integral Ei."""

    function = staticmethod(expint)

    def scalar(self, s, x):
        return s.expint(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.RealDiv(raw.Exp(x), x))


def _fresnel_angle(x: Any) -> Any:
    return raw.Mul(constant(math.pi / 2, x), raw.Square(x))


@op
class FresnelCos(PiecewiseSeries):
    """The integral of cos(pi t^2 / 2) from 0 to x."""

    function = staticmethod(lambda x: _fresnel(x)[0])

    def scalar(self, s, x):
        return s.fresnel_cos(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Cos(_fresnel_angle(x)))


@op
class FresnelSin(PiecewiseSeries):
    """The integral of sin(pi t^2 / 2) from 0 to x."""

    function = staticmethod(lambda x: _fresnel(x)[1])

    def scalar(self, s, x):
        return s.fresnel_sin(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Sin(_fresnel_angle(x)))


@op
class Spence(PiecewiseSeries):
    """The integral of log(t) / (1 - t) from 1 to x."""

    function = staticmethod(spence)

    def scalar(self, s, x):
        return s.spence(x)

    def gradient(self, dy, x) -> Any:
        one = constant(1, x)
        at_one = raw.Equal(x, one)
        safe_x = raw.SelectV2(at_one, constant(2, x), x)
        slope = raw.RealDiv(raw.Log(safe_x), raw.Sub(one, safe_x))
        return raw.Mul(dy, raw.SelectV2(at_one, raw.Neg(one), slope))
