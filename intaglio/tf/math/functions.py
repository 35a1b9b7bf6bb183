"""Functions of numbers, element by element: roots, logarithms, angles, rounding.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from typing import Any

from intaglio.op import convert, door, raw
from intaglio.op.tensor import Tensor


def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sqrt
    """
    return raw.Sqrt(x, name=name)


def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """1 / sqrt(x), for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/rsqrt
    """
    return raw.Rsqrt(x, name=name)


def exp(x: Any, name: str | None = None) -> Tensor:
    """e ** x, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/exp
    """
    return raw.Exp(x, name=name)


def expm1(x: Any, name: str | None = None) -> Tensor:
    """e ** x - 1, exact for small x, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/expm1
    """
    return raw.Expm1(x, name=name)


def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm, for floating-point and complex numbers; NaN below 0.

    https://www.tensorflow.org/api_docs/python/tf/math/log
    """
    return raw.Log(x, name=name)


def log1p(x: Any, name: str | None = None) -> Tensor:
    """log(1 + x), exact for small x, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/log1p
    """
    return raw.Log1p(x, name=name)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sigmoid
    """
    return raw.Sigmoid(x, name=name)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), exact for large negative x, for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/log_sigmoid
    """
    with door.level().scoped(name or "LogSigmoid") as scope:
        return raw.Neg(raw.Softplus(raw.Neg(x)), name=scope)


def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sin
    """
    return raw.Sin(x, name=name)


def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/cos
    """
    return raw.Cos(x, name=name)


def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/tan
    """
    return raw.Tan(x, name=name)


def asin(x: Any, name: str | None = None) -> Tensor:
    """The angle whose sine is x; NaN outside -1..1.

    https://www.tensorflow.org/api_docs/python/tf/math/asin
    """
    return raw.Asin(x, name=name)


def acos(x: Any, name: str | None = None) -> Tensor:
    """The angle whose cosine is x; NaN outside -1..1.

    https://www.tensorflow.org/api_docs/python/tf/math/acos
    """
    return raw.Acos(x, name=name)


def atan(x: Any, name: str | None = None) -> Tensor:
    """The angle whose tangent is x.

    https://www.tensorflow.org/api_docs/python/tf/math/atan
    """
    return raw.Atan(x, name=name)


def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), from -pi to pi; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/atan2
    """
    return raw.Atan2(y, x, name=name)


def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sinh
    """
    return raw.Sinh(x, name=name)


def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/cosh
    """
    return raw.Cosh(x, name=name)


def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/tanh
    """
    return raw.Tanh(x, name=name)


def asinh(x: Any, name: str | None = None) -> Tensor:
    """The number whose hyperbolic sine is x.

    https://www.tensorflow.org/api_docs/python/tf/math/asinh
    """
    return raw.Asinh(x, name=name)


def acosh(x: Any, name: str | None = None) -> Tensor:
    """The number whose hyperbolic cosine is x; NaN below 1.

    https://www.tensorflow.org/api_docs/python/tf/math/acosh
    """
    return raw.Acosh(x, name=name)


def atanh(x: Any, name: str | None = None) -> Tensor:
    """The number whose hyperbolic tangent is x; NaN outside -1..1.

    https://www.tensorflow.org/api_docs/python/tf/math/atanh
    """
    return raw.Atanh(x, name=name)


def xlogy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * log(y), 0 where x is 0; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/xlogy
    """
    return raw.Xlogy(x, y, name=name)


def xlog1py(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * log(1 + y), 0 where x is 0; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/xlog1py
    """
    with door.level().scoped(name or "xlog1py"):
        return raw.Xlog1py(x, y)


def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, 0 where x is 0; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/xdivy
    """
    with door.level().scoped(name or "xdivy"):
        return raw.Xdivy(x, y)


def floor(x: Any, name: str | None = None) -> Tensor:
    """The largest whole numbers not above x.

    https://www.tensorflow.org/api_docs/python/tf/math/floor
    """
    return raw.Floor(x, name=name)


def ceil(x: Any, name: str | None = None) -> Tensor:
    """The smallest whole numbers not below x.

    https://www.tensorflow.org/api_docs/python/tf/math/ceil
    """
    return raw.Ceil(x, name=name)


def rint(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole numbers, the even ones of two.

    https://www.tensorflow.org/api_docs/python/tf/math/rint
    """
    return raw.Rint(x, name=name)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole numbers, the even ones of two; integers as they are.

    https://www.tensorflow.org/api_docs/python/tf/math/round
    """
    x = convert.to_tensor(x)
    return x if x.dtype.is_integer else raw.Round(x, name=name)


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """True where x is not a number.

    https://www.tensorflow.org/api_docs/python/tf/math/is_nan
    """
    return raw.IsNan(x, name=name)


def is_inf(x: Any, name: str | None = None) -> Tensor:
    """True where x is infinite.

    https://www.tensorflow.org/api_docs/python/tf/math/is_inf
    """
    return raw.IsInf(x, name=name)


def is_finite(x: Any, name: str | None = None) -> Tensor:
    """True where x is neither infinite nor NaN.

    https://www.tensorflow.org/api_docs/python/tf/math/is_finite
    """
    return raw.IsFinite(x, name=name)


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The next number after x1 in the direction of x2; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/nextafter
    """
    return raw.NextAfter(x1, x2, name=name)
