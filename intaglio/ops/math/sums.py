"""Arithmetic of more than two operands, or of whole vectors: sums, clipping, cross products."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from intaglio.base.errors import FailedPreconditionError, ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import constant, spec_of, unbroadcast
from intaglio.ops.math import bounding
from intaglio.ops.math.arithmetic import ALL_NUMBERS


def _same_shape(name: str, inputs: list[Any]) -> None:
    first = inputs[0].shape
    for i, item in enumerate(inputs[1:], 1):
        if item.shape != first:
            raise invalid_argument(
                f"Inputs to operation {name} of type {name} must have the same size and"
                f" shape.  Input 0: {brackets(first)} != input {i}: {brackets(item.shape)}"
            )


@op
class AddN(Op):
    """The sum of tensors of one shape."""

    native_exact = True
    signature = "inputs: N*T -> sum: T"
    T = (*ALL_NUMBERS, variant)
    batching = "alike"

    def infer(self, inputs: list[Spec], N: int) -> Spec:
        dims = inputs[0].shape
        for i, spec in enumerate(inputs):
            try:
                dims = shapes.merge(dims, spec.shape)
            except ShapeError as e:
                raise ShapeError(
                    f"{e}\n\tFrom merging shape {max(i - 1, 0)} with other shapes."
                ) from None
        return Spec(inputs[0].dtype, dims)

    def kernel(self, inputs):
        first = inputs[0]
        if not isinstance(first, (np.ndarray, np.generic)):
            return first.add_n(inputs)  # a variant that can be summed
        _same_shape("AddN", inputs)
        if len(inputs) == 1:
            return first
        add = raw.AddV2.by_dtype.get(first.dtype)
        if add is not None:  # of 16-bit floats, which NumPy adds one by one
            return functools.reduce(add, inputs)
        total = np.add(first, inputs[1])
        for item in inputs[2:]:
            total += item  # an array of its own
        return total

    def kernel_for(self, inputs: list[Spec]) -> Any:
        """NumPy's sum itself for two tensors of one known shape."""
        first = inputs[0]
        if len(inputs) != 2 or first.count is None or first.dtype is variant:
            return None
        return np.add if first.shape == inputs[1].shape else None

    def gradient(self, dsum, N) -> Any:
        return [dsum] * N


@op
class AccumulateNV2(Op):
    """The sum of tensors of one shape, which is given."""

    signature = "inputs: N*T; shape: shape -> sum: T"
    T = ALL_NUMBERS
    batching = "alike"

    def infer(self, inputs: list[Spec], shape: Dims) -> Spec:
        return Spec(inputs[0].dtype, shape)

    def kernel(self, inputs):
        _same_shape("AccumulateNV2", inputs)
        total = inputs[0]
        for item in inputs[1:]:
            total = np.add(total, item)
        return total

    def gradient(self, dsum, N) -> Any:
        return [dsum] * N


@op
class ClipByValue(Op):
    """t clipped to two limits, each a scalar or of the shape of t."""

    native_exact = True
    signature = "t: T, clip_value_min: T, clip_value_max: T -> output: T"
    T = ALL_NUMBERS

    def infer(self, t: Spec) -> Spec:
        return Spec(t.dtype, t.shape)

    def kernel(self, t, clip_value_min, clip_value_max):
        for limit in (clip_value_min, clip_value_max):
            if limit.shape not in ((), t.shape):
                raise invalid_argument(
                    "clip_value_min and clip_value_max must be either of the same shape"
                    f" as input, or a scalar. input shape: {brackets(t.shape)}"
                    f" limit shape: {brackets(limit.shape)}"
                )
        return bounding.clip(t, clip_value_min, clip_value_max)

    def native(self, t, clip_value_min, clip_value_max) -> Any:
        if any(v.dims not in ((), t.dims) for v in (clip_value_min, clip_value_max)):
            return NotImplemented
        return raw.Minimum(raw.Maximum(t, clip_value_min), clip_value_max)

    def gradient(self, doutput, t, clip_value_min, clip_value_max) -> Any:
        zero = constant(0, t)
        low, high = raw.Less(t, clip_value_min), raw.Greater(t, clip_value_max)
        outside = raw.LogicalOr(low, high)
        dt = raw.SelectV2(outside, zero, doutput)
        return (
            dt,
            lambda: unbroadcast(
                raw.SelectV2(low, doutput, zero), spec_of(clip_value_min), spec_of(t)
            ),
            lambda: unbroadcast(
                raw.SelectV2(high, doutput, zero), spec_of(clip_value_max), spec_of(t)
            ),
        )


@op
class Cross(Op):
    """The cross product of vectors of length 3, which are the last dimension."""

    native_exact = True
    signature = "a: T, b: T -> product: T"
    T = (
        float32,
        float64,
        int32,
        uint8,
        int16,
        int8,
        int64,
        bfloat16,
        uint16,
        float16,
        uint32,
        uint64,
    )
    batching = "alike"

    def infer(self, a: Spec, b: Spec) -> Spec:
        return Spec(a.dtype, shapes.merge(a.shape, b.shape))

    def kernel(self, a, b):
        if a.shape != b.shape:
            raise invalid_argument(
                f"Both inputs must be of same shape: {brackets(a.shape)} vs. {brackets(b.shape)}"
            )
        if not a.ndim:
            raise invalid_argument("Input must be at least 1D")
        if a.shape[-1] != 3:
            raise FailedPreconditionError(
                None, None, f"Cross-products are only defined for 3-element vectors: {a.shape[-1]}"
            )
        left, right = [a[..., i] for i in range(3)], [b[..., i] for i in range(3)]
        parts = [left[i] * right[j] - left[j] * right[i] for i, j in ((1, 2), (2, 0), (0, 1))]
        return np.stack(parts, -1)

    def native(self, a, b) -> Any:
        left, right = (raw.Unpack(v, num=3, axis=-1) for v in (a, b))
        parts = [
            raw.Sub(raw.Mul(left[i], right[j]), raw.Mul(left[j], right[i]))
            for i, j in ((1, 2), (2, 0), (0, 1))
        ]
        return raw.Pack(parts, axis=-1)

    def gradient(self, dproduct, a, b) -> Any:
        return raw.Cross(b, dproduct), raw.Cross(dproduct, a)
