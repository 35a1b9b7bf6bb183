"""Elementwise comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    ORDINARY,
    QUANTIZED,
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
    uint8,
    uint16,
    uint32,
    uint64,
)
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import Comparison

ORDERED = (
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


class Ordering(Comparison):
    """A comparison by size."""

    differentiable = False
    T = ORDERED
    native_exact = True
    cheap = True


@op
class Less(Ordering):
    """x < y."""

    def scalar(self, s, x, y):
        return s.lt(x, y)


@op
class LessEqual(Ordering):
    """x <= y."""

    def scalar(self, s, x, y):
        return s.le(x, y)


@op
class Greater(Ordering):
    """x > y."""

    def scalar(self, s, x, y):
        return s.gt(x, y)


@op
class GreaterEqual(Ordering):
    """x >= y."""

    def scalar(self, s, x, y):
        return s.ge(x, y)


class Equality(Op):
    """A comparison for equality, which may be of shapes that do not broadcast."""

    differentiable = False
    signature = "x: T, y: T; incompatible_shape_error: bool = True -> z: bool"
    T = (*ORDINARY, *QUANTIZED)
    native_exact = True
    cheap = True
    batching = "broadcast"

    def infer(self, x: Spec, y: Spec, incompatible_shape_error: bool) -> Spec:
        try:
            shape = shapes.broadcast(x.shape, y.shape)
        except ShapeError:
            if incompatible_shape_error:
                raise
            return Spec(bool_, ())
        if incompatible_shape_error or _broadcast_surely(x.shape, y.shape):
            return Spec(bool_, shape)
        return Spec(bool_, None)  # a scalar, if the dimensions differ when it runs


def _broadcast_surely(x: Dims, y: Dims) -> bool:
    """False where one dimension is open and the other is not 1, or a rank is open.

    Two open dimensions are taken to be equal, as TensorFlow's shape inference takes them.
    """
    if x is None or y is None:
        return False
    return all(
        (a is None) is (b is None) or 1 in (a, b) for a, b in zip(x[::-1], y[::-1], strict=False)
    )


@op
class Equal(Equality):
    """x == y."""

    quick_kernel = np.equal

    def scalar(self, s, x, y):
        return s.eq(x, y)

    def kernel(self, x, y, incompatible_shape_error):
        try:
            return _as_bool(np.equal(x, y))
        except ValueError:
            if incompatible_shape_error:
                raise
            return np.False_


@op
class NotEqual(Equality):
    """x != y."""

    quick_kernel = np.not_equal

    def scalar(self, s, x, y):
        return s.ne(x, y)

    def kernel(self, x, y, incompatible_shape_error):
        try:
            return _as_bool(np.not_equal(x, y))
        except ValueError:
            if incompatible_shape_error:
                raise
            return np.True_


def _as_bool(result: Any) -> Any:
    # Arrays of Python objects compare to Python's own bool for scalars.
    return np.asarray(result, np.bool_) if type(result) is bool else result


@op
class ApproximateEqual(Op):
    """|x - y| <= tolerance, element by element; x and y are of one shape."""

    differentiable = False
    signature = "x: T, y: T; tolerance: float = 1e-5 -> z: bool"
    T = (*ORDERED, complex64, complex128, *QUANTIZED)
    batching = "alike"

    def infer(self, x: Spec, y: Spec) -> Spec:
        return Spec(bool_, shapes.merge(x.shape, y.shape))

    def kernel(self, x, y, tolerance):
        if x.shape != y.shape:
            raise invalid_argument(
                "x and y must be of the same shape. x shape:"
                f" {list(x.shape)}. y shape: {list(y.shape)}"
            )
        return np.less_equal(np.abs(np.subtract(x, y)), tolerance)
