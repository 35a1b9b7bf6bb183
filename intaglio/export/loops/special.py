"""Derivatives of the incomplete gamma function by its shape, whose series end when the data says so."""

from __future__ import annotations

import math
from typing import Any

from intaglio.ops.math.integral_series import EPS, HUGE, LEAST_SHAPE, MAX_TERMS

LARGE_SHAPE = 10.0
# Below it u - log(1 + u) is a sum of so many powers of u.
SMALL_GAP = 0.1
POWERS = 18


def _off_log(u: Any) -> Any:
    """u - log(1 + u), exact for small u."""
    if abs(u) >= SMALL_GAP:
        return u - math.log1p(u)
    total = 0.0
    for step in range(POWERS - 1):
        k = POWERS - step
        part = 1.0 / float(k)
        total = (total + (part if k % 2 == 0 else -part)) * u
    return total * u


def _density(a: Any, x: Any, coefficients: Any, count: Any) -> Any:
    """x^a exp(-x) / gamma(a), by Stirling's series for large a."""
    if a < LARGE_SHAPE:
        return math.exp(a * math.log(x) - x - math.lgamma(a))
    gap = (x - a) / a
    away = gap - math.log(x / a) if gap < -0.5 else _off_log(gap)
    rest, inverse = 0.0, 1.0 / (a * a)
    for step in range(count):
        rest = rest * inverse + coefficients[count - 1 - step]
    return math.exp(-(a * away + rest / a)) * math.sqrt(a / (2.0 * math.pi))


def _series(a: Any, x: Any) -> Any:
    """The sum of x^n / (a (a + 1) ... (a + n)) over n, and its derivative by a."""
    n, term, slope = float(a), 1.0 / a, -1.0 / (a * a)
    total, by_a = float(term), float(slope)
    for _count in range(MAX_TERMS):
        n += 1.0
        slope = (slope * x - term * x / n) / n
        term = term * x / n
        total += term
        by_a += slope
        if term <= EPS / 4 * total and abs(slope) <= EPS / 4 * (abs(by_a) + EPS * total):
            break
    return total, by_a


def _fraction(a: Any, x: Any) -> Any:
    """The continued fraction of the upper function, and its derivative by a, with those of its parts."""
    b = x + 1.0 - a
    p, p_old, dp, dp_old = 1.0, 0.0, 0.0, 0.0
    q, q_old, dq, dq_old = float(b), 1.0, -1.0, 0.0
    value, by_a = 1.0 / b, 1.0 / (b * b)
    for n in range(1, MAX_TERMS):
        k = float(n)
        factor, width = k * (a - k), b + 2.0 * k
        p_new = width * p + factor * p_old
        dp_new = width * dp - p + factor * dp_old + k * p_old
        q_new = width * q + factor * q_old
        dq_new = width * dq - q + factor * dq_old + k * q_old
        p_old, p, dp_old, dp = p, p_new, dp, dp_new
        q_old, q, dq_old, dq = q, q_new, dq, dq_new
        divisor = 1.0 if q == 0.0 else q
        before, before_a = value, by_a
        value = p / divisor
        by_a = (dp - value * dq) / divisor
        moved = abs(value - before) > EPS / 2 * abs(value)
        moved = moved or abs(by_a - before_a) > 8 * EPS * (abs(by_a) + abs(value))
        if q == 0.0 or not moved:
            break
        if abs(q) > HUGE:
            scale = 1.0 / HUGE
            p, p_old, q, q_old = p * scale, p_old * scale, q * scale, q_old * scale
            dp, dp_old, dq, dq_old = dp * scale, dp_old * scale, dq * scale, dq_old * scale
    return value, by_a


def gamma_slopes(
    slopes: Any, ratios: Any, shapes: Any, xs: Any, digammas: Any, coefficients: Any,
    size: Any, count: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """dP/da, and -dP/da / (dP/dx), the derivative of a sample by the shape; `digammas` are those of shapes."""
    for i in range(size):
        a, x = float(shapes[i]), float(xs[i])
        inside = a > 0.0 and a < math.inf and x > 0.0 and x < math.inf
        if not inside:
            far = (a > 0.0 and x == math.inf) or x == 0.0
            far = far or (a == math.inf and x > 0.0 and x < math.inf)
            slopes[i] = 0.0 if far else math.nan
            ratios[i] = 0.0 if far else math.nan
            continue
        a = max(a, LEAST_SHAPE)
        growth = math.log(x) - digammas[i]
        inner = 0.0
        if x <= 1.0 or x <= a:
            value, by_a = _series(a, x)
            inner = growth * value + by_a
        else:
            value, by_a = _fraction(a, x)
            inner = -(growth * value + by_a)
        slopes[i] = _density(a, x, coefficients, count) * inner
        ratios[i] = -inner * x
