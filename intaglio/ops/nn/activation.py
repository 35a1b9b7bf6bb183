"""Activation functions of neural networks and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import FLOATING, REAL, DType
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.compiled import CompiledExpression

SELU_SCALE = 1.0507009873554804934193349852946
SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


class Activation(Op):
    """activations = f(features), element by element."""

    signature = "features: T -> activations: T"
    T: tuple[DType, ...] = FLOATING
    batching = "leading"

    def infer(self, features: Spec) -> Spec:
        return Spec(features.dtype, features.shape)


class Exponential(CompiledExpression, Activation):
    """One with an exponential: machine code of the rule `scalar` if there are many features."""

    computes_wide = True

    def kernel(self, features):
        return self.computed(features)


class ActivationGrad(Op):
    """The gradient of an activation by its features, and by the gradient given to it."""

    signature = "gradients: T, features: T -> backprops: T"
    T: tuple[DType, ...] = FLOATING
    same_shapes = True
    batching = "alike"

    def infer(self, gradients: Spec, features: Spec) -> Spec:
        return Spec(gradients.dtype, shapes.merge(gradients.shape, features.shape))


class ActivationGradByOutput(Op):
    """The gradient of an activation that its outputs determine."""

    signature = "gradients: T, outputs: T -> backprops: T"
    T: tuple[DType, ...] = FLOATING
    same_shapes = True
    batching = "alike"

    def infer(self, gradients: Spec, outputs: Spec) -> Spec:
        return Spec(gradients.dtype, shapes.merge(gradients.shape, outputs.shape))


def _like(number: float, x: Any) -> np.ndarray:
    return np.asarray(number, x.dtype.numpy)


@op
class Relu(Activation):
    """max(features, 0)."""

    T = REAL
    native_exact = True
    cheap = True

    def scalar(self, s, features):
        return s.maximum(features, s.const(0, like=features))

    def gradient(self, dactivations, activations) -> Any:
        return raw.ReluGrad(dactivations, activations)


@op
class ReluGrad(ActivationGrad):
    """gradients where features > 0, else 0."""

    T = REAL
    native_exact = True

    def scalar(self, s, gradients, features):
        zero = s.const(0, like=features)
        return s.mul(gradients, s.select(s.gt(features, zero), s.const(1, like=features), zero))

    def kernel(self, gradients, features):
        return np.multiply(gradients, features > 0, dtype=gradients.dtype)

    def gradient(self, dbackprops, features) -> Any:
        return raw.ReluGrad(dbackprops, features), raw.ZerosLike(features)


@op
class Relu6(Activation):
    """min(max(features, 0), 6)."""

    native_exact = True
    T = REAL

    def scalar(self, s, features):
        above = s.maximum(features, s.const(0, like=features))
        return s.minimum(above, s.const(6, like=features))

    def gradient(self, dactivations, activations) -> Any:
        return raw.Relu6Grad(dactivations, activations)


@op
class Relu6Grad(ActivationGrad):
    """gradients where 0 < features < 6, else 0."""

    native_exact = True
    T = REAL

    def scalar(self, s, gradients, features):
        zero, six = s.const(0, like=features), s.const(6, like=features)
        inside = s.logical_and(s.gt(features, zero), s.lt(features, six))
        return s.mul(gradients, s.select(inside, s.const(1, like=features), zero))

    def gradient(self, dbackprops, features) -> Any:
        return raw.Relu6Grad(dbackprops, features), raw.ZerosLike(features)


@op
class Elu(Exponential):
    """exp(features) - 1 where negative, else features."""

    def scalar(self, s, features):
        zero = s.const(0, like=features)
        # As TensorFlow, and not expm1: processors have vector instructions for exp.
        one = s.const(1, like=features)
        below = s.sub(s.exp(s.minimum(features, zero)), one)
        return s.select(s.lt(features, zero), below, features)

    def gradient(self, dactivations, activations) -> Any:
        return raw.EluGrad(dactivations, activations)


@op
class EluGrad(ActivationGradByOutput):
    """gradients * (outputs + 1) where outputs < 0, else gradients."""

    native_exact = True
    computes_wide = True

    def scalar(self, s, gradients, outputs):
        slope = s.add(outputs, s.const(1, like=outputs))
        return s.select(s.lt(outputs, s.const(0, like=outputs)), s.mul(gradients, slope), gradients)

    def gradient(self, dbackprops, gradients, outputs) -> Any:
        return raw.EluGrad(dbackprops, outputs), _where_negative(
            outputs, raw.Mul(dbackprops, gradients)
        )


def _where_negative(outputs: Any, x: Any) -> Any:
    below = raw.Less(outputs, _like(0, outputs))
    return raw.SelectV2(below, x, raw.ZerosLike(x))


@op
class Selu(Exponential):
    """The self-normalising exponential unit."""

    def scalar(self, s, features):
        zero = s.const(0, like=features)
        below = s.mul(
            s.const(SELU_SCALE_ALPHA, like=features),
            s.sub(s.exp(s.minimum(features, zero)), s.const(1, like=features)),
        )
        above = s.mul(s.const(SELU_SCALE, like=features), features)
        return s.select(s.lt(features, zero), below, above)

    def gradient(self, dactivations, activations) -> Any:
        return raw.SeluGrad(dactivations, activations)


@op
class SeluGrad(ActivationGradByOutput):
    """The gradient of Selu by its outputs."""

    native_exact = True

    def scalar(self, s, gradients, outputs):
        # In the outputs' own dtype: numbers below zero end in a rounded constant, where the slope
        # is 0.
        below = s.add(outputs, s.const(SELU_SCALE_ALPHA, like=outputs))
        above = s.const(SELU_SCALE, like=outputs)
        negative = s.lt(outputs, s.const(0, like=outputs))
        return s.mul(gradients, s.select(negative, below, above))

    def gradient(self, dbackprops, gradients, outputs) -> Any:
        return raw.SeluGrad(dbackprops, outputs), _where_negative(
            outputs, raw.Mul(dbackprops, gradients)
        )


@op
class LeakyRelu(Activation):
    """features where positive, else alpha * features."""

    native_exact = True
    signature = "features: T; alpha: float = 0.20000000298023224 -> activations: T"

    def scalar(self, s, features, alpha):
        scaled = s.mul(features, s.const(alpha, like=features))
        if 0 <= alpha <= 1:
            return s.maximum(features, scaled)
        return s.select(s.gt(features, s.const(0, like=features)), features, scaled)

    def gradient(self, dactivations, features, alpha) -> Any:
        return raw.LeakyReluGrad(dactivations, features, alpha=alpha)


@op
class LeakyReluGrad(ActivationGrad):
    """gradients where features > 0, else alpha * gradients."""

    native_exact = True
    signature = "gradients: T, features: T; alpha: float = 0.20000000298023224 -> backprops: T"

    def scalar(self, s, gradients, features, alpha):
        scaled = s.mul(gradients, s.const(alpha, like=gradients))
        return s.select(s.gt(features, s.const(0, like=features)), gradients, scaled)

    def gradient(self, dbackprops, features, alpha) -> Any:
        return (raw.LeakyReluGrad(dbackprops, features, alpha=alpha), raw.ZerosLike(features))


@op
class Softplus(Exponential):
    """log(exp(features) + 1)."""

    def scalar(self, s, features):
        # log1p(exp(-|x|)) + max(x, 0) neither overflows nor loses small results.
        fading = s.log1p(s.exp(s.neg(s.abs(features))))
        return s.add(fading, s.maximum(features, s.const(0, like=features)))

    def gradient(self, dactivations, features) -> Any:
        return raw.SoftplusGrad(dactivations, features)


@op
class SoftplusGrad(ActivationGrad):
    """gradients / (exp(-features) + 1)."""

    computes_wide = True

    def scalar(self, s, gradients, features):
        one = s.const(1, like=features)
        return s.div(gradients, s.add(s.exp(s.neg(features)), one))

    def gradient(self, dbackprops, gradients, features) -> Any:
        grown = raw.AddV2(raw.Exp(raw.Neg(features)), raw.Exp(features))
        curve = raw.RealDiv(raw.Mul(dbackprops, gradients), raw.AddV2(grown, _like(2, features)))
        return raw.SoftplusGrad(dbackprops, features), curve


@op
class Softsign(Activation):
    """features / (|features| + 1)."""

    native_exact = True
    computes_wide = True

    def scalar(self, s, features):
        one = s.const(1, like=features)
        return s.div(features, s.add(s.abs(features), one))

    def gradient(self, dactivations, features) -> Any:
        return raw.SoftsignGrad(dactivations, features)


@op
class SoftsignGrad(ActivationGrad):
    """gradients / (|features| + 1) ** 2."""

    native_exact = True
    computes_wide = True

    def scalar(self, s, gradients, features):
        one = s.const(1, like=features)
        return s.div(gradients, s.square(s.add(s.abs(features), one)))

    def gradient(self, dbackprops, gradients, features) -> Any:
        # The slope of (|x| + 1) ** -2 is -2 sign(x) (|x| + 1) ** -3.
        inner = raw.AddV2(raw.Abs(features), _like(1, features))
        numerator = raw.Mul(_like(-2, features), raw.Sign(features))
        slope = raw.RealDiv(numerator, raw.Mul(raw.Mul(inner, inner), inner))
        return (
            raw.SoftsignGrad(dbackprops, features),
            raw.Mul(raw.Mul(dbackprops, gradients), slope),
        )
