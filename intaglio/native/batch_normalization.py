"""Batch normalisation of float32 images with their channels last, and its gradient, in machine code.

Statistics are sums over all rows of an array that has the channels in rows. Those of the
squares are taken of what is left of the elements when the mean of the first rows is taken away,
which is near enough the mean of all that nothing is lost: their squares' errors are at most
those of the variance times the number of rows over that of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.native import entry
from intaglio.native.functions import Functions
from intaglio.native.lanes import Lanes
from intaglio.native.row_kernels import BLOCK, LONGEST, Plan, Value, kernel

Run = Callable[..., Any]


def _fits(rows: int, channels: int) -> bool:
    return entry.AVAILABLE and rows > 1 and 1 < channels <= LONGEST


def moments(rows: int, channels: int) -> Run | None:
    """An array to the means and variances of its channels."""
    if not _fits(rows, channels):
        return None
    plan = Plan((rows, channels))
    x, near = plan.given("wide"), plan.given("columns")
    left = plan.map(lambda s, given: s.sub(*given), x, near)
    square = plan.map(lambda s, given: s.mul(given[0], given[0]), left)
    for value in (left, square):
        plan.result(plan.columns(value), (channels,))
    plan.finish()
    sums = kernel(plan)
    count = np.float32(rows)

    def run(x: Any) -> tuple[Any, Any]:
        x = x.reshape(rows, channels)
        near = x[:BLOCK].mean(axis=0)
        total, squares = sums(x, near)
        beside = total / count
        variance = squares / count - beside * beside
        return near + beside, np.maximum(variance, 0, out=variance)

    return run


def normalized(
    rows: int, channels: int, shape: tuple[int, ...], floored: bool = False
) -> Run | None:
    """(x, means, slopes, offsets) to (x - means) * slopes + offsets, `floored` at zero."""
    if not _fits(rows, channels):
        return None
    plan = Plan((rows, channels))
    x, mean, slope, offset = plan.given("wide"), *_columns(plan, 3)
    made = _normal(plan, x, mean, slope, offset)
    if floored:
        made = plan.map(lambda s, given: s.maximum(*given), made, plan.number(0.0))
    plan.result(made, (rows, channels))
    plan.finish()
    run = kernel(plan)
    return lambda x, *columns: run(x, *columns)[0].reshape(shape)


def sums(rows: int, channels: int, through: int = 0, same: bool = False) -> Run | None:
    """(d, x, means, rates) to the sums of d and of d * (x - means) * rates.

    `through` is how many arrays follow that say where Relu, after the normalisation, was zero: one
    is what it made, two are slopes and offsets of the normalisation. d is then the gradient by
    what Relu made. With `same` it is one number, the same everywhere.
    """
    if not _fits(rows, channels):
        return None
    plan = Plan((rows, channels))
    d, x = plan.given("number" if same else "wide"), plan.given("wide")
    mean, rate = _columns(plan, 2)
    d = _passed(plan, d, x, mean, through)
    product = plan.map(lambda s, given: s.mul(*given), d, _unit(plan, x, mean, rate))
    for value in (d, product):
        plan.result(plan.columns(value), (channels,))
    plan.finish()
    return kernel(plan)


def gradient(
    rows: int, channels: int, shape: tuple[int, ...], through: int = 0, same: bool = False
) -> Run | None:  # fmt: skip
    """(d, x, means, rates, a, b, slopes) to slopes * (d - a - b * (x - means) * rates).

    `through` and `same` as for `sums`.
    """
    if not _fits(rows, channels):
        return None
    plan = Plan((rows, channels))
    d, x = plan.given("number" if same else "wide"), plan.given("wide")
    mean, rate, a, b, slope = _columns(plan, 5)
    d = _passed(plan, d, x, mean, through)
    unit = _unit(plan, x, mean, rate)
    inner = plan.map(lambda s, given: s.sub(*given), d, a)
    part = plan.map(lambda s, given: s.mul(*given), unit, b)
    left = plan.map(lambda s, given: s.sub(*given), inner, part)
    made = plan.map(lambda s, given: s.mul(*given), slope, left)
    plan.result(made, (rows, channels))
    plan.finish()
    run = kernel(plan)
    return lambda *arrays: run(*arrays)[0].reshape(shape)


def _passed(plan: Plan, d: Value, x: Value, mean: Value, through: int) -> Value:
    """The gradient by what was normalised, from that by what Relu made of it."""
    if not through:
        return d
    if through == 1:
        made = plan.given("wide")
    else:
        made = _normal(plan, x, mean, *_columns(plan, 2))

    def passed(s: Functions, given: Sequence[Lanes]) -> Lanes:
        slope, made = given
        zero, one = s.const(0, made), s.const(1, made)
        return s.mul(slope, s.select(s.gt(made, zero), one, zero))

    return plan.map(passed, d, made)


def _normal(plan: Plan, x: Value, mean: Value, slope: Value, offset: Value) -> Value:
    """What is normalised; its bits are the same wherever that is computed."""
    made = _unit(plan, x, mean, slope)
    return plan.map(lambda s, given: s.add(*given), made, offset)


def _columns(plan: Plan, count: int) -> list[Value]:
    return [plan.given("columns") for _ in range(count)]


def _unit(plan: Plan, x: Value, mean: Value, rate: Value) -> Value:
    return plan.map(lambda s, given: s.mul(s.sub(*given[:2]), given[2]), x, mean, rate)
