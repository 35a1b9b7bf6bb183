"""Elementwise arithmetic: sums, products, quotients, powers, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    COMPLEX,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.op import raw
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec
from intaglio.ops.families import (
    Binary,
    Unary,
    UnaryGradient,
    conjugate,
    constant,
    divisor,
    no_kernel,
    spec_of,
    unbroadcast,
    unbroadcast_both,
)

# The order is the one in which error messages list what is allowed.
FLOATS = (bfloat16, float16, float32, float64)
ALL_NUMBERS = (
    *FLOATS, uint8, int8, uint16, int16, int32, uint32, uint64, int64,
    complex64, complex128,
)  # fmt: skip
SIGNED_NUMBERS = (*FLOATS, int8, int16, int32, int64, complex64, complex128)


@op
class AddV2(Binary):
    """x + y."""

    T = (
        *FLOATS, uint8, uint16, uint32, uint64, int8, int16, int32, int64,
        complex64, complex128,
    )  # fmt: skip

    def scalar(self, s, x, y):
        return s.add(x, y)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast_both(dz, dz, x, y)


@op
class Add(Binary):
    """x + y; joins strings."""

    T = (
        *FLOATS, uint8, int8, int16, int32, int64, complex64, complex128, string,
    )  # fmt: skip

    def scalar(self, s, x, y):
        return s.add(x, y)

    def kernel(self, x, y):
        total = np.add(x, y)
        return total if type(total) is not bytes else np.asarray(total, object)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast_both(dz, dz, x, y)


@op
class Sub(Binary):
    """x - y."""

    T = (
        *FLOATS, uint8, int8, uint16, int16, int32, int64, complex64, complex128,
        uint32, uint64,
    )  # fmt: skip

    def scalar(self, s, x, y):
        return s.sub(x, y)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast_both(dz, lambda: raw.Neg(dz), x, y)


@op
class Mul(Binary):
    """x * y."""

    T = ALL_NUMBERS

    def scalar(self, s, x, y):
        return s.mul(x, y)

    def gradient(self, dz, x, y) -> Any:
        return unbroadcast_both(
            lambda: raw.Mul(dz, conjugate(y)),
            lambda: raw.Mul(conjugate(x), dz),
            spec_of(x),
            spec_of(y),
        )


@op
class MulNoNan(Binary):
    """x * y, and 0 where y is 0 whatever x is."""

    T = (*FLOATS, complex64, complex128)

    def kernel(self, x, y):
        return np.where(y == 0, y.dtype.type(0), np.multiply(x, y))

    def gradient(self, dz, x, y) -> Any:
        return unbroadcast_both(
            lambda: raw.MulNoNan(dz, conjugate(y)),
            lambda: raw.MulNoNan(conjugate(x), dz),
            spec_of(x),
            spec_of(y),
        )


def _quotient_gradient(dz: Any, x: Any, y: Any, divide: Op) -> Any:
    cy = conjugate(y)

    def by_y() -> Any:
        return raw.Mul(dz, divide(divide(raw.Neg(conjugate(x)), cy), cy))

    return unbroadcast_both(lambda: divide(dz, cy), by_y, spec_of(x), spec_of(y))


@op
class RealDiv(Binary):
    """x / y of floating and complex numbers."""

    T = ALL_NUMBERS
    quick_kernel = np.true_divide
    quick_types = (*FLOATS, complex64, complex128)

    def scalar(self, s, x, y):
        return s.div(x, y)

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            raise no_kernel("RealDiv", x.dtype)
        return np.true_divide(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _quotient_gradient(dz, x, y, raw.RealDiv)


def truncated(x: Any, y: Any) -> Any:
    """The quotient of integers, rounded towards zero."""
    quotient = np.floor_divide(x, divisor(y, x))
    if x.dtype.kind == "u":
        return quotient
    inexact = np.not_equal(np.multiply(quotient, y), x)
    opposite = np.less(x, 0) != np.less(y, 0)
    return np.add(quotient, inexact & opposite, dtype=x.dtype)


@op
class Div(Binary):
    """x / y; integers are rounded towards zero."""

    T = ALL_NUMBERS

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            return truncated(x, y)
        return np.true_divide(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _quotient_gradient(dz, x, y, raw.Div)


@op
class TruncateDiv(Binary):
    """x / y rounded towards zero."""

    differentiable = False
    T = ALL_NUMBERS

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            return truncated(x, y)
        if x.dtype.kind == "c":
            raise no_kernel("TruncateDiv", x.dtype)
        return np.trunc(np.true_divide(x, y))


@op
class FloorDiv(Binary):
    """x / y rounded down."""

    differentiable = False
    T = ALL_NUMBERS

    def kernel(self, x, y):
        kind = x.dtype.kind
        if kind in "iu":
            return np.floor_divide(x, divisor(y, x))
        if kind == "c":
            raise no_kernel("FloorDiv", x.dtype)
        return np.floor(np.true_divide(x, y))


@op
class FloorMod(Binary):
    """The remainder of x / y with the sign of y."""

    T = (
        int8, int16, int32, int64, uint8, uint16, uint32, uint64, *FLOATS,
    )  # fmt: skip

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            return np.remainder(x, divisor(y, x))
        rest = np.fmod(x, y)
        other_side = (np.less(x, 0) != np.less(y, 0)) & np.not_equal(rest, 0)
        return np.where(other_side, np.add(rest, y), rest)

    def gradient(self, dz, x, y) -> Any:
        def by_y() -> Any:
            return raw.Mul(dz, raw.Neg(raw.FloorDiv(x, y)))

        return unbroadcast_both(dz, by_y, spec_of(x), spec_of(y))


class Remainder(Binary):
    """The remainder of x / y with the sign of x."""

    T = (int32, int64, *FLOATS)

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            y = divisor(y, x)
        return np.fmod(x, y)


@op
class Mod(Remainder):
    """The remainder of x / y with the sign of x."""

    T = (int32, int64, float16, bfloat16, float32, float64)


@op
class TruncateMod(Remainder):
    """The remainder of x / y with the sign of x."""


@op
class Pow(Binary):
    """x ** y."""

    T = (
        bfloat16, float32, float16, float64, int8, int16, int32, int64,
        complex64, complex128,
    )  # fmt: skip

    def kernel(self, x, y):
        if x.dtype.kind == "i" and np.any(np.less(y, 0)):
            raise invalid_argument(
                "Integers to negative integer powers are not allowed"
            )
        return np.power(x, y)

    def gradient(self, dz, x, y, z) -> Any:
        cx, cy = conjugate(x), conjugate(y)
        one, zero = constant(1, y), constant(0, x)

        def by_x() -> Any:
            return raw.Mul(raw.Mul(dz, cy), raw.Pow(cx, raw.Sub(cy, one)))

        def by_y() -> Any:
            compare = raw.NotEqual if x.dtype in COMPLEX else raw.Greater
            defined = compare(cx, zero)
            safe = raw.SelectV2(defined, cx, one)
            log_x = raw.SelectV2(defined, raw.Log(safe), zero)
            return raw.Mul(raw.Mul(dz, conjugate(z)), log_x)

        return unbroadcast_both(by_x, by_y, spec_of(x), spec_of(y))


class Extreme(Binary):
    """The larger or smaller of x and y; NaN if either is."""

    T = (*FLOATS, int8, uint8, int16, uint16, int32, uint32, int64, uint64)


def _chosen_gradient(dz: Any, x: Any, y: Any, chosen: Any) -> Any:
    zero = constant(0, dz)
    return unbroadcast_both(
        lambda: raw.SelectV2(chosen, dz, zero),
        lambda: raw.SelectV2(chosen, zero, dz),
        spec_of(x),
        spec_of(y),
    )


@op
class Maximum(Extreme):
    """The larger of x and y."""

    def scalar(self, s, x, y):
        return s.maximum(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _chosen_gradient(dz, x, y, raw.GreaterEqual(x, y))


@op
class Minimum(Extreme):
    """The smaller of x and y."""

    def scalar(self, s, x, y):
        return s.minimum(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _chosen_gradient(dz, x, y, raw.LessEqual(x, y))


@op
class SquaredDifference(Binary):
    """conj(x - y) * (x - y)."""

    T = (*FLOATS, int32, int64, complex64, complex128)

    def scalar(self, s, x, y):
        difference = s.sub(x, y)
        return s.mul(s.conj(difference), difference)

    def kernel(self, x, y):
        difference = np.subtract(x, y)
        if difference.dtype.kind == "c":
            return np.multiply(np.conjugate(difference), difference)
        return np.multiply(difference, difference)

    def gradient(self, dz, x, y) -> Any:
        two = constant(2, x)
        dx = raw.Mul(raw.Mul(two, dz), raw.Sub(x, y))
        return unbroadcast_both(dx, lambda: raw.Neg(dx), spec_of(x), spec_of(y))


@op
class DivNoNan(Binary):
    """x / y, and 0 where y is 0."""

    T = (float16, float32, bfloat16, float64, complex64, complex128)

    def kernel(self, x, y):
        zero = y == 0
        safe = np.where(zero, y.dtype.type(1), y)
        return np.where(zero, y.dtype.type(0), np.true_divide(x, safe))

    def gradient(self, dz, x, y) -> Any:
        return _quotient_gradient(dz, x, y, raw.DivNoNan)


# -- one operand ---------------------------------------------------------------------


@op
class Neg(Unary):
    """-x."""

    T = SIGNED_NUMBERS

    def scalar(self, s, x):
        return s.neg(x)

    def gradient(self, dy) -> Any:
        return raw.Neg(dy)


@op
class Abs(Unary):
    """|x|; of complex numbers see ComplexAbs."""

    T = (*FLOATS, int8, int16, int32, int64)

    def scalar(self, s, x):
        return s.abs(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Sign(x))


@op
class Sign(Unary):
    """-1, 0 or 1; x / |x| of complex numbers."""

    T = SIGNED_NUMBERS

    def kernel(self, x):
        # The sign of zero is plain zero.
        return np.add(np.sign(x), x.dtype.type(0), dtype=x.dtype)

    def gradient(self, dy) -> Any:
        return raw.ZerosLike(dy)


@op
class Square(Unary):
    """x * x."""

    T = (
        *FLOATS, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        complex64, complex128,
    )  # fmt: skip

    def scalar(self, s, x):
        return s.square(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Mul(constant(2, x), conjugate(x)))


class Inverse(Unary):
    """1 / x."""

    T = SIGNED_NUMBERS

    def scalar(self, s, x):
        return s.div(s.const(1, like=x), x)

    def kernel(self, x):
        if x.dtype.kind == "i":
            raise no_kernel(self.name, x.dtype)
        return np.true_divide(x.dtype.type(1), x)

    def gradient(self, dy, y) -> Any:
        return raw.ReciprocalGrad(y, dy)


@op
class Reciprocal(Inverse):
    """1 / x."""


@op
class Inv(Inverse):
    """1 / x, under its older name."""


class InverseGradient(UnaryGradient):
    """-dy * y * y, the gradient of y = 1 / x."""

    T = (*FLOATS, complex64, complex128)

    def kernel(self, y, dy):
        y = np.conjugate(y) if y.dtype.kind == "c" else y
        return np.multiply(np.negative(dy), np.multiply(y, y))

    def gradient(self, dz, y, dy) -> Any:
        cy = conjugate(y)
        factor = raw.Mul(raw.Mul(conjugate(dz), constant(-2, y)), dy)
        return raw.Mul(factor, cy), raw.ReciprocalGrad(cy, dz)


@op
class ReciprocalGrad(InverseGradient):
    """The gradient of Reciprocal by its output."""


@op
class InvGrad(InverseGradient):
    """The gradient of Inv by its output."""


# -- many operands -------------------------------------------------------------------


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

    signature = "inputs: N*T -> sum: T"
    T = (*ALL_NUMBERS, variant)

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
        total = np.add(first, inputs[1])
        for item in inputs[2:]:
            total = np.add(total, item)
        return total

    def gradient(self, dsum, N) -> Any:
        return [dsum] * N


@op
class AccumulateNV2(Op):
    """The sum of tensors of one shape, which is given."""

    signature = "inputs: N*T; shape: shape -> sum: T"
    T = ALL_NUMBERS

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
    """t, held between two limits, each a scalar or of the shape of t."""

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
        return np.minimum(np.maximum(t, clip_value_min), clip_value_max)

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

    signature = "a: T, b: T -> product: T"
    T = (
        float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16,
        uint32, uint64,
    )  # fmt: skip

    def infer(self, a: Spec, b: Spec) -> Spec:
        return Spec(a.dtype, shapes.merge(a.shape, b.shape))

    def kernel(self, a, b):
        if a.shape != b.shape:
            raise invalid_argument(
                f"Both inputs must be of same shape: {brackets(a.shape)} vs."
                f" {brackets(b.shape)}"
            )
        if not a.ndim:
            raise invalid_argument("Input must be at least 1D")
        if a.shape[-1] != 3:
            raise invalid_argument(
                f"Cross-products are only defined for 3-element vectors: {a.shape[-1]}"
            )
        left, right = [a[..., i] for i in range(3)], [b[..., i] for i in range(3)]
        parts = [
            left[i] * right[j] - left[j] * right[i] for i, j in ((1, 2), (2, 0), (0, 1))
        ]
        return np.stack(parts, -1)

    def gradient(self, dproduct, a, b) -> Any:
        return raw.Cross(b, dproduct), raw.Cross(dproduct, a)
