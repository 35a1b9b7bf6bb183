"""Functions of one tensor, element by element.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `sin`, `exp`, `sqrt`,
`around` and their kin. Analytic functions take integers and truth values as float64.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.composite_ops.math import casting
from intaglio.numpy_api.promotion import as_tensor, inexact, number
from intaglio.opdef import operators, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.promotion.functions import applied


@dispatchable
def sin(x: Any) -> Tensor:
    """The sine.

    >>> tnp.sin(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Sin(inexact(x))


@dispatchable
def cos(x: Any) -> Tensor:
    """The cosine.

    >>> tnp.cos(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    return raw.Cos(inexact(x))


@dispatchable
def tan(x: Any) -> Tensor:
    """The tangent.

    >>> tnp.tan(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Tan(inexact(x))


@dispatchable
def arcsin(x: Any) -> Tensor:
    """The angle with this sine; NaN outside [-1, 1].

    >>> tnp.arcsin(1)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.5707963267948966>
    """
    return raw.Asin(inexact(x))


@dispatchable
def arccos(x: Any) -> Tensor:
    """The angle with this cosine; NaN outside [-1, 1].

    >>> tnp.arccos(1)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Acos(inexact(x))


@dispatchable
def arctan(x: Any) -> Tensor:
    """The angle with this tangent.

    >>> tnp.arctan(1)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.7853981633974483>
    """
    return raw.Atan(inexact(x))


@dispatchable
def sinh(x: Any) -> Tensor:
    """The hyperbolic sine.

    >>> tnp.sinh(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Sinh(inexact(x))


@dispatchable
def cosh(x: Any) -> Tensor:
    """The hyperbolic cosine.

    >>> tnp.cosh(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    return raw.Cosh(inexact(x))


@dispatchable
def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent.

    >>> tnp.tanh(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Tanh(inexact(x))


@dispatchable
def arcsinh(x: Any) -> Tensor:
    """The inverse of the hyperbolic sine.

    >>> tnp.arcsinh(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Asinh(inexact(x))


def arccosh(x: Any) -> Tensor:
    """The inverse of the hyperbolic cosine; NaN below 1.

    >>> tnp.arccosh(1)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Acosh(inexact(x))


@dispatchable
def arctanh(x: Any) -> Tensor:
    """The inverse of the hyperbolic tangent; NaN outside [-1, 1].

    >>> tnp.arctanh(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Atanh(inexact(x))


@dispatchable
def sqrt(x: Any) -> Tensor:
    """The square root; NaN for negative numbers.

    >>> tnp.sqrt([4, 9])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([2., 3.])>
    """
    return raw.Sqrt(inexact(x))


@dispatchable
def exp(x: Any) -> Tensor:
    """e to the power of x.

    >>> tnp.exp(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    return raw.Exp(inexact(x))


@dispatchable
def expm1(x: Any) -> Tensor:
    """exp(x) - 1, exact near 0.

    >>> tnp.expm1(1e-10)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.00000000005e-10>
    """
    return raw.Expm1(inexact(x))


@dispatchable
def log(x: Any) -> Tensor:
    """The natural logarithm.

    >>> tnp.log(1)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.0>
    """
    return raw.Log(inexact(x))


@dispatchable
def log1p(x: Any) -> Tensor:
    """log(1 + x), exact near 0.

    >>> tnp.log1p(1e-10)
    <tf.Tensor: shape=(), dtype=float64, numpy=9.999999999500001e-11>
    """
    return raw.Log1p(inexact(x))


@dispatchable
def floor(x: Any) -> Tensor:
    """The largest integer that is not larger, in floating point.

    >>> tnp.floor([1.5, -1.5])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([ 1., -2.])>
    """
    return raw.Floor(inexact(x))


@dispatchable
def ceil(x: Any) -> Tensor:
    """The smallest integer that is not smaller, in floating point.

    >>> tnp.ceil([1.5, -1.5])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([ 2., -1.])>
    """
    return raw.Ceil(inexact(x))


@dispatchable
def exp2(x: Any) -> Tensor:
    """2 to the power of x.

    >>> tnp.exp2(3)
    <tf.Tensor: shape=(), dtype=float64, numpy=8.0>
    """
    x = inexact(x)
    return raw.Pow(number(2, x), x)


@dispatchable
def log2(x: Any) -> Tensor:
    """The logarithm to the base 2.

    >>> tnp.log2(8)
    <tf.Tensor: shape=(), dtype=float64, numpy=3.0>
    """
    x = inexact(x)
    return raw.Div(raw.Log(x), number(np.log(2), x))


@dispatchable
def log10(x: Any) -> Tensor:
    """The logarithm to the base 10.

    >>> tnp.log10(100)
    <tf.Tensor: shape=(), dtype=float64, numpy=2.0>
    """
    x = inexact(x)
    return raw.Div(raw.Log(x), number(np.log(10), x))


@dispatchable
def cbrt(x: Any) -> Tensor:
    """The cube root, of real numbers.

    >>> tnp.cbrt(-8)
    <tf.Tensor: shape=(), dtype=float64, numpy=-2.0>
    """
    x = inexact(x)
    root = raw.Pow(operators.absolute(x), number(1 / 3, x))
    return raw.SelectV2(raw.Less(x, number(0, x)), raw.Neg(root), root)


@dispatchable
def deg2rad(x: Any) -> Tensor:
    """Degrees as radians.

    >>> tnp.deg2rad(180)
    <tf.Tensor: shape=(), dtype=float64, numpy=3.141592653589793>
    """
    x = inexact(x)
    return raw.Mul(x, number(np.pi / 180, x))


@dispatchable
def rad2deg(x: Any) -> Tensor:
    """Radians as degrees.

    >>> tnp.rad2deg(np.pi)
    <tf.Tensor: shape=(), dtype=float64, numpy=180.0>
    """
    x = inexact(x)
    return raw.Mul(x, number(180 / np.pi, x))


@dispatchable
def sinc(x: Any) -> Tensor:
    """sin(pi x) / (pi x); 1 at 0.

    >>> tnp.sinc(0)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    x = inexact(x)
    at_zero, one = raw.Equal(x, number(0, x)), number(1, x)
    safe = raw.SelectV2(at_zero, one, raw.Mul(x, number(np.pi, x)))
    return raw.SelectV2(at_zero, one, raw.Div(raw.Sin(safe), safe))


# -- in the type of the argument -------------------------------------------------------


@dispatchable
def abs(x: Any) -> Tensor:
    """The absolute value; real for complex numbers.

    >>> tnp.abs([-1, 2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
    """
    return operators.absolute(as_tensor(x))


@dispatchable
def absolute(x: Any) -> Tensor:
    """The absolute value, as `abs`.

    >>> tnp.absolute(3 + 4j)
    <tf.Tensor: shape=(), dtype=float64, numpy=5.0>
    """
    return abs(x)


@dispatchable
def fabs(x: Any) -> Tensor:
    """The absolute value, as `abs`: integers stay integers.

    >>> tnp.fabs(-1.5)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.5>
    """
    return abs(x)


@dispatchable
def negative(x: Any) -> Tensor:
    """-x.

    >>> tnp.negative([1, -2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([-1,  2])>
    """
    return raw.Neg(as_tensor(x))


@dispatchable
def positive(x: Any) -> Tensor:
    """x.

    >>> tnp.positive([1, -2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([ 1, -2])>
    """
    return raw.Identity(as_tensor(x))


@dispatchable
def reciprocal(x: Any) -> Tensor:
    """1 / x, of floating-point and complex numbers.

    >>> tnp.reciprocal(4.)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.25>
    """
    return raw.Reciprocal(as_tensor(x))


@dispatchable
def square(x: Any) -> Tensor:
    """x * x.

    >>> tnp.square(3)
    <tf.Tensor: shape=(), dtype=int64, numpy=9>
    """
    return raw.Square(as_tensor(x))


def sign(x: Any, out: Any = None, where: Any = None, **kwargs: Any) -> Tensor:
    """-1, 0 or 1; of complex numbers, x / |x|. Raises ValueError for further arguments.

    `out` and `where` are not supported: they raise ValueError.

    >>> tnp.sign([-2, 0, 5])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([-1,  0,  1])>
    """
    if out:
        raise ValueError("tf.numpy doesnt support setting out.")
    if where:
        raise ValueError("tf.numpy doesnt support setting where.")
    if kwargs:
        raise ValueError(f"tf.numpy doesnt support setting {kwargs.keys()}")
    return applied(lambda y: raw.Sign(as_tensor(y)), x)


def signbit(x: Any) -> Tensor:
    """Whether x is less than 0; -0. is not.

    >>> tnp.signbit([-1., 2.])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    x = as_tensor(x)
    if x.dtype is dtypes.bool_:
        return raw.ZerosLike(x)
    return raw.Less(x, number(0, x))


@dispatchable
def fix(x: Any) -> Tensor:
    """x rounded towards 0, in floating point.

    >>> tnp.fix([1.5, -1.5])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([ 1., -1.])>
    """
    x = inexact(x)
    return raw.SelectV2(raw.Less(x, number(0, x)), raw.Ceil(x), raw.Floor(x))


@dispatchable
def around(a: Any, decimals: int = 0) -> Tensor:
    """`a` rounded to so many decimals (tens and more if negative), halves to even.

    >>> tnp.around([1.25, 2.35, -.5], 1)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([ 1.2,  2.4, -0.5])>
    """
    x = as_tensor(a)
    dtype = x.dtype
    if dtype is dtypes.bool_ or (dtype.is_integer and decimals >= 0):
        return x
    if dtype.is_complex:
        parts = [around(part, decimals) for part in (real(x), imag(x))]
        return raw.Complex(*parts, Tout=dtype)
    wide = raw.Cast(x, DstT=dtypes.float64) if dtype.is_integer else x
    factor = number(10.0 ** builtins.abs(decimals), wide)
    if decimals == 0:
        result = raw.Rint(wide)
    elif decimals > 0:
        result = raw.RealDiv(raw.Rint(raw.Mul(wide, factor)), factor)
    else:
        result = raw.Mul(raw.Rint(raw.RealDiv(wide, factor)), factor)
    return raw.Cast(result, DstT=dtype) if dtype.is_integer else result


@dispatchable
def round(a: Any, decimals: int = 0) -> Tensor:
    """`a` rounded, as `around`.

    >>> tnp.round(2.5)
    <tf.Tensor: shape=(), dtype=float64, numpy=2.0>
    """
    return around(a, decimals)


# -- complex numbers -------------------------------------------------------------------


@dispatchable
def real(val: Any) -> Tensor:
    """The real part.

    >>> tnp.real([1 + 2j])
    <tf.Tensor: shape=(1,), dtype=float64, numpy=array([1.])>
    """
    return casting.real(as_tensor(val))


@dispatchable
def imag(val: Any) -> Tensor:
    """The imaginary part; 0 for real numbers, in their type.

    >>> tnp.imag([1 + 2j])
    <tf.Tensor: shape=(1,), dtype=float64, numpy=array([2.])>
    """
    x = as_tensor(val)
    return casting.imag(x) if x.dtype.is_complex else raw.ZerosLike(x)


@dispatchable
def conj(x: Any) -> Tensor:
    """The complex conjugate.

    >>> tnp.conj(1 + 2j)
    <tf.Tensor: shape=(), dtype=complex128, numpy=(1-2j)>
    """
    x = as_tensor(x)
    return raw.Conj(x) if x.dtype.is_complex else x


@dispatchable
def conjugate(x: Any) -> Tensor:
    """The complex conjugate, as `conj`.

    >>> tnp.conjugate([1 + 2j])
    <tf.Tensor: shape=(1,), dtype=complex128, numpy=array([1.-2.j])>
    """
    return conj(x)


@dispatchable
def angle(z: Any, deg: bool = False) -> Tensor:
    """The angle of complex numbers in radians, or degrees; 0 or pi for real ones.

    That of integers is float32, as in TensorFlow.

    >>> tnp.angle([1j, -1], deg=True)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([ 90., 180.])>
    """
    x = as_tensor(z)
    if not (x.dtype.is_complex or x.dtype.is_floating):
        x = raw.Cast(x, DstT=dtypes.float32)
    result = casting.angle(x)
    return rad2deg(result) if deg else result


__all__ = ["abs", "absolute", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "around", "cbrt", "ceil", "conj", "conjugate", "cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "fabs", "fix", "floor", "imag", "log", "log10", "log1p", "log2", "negative", "positive", "rad2deg", "real", "reciprocal", "round", "sign", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh"]  # fmt: skip
