"""Chebyshev series and piecewise functions as vector code.

A piece is computed only if one of the lanes is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from intaglio.native.llvm.vectors import Builder, Lanes

# Coefficients below this, relative to the largest one, do not change a float32 result.
SHORT_EPS = 2.0**-40


def series(s: Builder, t: Lanes, coefficients: Sequence[float], short: bool = False) -> Lanes:
    """A Chebyshev series by Clenshaw's recurrence; with `short` only the terms that float32 needs."""
    first, *others = _shortened(coefficients) if short else coefficients
    double, one, two = s.add(t, t), s.const(0, t), s.const(0, t)
    for c in reversed(others):
        one, two = s.fma(double, one, s.sub(s.const(c, t), two)), one
    return s.fma(t, one, s.sub(s.const(first, t), two))


def _shortened(coefficients: Sequence[float]) -> Sequence[float]:
    least = SHORT_EPS * max(map(abs, coefficients))
    count = max(i for i, c in enumerate(coefficients) if abs(c) >= least)
    return coefficients[: count + 1]


def where(s: Builder, condition: Lanes, function: Callable[[], Lanes], otherwise: Lanes) -> Lanes:
    """`function()` where a condition holds, else `otherwise`; computed if the condition holds in
    any lane."""
    return s.either(
        s.any(condition), lambda: s.select(condition, function(), otherwise), lambda: otherwise
    )


def pieces(s: Builder, otherwise: Lanes, *parts: tuple[Lanes, Callable[[], Lanes]]) -> Lanes:
    """The result of each function where its condition holds, else `otherwise`."""
    for condition, function in parts:
        otherwise = where(s, condition, function, otherwise)
    return otherwise
