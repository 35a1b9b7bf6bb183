"""Rounding, and questions about floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
)
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import Unary, constant, no_kernel, shape_of, unbroadcast

FLOATS = (bfloat16, float16, float32, float64)


class Rounding(Unary):
    """The nearest whole number in some direction; its gradient is 0 or undefined."""

    T = FLOATS
    differentiable = False
    native_exact = True


@op
class Floor(Rounding):
    """The largest whole number not above x."""

    def scalar(self, s, x):
        return s.floor(x)


@op
class Ceil(Rounding):
    """The smallest whole number not below x."""

    def scalar(self, s, x):
        return s.ceil(x)


@op
class Rint(Rounding):
    """The nearest whole number, the even one of two."""

    def scalar(self, s, x):
        return s.rint(x)


@op
class Round(Unary):
    """The nearest whole number, the even one of two."""

    native_exact = True
    T = (*FLOATS, int8, int16, int32, int64, complex64, complex128)
    differentiable = False

    def kernel(self, x):
        if x.dtype.kind == "i":
            return x
        if x.dtype.kind == "c":
            raise no_kernel("Round", x.dtype)
        return np.rint(x)

    def scalar(self, s, x):
        return s.rint(x)


class Question(Op):
    """y = whether x is so, element by element."""

    native_exact = True
    signature = "x: T -> y: bool"
    T = FLOATS
    differentiable = False
    batching = "leading"

    def infer(self, x: Spec) -> Spec:
        return Spec(bool_, x.shape)


@op
class IsNan(Question):
    """True where x is not a number."""

    def scalar(self, s, x):
        return s.isnan(x)


@op
class IsInf(Question):
    """True where x is infinite."""

    def scalar(self, s, x):
        return s.isinf(x)


@op
class IsFinite(Question):
    """True where x is neither infinite nor NaN."""

    def scalar(self, s, x):
        return s.isfinite(x)


@op
class NextAfter(Op):
    """The next number after x1 in the direction of x2."""

    signature = "x1: T, x2: T -> output: T"
    T = (float64, float32)
    batching = "broadcast"

    def infer(self, x1: Spec, x2: Spec) -> Spec:
        return Spec(x1.dtype, shapes.broadcast(x1.shape, x2.shape))

    def kernel(self, x1, x2):
        return np.nextafter(x1, x2)

    def gradient(self, doutput, x1: Spec, x2: Spec) -> Any:
        from_x1 = raw.Mul(doutput, raw.Fill(shape_of(x1), constant(1, x1)))
        from_x2 = raw.Mul(doutput, raw.Fill(shape_of(x2), constant(0, x2)))
        return unbroadcast(from_x1, x1, x2), unbroadcast(from_x2, x2, x1)
