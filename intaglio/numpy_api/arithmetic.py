"""Functions of two tensors, element by element, in their common type.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `add`, `true_divide`,
`power`, `gcd`, `bitwise_and` and their kin. The arguments broadcast; where they cannot, that is an
InvalidArgumentError (ValueError in a graph).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.numpy_api.promotion import (
    as_tensor,
    both_inexact,
    default_float,
    elementwise,
    number,
    operand_dtype,
    operands,
    promoted,
)
from intaglio.opdef import operators, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.trace import choices


def add(x1: Any, x2: Any) -> Tensor:
    """x1 + x2; of truth values, whether one is true; strings are joined.

    >>> tnp.add([1, 2], .5)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1.5, 2.5])>
    """
    return elementwise(operators.add, x1, x2, raw.LogicalOr)


def subtract(x1: Any, x2: Any) -> Tensor:
    """x1 - x2, for numbers.

    >>> tnp.subtract([3, 2], 1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([2, 1])>
    """
    return elementwise(raw.Sub, x1, x2)


def multiply(x1: Any, x2: Any) -> Tensor:
    """x1 * x2; of truth values, whether both are true.

    >>> tnp.multiply([1, 2], [3, 4])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([3, 8])>
    """
    return elementwise(raw.Mul, x1, x2, raw.LogicalAnd)


def true_divide(x1: Any, x2: Any) -> Tensor:
    """x1 / x2 in floating point: int8, uint8, int16, uint16 in float32, other integers in float64.

    >>> tnp.true_divide(1, 2)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.5>
    """
    a, b = operands(x1, x2)
    if a.dtype is dtypes.bool_:
        a, b = (raw.Cast(x, DstT=default_float()) for x in (a, b))
    return operators.truediv(a, b)


def divide(x1: Any, x2: Any) -> Tensor:
    """x1 / x2, as `true_divide`.

    >>> tnp.divide([1., 3.], 2)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0.5, 1.5])>
    """
    return true_divide(x1, x2)


def _as_integers(x1: Any, x2: Any) -> list[Tensor]:
    """Both in their common type; truth values as int8."""
    a, b = operands(x1, x2)
    if a.dtype is not dtypes.bool_:
        return [a, b]
    return [raw.Cast(x, DstT=dtypes.int8) for x in (a, b)]


def floor_divide(x1: Any, x2: Any) -> Tensor:
    """x1 / x2 rounded down. InvalidArgumentError for integers divided by 0.

    >>> tnp.floor_divide(-7, 2)
    <tf.Tensor: shape=(), dtype=int64, numpy=-4>
    """
    return raw.FloorDiv(*_as_integers(x1, x2))


def mod(x1: Any, x2: Any) -> Tensor:
    """The remainder of `floor_divide`, with the sign of x2.

    >>> tnp.mod(-7, 3)
    <tf.Tensor: shape=(), dtype=int64, numpy=2>
    """
    return raw.FloorMod(*_as_integers(x1, x2))


def remainder(x1: Any, x2: Any) -> Tensor:
    """The remainder of `floor_divide`, as `mod`.

    >>> tnp.remainder(7.5, 2)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.5>
    """
    return mod(x1, x2)


def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """`floor_divide` and `mod` of both.

    >>> tnp.divmod(7, 2)
    (<tf.Tensor: shape=(), dtype=int64, numpy=3>, <tf.Tensor: shape=(), dtype=int64, numpy=1>)
    """
    return floor_divide(x1, x2), mod(x1, x2)


def power(x1: Any, x2: Any) -> Tensor:
    """x1 to the power of x2. InvalidArgumentError for negative powers of integers.

    >>> tnp.power(2, [1, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([2, 4, 8])>
    """
    return elementwise(raw.Pow, x1, x2)


def float_power(x1: Any, x2: Any) -> Tensor:
    """x1 to the power of x2 in their common type, which does not become float64.

    >>> tnp.float_power(2., 3)
    <tf.Tensor: shape=(), dtype=float64, numpy=8.0>
    """
    return power(x1, x2)


def maximum(x1: Any, x2: Any) -> Tensor:
    """The larger of both; NaN if one is.

    >>> tnp.maximum([1, 5], 3)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([3, 5])>
    """
    return elementwise(raw.Maximum, x1, x2, raw.LogicalOr)


def minimum(x1: Any, x2: Any) -> Tensor:
    """The smaller of both; NaN if one is.

    >>> tnp.minimum([1, 5], 3)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 3])>
    """
    return elementwise(raw.Minimum, x1, x2, raw.LogicalAnd)


def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """The values limited to `a_min` from below and `a_max` from above; one may be None.

    Raises ValueError if both are.

    >>> tnp.clip([1, 5, 9], 2, 6)
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([2, 5, 6])>
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_max is None:
        return raw.Maximum(*promoted(a, a_min))
    if a_min is None:
        return raw.Minimum(*promoted(a, a_max))
    x, low, high = promoted(a, a_min, a_max)
    return raw.Minimum(raw.Maximum(x, low), high)


def heaviside(x1: Any, x2: Any) -> Tensor:
    """0 where x1 is negative, 1 where it is positive, x2 where it is 0; inexact.

    >>> tnp.heaviside([-2, 0, 3], .5)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([0. , 0.5, 1. ])>
    """
    x, at_zero = both_inexact(x1, x2)
    zero = number(0, x)
    other = raw.SelectV2(raw.Less(x, zero), zero, number(1, x))
    step = raw.SelectV2(raw.Equal(x, zero), at_zero, other)
    return raw.SelectV2(raw.IsNan(x), x, step)


@dispatchable
def hypot(x1: Any, x2: Any) -> Tensor:
    """The square root of x1² + x2².

    >>> tnp.hypot(3, 4)
    <tf.Tensor: shape=(), dtype=float64, numpy=5.0>
    """
    a, b = both_inexact(x1, x2)
    return raw.Sqrt(raw.AddV2(raw.Square(a), raw.Square(b)))


def arctan2(x1: Any, x2: Any) -> Tensor:
    """The angle of the point (x2, x1), for floating-point numbers.

    >>> tnp.arctan2(1., 1)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.7853981633974483>
    """
    return elementwise(raw.Atan2, x1, x2)


def nextafter(x1: Any, x2: Any) -> Tensor:
    """The number next to x1 in the direction of x2, for float32 and float64.

    >>> tnp.nextafter(1., 2)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0000000000000002>
    """
    return elementwise(raw.NextAfter, x1, x2)


def logaddexp(x1: Any, x2: Any) -> Tensor:
    """log(exp(x1) + exp(x2)), without overflow.

    >>> tnp.logaddexp(1000., 1000.)
    <tf.Tensor: shape=(), dtype=float64, numpy=1000.6931471805599>
    """
    a, b = both_inexact(x1, x2)
    # Equal ones apart: infinities have no difference, and both have half of the gradient.
    tie = raw.Equal(a, b)
    away = raw.SelectV2(tie, number(0, a), raw.Sub(a, b))
    rest = raw.Log1p(raw.Exp(raw.Neg(raw.Abs(away))))
    half = number(0.5, a)
    middle = raw.AddV2(raw.Mul(a, half), raw.Mul(b, half))
    return raw.AddV2(raw.SelectV2(tie, middle, raw.Maximum(a, b)), rest)


def logaddexp2(x1: Any, x2: Any) -> Tensor:
    """log2(2**x1 + 2**x2), without overflow.

    >>> tnp.logaddexp2(3., 3.)
    <tf.Tensor: shape=(), dtype=float64, numpy=4.0>
    """
    a, b = both_inexact(x1, x2)
    two = number(np.log(2), a)
    return raw.RealDiv(logaddexp(raw.Mul(a, two), raw.Mul(b, two)), two)


def gcd(x1: Any, x2: Any) -> Tensor:
    """The greatest common divisor of integers. Raises ValueError for other types.

    >>> tnp.gcd([12, -20], 8)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([4, 4])>
    """
    dtype = operand_dtype(x1, x2)
    if not dtype.is_integer:
        raise ValueError("Arguments to gcd must be integers.")
    a, b = as_tensor(x1, dtype), as_tensor(x2, dtype)
    if not dtype.is_unsigned:
        a, b = raw.Abs(a), raw.Abs(b)
    zero, one = number(0, a), number(1, a)
    a, b = raw.AddV2(a, raw.ZerosLike(b)), raw.AddV2(b, raw.ZerosLike(a))

    def unfinished(a: Tensor, b: Tensor) -> Tensor:
        return raw.Any(raw.Reshape(raw.NotEqual(b, zero), [-1]), np.array([0], np.int32))

    def step(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        done = raw.Equal(b, zero)
        rest = raw.FloorMod(a, raw.SelectV2(done, one, b))
        return raw.SelectV2(done, a, b), raw.SelectV2(done, zero, rest)

    found, _ = choices.while_loop(unfinished, step, (a, b))
    return found


def lcm(x1: Any, x2: Any) -> Tensor:
    """The least common multiple of integers; 0 with 0. Raises ValueError for other types.

    >>> tnp.lcm(4, [6, 0])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([12,  0])>
    """
    divisor = gcd(x1, x2)
    dtype = divisor.dtype
    a, b = as_tensor(x1, dtype), as_tensor(x2, dtype)
    none = raw.Equal(divisor, number(0, divisor))
    safe = raw.SelectV2(none, number(1, divisor), divisor)
    result = raw.Mul(raw.FloorDiv(a, safe), b)
    return result if dtype.is_unsigned else raw.Abs(result)


def bitwise_and(x1: Any, x2: Any) -> Tensor:
    """The bits that both integers have; of truth values, whether both are true.

    >>> tnp.bitwise_and(12, 10)
    <tf.Tensor: shape=(), dtype=int64, numpy=8>
    """
    return elementwise(raw.BitwiseAnd, x1, x2, raw.LogicalAnd)


def bitwise_or(x1: Any, x2: Any) -> Tensor:
    """The bits that one of the integers has; of truth values, whether one is true.

    >>> tnp.bitwise_or(12, 10)
    <tf.Tensor: shape=(), dtype=int64, numpy=14>
    """
    return elementwise(raw.BitwiseOr, x1, x2, raw.LogicalOr)


def bitwise_xor(x1: Any, x2: Any) -> Tensor:
    """The bits that only one of the integers has; of truth values, whether they differ.

    >>> tnp.bitwise_xor(12, 10)
    <tf.Tensor: shape=(), dtype=int64, numpy=6>
    """
    return elementwise(raw.BitwiseXor, x1, x2, raw.NotEqual)


@dispatchable
def bitwise_not(x: Any) -> Tensor:
    """The integers with every bit inverted; of truth values, the opposites.

    >>> tnp.bitwise_not(1)
    <tf.Tensor: shape=(), dtype=int64, numpy=-2>
    """
    x = as_tensor(x)
    return raw.LogicalNot(x) if x.dtype is dtypes.bool_ else raw.Invert(x)


def polyval(p: Any, x: Any) -> Tensor:
    """The polynomial with the coefficients `p`, that of the highest power first, at `x`.

    >>> tnp.polyval([1, 2, 3], 2)
    <tf.Tensor: shape=(), dtype=int64, numpy=11>
    """
    dtype = operand_dtype(p, x)
    if isinstance(p, (list, tuple)) and not p:
        dtype = as_tensor(x).dtype
    coefficients, at = as_tensor(p, dtype), as_tensor(x, dtype)
    if coefficients.dims == ():
        return raw.AddV2(coefficients, raw.ZerosLike(at))
    if coefficients.dims is not None and coefficients.dims[0] is not None:
        value = raw.ZerosLike(at)
        for c in raw.Unpack(coefficients, num=coefficients.dims[0]):
            value = raw.AddV2(raw.Mul(value, at), c)
        return value
    # The number of coefficients is not static: all powers at once.
    count = raw.Size(coefficients)
    powers = raw.Cast(raw.Range(raw.Sub(count, 1), -1, -1), DstT=dtype)
    terms = raw.Mul(raw.Pow(raw.ExpandDims(at, -1), powers), coefficients)
    return raw.Sum(terms, -1)


__all__ = [
    "add", "arctan2", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "clip", "divide",
    "divmod", "float_power", "floor_divide", "gcd", "heaviside", "hypot", "lcm",
    "logaddexp", "logaddexp2", "maximum", "minimum", "mod", "multiply", "nextafter",
    "polyval", "power", "remainder", "subtract", "true_divide",
]  # fmt: skip
