"""The incomplete gamma and beta functions, Hurwitz' zeta function and polygamma as vector code.

The method is that of the ops' own kernels (`ops/math/incomplete_gamma.py`, `gamma_functions.py`),
in double precision: power series where they converge fast, continued fractions elsewhere. A loop
runs while one of its lanes has not converged; the other lanes keep their values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from intaglio.native.llvm.vectors import Builder, Lanes
from intaglio.native.vector_math.double_word import in_double_by_precision
from intaglio.native.vector_math.exponentials import exp, expm1, horner, log, log1p
from intaglio.native.vector_math.gamma_functions import digamma, lgamma
from intaglio.native.vector_math.piecewise_series import pieces
from intaglio.native.vector_math.powers import power
from intaglio.ops.math.gamma_functions import (
    ASYMPTOTIC_FROM,
    BERNOULLI,
    LGAMMA_AT_TWO,
    SUMMED_TERMS,
)
from intaglio.ops.math.gamma_functions import EPS as ZETA_EPS
from intaglio.ops.math.integral_series import EPS, HUGE, MAX_TERMS, SHORT_EPS, STIRLING, TINY

# The least argument for which Stirling's series is exact.
LARGE = 10.0
# Terms of the alternating series of the lower function, for x up to 1.
ALTERNATING_TERMS = 24


def _stirling_rest(s: Builder, a: Lanes) -> Lanes:
    """lgamma(a) - ((a - 1/2) log(a) - a + log(2 pi) / 2) for a >= 10."""
    inverse = s.div(s.const(1, a), s.mul(a, a))
    return s.div(horner(s, inverse, STIRLING), a)


def _off_log(s: Builder, u: Lanes) -> Lanes:
    """u - log(1 + u), exact for small u."""
    total = s.const(0, u)
    for k in range(18, 1, -1):
        total = s.mul(s.add(total, s.const(1 / k if k % 2 == 0 else -1 / k, u)), u)
    small = s.lt(s.abs(u), s.const(0.1, u))
    return s.select(small, s.mul(total, u), s.sub(u, log1p(s, u)))


def _density(s: Builder, a: Lanes, x: Lanes) -> Lanes:
    """x^a exp(-x) / gamma(a), without cancellation for large a."""
    large = s.ge(a, s.const(LARGE, a))

    def near() -> Lanes:
        return exp(s, s.sub(s.sub(s.mul(a, log(s, x)), x), lgamma(s, a)))

    def far() -> Lanes:
        gap = s.div(s.sub(x, a), a)
        # Far below the shape parameter the sum 1 + gap has lost digits that the quotient has.
        below = s.lt(gap, s.const(-0.5, a))
        away = s.select(below, s.sub(gap, log(s, s.div(x, a))), _off_log(s, gap))
        exponent = s.add(s.mul(a, away), _stirling_rest(s, a))
        root = s.sqrt(s.mul(a, s.const(1 / (2 * math.pi), a)))
        return s.mul(exp(s, s.neg(exponent)), root)

    return pieces(s, s.const(0, a), (s.logical_not(large), near), (large, far))


def _not_converged(s: Builder, count: Lanes, moved: Lanes) -> Lanes:
    """True where a series has not converged, up to a maximal number of terms."""
    return s.logical_and(moved, s.lt(count, s.const(MAX_TERMS, count)))


def _lower_sum(s: Builder, eps: float, a: Lanes, x: Lanes) -> Lanes:
    """The sum of x^n / (a (a + 1) ... (a + n)) over n."""
    one = s.const(1, a)

    def step(state: Sequence[Lanes]) -> tuple[list[Lanes], Lanes]:
        count, term, total = state
        count = s.add(count, one)
        term = s.div(s.mul(term, x), s.add(a, count))
        total = s.add(total, term)
        moved = s.gt(term, s.mul(s.const(eps, a), total))
        return [count, term, total], _not_converged(s, count, moved)

    start = s.div(one, a)
    return s.iterated([s.const(0, a), start, start], step)[-1]


def _upper_fraction(s: Builder, eps: float, a: Lanes, x: Lanes) -> Lanes:
    """The fraction 1 / (x + 1 - a - (1 - a) / (x + 3 - a - ...))."""
    zero, one, two = s.const(0, a), s.const(1, a), s.const(2, a)
    b = s.sub(s.add(x, one), a)

    def step(state: Sequence[Lanes]) -> tuple[list[Lanes], Lanes]:
        n, p, p_old, q, q_old, before = state
        n = s.add(n, one)
        factor, width = s.mul(n, s.sub(a, n)), s.fma(two, n, b)
        p, p_old = s.fma(width, p, s.mul(factor, p_old)), p
        q, q_old = s.fma(width, q, s.mul(factor, q_old)), q
        value = s.div(p, s.select(s.eq(q, zero), one, q))
        moved = s.gt(s.abs(s.sub(value, before)), s.mul(s.const(eps, a), s.abs(value)))
        moved = s.logical_and(moved, s.ne(q, zero))
        scale = s.select(s.gt(s.abs(q), s.const(HUGE, a)), s.const(1 / HUGE, a), one)
        p, p_old, q, q_old = (s.mul(v, scale) for v in (p, p_old, q, q_old))
        return [n, p, p_old, q, q_old, value], _not_converged(s, n, moved)

    return s.iterated([zero, one, zero, b, one, s.div(one, b)], step)[-1]


def _upper_small(s: Builder, a: Lanes, x: Lanes) -> Lanes:
    """The upper function for a < 1 and x <= 1, also where it is much smaller than 1.

    1 - x^a / gamma(a + 1), and the rest of the lower function's alternating series.
    """
    one = s.const(1, a)
    near = s.mul(a, horner(s, a, tuple(reversed(LGAMMA_AT_TWO))))
    short = s.le(a, s.const(0.5, a))
    log_gamma = s.select(short, s.sub(near, log1p(s, a)), lgamma(s, s.add(a, one)))
    u = s.sub(s.mul(a, log(s, x)), log_gamma)
    term, total = one, s.const(0, a)
    for n in range(1, ALTERNATING_TERMS):
        term = s.mul(s.mul(term, x), s.const(-1 / n, a))
        total = s.add(total, s.div(term, s.add(a, s.const(n, a))))
    return s.sub(s.neg(expm1(s, u)), s.mul(s.mul(exp(s, u), a), total))


class _Domain:
    """Arguments clamped to the domain of a series, where each series applies, and the values at the
    edges."""

    def __init__(self, s: Builder, a: Lanes, x: Lanes) -> None:
        zero, one = s.const(0, a), s.const(1, a)
        self.s, self._operands = s, (a, x)
        positive = s.logical_and(s.gt(a, zero), s.gt(x, zero))
        finite = s.logical_and(s.isfinite(a), s.isfinite(x))
        self.regular = s.logical_and(positive, finite)
        self.a, self.x = s.select(self.regular, a, one), s.select(self.regular, x, one)
        self.low = s.logical_or(s.le(self.x, one), s.le(self.x, self.a))
        self.high = s.logical_not(self.low)

    def inside(self, condition: Lanes) -> tuple[Lanes, Lanes]:
        """The arguments where a condition holds, elsewhere some for which the series converges at
        once."""
        one = self.s.const(1, self.a)
        return self.s.select(condition, self.a, one), self.s.select(condition, self.x, one)

    def with_edges(self, value: Lanes, at_zero: float, far: float) -> Lanes:
        """The values, with those where an argument is 0, infinite or out of the domain."""
        s, (a, x) = self.s, self._operands
        zero, infinity = s.const(0, a), s.const(math.inf, a)
        shaped = s.gt(a, zero)
        beginning, end = s.const(at_zero, a), s.const(far, a)
        edge = s.const(math.nan, a)
        edge = s.select(s.logical_and(shaped, s.eq(x, zero)), beginning, edge)
        edge = s.select(s.logical_and(shaped, s.eq(x, infinity)), end, edge)
        within = s.logical_and(s.gt(x, zero), s.isfinite(x))
        edge = s.select(s.logical_and(s.eq(a, infinity), within), beginning, edge)
        if at_zero == 0:  # whatever the shape parameter is
            edge = s.select(s.eq(x, zero), zero, edge)
        return s.select(self.regular, value, edge)


def _tolerance(short: bool) -> float:
    """The relative size of terms that are dropped from a sum."""
    return SHORT_EPS if short else EPS / 4


@in_double_by_precision
def igamma(s: Builder, short: bool, a: Lanes, x: Lanes) -> Lanes:
    """The lower regularised incomplete gamma function P(a, x)."""
    domain, one, zero = _Domain(s, a, x), s.const(1, a), s.const(0, a)
    density = _density(s, domain.a, domain.x)

    def by_sum() -> Lanes:
        total = _lower_sum(s, _tolerance(short), *domain.inside(domain.low))
        return s.minimum(s.mul(density, total), one)

    def by_fraction() -> Lanes:
        value = _upper_fraction(s, 2 * _tolerance(short), *domain.inside(domain.high))
        return s.sub(one, s.select(s.eq(density, zero), zero, s.mul(density, value)))

    value = pieces(s, zero, (domain.low, by_sum), (domain.high, by_fraction))
    return domain.with_edges(value, 0.0, 1.0)


@in_double_by_precision
def igammac(s: Builder, short: bool, a: Lanes, x: Lanes) -> Lanes:
    """The upper regularised incomplete gamma function Q(a, x)."""
    domain, one, zero = _Domain(s, a, x), s.const(1, a), s.const(0, a)
    density = _density(s, domain.a, domain.x)
    small = s.logical_and(domain.low, s.lt(domain.a, one))
    middle = s.logical_and(domain.low, s.ge(domain.a, one))

    def by_sum() -> Lanes:
        total = _lower_sum(s, _tolerance(short), *domain.inside(middle))
        return s.sub(one, s.minimum(s.mul(density, total), one))

    def by_fraction() -> Lanes:
        value = _upper_fraction(s, 2 * _tolerance(short), *domain.inside(domain.high))
        return s.select(s.eq(density, zero), zero, s.mul(density, value))

    value = pieces(
        s,
        zero,
        (small, lambda: _upper_small(s, *domain.inside(small))),
        (middle, by_sum),
        (domain.high, by_fraction),
    )
    return domain.with_edges(value, 1.0, 0.0)


def _log_beta(s: Builder, a: Lanes, b: Lanes) -> Lanes:
    """log of the beta function, without cancellation for large arguments."""
    least = s.const(LARGE, a)
    smaller = s.lt(a, b)
    low, high = s.select(smaller, a, b), s.select(smaller, b, a)
    total = s.add(low, high)
    both, one = s.ge(low, least), s.logical_and(s.ge(high, least), s.lt(low, least))

    def two_large() -> Lanes:
        rest = s.sub(
            s.add(_stirling_rest(s, high), _stirling_rest(s, low)), _stirling_rest(s, total)
        )
        value = s.sub(s.const(0.5 * math.log(2 * math.pi), a), s.mul(s.const(0.5, a), log(s, high)))
        power_of_low = s.mul(s.sub(low, s.const(0.5, a)), log(s, s.div(low, total)))
        power_of_high = s.mul(high, log1p(s, s.div(low, high)))
        return s.sub(s.add(s.add(value, rest), power_of_low), power_of_high)

    def one_large() -> Lanes:
        # log(gamma(high) / gamma(total)) by Stirling's series.
        gap = s.mul(s.sub(high, s.const(0.5, a)), s.neg(log1p(s, s.div(low, high))))
        gap = s.add(s.sub(gap, s.mul(low, log(s, total))), low)
        gap = s.add(gap, s.sub(_stirling_rest(s, high), _stirling_rest(s, total)))
        return s.add(lgamma(s, low), gap)

    def small() -> Lanes:
        return s.sub(s.add(lgamma(s, low), lgamma(s, high)), lgamma(s, total))

    rest = s.lt(high, least)
    return pieces(s, s.const(0, a), (rest, small), (one, one_large), (both, two_large))


def _beta_fraction(s: Builder, eps: float, a: Lanes, b: Lanes, x: Lanes) -> Lanes:
    """The continued fraction of the incomplete beta function, by Lentz' method."""
    one, two, total = s.const(1, a), s.const(2, a), s.add(a, b)

    def away_from_zero(v: Lanes) -> Lanes:
        return s.select(s.lt(s.abs(v), s.const(TINY, a)), s.const(TINY, a), v)

    d = s.div(one, away_from_zero(s.sub(one, s.div(s.mul(total, x), s.add(a, one)))))

    def step(state: Sequence[Lanes]) -> tuple[list[Lanes], Lanes]:
        m, c, d, value = state
        m = s.add(m, one)
        here = s.fma(two, m, a)
        even = s.div(s.mul(s.mul(m, s.sub(b, m)), x), s.mul(s.sub(here, one), here))
        odd = s.mul(s.mul(s.neg(s.add(a, m)), s.add(total, m)), x)
        odd = s.div(odd, s.mul(here, s.add(here, one)))
        factor = one
        for part in (even, odd):
            d = s.div(one, away_from_zero(s.fma(part, d, one)))
            c = away_from_zero(s.add(one, s.div(part, c)))
            factor = s.mul(c, d)
            value = s.mul(value, factor)
        moved = s.gt(s.abs(s.sub(factor, one)), s.const(eps, a))
        return [m, c, d, value], _not_converged(s, m, moved)

    return s.iterated([s.const(0, a), one, d, d], step)[-1]


@in_double_by_precision
def betainc(s: Builder, short: bool, a: Lanes, b: Lanes, x: Lanes) -> Lanes:
    """The regularised incomplete beta function."""
    zero, one = s.const(0, a), s.const(1, a)
    shaped = s.logical_and(s.gt(a, zero), s.gt(b, zero))
    shaped = s.logical_and(shaped, s.logical_and(s.isfinite(a), s.isfinite(b)))
    inside = s.logical_and(s.gt(x, zero), s.lt(x, one))
    regular = s.logical_and(shaped, inside)
    p, q = s.select(regular, a, one), s.select(regular, b, one)
    y = s.select(regular, x, s.const(0.5, a))
    swapped = s.gt(y, s.div(p, s.add(p, q)))
    first, second = s.select(swapped, q, p), s.select(swapped, p, q)
    rest = s.sub(one, y)
    left, right = s.select(swapped, rest, y), s.select(swapped, y, rest)
    powers = s.add(s.mul(first, log(s, left)), s.mul(second, log(s, right)))
    scale = exp(s, s.sub(powers, _log_beta(s, first, second)))
    eps = SHORT_EPS if short else 2 * EPS
    value = s.div(s.mul(scale, _beta_fraction(s, eps, first, second, left)), first)
    value = s.select(swapped, s.sub(one, value), value)
    edge = s.select(s.logical_and(shaped, s.eq(x, one)), one, s.const(math.nan, a))
    edge = s.select(s.logical_and(shaped, s.eq(x, zero)), zero, edge)
    return s.select(regular, value, edge)


def _regular_zeta(s: Builder, x: Lanes, q: Lanes) -> Lanes:
    """`zeta` of finite x > 1 and q > 0, by Euler and Maclaurin."""
    one, zero = s.const(1, x), s.const(0, x)
    # the asymptotic series of the remainder needs such large arguments
    enough = s.add(x, s.const(ASYMPTOTIC_FROM, x))
    exponent = s.neg(x)

    def step(state: Sequence[Lanes]) -> tuple[list[Lanes], Lanes]:
        count, a, total = state
        below = s.lt(a, enough)
        term = s.select(below, power(s, a, exponent), zero)
        total, a = s.add(total, term), s.select(below, s.add(a, one), a)
        count = s.add(count, one)
        # Where powers are steep the first terms are enough.
        flat = s.ge(term, s.mul(s.const(ZETA_EPS, x), total))
        more = s.lt(count, s.const(SUMMED_TERMS, x))
        return [count, a, total], s.logical_and(s.logical_and(below, flat), more)

    _, a, total = s.iterated([zero, q, zero], step)
    steep = power(s, a, exponent)
    rest = s.div(s.mul(a, steep), s.sub(x, one))
    rest = s.fma(s.const(0.5, x), steep, rest)
    factor, square = s.div(s.mul(x, steep), a), s.div(one, s.mul(a, a))
    for k, b in enumerate(BERNOULLI, 1):
        rest = s.fma(s.const(b / math.factorial(2 * k), x), factor, rest)
        odd, even = s.add(x, s.const(2 * k - 1, x)), s.add(x, s.const(2 * k, x))
        factor = s.mul(factor, s.mul(s.mul(odd, even), square))
    done = s.lt(steep, s.mul(s.const(ZETA_EPS, x), total))
    return s.select(done, total, s.add(total, rest))


def _zeta(s: Builder, x: Lanes, q: Lanes) -> Lanes:
    """The sum of (q + k) ** -x over k = 0, 1, ... for x > 1; below 0 for whole x."""
    zero, one, two = s.const(0, x), s.const(1, x), s.const(2, x)
    infinity, nan = s.const(math.inf, x), s.const(math.nan, x)
    whole = s.eq(s.floor(x), x)
    finite = s.logical_and(s.isfinite(x), s.isfinite(q))
    defined = s.logical_and(s.gt(x, one), finite)
    off_poles = s.logical_and(s.lt(q, zero), s.ne(s.floor(q), q))
    below = s.logical_and(s.logical_and(defined, whole), off_poles)
    positive = s.logical_and(defined, s.gt(q, zero))
    regular = s.logical_or(below, positive)
    safe_x = s.select(regular, x, two)
    size = s.select(below, s.neg(q), zero)
    part = s.select(below, s.sub(size, s.floor(size)), s.const(0.5, x))
    start = s.select(below, s.sub(one, part), s.select(positive, q, one))
    total = _regular_zeta(s, safe_x, start)
    half = s.mul(safe_x, s.const(0.5, x))
    even = s.eq(s.floor(half), half)

    def reflected() -> Lanes:
        # The terms below 0 are those from the fraction of -q up to -q, except for their sign.
        end = s.select(below, s.add(size, one), one)
        terms = s.sub(_regular_zeta(s, safe_x, part), _regular_zeta(s, safe_x, end))
        return s.add(total, s.select(even, terms, s.neg(terms)))

    total = pieces(s, total, (below, reflected))
    half_x = s.mul(x, s.const(0.5, x))
    even_x = s.eq(s.floor(half_x), half_x)
    pole = s.logical_and(s.gt(x, one), s.logical_and(s.le(q, zero), s.eq(s.floor(q), q)))
    pole = s.logical_and(pole, s.logical_and(s.isfinite(x), even_x))
    edge = s.select(s.logical_or(s.eq(x, one), pole), infinity, nan)
    far_q = s.logical_and(s.eq(q, infinity), s.isfinite(x))
    far_x = s.logical_and(s.eq(x, infinity), s.gt(q, one))
    far = s.logical_and(s.gt(x, one), s.logical_or(far_q, far_x))
    return s.select(regular, total, s.select(far, zero, edge))


@in_double_by_precision
def zeta(s: Builder, short: bool, x: Lanes, q: Lanes) -> Lanes:
    """Hurwitz' zeta function."""
    return _zeta(s, x, q)


@in_double_by_precision
def polygamma(s: Builder, short: bool, n: Lanes, x: Lanes) -> Lanes:
    """The n-th derivative of digamma, for n = 0, 1, 2, ..."""
    zero, one = s.const(0, n), s.const(1, n)
    whole = s.logical_and(s.ge(n, zero), s.eq(s.floor(n), n))
    order = s.select(whole, n, one)
    first, higher = s.eq(order, zero), s.gt(order, zero)
    half = s.mul(order, s.const(0.5, n))

    def derivative() -> Lanes:
        factorial = exp(s, lgamma(s, s.add(order, one)))
        factorial = s.select(s.eq(order, one), one, factorial)
        scale = s.select(s.eq(s.floor(half), half), s.neg(factorial), factorial)
        return s.mul(scale, _zeta(s, s.add(order, one), x))

    value = pieces(s, zero, (first, lambda: digamma(s, x)), (higher, derivative))
    return s.select(whole, value, s.const(math.nan, n))


ITERATED: dict[str, Callable[..., Lanes]] = {
    f.__name__: f for f in (igamma, igammac, betainc, zeta, polygamma)
}
