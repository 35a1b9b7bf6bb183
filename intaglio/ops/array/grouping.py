"""Elements by equality or by group: unique, set difference, partition and stitch."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, DType
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.array.sorting import MAX_PACKED_ROW, stable_order
from intaglio.ops.families import check_rank, shape_of
from intaglio.ops.restricted import run_loops
from intaglio.ops.text import native_strings


def distinct(x: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Positions of the distinct elements as they first occur, which each is, how often."""
    few = x.size < MIN_HASHED
    if x.dtype.kind in "iub" and not few:
        return _distinct_integers(x)
    if x.dtype.kind in "fV" and not few and x.itemsize in (2, 4, 8) and not np.isnan(x).any():
        return _distinct_bits((x + x.dtype.type(0)).view(f"u{x.itemsize}"))  # there is one zero
    if x.dtype == object:
        found = native_strings.distinct(x)
        if found is not None:
            return *found, np.bincount(found[1], minlength=len(found[0]))
    # Looked up and numbered without a step of Python for each.
    numbers: dict[Any, int] = collections.defaultdict(itertools.count().__next__)
    items = x.flat if x.dtype == object else x.tolist()
    which = np.fromiter(map(numbers.__getitem__, items), np.int64, len(x))
    first = np.empty(len(numbers), np.int64)
    first[which[::-1]] = np.arange(len(x) - 1, -1, -1)  # the last one written is the first
    return first, which, np.bincount(which, minlength=len(first))


def _distinct_integers(x: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """`distinct` without a loop: counted if their range is small, else sorted."""
    if x.size and x.dtype.kind != "b":
        low, span = x.min(), int(x.max()) - int(x.min()) + 1
        if span <= max(2 * x.size, 64):
            unsigned = (x - low).view(f"u{x.itemsize}")
            return _distinct_close(unsigned.astype(np.int64), span)
    return _distinct_bits(x.view(f"u{x.itemsize}"))


# What sorting takes for a number, in multiplications.
WORK_PER_SORTED = 100
# Fewer numbers are looked up by Python as quickly.
MIN_HASHED = 64
# So many comparisons of elements with partitions cost more than sorting the elements.
MIN_SORTED_COMPARISONS = 1 << 11
# With so few partitions the elements of each are found by comparisons, in order, for less.
MAX_COMPARED_PARTITIONS = 6
# Rows are compared column by column if there are many of them, and few columns.
MIN_NUMBERED_ROWS = 256
MAX_NUMBERED_COLUMNS = 16
_FIBONACCI = -0x61C8864680B583EB  # 2**64 divided by the golden ratio, as an int64


def number_distinct(
    firsts: Any, counts: Any, size: Any, found: Any, table: Any, x: Any, shift: Any, mask: Any,
    begin: Any, end: Any,
) -> None:  # fmt: skip
    """Numbers the distinct elements of x by a hash table, whose empty slots are 0; `size` becomes
    their count."""
    for _ in range(begin, end):  # one row: the whole array
        known = 0
        for i in range(size[0]):
            value = x[i]
            slot = ((value * _FIBONACCI) >> shift) & mask
            while table[slot] != 0 and x[firsts[table[slot] - 1]] != value:
                slot = (slot + 1) & mask
            if table[slot] == 0:
                firsts[known] = i
                counts[known] = 0
                known += 1
                table[slot] = known
            number = table[slot] - 1
            counts[number] = counts[number] + 1
            found[i] = number
        size[0] = known


def _distinct_by_hash(x: Any) -> tuple[Any, np.ndarray, np.ndarray] | None:
    """`distinct` of integers by machine code; None without a kernel."""
    bits = max(2 * x.size, 2).bit_length()
    values = x.view(np.int64) if x.itemsize == 8 else x.astype(np.int64)
    firsts, counts, found = (np.empty(x.size, np.int64) for _ in range(3))
    size, table = np.array([x.size]), np.zeros(1 << bits, np.int32)
    arrays = firsts, counts, size, found, table, np.ascontiguousarray(values)
    work = WORK_PER_SORTED * x.size
    if not run_loops(number_distinct, work, *arrays, 64 - bits, (1 << bits) - 1, rows=1):
        return None
    known = int(size[0])
    return firsts[:known], found, counts[:known]


def _distinct_bits(x: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """`distinct` of unsigned integers, which are sorted."""
    found = _distinct_by_hash(x) if MIN_HASHED <= x.size < MAX_PACKED_ROW else None
    if found is not None:
        return found
    order = stable_order(x)
    ordered = x[order]
    changes = np.empty(x.size, np.bool_)
    changes[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    begins = np.flatnonzero(changes)
    counts = np.diff(begins, append=x.size)
    first = order[begins]
    by_first = stable_order(first.astype(np.uint32 if x.size < MAX_PACKED_ROW else np.uint64))
    number = np.empty_like(by_first)
    number[by_first] = np.arange(by_first.size)
    which = np.empty(x.size, np.int64)
    which[order] = np.repeat(number, counts)
    return first[by_first], which, counts[by_first]


def _distinct_close(x: Any, span: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """`distinct` of integers below `span`."""
    at = np.full(span, -1)
    at[x[::-1]] = np.arange(x.size - 1, -1, -1)  # the last one written is the first
    first = np.sort(at[at >= 0])
    number = np.empty(span, np.int64)
    number[x[first]] = np.arange(first.size)
    which = number[x]
    return first, which, np.bincount(which, minlength=first.size)


def _distinct_rows(x: Any, axis: int) -> tuple[Any, np.ndarray, np.ndarray]:
    rows = np.moveaxis(x, axis, 0)
    if len(rows) >= MIN_NUMBERED_ROWS and 0 < rows[0].size <= MAX_NUMBERED_COLUMNS:
        return _distinct_columns(rows.reshape(len(rows), -1))
    keys = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        keys[i] = tuple(row.reshape(-1).tolist())
    return distinct(keys)


def _distinct_columns(rows: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """`distinct` rows of a matrix: two are equal if the numbers of their elements in each column are."""
    found = distinct(rows[:, 0])
    for column in rows.T[1:]:
        first, which, _ = distinct(column)
        found = distinct(found[1] * len(first) + which)
    return found


def _one_axis(x: Any, axis: Any) -> int:
    """The axis that the vector `axis` names: 0 if it is empty."""
    check_rank("axis", axis, 1)
    if axis.size == 0:
        if x.ndim != 1:
            raise invalid_argument("unique expects a 1D vector.")
        return 0
    if axis.size != 1:
        raise invalid_argument("axis does not support input tensors larger than 1 elements")
    at = int(axis.reshape(-1)[0])
    if not -x.ndim <= at < x.ndim:
        raise invalid_argument(f"axis has to be between [-{x.ndim}, {x.ndim})")
    return at % x.ndim


class Distinct(Op):
    """The shared form of the ops that find distinct elements."""

    T = ALL

    def vector(self, x: Spec, out_idx: DType, counts: bool) -> Any:
        """Specs for a vector's distinct elements."""
        if x.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {x.rank}")
        length = x.shape[0] if x.shape else None
        specs = [Spec(x.dtype, (None,)), Spec(out_idx, (length,))]
        return (*specs, Spec(out_idx, (None,))) if counts else tuple(specs)

    def along(self, x: Spec, axis: Spec, out_idx: DType, counts: bool) -> Any:
        """Specs for the distinct slices along an axis."""
        at = 0 if axis.shape == (0,) else number(axis)
        dims: Dims = None
        length = None
        if x.shape is not None:
            if at is None or not -len(x.shape) <= at < len(x.shape):
                dims = (None,) * len(x.shape)
            else:
                at %= len(x.shape)
                length = x.shape[at]
                dims = (*x.shape[:at], None, *x.shape[at + 1 :])
        specs = [Spec(x.dtype, dims), Spec(out_idx, (length,))]
        return (*specs, Spec(out_idx, (None,))) if counts else tuple(specs)

    def found(self, x: Any, axis: Any, out_idx: DType) -> tuple[Any, Any, Any]:
        """y, idx and count as arrays."""
        if axis is None and x.ndim != 1:
            raise invalid_argument("unique expects a 1D vector.")
        at = 0 if axis is None else _one_axis(x, axis)
        first, which, count = distinct(x) if x.ndim == 1 else _distinct_rows(x, at)
        y = np.take(x, np.array(first, np.int64), at)
        return y, which.astype(out_idx.numpy), count.astype(out_idx.numpy)


@op
class Unique(Distinct):
    """A vector's distinct elements as they first occur, and which of them each element is."""

    out_idx = INDEX

    signature = "x: T; out_idx: type = int32 -> y: T, idx: out_idx"

    def infer(self, x: Spec, out_idx: DType) -> Any:
        return self.vector(x, out_idx, False)

    def kernel(self, x, out_idx):
        return self.found(x, None, out_idx)[:2]


@op
class UniqueWithCounts(Distinct):
    """Unique, with how often each distinct element occurs."""

    out_idx = INDEX

    signature = "x: T; out_idx: type = int32 -> y: T, idx: out_idx, count: out_idx"

    def infer(self, x: Spec, out_idx: DType) -> Any:
        return self.vector(x, out_idx, True)

    def kernel(self, x, out_idx):
        return self.found(x, None, out_idx)


@op
class UniqueV2(Distinct):
    """The distinct slices along an axis, and which of them each slice is."""

    out_idx = INDEX

    signature = "x: T, axis: Taxis; out_idx: type = int32 -> y: T, idx: out_idx"
    Taxis = INDEX

    def infer(self, x: Spec, axis: Spec, out_idx: DType) -> Any:
        return self.along(x, axis, out_idx, False)

    def kernel(self, x, axis, out_idx):
        return self.found(x, axis, out_idx)[:2]


@op
class UniqueWithCountsV2(Distinct):
    """UniqueV2, with how often each distinct slice occurs."""

    out_idx = INDEX

    signature = "x: T, axis: Taxis; out_idx: type = int32 -> y: T, idx: out_idx, count: out_idx"
    Taxis = INDEX

    def infer(self, x: Spec, axis: Spec, out_idx: DType) -> Any:
        return self.along(x, axis, out_idx, True)

    def kernel(self, x, axis, out_idx):
        return self.found(x, axis, out_idx)


@op
class ListDiff(Op):
    """The elements of x that are not in y, and their indices in x."""

    out_idx = INDEX

    signature = "x: T, y: T; out_idx: type = int32 -> out: T, idx: out_idx"
    T = ALL

    def infer(self, x: Spec, y: Spec, out_idx: DType) -> Any:
        for v in (x, y):
            if v.rank not in (1, None):
                raise ShapeError(f"Shape must be rank 1 but is rank {v.rank}")
        return Spec(x.dtype, (None,)), Spec(out_idx, (None,))

    def kernel(self, x, y, out_idx):
        for v, name in ((x, "x"), (y, "y")):
            if v.ndim != 1:
                raise invalid_argument(f"{name} should be a 1D vector.")
        if x.dtype == object:
            without = set(y.tolist())
            among = np.fromiter(map(without.__contains__, x.tolist()), np.bool_, len(x))
        else:
            among = np.isin(x, y)
        kept = np.flatnonzero(~among)
        return x[kept], kept.astype(out_idx.numpy)


@op
class UnravelIndex(Op):
    """Flat indices as coordinates, a row for each dimension."""

    signature = "indices: Tidx, dims: Tidx -> output: Tidx"
    differentiable = False
    Tidx = INDEX

    def infer(self, indices: Spec, dims: Spec) -> Spec:
        if dims.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {dims.rank}")
        if indices.shape is None:
            return Spec(indices.dtype, None)
        depth = dims.shape[0] if dims.shape else None
        count = shapes.count(indices.shape)
        return Spec(indices.dtype, (depth, count) if indices.shape else (depth,))

    def kernel(self, indices, dims):
        if indices.ndim > 1:
            raise invalid_argument(
                f"The indices can only be scalar or vector got {list(indices.shape)}"
            )
        if not indices.size:
            raise invalid_argument(
                f"received empty tensor indices of shape {brackets(indices.shape)}"
            )
        size = int(np.prod(dims))
        if indices.min() < 0 or indices.max() >= size:
            raise invalid_argument(f"index is out of bound as with dims {brackets(dims.tolist())}")
        rows = np.unravel_index(indices.reshape(-1), dims.tolist())
        result = np.array(rows, indices.dtype)
        return result if indices.ndim else result.reshape(-1)


# What an array takes besides its elements.
ARRAY_BYTES = 128


@op
class DynamicPartition(Op):
    """The data in several tensors: `partitions` has the tensor's number for each slice."""

    signature = "data: T, partitions: int32; num_partitions: int -> outputs: num_partitions*T"
    T = ALL

    def infer(self, data: Spec, partitions: Spec, num_partitions) -> Any:
        if data.shape is None or partitions.shape is None:
            return [Spec(data.dtype, None) for _ in range(num_partitions)]
        depth = len(partitions.shape)
        if not shapes.compatible(data.shape[:depth], partitions.shape):
            raise ShapeError(
                f"data.shape must start with partitions.shape, got data.shape = {brackets(data.shape)}, partitions.shape = {brackets(partitions.shape)}"
            )
        dims = (None, *data.shape[depth:])
        return [Spec(data.dtype, dims) for _ in range(num_partitions)]

    def kernel(self, data, partitions, num_partitions):
        depth = partitions.ndim
        if data.shape[:depth] != partitions.shape:
            raise invalid_argument(
                f"data.shape must start with partitions.shape, got data.shape = {brackets(data.shape)}, partitions.shape = {brackets(partitions.shape)}"
            )
        bad = partitions.view(np.uint32) >= num_partitions  # negative numbers are large ones
        if bad.any():
            at = tuple(np.argwhere(bad)[0].tolist())
            where = f"[{','.join(map(str, at))}]" if at else ""
            raise invalid_argument(
                f"partitions{where} = {partitions[at]} is not in [0, {num_partitions})"
            )
        check_allocated((num_partitions,), ARRAY_BYTES, "DynamicPartition")
        rows = data.reshape((-1, *data.shape[depth:])) if data.size else None
        flat = partitions.reshape(-1)
        if rows is None:
            empty = np.empty((0, *data.shape[depth:]), data.dtype)
            counts = [int((flat == i).sum()) for i in range(num_partitions)]
            return [np.empty((c, *empty.shape[1:]), data.dtype) for c in counts]
        if flat.size * num_partitions < MIN_SORTED_COMPARISONS:
            return [rows[flat == i] for i in range(num_partitions)]
        small = flat.astype(
            f"u{1 if num_partitions <= 1 << 8 else 2 if num_partitions <= 1 << 16 else 4}"
        )
        if num_partitions <= MAX_COMPARED_PARTITIONS:
            return [rows.take(np.flatnonzero(small == i), 0) for i in range(num_partitions)]
        # NumPy sorts numbers of up to 16 bits by their digits.
        order = small.argsort(kind="stable") if small.itemsize < 4 else stable_order(small)
        ends = np.bincount(flat, minlength=num_partitions).cumsum().tolist()
        grouped = rows.take(order, 0)
        return [grouped[a:b] for a, b in itertools.pairwise([0, *ends])]

    def gradient(self, doutputs, data: Spec, partitions, num_partitions) -> Any:
        shape = raw.Shape(partitions)
        positions = raw.Reshape(raw.Range(0, raw.Size(partitions), 1), shape)
        positions_in_parts = raw.DynamicPartition(
            positions, partitions, num_partitions=num_partitions
        )
        stitched = raw.DynamicStitch(list(positions_in_parts), list(doutputs))
        return raw.Reshape(stitched, shape_of(data)), None


@op
class DynamicStitch(Op):
    """`merged[indices[m][i]] = data[m][i]`; where indices repeat, the last one counts."""

    signature = "indices: N*int32, data: N*T -> merged: T"
    T = ALL

    def infer(self, indices: list[Spec], data: list[Spec]) -> Spec:
        rest: Dims = None
        largest: int | None = -1
        for where, what in zip(indices, data, strict=True):
            if where.value is None:
                largest = None
            elif largest is not None and np.size(where.value):
                largest = max(largest, int(np.max(where.value)))
            if where.shape is not None and what.shape is not None:
                depth = len(where.shape)
                if not shapes.compatible(what.shape[:depth], where.shape):
                    raise ShapeError(
                        f"data shape {brackets(what.shape)} does not start with indices shape {brackets(where.shape)}"
                    )
                rest = shapes.merge(rest, what.shape[depth:])
        if rest is None:
            return Spec(data[0].dtype, None)
        return Spec(data[0].dtype, (None if largest is None else largest + 1, *rest))

    def kernel(self, indices, data):
        rest = data[0].shape[indices[0].ndim :]
        size = 1 + max([int(i.max()) for i in indices if i.size], default=-1)
        fill = b"" if data[0].dtype == object else 0
        check_allocated((size, *rest), data[0].dtype.itemsize, "DynamicStitch")
        merged = np.full_like(data[0], fill, order="C", shape=(size, *rest))
        for m, (where, what) in enumerate(zip(indices, data, strict=True)):
            if what.shape[: where.ndim] != where.shape or what.shape[where.ndim :] != rest:
                raise invalid_argument(
                    f"data[{m}].shape = {brackets(what.shape)} does not start with indices[{m}].shape = {brackets(where.shape)}, or its other dimensions are not {brackets(rest)}"
                )
            if where.size and where.min() < 0:
                raise invalid_argument(f"indices[{m}] is out of range")
            merged[where.reshape(-1)] = what.reshape((where.size, *rest))
        return merged

    def gradient(self, dmerged, indices) -> Any:
        return [None] * len(indices), [raw.GatherV2(dmerged, i, 0) for i in indices]


@op
class ParallelDynamicStitch(DynamicStitch):
    """DynamicStitch, without an order among repeated indices."""
