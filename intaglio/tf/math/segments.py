"""Reductions over the rows that share a segment number.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The sums of rows with the same number; the numbers are sorted.

    The result has one row for each number up to the last. Raises InvalidArgumentError if
    the numbers are negative or not sorted.

    https://www.tensorflow.org/api_docs/python/tf/math/segment_sum

    >>> print(tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 1]).numpy())
    [[4 6]
     [5 6]]
    """
    return raw.SegmentSum(data, segment_ids, name=name)


@dispatchable
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The means of rows with the same number; the numbers are sorted.

    The result has one row for each number up to the last. Raises InvalidArgumentError if
    the numbers are negative or not sorted.

    https://www.tensorflow.org/api_docs/python/tf/math/segment_mean

    >>> print(tf.math.segment_mean([1.0, 5.0, 3.0], [0, 0, 1]).numpy())
    [3. 3.]
    """
    return raw.SegmentMean(data, segment_ids, name=name)


@dispatchable
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The largest elements of rows with the same number; the numbers are sorted.

    The result has one row for each number up to the last. Raises InvalidArgumentError if
    the numbers are negative or not sorted.

    https://www.tensorflow.org/api_docs/python/tf/math/segment_max

    >>> print(tf.math.segment_max([1, 5, 3], [0, 0, 1]).numpy())
    [5 3]
    """
    return raw.SegmentMax(data, segment_ids, name=name)


@dispatchable
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The smallest elements of rows with the same number; the numbers are sorted.

    The result has one row for each number up to the last. Raises InvalidArgumentError if
    the numbers are negative or not sorted.

    https://www.tensorflow.org/api_docs/python/tf/math/segment_min

    >>> print(tf.math.segment_min([1, 5, 3], [0, 0, 1]).numpy())
    [1 3]
    """
    return raw.SegmentMin(data, segment_ids, name=name)


@dispatchable
def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The products of rows with the same number; the numbers are sorted.

    The result has one row for each number up to the last. Raises InvalidArgumentError if
    the numbers are negative or not sorted.

    https://www.tensorflow.org/api_docs/python/tf/math/segment_prod

    >>> print(tf.math.segment_prod([2, 5, 3], [0, 0, 1]).numpy())
    [10  3]
    """
    return raw.SegmentProd(data, segment_ids, name=name)


@dispatchable
def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sums of rows with the same number, in any order.

    The result has `num_segments` rows; rows of `data` with negative numbers are dropped.
    Raises InvalidArgumentError for numbers that are too large.

    https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_sum

    >>> print(tf.math.unsorted_segment_sum([1, 5, 3], [1, 0, 1], 3).numpy())
    [5 4 0]
    """
    return raw.UnsortedSegmentSum(data, segment_ids, num_segments, name=name)


@dispatchable
def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The largest elements of rows with the same number, in any order.

    The result has `num_segments` rows; rows of `data` with negative numbers are dropped.
    Raises InvalidArgumentError for numbers that are too large.

    https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_max

    >>> print(tf.math.unsorted_segment_max([1, 5, 3], [1, 0, 1], 2).numpy())
    [5 3]
    """
    return raw.UnsortedSegmentMax(data, segment_ids, num_segments, name=name)


@dispatchable
def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The smallest elements of rows with the same number, in any order.

    The result has `num_segments` rows; rows of `data` with negative numbers are dropped.
    Raises InvalidArgumentError for numbers that are too large.

    https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_min

    >>> print(tf.math.unsorted_segment_min([1, 5, 3], [1, 0, 1], 2).numpy())
    [5 1]
    """
    return raw.UnsortedSegmentMin(data, segment_ids, num_segments, name=name)


@dispatchable
def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The products of rows with the same number, in any order.

    The result has `num_segments` rows; rows of `data` with negative numbers are dropped.
    Raises InvalidArgumentError for numbers that are too large.

    https://www.tensorflow.org/api_docs/python/tf/math/unsorted_segment_prod

    >>> print(tf.math.unsorted_segment_prod([2, 5, 3], [1, 0, 1], 2).numpy())
    [5 6]
    """
    return raw.UnsortedSegmentProd(data, segment_ids, num_segments, name=name)
