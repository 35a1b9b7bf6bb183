"""Counting values: bincount, histograms, confusion matrices.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype
from intaglio.composite_ops.math.constants import constant_of
from intaglio.composite_ops.math.reductions import reduce_max
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each non-negative integer occurs, or the sum of its weights.

    Over all of `arr`, or with `axis=-1` in each row of a matrix. The result is as long as
    the largest integer needs, at least `minlength`, at most `maxlength`; its dtype is that
    of the weights, else `dtype`. With `binary_output`, 1 for each integer that occurs.
    Raises InvalidArgumentError for negative integers and for integers of other dtypes than
    int32 and int64, ValueError for another axis and for `binary_output` with weights.

    https://www.tensorflow.org/api_docs/python/tf/math/bincount

    >>> print(tf.math.bincount([1, 1, 3]).numpy())
    [0 2 0 1]
    """
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    check_weights(weights, binary_output)
    with door.level().scoped(name or "bincount"):
        arr = counted_integers(convert.to_tensor(arr))
        if weights is None:
            weights = np.zeros(0, as_dtype(dtype or dtypes.int32).numpy)
        weights = convert.to_tensor(weights)
        size = length_of_counts(arr, minlength, maxlength)
        if axis in (None, 0):
            flat = np.asarray([-1], np.int32)
            if weights.dims != (0,):
                weights = raw.Reshape(weights, flat)
            arr = raw.Reshape(arr, flat)
        return raw.DenseBincount(arr, size, weights, binary_output=binary_output)


def counted_integers(values: Tensor) -> Tensor:
    """The values to count: integers as they are, of which the ops reject all but int32 and int64, others
    as int32."""
    return values if values.dtype.is_integer else raw.Cast(values, DstT=dtypes.int32)


def check_weights(weights: Any, binary_output: bool) -> None:
    """Raises ValueError for weights of what is only whether integers occur."""
    if weights is not None and binary_output:
        raise ValueError("`binary_output` leaves no use for `weights`: give one of them only.")


def length_of_counts(arr: Tensor, minlength: Any, maxlength: Any) -> Tensor:
    """One more than the largest integer, within the limits."""
    bounds = (minlength, maxlength)
    if all(isinstance(n, (int, np.integer)) for n in bounds) and minlength >= maxlength:
        # Whatever the largest integer is: the shape of the result is known.
        return _integer(maxlength, arr)
    one = constant_of(1, arr)
    some = raw.Greater(raw.Size(arr), np.asarray(0, np.int32))
    needed = raw.AddV2(reduce_max(arr), one, name="add")
    size = raw.Mul(raw.Cast(some, DstT=arr.dtype), needed, name="mul")
    if minlength is not None:
        size = raw.Maximum(_integer(minlength, arr), size)
    if maxlength is not None:
        size = raw.Minimum(_integer(maxlength, arr), size)
    return size


def _integer(value: Any, like: Tensor) -> Tensor:
    value = convert.to_tensor(value)
    return value if value.dtype is like.dtype else raw.Cast(value, DstT=like.dtype)


@dispatchable
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How often each label (a row) was predicted as each class (a column).

    Labels and predictions are vectors of one length; without `num_classes` the largest
    number decides. Raises InvalidArgumentError for negative numbers or too large ones.

    `weights` has a weight for each prediction, 1 by default.

    https://www.tensorflow.org/api_docs/python/tf/math/confusion_matrix

    >>> print(tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy())
    [[1 0]
     [1 1]]
    """
    wanted = as_dtype(dtype or dtypes.int64)
    with door.level().scoped(name or "confusion_matrix"):
        labels = _flat(raw.Cast(labels, DstT=dtypes.int64))
        predictions = _flat(raw.Cast(predictions, DstT=dtypes.int64))
        if num_classes is None:
            largest = raw.Maximum(reduce_max(predictions), reduce_max(labels))
            count: Any = raw.AddV2(largest, np.asarray(1, np.int64))
        else:
            count = _integer(num_classes, labels)
        pairs = raw.Pack([labels, predictions], axis=1)
        shape = raw.Pack([count, count], axis=0)
        if weights is None:
            values: Any = raw.Fill(raw.Shape(predictions), np.ones((), wanted.numpy))
        else:
            values = raw.Cast(weights, DstT=wanted)
        return raw.ScatterNd(pairs, values, shape)


def _flat(x: Tensor) -> Tensor:
    """A vector, with a dimension of 1 at its end removed."""
    dims = x.dims
    if dims is not None and len(dims) == 2 and dims[1] == 1:
        return raw.Squeeze(x, axis=[-1])
    return x


@dispatchable
def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values fall into each of `nbins` equal parts of a range.

    Values outside count in the first and last part. Raises InvalidArgumentError for a range
    that does not rise or `nbins` below 1.

    https://www.tensorflow.org/api_docs/python/tf/histogram_fixed_width

    >>> print(tf.histogram_fixed_width([0.0, 0.2, 0.9, 5.0], [0.0, 1.0], nbins=2).numpy())
    [2 2]
    """
    with door.level().scoped(name or "histogram_fixed_width") as scope:
        values = convert.to_tensor(values)
        return raw.HistogramFixedWidth(values, value_range, nbins, dtype=dtype, name=scope)


@dispatchable
def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Which of `nbins` equal parts of a range each value falls into.

    https://www.tensorflow.org/api_docs/python/tf/histogram_fixed_width_bins

    >>> print(tf.histogram_fixed_width_bins([0.0, 0.2, 0.9, 5.0], [0.0, 1.0], nbins=2).numpy())
    [0 0 1 1]
    """
    with door.level().scoped(name or "histogram_fixed_width_bins"):
        values = convert.to_tensor(values)
        edges: Any = convert.to_tensor(value_range, values.dtype)
        count = convert.to_tensor(nbins, dtypes.int32)
        width = raw.Sub(raw.Cast(edges[1], DstT="float64"), raw.Cast(edges[0], DstT="float64"))
        offset = raw.Sub(raw.Cast(values, DstT="float64"), raw.Cast(edges[0], DstT="float64"))
        index = raw.Floor(raw.Mul(raw.RealDiv(offset, width), raw.Cast(count, DstT="float64")))
        last = raw.Sub(raw.Cast(count, DstT="float64"), np.float64(1))
        inside = raw.ClipByValue(index, np.float64(0), last)
        return raw.Cast(inside, DstT=as_dtype(dtype or dtypes.int32))


@dispatchable
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes x, a vector of the numbers 0 to n - 1.

    Raises InvalidArgumentError if it is no permutation.

    https://www.tensorflow.org/api_docs/python/tf/math/invert_permutation

    >>> print(tf.math.invert_permutation([2, 0, 1]).numpy())
    [1 2 0]
    """
    return raw.InvertPermutation(x, name=name)
