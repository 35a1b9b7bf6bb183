"""Quantisation imitated in floats: numbers as they would be after 2 to 16 bits and back.

The range is moved a little, so that 0 is one of its steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.math.summation import add_reduce

_F = np.float32


def nudged(low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[Any, Any, Any]:
    """The range that has 0 among its steps, and the size of a step."""
    if not 2 <= num_bits <= 16:
        raise invalid_argument("num_bits must be between 2 and 16, inclusive")
    first, last = _F(narrow_range), _F((1 << num_bits) - 1)
    step = (high - low) / (last - first)
    zero = np.clip(np.floor(first - low / step + _F(0.5)), first, last)
    return (first - zero) * step, (last - zero) * step, step


def _rounded(x: Any, low: Any, high: Any, step: Any, steps: Any, zero: Any) -> Any:
    """`steps(width)` is the number of steps of a width."""
    inside = np.maximum(np.minimum(x, high), low)
    return np.floor(steps(inside - low) - zero + _F(0.5)) * step


def _by_product(x: Any, low: Any, high: Any, step: Any) -> Any:
    scale = _F(1) / step
    zero = np.floor(-low * scale + _F(0.5))
    return _rounded(x, low, high, step, lambda width: width * scale, zero)


def _by_division(x: Any, low: Any, high: Any, step: Any) -> Any:
    zero = np.floor(-low / step + _F(0.5))
    return _rounded(x, low, high, step, lambda width: width / step, zero)


def _inside(x: Any, low: Any, high: Any) -> Any:
    return (x >= low) & (x <= high)


def _check_rank(rank: int, **shapes: Any) -> None:
    for name, dims in shapes.items():
        if dims is not None and len(dims) != rank:
            raise ShapeError(
                f"Shape must be rank {rank} but is rank {len(dims)}: {name}",
                eager=f"`{name}` must be rank {rank} but is rank {len(dims)}",
            )


_ARGS = "min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False"
_VARS = "num_bits: int = 8, narrow_range: bool = False"
_BACKPROPS = "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32"


def _bounds(low: float, high: float) -> tuple[Any, Any]:
    if not low < high:
        raise invalid_argument(f"min has to be smaller than max, was: {low:g} >= {high:g}")
    return _F(low), _F(high)


@op
class FakeQuantWithMinMaxArgs(Op):
    """The input in 2^num_bits steps between two numbers."""

    signature = f"inputs: float32; {_ARGS} -> outputs: float32"
    batching = "leading"

    def infer(self, inputs: Spec) -> Spec:
        return inputs.like()

    def kernel(self, inputs, min, max, num_bits, narrow_range):
        low, high = _bounds(min, max)
        return _by_product(inputs, *nudged(low, high, num_bits, narrow_range))

    def gradient(self, doutputs, inputs, min, max, num_bits, narrow_range) -> Any:
        return raw.FakeQuantWithMinMaxArgsGradient(
            doutputs, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range
        )


@op
class FakeQuantWithMinMaxArgsGradient(Op):
    """The gradient inside the range, 0 outside."""

    signature = f"gradients: float32, inputs: float32; {_ARGS} -> backprops: float32"
    differentiable = False

    def infer(self, gradients: Spec) -> Spec:
        return gradients.like()

    def kernel(self, gradients, inputs, min, max, num_bits, narrow_range):
        if gradients.shape != inputs.shape:
            raise invalid_argument("gradient and input must be the same size")
        low, high = _bounds(min, max)
        low, high, _ = nudged(low, high, num_bits, narrow_range)
        return _masked(gradients, _inside(inputs, low, high))


@op
class FakeQuantWithMinMaxVars(Op):
    """The input in 2^num_bits steps between two tensors' numbers."""

    signature = f"inputs: float32, min: float32, max: float32; {_VARS} -> outputs: float32"

    def infer(self, inputs: Spec, min: Spec, max: Spec) -> Spec:
        _check_rank(0, min=min.shape, max=max.shape)
        return inputs.like()

    def kernel(self, inputs, min, max, num_bits, narrow_range):
        _check_rank(0, min=min.shape, max=max.shape)
        if min == 0 == max:
            return np.zeros_like(inputs)
        return _by_division(inputs, *nudged(min, max, num_bits, narrow_range))

    def gradient(self, doutputs, inputs, min, max, num_bits, narrow_range) -> Any:
        return raw.FakeQuantWithMinMaxVarsGradient(
            doutputs, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range
        )


@op
class FakeQuantWithMinMaxVarsGradient(Op):
    """The gradient inside the range; elements outside contribute to the gradient of the nearer
    bound."""

    signature = (
        f"gradients: float32, inputs: float32, min: float32, max: float32; {_VARS} -> {_BACKPROPS}"
    )
    differentiable = False

    def infer(self, gradients: Spec, min: Spec, max: Spec) -> list[Spec]:
        _check_rank(0, min=min.shape, max=max.shape)
        return [gradients.like(), min.like(shape=()), max.like(shape=())]

    def kernel(self, gradients, inputs, min, max, num_bits, narrow_range):
        if gradients.shape != inputs.shape:
            raise invalid_argument("gradient and input must be the same size")
        _check_rank(0, min=min.shape, max=max.shape)
        if min == 0 == max:
            return np.array(gradients), np.zeros((), _F), np.zeros((), _F)
        low, high, _ = nudged(min, max, num_bits, narrow_range)
        return (
            _masked(gradients, _inside(inputs, low, high)),
            _sums(gradients, inputs < low),
            _sums(gradients, inputs > high),
        )


def _masked(gradients: Any, where: Any) -> Any:
    """The gradients where a mask allows them; others times 0, as in TensorFlow: NaN and infinities show."""
    return gradients * where.astype(_F)


def _sums(gradients: Any, where: Any, axes: tuple[int, ...] | None = None) -> Any:
    """The sums of the gradients where a mask allows them, over some axes or all."""
    over = tuple(range(gradients.ndim)) if axes is None else axes
    return add_reduce(_masked(gradients, where), over)


def _channels(inputs: Dims, low: Dims, high: Dims) -> None:
    if inputs == ():
        raise ShapeError("Shape must be at least rank 1 but is rank 0")
    depth = None if inputs is None else inputs[-1]
    _check_rank(1, min=low, max=high)
    for name, dims in (("min", low), ("max", high)):
        channels = dims[0] if dims else None
        if None not in (depth, channels) and depth != channels:
            raise ShapeError(
                f"Dimensions must be equal, but are {depth} and {channels}",
                eager=f"{name} has incorrect size, expected {depth} was {channels}",
            )


@op
class FakeQuantWithMinMaxVarsPerChannel(Op):
    """As FakeQuantWithMinMaxVars, with bounds for each channel of the last dimension."""

    signature = FakeQuantWithMinMaxVars.signature

    def infer(self, inputs: Spec, min: Spec, max: Spec) -> Spec:
        _channels(inputs.shape, min.shape, max.shape)
        return inputs.like()

    def kernel(self, inputs, min, max, num_bits, narrow_range):
        _channels(inputs.shape, min.shape, max.shape)
        found = _by_product(inputs, *nudged(min, max, num_bits, narrow_range))
        return np.where((min == 0) & (max == 0), _F(0), found)

    def gradient(self, doutputs, inputs, min, max, num_bits, narrow_range) -> Any:
        return raw.FakeQuantWithMinMaxVarsPerChannelGradient(
            doutputs, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range
        )


@op
class FakeQuantWithMinMaxVarsPerChannelGradient(Op):
    """As FakeQuantWithMinMaxVarsGradient, for each channel of the last dimension."""

    signature = FakeQuantWithMinMaxVarsGradient.signature
    differentiable = False

    def infer(self, gradients: Spec, inputs: Spec, min: Spec, max: Spec) -> list[Spec]:
        _channels(inputs.shape, min.shape, max.shape)
        depth = None if inputs.shape is None else inputs.shape[-1]
        return [gradients.like(), min.like(shape=(depth,)), max.like(shape=(depth,))]

    def kernel(self, gradients, inputs, min, max, num_bits, narrow_range):
        if gradients.shape != inputs.shape:
            raise invalid_argument("gradient and input must be the same size")
        _channels(inputs.shape, min.shape, max.shape)
        low, high, _ = nudged(min, max, num_bits, narrow_range)
        empty = (min == 0) & (max == 0)
        rows = tuple(range(inputs.ndim - 1))
        return (
            _masked(gradients, _inside(inputs, low, high) | empty),
            np.where(empty, _F(0), _sums(gradients, inputs < low, rows)),
            np.where(empty, _F(0), _sums(gradients, inputs > high, rows)),
        )
