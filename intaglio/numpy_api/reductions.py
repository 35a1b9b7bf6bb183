"""Sums, means, extremes and other functions that take axes away, and running sums.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `sum`, `mean`, `var`,
`argmax`, `cumsum` and their kin. `axis` is one, a tuple of several, or None for all; with
`keepdims` they stay with length 1. Sums and products of integers are int64 (uint64).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.composite_ops.array.axes import all_axes
from intaglio.numpy_api.functions import imag, real
from intaglio.numpy_api.logic import isnan
from intaglio.numpy_api.promotion import (
    as_tensor,
    common_dtype,
    default_float,
    default_integer,
    dtype_of,
    inexact,
    number,
    truth,
)
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.promotion import lattice


def _over(op: Callable[..., Tensor], x: Tensor, axis: Any, keepdims: Any = False) -> Tensor:
    """`op` over the axes."""
    if axis is not None:
        if not isinstance(axis, Tensor):
            axis = convert.to_tensor(axis, dtypes.int32)
        return op(x, axis, keep_dims=bool(keepdims))
    result = op(x, all_axes(x), keep_dims=bool(keepdims))
    if result.dims is None and not keepdims:  # over all axes of any rank: a scalar
        result.set_shape(())
    return result


def _widened(a: Any, dtype: Any, truths: bool = True) -> Tensor:
    """`a` in `dtype`, or in what sums are computed in: no integers less than the default's."""
    if dtype is not None:
        return as_tensor(a, dtype_of(dtype))
    x = as_tensor(a)
    if x.dtype.is_integer:
        wide = default_integer(x.dtype.is_unsigned)
    elif x.dtype is dtypes.bool_ and truths:
        wide = default_integer()
    else:
        return x
    if x.dtype.size >= wide.size:
        return x
    return raw.Cast(x, DstT=wide)


def _no_output(out: Any) -> None:
    if out is not None:
        raise ValueError("Setting out is not supported.")


@dispatchable
def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """The sum.

    >>> tnp.sum([[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([4, 6])>
    """
    return _over(raw.Sum, _widened(a, dtype), axis, keepdims)


@dispatchable
def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """The product.

    >>> tnp.prod([1, 2, 3])
    <tf.Tensor: shape=(), dtype=int64, numpy=6>
    """
    return _over(raw.Prod, _widened(a, dtype), axis, keepdims)


@dispatchable
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None
) -> Tensor:
    """The mean; of integers, in float64. Raises ValueError for `out`.

    >>> tnp.mean([1, 2])
    <tf.Tensor: shape=(), dtype=float64, numpy=1.5>
    """
    _no_output(out)
    return _over(raw.Mean, _of_means(a, dtype), axis, keepdims)


def _of_means(a: Any, dtype: Any) -> Tensor:
    """`a` in `dtype`, or in what means are computed in: numbers that are not integers."""
    if dtype is not None:
        return as_tensor(a, dtype_of(dtype))
    x = as_tensor(a)
    if x.dtype.is_floating or x.dtype.is_complex:
        return x
    return raw.Cast(x, DstT=default_float())


@dispatchable
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = None,
) -> Tensor:
    """The mean square distance from the mean, over the number of elements less `ddof`.

    Real for complex numbers. Raises ValueError for `out`, TypeError for a `dtype` of integers.

    >>> tnp.var([1, 2, 4], ddof=1)
    <tf.Tensor: shape=(), dtype=float64, numpy=2.333333333333333>
    """
    _no_output(out)
    wanted = None if dtype is None else dtype_of(dtype)
    if wanted is not None and not (wanted.is_floating or wanted.is_complex):
        raise TypeError(f"Input must be either real or complex. Received integer type {wanted!r}.")
    dtype_examples: list[Any] = [] if wanted is None else [np.zeros((), wanted.numpy)]
    x = as_tensor(a)
    widens = dtype_examples and not lattice.is_on()
    x = _of_means(x, common_dtype(x, *dtype_examples) if widens else wanted)
    off = raw.Sub(x, _over(raw.Mean, x, axis, True))
    if off.dtype.is_complex:
        squares = raw.AddV2(raw.Square(real(off)), raw.Square(imag(off)))
    else:
        squares = raw.Square(off)
    if isinstance(ddof, (int, float)) and ddof == 0:
        result = _over(raw.Mean, squares, axis, keepdims)
    else:
        total = _over(raw.Sum, squares, axis, keepdims)
        count = _over(raw.Sum, raw.OnesLike(squares), axis, keepdims)
        rest = raw.Sub(count, as_tensor(ddof, count.dtype))
        result = raw.RealDiv(total, raw.Maximum(rest, number(0, rest)))
    if wanted is None or result.dtype is wanted:
        return result
    return raw.Cast(result, DstT=wanted)


@dispatchable
def std(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The standard deviation: the square root of the variance.

    >>> tnp.std([1, 3])
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    return raw.Sqrt(var(a, axis, keepdims=keepdims))


# -- extremes --------------------------------------------------------------------------


def _extreme(
    op: Callable[..., Tensor], of_truth: Callable[..., Tensor], a: Any, axis: Any, keep: Any
) -> Tensor:
    x = as_tensor(a)
    return _over(of_truth if x.dtype is dtypes.bool_ else op, x, axis, keep)


@dispatchable
def max(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The largest element.

    >>> tnp.max([[1, 5], [7, 2]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([5, 7])>
    """
    return _extreme(raw.Max, raw.Any, a, axis, keepdims)


@dispatchable
def min(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The smallest element.

    >>> tnp.min([[1, 5], [7, 2]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
    """
    return _extreme(raw.Min, raw.All, a, axis, keepdims)


@dispatchable
def amax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
    """The largest element, as `max`. Raises ValueError for `out`.

    >>> tnp.amax([1, 5])
    <tf.Tensor: shape=(), dtype=int64, numpy=5>
    """
    _no_output(out)
    return max(a, axis, keepdims)


@dispatchable
def amin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
    """The smallest element, as `min`. Raises ValueError for `out`.

    >>> tnp.amin([1, 5])
    <tf.Tensor: shape=(), dtype=int64, numpy=1>
    """
    _no_output(out)
    return min(a, axis, keepdims)


@dispatchable
def ptp(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The largest element less the smallest.

    >>> tnp.ptp([1, 5])
    <tf.Tensor: shape=(), dtype=int64, numpy=4>
    """
    x = as_tensor(a)
    return raw.Sub(max(x, axis, keepdims), min(x, axis, keepdims))


def _index_of(op: Callable[..., Tensor], a: Any, axis: Any) -> Tensor:
    x = as_tensor(a)
    if axis is None or x.dims == ():
        x, axis = raw.Reshape(x, [-1]), 0
    return op(x, axis)


def argmax(a: Any, axis: Any = None) -> Tensor:
    """The position of the largest element, the first of several: int64, in the flattened `a`.

    >>> tnp.argmax([[1, 5], [7, 2]])
    <tf.Tensor: shape=(), dtype=int64, numpy=2>
    """
    return _index_of(raw.ArgMax, a, axis)


def argmin(a: Any, axis: Any = None) -> Tensor:
    """The position of the smallest element, the first of several: int64, in the flattened `a`.

    >>> tnp.argmin([[1, 5], [7, 2]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([0, 1])>
    """
    return _index_of(raw.ArgMin, a, axis)


# -- truth -----------------------------------------------------------------------------


def all(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether all elements are true, or not 0.

    >>> tnp.all([[1, 0], [2, 3]], axis=1)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([False,  True])>
    """
    return _over(raw.All, truth(a), axis, keepdims)


def any(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether one element is true, or not 0.

    >>> tnp.any([[1, 0], [0, 0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    return _over(raw.Any, truth(a), axis, keepdims)


def count_nonzero(a: Any, axis: Any = None) -> Tensor:
    """How many elements are not 0, as int64.

    >>> tnp.count_nonzero([1, 0, 2])
    <tf.Tensor: shape=(), dtype=int64, numpy=2>
    """
    there = raw.Cast(truth(a), DstT=dtypes.int64)
    return _over(raw.Sum, there, axis)


# -- running ---------------------------------------------------------------------------


def _running(op: Callable[..., Tensor], a: Any, axis: Any, dtype: Any) -> Tensor:
    x = _widened(a, dtype, truths=False)
    if axis is None:
        x, axis = raw.Reshape(x, [-1]), 0
    return op(x, axis)


@dispatchable
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """The sums of all elements up to each, along the axis or of the flattened `a`.

    >>> tnp.cumsum([1, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 3, 6])>
    """
    return _running(raw.Cumsum, a, axis, dtype)


@dispatchable
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """The products of all elements up to each, along the axis or of the flattened `a`.

    >>> tnp.cumprod([1, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 2, 6])>
    """
    return _running(raw.Cumprod, a, axis, dtype)


@dispatchable
def diff(a: Any, n: Any = 1, axis: Any = -1) -> Tensor:
    """The differences of neighbours along the axis, n times; of truth values, whether they differ.

    Raises ValueError if n is negative or the axis not there.

    >>> tnp.diff([1, 3, 6])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([2, 3])>
    """
    x = as_tensor(a)
    if n < 0:
        raise ValueError(f"Argument `order` must be a non-negative integer. Received: axis={n}")
    rank = None if x.dims is None else len(x.dims)
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(
            f"Argument `axis` (received axis={axis}) is out of bounds for input {a} of rank {rank}."
        )
    if rank is None and axis < 0 and axis != -1:
        raise ValueError(
            f"`axis` may only be -1 or positive if the rank of the tensor is unknown, not {axis}"
        )
    operate = raw.NotEqual if x.dtype is dtypes.bool_ else raw.Sub
    at = axis if rank is None else axis % rank
    for _ in range(n):
        later, earlier = _part(x, at, 1, None), _part(x, at, None, -1)
        x = operate(later, earlier)
    return x


def _part(x: Tensor, at: int, start: int | None, stop: int | None) -> Tensor:
    """The slice `start:stop` of an axis."""
    if at == -1:
        return x[..., start:stop]
    return x[(slice(None),) * at + (slice(start, stop),)]


# -- without NaN -----------------------------------------------------------------------


def _without(x: Tensor, instead: float) -> Tensor:
    """The numbers with something instead of NaN."""
    return raw.SelectV2(isnan(x), number(instead, x), x)


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """The sum of what is not NaN.

    >>> tnp.nansum([1, np.nan])
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    return sum(_numbers(a, 0), axis, dtype, keepdims)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """The product of what is not NaN.

    >>> tnp.nanprod([2, np.nan])
    <tf.Tensor: shape=(), dtype=float64, numpy=2.0>
    """
    return prod(_numbers(a, 1), axis, dtype, keepdims)


def _numbers(a: Any, instead: float) -> Tensor:
    x = as_tensor(a)
    return _without(x, instead) if x.dtype.is_floating or x.dtype.is_complex else x


@dispatchable
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """The mean of what is not NaN; NaN where there is none.

    >>> tnp.nanmean([1, np.nan, 2])
    <tf.Tensor: shape=(), dtype=float64, numpy=1.5>
    """
    x = as_tensor(a)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return mean(x, axis, dtype, keepdims=keepdims)
    there = raw.LogicalNot(isnan(x))
    wanted = x.dtype if dtype is None else dtype_of(dtype)
    total = sum(_without(x, 0), axis, wanted, keepdims)
    return raw.Div(total, sum(there, axis, wanted, keepdims))


@dispatchable
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """The mean weighted by `weights`, which have the shape of `a` or, for one axis, are a vector.

    With `returned` the sums of the weights come too. Raises ValueError if `axis` is no integer
    or the shapes do not fit.

    >>> tnp.average([1, 2, 4], weights=[1, 1, 2])
    <tf.Tensor: shape=(), dtype=float64, numpy=2.75>
    """
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise ValueError(
            f"Argument `axis` must be an integer. Received axis={axis} (of type {type(axis)})"
        )
    if weights is None:
        x = inexact(a)
        w = raw.OnesLike(x)
    else:
        if lattice.is_on():  # as TensorFlow has it: in the types that they have alone
            a, weights = as_tensor(a), as_tensor(weights)
        dtype = common_dtype(a, weights)
        x = inexact(as_tensor(a, dtype))
        w = _fitting(as_tensor(weights, x.dtype), x, axis)
    total = _over(raw.Sum, w, axis)
    result = raw.Div(_over(raw.Sum, raw.Mul(x, w), axis), total)
    return (result, total) if returned else result


def _fitting(weights: Tensor, x: Tensor, axis: Any) -> Tensor:
    """Weights in the shape of `x`; a vector is laid along the axis."""
    if axis is not None and x.dims is not None and weights.dims is not None:
        rank = len(x.dims)
        if len(weights.dims) == 1 and rank > 1:
            shape = [1] * rank
            shape[axis] = -1
            return raw.BroadcastTo(raw.Reshape(weights, shape), raw.Shape(x))
    if not x.shape.is_compatible_with(weights.shape):
        raise ValueError(
            f"Weights of shape {weights.shape} do not fit values of shape {x.shape}: "
            "give both one shape, or a vector of weights and its axis"
        )
    return weights


__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod",
    "cumsum", "diff", "max", "mean", "min", "nanmean", "nanprod", "nansum", "prod", "ptp",
    "std", "sum", "var",
]  # fmt: skip
