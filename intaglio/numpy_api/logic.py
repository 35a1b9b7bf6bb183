"""Comparisons, truth values, and questions about numbers.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `equal`, `logical_and`,
`isclose`, `isnan` and their kin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import dtypes
from intaglio.composite_ops.array.axes import all_axes
from intaglio.composite_ops.math import casting
from intaglio.numpy_api.promotion import (
    as_tensor,
    both_inexact,
    elementwise,
    inexact,
    number,
    promoted,
    truth,
)
from intaglio.opdef import operators, raw
from intaglio.opdef.tensor import Tensor


def equal(x1: Any, x2: Any) -> Tensor:
    """Whether both are equal.

    >>> tnp.equal([1, 2], 1.)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    return elementwise(raw.Equal, x1, x2)


def not_equal(x1: Any, x2: Any) -> Tensor:
    """Whether both differ.

    >>> tnp.not_equal([1, 2], 1.)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return elementwise(raw.NotEqual, x1, x2)


def _ordered(compare: Callable[..., Tensor], x1: Any, x2: Any) -> Tensor:
    a, b = promoted(x1, x2)
    if a.dtype is dtypes.bool_:
        a, b = (raw.Cast(x, DstT=dtypes.int32) for x in (a, b))
    return compare(a, b)


def greater(x1: Any, x2: Any) -> Tensor:
    """Whether x1 > x2, for real numbers.

    >>> tnp.greater([1, 2], 1.5)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return _ordered(raw.Greater, x1, x2)


def greater_equal(x1: Any, x2: Any) -> Tensor:
    """Whether x1 >= x2, for real numbers.

    >>> tnp.greater_equal([1, 2], 2)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return _ordered(raw.GreaterEqual, x1, x2)


def less(x1: Any, x2: Any) -> Tensor:
    """Whether x1 < x2, for real numbers.

    >>> tnp.less([1, 2], 1.5)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    return _ordered(raw.Less, x1, x2)


def less_equal(x1: Any, x2: Any) -> Tensor:
    """Whether x1 <= x2, for real numbers.

    >>> tnp.less_equal([1, 2], 1)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    return _ordered(raw.LessEqual, x1, x2)


def logical_and(x1: Any, x2: Any) -> Tensor:
    """Whether both are true, or numbers other than 0.

    >>> tnp.logical_and([1, 0], True)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    return raw.LogicalAnd(truth(x1), truth(x2))


def logical_or(x1: Any, x2: Any) -> Tensor:
    """Whether one is true, or a number other than 0.

    >>> tnp.logical_or([1, 0], False)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    return raw.LogicalOr(truth(x1), truth(x2))


def logical_xor(x1: Any, x2: Any) -> Tensor:
    """Whether exactly one is true, or a number other than 0.

    >>> tnp.logical_xor([1, 0], True)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return operators.logical_xor(truth(x1), truth(x2))


def logical_not(x: Any) -> Tensor:
    """Whether x is false, or 0.

    >>> tnp.logical_not([1, 0])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return raw.LogicalNot(truth(x))


# -- about equal -----------------------------------------------------------------------


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether |a - b| <= atol + rtol * |b|, element by element; equal infinities are close.

    NaNs are close to each other with `equal_nan`.

    >>> tnp.isclose([1., 2.], [1.000001, 2.1])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    x, y = both_inexact(a, b)
    off = operators.absolute(raw.Sub(x, y))
    size = operators.absolute(y)
    bound = raw.AddV2(number(atol, off), raw.Mul(number(rtol, off), size))
    near = raw.LogicalAnd(raw.LessEqual(off, bound), _finite(y))
    near = raw.LogicalOr(near, raw.Equal(x, y))
    if equal_nan:
        near = raw.LogicalOr(near, raw.LogicalAnd(_nan(x), _nan(y)))
    return near


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether all elements are close, by `isclose`.

    >>> tnp.allclose([1., 2.], [1., 2.])
    <tf.Tensor: shape=(), dtype=bool, numpy=True>
    """
    return _all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any) -> Tensor:
    """Whether both have one shape and equal elements.

    >>> tnp.array_equal([1, 2], [1., 2.])
    <tf.Tensor: shape=(), dtype=bool, numpy=True>
    """
    x, y = promoted(a1, a2)
    alike = raw.LogicalAnd(
        raw.Equal(raw.Rank(x), raw.Rank(y)),
        _all(raw.Equal(raw.Shape(x), raw.Shape(y), incompatible_shape_error=False)),
    )
    same = _all(raw.Equal(x, y, incompatible_shape_error=False))
    return raw.LogicalAnd(alike, same)


def _all(x: Tensor) -> Tensor:
    return raw.All(x, all_axes(x))


# -- predicates of numbers -----------------------------------------------------------


def _of_parts(predicate: Callable[..., Tensor], join: Callable[..., Tensor], x: Tensor) -> Tensor:
    """The answer for a real number, or that of both parts of a complex one."""
    if not x.dtype.is_complex:
        return predicate(x)
    return join(predicate(casting.real(x)), predicate(casting.imag(x)))


def _finite(x: Tensor) -> Tensor:
    return _of_parts(raw.IsFinite, raw.LogicalAnd, x)


def _nan(x: Tensor) -> Tensor:
    return _of_parts(raw.IsNan, raw.LogicalOr, x)


def isfinite(x: Any) -> Tensor:
    """Whether x is neither infinite nor NaN.

    >>> tnp.isfinite([1, np.inf])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    return _finite(inexact(x))


def isinf(x: Any) -> Tensor:
    """Whether x is infinite.

    >>> tnp.isinf([1, np.inf])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return _of_parts(raw.IsInf, raw.LogicalOr, inexact(x))


def isnan(x: Any) -> Tensor:
    """Whether x is NaN.

    >>> tnp.isnan([1, np.nan])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return _nan(inexact(x))


def isposinf(x: Any) -> Tensor:
    """Whether x is infinite and positive; of complex numbers none is.

    >>> tnp.isposinf([np.inf, -np.inf])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    x = inexact(x)
    if x.dtype.is_complex:
        return raw.ZerosLike(raw.Equal(x, x))
    return raw.Equal(x, number(float("inf"), x))


def isneginf(x: Any) -> Tensor:
    """Whether x is infinite and negative; of complex numbers none is.

    >>> tnp.isneginf([np.inf, -np.inf])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    x = inexact(x)
    if x.dtype.is_complex:
        return raw.ZerosLike(raw.Equal(x, x))
    return raw.Equal(x, number(float("-inf"), x))


def isreal(x: Any) -> Tensor:
    """Whether the imaginary part is 0.

    >>> tnp.isreal([1, 1j])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    x = as_tensor(x)
    if not x.dtype.is_complex:
        return raw.OnesLike(raw.Equal(x, x))
    part = casting.imag(x)
    return raw.Equal(part, number(0, part))


def iscomplex(x: Any) -> Tensor:
    """Whether the imaginary part is not 0.

    >>> tnp.iscomplex([1, 1j])
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return raw.LogicalNot(isreal(x))


def isrealobj(x: Any) -> bool:
    """Whether the type of x is not a complex one.

    >>> tnp.isrealobj([1, 1j])
    False
    """
    return not iscomplexobj(x)


def iscomplexobj(x: Any) -> bool:
    """Whether the type of x is a complex one.

    >>> tnp.iscomplexobj([1, 1j])
    True
    """
    return as_tensor(x).dtype.is_complex


def isscalar(num: Any) -> Any:
    """Whether `num` is a single value: a number, or a tensor of rank 0.

    >>> tnp.isscalar(1), tnp.isscalar([1])
    (True, False)
    """
    dims = as_tensor(num).dims
    if dims is None:
        return raw.Equal(raw.Rank(as_tensor(num)), 0)
    return not dims


__all__ = [
    "allclose", "array_equal", "equal", "greater", "greater_equal", "isclose", "iscomplex",
    "iscomplexobj", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal",
    "isrealobj", "isscalar", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "not_equal",
]  # fmt: skip
