"""Shapes as tensors: shape, size, rank, broadcasting of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, DType, int32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers, of_elements
from intaglio.ops.families import check_length


@op
class Shape(Op):
    """The shape as an integer vector."""

    out_type = INDEX

    signature = "input: T; out_type: type = int32 -> output: out_type"
    differentiable = False
    T = ALL
    native_exact = True
    free = True
    reported = False
    shape_only = True
    numerics_checked = False

    def infer(self, input: Spec, out_type: DType) -> Spec:
        return shape_spec(input, out_type)

    def kernel(self, input, out_type):
        return np.array(input.shape, out_type.numpy)


def shape_spec(x: Spec, out_type: DType) -> Spec:
    """The spec of a tensor's shape as a vector, with the dimensions known of it."""
    if x.shape is None:
        return Spec(out_type, (None,))
    return of_elements(out_type, x.shape)


@op
class ShapeN(Op):
    """The shapes of several tensors."""

    out_type = INDEX

    signature = "input: N*T; out_type: type = int32 -> output: N*out_type"
    differentiable = False
    T = ALL
    numerics_checked = False

    def infer(self, input: list[Spec], out_type: DType) -> Any:
        return [shape_spec(x, out_type) for x in input]

    def kernel(self, input, out_type):
        check_length("N", input)
        return [np.array(x.shape, out_type.numpy) for x in input]


@op
class Size(Op):
    """The number of elements."""

    out_type = INDEX

    signature = "input: T; out_type: type = int32 -> output: out_type"
    differentiable = False
    T = ALL
    native_exact = True
    shape_only = True

    def infer(self, input: Spec, out_type: DType) -> Spec:
        count = input.count
        value = None if count is None else np.asarray(count, out_type.numpy)
        return Spec(out_type, (), value)

    def kernel(self, input, out_type):
        return np.asarray(input.size, out_type.numpy)


@op
class Rank(Op):
    """The number of dimensions."""

    signature = "input: T -> output: int32"
    differentiable = False
    T = ALL
    native_exact = True
    shape_only = True

    def infer(self, input: Spec) -> Spec:
        rank = input.rank
        return Spec(int32, (), None if rank is None else np.asarray(rank, np.int32))

    def kernel(self, input):
        return np.asarray(input.ndim, np.int32)


@op
class BroadcastArgs(Op):
    """The shape that two shapes broadcast to."""

    signature = "s0: T, s1: T -> r0: T"
    differentiable = False
    T = INDEX

    def infer(self, s0: Spec, s1: Spec) -> Spec:
        a, b = s0.as_shape(), s1.as_shape()
        if a is None or b is None:
            return Spec(s0.dtype, (None,))
        try:
            known = shapes.broadcast(a, b)
        except ShapeError:  # raised when it runs, as by TensorFlow
            return Spec(s0.dtype, (max(len(a), len(b)),))
        return of_elements(s0.dtype, known)  # type: ignore[arg-type]  # all known here

    def kernel(self, s0, s1):
        a, b = s0.tolist(), s1.tolist()
        try:
            return np.array(np.broadcast_shapes(a, b), s0.dtype)
        except ValueError:
            raise invalid_argument(
                f"Incompatible shapes: {brackets(a)} vs. {brackets(b)}"
            ) from None


@op
class BroadcastGradientArgs(Op):
    """The axes that each operand was stretched along, for the gradient of broadcasting."""

    signature = "s0: T, s1: T -> r0: T, r1: T"
    differentiable = False
    T = INDEX

    def infer(self, s0: Spec, s1: Spec) -> Any:
        a, b = numbers(s0), numbers(s1)
        if a is None or b is None:
            return Spec(s0.dtype, (None,)), Spec(s0.dtype, (None,))
        try:
            return tuple([of_elements(s0.dtype, axes) for axes in stretched(a, b)])
        except ShapeError:  # raised when it runs, as by TensorFlow
            return Spec(s0.dtype, (None,)), Spec(s0.dtype, (None,))

    def kernel(self, s0, s1):
        r0, r1 = stretched(s0.tolist(), s1.tolist())
        return np.array(r0, s0.dtype), np.array(r1, s0.dtype)


def stretched(a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    """The axes of the broadcast shape to sum over for each of the two operands."""
    if a == b:
        return [], []
    rank = max(len(a), len(b))
    x = [1] * (rank - len(a)) + a
    y = [1] * (rank - len(b)) + b
    x_axes: list[int] = []
    y_axes: list[int] = []
    for i, (p, q) in enumerate(zip(x, y, strict=True)):
        if p == q == 1:
            x_axes.append(i)
            y_axes.append(i)
        elif p == 1:
            x_axes.append(i)
        elif q == 1:
            y_axes.append(i)
        elif p != q:
            raise ShapeError(f"Incompatible shapes: {brackets(tuple(a))} vs. {brackets(tuple(b))}")
    return x_axes, y_axes
