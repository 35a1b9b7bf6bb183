"""The logarithm of the gamma function, its derivatives, and the Hurwitz zeta function.

Computed in double precision: small arguments are moved up by the recurrence, large ones
have an asymptotic series.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import bfloat16, float16, float32, float64
from intaglio.op import raw
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec
from intaglio.ops.families import Unary, constant, spec_of, unbroadcast_both

FLOATS = (bfloat16, float16, float32, float64)
LARGE = 10
# Bernoulli numbers B2, B4, ...
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510,
    43867 / 798, -174611 / 330,
)  # fmt: skip


def _series(z: Any, weights: Any) -> Any:
    """sum of weights[k] / z ** (2 k)."""
    inverse = 1 / (z * z)
    total = np.zeros_like(z)
    for weight in reversed(weights):
        total = total * inverse + weight
    return total


_LGAMMA = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI[:8], 1)]
_DIGAMMA = [b / (2 * k) for k, b in enumerate(_BERNOULLI[:8], 1)]


def lgamma(x: Any) -> Any:
    """log(|gamma(x)|) of float64 numbers."""
    negative = x < 0.5
    z = np.where(negative, 1 - x, x)
    z = np.where(np.isfinite(z), z, 1.0)
    product = np.ones_like(z)
    up = z
    for _ in range(LARGE):
        low = up < LARGE
        product = np.where(low, product * up, product)
        up = np.where(low, up + 1, up)
    value = (up - 0.5) * np.log(up) - up + 0.5 * math.log(2 * math.pi)
    value = value + _series(up, _LGAMMA) / up - np.log(product)
    # Reflection; x - round(x) keeps the sine exact near the poles.
    sine = np.abs(np.sin(np.pi * (x - np.round(x))))
    value = np.where(negative, math.log(math.pi) - np.log(sine) - value, value)
    return np.where(np.isinf(x), np.inf, np.where(np.isnan(x), x, value))


def digamma(x: Any) -> Any:
    """The derivative of lgamma; NaN at 0, -1, -2, ..."""
    negative = x < 0.5
    z = np.where(negative, 1 - x, x)
    z = np.where(np.isfinite(z), z, 1.0)
    total = np.zeros_like(z)
    up = z
    for _ in range(LARGE):
        low = up < LARGE
        total = np.where(low, total - 1 / up, total)
        up = np.where(low, up + 1, up)
    value = np.log(up) - 0.5 / up - _series(up, _DIGAMMA) / (up * up) + total
    offset = x - np.round(x)
    value = np.where(negative, value - np.pi / np.tan(np.pi * offset), value)
    pole = (x <= 0) & (offset == 0)
    value = np.where(np.isposinf(x), np.inf, value)
    return np.where(pole | np.isnan(x) | np.isneginf(x), np.nan, value)


def zeta(x: Any, q: Any) -> Any:
    """sum of (q + k) ** -x over k = 0, 1, ... for x > 1, by Euler and Maclaurin."""
    x, q = np.broadcast_arrays(x, q)
    regular = (x > 1) & ((q > 0) | (np.floor(q) != q)) & ((q > 0) | (np.floor(x) == x))
    s = np.where(regular, x, 2.0)
    a = np.where(regular, q, 1.0)
    total = np.zeros(s.shape)
    steps = LARGE + int(max(0.0, -np.floor(np.min(a, initial=0.0))))
    for _ in range(steps):
        low = a < LARGE
        total = np.where(low, total + a**-s, total)
        a = np.where(low, a + 1, a)
    total = total + a ** (1 - s) / (s - 1) + 0.5 * a**-s
    factor = s * a ** (-s - 1)
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b * factor / math.factorial(2 * k)
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (a * a)
    edge = np.where(x == 1, np.inf, np.nan)
    pole = (x > 1) & (q <= 0) & (np.floor(q) == q) & (np.floor(x) == x)
    return np.where(regular, total, np.where(pole, np.inf, edge))


_FACTORIALS = np.array([float(math.factorial(k)) for k in range(171)])


def polygamma(n: Any, x: Any) -> Any:
    """The n-th derivative of digamma, for n = 0, 1, 2, ..."""
    n, x = np.broadcast_arrays(n, x)
    whole = (n >= 0) & (np.floor(n) == n)
    order = np.where(whole, n, 1.0)
    size = _FACTORIALS[np.minimum(order, 170).astype(np.int64)]
    scale = np.where(order > 170, np.inf, size) * np.where(order % 2 == 0, -1.0, 1.0)
    value = np.where(order == 0, digamma(x), scale * zeta(order + 1, x))
    return np.where(whole, value, np.nan)


@op
class Lgamma(Unary):
    """log(|gamma(x)|)."""

    T = FLOATS
    blockwise = True

    def kernel(self, x):
        return lgamma(x.astype(np.float64)).astype(x.dtype)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Digamma(x))


@op
class Digamma(Unary):
    """The derivative of Lgamma."""

    T = FLOATS
    blockwise = True

    def kernel(self, x):
        return digamma(x.astype(np.float64)).astype(x.dtype)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Polygamma(constant(1, x), x))


@op
class Polygamma(Op):
    """The a-th derivative of Digamma."""

    signature = "a: T, x: T -> z: T"
    T = (float32, float64)

    def infer(self, a: Spec, x: Spec) -> Spec:
        return Spec(a.dtype, shapes.broadcast(a.shape, x.shape))

    def kernel(self, a, x):
        value = polygamma(a.astype(np.float64), x.astype(np.float64))
        return value.astype(x.dtype)

    def gradient(self, dz, a, x) -> Any:
        def by_x() -> Any:
            return raw.Mul(dz, raw.Polygamma(raw.AddV2(a, constant(1, a)), x))

        return None, unbroadcast_both(None, by_x, spec_of(a), spec_of(x))[1]


@op
class Zeta(Op):
    """The Hurwitz zeta function."""

    signature = "x: T, q: T -> z: T"
    T = (float32, float64)

    def infer(self, x: Spec, q: Spec) -> Spec:
        return Spec(x.dtype, shapes.broadcast(x.shape, q.shape))

    def kernel(self, x, q):
        return zeta(x.astype(np.float64), q.astype(np.float64)).astype(x.dtype)

    def gradient(self, dz, x, q) -> Any:
        def by_q() -> Any:
            slope = raw.Zeta(raw.AddV2(x, constant(1, x)), q)
            return raw.Mul(raw.Neg(x), raw.Mul(slope, dz))

        return None, unbroadcast_both(None, by_q, spec_of(x), spec_of(q))[1]
