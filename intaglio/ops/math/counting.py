"""Counting values: histograms and buckets."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import INDEX, DType, float32, float64, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.families import constant
from intaglio.ops.restricted import run_loops

WEIGHTS = (int32, int64, float32, float64)


# What NumPy takes for an integer that it counts, or adds the weight of, in multiplications.
WORK_PER_COUNTED, WORK_PER_WEIGHT = 8, 32


def count_integers(bins: Any, values: Any, size: Any, count: Any, begin: Any, end: Any) -> None:
    """How often each integer below `size` is among the first `count`."""
    for _ in range(begin, end):  # one row: all of them
        for i in range(count):
            value = values[i]
            if value < size:
                bins[value] += 1


def add_weights(
    bins: Any, values: Any, weights: Any, size: Any, count: Any, begin: Any, end: Any
) -> None:
    """The sums of the weights of each integer below `size` among the first `count`, in their order."""
    for _ in range(begin, end):
        for i in range(count):
            value = values[i]
            if value < size:
                bins[value] += weights[i]


def _total(values, size: int, weights, dtype, binary: bool):
    """How often each value below `size` occurs, or the sum of its weights: others have one bin more."""
    n = values.size
    if not binary and not weights.size:
        bins = np.zeros(size, np.int64)
        if run_loops(count_integers, WORK_PER_COUNTED * n, bins, values, size, n, rows=1):
            return bins.astype(dtype)
    elif not binary:
        bins, flat = np.zeros(size, dtype), weights.reshape(-1)
        if run_loops(add_weights, WORK_PER_WEIGHT * n, bins, values, flat, size, n, rows=1):
            return bins
    places = np.minimum(values, size)
    if not binary and not weights.size:
        return np.bincount(places, minlength=size + 1)[:size].astype(dtype)
    bins = np.zeros(size + 1, dtype)
    if binary:
        bins[places] = 1
    else:
        np.add.at(bins, places, weights.reshape(-1))
    return bins[:size]


def _added(values: Any, size: int | None, weights: Any) -> Any:
    """`_total` in ops: numbers of at least `size` go to one more bin."""
    count = weights.spec.count
    if not size or (count and count != values.spec.count):
        return NotImplemented
    indices = raw.Minimum(values, constant(size, values))
    addends = raw.Reshape(weights, [-1])
    if not count:
        addends = raw.Fill([values.spec.count], constant(1, weights))
    indices, shape = raw.ExpandDims(indices, 1), np.asarray([size + 1], values.dtype.numpy)
    return raw.Slice(raw.ScatterNd(indices, addends, shape), [0], [size])


def _checked(values, size, weights) -> int:
    count = int(size)
    if count < 0:
        raise invalid_argument(f"size ({count}) must be non-negative")
    check_allocated((count,), weights.dtype.itemsize, "Bincount")
    if values.size and values.min() < 0:
        raise invalid_argument("Input arr must be non-negative!")
    if weights.size and weights.shape != values.shape:
        raise invalid_argument(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which"
            f" case it acts as all weights equal to 1. Received {brackets(weights.shape)}"
        )
    return count


@op
class Bincount(Op):
    """How often each integer occurs, or the sum of its weights."""

    native_exact = True
    signature = "arr: int32, size: int32, weights: T -> bins: T"
    T = WEIGHTS

    def infer(self, size: Spec, weights: Spec) -> Spec:
        return Spec(weights.dtype, (number(size),))

    def kernel(self, arr, size, weights):
        count = _checked(arr, size, weights)
        return _total(arr.reshape(-1), count, weights, weights.dtype, False)

    def native(self, arr, size: Spec, weights) -> Any:
        return _added(raw.Reshape(arr, [-1]), number(size), weights)


@op
class DenseBincount(Op):
    """How often each integer occurs, in all or in each row."""

    native_exact = True
    signature = "input: Tidx, size: Tidx, weights: T; binary_output: bool = False -> output: T"
    Tidx = INDEX
    T = WEIGHTS
    without_default = ("Tidx",)

    def infer(self, input: Spec, size: Spec, weights: Spec) -> Spec:
        rank = input.rank
        if rank is not None and rank > 2:
            raise ShapeError(f"Shape must be at most rank 2 but is rank {rank}")
        if size.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {size.rank}")
        count = number(size)
        if rank is None:
            return Spec(weights.dtype, None)
        rows = input.shape[:1] if rank == 2 else ()  # type: ignore[index]  # a known rank
        return Spec(weights.dtype, (*rows, count))

    def kernel(self, input, size, weights, binary_output):
        count = _checked(input, size, weights)
        dtype = weights.dtype
        if input.ndim > 2:
            raise invalid_argument(f"Shape must be at most rank 2 but is rank {input.ndim}")
        if input.ndim < 2:
            values = input.reshape(-1)
            return _total(values, count, weights, dtype, binary_output)
        # The bins of all rows, one row after the other.
        rows, every = len(input), len(input) * count
        values = np.where(input < count, input + count * np.arange(rows)[:, None], every)
        return _total(values.reshape(-1), every, weights, dtype, binary_output).reshape(rows, count)

    def native(self, input, size: Spec, weights, binary_output) -> Any:
        if binary_output or len(input.dims) > 1:
            return NotImplemented
        return _added(raw.Reshape(input, [-1]), number(size), weights)


@op
class HistogramFixedWidth(Op):
    """How many values fall into each of `nbins` equal parts of a range."""

    dtype = INDEX

    signature = "values: T, value_range: T, nbins: int32; dtype: type = int32 -> out: dtype"
    differentiable = False
    T = WEIGHTS

    def infer(self, nbins: Spec, dtype: DType) -> Spec:
        return Spec(dtype, (number(nbins),))

    def kernel(self, values, value_range, nbins, dtype):
        if value_range.shape != (2,):
            raise invalid_argument("value_range should be a vector of 2 elements.")
        low, high = (float(v) for v in value_range)
        if not low < high:
            raise invalid_argument(
                "value_range should satisfy value_range[0] < value_range[1], but got"
                f" '[{value_range[0]:g}, {value_range[1]:g}]'"
            )
        count = int(nbins)
        if count <= 0:
            raise invalid_argument(f"nbins should be a positive number, but got '{count}'")
        check_allocated((count,), dtype.size, "A histogram")
        step = (high - low) / count
        bins = np.subtract(values.reshape(-1), low, dtype=np.float64)
        bins /= step
        np.fmax(bins, 0, out=bins)  # NaN is in the first bin
        np.minimum(bins, count - 1, out=bins)
        return np.bincount(bins.astype(np.int64), minlength=count).astype(dtype.numpy)


@op
class Bucketize(Op):
    """The bucket of each element, by sorted boundaries."""

    signature = "input: T; boundaries: list(float) -> output: int32"
    differentiable = False
    T = WEIGHTS
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(int32, input.shape)

    def kernel(self, input, boundaries):
        edges = np.asarray(boundaries, np.float32)
        if np.any(edges[1:] < edges[:-1]):
            raise invalid_argument("Expected sorted boundaries")
        return np.asarray(np.searchsorted(edges, input, "right")).astype(np.int32)
