"""Elementwise arithmetic."""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import DIFFERENTIABLE, NUMERIC, string
from intaglio.op import raw
from intaglio.op.op import op
from intaglio.op.spec import Spec
from intaglio.ops.families import Binary, Unary, unbroadcast


@op
class AddV2(Binary):
    """x + y."""

    def scalar(self, s, x, y):
        return s.add(x, y)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast(dz, x, y), unbroadcast(dz, y, x)


@op
class Add(Binary):
    """x + y; joins strings."""

    T = (*NUMERIC, string)

    def scalar(self, s, x, y):
        return s.add(x, y)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast(dz, x, y), unbroadcast(dz, y, x)


@op
class Sub(Binary):
    """x - y."""

    def scalar(self, s, x, y):
        return s.sub(x, y)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast(dz, x, y), raw.Neg(unbroadcast(dz, y, x))


@op
class Mul(Binary):
    """x * y."""

    def scalar(self, s, x, y):
        return s.mul(x, y)

    def gradient(self, dz, x, y) -> Any:
        return (
            unbroadcast(raw.Mul(dz, raw.Conj(y) if y.dtype.is_complex else y), x, y),
            unbroadcast(raw.Mul(dz, raw.Conj(x) if x.dtype.is_complex else x), y, x),
        )


@op
class Neg(Unary):
    """-x."""

    def scalar(self, s, x):
        return s.neg(x)

    def gradient(self, dy) -> Any:
        return raw.Neg(dy)


@op
class Sigmoid(Unary):
    """1 / (1 + exp(-x))."""

    T = DIFFERENTIABLE

    def scalar(self, s, x):
        one = s.const(1, like=x)
        return s.div(one, s.add(one, s.exp(s.neg(x))))

    def gradient(self, dy, y) -> Any:
        return raw.SigmoidGrad(y, dy)


@op
class SigmoidGrad(Binary):
    """The gradient of Sigmoid by its output: dy * y * (1 - y)."""

    signature = "y: T, dy: T -> z: T"
    T = DIFFERENTIABLE

    def infer(self, y: Spec, dy: Spec) -> Spec:
        return Spec(y.dtype, y.shape)

    def scalar(self, s, y, dy):
        return s.mul(dy, s.mul(y, s.sub(s.const(1, like=y), y)))

    def gradient(self, dz, y, dy) -> Any:
        one = raw.OnesLike(y)
        slope = raw.Mul(raw.Mul(dz, dy), raw.Sub(one, raw.Add(y, y)))
        return slope, raw.SigmoidGrad(y, dz)
