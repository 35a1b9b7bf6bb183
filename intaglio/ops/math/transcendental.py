"""Roots, exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, complex64, complex128, float16, float32, float64
from intaglio.opdef import raw
from intaglio.opdef.op import op
from intaglio.opdef.scalar import NumpyScalars, in_blocks
from intaglio.ops.compiled import (
    CompiledExpression,
    CompiledFunction,
    CompiledUnary,
    LibraryFunction,
)
from intaglio.ops.families import (
    Binary,
    Unary,
    UnaryGradient,
    conjugate,
    constant,
    spec_of,
    unbroadcast_both,
    zero_where,
)

FLOATS = (bfloat16, float16, float32, float64)


class Analytic(Unary):
    """y = f(x) of floating and complex numbers."""

    T = (*FLOATS, complex64, complex128)
    computes_wide = True
    compiled_when_complex = True


class AnalyticGradient(UnaryGradient):
    """The gradient of an analytic function by its output."""

    T = (*FLOATS, complex64, complex128)
    computes_wide = True


def _one(x: Any) -> np.ndarray:
    return constant(1, x)


# -- roots ---------------------------------------------------------------------------


@op
class Sqrt(Analytic):
    """The square root."""

    native_exact = True
    cheap = True

    def scalar(self, s, x):
        return s.sqrt(x)

    def gradient(self, dy, y) -> Any:
        return raw.SqrtGrad(y, dy)


@op
class SqrtGrad(AnalyticGradient):
    """The gradient of Sqrt by its output: dy / (2 y)."""

    native_exact = True

    def kernel(self, y, dy):
        y = np.conjugate(y) if y.dtype.kind == "c" else y
        return zero_where(np.true_divide(np.multiply(y.dtype.type(0.5), dy), y), dy)

    def scalar(self, s, y, dy):
        y, zero = s.conj(y), s.const(0, like=dy)
        quotient = s.div(s.mul(s.const(0.5, like=y), dy), y)
        return s.select(s.eq(dy, zero), zero, quotient)

    def gradient(self, dz, y, dy) -> Any:
        slope = raw.RealDiv(dz, y)
        by_y = raw.Neg(raw.Mul(conjugate(slope), raw.SqrtGrad(y, dy)))
        return by_y, raw.Mul(constant(0.5, y), slope)


@op
class Rsqrt(Analytic):
    """1 / sqrt(x)."""

    native_exact = True

    def scalar(self, s, x):
        return s.div(s.const(1, like=x), s.sqrt(x))

    def gradient(self, dy, y) -> Any:
        return raw.RsqrtGrad(y, dy)


@op
class RsqrtGrad(AnalyticGradient):
    """The gradient of Rsqrt by its output: -dy * y**3 / 2."""

    native_exact = True

    def kernel(self, y, dy):
        y = np.conjugate(y) if y.dtype.kind == "c" else y
        product = np.multiply(np.multiply(dy, y), y.dtype.type(-0.5))
        return zero_where(np.multiply(product, np.multiply(y, y)), dy)

    def scalar(self, s, y, dy):
        y, zero = s.conj(y), s.const(0, like=dy)
        product = s.mul(s.mul(dy, y), s.const(-0.5, like=y))
        return s.select(s.eq(dy, zero), zero, s.mul(product, s.mul(y, y)))

    def gradient(self, dz, y, dy) -> Any:
        cy = conjugate(y)
        factor = raw.Mul(raw.Mul(conjugate(dz), constant(-1.5, y)), dy)
        return raw.Mul(factor, raw.Square(cy)), raw.RsqrtGrad(cy, dz)


# -- exponentials and logarithms -----------------------------------------------------


@op
class Exp(Analytic):
    """e ** x."""

    def scalar(self, s, x):
        return s.exp(x)

    def gradient(self, dy, y) -> Any:
        return raw.Mul(dy, conjugate(y))


@op
class Expm1(LibraryFunction, Analytic):
    """e ** x - 1, exact for small x."""

    numpy_kernel = np.expm1

    def scalar(self, s, x):
        return s.expm1(x)

    def gradient(self, dy, y) -> Any:
        return raw.Mul(dy, raw.AddV2(conjugate(y), _one(y)))


@op
class Log(Analytic):
    """The natural logarithm."""

    def scalar(self, s, x):
        return s.log(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Reciprocal(conjugate(x)))


@op
class Log1p(LibraryFunction, Analytic):
    """log(1 + x), exact for small x."""

    numpy_kernel = np.log1p

    def scalar(self, s, x):
        return s.log1p(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Reciprocal(raw.AddV2(_one(x), conjugate(x))))


def _logistic(s: Any, x: Any) -> Any:
    one = s.const(1, like=x)
    return s.div(one, s.add(one, s.exp(s.neg(x))))


@op
class Sigmoid(CompiledUnary, Analytic):
    """1 / (1 + exp(-x))."""

    numpy_kernel = staticmethod(in_blocks(functools.partial(_logistic, NumpyScalars)))

    def scalar(self, s, x):
        return _logistic(s, x)

    def gradient(self, dy, y) -> Any:
        return raw.SigmoidGrad(conjugate(y), dy)


@op
class SigmoidGrad(AnalyticGradient):
    """The gradient of Sigmoid by its output: dy * y * (1 - y); conjugating is the caller's part."""

    native_exact = True
    blockwise = True

    def kernel(self, y, dy):
        return np.multiply(dy, np.multiply(np.subtract(y.dtype.type(1), y), y))

    def scalar(self, s, y, dy):
        return s.mul(dy, s.mul(s.sub(s.const(1, like=y), y), y))

    def gradient(self, dz, y, dy) -> Any:
        cy, cdy = conjugate(y), conjugate(dy)
        dz_dy = raw.Mul(dz, cdy)
        slope = raw.Sub(dz_dy, raw.Mul(constant(2, y), raw.Mul(dz_dy, cy)))
        return slope, raw.SigmoidGrad(cy, dz)


# -- trigonometric -------------------------------------------------------------------


@op
class Sin(Analytic):
    """The sine."""

    def scalar(self, s, x):
        return s.sin(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Cos(conjugate(x)))


@op
class Cos(Analytic):
    """The cosine."""

    def scalar(self, s, x):
        return s.cos(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(raw.Neg(dy), raw.Sin(conjugate(x)))


@op
class Tan(LibraryFunction, Analytic):
    """The tangent."""

    numpy_kernel = np.tan

    def scalar(self, s, x):
        return s.tan(x)

    def gradient(self, dy, x) -> Any:
        secant = raw.Reciprocal(raw.Cos(conjugate(x)))
        return raw.Mul(dy, raw.Square(secant))


@op
class Asin(LibraryFunction, Analytic):
    """The angle whose sine is x."""

    numpy_kernel = np.arcsin

    def scalar(self, s, x):
        return s.asin(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Reciprocal(_off_circle(x)))


@op
class Acos(LibraryFunction, Analytic):
    """The angle whose cosine is x."""

    numpy_kernel = np.arccos

    def scalar(self, s, x):
        return s.acos(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(raw.Neg(dy), raw.Reciprocal(_off_circle(x)))


def _off_circle(x: Any) -> Any:
    """sqrt(1 - x**2) of the conjugate."""
    return raw.Sqrt(raw.Sub(_one(x), raw.Square(conjugate(x))))


@op
class Atan(LibraryFunction, Analytic):
    """The angle whose tangent is x."""

    numpy_kernel = np.arctan

    def scalar(self, s, x):
        return s.atan(x)

    def gradient(self, dy, x) -> Any:
        slope = raw.Reciprocal(raw.AddV2(_one(x), raw.Square(conjugate(x))))
        return raw.Mul(dy, slope)


@op
class Atan2(CompiledFunction, Binary):
    """The angle of the point (x, y)."""

    signature = "y: T, x: T -> z: T"
    T = FLOATS
    compiled_in_double = True
    numpy_kernel = np.arctan2

    def kernel(self, y, x):
        return self.computed(y, x)

    def scalar(self, s, y, x):
        return s.atan2(y, x)

    def gradient(self, dz, y, x) -> Any:
        radius = raw.RealDiv(dz, raw.AddV2(raw.Square(x), raw.Square(y)))
        dy, dx = raw.Mul(x, radius), raw.Mul(raw.Neg(y), radius)
        return unbroadcast_both(dy, dx, spec_of(y), spec_of(x))


# -- hyperbolic ----------------------------------------------------------------------


@op
class Sinh(LibraryFunction, Analytic):
    """The hyperbolic sine."""

    numpy_kernel = np.sinh

    def scalar(self, s, x):
        return s.sinh(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Cosh(conjugate(x)))


@op
class Cosh(LibraryFunction, Analytic):
    """The hyperbolic cosine."""

    numpy_kernel = np.cosh

    def scalar(self, s, x):
        return s.cosh(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Sinh(conjugate(x)))


@op
class Tanh(Analytic):
    """The hyperbolic tangent."""

    def scalar(self, s, x):
        return s.tanh(x)

    def gradient(self, dy, y) -> Any:
        return raw.TanhGrad(conjugate(y), dy)


@op
class TanhGrad(AnalyticGradient):
    """The gradient of Tanh by its output: dy * (1 - y * y); conjugating is the caller's part."""

    native_exact = True
    blockwise = True

    def kernel(self, y, dy):
        return np.multiply(dy, np.subtract(y.dtype.type(1), np.multiply(y, y)))

    def scalar(self, s, y, dy):
        return s.mul(dy, s.sub(s.const(1, like=y), s.mul(y, y)))

    def gradient(self, dz, y, dy) -> Any:
        cy = conjugate(y)
        product = raw.Mul(raw.Mul(dz, constant(-2, y)), conjugate(dy))
        return raw.Mul(product, cy), raw.TanhGrad(cy, dz)


@op
class Asinh(LibraryFunction, Analytic):
    """The number whose hyperbolic sine is x."""

    numpy_kernel = np.arcsinh

    def scalar(self, s, x):
        return s.asinh(x)

    def gradient(self, dy, y) -> Any:
        return raw.RealDiv(dy, raw.Cosh(conjugate(y)))


@op
class Acosh(LibraryFunction, Analytic):
    """The number whose hyperbolic cosine is x."""

    numpy_kernel = np.arccosh

    def scalar(self, s, x):
        return s.acosh(x)

    def gradient(self, dy, y) -> Any:
        return raw.RealDiv(dy, raw.Sinh(conjugate(y)))


@op
class Atanh(LibraryFunction, Analytic):
    """The number whose hyperbolic tangent is x."""

    numpy_kernel = np.arctanh

    def scalar(self, s, x):
        return s.atanh(x)

    def gradient(self, dy, x) -> Any:
        slope = raw.Reciprocal(raw.Sub(_one(x), raw.Square(conjugate(x))))
        return raw.Mul(dy, slope)


# -- products that are 0 where x is --------------------------------------------------


class Guarded(Binary):
    """z = x * f(y), 0 where x is 0 whatever f(y) is."""

    T = (float16, bfloat16, float32, float64, complex64, complex128)
    computes_wide = True


class GuardedLogarithm(CompiledExpression, Guarded):
    """One whose f is a logarithm."""

    compiled_in_double = True

    def kernel(self, x, y):
        return self.computed(x, y)


def _guarded_gradient(dz: Any, x: Any, y: Any, by_x: Any, by_y: Any) -> Any:
    return unbroadcast_both(
        lambda: raw.Mul(by_x(), dz), lambda: raw.Mul(by_y(), dz), spec_of(x), spec_of(y)
    )


def _not_zero(x: Any) -> Any:
    return raw.Cast(raw.NotEqual(x, constant(0, x)), DstT=x.dtype)


@op
class Xlogy(GuardedLogarithm):
    """x * log(y), 0 where x is 0."""

    def scalar(self, s, x, y):
        zero = s.const(0, like=x)
        return s.select(s.eq(x, zero), zero, s.mul(x, s.log(y)))

    def gradient(self, dz, x, y) -> Any:
        return _guarded_gradient(
            dz, x, y, lambda: raw.Xlogy(_not_zero(x), y), lambda: raw.Xdivy(x, y)
        )


@op
class Xlog1py(GuardedLogarithm):
    """x * log(1 + y), 0 where x is 0."""

    def scalar(self, s, x, y):
        zero = s.const(0, like=x)
        return s.select(s.eq(x, zero), zero, s.mul(x, s.log1p(y)))

    def gradient(self, dz, x, y) -> Any:
        return _guarded_gradient(
            dz,
            x,
            y,
            lambda: raw.Xlog1py(_not_zero(x), y),
            lambda: raw.Xdivy(x, raw.AddV2(y, _one(y))),
        )


@op
class Xdivy(Guarded):
    """x / y, 0 where x is 0."""

    native_exact = True

    def scalar(self, s, x, y):
        zero = s.const(0, like=x)
        return s.select(s.eq(x, zero), zero, s.div(x, y))

    def gradient(self, dz, x, y) -> Any:
        return _guarded_gradient(
            dz,
            x,
            y,
            lambda: raw.Xdivy(_not_zero(x), y),
            lambda: raw.Xdivy(raw.Neg(x), raw.Square(y)),
        )
