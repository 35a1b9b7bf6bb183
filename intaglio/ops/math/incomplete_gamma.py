"""The incomplete gamma and beta functions.

Computed in double precision: power series where they converge fast, continued fractions elsewhere,
for all elements together; when many have converged, the others continue alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import DType, bfloat16, float16, float32, float64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.compiled import CompiledFunction
from intaglio.ops.families import constant, spec_of, unbroadcast_both
from intaglio.ops.math.gamma_functions import digamma, lgamma, lgamma_beyond_two
from intaglio.ops.math.integral_series import (
    EPS,
    HUGE,
    LEAST_SHAPE,
    MAX_TERMS,
    SHORT_EPS,
    STIRLING,
    TINY,
)

FLOATS = (bfloat16, float16, float32, float64)
State = tuple[Any, ...]
# (step number, state) to the next state, and which elements continue; None in steps that are not checked.
Step = Callable[[int, State], tuple[State, Any]]

# After so many terms it is looked which elements are done.
STEPS_BETWEEN_CHECKS = 4


def _stirling_rest(a: Any) -> Any:
    """lgamma(a) - ((a - 1/2) log(a) - a + log(2 pi) / 2) for a >= 10."""
    total, inverse = np.zeros_like(a), 1 / (a * a)
    for c in reversed(STIRLING):
        total = total * inverse + c
    return total / a


def _off_log(u: Any) -> Any:
    """u - log(1 + u), exact for small u."""
    small = np.abs(u) < 0.1
    h = np.where(small, u, 0.0)
    total = np.zeros_like(h)
    for k in range(18, 1, -1):
        total = (total + (1 / k if k % 2 == 0 else -1 / k)) * h
    with np.errstate(all="ignore"):
        return np.where(small, total * h, u - np.log1p(u))


def _density(a: Any, x: Any, short: bool = False) -> Any:
    """x^a exp(-x) / gamma(a), without cancellation for large a."""
    large = a >= 10
    if not large.any():
        return np.exp(a * np.log(x) - x - lgamma(a, short))
    if not large.all():
        density = np.empty_like(a)
        for part in (large, ~large):
            density[part] = _density(a[part], x[part], short)
        return density
    gap = (x - a) / a
    with np.errstate(divide="ignore", invalid="ignore"):
        # Far below the shape the sum 1 + gap has lost digits that the quotient has.
        away = np.where(gap < -0.5, gap - np.log(x / a), _off_log(gap))
    power = a * away + _stirling_rest(a)
    return np.exp(-power) * np.sqrt(a / (2 * math.pi))


def _iterate_to_convergence(step: Step, state: State, results: int) -> list[Any]:
    """The last arrays of a state after as many steps as each element needs.

    Elements are left out once half of them are done: few need many steps.
    """
    finished = [np.empty_like(array) for array in state[-results:]]
    rows = np.arange(len(finished[0]))
    for n in range(1, MAX_TERMS):
        state, going = step(n, state)
        if going is None:
            continue
        left = np.count_nonzero(going)
        if left and 2 * left > going.size:
            continue
        for whole, part in zip(finished, state[-results:], strict=True):
            whole[rows] = part
        if not left:
            return finished
        rows = rows[going]
        state = tuple([array[going] for array in state])
    for whole, part in zip(finished, state[-results:], strict=True):
        whole[rows] = part
    return finished


def _lower_sum(a: Any, x: Any, short: bool) -> Any:
    """The sum of x^n / (a (a + 1) ... (a + n)) over n."""
    eps = SHORT_EPS if short else EPS / 4

    def step(count: int, state: State) -> tuple[State, Any]:
        x, n, term, total = state
        n += 1
        term *= x
        term /= n
        total += term
        return state, term > eps * total if count % STEPS_BETWEEN_CHECKS == 0 else None

    start = 1 / a
    return _iterate_to_convergence(step, (x.copy(), a.copy(), start, start.copy()), 1)[0]


def _lower_series(a: Any, x: Any) -> tuple[Any, Any]:
    """`_lower_sum` and its derivative by a."""

    def step(count: int, state: State) -> tuple[State, Any]:
        x, n, term, slope, total, by_a = state
        n += 1
        slope *= x
        slope -= term * x / n
        slope /= n
        term *= x
        term /= n
        total += term
        by_a += slope
        if count % STEPS_BETWEEN_CHECKS:
            return state, None
        going = term > EPS / 4 * total
        going |= np.abs(slope) > EPS / 4 * (np.abs(by_a) + EPS * total)
        return state, going

    term, slope = 1 / a, -1 / (a * a)
    state = (x.copy(), a.copy(), term, slope, term.copy(), slope.copy())
    total, by_a = _iterate_to_convergence(step, state, 2)
    return total, by_a


def _upper_small(a: Any, x: Any) -> Any:
    """The upper function for a < 1 and x <= 1, also where it is much smaller than 1.

    1 - x^a / gamma(a + 1), and the rest of the lower function's alternating series.
    """
    short = a <= 0.5
    t = np.where(short, a, 0.0)
    log_gamma = np.where(short, lgamma_beyond_two(t) - np.log1p(t), lgamma(a + 1))
    u = a * np.log(x) - log_gamma
    term, total = np.ones_like(x), np.zeros_like(x)
    for n in range(1, 24):
        term = -term * x / n
        total += term / (a + n)
    return -np.expm1(u) - np.exp(u) * a * total


def _upper_value(a: Any, x: Any, short: bool) -> Any:
    """The fraction 1 / (x + 1 - a - (1 - a) / (x + 3 - a - ...))."""
    eps = SHORT_EPS if short else EPS / 2

    def step(n: int, state: State) -> tuple[State, Any]:
        a, b, p, p_old, q, q_old, open_, value = state
        factor, width = n * (a - n), b + 2 * n
        p, p_old = width * p + factor * p_old, p
        q, q_old = width * q + factor * q_old, q
        if n % STEPS_BETWEEN_CHECKS:
            return (a, b, p, p_old, q, q_old, open_, value), None
        value = p / np.where(q == 0, 1.0, q)
        moved = np.abs(value - p_old / q_old) > eps * np.abs(value)
        # An element that has converged is not updated, because its last bit might change for ever.
        open_ = open_ & moved & (q != 0)
        scale = np.where(np.abs(q) > HUGE, 1 / HUGE, 1.0)
        p, p_old, q, q_old = p * scale, p_old * scale, q * scale, q_old * scale
        return (a, b, p, p_old, q, q_old, open_, value), open_

    zero, one, b = np.zeros_like(x), np.ones_like(x), x + 1 - a
    state = (a, b, one, zero, b, one, np.ones(np.shape(x), bool), one)
    return _iterate_to_convergence(step, state, 1)[0]


def _upper_fraction(a: Any, x: Any) -> tuple[Any, Any]:
    """`_upper_value` and its derivative by a.

    Numerators and denominators go forward with their derivatives by a.
    """

    def step(n: int, state: State) -> tuple[State, Any]:
        a, b, p, p_old, dp, dp_old, q, q_old, dq, dq_old, open_, value, by_a = state
        factor, width = n * (a - n), b + 2 * n
        p, p_old, dp, dp_old = (
            width * p + factor * p_old,
            p,
            width * dp - p + factor * dp_old + n * p_old,
            dp,
        )
        q, q_old, dq, dq_old = (
            width * q + factor * q_old,
            q,
            width * dq - q + factor * dq_old + n * q_old,
            dq,
        )
        safe_q = np.where(q == 0, 1.0, q)
        before, before_a = value, by_a
        value = p / safe_q
        by_a = (dp - value * dq) / safe_q
        moved = (np.abs(value - before) > EPS / 2 * np.abs(value)) | (
            np.abs(by_a - before_a) > 8 * EPS * (np.abs(by_a) + np.abs(value))
        )
        open_ = open_ & moved & (q != 0)
        scale = np.where(np.abs(q) > HUGE, 1 / HUGE, 1.0)
        p, p_old, q, q_old = p * scale, p_old * scale, q * scale, q_old * scale
        dp, dp_old, dq, dq_old = dp * scale, dp_old * scale, dq * scale, dq_old * scale
        state = (a, b, p, p_old, dp, dp_old, q, q_old, dq, dq_old, open_, value, by_a)
        return state, open_

    zero, one, b = np.zeros_like(x), np.ones_like(x), x + 1 - a
    state = (
        a,
        b,
        one,
        zero,
        zero,
        zero,
        b,
        one,
        -one,
        zero,
        np.ones(np.shape(x), bool),
        1 / b,
        1 / (b * b),
    )
    value, by_a = _iterate_to_convergence(step, state, 2)
    return value, by_a


def _regular(a: Any, x: Any) -> tuple[Any, Any, Any]:
    regular = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    return np.where(regular, a, 1.0), np.where(regular, x, 1.0), regular


def lower_gamma(a: Any, x: Any, short: bool) -> Any:
    """P, the lower regularised incomplete gamma function."""
    a, x = np.broadcast_arrays(a, x)
    good_a, good_x, regular = _regular(a, x)
    low = (good_x <= 1) | (good_x <= good_a)
    with np.errstate(all="ignore"):
        density = _density(good_a, good_x, short)

        def by_sum(a: Any, x: Any, density: Any) -> Any:
            return np.minimum(density * _lower_sum(a, x, short), 1.0)

        def by_fraction(a: Any, x: Any, density: Any) -> Any:
            value = _upper_value(a, x, short)
            return 1 - np.where(density == 0, 0.0, density * value)

        p = _by_parts(low, by_sum, by_fraction, good_a, good_x, density)
    return _edges(a, x, regular, p, 0.0, 1.0)


def upper_gamma(a: Any, x: Any, short: bool) -> Any:
    """Q = 1 - P, also where it is small."""
    a, x = np.broadcast_arrays(a, x)
    good_a, good_x, regular = _regular(a, x)
    low = (good_x <= 1) | (good_x <= good_a)
    with np.errstate(all="ignore"):

        def by_sum(a: Any, x: Any) -> Any:
            p = _density(a, x, short) * _lower_sum(a, x, short)
            return 1 - np.minimum(p, 1.0)

        def from_below(a: Any, x: Any) -> Any:
            return _by_parts(a < 1, _upper_small, by_sum, a, x)

        def by_fraction(a: Any, x: Any) -> Any:
            density = _density(a, x, short)
            value = _upper_value(a, x, short)
            return np.where(density == 0, 0.0, density * value)

        q = _by_parts(low, from_below, by_fraction, good_a, good_x)
    return _edges(a, x, regular, q, 1.0, 0.0)


def _by_parts(where: Any, yes: Callable[..., Any], no: Callable[..., Any], *arrays: Any) -> Any:
    """One function where a condition holds and another where it does not."""
    if where.all():
        return yes(*[x.reshape(-1) for x in arrays]).reshape(where.shape)
    if not where.any():
        return no(*[x.reshape(-1) for x in arrays]).reshape(where.shape)
    result = np.empty(where.shape)
    result[where] = yes(*[x[where] for x in arrays])
    result[~where] = no(*[x[~where] for x in arrays])
    return result


def _edges(a: Any, x: Any, regular: Any, value: Any, at_zero: float, far: float) -> Any:
    """The values where an argument is 0, infinite or out of the domain."""
    edge = np.full(a.shape, np.nan)
    edge = np.where((a > 0) & (x == 0), at_zero, edge)
    edge = np.where((a > 0) & np.isposinf(x), far, edge)
    edge = np.where(np.isposinf(a) & (x > 0) & np.isfinite(x), at_zero, edge)
    edge = np.where((x == 0) & (at_zero == 0), 0.0, edge)  # of any shape at all
    return np.where(regular, value, edge)


def gamma_slopes(a: Any, x: Any) -> tuple[Any, Any]:
    """(dP/da, -dP/da / (dP/dx)): by the shape, and of a sample by the shape."""
    a, x = np.broadcast_arrays(a, x)
    good_a, good_x, regular = _regular(a, x)
    # Below, the difference of two large numbers is rounding error.
    good_a = np.maximum(good_a, LEAST_SHAPE)
    low = (good_x <= 1) | (good_x <= good_a)
    slope, ratio = np.zeros(a.shape), np.zeros(a.shape)
    with np.errstate(all="ignore"):
        density = _density(good_a, good_x)
        growth = np.log(good_x) - digamma(good_a)
        for part, rule, sign in ((low, _lower_series, 1.0), (~low, _upper_fraction, -1.0)):
            if part.any():
                value, by_a = rule(good_a[part], good_x[part])
                inner = sign * (growth[part] * value + by_a)
                slope[part] = density[part] * inner
                ratio[part] = -inner * good_x[part]
    edge = np.where(((a > 0) & np.isposinf(x)) | (x == 0), 0.0, np.nan)
    edge = np.where(np.isposinf(a) & (x > 0) & np.isfinite(x), 0.0, edge)
    return np.where(regular, slope, edge), np.where(regular, ratio, edge)


def log_beta(a: Any, b: Any) -> Any:
    """log of the beta function, without cancellation for large arguments."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    large = high >= 10
    bounded = np.where(large, high, 10.0)
    total = bounded + np.where(large, low, 1.0)
    lean = np.where(large, low, 1.0)
    big = lean >= 10
    inner = np.where(big, lean, 10.0)
    both = (
        -0.5 * np.log(bounded)
        + 0.5 * math.log(2 * math.pi)
        + _stirling_rest(bounded)
        + _stirling_rest(inner)
        - _stirling_rest(bounded + inner)
        + (inner - 0.5) * np.log(inner / (bounded + inner))
        - bounded * np.log1p(inner / bounded)
    )
    # log(gamma(high) / gamma(total)) by Stirling's series.
    gap = (
        (bounded - 0.5) * -np.log1p(lean / bounded)
        - lean * np.log(total)
        + lean
        + _stirling_rest(bounded)
        - _stirling_rest(total)
    )
    one = lgamma(lean) + gap
    small = lgamma(low) + lgamma(high) - lgamma(low + high)
    return np.where(large, np.where(big, both, one), small)


def incomplete_beta(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function."""
    a, b, x = np.broadcast_arrays(a, b, x)
    regular = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    p, q = np.where(regular, a, 1.0), np.where(regular, b, 1.0)
    y = np.where(regular, x, 0.5)
    swapped = y > p / (p + q)
    first, second = np.where(swapped, q, p), np.where(swapped, p, q)
    left, right = np.where(swapped, 1 - y, y), np.where(swapped, y, 1 - y)
    with np.errstate(all="ignore"):
        scale = np.exp(first * np.log(left) + second * np.log(right) - log_beta(first, second))
        value = scale * _beta_fraction(first, second, left) / first
    value = np.where(swapped, 1 - value, value)
    good = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
    edge = np.where(good & (x == 0), 0.0, np.where(good & (x == 1), 1.0, np.nan))
    return np.where(regular, value, edge)


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta function, by Lentz' method."""

    def step(m: int, state: State) -> tuple[State, Any]:
        a, b, x, c, d, value = state
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            d = 1 / _away_from_zero(1 + part * d)
            c = _away_from_zero(1 + part / c)
            factor = c * d
            value = value * factor
        return (a, b, x, c, d, value), np.abs(factor - 1) > 2 * EPS

    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    flat = [np.reshape(v, -1) for v in (a, b, x, np.ones_like(d), d, d)]
    return _iterate_to_convergence(step, tuple(flat), 1)[0].reshape(np.shape(d))


def _away_from_zero(x: Any) -> Any:
    return np.where(np.abs(x) < TINY, TINY, x)


def _slope_by_x(a: Any, x: Any) -> Any:
    """exp(-x) x^(a - 1) / gamma(a); NaN for x below 0, and at 0 where a is 1, as in TensorFlow."""
    one = constant(1, a)
    power = raw.Sub(raw.Mul(raw.Sub(a, one), raw.Log(x)), raw.AddV2(x, raw.Lgamma(a)))
    return raw.Exp(power)


# The cost of an element of such a series in NumPy, in multiplications.
WORK_PER_SERIES = 512


class IncompleteGamma(Op):
    """A function of the shape parameter a and of x, computed in double precision."""

    signature = "a: T, x: T -> z: T"
    T: tuple[DType, ...] = FLOATS
    blockwise = True
    batching = "broadcast"

    def infer(self, a: Spec, x: Spec) -> Spec:
        return Spec(a.dtype, shapes.broadcast(a.shape, x.shape))

    def gradients(self, dz: Any, a: Any, x: Any, negative: bool) -> Any:
        """The gradients of P, or of Q = 1 - P, by a and by x."""
        dz = raw.Neg(dz) if negative else dz
        by_a = lambda: raw.Mul(dz, raw.IgammaGradA(a, x))  # noqa: E731
        by_x = lambda: raw.Mul(dz, _slope_by_x(a, x))  # noqa: E731
        return unbroadcast_both(by_a, by_x, spec_of(a), spec_of(x))


class CompiledSeries(CompiledFunction, IncompleteGamma):
    """One of which large arrays are machine code."""

    work_per_element = WORK_PER_SERIES
    blockwise = False

    def kernel(self, a, x):
        return self.computed(a, x)


@op
class Igamma(CompiledSeries):
    """The lower regularised incomplete gamma function P(a, x)."""

    def numpy_kernel(self, a, x):
        return _computed(lower_gamma, a, x, short=a.dtype.itemsize < 8)

    def scalar(self, s, a, x):
        return s.igamma(a, x)

    def gradient(self, dz, a, x) -> Any:
        return self.gradients(dz, a, x, False)


@op
class Igammac(CompiledSeries):
    """The upper regularised incomplete gamma function Q(a, x)."""

    def numpy_kernel(self, a, x):
        return _computed(upper_gamma, a, x, short=a.dtype.itemsize < 8)

    def scalar(self, s, a, x):
        return s.igammac(a, x)

    def gradient(self, dz, a, x) -> Any:
        return self.gradients(dz, a, x, True)


@op
class IgammaGradA(IncompleteGamma):
    """The derivative of P(a, x) by a; it has no gradient itself, as in TensorFlow."""

    T = (float32, float64)

    def kernel(self, a, x):
        return _computed(lambda p, q: gamma_slopes(p, q)[0], a, x)


@op
class RandomGammaGrad(Op):
    """The derivative of a sample of a gamma distribution by its shape."""

    signature = "alpha: T, sample: T -> output: T"
    T = (float32, float64)
    batching = "broadcast"

    def infer(self, alpha: Spec, sample: Spec) -> Spec:
        return Spec(alpha.dtype, shapes.broadcast(alpha.shape, sample.shape))

    def kernel(self, alpha, sample):
        return _computed(lambda p, q: gamma_slopes(p, q)[1], alpha, sample)


def _computed(function: Any, *arrays: Any, **options: bool) -> Any:
    result = function(*(np.asarray(a, np.float64) for a in arrays), **options)
    with np.errstate(over="ignore"):
        return np.asarray(result).astype(arrays[0].dtype)


@op
class Betainc(CompiledFunction):
    """The regularised incomplete beta function; of its operands only scalars are broadcast."""

    signature = "a: T, b: T, x: T -> z: T"
    T = (float32, float64)
    work_per_element = WORK_PER_SERIES

    def infer(self, a: Spec, b: Spec, x: Spec) -> Spec:
        known: Any = ()
        open_rank = False
        for name, spec in (("a", a), ("b", b), ("x", x)):
            if spec.shape is None:
                open_rank = True
            elif spec.shape != ():
                if known != () and not shapes.compatible(known, spec.shape):
                    raise ShapeError(
                        f"Shapes must be equal, but are {shapes.text(known)} and "
                        f"{shapes.text(spec.shape)} ({name})"
                    )
                known = spec.shape if known == () else shapes.merge(known, spec.shape)
        return Spec(a.dtype, None if open_rank and known == () else known)

    def kernel(self, a, b, x):
        names = {"a": np.shape(a), "b": np.shape(b), "x": np.shape(x)}
        large = [(n, s) for n, s in names.items() if s != ()]
        for name, shape in large[1:]:
            if shape != large[0][1]:
                raise invalid_argument(
                    f"Shapes of {large[0][0]} and {name} are inconsistent: "
                    f"{list(large[0][1])} vs. {list(shape)}"
                )
        return self.computed(a, b, x)

    def numpy_kernel(self, a, b, x):
        return _computed(incomplete_beta, a, b, x)

    def scalar(self, s, a, b, x):
        return s.betainc(a, b, x)

    def gradient(self, dz, a, b, x) -> Any:
        def by_x() -> Any:
            one = constant(1, x)
            power = raw.AddV2(
                raw.Xlog1py(raw.Sub(b, one), raw.Neg(x)), raw.Xlogy(raw.Sub(a, one), x)
            )
            logs = raw.Sub(raw.AddV2(raw.Lgamma(a), raw.Lgamma(b)), raw.Lgamma(raw.AddV2(a, b)))
            whole = raw.Mul(dz, raw.Exp(raw.Sub(power, logs)))
            return unbroadcast_both(whole, None, spec_of(x), spec_of(whole))[0]

        def summed() -> Any:
            found = by_x()
            return found() if callable(found) else found

        return None, None, summed
