"""Running totals along an axis, and the index of the largest or smallest element."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import (
    INDEX,
    NUMERIC,
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int16,
    int32,
    int64,
    uint16,
)
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import brackets
from intaglio.opdef import raw, short_floats
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.families import check_rank, constant, spec_of
from intaglio.ops.math.exact_reduction import first_of_slices
from intaglio.ops.math.recurrence import doublings, ending, following, recurrence
from intaglio.ops.math.reduction import ORDERED, numbers_in

# The elements of a short axis, of large arrays and of small ones.
MAX_SHORT_AXIS, MIN_LARGE, MAX_SHORTEST_AXIS = 16, 1 << 13, 4
FLOATS = (bfloat16, float16, float32, float64)


class Scan(Op):
    """out[i] = x[0] ? ... ? x[i] along the axis."""

    signature = "x: T, axis: Tidx; exclusive: bool = False, reverse: bool = False -> out: T"
    T: tuple[DType, ...] = NUMERIC
    Tidx = INDEX

    def infer(self, x: Spec, axis: Spec) -> Spec:
        if axis.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {axis.rank}")
        along, rank = number(axis), x.rank
        if along is not None and rank is not None and not -rank <= along < rank:
            raise ShapeError(_outside(along, rank))
        return Spec(x.dtype, x.shape)


def _outside(axis: int, rank: int) -> str:
    return f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}"


def scanned(x: Any, axis: Any, exclusive: bool, reverse: bool, ufunc: Any, start: Any) -> Any:
    """A running total by a ufunc. Raises InvalidArgumentError for a wrong axis."""
    if axis.ndim:
        raise invalid_argument(f"ScanOp: axis must be a scalar, not {brackets(axis.shape)}")
    along = int(axis)
    if not -x.ndim <= along < x.ndim:
        raise invalid_argument(_outside(along, x.ndim))
    along %= x.ndim
    dtype = x.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        total = scanned(short_floats.widened(x), axis, exclusive, reverse, ufunc, start)
        return short_floats.rounded(total, dtype)
    ahead = np.flip(x, along) if reverse else x
    total = ufunc.accumulate(ahead, axis=along, dtype=dtype)
    if exclusive and x.shape[along]:
        first = np.full_like(np.take(total, [0], along), start)
        rest = [slice(None)] * x.ndim
        rest[along] = slice(0, -1)
        total = np.concatenate([first, total[tuple(rest)]], along)
    return np.flip(total, along) if reverse else total


@op
class Cumsum(Scan):
    """Running sums."""

    native_exact = True

    def kernel(self, x, axis, exclusive, reverse):
        return scanned(x, axis, exclusive, reverse, np.add, 0)

    def gradient(self, dout, axis, exclusive, reverse) -> Any:
        back = raw.Cumsum(dout, axis, exclusive=exclusive, reverse=not reverse)
        return back, None


@op
class Cumprod(Scan):
    """Running products."""

    def kernel(self, x, axis, exclusive, reverse):
        return scanned(x, axis, exclusive, reverse, np.multiply, 1)

    def gradient(self, dout, x, axis, exclusive, reverse) -> Any:
        # The product of the elements before, times the sum over the elements after it: there is no
        # division, so zeros are no exception.
        end = ending(x, axis, reverse)
        term = following(dout, axis, reverse, end) if exclusive else dout
        factor = following(x, axis, reverse, end)
        steps = doublings(spec_of(x), _known_axis(axis))
        after = recurrence(factor, term, axis, reverse, steps)
        before = raw.Cumprod(x, axis, exclusive=True, reverse=reverse)
        return raw.Mul(before, after), None


def _known_axis(axis: Any) -> int | None:
    """The number of the axis that a gradient rule holds, None if not known."""
    found = numbers_in(axis)
    return found[0] if found else None


@op
class CumulativeLogsumexp(Scan):
    """Running log(sum(exp(x)))."""

    T = FLOATS

    def kernel(self, x, axis, exclusive, reverse):
        return scanned(x, axis, exclusive, reverse, np.logaddexp, -np.inf)

    def gradient(self, dout, x, out, axis, exclusive, reverse) -> Any:
        # dx[k] is the sum of dout[i] exp(x[k] - out[i]) from k on. In steps from one sum to
        # the one before, no exponent is positive, however large the numbers are.
        if exclusive:
            out = raw.CumulativeLogsumexp(x, axis, reverse=reverse)
        end = ending(x, axis, reverse)
        term = following(dout, axis, reverse, end) if exclusive else dout
        lowest = np.asarray(dout.dtype.min).astype(dout.dtype.numpy)
        out = raw.Maximum(out, lowest)  # a sum of nothing but exp(-inf)
        ahead = raw.Roll(out, 1 if reverse else -1, axis)
        step = raw.Exp(raw.Sub(out, raw.SelectV2(end, out, ahead)))
        factor = raw.SelectV2(end, constant(0, x), step)
        steps = doublings(spec_of(x), _known_axis(axis))
        after = recurrence(factor, term, axis, reverse, steps)
        return raw.Mul(raw.Exp(raw.Sub(x, out)), after), None


# -- where the extreme is ------------------------------------------------------------


class IndexOfExtreme(Op):
    """The index along the dimension; the first one of several, never a NaN's."""

    native_exact = True
    signature = "input: T, dimension: Tidx; output_type: type = int64 -> output: output_type"
    differentiable = False
    T = (*ORDERED, bool_)
    Tidx: tuple[DType, ...] = (int32, int64)

    def infer(self, input: Spec, dimension: Spec, output_type: DType) -> Spec:
        if dimension.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {dimension.rank}")
        dims, along = input.shape, number(dimension)
        if dims is None:
            return Spec(output_type, None)
        rank = len(dims)
        if along is None:
            return Spec(output_type, None if not rank else (None,) * (rank - 1))
        if not -rank <= along < rank:
            raise ShapeError(
                f"Dimension ({along}) must be in the range [{-rank}, {rank}), where"
                f" {rank} is the number of dimensions in the input."
            )
        along %= rank
        return Spec(output_type, dims[:along] + dims[along + 1 :])


def _at(x: Any, found: Any, along: int) -> Any:
    """The elements that indices along an axis name."""
    if along != x.ndim - 1:
        return np.take_along_axis(x, np.expand_dims(found, along), along)
    rows = x.reshape(-1, x.shape[-1])  # what `take_along_axis` does, in half the calls
    return rows[np.arange(len(rows)), found.reshape(-1)]


def _first_along(x: Any, along: int, lowest: bool) -> tuple[Any, Any]:
    """The index of the extreme along an axis, and the extreme of floats."""
    found = (np.argmin if lowest else np.argmax)(x, along)
    return found, _at(x, found, along) if x.dtype.kind == "f" else None


def _first_along_short_axis(x: Any, along: int, lowest: bool) -> tuple[Any, Any]:
    """The same, slice by slice: NumPy makes the axis the last one and looks at rows of few elements."""
    return first_of_slices(np.moveaxis(x, along, 0), lowest)


def index_along(x: Any, dimension: Any, output_type: DType, lowest: bool) -> Any:
    """Where the extreme is. Raises InvalidArgumentError for a wrong or empty dimension."""
    if dimension.ndim:
        raise invalid_argument(
            f"dim must be a scalar, but received tensor of shape: {brackets(dimension.shape)}"
        )
    along, rank = int(dimension), x.ndim
    if not -rank <= along < rank:
        raise invalid_argument(
            f"Expected dimension in the range [{-rank}, {rank}), but got {along}"
        )
    along %= rank
    if not x.shape[along]:
        raise invalid_argument(f"Reduction axis {along} is empty in shape {brackets(x.shape)}")
    x = short_floats.widened(x)
    short = x.shape[along] <= (MAX_SHORT_AXIS if x.size >= MIN_LARGE else MAX_SHORTEST_AXIS)
    if short and along < rank - 1 and x.dtype.kind in "iuf":
        find = _first_along_short_axis
    else:
        find = _first_along
    found, best = find(x, along, lowest)
    # NumPy finds these first, TensorFlow passes them over.
    if x.dtype.kind == "f" and np.isnan(best).any():
        worst = x.dtype.type(np.inf if lowest else -np.inf)
        found, _ = find(np.where(np.isnan(x), worst, x), along, lowest)
    return np.asarray(found).astype(output_type.numpy)


@op
class ArgMax(IndexOfExtreme):
    """The index of the largest element."""

    output_type = (int16, uint16, int32, int64)

    Tidx = (int16, int32, int64)

    def kernel(self, input, dimension, output_type):
        return index_along(input, dimension, output_type, lowest=False)


@op
class ArgMin(IndexOfExtreme):
    """The index of the smallest element."""

    output_type = INDEX

    def kernel(self, input, dimension, output_type):
        return index_along(input, dimension, output_type, lowest=True)


# -- evenly spaced -------------------------------------------------------------------


@op
class LinSpace(Op):
    """`num` evenly spaced numbers from `start` to `stop`, both included."""

    native_exact = True
    signature = "start: T, stop: T, num: Tidx -> output: T"
    differentiable = False
    T = FLOATS
    Tidx = INDEX

    def infer(self, start: Spec, stop: Spec, num: Spec) -> Spec:
        for spec in (start, stop, num):
            if spec.rank not in (None, 0):
                raise ShapeError(f"Shape must be rank 0 but is rank {spec.rank}")
        count = number(num)
        if count is not None and count <= 0:
            raise ShapeError(f"Requires num > 0: {count}")
        return Spec(start.dtype, (count,))

    def kernel(self, start, stop, num):
        check_rank("start", start, 0)
        check_rank("stop", stop, 0)
        count = int(num)
        if count <= 0:
            raise invalid_argument(f"Requires num > 0: {count}")
        check_allocated((count,), start.dtype.itemsize, "LinSpace")
        if count == 1:
            return np.reshape(start, (1,))
        wide = np.float32 if start.dtype.itemsize <= 4 else np.float64
        first, last = np.asarray(start, wide), np.asarray(stop, wide)
        step = (last - first) / wide(count - 1)
        line = first + step * np.arange(count, dtype=wide)
        line[-1] = last
        return line.astype(start.dtype)

    def native(self, start, stop, num: Spec) -> Any:
        count = number(num)
        if not count or start.dims or stop.dims:
            return NotImplemented
        if count == 1:
            return raw.Reshape(start, [1])
        wide = float32 if start.dtype.size <= 4 else float64
        first, last = (raw.Cast(v, DstT=wide) for v in (start, stop))
        step = raw.RealDiv(raw.Sub(last, first), constant(count - 1, first))
        positions = np.arange(count - 1, dtype=np.int32)
        line = raw.AddV2(first, raw.Mul(step, raw.Cast(positions, DstT=wide)))
        whole = raw.ConcatV2([line, raw.Reshape(last, [1])], 0)
        return raw.Cast(whole, DstT=start.dtype)
