"""Reductions over segments of rows that are gathered first.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sum.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor


def _reduced(
    op: Any,
    counted: Any,
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any,
    name: Any,
    sparse_gradient: bool,
) -> Tensor:
    options: dict[str, Any] = {"sparse_gradient": sparse_gradient, "name": name}
    if num_segments is None:
        return op(data, indices, segment_ids, **options)
    return counted(data, indices, segment_ids, num_segments, **options)


def segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sums of the rows `data[indices]` that share a segment number; these are sorted.

    Without `num_segments` the number of segments is the last id plus one. With
    `sparse_gradient` the gradient is IndexedSlices.

    >>> print(tf.sparse.segment_sum([1.0, 2.0, 4.0], [0, 2, 1], [0, 0, 1]).numpy())
    [5. 2.]

    https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sum
    """
    return _reduced(
        raw.SparseSegmentSum,
        raw.SparseSegmentSumWithNumSegments,
        data,
        indices,
        segment_ids,
        num_segments,
        name,
        sparse_gradient,
    )


def segment_mean(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The means of the rows `data[indices]` that share a segment number; 0 where none do.

    `num_segments` is the number of results, by default one more than the last segment number. With
    `sparse_gradient` the gradient of `data` is an IndexedSlices.

    >>> print(tf.sparse.segment_mean([1.0, 2.0, 4.0], [0, 2, 1], [0, 0, 1]).numpy())
    [2.5 2. ]

    https://www.tensorflow.org/api_docs/python/tf/sparse/segment_mean
    """
    return _reduced(
        raw.SparseSegmentMean,
        raw.SparseSegmentMeanWithNumSegments,
        data,
        indices,
        segment_ids,
        num_segments,
        name,
        sparse_gradient,
    )


def segment_sqrt_n(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sums of segments of gathered rows divided by the square roots of their sizes.

    `num_segments` is the number of results, by default one more than the last segment number. With
    `sparse_gradient` the gradient of `data` is an IndexedSlices.

    >>> print(tf.sparse.segment_sqrt_n([1.0, 2.0, 3.0], [0, 2, 1, 1], [0, 0, 0, 0]).numpy())
    [4.]

    https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sqrt_n
    """
    return _reduced(
        raw.SparseSegmentSqrtN,
        raw.SparseSegmentSqrtNWithNumSegments,
        data,
        indices,
        segment_ids,
        num_segments,
        name,
        sparse_gradient,
    )


__all__ = ["segment_mean", "segment_sqrt_n", "segment_sum"]
