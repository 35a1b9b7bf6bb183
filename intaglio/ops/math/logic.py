"""Elementwise logic, of truth values and of bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import SIGNED, UNSIGNED, bool_, uint8
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import Binary, Unary


class Logical(Op):
    """z = x ? y of truth values, with broadcasting."""

    differentiable = False
    signature = "x: bool, y: bool -> z: bool"
    native_exact = True
    cheap = True
    batching = "broadcast"

    def infer(self, x: Spec, y: Spec) -> Spec:
        return Spec(bool_, shapes.broadcast(x.shape, y.shape))


@op
class LogicalAnd(Logical):
    """True where both are."""

    def scalar(self, s, x, y):
        return s.logical_and(x, y)


@op
class LogicalOr(Logical):
    """True where at least one is."""

    def scalar(self, s, x, y):
        return s.logical_or(x, y)


@op
class LogicalNot(Op):
    """True where x is not."""

    differentiable = False
    signature = "x: bool -> y: bool"
    native_exact = True
    cheap = True
    batching = "leading"

    def infer(self, x: Spec) -> Spec:
        return Spec(bool_, x.shape)

    def scalar(self, s, x):
        return s.logical_not(x)


class Bitwise(Binary):
    """z = x ? y, bit by bit, of integers."""

    differentiable = False
    T = (*SIGNED, *UNSIGNED)


@op
class BitwiseAnd(Bitwise):
    """The bits set in both."""

    native_exact = True

    def scalar(self, s, x, y):
        return s.bit_and(x, y)


@op
class BitwiseOr(Bitwise):
    """The bits set in at least one."""

    native_exact = True

    def scalar(self, s, x, y):
        return s.bit_or(x, y)


@op
class BitwiseXor(Bitwise):
    """The bits set in exactly one."""

    native_exact = True

    def scalar(self, s, x, y):
        return s.bit_xor(x, y)


def _shift_counts(x: Any, y: Any) -> Any:
    """Shift counts clamped to the width of the type, as in TensorFlow."""
    number = x.dtype.type
    return np.clip(y, number(0), number(x.dtype.itemsize * 8 - 1))


@op
class LeftShift(Bitwise):
    """x shifted left by y bits."""

    native_exact = True

    def kernel(self, x, y):
        return np.left_shift(x, _shift_counts(x, y))

    def scalar(self, s, x, y):
        return s.left_shift(x, y)


@op
class RightShift(Bitwise):
    """x shifted right by y bits; arithmetic for signed numbers."""

    native_exact = True

    def kernel(self, x, y):
        return np.right_shift(x, _shift_counts(x, y))

    def scalar(self, s, x, y):
        return s.right_shift(x, y)


@op
class Invert(Unary):
    """x with each bit flipped."""

    differentiable = False
    T = (*SIGNED, *UNSIGNED)
    native_exact = True

    def scalar(self, s, x):
        return s.invert(x)


def _counted(x: Any) -> Any:
    """The number of bits set in unsigned integers, byte by byte."""
    parts = np.ascontiguousarray(x).reshape(x.shape)[..., None].view(np.uint8)
    return np.unpackbits(parts, axis=-1).sum(-1, dtype=np.uint8)


# NumPy counts bits itself from version 2 on.
COUNTED: Any = getattr(np, "bitwise_count", _counted)


@op
class PopulationCount(Op):
    """The number of bits set."""

    differentiable = False
    signature = "x: T -> y: uint8"
    T = (*SIGNED, *UNSIGNED)
    batching = "leading"

    def infer(self, x: Spec) -> Spec:
        return Spec(uint8, x.shape)

    def kernel(self, x):
        bits = x.view(f"u{x.dtype.itemsize}") if x.dtype.kind == "i" else x
        return COUNTED(bits)
