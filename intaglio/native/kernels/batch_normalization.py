"""Batch normalisation of float32 images with their channels last, and its gradient, in machine
code.

An array is a matrix with one column for each channel. Mean and variance follow from sums over its
rows of the elements less a pivot, and of their squares: the pivot is the mean of the first rows. It
is close enough to the mean of all rows that cancellation costs little: the relative error of the
squares is at most that of the variance times the number of rows over the number of first rows.

Computations on the statistics, one number for each channel, are kernels of a single row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.native.kernels import reductions
from intaglio.native.kernels.row_kernels import BLOCK_BYTES, MAX_ROW_BYTES, Plan, Value, kernel
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm.vectors import Lanes
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions

Run = Callable[..., Any]


def fits(rows: int, channels: int) -> bool:
    """True for images that have kernels."""
    return entry.AVAILABLE and rows > 1 and 1 < channels <= MAX_ROW_BYTES


def forward(
    rows: int,
    channels: int,
    shape: tuple[int, ...],
    training: bool,
    epsilon: float,
    factor: float = 1.0,
    relu: bool = False,
    wanted: Sequence[int] = range(5),
) -> Chain | None:
    """(x, scale, offset, mean, variance) to those outputs of FusedBatchNorm that are `wanted`.

    These are y, with `relu` applied, the statistics to keep and those that the gradient
    takes. In training with a factor of 1 mean and variance are not read, and may be anything.
    """
    if not fits(rows, channels):
        return None
    chain = Chain(5)
    if training:
        kept = _statistics(chain, rows, channels, epsilon, factor)
        mean, slope = kept[2], kept.pop()
    else:
        kept, mean = [3, 4, 3, 4], 3
        (slope,) = chain.then(_slope(channels), 1, 4, _number(epsilon))
    y = -1
    if 0 in wanted:
        (y,) = chain.then(_normalized(rows, channels, shape, relu), 0, mean, slope, 2)
    outputs = [y, *kept]
    return chain.returning([outputs[i] for i in wanted])


def gradient(
    rows: int,
    channels: int,
    shape: tuple[int, ...],
    training: bool,
    epsilon: float,
    through: str = "",
    same: bool = False,
) -> Chain | None:
    """(d, x, scale, mean, variance) to the gradients with respect to x, scale and offset.

    With `through` d is the gradient with respect to relu(y), and the sixth argument shows where
    Relu was zero: its "results", or the "offset". With `same` d is a single number, which is
    broadcast.
    """
    if not fits(rows, channels):
        return None
    chain, beyond = Chain(6 if through else 5), list[Any]()
    rate, slope = chain.then(_rates(channels), 2, 4, _number(epsilon))
    if through:
        beyond = [5] if through == "results" else [slope, 5]
    by_offset, by_scale = chain.then(_sums(rows, channels, through, same), 0, 1, 3, rate, *beyond)
    operands = [0, 1, 3, slope]
    if training:
        operands += chain.then(
            _partial_sums(channels), by_offset, by_scale, rate, slope, _number(rows)
        )
    run = _input_gradient(rows, channels, shape, through, same, training)
    (by_x,) = chain.then(run, *operands, *beyond)
    return chain.returning([by_x, by_scale, by_offset])


def _number(value: float) -> Any:
    """The operand for a number in a kernel's arguments."""
    return np.array([value], np.float32)


# -- a number for each channel ----------------------------------------------------------------


def _statistics(chain: Chain, rows: int, channels: int, epsilon: float, factor: float) -> list[int]:
    """The running statistics, those of the batch, and the slopes: mean and variance, twice, and the
    factors of the distances from the mean."""
    first = min(BLOCK_BYTES, rows)
    near = chain.then(reductions.reduction("mean", (first, channels), (0,), False), 0)
    near = chain.then(_finite(channels), *near)
    found = chain.then(moments(rows, channels), 0, *near)
    blended = factor != 1.0
    plan = Plan((1, channels))
    near_, total, squares, scale = (plan.new_input("wide") for _ in range(4))
    small, count, more = (plan.new_input("number") for _ in range(3))
    beside = _mapped(plan, "div", total, count)
    mean = _mapped(plan, "add", near_, beside)
    whole = _mapped(plan, "div", squares, count)
    left = _mapped(plan, "sub", whole, _mapped(plan, "mul", beside, beside))
    variance = plan.map(_variance, whole, left)
    slope = _mapped(plan, "div", scale, _root(plan, variance, small))
    kept = [mean, _mapped(plan, "mul", variance, more)]
    running: list[Any] = []
    if blended:
        old, new = plan.new_input("number"), plan.new_input("number")
        kept = [
            _mapped(
                plan,
                "add",
                *[_mapped(plan, "mul", *p) for p in ((old, plan.new_input("wide")), (new, value))],
            )
            for value in kept
        ]
        running = [_number(1 - factor), _number(factor), 3, 4]
    numbers = [_number(n) for n in (epsilon, rows, rows / max(rows - 1, 1))]
    run = _as_single(plan, channels, [*kept, mean, variance, slope])
    return chain.then(run, *near, *found, 1, *numbers, *running)


def _variance(s: Functions, operands: Sequence[Lanes]) -> Lanes:
    """The variance from (mean of squares, mean of squares less squared mean).

    That is the second, at least zero; infinity where the first is infinite.
    """
    whole, left = operands
    infinite = s.eq(whole, s.const(np.inf, whole))
    return s.select(infinite, whole, s.maximum(left, s.const(0, left)))


def _finite(channels: int) -> Chain:
    """Numbers unchanged, and 0 for infinities and NaN: a pivot must be finite, or finite elements
    less the pivot would be infinite or NaN."""
    plan = Plan((1, channels))
    value = plan.new_input("wide")
    difference = _mapped(plan, "sub", value, value)

    def kept(s: Functions, operands: Sequence[Lanes]) -> Lanes:
        difference, value = operands
        zero = s.const(0, value)
        return s.select(s.eq(difference, zero), value, zero)

    return _as_single(plan, channels, [plan.map(kept, difference, value)])


def _slope(channels: int) -> Chain:
    """(scale, variance, epsilon) to the factor of the distances from the mean: scale /
    sqrt(variance + epsilon)."""
    plan = Plan((1, channels))
    scale, variance, small = (plan.new_input(f) for f in ("wide", "wide", "number"))
    return _as_single(plan, channels, [_mapped(plan, "div", scale, _root(plan, variance, small))])


def _rates(channels: int) -> Chain:
    """(scale, variance, epsilon) to 1 / sqrt(variance + epsilon), and the same times scale."""
    plan = Plan((1, channels))
    scale, variance, small = (plan.new_input(f) for f in ("wide", "wide", "number"))
    root = _root(plan, variance, small)
    rate = _mapped(plan, "div", plan.number(1.0), root)
    return _as_single(plan, channels, [rate, _mapped(plan, "div", scale, root)])


def _partial_sums(channels: int) -> Chain:
    """(gradients with respect to offset and scale, rates, slopes, rows) to the constant that the
    input gradient is reduced by, and to the factor of the distances from the mean that it is
    reduced by."""
    plan = Plan((1, channels))
    by_offset, by_scale, rate, slope = (plan.new_input("wide") for _ in range(4))
    count = plan.new_input("number")
    everywhere = _mapped(plan, "mul", _mapped(plan, "div", by_offset, count), slope)
    part = _mapped(plan, "mul", _mapped(plan, "div", by_scale, count), rate)
    return _as_single(plan, channels, [everywhere, _mapped(plan, "mul", part, slope)])


def _as_single(plan: Plan, channels: int, results: Sequence[Value]) -> Chain:
    """The kernel of a plan that has a single row."""
    for value in results:
        plan.result(value, (channels,), "wide")
    plan.finish()
    return kernel(plan)


def _root(plan: Plan, variance: Value, small: Value) -> Value:
    total = _mapped(plan, "add", variance, small)
    return plan.map(lambda s, operands: s.sqrt(operands[0]), total)


def _mapped(plan: Plan, name: str, *inputs: Value) -> Value:
    """The result of an elementwise step named after a method of the builder."""
    return plan.map(lambda s, operands: getattr(s, name)(*operands), *inputs)


# -- rows -------------------------------------------------------------------------------------


def moments(rows: int, channels: int) -> Chain:
    """(array, pivot) to the sums of the array less the pivot, and of its squares, for each channel.

    The sums of infinite elements are NaN.
    """
    plan = Plan((rows, channels))
    x, near = plan.new_input("wide"), plan.new_input("columns")
    left = _mapped(plan, "sub", x, near)
    squares = _mapped(plan, "add", _mapped(plan, "mul", left, left), _mapped(plan, "sub", x, x))
    for value in (left, squares):
        plan.result(plan.columns(value), (channels,))
    plan.finish()
    return kernel(plan)


def _normalized(rows: int, channels: int, shape: tuple[int, ...], relu: bool) -> Chain:
    """(x, means, slopes, offsets) to (x - means) * slopes + offsets, with relu if `relu`."""
    plan = Plan((rows, channels))
    x, mean, slope, offset = plan.new_input("wide"), *_columns(plan, 3)
    normalized = _normal(plan, x, mean, slope, offset)
    if relu:
        normalized = _mapped(plan, "maximum", normalized, plan.number(0.0))
    plan.result(normalized, shape, "wide")
    plan.finish()
    return kernel(plan)


def _sums(rows: int, channels: int, through: str, same: bool) -> Chain:
    """(d, x, means, rates) to the sums of d and of d * (x - means) * rates.

    The arguments after these show where Relu was zero: its results, or slopes and offsets.
    """
    plan = Plan((rows, channels))
    d, x = plan.new_input("number" if same else "wide"), plan.new_input("wide")
    mean, rate = _columns(plan, 2)
    d = _passed(plan, d, x, mean, through)
    product = _mapped(plan, "mul", d, _unit(plan, x, mean, rate))
    for value in (d, product):
        plan.result(plan.columns(value), (channels,))
    plan.finish()
    return kernel(plan)


def _input_gradient(
    rows: int, channels: int, shape: tuple[int, ...], through: str, same: bool, training: bool
) -> Chain:
    """(d, x, means, slopes, constants, factors) to slopes * d - constants - (x - means) * factors.

    The last two are subtracted in training only. The other parameters are those of `_sums`.
    """
    plan = Plan((rows, channels))
    d, x = plan.new_input("number" if same else "wide"), plan.new_input("wide")
    mean, slope = _columns(plan, 2)
    shares = _columns(plan, 2) if training else []
    d = _passed(plan, d, x, mean, through)
    gradient = _mapped(plan, "mul", slope, d)
    if training:
        everywhere, part = shares
        gradient = _mapped(plan, "sub", gradient, everywhere)
        gradient = _mapped(plan, "sub", gradient, _unit(plan, x, mean, part))
    plan.result(gradient, shape, "wide")
    plan.finish()
    return kernel(plan)


def _passed(plan: Plan, d: Value, x: Value, mean: Value, through: str) -> Value:
    """The gradient with respect to the normalised values, from that with respect to the results of
    Relu."""
    if not through:
        return d
    if through == "results":
        normalized = plan.new_input("wide")
    else:
        normalized = _normal(plan, x, mean, *_columns(plan, 2))

    def passed(s: Functions, operands: Sequence[Lanes]) -> Lanes:
        slope, normalized = operands
        zero, one = s.const(0, normalized), s.const(1, normalized)
        return s.mul(slope, s.select(s.gt(normalized, zero), one, zero))

    return plan.map(passed, d, normalized)


def _normal(plan: Plan, x: Value, mean: Value, slope: Value, offset: Value) -> Value:
    """The normalised values; the same expression everywhere, so that its bits are the same."""
    return _mapped(plan, "add", _unit(plan, x, mean, slope), offset)


def _columns(plan: Plan, count: int) -> list[Value]:
    return [plan.new_input("columns") for _ in range(count)]


def _unit(plan: Plan, x: Value, mean: Value, rate: Value) -> Value:
    return _mapped(plan, "mul", _mapped(plan, "sub", x, mean), rate)
