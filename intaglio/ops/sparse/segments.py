"""Reductions over segments of rows that are gathered first."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING, INDEX, REAL, DType
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.families import check_rank, shape_of
from intaglio.ops.math.segments import gathered, risen, sums_of_taken

SUM, MEAN, SQRT_N = "sum", "mean", "sqrt_n"


def _check(indices: Any, ids: Any) -> None:
    for name, x in (("indices", indices), ("segment_ids", ids)):
        if x.ndim != 1:
            raise invalid_argument(f"{name} should be a vector.")
    if indices.size != ids.size:
        raise invalid_argument("segment_ids and indices should have same size.")


def _scale(ids: Any, count: int, how: str) -> Any:
    """What each segment's sum is divided by."""
    sizes = np.maximum(np.bincount(ids, minlength=count), 1)
    return np.sqrt(sizes) if how == SQRT_N else sizes


def _as_column(x: Any, like: Any) -> Any:
    return x.reshape((-1,) + (1,) * (like.ndim - 1))


def _rows_of(data: Spec, indices: Spec, ids: Spec, count: int | None) -> Spec:
    for x in (indices, ids):
        if x.rank not in (None, 1):
            raise ShapeError(f"Shape must be rank 1 but is rank {x.rank}")
    if data.rank == 0:
        raise ShapeError("Shape must be at least rank 1 but is rank 0")
    return Spec(data.dtype, None if data.shape is None else (count, *data.shape[1:]))


class GatheredSegments(Op):
    """output[i] = data[indices[segment_ids == i]] reduced; the numbers are sorted."""

    signature = (
        "data: T, indices: Tidx, segment_ids: Tsegmentids;"
        " sparse_gradient: bool = False -> output: T"
    )
    T: tuple[DType, ...] = FLOATING
    Tidx: tuple[DType, ...] = INDEX
    Tsegmentids: tuple[DType, ...] = INDEX
    how: str = SUM

    def infer(self, data: Spec, indices: Spec, segment_ids: Spec) -> Spec:
        return _rows_of(data, indices, segment_ids, None)

    def reduce(self, data: Any, indices: Any, ids: Any, count: int | None) -> Any:
        """The segments' reductions; `count` is their number, None for the last one's."""
        _check(indices, ids)
        if not data.ndim:
            raise invalid_argument("input must be at least rank 1")
        # As an unsigned number, a negative one is larger than any size.
        wrong = indices.view(f"u{indices.itemsize}") >= data.shape[0]
        if wrong.any():
            at = int(np.argmax(wrong))
            raise invalid_argument(
                f"Bad: indices[{at}] == {int(indices[at])} out of range [0, {data.shape[0]})"
            )
        needed = risen(ids)
        if count is None:
            count = needed
        elif needed > count:
            raise invalid_argument("segment ids must be < num_segments")
        check_allocated((count, *data.shape[1:]), data.dtype.itemsize, "A reduction of segments")
        if self.how == SUM:
            return sums_of_taken(data, indices, ids, count)
        if data.dtype.itemsize == 2:
            rows = data[indices].astype(np.float32)
            total = gathered(rows, ids, count, np.add, 0, 0)
        else:
            total = sums_of_taken(data, indices, ids, count)
        scale = _scale(ids, count, self.how).astype(total.dtype)
        return (total / _as_column(scale, total)).astype(data.dtype)

    def kernel(self, data, indices, segment_ids):
        return self.reduce(data, indices, segment_ids, None)

    def gradient(self, doutput, data: Spec, indices, segment_ids, sparse_gradient) -> Any:
        return self.back(doutput, data, indices, segment_ids, sparse_gradient), None, None

    def back(self, dy: Any, data: Spec, indices: Any, ids: Any, sparse_gradient: bool) -> Any:
        """The gradient of the data: rows of it, or all."""
        shape = shape_of(data)
        rows = (
            shape[0]
            if isinstance(shape, np.ndarray)
            else raw.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
        )
        name = {SUM: "Sum", MEAN: "Mean", SQRT_N: "SqrtN"}[self.how]
        if not sparse_gradient:
            return getattr(raw, f"SparseSegment{name}Grad")(dy, indices, ids, rows)
        parts = getattr(raw, f"SparseSegment{name}GradV2")(dy, indices, ids, rows)
        return IndexedSlices(parts.output, parts.sorted_unique_indices, shape)


class CountedSegments(GatheredSegments):  # its rules take one input more
    """The same of a given number of segments."""

    signature = (
        "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments;"
        " sparse_gradient: bool = False -> output: T"
    )
    Tnumsegments = INDEX

    def infer(  # pyright: ignore[reportIncompatibleMethodOverride]  # one input more
        self, data: Spec, indices: Spec, segment_ids: Spec, num_segments: Spec
    ) -> Spec:
        if num_segments.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {num_segments.rank}")
        count = number(num_segments)
        if count is not None and count < 0:
            raise ShapeError("Cannot specify a negative value for num_segments")
        return _rows_of(data, indices, segment_ids, count)

    def kernel(  # pyright: ignore[reportIncompatibleMethodOverride]  # one input more
        self, data, indices, segment_ids, num_segments
    ):
        if np.ndim(num_segments):
            raise invalid_argument("num_segments should be a scalar")
        count = int(num_segments)
        if count < 0:
            raise invalid_argument("segment ids must be >= 0")
        return self.reduce(data, indices, segment_ids, count)

    def gradient(self, doutput, data: Spec, indices, segment_ids, sparse_gradient) -> Any:
        found = self.back(doutput, data, indices, segment_ids, sparse_gradient)
        return found, None, None, None


@op
class SparseSegmentSum(GatheredSegments):
    """The sums of segments of gathered rows."""

    T = REAL


@op
class SparseSegmentMean(GatheredSegments):
    """The means of segments of gathered rows; 0 for an empty one."""

    how = MEAN


@op
class SparseSegmentSqrtN(GatheredSegments):
    """The sums of segments of gathered rows, divided by the square roots of their sizes."""

    how = SQRT_N


@op
class SparseSegmentSumWithNumSegments(CountedSegments):
    """The sums of so many segments of gathered rows."""

    T = REAL


@op
class SparseSegmentMeanWithNumSegments(CountedSegments):
    """The means of so many segments of gathered rows."""

    how = MEAN


@op
class SparseSegmentSqrtNWithNumSegments(CountedSegments):
    """The scaled sums of so many segments of gathered rows."""

    how = SQRT_N


# -- gradients ---------------------------------------------------------------------------


class RowsGradient(Op):
    """The gradient of the rows that were gathered: a tensor of `output_dim0` rows."""

    signature = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T"
    T = FLOATING
    Tidx = INDEX
    Tsegmentids = INDEX
    how: str = SUM

    def infer(self, grad: Spec, indices: Spec, segment_ids: Spec, output_dim0: Spec) -> Spec:
        return _rows_of(grad, indices, segment_ids, number(output_dim0))

    def kernel(self, grad, indices, segment_ids, output_dim0):
        return _segment_gradient(grad, indices, segment_ids, int(output_dim0), self.how)

    def gradient(self, doutput, grad: Spec, indices, segment_ids) -> Any:
        shape = shape_of(grad)
        count = (
            shape[0]
            if isinstance(shape, np.ndarray)
            else raw.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
        )
        name = {SUM: "Sum", MEAN: "Mean", SQRT_N: "SqrtN"}[self.how]
        forward = getattr(raw, f"SparseSegment{name}WithNumSegments")
        return forward(doutput, indices, segment_ids, count), None, None, None


def _segment_gradient(grad: Any, indices: Any, ids: Any, rows: int, how: str) -> Any:
    _check(indices, ids)
    if rows < 0:
        raise invalid_argument("output_dim0 must be non-negative")
    for numbers, size, name in ((indices, rows, "Index"), (ids, len(grad), "Segment id")):
        wrong = (numbers < 0) | (numbers >= size)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise invalid_argument(f"{name} {int(numbers[at])} out of range [0, {size}).")
    taken = grad[ids]
    if how != SUM:
        scale = _scale(ids, len(grad), how)[ids].astype(np.float64)
        taken = (taken / _as_column(scale, taken)).astype(grad.dtype)
    return gathered(taken, indices, rows, np.add, 0, 0)


@op
class SparseSegmentSumGrad(RowsGradient):
    """The gradient of the data of SparseSegmentSum."""


@op
class SparseSegmentMeanGrad(RowsGradient):
    """The gradient of the data of SparseSegmentMean."""

    how = MEAN


@op
class SparseSegmentSqrtNGrad(RowsGradient):
    """The gradient of the data of SparseSegmentSqrtN."""

    how = SQRT_N


class SparseRowsGradient(Op):
    """The gradient of the rows that were gathered: those rows only, and which they are."""

    signature = (
        "grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32"
        " -> output: T, sorted_unique_indices: Tidx"
    )
    differentiable = False
    T = FLOATING
    Tidx = INDEX
    Tsegmentids = INDEX
    how: str = SUM

    def infer(self, grad: Spec, indices: Spec, segment_ids: Spec) -> Any:
        found = _rows_of(grad, indices, segment_ids, None)
        return found, Spec(indices.dtype, (None,))

    def kernel(self, grad, indices, segment_ids, dense_output_dim0):
        _check(indices, segment_ids)
        check_rank("dense_output_dim0", dense_output_dim0, 0)
        wrong = (indices < 0) | (indices >= dense_output_dim0)
        if wrong.any():
            raise invalid_argument(
                f"Index {int(indices[np.argmax(wrong)])} out of range [0, {int(dense_output_dim0)})."
            )
        rows, positions = np.unique(indices, return_inverse=True)
        return _segment_gradient(
            grad, positions.reshape(-1), segment_ids, rows.size, self.how
        ), rows


@op
class SparseSegmentSumGradV2(SparseRowsGradient):
    """The rows of the gradient of SparseSegmentSum."""


@op
class SparseSegmentMeanGradV2(SparseRowsGradient):
    """The rows of the gradient of SparseSegmentMean."""

    how = MEAN


@op
class SparseSegmentSqrtNGradV2(SparseRowsGradient):
    """The rows of the gradient of SparseSegmentSqrtN."""

    how = SQRT_N
