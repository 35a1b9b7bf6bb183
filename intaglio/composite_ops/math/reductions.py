"""Reductions over axes.

Follows https://www.tensorflow.org/api_docs/python/tf/math. `axis` is None for all axes, an
integer or a list of integers, negative ones counted from the end; with `keepdims` the axes
stay as dimensions of 1. Raises InvalidArgumentError eagerly, ValueError in a graph, for an
axis that is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype, int32
from intaglio.composite_ops.array.axes import all_axes
from intaglio.composite_ops.math.constants import constant_of
from intaglio.opdef import convert, door, operators, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def _reduce(
    op: Callable[..., Tensor], x: Any, axis: Any, keepdims: Any, name: str | None
) -> Tensor:
    x = convert.to_tensor(x)
    if axis is not None:
        return op(x, axis, keep_dims=bool(keepdims), name=name)
    result = op(x, all_axes(x), keep_dims=bool(keepdims), name=name)
    if result.dims is None and not keepdims:  # over all axes of any rank: a scalar
        result.set_shape(())
    return result


def _truth_values(x: Any) -> Tensor:
    """Truth values; a list or array without elements has no other dtype to keep."""
    return convert.to_tensor(x, dtype_hint=dtypes.bool_)


@dispatchable
def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The sum over the axes, for numbers; 0 for none.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_sum

    >>> print(tf.reduce_sum([[1, 5], [7, 2]], axis=1).numpy())
    [6 9]
    """
    return _reduce(raw.Sum, input_tensor, axis, keepdims, name)


@dispatchable
def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean over the axes, for numbers; of integers, rounded towards zero.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_mean

    >>> print(tf.reduce_mean([[1.0, 5.0], [7.0, 2.0]], axis=0).numpy())
    [4.  3.5]
    """
    return _reduce(raw.Mean, input_tensor, axis, keepdims, name)


@dispatchable
def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The product over the axes, for numbers; 1 for none.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_prod

    >>> print(tf.reduce_prod([[1, 5], [7, 2]], axis=1, keepdims=True).numpy())
    [[ 5]
     [14]]
    """
    return _reduce(raw.Prod, input_tensor, axis, keepdims, name)


@dispatchable
def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The largest element over the axes, for real numbers; NaN if there is one.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_max

    >>> print(tf.reduce_max([[1, 5], [7, 2]], axis=0).numpy())
    [7 5]
    """
    return _reduce(raw.Max, input_tensor, axis, keepdims, name)


@dispatchable
def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The smallest element over the axes, for real numbers; NaN if there is one.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_min

    >>> print(tf.reduce_min([[1, 5], [7, 2]], axis=0).numpy())
    [1 2]
    """
    return _reduce(raw.Min, input_tensor, axis, keepdims, name)


@dispatchable
def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """True where all truth values along the axes are; True for none.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_all

    >>> print(tf.reduce_all([[True, False], [True, True]], axis=1).numpy())
    [False  True]
    """
    return _reduce(raw.All, _truth_values(input_tensor), axis, keepdims, name)


@dispatchable
def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """True where at least one truth value along the axes is; False for none.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_any

    >>> print(tf.reduce_any([[True, False], [False, False]], axis=1).numpy())
    [ True False]
    """
    return _reduce(raw.Any, _truth_values(input_tensor), axis, keepdims, name)


@dispatchable
def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the sum of squares over the axes, for numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_euclidean_norm

    >>> print(tf.math.reduce_euclidean_norm([[3.0, 4.0], [0.0, 2.0]], axis=1).numpy())
    [5. 2.]
    """
    return _reduce(raw.EuclideanNorm, input_tensor, axis, keepdims, name)


@dispatchable
def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """log(sum(exp(x))) over the axes, without overflow, for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_logsumexp

    >>> print(tf.reduce_logsumexp([[0.0, 0.0], [1.0, 2.0]], axis=1).numpy().round(4))
    [0.6931 2.3133]
    """
    with door.level().scoped(name or "ReduceLogSumExp") as scope:
        x = convert.to_tensor(input_tensor)
        largest = reduce_max(x, axis, True)
        shift = raw.StopGradient(raw.SelectV2(raw.IsFinite(largest), largest, constant_of(0, x)))
        total = raw.Log(reduce_sum(raw.Exp(raw.Sub(x, shift)), axis, keepdims))
        if not keepdims:
            shift = raw.Reshape(shift, raw.Shape(total))
        return raw.AddV2(total, shift, name=scope)


@dispatchable
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean square distance from the mean over the axes; real for complex numbers.

    Raises TypeError for integers.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_variance

    >>> print(tf.math.reduce_variance([[1.0, 5.0], [7.0, 3.0]], axis=1).numpy())
    [4. 4.]
    """
    with door.level().scoped(name or "reduce_variance"):
        x = convert.to_tensor(input_tensor)
        mean = reduce_mean(x, axis, True)
        if mean.dtype.is_integer:
            raise TypeError(
                f"Input must be either real or complex. Received integer type {mean.dtype}."
            )
        off = raw.Sub(x, mean, name="sub")
        if off.dtype.is_complex:
            square = raw.Mul(raw.Conj(off), off)
            return reduce_mean(raw.Real(square, Tout=off.dtype.real_dtype), axis, keepdims)
        return reduce_mean(raw.Square(off), axis, keepdims)


@dispatchable
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation over the axes; real for complex numbers.

    Raises TypeError for integers.

    https://www.tensorflow.org/api_docs/python/tf/math/reduce_std

    >>> print(tf.math.reduce_std([[1.0, 5.0], [7.0, 3.0]], axis=1).numpy())
    [2. 2.]
    """
    with door.level().scoped(name or "reduce_std"):
        return raw.Sqrt(reduce_variance(input_tensor, axis, keepdims))


@dispatchable
def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """How many elements along the axes are not 0, "" or False.

    https://www.tensorflow.org/api_docs/python/tf/math/count_nonzero

    >>> print(tf.math.count_nonzero([[0, 1], [2, 3]], axis=0).numpy())
    [1 2]
    """
    with door.level().scoped(name or "count_nonzero"):
        input = convert.to_tensor(input)
        zero = b"" if input.dtype is dtypes.string else constant_of(0, input)
        there = raw.NotEqual(input, zero)
        counted = raw.Cast(there, DstT=dtypes.int64)
        total = reduce_sum(counted, axis, keepdims)
        wanted = as_dtype(dtype)
        return total if wanted is dtypes.int64 else raw.Cast(total, DstT=wanted)


@dispatchable
def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The share of elements that are 0, as a float32 scalar; NaN of nothing.

    https://www.tensorflow.org/api_docs/python/tf/math/zero_fraction

    >>> print(tf.math.zero_fraction([0.0, 1.0, 0.0, 3.0]).numpy())
    0.5
    """
    with door.level().scoped(name or "zero_fraction"):
        value = convert.to_tensor(value)
        size = raw.Size(value, out_type=dtypes.int64)
        zeros = raw.Sub(size, count_nonzero(value))
        return raw.RealDiv(
            raw.Cast(zeros, DstT=dtypes.float32),
            raw.Cast(size, DstT=dtypes.float32),
            name="fraction",
        )


# -- along one axis ------------------------------------------------------------------


@dispatchable
def argmax(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """The index of the largest element along an axis, by default the first.

    Of equal elements the first counts. `output_type` is int16, uint16, int32 or int64.

    https://www.tensorflow.org/api_docs/python/tf/math/argmax

    >>> print(tf.argmax([[1, 5, 3], [7, 2, 4]], axis=1).numpy())
    [1 0]
    """
    axis = 0 if axis is None else axis
    return raw.ArgMax(input, axis, output_type=output_type, name=name)


@dispatchable
def argmin(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """The index of the smallest element along an axis, by default the first.

    Of equal elements the first counts. `output_type` is int32 or int64.

    https://www.tensorflow.org/api_docs/python/tf/math/argmin

    >>> print(tf.argmin([[1, 5, 3], [7, 2, 4]], axis=1).numpy())
    [0 1]
    """
    axis = 0 if axis is None else axis
    return raw.ArgMin(input, axis, output_type=output_type, name=name)


@dispatchable
def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Running sums along an axis; `exclusive` of what comes before, `reverse` from the end.

    https://www.tensorflow.org/api_docs/python/tf/math/cumsum

    >>> print(tf.cumsum([2, 3, 4], exclusive=True).numpy())
    [0 2 5]
    """
    return raw.Cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=name)


@dispatchable
def cumprod(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Running products along an axis; `exclusive` and `reverse` as in `cumsum`.

    https://www.tensorflow.org/api_docs/python/tf/math/cumprod

    >>> print(tf.math.cumprod([2, 3, 4]).numpy())
    [ 2  6 24]
    """
    return raw.Cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=name)


@dispatchable
def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Running log(sum(exp(x))) along an axis; `exclusive` and `reverse` as in `cumsum`.

    https://www.tensorflow.org/api_docs/python/tf/math/cumulative_logsumexp

    >>> print(tf.math.cumulative_logsumexp([0.0, 0.0, 0.0]).numpy().round(4))
    [0.     0.6931 1.0986]
    """
    return raw.CumulativeLogsumexp(x, axis, exclusive=exclusive, reverse=reverse, name=name)


@dispatchable
def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """A scalar: whether no element of x, in row-major order, is below the one before it.

    https://www.tensorflow.org/api_docs/python/tf/math/is_non_decreasing

    >>> print(tf.math.is_non_decreasing([1, 2, 2]).numpy())
    True
    """
    with door.level().scoped(name or "is_non_decreasing"):
        steps = _differences(x)
        return raw.All(raw.GreaterEqual(steps, constant_of(0, steps)), 0)


@dispatchable
def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """A scalar: whether each element of x, in row-major order, is above the one before it.

    https://www.tensorflow.org/api_docs/python/tf/math/is_strictly_increasing

    >>> print(tf.math.is_strictly_increasing([1, 2, 2]).numpy())
    False
    """
    with door.level().scoped(name or "is_strictly_increasing"):
        steps = _differences(x)
        return raw.All(raw.Greater(steps, constant_of(0, steps)), 0)


def _differences(x: Any) -> Tensor:
    flat: Any = raw.Reshape(x, np.asarray([-1], np.int32))
    return raw.Sub(flat[1:], flat[:-1])


@dispatchable
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The means of rows with the same number, in any order; 0 for numbers without rows.

    https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_mean

    >>> print(tf.math.unsorted_segment_mean([1.0, 5.0, 3.0], [1, 0, 1], 2).numpy())
    [5. 2.]
    """
    with door.level().scoped(name or "UnsortedSegmentMean"):
        data, ids = convert.to_tensor(data), convert.to_tensor(segment_ids)
        count = convert.to_tensor(num_segments)
        sizes = _segment_sizes(data, ids, count)
        return operators.truediv(raw.UnsortedSegmentSum(data, ids, count), sizes)


@dispatchable
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sums of rows with the same number, over the square root of how many they are.

    https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_sqrt_n

    >>> print(
    ...     tf.math.unsorted_segment_sqrt_n([1.0, 5.0, 3.0], [1, 0, 1], 2).numpy().round(4)
    ... )
    [5.     2.8284]
    """
    with door.level().scoped(name or "UnsortedSegmentSqrtN"):
        data, ids = convert.to_tensor(data), convert.to_tensor(segment_ids)
        count = convert.to_tensor(num_segments)
        sizes = raw.Sqrt(_segment_sizes(data, ids, count))
        return operators.truediv(raw.UnsortedSegmentSum(data, ids, count), sizes)


def _segment_sizes(data: Any, ids: Any, count: Any) -> Tensor:
    """How many rows each number has, at least 1, in the shape of the result's rows."""
    ones = raw.Fill(raw.Shape(ids), constant_of(1, data))
    sizes = raw.UnsortedSegmentSum(ones, ids, count)
    extra = raw.Sub(raw.Rank(data), raw.Rank(ids))
    column = raw.Fill(raw.ExpandDims(extra, 0), np.asarray(1, np.int32))
    shape = raw.ConcatV2([raw.Reshape(raw.Cast(count, DstT=int32), [1]), column], 0)
    return raw.Maximum(raw.Reshape(sizes, shape), constant_of(1, data))
