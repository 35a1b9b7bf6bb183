"""Pooling by ratios that are no whole numbers: windows of two neighbouring sizes.

Follows Graham, "Fractional max-pooling" (2014). Where the windows begin is drawn, for rows and
then for columns, and is given out with the pooled array; of `seed` and `seed2` they are
TensorFlow's own.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, float32, float64, int32, int64
from intaglio.base.errors import ShapeError, UnimplementedError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of, spec_of, truncated_quotient
from intaglio.ops.random import philox
from intaglio.ops.random.philox import Stream

TYPES: tuple[DType, ...] = (float32, float64, int32, int64)
ROWS, COLUMNS = 1, 2


def _shuffled(stream: Stream, size: int, count: int) -> tuple[Any, int]:
    """(the ends of `count` windows in any order of their sizes, blocks drawn)."""
    sizes = np.full(count, size // count)
    sizes[: size % count] += 1
    order = philox.permutation(stream, count)
    return np.concatenate([[0], np.cumsum(sizes[order])]), -(-count // 4)


def _stretched(stream: Stream, size: int, count: int) -> tuple[Any, int]:
    """(the ends of `count` windows at ceil(ratio * (i + u)) for one number u, blocks drawn)."""
    ratio, least = size / count, size // count
    # For a larger u a window would be too wide, or the last one too narrow.
    highest = min((least + 2) / ratio - 1, (size + 1 - least) / ratio - (count - 1))
    u = philox.uniform(stream, 1, np.dtype(np.float64))[0] * highest
    ends = np.ceil(ratio * (np.arange(count + 1) + u)).astype(np.int64) - 1
    ends[0], ends[-1] = 0, size
    return ends, 1


def _folded(x: Any, ends: Any, overlapping: bool, axis: int, by: np.ufunc) -> Any:
    """Each window of an axis as one element; overlapping, with the first of the next one."""
    result = by.reduceat(x, ends[:-1], axis=axis, dtype=x.dtype)
    if overlapping:
        most = [slice(None)] * x.ndim
        most[axis] = slice(None, -1)
        by(result[tuple(most)], x.take(ends[1:-1], axis), out=result[tuple(most)])
    return result


def _widths(ends: Any, overlapping: bool) -> Any:
    widths = np.diff(ends)
    if overlapping:
        widths[:-1] += 1
    return widths


def _counts(rows: Any, columns: Any, overlapping: bool) -> Any:
    """The size of every window, [rows, columns, 1]."""
    return np.multiply.outer(_widths(rows, overlapping), _widths(columns, overlapping))[:, :, None]


def _owners(ends: Any, overlapping: bool) -> list[Any]:
    """The windows that contain each index of an axis, the earlier first; -1 for none."""
    own = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    if not overlapping:
        return [own]
    before = np.full_like(own, -1)
    before[ends[1:-1]] = np.arange(len(ends) - 2)
    return [before, own]


class Fractional(Op):
    """(pooled, where the windows of rows end, and those of columns)."""

    signature = (
        "value: T; pooling_ratio: list(float), pseudo_random: bool = False,"
        " overlapping: bool = False, deterministic: bool = False, seed: int = 0,"
        " seed2: int = 0 -> output: T, row_pooling_sequence: int64,"
        " col_pooling_sequence: int64"
    )
    T = TYPES

    def infer(self, value: Spec, pooling_ratio: Sequence[float]) -> Any:
        if value.rank not in (None, 4):
            raise ShapeError(
                f"Shape must be rank 4 but is rank {value.rank}", "tensor_in must be 4-dimensional"
            )
        if len(pooling_ratio) != 4:
            raise ShapeError(
                f"pooling_ratio field must specify 4 dimensions, not {len(pooling_ratio)}"
            )
        dims: list[int | None] = [None] * 4 if value.shape is None else list(value.shape)
        for axis in (ROWS, COLUMNS):
            n = dims[axis]
            if n is not None:
                dims[axis] = int(np.floor(np.float32(n) / _ratio(pooling_ratio, axis)))
        rows, columns = [Spec(int64, (None if n is None else n + 1,)) for n in dims[1:3]]
        return Spec(value.dtype, tuple(dims)), rows, columns

    def kernel(self, value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2):
        counts = _checked(value, pooling_ratio)
        if not deterministic and (seed or seed2):
            raise invalid_argument("Both seed and seed2 should be 0 if deterministic is false.")
        if not seed and not seed2:
            seed, seed2 = secrets.randbits(63), secrets.randbits(63)
        stream = philox.from_seed(seed, seed2)
        draw = _stretched if pseudo_random else _shuffled
        rows, counters = draw(stream, value.shape[ROWS], counts[ROWS])
        columns, _ = draw(stream.skipped(counters), value.shape[COLUMNS], counts[COLUMNS])
        return self.pooled(value, rows, columns, overlapping), rows, columns

    def pooled(self, x: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
        """The pooled value of every window."""
        raise NotImplementedError


def _ratio(ratios: Sequence[float], axis: int) -> Any:
    return np.float32(ratios[axis])


def _checked(value: Any, ratios: Sequence[float]) -> list[int]:
    """How many windows each dimension has. Raises for ratios that give none."""
    if value.ndim != 4:
        raise invalid_argument("tensor_in must be 4-dimensional")
    for axis, size in enumerate(value.shape):
        ratio = _ratio(ratios, axis)
        if ratio < 1:
            raise invalid_argument(f"pooling_ratio cannot be smaller than 1, got: {ratio:g}")
        if size < ratio:
            raise invalid_argument(
                f"Pooling ratio is higher than input dimension size for dimension {axis}."
                f" Input dim size: {size} pooling ratio: {ratio:g}"
            )
    if ratios[0] != 1 or ratios[3] != 1:
        text = "Fractional pooling is not yet supported on the batch nor channel dimension."
        raise UnimplementedError(None, None, text)
    return [
        int(np.floor(np.float32(n) / np.float32(r)))
        for n, r in zip(value.shape, ratios, strict=True)
    ]


@op
class FractionalMaxPool(Fractional):
    """The maximum of every window."""

    def pooled(self, x: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
        tall = _folded(x, rows, overlapping, ROWS, np.maximum)
        return _folded(tall, columns, overlapping, COLUMNS, np.maximum)

    def gradient(
        self, value, output, row_pooling_sequence, col_pooling_sequence, doutput, overlapping
    ) -> Any:
        return raw.FractionalMaxPoolGrad(
            value,
            output,
            doutput,
            row_pooling_sequence,
            col_pooling_sequence,
            overlapping=overlapping,
        )


@op
class FractionalAvgPool(Fractional):
    """The mean of every window; of integers, truncated."""

    def pooled(self, x: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
        tall = _folded(x, rows, overlapping, ROWS, np.add)
        sums = _folded(tall, columns, overlapping, COLUMNS, np.add)
        counts = _counts(rows, columns, overlapping).astype(x.dtype)
        if np.issubdtype(x.dtype, np.integer):
            return truncated_quotient(sums, counts)
        return sums / counts

    def gradient(
        self, value: Spec, row_pooling_sequence, col_pooling_sequence, doutput, overlapping
    ) -> Any:
        return raw.FractionalAvgPoolGrad(
            raw.Cast(shape_of(spec_of(value)), DstT=int64),
            doutput,
            row_pooling_sequence,
            col_pooling_sequence,
            overlapping=overlapping,
        )


def _windows(size: int, outs: int, ends: Any, what: str) -> Any:
    """The ends that an op was given, within the array."""
    if ends.ndim != 1:
        raise invalid_argument(
            f"{what}_pooling_sequence must be a vector, but has shape {ends.shape}"
        )
    if len(ends) <= outs:
        raise invalid_argument(
            f"{what}_pooling_sequence must have at least {outs + 1} elements for "
            f"{outs} windows, but got {len(ends)}"
        )
    taken = np.minimum(ends[: outs + 1], size)
    if taken[0] < 0 or np.any(np.diff(taken) <= 0):
        raise invalid_argument(
            f"{what}_pooling_sequence must not be negative, and must grow: {ends}"
        )
    return taken


@op
class FractionalMaxPoolGrad(Op):
    """The gradient of FractionalMaxPool: to the first maximum of each window."""

    signature = (
        "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64,"
        " col_pooling_sequence: int64; overlapping: bool = False -> output: T"
    )
    T = TYPES

    def infer(self, orig_input: Spec) -> Spec:
        if orig_input.rank not in (None, 4):
            raise ShapeError(f"Shape must be rank 4 but is rank {orig_input.rank}")
        return Spec(orig_input.dtype, orig_input.shape or (None,) * 4)

    def kernel(
        self,
        orig_input,
        orig_output,
        out_backprop,
        row_pooling_sequence,
        col_pooling_sequence,
        overlapping,
    ):
        x, y = orig_input, orig_output
        if x.ndim != 4 or y.ndim != 4:
            raise invalid_argument("orig_input and orig_output must be 4-dimensional")
        rows = _windows(x.shape[1], y.shape[1], row_pooling_sequence, "row")
        columns = _windows(x.shape[2], y.shape[2], col_pooling_sequence, "col")
        tall = _folded(x, rows, overlapping, ROWS, np.maximum)
        if not np.array_equal(_folded(tall, columns, overlapping, COLUMNS, np.maximum), y):
            raise invalid_argument("orig_output is not what these windows of orig_input give")
        if out_backprop.shape != y.shape:
            raise invalid_argument(
                f"out_backprop must have the shape {y.shape} of orig_output, not "
                f"{out_backprop.shape}"
            )
        return _to_maxima(x, out_backprop, rows, columns, overlapping)


def _cell_indices(ends: Any, overlapping: bool) -> Any:
    """The indices of each window, [window, widest]; narrower ones repeat their last."""
    widths = _widths(ends, overlapping)
    steps = np.arange(widths.max(initial=1))
    return ends[:-1, None] + np.minimum(steps, widths[:, None] - 1)


def _to_maxima(x: Any, gradient: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
    down, across = _cell_indices(rows, overlapping), _cell_indices(columns, overlapping)
    whole = x[:, down[:, None, :, None], across[None, :, None, :]]
    batch, tall, wide, high, broad, depth = whole.shape
    best = whole.reshape(batch, tall, wide, high * broad, depth).argmax(axis=3)
    i = np.arange(tall)[:, None, None]
    j = np.arange(wide)[:, None]
    result = np.zeros_like(x)
    first, last = np.ogrid[:batch, :depth]
    at = (first[:, None, None], down[i, best // broad], across[j, best % broad], last)
    np.add.at(result, at, gradient)
    return result


@op
class FractionalAvgPoolGrad(Op):
    """The gradient of FractionalAvgPool: the same to all elements of a window."""

    signature = (
        "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64,"
        " col_pooling_sequence: int64; overlapping: bool = False -> output: T"
    )
    T = TYPES

    def infer(self, orig_input_tensor_shape: Spec, out_backprop: Spec) -> Spec:
        known = orig_input_tensor_shape.as_shape()
        return Spec(out_backprop.dtype, (None,) * 4 if known is None else known)

    def kernel(
        self,
        orig_input_tensor_shape,
        out_backprop,
        row_pooling_sequence,
        col_pooling_sequence,
        overlapping,
    ):
        if orig_input_tensor_shape.shape != (4,):
            raise invalid_argument(
                "original input tensor shape must be 1-dimensional and 4 elements"
            )
        if out_backprop.ndim != 4:
            raise invalid_argument("out_backprop must be 4-dimensional")
        batch, tall, wide, depth = orig_input_tensor_shape.tolist()
        outs = out_backprop.shape
        if (outs[0], outs[3]) != (batch, depth):
            raise invalid_argument(
                f"out_backprop of shape {outs} does not fit to the input's shape "
                f"{[batch, tall, wide, depth]}"
            )
        rows = _windows(tall, outs[1], row_pooling_sequence, "row")
        columns = _windows(wide, outs[2], col_pooling_sequence, "col")
        # As a mean: integers are truncated once, at the end.
        share = np.zeros((batch, outs[1] + 1, outs[2] + 1, depth))
        share[:, :-1, :-1] = out_backprop / _counts(rows, columns, overlapping)
        gradient: Any = 0
        for down in _owners(rows, overlapping):
            for across in _owners(columns, overlapping):
                gradient = gradient + share[:, down[:, None], across]
        result = np.zeros((batch, tall, wide, depth), out_backprop.dtype)
        result[:, : gradient.shape[1], : gradient.shape[2]] = gradient
        return result
