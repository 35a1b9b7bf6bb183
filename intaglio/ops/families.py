"""The families most ops belong to: what a family says, its ops need not say again."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import NUMERIC, DType, bool_, int32
from intaglio.op import raw
from intaglio.op.op import Op
from intaglio.op.spec import Spec

# Constants no larger than this are computed during inference, for shapes made of shapes.
FOLD = 64


class Unary(Op):
    """y = f(x), element by element, same dtype and shape."""

    signature = "x: T -> y: T"
    T: tuple[DType, ...] = NUMERIC

    def infer(self, x: Spec) -> Spec:
        return Spec(x.dtype, x.shape)


class Binary(Op):
    """z = f(x, y), element by element with broadcasting, same dtype."""

    signature = "x: T, y: T -> z: T"
    T: tuple[DType, ...] = NUMERIC

    def infer(self, x: Spec, y: Spec) -> Spec:
        shape = shapes.broadcast(x.shape, y.shape)
        value = None
        if (
            x.value is not None
            and y.value is not None
            and x.dtype.is_integer
            and x.value.size + y.value.size <= FOLD
        ):
            value = np.asarray(self.kernel_fn(x.value, y.value))
        return Spec(x.dtype, shape, value)


class Comparison(Binary):
    """z = x ? y, element by element with broadcasting, bool."""

    signature = "x: T, y: T -> z: bool"

    def infer(self, x: Spec, y: Spec) -> Spec:
        return Spec(bool_, shapes.broadcast(x.shape, y.shape))


def shape_of(x: Spec) -> Any:
    """The shape as an int32 vector: a constant, or computed when the graph runs."""
    if shapes.known(x.shape):
        return np.asarray(x.shape, np.int32)
    return raw.Shape(x.tensor, out_type=int32)


def unbroadcast(gradient: Any, x: Spec, other: Spec) -> Any:
    """The gradient of a broadcast operand: summed over the dimensions that were stretched.

    `x` and `other` are the operands' specs; what their shapes leave open is decided when
    the graph runs.
    """
    if not (shapes.known(x.shape) and shapes.known(other.shape)):
        mine, _ = raw.BroadcastGradientArgs(shape_of(x), shape_of(other))
        return raw.Reshape(raw.Sum(gradient, mine), shape_of(x))
    whole = shapes.broadcast(x.shape, other.shape)
    if x.shape == whole:
        return gradient
    lead = len(whole) - len(x.shape)
    axes = [
        i
        for i, d in enumerate(whole)
        if i < lead or (x.shape[i - lead] == 1 and d != 1)
    ]
    total = raw.Sum(gradient, np.asarray(axes, np.int32), keep_dims=not lead)
    return total if not lead else raw.Reshape(total, shape_of(x))
