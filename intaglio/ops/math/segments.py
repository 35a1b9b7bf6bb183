"""Reductions over the rows that share a segment number."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from intaglio.base.dtypes import INDEX, NUMERIC, DType, int16, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import brackets
from intaglio.opdef import machine_code, raw, short_floats
from intaglio.opdef.machine_code import exact_kernel
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.array.scattering import starts_of_runs
from intaglio.ops.families import constant, spec_of, truncated_quotient
from intaglio.ops.math.exact_reduction import as_integers, with_signs
from intaglio.ops.math.recurrence import doublings, ending, recurrence
from intaglio.ops.math.reduction import ORDERED, highest, lowest

# Rows of at least so many elements are reduced one after the other.
MIN_ROW_ELEMENTS = 32
# So few rows of any length are put to their segments by a call each.
MAX_ROWS_APART = 16
# Shorter rows are added by a kernel from so many elements on.
MIN_COMPILED_ELEMENTS = 1 << 16
# The columns of fewer elements are added by one call.
MAX_FLAT_ELEMENTS = 1 << 10
# A step over all segments costs as much as the separate reduction of so many segments.
SEGMENTS_PER_STEP = 4


def extremes(data: Any, ids: Any, count: int, ufunc: Any, empty: Any, start: Any) -> Any:
    """The maxima or minima of the rows of each segment; of zeros of both signs 0 and -0, whatever their order."""
    found = gathered(data, ids, count, ufunc, empty, start)
    if data.dtype.kind in "iu":
        return found

    def of_bits() -> Any:
        bits = as_integers(data)
        limits = np.iinfo(bits.dtype)
        last = limits.min if ufunc is np.maximum else limits.max
        return gathered(bits, ids, count, ufunc, -1 if empty < 0 else 0, last)

    return with_signs(found, of_bits)


def gathered(data: Any, ids: Any, count: int, ufunc: Any, empty: Any, start: Any) -> Any:
    """The rows of each segment put together by a ufunc; `empty` where there are none."""
    dtype = data.dtype
    wide = data.dtype.itemsize == 2 and data.dtype.kind not in "iu"
    values = short_floats.widened(data) if wide else data
    rows = values.reshape((ids.size, *data.shape[ids.ndim :]))
    flat = ids.reshape(-1)
    if flat.min(initial=0) < 0:
        kept = flat >= 0
        rows, flat = rows[kept], flat[kept]
    wide_rows = rows.size >= MIN_ROW_ELEMENTS * len(rows)
    many = rows.ndim > 1 and len(rows) > MAX_ROWS_APART
    run = _compiled(ufunc, rows, wide_rows) if many else None
    if run is not None:
        parts = run(rows, None, flat, count, empty)
        return short_floats.rounded(_begun(parts, ufunc, start), dtype)
    shape = count, *rows.shape[1:]
    if type(start) is int and start == 0:
        result = np.zeros(shape, values.dtype)
    else:
        result = np.full(shape, start, values.dtype)
    if rows.ndim > 1 and len(rows) <= MAX_ROWS_APART:
        for segment, row in zip(flat.tolist(), rows, strict=True):
            ufunc(result[segment], row, out=result[segment])
    elif rows.ndim == 1 and values.dtype.kind in "iuf":
        ufunc.at(result, flat, rows)  # quick for vectors of numbers
    elif ufunc is np.add and not wide_rows and values.dtype.kind in "fc":
        _add_columns(result, flat, rows)
    elif flat.size and rows.size:
        ordered = flat
        if np.any(flat[1:] < flat[:-1]):
            order = np.argsort(flat, kind="stable")
            ordered, rows = flat[order], rows[order]
        begins = starts_of_runs(ordered)
        put_together = _row_by_row(ufunc) if wide_rows else ufunc.reduceat
        parts = put_together(rows, begins, axis=0, dtype=values.dtype)
        result[ordered[begins]] = _begun(parts, ufunc, start)
    if empty is not start:
        seen = np.zeros(count, bool)
        seen[flat] = True
        result[~seen] = empty
    return short_floats.rounded(result, dtype) if wide else result


def _begun(parts: Any, ufunc: Any, start: Any) -> Any:
    """Combines the results with `start`, as a loop over elements would that starts with it:
    extremes of infinities, and sums of nothing but -0.0."""
    if ufunc in (np.maximum, np.minimum) or (ufunc is np.add and parts.dtype.kind in "fc"):
        ufunc(parts, np.asarray(start, parts.dtype), out=parts)
    return parts


def _add_columns(result: Any, ids: Any, rows: Any) -> None:
    """Adds short rows to those of the result, one after the other as TensorFlow and machine code do."""
    width = math.prod(rows.shape[1:])
    to, terms = result.reshape(len(result), width), rows.reshape(len(rows), width)
    indices = ids.astype(np.intp, copy=False)
    if terms.size < MAX_FLAT_ELEMENTS:  # each element is still the sum of its terms in their order
        elements = indices[:, None] * width + np.arange(width)
        np.add.at(to.reshape(-1), elements.reshape(-1), terms.reshape(-1))
        return
    for c in range(width):
        np.add.at(to[:, c], indices, terms[:, c])


def _row_by_row(ufunc: Any) -> Any:
    """`reduceat` along the first axis, one row of each segment after the other.

    NumPy reduces each column by itself, and sums a column pairwise, which is faster for short rows
    only.
    """

    def reduceat(rows: Any, begins: Any, axis: int, dtype: Any) -> Any:
        sizes = np.diff(begins, append=len(rows))
        result = rows[begins]
        more, done, longest = np.flatnonzero(sizes > 1), 1, sizes.max()
        while more.size > SEGMENTS_PER_STEP * (longest - done):
            result[more] = ufunc(result[more], rows[begins[more] + done])
            done += 1
            more = more[sizes[more] > done]
        for i in more.tolist():
            segment = rows[begins[i] : begins[i] + sizes[i]]
            result[i] = ufunc.reduce(segment, axis=axis, dtype=dtype)
        return result

    return reduceat


def _compiled(ufunc: Any, rows: Any, wide_rows: bool) -> Any:
    """Machine code that combines rows by a ufunc; None without a kernel."""
    if ufunc is np.add and not wide_rows:  # NumPy adds short rows in pairs
        large = rows.size >= MIN_COMPILED_ELEMENTS
        return machine_code.kernel("segments", "add", False, rows.dtype) if large else None
    return exact_kernel("segments", rows.size, ufunc.__name__, False, rows.dtype)


def sums_of_taken(data: Any, indices: Any, ids: Any, count: int) -> Any:
    """The sums of `data[indices]` by numbers that rise."""
    run = None
    # Short rows NumPy adds up in pairs, and those of 16 bits are added as wider ones.
    if data.size >= MIN_ROW_ELEMENTS * len(data) and data.dtype.itemsize > 2:
        work = ids.size * math.prod(data.shape[1:])
        run = exact_kernel("segments", work, "add", True, data.dtype)
    if run is not None:
        return run(data, indices, ids, count, 0)
    return gathered(data[indices], ids, count, np.add, 0, 0)


def _counts(ids: Any, count: int) -> Any:
    flat = ids.reshape(-1)
    if flat.min(initial=0) < 0:
        flat = flat[flat >= 0]
    return np.bincount(flat, minlength=count)


# -- sorted segments -----------------------------------------------------------------


class Segments(Op):
    """output[i] = data[segment_ids == i] reduced; the numbers are sorted."""

    signature = "data: T, segment_ids: Tindices -> output: T"
    T: tuple[DType, ...] = NUMERIC
    Tindices = INDEX

    def infer(self, data: Spec, segment_ids: Spec) -> Spec:
        if segment_ids.rank not in (None, 1):
            raise ShapeError(f"Shape must be rank 1 but is rank {segment_ids.rank}")
        if data.rank == 0:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        if data.shape is None:
            return Spec(data.dtype, None)
        return Spec(data.dtype, (None, *data.shape[1:]))


def sorted_ids(data: Any, ids: Any) -> int:
    """The number of segments. Raises InvalidArgumentError for wrong segment numbers."""
    if ids.ndim != 1:
        raise invalid_argument("segment_ids should be a vector.")
    if not data.ndim or data.shape[0] != ids.size:
        raise invalid_argument("segment_ids should be the same size as dimension 0 of input.")
    count = risen(ids)
    check_allocated((count, *data.shape[1:]), data.dtype.itemsize, "A reduction of segments")
    return count


def risen(ids: Any) -> int:
    """The number of segments from sorted ids. Raises InvalidArgumentError if they are not sorted."""
    if not ids.size:
        return 0
    count = int(ids[-1]) + 1
    if ids[0] < 0:
        raise invalid_argument(
            f"Segment id {int(ids[0])} out of range [0, {count}), possibly because"
            " 'segment_ids' input is not sorted."
        )
    if (ids[1:] < ids[:-1]).any():
        raise invalid_argument("segment ids are not increasing")
    return count


@op
class SegmentSum(Segments):
    """The sums of segments."""

    def kernel(self, data, segment_ids):
        count = sorted_ids(data, segment_ids)
        return gathered(data, segment_ids, count, np.add, 0, 0)

    def gradient(self, doutput, segment_ids) -> Any:
        return raw.GatherV2(doutput, segment_ids, 0), None


@op
class SegmentMean(Segments):
    """The means of segments; 0 for an empty one."""

    def kernel(self, data, segment_ids):
        count = sorted_ids(data, segment_ids)
        return means(data, segment_ids, count)

    def gradient(self, doutput, data: Spec, segment_ids) -> Any:
        ids_shape = raw.Shape(segment_ids)
        one = np.asarray(1, np.int32)
        sizes = raw.SegmentSum(raw.Fill(ids_shape, one), segment_ids)
        sizes = raw.Cast(raw.Maximum(sizes, one), DstT=doutput.dtype)
        scaled = raw.RealDiv(doutput, _as_column(sizes, doutput))
        return raw.GatherV2(scaled, segment_ids, 0), None


def _as_column(x: Any, like: Any) -> Any:
    """A vector in the shape `[n, 1, ...]` that scales the rows of `like`."""
    rank = spec_of(like).rank
    if rank is not None:
        return raw.Reshape(x, np.asarray([-1] + [1] * (rank - 1), np.int32))
    ones = raw.Fill(
        raw.ExpandDims(raw.Sub(raw.Rank(like), np.asarray(1, np.int32)), 0), np.asarray(1, np.int32)
    )
    return raw.Reshape(x, raw.ConcatV2([np.asarray([-1], np.int32), ones], 0))


def means(data: Any, ids: Any, count: int) -> Any:
    """The means of segments; of integers, rounded towards zero."""
    sizes = np.maximum(_counts(ids, count), 1)
    sizes = sizes.reshape((count,) + (1,) * (data.ndim - ids.ndim))
    if data.dtype.kind in "iu":
        total = gathered(data, ids, count, np.add, 0, 0)
        return truncated_quotient(total, sizes.astype(data.dtype))
    if data.dtype.itemsize == 2:
        wide = gathered(data.astype(np.float32), ids, count, np.add, 0, 0)
        return (wide / sizes).astype(data.dtype)
    total = gathered(data, ids, count, np.add, 0, 0)
    return np.true_divide(total, sizes.astype(data.dtype.char.lower()))


class SegmentExtreme(Segments):
    """The largest or smallest of each segment; 0 for an empty one."""

    T = ORDERED

    def gradient(self, doutput, data, segment_ids, output) -> Any:
        # Elements that tie share the gradient.
        by_element = raw.GatherV2(output, segment_ids, 0)
        hits = raw.Equal(data, by_element)
        count = raw.SegmentSum(raw.Cast(hits, DstT=data.dtype), segment_ids)
        share = raw.GatherV2(raw.RealDiv(doutput, count), segment_ids, 0)
        return raw.SelectV2(hits, share, constant(0, data)), None


@op
class SegmentMax(SegmentExtreme):
    """The largest of each segment."""

    def kernel(self, data, segment_ids):
        count = sorted_ids(data, segment_ids)
        worst = lowest(data.dtype)
        return extremes(data, segment_ids, count, np.maximum, 0, worst)


@op
class SegmentMin(SegmentExtreme):
    """The smallest of each segment."""

    def kernel(self, data, segment_ids):
        count = sorted_ids(data, segment_ids)
        worst = highest(data.dtype)
        return extremes(data, segment_ids, count, np.minimum, 0, worst)


@op
class SegmentProd(Segments):
    """The products of segments; 1 for an empty one."""

    def kernel(self, data, segment_ids):
        count = sorted_ids(data, segment_ids)
        return gathered(data, segment_ids, count, np.multiply, 1, 1)

    def gradient(self, doutput, data, segment_ids) -> Any:
        taken = raw.GatherV2(doutput, segment_ids, 0)
        return raw.Mul(taken, others_product(data, segment_ids)), None


# -- segments in any order -----------------------------------------------------------


class UnsortedSegments(Op):
    """output[i] = data[segment_ids == i] reduced; rows with negative numbers are dropped."""

    signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
    T: tuple[DType, ...] = NUMERIC
    Tindices: tuple[DType, ...] = INDEX
    Tnumsegments = INDEX

    def infer(self, data: Spec, segment_ids: Spec, num_segments: Spec) -> Spec:
        if num_segments.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {num_segments.rank}")
        count = number(num_segments)
        if count is not None and count < 0:
            raise ShapeError(
                f"Dimension size, given by scalar input 2 must be non-negative but is {count}"
            )
        if data.shape is None or segment_ids.shape is None:
            return Spec(data.dtype, None)
        for have, want in zip(data.shape, segment_ids.shape, strict=False):
            if have is not None and want is not None and have != want:
                raise ShapeError(f"Dimensions must be equal, but are {have} and {want}")
        rank = len(segment_ids.shape)
        if rank > len(data.shape):
            raise ShapeError(f"Shape must be at least rank {rank} but is rank {len(data.shape)}")
        return Spec(data.dtype, (count, *data.shape[rank:]))


def checked_ids(data: Any, ids: Any, num_segments: Any) -> int:
    """The number of segments. Raises InvalidArgumentError for wrong segment numbers."""
    if num_segments.ndim:
        raise invalid_argument(
            f"num_segments should be a scalar, not shape {brackets(num_segments.shape)}"
        )
    count = int(num_segments)
    if data.shape[: ids.ndim] != ids.shape:
        raise invalid_argument(
            f"data.shape = {brackets(data.shape)} does not start with"
            f" segment_ids.shape = {brackets(ids.shape)}"
        )
    if count < 0:
        raise invalid_argument(f"Input num_segments == {count} must not be negative.")
    check_allocated((count, *data.shape[ids.ndim :]), data.dtype.itemsize, "A sum of segments")
    if ids.size and int(ids.max()) >= count:
        flat = ids.reshape(-1)
        at = int(np.argmax(flat >= count))
        index = ", ".join([str(i) for i in np.unravel_index(at, ids.shape)])
        raise invalid_argument(
            f"segment_ids[{index}] = {int(flat[at])} is out of range [0, {count})"
        )
    return count


@op
class UnsortedSegmentSum(UnsortedSegments):
    """The sums of segments."""

    Tindices = (int16, int32, int64)
    combines = "add"

    def kernel(self, data, segment_ids, num_segments):
        count = checked_ids(data, segment_ids, num_segments)
        return gathered(data, segment_ids, count, np.add, 0, 0)

    def gradient(self, doutput, segment_ids) -> Any:
        taken, _, _ = _gathered_or_zeros(doutput, segment_ids)
        return taken, None, None


def _gathered_or_zeros(params: Any, ids: Any) -> tuple[Any, Any, Any]:
    """The rows of `params` for the segment numbers, 0 for negative ones."""
    zero = constant(0, ids)
    positive = raw.GreaterEqual(ids, zero)
    inside = raw.Maximum(ids, zero)
    taken = raw.GatherV2(params, inside, 0)
    extra = raw.Sub(raw.Rank(taken), raw.Rank(ids))
    ones = raw.Fill(raw.ExpandDims(extra, 0), np.asarray(1, np.int32))
    mask = raw.Reshape(positive, raw.ConcatV2([raw.Shape(ids), ones], 0))
    mask = raw.BroadcastTo(mask, raw.Shape(taken))
    return raw.SelectV2(mask, taken, raw.ZerosLike(taken)), inside, mask


class UnsortedExtreme(UnsortedSegments):
    """The largest or smallest of each segment; the type's extreme for an empty one."""

    native_exact = True
    T = ORDERED

    def gradient(self, doutput, data, segment_ids, num_segments, output) -> Any:
        by_element, inside, positive = _gathered_or_zeros(output, segment_ids)
        hits = raw.LogicalAnd(raw.Equal(data, by_element), positive)
        count = raw.UnsortedSegmentSum(
            raw.Cast(hits, DstT=doutput.dtype), segment_ids, num_segments
        )
        share = raw.GatherV2(raw.RealDiv(doutput, count), inside, 0)
        return raw.SelectV2(hits, share, constant(0, data)), None, None


def finite_extreme(dtype: Any, smallest: bool) -> Any:
    """The smallest or largest finite number of a dtype of NumPy, as a number of Python."""
    if dtype.kind in "iu":
        return lowest(dtype) if smallest else highest(dtype)
    top = float(ml_dtypes.finfo(dtype).max)
    return -top if smallest else top


@op
class UnsortedSegmentMax(UnsortedExtreme):
    """The largest of each segment."""

    combines = "max"

    def kernel(self, data, segment_ids, num_segments):
        count = checked_ids(data, segment_ids, num_segments)
        empty = finite_extreme(data.dtype, smallest=True)
        return extremes(data, segment_ids, count, np.maximum, empty, empty)


@op
class UnsortedSegmentMin(UnsortedExtreme):
    """The smallest of each segment."""

    combines = "min"

    def kernel(self, data, segment_ids, num_segments):
        count = checked_ids(data, segment_ids, num_segments)
        empty = finite_extreme(data.dtype, smallest=False)
        return extremes(data, segment_ids, count, np.minimum, empty, empty)


@op
class UnsortedSegmentProd(UnsortedSegments):
    """The products of segments; 1 for an empty one."""

    combines = "mul"

    def kernel(self, data, segment_ids, num_segments):
        count = checked_ids(data, segment_ids, num_segments)
        return gathered(data, segment_ids, count, np.multiply, 1, 1)

    def gradient(self, doutput, data, segment_ids) -> Any:
        taken, _, _ = _gathered_or_zeros(doutput, segment_ids)
        return raw.Mul(taken, others_product(data, segment_ids)), None, None


def others_product(data: Any, segment_ids: Any) -> Any:
    """For each row, the product of the other rows of its segment.

    It is found from both sides, without division: right where elements are 0.
    """
    count = raw.Size(segment_ids)
    ids = raw.Reshape(segment_ids, raw.ExpandDims(count, 0))
    rest = raw.Slice(raw.Shape(data), raw.ExpandDims(raw.Rank(segment_ids), 0), [-1])
    rows = raw.Reshape(data, raw.ConcatV2([raw.ExpandDims(count, 0), rest], 0))
    order = raw.TopKV2(raw.Neg(ids), count).indices  # stable: the least index first
    ids, rows = raw.GatherV2(ids, order, 0), raw.GatherV2(rows, order, 0)
    zero = np.asarray(0, np.int32)
    column = raw.ConcatV2([[-1], raw.OnesLike(rest)], 0)
    product = None
    for reverse in (True, False):
        by = 1 if reverse else -1
        first = ending(ids, zero, reverse)
        begins = raw.LogicalOr(first, raw.NotEqual(ids, raw.Roll(ids, by, zero)))
        begins = raw.Reshape(begins, column)
        factor = raw.SelectV2(begins, constant(0, rows), raw.Roll(rows, by, zero))
        term = raw.Mul(raw.Cast(begins, DstT=rows.dtype), raw.OnesLike(rows))
        steps = doublings(spec_of(ids), 0)
        side = recurrence(factor, term, zero, reverse, steps)
        product = side if product is None else raw.Mul(product, side)
    back = raw.GatherV2(product, raw.InvertPermutation(order), 0)
    return raw.Reshape(back, raw.Shape(data))
