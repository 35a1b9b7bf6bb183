"""Order: the largest elements, the n-th element, insertion points in sorted rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, REAL, DType, bool_, int16, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import raw, short_floats
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.families import check_rank, constant, shape_of
from intaglio.ops.math.exact_reduction import first_of_slices

# Of rows that are longer, the index does not fit beside a key of 32 bits.
MAX_PACKED_ROW = 1 << 32
MIN_LONG_ROW = 4096
# Elements of a long row of which the maximum is found first.
MAXIMUM_BLOCK = 64


def _keys(x: Any) -> np.ndarray:
    """Unsigned integers of the elements' size, smaller for what comes earlier: larger elements.

    Equal elements have equal keys; NaN has the largest.
    """
    bits, sign = x.itemsize * 8, np.array(1 << (x.itemsize * 8 - 1), f"u{x.itemsize}")
    if x.dtype.kind in "iu":
        keys = ~np.ascontiguousarray(x).view(sign.dtype)
        return keys ^ sign if x.dtype.kind == "i" else keys
    keys = (x + x.dtype.type(0)).view(sign.dtype)  # there is one zero
    negative = (keys.view(f"i{x.itemsize}") >> (bits - 1)).view(sign.dtype)
    keys ^= ~negative & ~sign
    missing = np.isnan(x)
    if missing.any():
        keys[missing] = ~sign | sign
    return keys


def _packed(keys: np.ndarray) -> np.ndarray:
    """Keys of up to 32 bits, each with its index in the lower half: all different."""
    packed = keys.astype(np.uint64)
    packed <<= np.uint64(32)
    packed |= np.arange(keys.shape[-1], dtype=np.uint64)
    return packed


def _indices(packed: np.ndarray) -> np.ndarray:
    return (packed & np.uint64(MAX_PACKED_ROW - 1)).view(np.int64)


def descending(x: Any) -> np.ndarray:
    """The order from large to small along the last dimension; of equals, the first comes first.

    NaN comes last.
    """
    return stable_order(_keys(x))


def stable_order(keys: np.ndarray) -> np.ndarray:
    """The order of rows of unsigned integers; equal ones keep their order.

    NumPy sorts numbers many times faster than their indices, and faster than by a stable sort.
    """
    if keys.itemsize <= 4 and keys.shape[-1] < MAX_PACKED_ROW:
        packed = _packed(keys)
        packed.sort(axis=-1)
        return _indices(packed)
    return _stable(keys, np.argsort(keys, axis=-1))


def _stable(keys: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An order of rows with the equal keys in the order in which they come."""
    ordered = np.take_along_axis(keys, order, -1)
    changes = ordered[..., 1:] != ordered[..., :-1]
    if changes.all():
        return order
    if keys.shape[-1] >= MAX_PACKED_ROW:
        return np.argsort(keys, axis=-1, kind="stable")
    packed = np.zeros(keys.shape, np.uint64)
    np.cumsum(changes, axis=-1, out=packed[..., 1:])
    packed <<= np.uint64(32)
    packed |= order.view(np.uint64)
    packed.sort(axis=-1)
    return _indices(packed)


def _ordinary(x: Any) -> bool:
    """True if the numbers can be compared: none is NaN."""
    return x.dtype.kind in "iu" or (x.dtype.kind == "f" and not np.isnan(x).any())


def _is_long(x: Any) -> bool:
    """True for rows that are better looked at one after the other."""
    return x.ndim == 1 or x.shape[-1] >= MIN_LONG_ROW


def _first_of_row(row: Any, k: int) -> np.ndarray:
    """The positions of the k largest elements, of which none is NaN."""
    # Only those at least as large as the k-th largest need to be put in order, and only those at least as
    # large as the k-th largest maximum of a block are compared with it.
    blocks = row.size // MAXIMUM_BLOCK
    if blocks < 2 * k:
        among = np.flatnonzero(row >= _kth_largest(row, k))
    else:
        maxima = row[: blocks * MAXIMUM_BLOCK].reshape(blocks, MAXIMUM_BLOCK).max(axis=1)
        among = np.flatnonzero(row >= _kth_largest(maxima, k))
        chosen = row[among]
        among = among[chosen >= _kth_largest(chosen, k)]
    return among[descending(row[among])[:k]]


def _kth_largest(row: Any, k: int) -> Any:
    return np.partition(row, row.size - k)[row.size - k]


def _first_of_rows(x: Any, k: int) -> np.ndarray:
    """The positions of the k largest elements of rows, which have more."""
    keys = _keys(x)
    if keys.itemsize <= 4 and keys.shape[-1] < MAX_PACKED_ROW:
        return _indices(np.sort(np.partition(_packed(keys), k, axis=-1)[..., :k], axis=-1))
    among = np.argpartition(keys, k, axis=-1)[..., : k + 1]
    chosen = np.take_along_axis(keys, among, -1)
    order = np.argsort(chosen, axis=-1)
    ordered = np.take_along_axis(chosen, order, -1)
    if (ordered[..., 1:] == ordered[..., :-1]).any():  # the first of equals is to be chosen
        return descending(x)[..., :k]
    return np.take_along_axis(among, order, -1)[..., :k]


# Rows of so few elements, of so many together, are searched as columns.
MAX_COLUMN, MIN_COLUMNS_ELEMENTS = 16, 1 << 13
# Selection by repeated argmin: the maximum k, the minimum number of elements of a row for each selected
# one, and the minimum number of elements of the array.
MAX_SELECTED, MIN_ELEMENTS_PER_SELECTED, MIN_SELECTION_ELEMENTS = 64, 32, 256
# Number of elements in a block of rows, whose keys stay in cache.
SELECTION_BLOCK_ELEMENTS = 1 << 15


def _by_repeated_argmin(x: Any, k: int) -> np.ndarray | None:
    """The positions of the k largest elements of rows, by k argmin passes over descending keys.

    A selected element's key is replaced by the largest key. None if a row has fewer than k elements with
    smaller keys.
    """
    rows = x.reshape(-1, x.shape[-1])
    order = np.empty((len(rows), k), np.int64)
    step = max(1, SELECTION_BLOCK_ELEMENTS // rows.shape[1])
    for start in range(0, len(rows), step):
        keys = _keys(rows[start : start + step])
        least, all_rows = np.iinfo(keys.dtype).max, np.arange(len(keys))
        for rank in range(k):
            order[start : start + step, rank] = at = keys.argmin(axis=1)
            if (keys[all_rows, at] == least).any():
                return None
            keys[all_rows, at] = least
    return order.reshape(*x.shape[:-1], k)


def _suits_repeated_argmin(x: Any, k: int) -> bool:
    """True if k is small for rows that are neither short nor longer than a block."""
    row = x.shape[-1]
    few = 0 < k <= MAX_SELECTED and k * MIN_ELEMENTS_PER_SELECTED <= row
    return few and row <= SELECTION_BLOCK_ELEMENTS and x.size >= MIN_SELECTION_ELEMENTS


def _first_of_columns(x: Any) -> tuple[np.ndarray, np.ndarray]:
    """The largest element of each row, and its position, for rows of few elements as columns: NumPy starts a
    loop for each row. There is no NaN."""
    rows = x.reshape(-1, x.shape[-1])
    order, _ = first_of_slices(np.ascontiguousarray(rows.T), lowest=False)
    shape = *x.shape[:-1], 1
    return rows[np.arange(len(rows)), order].reshape(shape), order.reshape(shape)


def largest(x: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest elements of each row, from large to small, and their positions."""
    if short_floats.is_short(x.dtype):  # NumPy compares these one by one
        _, order = largest(short_floats.widened(x), k)
        return np.take_along_axis(x, order, -1), order
    if k == 1 and x.shape[-1] and not (x.dtype.kind in "fV" and np.isnan(x).any()):
        if x.size >= MIN_COLUMNS_ELEMENTS and x.shape[-1] <= MAX_COLUMN and x.dtype.kind in "iuf":
            return _first_of_columns(x)
        order = np.argmax(x, axis=-1)[..., None]
        return np.take_along_axis(x, order, -1), order
    order = _by_repeated_argmin(x, k) if _suits_repeated_argmin(x, k) else None
    if order is not None:
        return np.take_along_axis(x, order, -1), order
    if x.size and 0 < k < x.shape[-1] // 8 and _is_long(x) and _ordinary(x):
        rows = x.reshape(-1, x.shape[-1])
        order = np.array([_first_of_row(row, k) for row in rows], np.int64)
        order = order.reshape(*x.shape[:-1], k)
    elif x.size and 0 < k < x.shape[-1] // 4:
        order = _first_of_rows(x, k)
    else:
        order = descending(x)[..., :k]
    return np.take_along_axis(x, order, -1), order


def _top_dims(x: Spec, k: int | None) -> Dims:
    if x.shape is None:
        return None
    if not x.shape:
        raise ShapeError("Shape must be at least rank 1 but is rank 0")
    last = x.shape[-1]
    if k is not None and k < 0:
        raise ShapeError(f"Need k >= 0, got {k}")
    if k is not None and last is not None and last < k:
        raise ShapeError(f"input must have last dimension >= k = {k} but is {last}")
    return (*x.shape[:-1], k)


def _check_k(x: Any, k: int) -> None:
    if x.ndim < 1:
        raise invalid_argument("input must be >= 1-D, got shape []")
    if k < 0:
        raise invalid_argument(f"Need k >= 0, got {k}")
    if x.shape[-1] < k:
        raise invalid_argument(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")


def top_gradient(dvalues: Any, input: Spec, indices: Any) -> Any:
    """The values' gradient, back where the values stood."""
    if indices.dtype.name != "int32":
        indices = raw.Cast(indices, DstT="int32")
    shape = shape_of(input)
    one = np.asarray([1], np.int32)
    rows = raw.Prod(raw.StridedSlice(shape, [0], [-1], one), 0)
    columns = raw.StridedSlice(shape, [-1], [0], one, end_mask=1, shrink_axis_mask=1)
    k = raw.StridedSlice(raw.Shape(indices), [-1], [0], one, end_mask=1, shrink_axis_mask=1)
    starts = raw.Mul(raw.Range(0, rows, 1), columns)
    flat = raw.AddV2(raw.Reshape(indices, raw.Pack([rows, k])), raw.ExpandDims(starts, -1))
    total = raw.Pack([raw.Mul(rows, columns)])
    scattered = raw.ScatterNd(raw.Reshape(flat, [-1, 1]), raw.Reshape(dvalues, [-1]), total)
    return raw.Reshape(scattered, shape)


@op
class TopKV2(Op):
    """The k largest elements along the last dimension, from large to small, and their indices."""

    native_exact = True
    index_type = (int16, int32, int64)

    signature = "input: T, k: Tk; sorted: bool = True, index_type: type = int32 -> values: T, indices: index_type"
    T = REAL
    Tk = (int16, *INDEX)
    batching = "leading"

    def infer(self, input: Spec, k: Spec, index_type: DType) -> Any:
        if k.rank not in (0, None):
            raise ShapeError(f"Shape must be rank 0 but is rank {k.rank}")
        dims = _top_dims(input, number(k))
        return Spec(input.dtype, dims), Spec(index_type, dims)

    def kernel(self, input, k, index_type):
        _check_k(input, int(k))
        values, order = largest(input, int(k))
        return values, order.astype(index_type.numpy)

    def gradient(self, dvalues, input: Spec, indices) -> Any:
        return top_gradient(dvalues, input, indices), None


@op
class TopK(Op):
    """TopKV2 with k as an attribute."""

    native_exact = True
    signature = "input: T; k: int, sorted: bool = True -> values: T, indices: int32"
    T = REAL
    batching = "leading"

    def infer(self, input: Spec, k) -> Any:
        dims = _top_dims(input, k)
        return Spec(input.dtype, dims), Spec(int32, dims)

    def kernel(self, input, k):
        _check_k(input, k)
        values, order = largest(input, k)
        return values, order.astype(np.int32)

    def native(self, input, k, sorted) -> Any:
        return raw.TopKV2(input, np.asarray(k, np.int32), sorted=sorted)

    def gradient(self, dvalues, input: Spec, indices) -> Any:
        return top_gradient(dvalues, input, indices)


class InTop(Op):
    """For each row of predictions, whether the target class is among the k largest."""

    native_exact = True
    differentiable = False
    T = INDEX
    batched_inputs = 2
    batching = "examples"

    def vector(self, predictions: Spec, targets: Spec) -> Spec:
        """One answer for each row."""
        if predictions.rank not in (2, None):
            raise ShapeError(f"Shape must be rank 2 but is rank {predictions.rank}")
        if targets.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {targets.rank}")
        rows = predictions.shape[:1] if predictions.shape else (None,)
        return Spec(bool_, shapes.merge(rows, targets.shape))

    def answers(self, predictions: Any, targets: Any, k: int) -> np.ndarray:
        """Ties with the k-th score count; classes out of range do not, nor do rows not all finite."""
        if predictions.ndim != 2:
            raise invalid_argument("predictions must be 2-dimensional")
        if targets.ndim != 1:
            raise invalid_argument("targets must be 1-dimensional")
        if len(predictions) != len(targets):
            raise invalid_argument(
                f"First dimension of predictions {len(predictions)} must match length of targets {len(targets)}"
            )
        classes = predictions.shape[1]
        inside = (targets >= 0) & (targets < classes)
        rows = np.arange(len(targets))
        target_scores = predictions[rows, np.where(inside, targets, 0)] if classes else None
        if target_scores is None:
            return np.zeros(len(targets), np.bool_)
        larger = (predictions > target_scores[:, None]).sum(1)
        return inside & np.isfinite(predictions).all(1) & (larger < k)

    def in_top(self, predictions: Any, targets: Any, k: Any) -> Any:
        """`answers` in ops."""
        zero = constant(0, targets)
        count = predictions.dims[1]
        if not count or targets.dims != predictions.dims[:1]:
            return NotImplemented
        below = raw.Less(targets, constant(count, targets))
        inside = raw.LogicalAnd(raw.GreaterEqual(targets, zero), below)
        indices = raw.ExpandDims(raw.SelectV2(inside, targets, zero), 1)
        own = raw.GatherV2(predictions, indices, 1, batch_dims=1)
        above = raw.Cast(raw.Greater(predictions, own), DstT=targets.dtype)
        seen = raw.Less(raw.Sum(above, 1), k)
        sound = raw.All(raw.IsFinite(predictions), 1)
        return raw.LogicalAnd(raw.LogicalAnd(inside, sound), seen)


@op
class InTopKV2(InTop):
    """Whether the targets are among the k largest predictions."""

    signature = "predictions: float32, targets: T, k: T -> precision: bool"

    def infer(self, predictions: Spec, targets: Spec) -> Spec:
        return self.vector(predictions, targets)

    def kernel(self, predictions, targets, k):
        return self.answers(predictions, targets, int(k))

    def native(self, predictions, targets, k) -> Any:
        return self.in_top(predictions, targets, k)


@op
class InTopK(InTop):
    """InTopKV2 with k as an attribute."""

    signature = "predictions: float32, targets: T; k: int -> precision: bool"

    def infer(self, predictions: Spec, targets: Spec) -> Spec:
        return self.vector(predictions, targets)

    def kernel(self, predictions, targets, k):
        return self.answers(predictions, targets, k)

    def native(self, predictions, targets, k) -> Any:
        return self.in_top(predictions, targets, constant(k, targets))


@op
class NthElement(Op):
    """The n-th smallest element along the last dimension (the n-th largest with `reverse`)."""

    signature = "input: T, n: int32; reverse: bool = False -> values: T"
    T = REAL
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        if input.shape is None:
            return Spec(input.dtype, None)
        if not input.shape:
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        return Spec(input.dtype, input.shape[:-1])

    def kernel(self, input, n, reverse):
        at = int(n)
        if at < 0:
            raise invalid_argument(f"n must be non-negative, got {at}")
        if input.ndim < 1 or input.shape[-1] <= at:
            raise invalid_argument(f"Input must have last dimension > n = {at}")
        ordered = np.sort(input, axis=-1)
        return ordered[..., -1 - at if reverse else at]

    def gradient(self, dvalues, input, values) -> Any:
        """The gradient is divided equally among the elements equal to the result."""
        hit = raw.Cast(raw.Equal(raw.ExpandDims(values, -1), input), DstT=input.dtype)
        count = raw.ExpandDims(raw.Sum(hit, -1), -1)
        return raw.Mul(raw.Div(hit, count), raw.ExpandDims(dvalues, -1)), None


class Bound(Op):
    """The insertion points of values in sorted rows; both are matrices with as many rows."""

    native_exact = True
    signature = "sorted_inputs: T, values: T; out_type: type = int32 -> output: out_type"
    differentiable = False
    T = ALL
    side: str = "left"
    batched_inputs = 2
    batching = "examples"

    def infer(self, sorted_inputs: Spec, values: Spec, out_type: DType) -> Spec:
        for x in (sorted_inputs, values):
            if x.rank not in (2, None):
                raise ShapeError(f"Shape must be rank 2 but is rank {x.rank}")
        return Spec(out_type, values.shape)

    def kernel(self, sorted_inputs, values, out_type):
        check_rank("sorted_inputs", sorted_inputs, 2)
        check_rank("values", values, 2)
        if sorted_inputs.shape[0] != values.shape[0]:
            raise invalid_argument("Leading dim_size of both tensors must match.")
        side: Any = self.side
        if len(values) >= MIN_ROWS_TOGETHER and values.shape[1] <= MAX_VALUES_TOGETHER:
            return _halved_rows(sorted_inputs, values, side).astype(out_type.numpy)
        result = np.empty(values.shape, out_type.numpy)
        for i, (row, wanted) in enumerate(zip(sorted_inputs, values, strict=True)):
            result[i] = _insertion_points(row, wanted, side)
        return result


def _is_range(ordered: Any) -> bool:
    """Whether integers in order follow each other."""
    if int(ordered[-1]) - int(ordered[0]) != ordered.size - 1:
        return False
    return bool(np.all(ordered[1:] != ordered[:-1]))


def _insertion_points(row: Any, wanted: Any, side: Any) -> Any:
    """Where C++'s `lower_bound` or `upper_bound` ends, in rows with NaN or out of order too.

    In a row in order that is `np.searchsorted`; values in order are found by looking the row up among
    them.
    """
    long = row.size > max(MAX_CHECKED_ROW, MAX_CHECKED_PER_VALUE * wanted.size)
    if long or not _in_order(row) or (wanted.dtype.kind not in "biu" and np.any(wanted != wanted)):
        return halved(row, wanted, side)
    if wanted.dtype.kind not in "iu" or wanted.size < row.size:
        return np.searchsorted(row, wanted, side)
    # Neither differences nor distances may wrap around in the dtype.
    if not _in_order(wanted):
        return np.searchsorted(row, wanted, side)
    if wanted.size and _is_range(wanted):  # the index follows from the value
        inside = (np.clip(row, wanted[0], wanted[-1]) - wanted[0]).astype(np.int64)
        steps = inside + (row >= wanted[0] if side == "left" else row > wanted[-1])
    else:
        steps = np.searchsorted(wanted, row, "left" if side == "right" else "right")
    return np.repeat(np.arange(row.size + 1), np.diff(steps, prepend=0, append=wanted.size))


# Longer rows, with so many times the values, are not checked for being sorted.
MAX_CHECKED_ROW, MAX_CHECKED_PER_VALUE = 1 << 16, 16


def _in_order(row: Any) -> bool:
    """Whether no element is less than the one before it, and none is NaN."""
    return bool(np.all(row[:-1] <= row[1:])) and not np.any(row[:1] != row[:1])


# Numbers of rows from which on, and of values for each up to which, all rows are halved together: the calls for a
# row alone take longer than some steps for its values.
MIN_ROWS_TOGETHER, MAX_VALUES_TOGETHER = 8, 128


def halved(row: Any, wanted: Any, side: Any) -> Any:
    """The insertion points by halving the row, for all values together."""
    return _halved(row, 0, row.size, wanted, side)


def _halved_rows(rows: Any, wanted: Any, side: Any) -> Any:
    """The insertion points by halving each row, for the values of all rows together."""
    count, size = rows.shape
    return _halved(rows.reshape(-1), size * np.arange(count)[:, None], size, wanted, side)


def _halved(rows: Any, starts: Any, size: int, wanted: Any, side: Any) -> Any:
    """The insertion points of each value in the row of `size` elements that begins at its start."""
    first = np.zeros(wanted.shape, np.int64)
    left = np.full(wanted.shape, size, np.int64)
    for _ in range(size.bit_length()):
        half = left >> 1
        middle = rows[starts + np.minimum(first + half, size - 1)]
        behind = middle < wanted if side == "left" else np.logical_not(wanted < middle)
        behind = behind & (left > 0)
        first = np.where(behind, first + half + 1, first)
        left = np.where(behind, left - half - 1, half)
    return first


@op
class LowerBound(Bound):
    """The first insertion point of each value."""

    out_type = INDEX


@op
class UpperBound(Bound):
    """The last insertion point of each value."""

    out_type = INDEX

    side = "right"
