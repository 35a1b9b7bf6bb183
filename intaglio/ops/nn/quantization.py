"""Floats as integers of few bits with a range, and back.

An array of a quantised dtype has one field, the integers. No op here has a gradient, as in
TensorFlow: asking for one is a LookupError.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, bfloat16, float32, qint8, qint16, qint32, quint8, quint16
from intaglio.base.errors import ShapeError, UnimplementedError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

QUANTIZED = (qint8, quint8, qint32, qint16, quint16)
_INTEGERS = {
    qint8: np.dtype(np.int8),
    quint8: np.dtype(np.uint8),
    qint16: np.dtype(np.int16),
    quint16: np.dtype(np.uint16),
    qint32: np.dtype(np.int32),
}
_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
_ROUNDS = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")
_F = np.float32
_LARGEST = np.finfo(_F).max


def integers(array: Any) -> np.ndarray:
    """The integers of an array of a quantised dtype."""
    array = np.asarray(array)
    return array.view(array.dtype[0]) if array.dtype.names else array


def quantized(values: Any, dtype: DType) -> np.ndarray:
    """Whole numbers, cut to the dtype's range, as an array of it."""
    kind = _INTEGERS[dtype]
    limits = np.iinfo(kind)
    cut = np.clip(np.asarray(values, np.float64), limits.min, limits.max)
    return np.ascontiguousarray(cut.astype(kind)).view(dtype.numpy).reshape(cut.shape)


def _limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(_INTEGERS[dtype])
    return int(limits.min), int(limits.max)


def _away(values: Any) -> Any:
    """The nearest whole numbers, the farther from 0 of two."""
    return np.trunc(values + np.copysign(values.dtype.type(0.5), values))


def _along(bound: Any, rank: int, axis: int) -> Any:
    """Bounds of one axis in a form that broadcasts with an array."""
    if axis < 0:
        return bound
    return np.reshape(bound, [-1 if i == axis else 1 for i in range(rank)])


def _check_axis(dims: Dims, bounds: Dims, axis: int) -> None:
    if axis < -1:
        raise ShapeError(f"axis should be at least -1, got {axis}")
    if axis == -1 or dims is None:
        return
    if axis >= len(dims):
        raise ShapeError(
            "Axis is on a zero-based index, so its value must always be less than number "
            f"of input's dims, but given axis value was {axis} and input's dims was {len(dims)}"
        )
    size = dims[axis]
    if bounds is None:
        return
    channels = bounds[0] if bounds else None
    if len(bounds) != 1 or (None not in (size, channels) and size != channels):
        raise ShapeError(
            "If axis is specified, min_range must be a 1-D tensor whose size matches the "
            f"axis dimension of the input and output tensors, but min_range is a {len(bounds)}-D "
            f"tensor of size {channels} and input's axis dimension is of size {size}"
        )


@op
class QuantizeV2(Op):
    """Floats as quantised numbers, with the range that these represent."""

    signature = (
        "input: float32, min_range: float32, max_range: float32; T: type,"
        " mode: str = 'MIN_COMBINED', round_mode: str = 'HALF_AWAY_FROM_ZERO',"
        " narrow_range: bool = False, axis: int = -1, ensure_minimum_range: float = 0.01"
        " -> output: T, output_min: float32, output_max: float32"
    )
    T = QUANTIZED
    mode = _MODES
    round_mode = _ROUNDS

    def infer(self, input: Spec, min_range: Spec, T: DType, axis: int) -> list[Spec]:
        _check_axis(input.shape, min_range.shape, axis)
        bounds = Spec(float32, () if axis == -1 else min_range.shape)
        return [Spec(T, input.shape), bounds, bounds]

    def kernel(
        self,
        input,
        min_range,
        max_range,
        T,
        mode,
        round_mode,
        narrow_range,
        axis,
        ensure_minimum_range,
    ):
        _check_axis(np.shape(input), np.shape(min_range), axis)
        if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
            raise invalid_argument(
                f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'."
            )
        if np.any(min_range > max_range):
            raise invalid_argument("input_max_range must be larger than input_min_range.")
        if mode == "MIN_FIRST" and axis != -1:
            raise UnimplementedError(
                None, None, "MIN_FIRST mode is not implemented for Quantize with axis != -1."
            )
        low, high = _widened(min_range, max_range, ensure_minimum_range)
        if mode == "SCALED":
            even = round_mode == "HALF_TO_EVEN"
            return _scaled(input, low, high, T, narrow_range, axis, even)
        values = (_combined if mode == "MIN_COMBINED" else _min_first)(
            input, _along(low, input.ndim, axis), _along(high, input.ndim, axis), T
        )
        return quantized(values, T), low, high


def _widened(low: Any, high: Any, ensure: float) -> tuple[Any, Any]:
    """The range with 0 in it, and not too narrow; a bound that is NaN is 0, as in TensorFlow."""
    low = _or_first(np.less, _F(0), low)
    epsilon = _or_first(np.greater, _F(1), _or_first(np.greater, np.abs(low), np.abs(high)))
    with np.errstate(invalid="ignore"):  # the width of an infinite range
        wide = _or_first(np.greater, high, low + epsilon * _F(ensure))
    return low, _or_first(np.greater, _F(0), wide)


def _or_first(precedes: Any, first: Any, second: Any) -> Any:
    """The extreme of two as C++ has it: the first unless the second precedes it, which NaN does not."""
    return np.where(precedes(second, first), second, first).astype(_F)[()]


def _combined(x: Any, low: Any, high: Any, dtype: DType) -> Any:
    first, last = _limits(dtype)
    scale = _F(last - first) / (high - low)
    found = (np.clip(x, low, high) - low) * scale
    return _away(found + _F(first) if first else found)


def _min_first(x: Any, low: Any, high: Any, dtype: DType) -> Any:
    first, _ = _limits(dtype)
    # A range whose bounds are NaN has no width.
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = _F(np.float64(1) / _step(low, high, dtype))
        return _away(x * scale) - (_away(np.asarray(low * scale)) - _F(first))


def _step(low: Any, high: Any, dtype: DType) -> Any:
    """The width of a step, of which there is one more than fits between the bounds."""
    first, last = _limits(dtype)
    count = last - first + 1
    return float(high - low) * (count / (count - 1)) / count


def _side(bound: int, value: Any) -> Any:
    """How many steps a number is apart from 0, if it is on the side of the bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bound * value > 0, _F(bound) / value, _LARGEST).astype(_F)


def _scaled(
    x: Any, low: Any, high: Any, dtype: DType, narrow: bool, axis: int, even: bool
) -> tuple[Any, Any, Any]:
    first, last = _limits(dtype)
    first += narrow
    scale = np.minimum(_side(first, low), _side(last, high))
    low, high = _F(first) / scale, _F(last) / scale
    steps = np.clip(x, _along(low, x.ndim, axis), _along(high, x.ndim, axis)) * _along(
        scale, x.ndim, axis
    )
    return quantized(np.rint(steps) if even else _away(steps), dtype), low, high


@op
class Dequantize(Op):
    """Quantised numbers as the floats that they represent."""

    signature = (
        "input: T, min_range: float32, max_range: float32; mode: str = 'MIN_COMBINED',"
        " narrow_range: bool = False, axis: int = -1, dtype: type = float32 -> output: dtype"
    )
    T = QUANTIZED
    dtype = (bfloat16, float32)
    mode = _MODES

    def infer(self, input: Spec, min_range: Spec, axis: int, dtype: DType) -> Spec:
        _check_axis(input.shape, min_range.shape, axis)
        return Spec(dtype, input.shape)

    def kernel(self, input, min_range, max_range, mode, narrow_range, axis, dtype, T: DType):
        _check_axis(np.shape(input), np.shape(min_range), axis)
        if dtype is bfloat16 and mode != "MIN_COMBINED":
            raise invalid_argument(
                f"When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '{mode}'"
            )
        if mode == "MIN_FIRST" and axis != -1:
            raise UnimplementedError(
                None, None, "MIN_FIRST mode is not implemented for Dequantize with axis != -1."
            )
        numbers = integers(input)
        low = _along(min_range, numbers.ndim, axis)
        high = _along(max_range, numbers.ndim, axis)
        first, last = _limits(T)
        if mode == "SCALED":
            scale = high / _F(last)
            if first:
                scale = np.maximum(low / _F(first + narrow_range), scale)
            found = numbers.astype(_F) * scale
        elif mode == "MIN_COMBINED":
            scale = (high - low) / _F(last - first)
            found = (numbers.astype(_F) - _F(first)) * scale + low
        else:
            found = dequantized(numbers, low, high, T)
        return found.astype(dtype.numpy)


def dequantized(numbers: Any, low: Any, high: Any, dtype: DType) -> Any:
    """The floats of MIN_FIRST, by which quantised numbers are computed with."""
    first, last = _limits(dtype)
    if np.all(low == high):
        return np.full(np.shape(numbers), low, _F)
    kind = np.float64 if last - first >= 1 << 16 else _F
    scale = kind(_step(low, high, dtype))
    start = np.rint(kind(low) / scale) * scale
    return ((numbers.astype(kind) - kind(first)) * scale + start).astype(_F)


@op
class QuantizedConcat(Op):
    """Quantised tensors put together, in a range that holds all of theirs."""

    signature = (
        "concat_dim: int32, values: N*T, input_mins: N*float32, input_maxes: N*float32"
        " -> output: T, output_min: float32, output_max: float32"
    )
    T = QUANTIZED

    def infer(self, values: Sequence[Spec]) -> list[Spec]:
        ranks = [v.rank for v in values if v.rank is not None]
        dims = (None,) * ranks[0] if ranks else None
        return [Spec(values[0].dtype, dims), Spec(float32, ()), Spec(float32, ())]

    def kernel(self, concat_dim, values, input_mins, input_maxes, T: DType):
        rank, axis = values[0].ndim, int(concat_dim)
        if not -rank <= axis < rank:
            raise invalid_argument(
                f"ConcatOp : Expected concatenating dimensions in the range [0, {rank}), but got {axis}"
            )
        low = min(_F(0), *[_F(m) for m in input_mins])
        high = max(_F(m) for m in input_maxes)
        if T is qint32:  # its range is as wide on both sides of 0
            high = max(-low, high)
            low = -high
        parts = [
            integers(v) if (low, high) == (a, b) else _moved(integers(v), a, b, low, high, T)
            for v, a, b in zip(values, input_mins, input_maxes, strict=True)
        ]
        found = np.concatenate(parts, axis)
        return (found.view(T.numpy).reshape(found.shape), np.asarray(low), np.asarray(high))


def _moved(numbers: Any, a: Any, b: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Quantised numbers of one range as those of another."""
    first, last = _limits(dtype)
    floats = dequantized(numbers, a, b, dtype).astype(np.float64)
    scale = 1 / _step(low, high, dtype)
    steps = np.rint(floats * scale) - np.rint(float(low) * scale) + first
    return np.clip(steps, first, last).astype(numbers.dtype)
