"""Floats rounded to the steps of few bits in a range, in one op."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, float16, float32, float64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

_ROUNDS = ("HALF_TO_EVEN", "HALF_UP")
_ATTRS = (
    "signed_input: bool = True, num_bits: int = 8, range_given: bool = False,"
    " round_mode: str = 'HALF_TO_EVEN', narrow_range: bool = False, axis: int = -1"
)


def _check(x: Spec, low: Spec, axis: int) -> None:
    if axis < -1:
        raise ShapeError(f"axis should be at least -1, got {axis}")
    if axis == -1 or x.shape is None:
        return
    if axis >= len(x.shape):
        raise ShapeError(
            f"Axis should be less than the number of dimensions ({len(x.shape)}), but is {axis}"
        )


def _check_axis(x: Any, axis: int) -> None:
    if axis < -1:
        raise invalid_argument(f"Axis must be at least -1. Found {axis}")
    if axis >= np.ndim(x):
        raise invalid_argument(f"Shape must be at least rank {axis + 1} but is rank {np.ndim(x)}")


def _check_shapes(x: Any, low: Any, high: Any, axis: int) -> None:
    _check_axis(x, axis)
    for name, bound in (("input_min", low), ("input_max", high)):
        if axis == -1 and np.ndim(bound):
            raise invalid_argument(
                f"{name} must be a scalar if axis is unspecified, got shape {list(np.shape(bound))}"
            )
        if axis != -1 and np.size(bound) != x.shape[axis]:
            raise invalid_argument(
                f"{name} has incorrect size: {list(np.shape(bound))}, expected [{x.shape[axis]}]"
            )


def _check_order(low: Any, high: Any) -> None:
    wrong = ~np.less_equal(low, high)  # also of NaN
    if np.any(wrong):
        at = np.argmax(np.ravel(wrong))
        raise invalid_argument(
            f"Invalid range: input_min {np.ravel(low)[at]:g} > input_max {np.ravel(high)[at]:g}"
        )


def _bounds(low: Any, high: Any, rank: int, axis: int) -> tuple[Any, Any]:
    """The bounds of each element, which broadcast with the input."""
    if axis == -1:
        return low, high
    form = [-1 if i == axis else 1 for i in range(rank)]
    return np.reshape(low, form), np.reshape(high, form)


def _found(x: Any, axis: int) -> tuple[Any, Any]:
    """The range of the input itself."""
    others = tuple(i for i in range(x.ndim) if i != axis) if axis != -1 else None
    if not x.size:
        return x.dtype.type(0), x.dtype.type(0)
    keep = axis != -1
    return np.min(x, others, keepdims=keep), np.max(x, others, keepdims=keep)


def _side(bound: int, value: Any) -> Any:
    largest = np.float64(np.finfo(np.float32).max)
    value = np.asarray(value, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bound * value > 0, bound / value, largest)


def _rounded(
    x: Any, low: Any, high: Any, bits: int, signed: bool, range_given: bool, up: bool, narrow: bool
) -> Any:
    """`x` in the steps of a range that is widened on one side to have 0 among its steps."""
    if not 1 <= bits <= (62 if signed else 63):
        raise invalid_argument(f"num_bits is out of range: {bits} with signed_input_ {int(signed)}")
    kind = x.dtype.type
    if all([b.__class__ is np.ndarray and not b.ndim for b in (low, high)]):
        found = _steps_of_numbers(low.tobytes(), high.tobytes(), x.dtype, bits, signed, narrow)
    else:
        found = _steps(low, high, x.dtype, bits, signed, narrow)
    scale, step, least, most = found
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside = np.clip(x, least, most) if range_given else x
        steps = inside * scale
        whole = np.floor(steps + kind(0.5)) if up else np.rint(steps)
    return (whole * step).astype(x.dtype)


@functools.lru_cache(maxsize=64)
def _steps_of_numbers(
    low: bytes, high: bytes, dtype: np.dtype[Any], bits: int, signed: bool, narrow: bool
) -> tuple[Any, Any, Any, Any]:
    """`_steps` for the bytes of one range, which programs give again and again."""
    first, last = np.frombuffer(low, dtype)[0], np.frombuffer(high, dtype)[0]
    return _steps(first, last, dtype, bits, signed, narrow)


def _steps(
    low: Any, high: Any, dtype: np.dtype[Any], bits: int, signed: bool, narrow: bool
) -> tuple[Any, Any, Any, Any]:
    """Numbers for each range: what an element is multiplied by to be a number of steps, the size of a step,
    and the range that has 0 among its steps."""
    kind = dtype.type
    last = (1 << bits - signed) - 1
    first = (-(1 << bits - 1) + narrow) if signed else 0
    by_low, by_high = _side(first, low), _side(last, high)
    from_low = by_low < by_high
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = np.where(
            from_low, first / np.asarray(low, dtype), last / np.asarray(high, dtype)
        ).astype(dtype)
        step = np.where(
            from_low,
            np.asarray(low, dtype) / kind(first or 1),
            np.asarray(high, dtype) / kind(last),
        ).astype(dtype)
        none = ~(
            np.asarray(by_low < np.finfo(np.float32).max) | (by_high < np.finfo(np.float32).max)
        )
        scale, step = np.where(none, kind(0), scale), np.where(none, kind(0), step)
        least = np.where(from_low, low, step * kind(first))
        most = np.where(from_low, step * kind(last), high)
    return scale, step, least, most


class _Rounding(Op):
    T = (bfloat16, float16, float32, float64)

    def infer(self, input: Spec, input_min: Spec, axis: int) -> Spec:
        _check(input, input_min, axis)
        return input.like()


def _computed(
    x: Any,
    low: Any,
    high: Any,
    num_bits: int,
    signed: bool,
    range_given: bool,
    up: bool,
    narrow: bool,
    axis: int,
) -> Any:
    if range_given:
        _check_shapes(x, low, high, axis)
        _check_order(low, high)
    else:
        _check_axis(x, axis)
    found = _bounds(low, high, x.ndim, axis) if range_given else _found(x, axis)
    return _rounded(x, *found, num_bits, signed, range_given, up, narrow)


class _FixedBits(_Rounding):
    signature = f"input: T, input_min: T, input_max: T; {_ATTRS} -> output: T"
    round_mode = _ROUNDS

    def kernel(
        self,
        input,
        input_min,
        input_max,
        signed_input,
        num_bits,
        range_given,
        round_mode,
        narrow_range,
        axis,
    ):
        return _computed(
            input,
            input_min,
            input_max,
            num_bits,
            signed_input,
            range_given,
            round_mode == "HALF_UP",
            narrow_range,
            axis,
        )


@op
class QuantizeAndDequantizeV2(_FixedBits):
    """The input in the steps of `num_bits` bits; the gradient passes through."""

    def gradient(self, doutput) -> Any:
        return doutput, None, None


@op
class QuantizeAndDequantizeV3(_Rounding):
    """As QuantizeAndDequantizeV2, with the number of bits as a tensor."""

    signature = (
        "input: T, input_min: T, input_max: T, num_bits: int32; signed_input: bool = True,"
        " range_given: bool = True, narrow_range: bool = False, axis: int = -1 -> output: T"
    )

    def kernel(
        self, input, input_min, input_max, num_bits, signed_input, range_given, narrow_range, axis
    ):
        if axis == -1:  # lists of one number are numbers here
            input_min, input_max = (
                b.reshape(()) if b.size == 1 else b for b in (input_min, input_max)
            )
        return _computed(
            input,
            input_min,
            input_max,
            int(num_bits),
            signed_input,
            range_given,
            False,
            narrow_range,
            axis,
        )

    def gradient(self, doutput) -> Any:
        return doutput, None, None, None


@op
class QuantizeAndDequantizeV4(_FixedBits):
    """As QuantizeAndDequantizeV2; no gradient where the input is outside of the range."""

    def gradient(self, doutput, input, input_min, input_max, axis) -> Any:
        return raw.QuantizeAndDequantizeV4Grad(doutput, input, input_min, input_max, axis=axis)


@op
class QuantizeAndDequantizeV4Grad(Op):
    """The gradient inside the range, 0 outside; the bounds get none."""

    signature = (
        "gradients: T, input: T, input_min: T, input_max: T; axis: int = -1"
        " -> input_backprop: T, input_min_backprop: T, input_max_backprop: T"
    )
    T = _Rounding.T
    differentiable = False

    def infer(self, input: Spec, input_min: Spec, input_max: Spec) -> list[Spec]:
        return [input.like(), input_min.like(), input_max.like()]

    def kernel(self, gradients, input, input_min, input_max, axis):
        if np.shape(gradients) != np.shape(input):
            raise invalid_argument(
                "gradient and input must be the same size, got shapes "
                f"{list(np.shape(gradients))} and {list(np.shape(input))}"
            )
        _check_shapes(input, input_min, input_max, axis)
        low, high = _bounds(input_min, input_max, input.ndim, axis)
        inside = (input >= low) & (input <= high)
        return (
            gradients * inside.astype(gradients.dtype),  # NaN stays, as in TensorFlow
            np.zeros_like(input_min),
            np.zeros_like(input_max),
        )
