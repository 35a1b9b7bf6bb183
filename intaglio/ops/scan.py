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
)
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import brackets
from intaglio.op import raw
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec, number
from intaglio.ops.reduction import ORDERED

FLOATS = (bfloat16, float16, float32, float64)


class Scan(Op):
    """out[i] = x[0] ? ... ? x[i] along the axis."""

    signature = (
        "x: T, axis: Tidx; exclusive: bool = False, reverse: bool = False -> out: T"
    )
    T: tuple[DType, ...] = NUMERIC
    Tidx = INDEX

    def infer(self, x: Spec, axis: Spec) -> Spec:
        if axis.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {axis.rank}")
        place, rank = number(axis), x.rank
        if place is not None and rank is not None and not -rank <= place < rank:
            raise ShapeError(_outside(place, rank))
        return Spec(x.dtype, x.shape)


def _outside(axis: int, rank: int) -> str:
    return f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}"


def scanned(
    x: Any, axis: Any, exclusive: bool, reverse: bool, ufunc: Any, start: Any
) -> Any:
    """A running total by a ufunc. Raises InvalidArgumentError for a wrong axis."""
    if axis.ndim:
        raise invalid_argument(
            f"ScanOp: axis must be a scalar, not {brackets(axis.shape)}"
        )
    place = int(axis)
    if not -x.ndim <= place < x.ndim:
        raise invalid_argument(_outside(place, x.ndim))
    place %= x.ndim
    dtype = x.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        wide = x.astype(np.float32)
        return scanned(wide, axis, exclusive, reverse, ufunc, start).astype(dtype)
    ahead = np.flip(x, place) if reverse else x
    total = ufunc.accumulate(ahead, axis=place, dtype=dtype)
    if exclusive and x.shape[place]:
        first = np.full_like(np.take(total, [0], place), start)
        rest = [slice(None)] * x.ndim
        rest[place] = slice(0, -1)
        total = np.concatenate([first, total[tuple(rest)]], place)
    return np.flip(total, place) if reverse else total


@op
class Cumsum(Scan):
    """Running sums."""

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

    def gradient(self, dout, x, out, axis, exclusive, reverse) -> Any:
        # As TensorFlow has it: NaN where an element is 0.
        product = raw.Mul(out, dout)
        total = raw.Cumsum(product, axis, exclusive=exclusive, reverse=not reverse)
        return raw.RealDiv(total, x), None


@op
class CumulativeLogsumexp(Scan):
    """Running log(sum(exp(x)))."""

    T = FLOATS

    def kernel(self, x, axis, exclusive, reverse):
        return scanned(x, axis, exclusive, reverse, np.logaddexp, -np.inf)

    def gradient(self, dout, x, out, axis, exclusive, reverse) -> Any:
        # The gradient splits into its positive and negative parts, each kept as a
        # logarithm, so that large exponents cancel before they are raised.
        zero = np.zeros((), dout.dtype.numpy)
        low = np.asarray(-np.inf).astype(dout.dtype.numpy)
        one = np.ones((), dout.dtype.numpy)

        def side(sign: int) -> Any:
            part = dout if sign > 0 else raw.Neg(dout)
            there = raw.Greater(part, zero)
            logs = raw.SelectV2(there, raw.Log(raw.SelectV2(there, part, one)), low)
            total = raw.CumulativeLogsumexp(
                raw.Sub(logs, out), axis, exclusive=exclusive, reverse=not reverse
            )
            return raw.Exp(raw.AddV2(total, x))

        return raw.Sub(side(+1), side(-1)), None


# -- where the extreme is ------------------------------------------------------------


class IndexOfExtreme(Op):
    """The index along the dimension; the first one of several, never a NaN's."""

    signature = (
        "input: T, dimension: Tidx; output_type: type = int64 -> output: output_type"
    )
    differentiable = False
    T = (*ORDERED, bool_)
    Tidx: tuple[DType, ...] = (int32, int64)

    def infer(self, input: Spec, dimension: Spec, output_type: DType) -> Spec:
        if dimension.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {dimension.rank}")
        dims, place = input.shape, number(dimension)
        if dims is None:
            return Spec(output_type, None)
        rank = len(dims)
        if place is None:
            return Spec(output_type, None if not rank else (None,) * (rank - 1))
        if not -rank <= place < rank:
            raise ShapeError(
                f"Dimension ({place}) must be in the range [{-rank}, {rank}), where"
                f" {rank} is the number of dimensions in the input."
            )
        place %= rank
        return Spec(output_type, dims[:place] + dims[place + 1 :])


def index_along(x: Any, dimension: Any, output_type: DType, lowest: bool) -> Any:
    """Where the extreme is. Raises InvalidArgumentError for a wrong or empty dimension."""
    if dimension.ndim:
        raise invalid_argument(
            "dim must be a scalar, but received tensor of shape:"
            f" {brackets(dimension.shape)}"
        )
    place, rank = int(dimension), x.ndim
    if not -rank <= place < rank:
        raise invalid_argument(
            f"Expected dimension in the range [{-rank}, {rank}), but got {place}"
        )
    place %= rank
    if not x.shape[place]:
        raise invalid_argument(
            f"Reduction axis {place} is empty in shape {brackets(x.shape)}"
        )
    if x.dtype == bfloat16.numpy:
        x = x.astype(np.float32)
    if x.dtype.kind == "f":
        worst = x.dtype.type(np.inf if lowest else -np.inf)
        x = np.where(np.isnan(x), worst, x)
    found = np.argmin(x, place) if lowest else np.argmax(x, place)
    return np.asarray(found).astype(output_type.numpy)


@op
class ArgMax(IndexOfExtreme):
    """The index of the largest element."""

    Tidx = (int16, int32, int64)

    def kernel(self, input, dimension, output_type):
        return index_along(input, dimension, output_type, lowest=False)


@op
class ArgMin(IndexOfExtreme):
    """The index of the smallest element."""

    def kernel(self, input, dimension, output_type):
        return index_along(input, dimension, output_type, lowest=True)


# -- evenly spaced -------------------------------------------------------------------


@op
class LinSpace(Op):
    """`num` evenly spaced numbers from `start` to `stop`, both included."""

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
        count = int(num)
        if count <= 0:
            raise invalid_argument(f"Requires num > 0: {count}")
        if count == 1:
            return np.reshape(start, (1,))
        wide = np.float32 if start.dtype.itemsize <= 4 else np.float64
        first, last = np.asarray(start, wide), np.asarray(stop, wide)
        step = (last - first) / wide(count - 1)
        line = first + step * np.arange(count, dtype=wide)
        line[-1] = last
        return line.astype(start.dtype)
