"""The kernels of pooling: every element of the window at once, for all windows.

Windows slide along every dimension here, with a window of 1 along the batch; so layouts
need no case of their own.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from intaglio.base.errors import ShapeError, UnimplementedError, invalid_argument
from intaglio.opdef import short_floats
from intaglio.ops.compiled import select_kernel
from intaglio.ops.nn import windows
from intaglio.ops.nn.windows import Axis

FORMATS = {4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def check(
    ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str, rank: int
) -> None:
    """Raises ShapeError for attributes that describe no pooling."""
    windows.check_format(data_format, FORMATS[rank])
    windows.check_padding(padding)
    for what, values in (("ksize", ksize), ("strides", strides)):
        if len(values) != rank:
            raise ShapeError(f"Sliding window {what} field must specify {rank} dimensions")
    if min(ksize) < 1:
        raise ShapeError(
            "Sliding window ksize must be positive. The specified or inferred ksize is: "
            + ",".join(map(str, ksize))
        )
    if ksize[0] != 1 or strides[0] != 1:
        raise UnimplementedError(None, None, "Pooling is not yet supported on the batch dimension.")
    if min(strides) < 1:
        raise ShapeError(f"Stride must be > 0, but got {min(strides)}")


@functools.lru_cache(maxsize=4096)
def plan(
    shape: tuple[int, ...],
    ksize: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    data_format: str = "NHWC",
    explicit_paddings: tuple[int, ...] = (),
) -> tuple[Axis, ...]:
    """How windows slide along every dimension of an array, channels and batch included."""
    rank = len(ksize)
    if len(shape) != rank:
        raise invalid_argument(f"tensor_in must be {rank}-dimensional, not of shape {shape}")
    check(ksize, strides, padding, data_format, rank)
    if padding == "EXPLICIT" and len(explicit_paddings) != 2 * rank:
        raise invalid_argument(
            f"explicit_paddings must have {2 * rank} values, not {len(explicit_paddings)}"
        )
    return windows.axes(shape, ksize, strides, (1,) * rank, padding, explicit_paddings)


def taps(along: Sequence[Axis]) -> Iterator[tuple[slice, ...]]:
    """The slices of each tap of the window, for all windows at once."""
    return _slices(along, [range(a.window) for a in along])


def inner_taps(along: Sequence[Axis]) -> Iterator[tuple[slice, ...]]:
    """The same without taps that see padding only: a window may be larger than the array."""
    return _slices(along, [a.inner_taps for a in along])


def _slices(along: Sequence[Axis], numbers: Sequence[range]) -> Iterator[tuple[slice, ...]]:
    for index in itertools.product(*numbers):
        yield tuple([a.slice_of(i) for a, i in zip(along, index, strict=True)])


def padded(x: np.ndarray, along: Sequence[Axis], fill: Any) -> np.ndarray:
    """The array with its edges filled up; itself if there are none."""
    if not any(a.padded for a in along):
        return x
    shape = [a.before + a.size + a.after for a in along]
    result = np.full_like(x, fill, order="C", shape=shape)
    result[inside(along)] = x
    return result


def inside(along: Sequence[Axis]) -> tuple[slice, ...]:
    """The slices of the array in its padded form."""
    return tuple([slice(a.before, a.before + a.size) for a in along])


def _gradient_array(along: Sequence[Axis], dtype: Any) -> np.ndarray:
    return np.zeros([a.before + a.size + a.after for a in along], dtype)


def outs(along: Sequence[Axis]) -> tuple[int, ...]:
    return tuple([a.out for a in along])


@functools.lru_cache(maxsize=64)
def lowest(dtype: np.dtype[Any]) -> Any:
    """The least number of a dtype: what maximum pooling sees outside the array."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return dtype.type(-np.inf)


def _work(along: Sequence[Axis]) -> int:
    """The elements that the windows have together."""
    return math.prod([a.out * a.window for a in along])


def maximum(x: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """The greatest element of every window."""
    if 0 in outs(along):
        return np.zeros(outs(along), x.dtype)
    run = select_kernel("maximum", x.dtype, _work(along), tuple(along))
    if run is not None:
        return run(x)
    full = padded(x, along, lowest(x.dtype))
    # As in TensorFlow the search begins at the least finite number and passes over NaN.
    result = np.full_like(x, least_finite(x.dtype), order="C", shape=outs(along))
    for slices in inner_taps(along):
        seen = full[slices]
        if x.dtype.kind in "iu":
            np.maximum(result, seen, out=result)
        else:  # the first of equal ones, to which the gradient goes: zeros may have different signs
            np.copyto(result, seen, where=seen > result)
    return result


@functools.lru_cache(maxsize=64)
def least_finite(dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).min)
    return dtype.type(ml_dtypes.finfo(dtype).min)


def _first_hits(
    x: np.ndarray, y: np.ndarray, along: Sequence[Axis]
) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
    """For each element of the window, the windows whose first maximum it is."""
    full = padded(x, along, lowest(x.dtype))
    free: Any = None
    for slices in taps(along):
        hit = full[slices] == y
        if free is None:
            free = ~hit
        else:
            hit &= free
            free ^= hit
        yield slices, hit


def maximum_gradient(
    x: np.ndarray, y: np.ndarray, d: np.ndarray, along: Sequence[Axis], always: bool = True
) -> np.ndarray:
    """Each window's gradient goes to its first maximum.

    Where all elements are NaN or -inf, which the search passes over, it goes to the first one, or nowhere
    unless `always`.
    """
    run = select_kernel("maximum gradient", d.dtype, _work(along), tuple(along))
    if run is not None and x.dtype == y.dtype == d.dtype:
        return run(x, y, d)
    result = _gradient_array(along, d.dtype)
    if d.size:
        apart = all(a.window <= a.stride for a in along)
        for slices, hit in _first_hits(x, y, along):
            # Not a product with `hit`: infinities times 0 are NaN.
            part = result[slices]
            if apart:
                np.copyto(part, d, where=hit)
            else:
                np.add(part, d, out=part, where=hit)
        if always and x.dtype.kind not in "iu":
            _to_first_elements(result, x, y, d, along)
    return np.ascontiguousarray(result[inside(along)])


def _to_first_elements(
    result: np.ndarray, x: np.ndarray, y: np.ndarray, d: np.ndarray, along: Sequence[Axis]
) -> None:
    """Adds the gradients of windows without a maximum to their first elements inside the array."""
    for window in map(tuple, np.argwhere(y == least_finite(y.dtype))):
        starts = [max(i * a.stride - a.before, 0) for i, a in zip(window, along, strict=True)]
        stops = [i * a.stride - a.before + a.window for i, a in zip(window, along, strict=True)]
        seen = x[tuple([slice(*ends) for ends in zip(starts, stops, strict=True)])]
        if seen.size and not (seen == y[window]).any():
            result[tuple([s + a.before for s, a in zip(starts, along, strict=True)])] += d[window]


def first_maxima(
    x: np.ndarray, positions: np.ndarray, along: Sequence[Axis]
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of every window and its element of `positions`, by a search that begins at the first element
    inside the array and goes on to greater ones: NaN is found there only."""
    full = padded(x, along, lowest(x.dtype))
    inside_ = padded(np.ones(x.shape, bool), along, False)
    indices = padded(positions, along, 0)
    result, index = np.zeros(outs(along), x.dtype), np.zeros(outs(along), positions.dtype)
    unset = np.ones(outs(along), bool)
    for slices in inner_taps(along):
        greater = inside_[slices] & (unset | (full[slices] > result))
        np.copyto(result, full[slices], where=greater)
        np.copyto(index, indices[slices], where=greater)
        unset &= ~inside_[slices]
    return result, index


def at_maxima(x: np.ndarray, y: np.ndarray, d: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """For each window the element of `d`, shaped like `x`, at its first maximum."""
    result = np.zeros(y.shape, d.dtype)
    if y.size:
        full = padded(d, along, 0)
        for slices, hit in _first_hits(x, y, along):
            np.copyto(result, full[slices], where=hit)
    return result


@functools.lru_cache(maxsize=256)
def _counts(along: tuple[Axis, ...]) -> np.ndarray:
    """How many elements inside the array each window has, shaped to divide by."""
    result = np.ones((1,) * len(along))
    for i, a in enumerate(along):
        starts = np.arange(a.out) * a.stride - a.before
        n = np.minimum(starts + a.window, a.size) - np.maximum(starts, 0)
        shape = [1] * len(along)
        shape[i] = a.out
        result = result * n.reshape(shape)
    return np.maximum(result, 1)


def mean(x: np.ndarray, along: tuple[Axis, ...]) -> np.ndarray:
    """The mean of every window's elements inside the array."""
    run = select_kernel("mean", x.dtype, _work(along), tuple(along))
    if run is not None:
        return run(x)
    wide = short_floats.widened(x)
    result = np.zeros(outs(along), wide.dtype)
    if result.size:
        full = padded(wide, along, 0)
        for slices in inner_taps(along):
            result += full[slices]
        result /= _counts(along).astype(wide.dtype)
    return result.astype(x.dtype, copy=False)


def mean_gradient(d: np.ndarray, along: tuple[Axis, ...]) -> np.ndarray:
    """Each window's gradient, shared among its elements."""
    run = select_kernel("mean gradient", d.dtype, _work(along), tuple(along))
    if run is not None:
        return run(d)
    wide = short_floats.widened(d)
    result = _gradient_array(along, wide.dtype)
    if d.size:
        share = wide / _counts(along).astype(wide.dtype)
        for slices in inner_taps(along):
            result[slices] += share
    return np.ascontiguousarray(result[inside(along)]).astype(d.dtype, copy=False)
