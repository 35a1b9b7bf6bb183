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
from intaglio.opdef import raw
from intaglio.opdef.machine_code import WORK_PER_POLYNOMIALS
from intaglio.opdef.op import op
from intaglio.opdef.scalar import in_blocks
from intaglio.opdef.spec import Spec
from intaglio.ops.compiled import CompiledFunction, CompiledUnary, by_numbers
from intaglio.ops.families import Unary, constant, spec_of, unbroadcast_both

FLOATS = (bfloat16, float16, float32, float64)
# From here on the asymptotic series are exact.
ASYMPTOTIC_FROM = 8
EPS = 2.0**-56
# The elements up to which Python's function is faster than NumPy's passes.
MAX_NUMBERS = 512
# What NumPy takes for an element of the zeta function, in multiplications.
WORK_PER_ZETA = 512
# The most terms of the zeta function that are summed directly.
SUMMED_TERMS = 64
# Bernoulli numbers B2, B4, ...
BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)


def _series(z: Any, weights: Any) -> Any:
    """sum of weights[k] / z ** (2 k)."""
    inverse = 1 / (z * z)
    total = np.full_like(z, weights[-1])
    for weight in reversed(weights[:-1]):
        total *= inverse
        total += weight
    return total


LGAMMA_SERIES = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI[:8], 1)]
DIGAMMA_SERIES = [b / (2 * k) for k, b in enumerate(BERNOULLI[:8], 1)]


# lgamma(2 + t) / t for |t| <= 1/2, the highest power's coefficient first: of float64 numbers, and
# of those that are rounded to fewer bits.
LGAMMA_AT_TWO = (
    -1.3219945666117874e-07,
    2.78740805211359e-07,
    -4.3252393445604814e-07,
    9.200527894968101e-07,
    -2.0439048107029907e-06,
    4.38470440459836e-06,
    -9.438715099211532e-06,
    2.0505590755833454e-05,
    -4.49263133791557e-05,
    9.945767355819498e-05,
    -2.2315475400520507e-04,
    5.096695154115458e-04,
    -1.1927539118428156e-03,
    2.890510331034267e-03,
    -7.3855510286719986e-03,
    2.058080842778038e-02,
    -6.73523010531981e-02,
    3.2246703342411326e-01,
    4.2278433509846713e-01,
)
LGAMMA_AT_TWO_SHORT = (
    1.1347311981994552e-04,
    -2.538170956727826e-04,
    5.065171429518161e-04,
    -1.1858600344983208e-03,
    2.890795321559696e-03,
    -7.386174155633413e-03,
    2.0580799471518252e-02,
    -6.73522814721006e-02,
    3.224670334689425e-01,
    4.227843350004583e-01,
)


def lgamma(x: Any, short: bool = False) -> Any:
    """log(|gamma(x)|) of float64 numbers; `short` if they are rounded to fewer bits."""
    x = np.asarray(x)
    negative = x < 0.5
    z = np.where(negative, 1 - x, x)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        value = _from_half(z, short)
        if negative.any():
            # Reflection; x - round(x) keeps the sine exact near the poles.
            below = x[negative]
            sine = np.abs(np.sin(np.pi * (below - np.round(below))))
            other = math.log(math.pi) - np.log(sine) - value[negative]
            value[negative] = np.where(sine == 0, np.inf, other)
    return np.where(np.isinf(x), np.inf, value)


def _from_half(z: Any, short: bool) -> Any:
    """lgamma from 1/2 on."""
    small = z < 2.5
    if small.all():
        return np.asarray(_near_two(z, short))
    value = np.empty_like(z)
    large = ~(z < ASYMPTOTIC_FROM)
    middle = ~(small | large)
    value[small] = _near_two(z[small], short)
    value[middle] = _lowered(z[middle], short)
    value[large] = _stirling(z[large])
    return value


def lgamma_beyond_two(t: Any, short: bool = False) -> Any:
    """lgamma(2 + t) for |t| <= 1/2."""
    first, *others = LGAMMA_AT_TWO_SHORT if short else LGAMMA_AT_TWO
    total = np.full_like(t, first)
    for c in others:
        total *= t
        total += c
    total *= t
    return total


def _near_two(z: Any, short: bool) -> Any:
    """lgamma from 1/2 to 5/2: relative to its zeros at 1 and 2."""
    low = z < 1.5
    total = lgamma_beyond_two(np.where(low, z - 1, z - 2), short)
    total -= np.log(np.where(low, z, 1.0))
    return total


def _lowered(z: Any, short: bool) -> Any:
    """lgamma from 5/2 to LARGE, by gamma(z) = (z - 1) gamma(z - 1)."""
    product = np.ones_like(z)
    z = z.copy()
    for _ in range(ASYMPTOTIC_FROM - 2):
        high = z >= 2.5
        z -= high
        product = np.where(high, product * z, product)
    return np.log(product) + _near_two(z, short)


def _stirling(z: Any) -> Any:
    """lgamma from LARGE on."""
    value = (z - 0.5) * np.log(z) - z + 0.5 * math.log(2 * math.pi)
    return value + _series(z, LGAMMA_SERIES) / z


def digamma(x: Any) -> Any:
    """The derivative of lgamma; NaN at 0, -1, -2, ..."""
    x = np.asarray(x)
    negative = x < 0.5
    z = np.where(negative, 1 - x, x)
    low = z < ASYMPTOTIC_FROM
    up = np.where(low, z + ASYMPTOTIC_FROM, z)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.asarray(np.log(up) - 0.5 / up - _series(up, DIGAMMA_SERIES) / (up * up))
        value[low] -= _reciprocals(z[low])
        if negative.any():
            below = x[negative]
            offset = below - np.round(below)
            value[negative] -= np.pi / np.tan(np.pi * offset)
            value[negative & (x == np.round(x))] = np.nan  # poles
    return value


def _reciprocals(z: Any) -> Any:
    """1 / z + 1 / (z + 1) + ..., LARGE of them, as the logarithmic derivative of a product."""
    product, slope, factor = z.copy(), np.ones_like(z), z.copy()
    for _ in range(1, ASYMPTOTIC_FROM):
        factor += 1
        slope *= factor
        slope += product
        product *= factor
    return slope / product


def zeta(x: Any, q: Any) -> Any:
    """sum of (q + k) ** -x over k = 0, 1, ... for x > 1.

    For q < 0 x is a whole number, else the result is NaN. At q = 0, -1, ... it is infinite for even
    x and NaN for others.
    """
    x, q = np.broadcast_arrays(x, q)
    whole = np.floor(x) == x
    below = (x > 1) & (q < 0) & (np.floor(q) != q) & whole & np.isfinite(x) & np.isfinite(q)
    regular = below | ((x > 1) & (q > 0) & np.isfinite(x) & np.isfinite(q))
    s = np.where(regular, x, 2.0)
    size = np.where(below, -q, 0.0)
    part = np.where(below, size - np.floor(size), 0.5)
    total = _zeta(s, np.where(below, 1 - part, np.where(regular, q, 1.0)))
    if below.any():
        # The terms below 0 are those from the fraction of -q up to -q, but for their sign.
        terms = _zeta(s, part) - _zeta(s, np.where(below, size + 1, 1.0))
        total = np.where(below, total + np.where(s % 2 == 0, terms, -terms), total)
    pole = (x > 1) & (q <= 0) & (np.floor(q) == q) & whole & (x % 2 == 0)
    edge = np.where((x == 1) | pole, np.inf, np.nan)
    far = (x > 1) & ((np.isposinf(q) & np.isfinite(x)) | (np.isposinf(x) & (q > 1)))
    return np.where(regular, total, np.where(far, 0.0, edge))


def _negative_power(a: Any, s: Any) -> Any:
    """a ** -s, 0 where that is subnormal, as TensorFlow's kernels and machine code have it.

    Times a factorial that is infinite that makes NaN, not infinity.
    """
    power = a**-s
    return np.where(power < np.finfo(np.float64).tiny, 0.0, power)


def _zeta(s: Any, a: Any) -> Any:
    """`zeta` of finite arrays s > 1 and a > 0, by Euler and Maclaurin."""
    total = np.zeros(s.shape)
    enough = s + ASYMPTOTIC_FROM  # the series of the rest needs so large numbers
    going = np.ones(s.shape, bool)
    for _ in range(SUMMED_TERMS):
        going &= a < enough
        if not going.any():
            break
        term = np.where(going, _negative_power(a, s), 0.0)
        total = total + term
        a = np.where(going, a + 1, a)
        # Where powers are steep the first terms are all there is.
        going &= ~(np.abs(term) < EPS * np.abs(total))
    power = _negative_power(a, s)
    rest = a * power / (s - 1) + 0.5 * power
    factor = s * power / a
    for k, b in enumerate(BERNOULLI, 1):
        rest = rest + b * factor / math.factorial(2 * k)
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (a * a)
    return np.where(power < EPS * np.abs(total), total, total + rest)


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


def _lgamma_of_number(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:  # a pole
        return math.inf


def _rounded_lgamma(x: Any) -> Any:
    return lgamma(x.astype(np.float64), x.dtype.itemsize < 8).astype(x.dtype)


_in_blocks = in_blocks(_rounded_lgamma)
# Near 1 and 2 Python's function has too few digits for float64.
_short_lgamma = by_numbers(_lgamma_of_number, _in_blocks, MAX_NUMBERS)


def _lgamma_kernel(x: Any) -> Any:
    return _short_lgamma(x) if x.dtype.itemsize < 8 else _in_blocks(x)


def _rounded_digamma(x: Any) -> Any:
    return digamma(x.astype(np.float64)).astype(x.dtype)


@op
class Lgamma(CompiledUnary, Unary):
    """log(|gamma(x)|)."""

    T = FLOATS
    work_per_element = WORK_PER_POLYNOMIALS
    numpy_kernel = staticmethod(_lgamma_kernel)

    def scalar(self, s, x):
        return s.lgamma(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Digamma(x))


@op
class Digamma(CompiledUnary, Unary):
    """The derivative of Lgamma."""

    T = FLOATS
    work_per_element = WORK_PER_POLYNOMIALS
    numpy_kernel = staticmethod(in_blocks(_rounded_digamma))

    def scalar(self, s, x):
        return s.digamma(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Polygamma(constant(1, x), x))


@op
class Polygamma(CompiledFunction):
    """The a-th derivative of Digamma."""

    signature = "a: T, x: T -> z: T"
    T = (float32, float64)
    batching = "broadcast"
    work_per_element = WORK_PER_ZETA

    def infer(self, a: Spec, x: Spec) -> Spec:
        return Spec(a.dtype, shapes.broadcast(a.shape, x.shape))

    def kernel(self, a, x):
        return self.computed(a, x)

    def scalar(self, s, a, x):
        return s.polygamma(a, x)

    def numpy_kernel(self, a, x):
        value = polygamma(a.astype(np.float64), x.astype(np.float64))
        return value.astype(x.dtype)

    def gradient(self, dz, a, x) -> Any:
        def by_x() -> Any:
            return raw.Mul(dz, raw.Polygamma(raw.AddV2(a, constant(1, a)), x))

        return None, unbroadcast_both(None, by_x, spec_of(a), spec_of(x))[1]


@op
class Zeta(CompiledFunction):
    """The Hurwitz zeta function."""

    signature = "x: T, q: T -> z: T"
    T = (float32, float64)
    batching = "broadcast"
    work_per_element = WORK_PER_ZETA

    def infer(self, x: Spec, q: Spec) -> Spec:
        return Spec(x.dtype, shapes.broadcast(x.shape, q.shape))

    def kernel(self, x, q):
        return self.computed(x, q)

    def scalar(self, s, x, q):
        return s.zeta(x, q)

    def numpy_kernel(self, x, q):
        return zeta(x.astype(np.float64), q.astype(np.float64)).astype(x.dtype)

    def gradient(self, dz, x, q) -> Any:
        def by_q() -> Any:
            slope = raw.Zeta(raw.AddV2(x, constant(1, x)), q)
            return raw.Mul(raw.Neg(x), raw.Mul(slope, dz))

        return None, unbroadcast_both(None, by_q, spec_of(x), spec_of(q))[1]
