"""Functions of numbers, element by element: roots, logarithms, angles, rounding.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sqrt

    >>> print(tf.sqrt([4.0, 9.0]).numpy())
    [2. 3.]
    """
    return raw.Sqrt(x, name=name)


@dispatchable
def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """1 / sqrt(x), for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/rsqrt

    >>> print(tf.math.rsqrt([4.0, 16.0]).numpy())
    [0.5  0.25]
    """
    return raw.Rsqrt(x, name=name)


@dispatchable
def exp(x: Any, name: str | None = None) -> Tensor:
    """e ** x, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/exp

    >>> print(tf.exp([0.0, 1.0]).numpy().round(4))
    [1.     2.7183]
    """
    return raw.Exp(x, name=name)


@dispatchable
def expm1(x: Any, name: str | None = None) -> Tensor:
    """e ** x - 1, exact for small x, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/expm1

    >>> print(tf.math.expm1([0.0, 1.0]).numpy().round(4))
    [0.     1.7183]
    """
    return raw.Expm1(x, name=name)


@dispatchable
def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm, for floating-point and complex numbers; NaN below 0.

    https://www.tensorflow.org/api_docs/python/tf/math/log

    >>> print(tf.math.log([1.0, 2.0]).numpy().round(4))
    [0.     0.6931]
    """
    return raw.Log(x, name=name)


@dispatchable
def log1p(x: Any, name: str | None = None) -> Tensor:
    """log(1 + x), exact for small x, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/log1p

    >>> print(tf.math.log1p([0.0, 1.0]).numpy().round(4))
    [0.     0.6931]
    """
    return raw.Log1p(x, name=name)


@dispatchable
def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sigmoid

    >>> print(tf.sigmoid([0.0, 2.0]).numpy().round(4))
    [0.5    0.8808]
    """
    return raw.Sigmoid(x, name=name)


@dispatchable
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), exact for large negative x, for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/log_sigmoid

    >>> print(tf.math.log_sigmoid([0.0, 2.0]).numpy().round(4))
    [-0.6931 -0.1269]
    """
    with door.level().scoped(name or "LogSigmoid") as scope:
        return raw.Neg(raw.Softplus(raw.Neg(x)), name=scope)


@dispatchable
def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sin

    >>> print(tf.sin([0.0, 1.0]).numpy().round(4))
    [0.     0.8415]
    """
    return raw.Sin(x, name=name)


@dispatchable
def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/cos

    >>> print(tf.cos([0.0, 3.0]).numpy().round(4))
    [ 1.   -0.99]
    """
    return raw.Cos(x, name=name)


@dispatchable
def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/tan

    >>> print(tf.tan([0.0, 1.0]).numpy().round(4))
    [0.     1.5574]
    """
    return raw.Tan(x, name=name)


@dispatchable
def asin(x: Any, name: str | None = None) -> Tensor:
    """The angle whose sine is x; NaN outside -1..1.

    https://www.tensorflow.org/api_docs/python/tf/math/asin

    >>> print(tf.asin([0.0, 1.0]).numpy().round(4))
    [0.     1.5708]
    """
    return raw.Asin(x, name=name)


@dispatchable
def acos(x: Any, name: str | None = None) -> Tensor:
    """The angle whose cosine is x; NaN outside -1..1.

    https://www.tensorflow.org/api_docs/python/tf/math/acos

    >>> print(tf.acos([1.0, 0.0]).numpy().round(4))
    [0.     1.5708]
    """
    return raw.Acos(x, name=name)


@dispatchable
def atan(x: Any, name: str | None = None) -> Tensor:
    """The angle whose tangent is x.

    https://www.tensorflow.org/api_docs/python/tf/math/atan

    >>> print(tf.atan([0.0, 1.0]).numpy().round(4))
    [0.     0.7854]
    """
    return raw.Atan(x, name=name)


@dispatchable
def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), from -pi to pi; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/atan2

    >>> print(tf.atan2([1.0, -1.0], [1.0, -1.0]).numpy().round(4))
    [ 0.7854 -2.3562]
    """
    return raw.Atan2(y, x, name=name)


@dispatchable
def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine, for floating-point and complex numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/math/sinh

    >>> print(tf.sinh([0.0, 1.0]).numpy().round(4))
    [0.     1.1752]
    """
    return raw.Sinh(x, name=name)


@dispatchable
def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/cosh

    >>> print(tf.cosh([0.0, 1.0]).numpy().round(4))
    [1.     1.5431]
    """
    return raw.Cosh(x, name=name)


@dispatchable
def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent, for floating-point and complex numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/tanh

    >>> print(tf.tanh([0.0, 1.0]).numpy().round(4))
    [0.     0.7616]
    """
    return raw.Tanh(x, name=name)


@dispatchable
def asinh(x: Any, name: str | None = None) -> Tensor:
    """The number whose hyperbolic sine is x.

    https://www.tensorflow.org/api_docs/python/tf/math/asinh

    >>> print(tf.asinh([0.0, 1.0]).numpy().round(4))
    [0.     0.8814]
    """
    return raw.Asinh(x, name=name)


@dispatchable
def acosh(x: Any, name: str | None = None) -> Tensor:
    """The number whose hyperbolic cosine is x; NaN below 1.

    https://www.tensorflow.org/api_docs/python/tf/math/acosh

    >>> print(tf.acosh([1.0, 2.0]).numpy().round(4))
    [0.    1.317]
    """
    return raw.Acosh(x, name=name)


@dispatchable
def atanh(x: Any, name: str | None = None) -> Tensor:
    """The number whose hyperbolic tangent is x; NaN outside -1..1.

    https://www.tensorflow.org/api_docs/python/tf/math/atanh

    >>> print(tf.atanh([0.0, 0.5]).numpy().round(4))
    [0.     0.5493]
    """
    return raw.Atanh(x, name=name)


@dispatchable
def xlogy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * log(y), 0 where x is 0; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/xlogy

    >>> print(tf.math.xlogy([0.0, 2.0], [0.0, 2.0]).numpy().round(4))
    [0.     1.3863]
    """
    return raw.Xlogy(x, y, name=name)


@dispatchable
def xlog1py(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * log(1 + y), 0 where x is 0; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/xlog1py

    >>> print(tf.math.xlog1py([0.0, 2.0], [-1.0, 1.0]).numpy().round(4))
    [0.     1.3863]
    """
    with door.level().scoped(name or "xlog1py"):
        return raw.Xlog1py(x, y)


@dispatchable
def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, 0 where x is 0; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/xdivy

    >>> print(tf.math.xdivy([0.0, 6.0], [0.0, 2.0]).numpy())
    [0. 3.]
    """
    with door.level().scoped(name or "xdivy"):
        return raw.Xdivy(x, y)


@dispatchable
def floor(x: Any, name: str | None = None) -> Tensor:
    """The largest whole numbers not above x.

    https://www.tensorflow.org/api_docs/python/tf/math/floor

    >>> print(tf.floor([1.7, -1.2]).numpy())
    [ 1. -2.]
    """
    return raw.Floor(x, name=name)


@dispatchable
def ceil(x: Any, name: str | None = None) -> Tensor:
    """The smallest whole numbers not below x.

    https://www.tensorflow.org/api_docs/python/tf/math/ceil

    >>> print(tf.math.ceil([1.2, -1.2]).numpy())
    [ 2. -1.]
    """
    return raw.Ceil(x, name=name)


@dispatchable
def rint(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole numbers, the even ones of two.

    https://www.tensorflow.org/api_docs/python/tf/math/rint

    >>> print(tf.math.rint([0.5, 1.5, -1.7]).numpy())
    [ 0.  2. -2.]
    """
    return raw.Rint(x, name=name)


@dispatchable
def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole numbers, the even ones of two; integers as they are.

    https://www.tensorflow.org/api_docs/python/tf/math/round

    >>> print(tf.round([0.5, 1.5, -1.7]).numpy())
    [ 0.  2. -2.]
    """
    x = convert.to_tensor(x)
    return x if x.dtype.is_integer else raw.Round(x, name=name)


@dispatchable
def is_nan(x: Any, name: str | None = None) -> Tensor:
    """True where x is not a number.

    https://www.tensorflow.org/api_docs/python/tf/math/is_nan

    >>> print(tf.math.is_nan([1.0, float("inf"), float("nan")]).numpy())
    [False False  True]
    """
    return raw.IsNan(x, name=name)


@dispatchable
def is_inf(x: Any, name: str | None = None) -> Tensor:
    """True where x is infinite.

    https://www.tensorflow.org/api_docs/python/tf/math/is_inf

    >>> print(tf.math.is_inf([1.0, float("inf"), float("nan")]).numpy())
    [False  True False]
    """
    return raw.IsInf(x, name=name)


@dispatchable
def is_finite(x: Any, name: str | None = None) -> Tensor:
    """True where x is neither infinite nor NaN.

    https://www.tensorflow.org/api_docs/python/tf/math/is_finite

    >>> print(tf.math.is_finite([1.0, float("inf"), float("nan")]).numpy())
    [ True False False]
    """
    return raw.IsFinite(x, name=name)


@dispatchable
def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The next number after x1 in the direction of x2; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/nextafter

    >>> print((tf.math.nextafter(tf.constant(1.0, tf.float64), 2.0) - 1.0).numpy())
    2.220446049250313e-16
    """
    return raw.NextAfter(x1, x2, name=name)
