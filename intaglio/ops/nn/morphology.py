"""Greyscale dilation: the greatest sum of window and filter, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import REAL
from intaglio.base.errors import ShapeError, UnimplementedError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.math.summation import add_reduce
from intaglio.ops.nn import windows
from intaglio.ops.nn.pooling_kernels import least_finite

ATTRS = "strides: list(int), rates: list(int), padding: str"


def _plan(input: Any, filter: Any, strides: Any, rates: Any, padding: str) -> Any:
    """The axes for rows and columns. Raises InvalidArgumentError."""
    for name, numbers in (("strides", strides), ("rates", rates)):
        if len(numbers) != 4:
            raise invalid_argument(f"{name} must have 4 numbers, got {list(numbers)}")
        if numbers[0] != 1 or numbers[3] != 1:
            raise UnimplementedError(
                None, None, f"{name} must be [1, rows, columns, 1], got {list(numbers)}"
            )
    if input.ndim != 4:
        raise invalid_argument(f"input must be 4-dimensional: {list(input.shape)}")
    if filter.ndim != 3:
        raise invalid_argument(f"filter must be 3-dimensional: {list(filter.shape)}")
    if input.shape[3] != filter.shape[2]:
        raise invalid_argument(
            f"input and filter must have the same depth: {input.shape[3]} vs {filter.shape[2]}"
        )
    try:
        return windows.axes(
            tuple(input.shape[1:3]),
            tuple(filter.shape[:2]),
            tuple(strides[1:3]),
            tuple(rates[1:3]),
            padding,
        )
    except ShapeError as e:
        raise invalid_argument(str(e)) from None


def _padded(input: Any, plan: Any) -> Any:
    """The input with the least number of its dtype around it."""
    dtype = input.dtype
    integer = dtype.kind in "iu"
    least = np.iinfo(dtype).min if integer else -np.inf
    sides = [(0, 0), *((a.before, a.after) for a in plan), (0, 0)]
    return np.pad(input, sides, constant_values=np.asarray(least, dtype))


def _sums(padded: Any, filter: Any, plan: Any) -> Any:
    """For each tap of the filter: (row, column, the sum of the filter and the input under it)."""
    rows, columns = plan
    for i in range(filter.shape[0]):
        for j in range(filter.shape[1]):
            window = padded[:, rows.slice_of(i), columns.slice_of(j)]
            yield i, j, window + filter[i, j]


def _best(input: Any, filter: Any, plan: Any) -> tuple[Any, Any]:
    """(the greatest sums, the number of the first tap that gives each)."""
    padded = _padded(input, plan)
    inside = _padded(np.zeros(input.shape, np.float32), plan) == 0
    shape = (len(input), plan[0].out, plan[1].out, input.shape[3])
    # As in TensorFlow the search begins at the least finite number and passes over NaN.
    best, which = np.full(shape, least_finite(input.dtype)), np.full(shape, -1)
    for i, j, total in _sums(padded, filter, plan):
        seen = inside[:, plan[0].slice_of(i), plan[1].slice_of(j)]
        better = seen & (total > best)
        best = np.where(better, total, best)
        which = np.where(better | (seen & (which < 0)), i * filter.shape[1] + j, which)
    return best, which


# Elements of the results that are compared at a time: they fit into the cache.
_BLOCK_ELEMENTS = 1 << 15


def _is_plain(input: Any, filter: Any, plan: Any) -> bool:
    """True if the maxima over windows with -inf around the input are the greatest sums.

    They are not where a number is NaN, or a window has no tap inside of the input.
    """
    for axis in plan:
        taps = np.arange(axis.out)[:, None] * axis.stride - axis.before
        taps = taps + np.arange(axis.window) * axis.dilation
        if not np.any((taps >= 0) & (taps < axis.size), axis=1).all():
            return False
    return bool(
        input.dtype.kind == "f"
        and input.size
        and filter.size
        and np.isfinite(input).all()
        and np.isfinite(filter).all()
    )


def _maxima(input: Any, filter: Any, plan: Any) -> np.ndarray:
    """The greatest sums; a row's pixels and channels are one axis, of many elements."""
    rows, columns = plan
    count, depth = len(input), input.shape[3]
    padded = _padded(input, plan)
    # The columns under each tap; a view for strides of 1.
    under = [
        padded[:, :, columns.slice_of(j)].reshape(count, padded.shape[1], -1)
        for j in range(filter.shape[1])
    ]
    weights = np.tile(filter, (1, 1, columns.out))
    result = np.empty((count, rows.out, columns.out * depth), input.dtype)
    step = max(1, _BLOCK_ELEMENTS // max(1, result.shape[2]))
    for image in range(count):
        lines = [u[image, rows.slice_of(i)] for i in range(filter.shape[0]) for u in under]
        for at in range(0, rows.out, step):
            best = result[image, at : at + step]
            total = np.empty_like(best)
            for tap, line in enumerate(lines):
                weight = weights[divmod(tap, filter.shape[1])]
                if tap:
                    np.maximum(best, np.add(line[at : at + step], weight, out=total), out=best)
                else:
                    np.add(line[at : at + step], weight, out=best)
    return result.reshape(count, rows.out, columns.out, depth)


def _shape(input: Spec, filter: Spec, strides: Any, rates: Any, padding: str) -> Any:
    for spec, rank in ((input, 4), (filter, 3)):
        if spec.rank not in (None, rank):
            raise ShapeError(f"Shape must be rank {rank} but is rank {spec.rank}")
    if input.shape is None:
        return (None, None, None, None)
    taps = (None, None, None) if filter.shape is None else filter.shape
    sizes = [
        windows.out_size(input.shape[k + 1], taps[k], strides[k + 1], rates[k + 1], padding)
        for k in range(2)
    ]
    return (input.shape[0], *sizes, input.shape[3])


@op
class Dilation2D(Op):
    """The greatest input + filter in each window, for each channel."""

    padding = ("SAME", "VALID")

    signature = f"input: T, filter: T; {ATTRS} -> output: T"
    T = REAL
    batching = "examples"

    def infer(self, input: Spec, filter: Spec, strides, rates, padding) -> Spec:
        return Spec(input.dtype, _shape(input, filter, strides, rates, padding))

    def kernel(self, input, filter, strides, rates, padding):
        plan = _plan(input, filter, strides, rates, padding)
        if _is_plain(input, filter, plan):
            return _maxima(input, filter, plan)
        return _best(input, filter, plan)[0].astype(input.dtype, copy=False)

    def gradient(self, input, filter, doutput, strides, rates, padding) -> Any:
        attrs = {"strides": strides, "rates": rates, "padding": padding}
        return (
            lambda: raw.Dilation2DBackpropInput(input, filter, doutput, **attrs),
            lambda: raw.Dilation2DBackpropFilter(input, filter, doutput, **attrs),
        )


class Backprop(Op):
    """The gradient of the elements, of input or filter, that have the greatest sums."""

    T = REAL

    def checked(self, input: Any, filter: Any, out: Any, attrs: Any) -> tuple[Any, Any]:
        """(axes, taps). Raises InvalidArgumentError if the gradient has another shape."""
        plan = _plan(input, filter, *attrs)
        best, which = _best(input, filter, plan)
        if best.shape != out.shape:
            raise invalid_argument(
                f"out_backprop has the shape {list(out.shape)}, but the output has "
                f"{list(best.shape)}"
            )
        return plan, which


@op
class Dilation2DBackpropInput(Backprop):
    """The gradient of Dilation2D by its input."""

    signature = f"input: T, filter: T, out_backprop: T; {ATTRS} -> in_backprop: T"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, input.shape)

    def kernel(self, input, filter, out_backprop, strides, rates, padding):
        attrs = (strides, rates, padding)
        plan, which = self.checked(input, filter, out_backprop, attrs)
        rows, columns = plan
        padded = _padded(np.zeros_like(input), plan)
        padded[...] = 0
        for i in range(filter.shape[0]):
            for j in range(filter.shape[1]):
                hit = which == i * filter.shape[1] + j
                padded[:, rows.slice_of(i), columns.slice_of(j)] += np.where(
                    hit, out_backprop, input.dtype.type(0)
                )
        top, left = rows.before, columns.before
        return padded[:, top : top + rows.size, left : left + columns.size].copy()


@op
class Dilation2DBackpropFilter(Backprop):
    """The gradient of Dilation2D by its filter."""

    signature = f"input: T, filter: T, out_backprop: T; {ATTRS} -> filter_backprop: T"

    def infer(self, filter: Spec) -> Spec:
        return Spec(filter.dtype, filter.shape)

    def kernel(self, input, filter, out_backprop, strides, rates, padding):
        attrs = (strides, rates, padding)
        _, which = self.checked(input, filter, out_backprop, attrs)
        gradient = np.zeros_like(filter)
        for i in range(filter.shape[0]):
            for j in range(filter.shape[1]):
                hit = which == i * filter.shape[1] + j
                moved = np.where(hit, out_backprop, filter.dtype.type(0))
                gradient[i, j] = add_reduce(moved, (0, 1, 2))
        return gradient
