"""Ragged tensors as flat values and row splits: ranges, gathering, and dense and sparse forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, INDEX, bfloat16, float32, float64, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers
from intaglio.ops.families import shape_of
from intaglio.ops.restricted import run_loops


def _comma(dims: Any) -> str:
    return "[" + ",".join(str(d) for d in dims) + "]"


def positions(starts: Any, lengths: Any) -> Any:
    """start, start + 1, ... for each of the starts, one range after the other."""
    total = int(lengths.sum())
    ends = np.cumsum(lengths)
    shift = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(total, dtype=starts.dtype) + shift


def splits_from(lengths: Any, dtype: Any) -> Any:
    """Row splits of rows of these lengths."""
    splits = np.zeros(lengths.size + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


# No range has more numbers.
MAX_RANGE = 1 << 63
# The size of a position, from which the values of ranges are computed.
POSITION_BYTES = 8


@op
class RaggedRange(Op):
    """start, start + delta, ... below limit, for each of several ranges."""

    signature = (
        "starts: T, limits: T, deltas: T; Tsplits: type = int64"
        " -> rt_nested_splits: Tsplits, rt_dense_values: T"
    )
    differentiable = False
    T = (bfloat16, float32, float64, int32, int64)
    Tsplits = INDEX

    def infer(self, starts: Spec, limits: Spec, deltas: Spec, Tsplits) -> Any:
        size: int | None = None
        for x in (starts, limits, deltas):
            if x.rank is not None and x.rank > 1:
                raise ShapeError(f"Shape must be at most rank 1 but is rank {x.rank}")
            if x.shape and x.shape[0] is not None:
                if size is not None and size != x.shape[0]:
                    raise ShapeError(f"Dimensions must be equal, but are {size} and {x.shape[0]}")
                size = x.shape[0]
        if size is None and all(x.rank == 0 for x in (starts, limits, deltas)):
            size = 1
        rows = None if size is None else size + 1
        return Spec(Tsplits, (rows,)), Spec(starts.dtype, (None,))

    def kernel(self, starts, limits, deltas, Tsplits):
        parts = {"starts": starts, "limits": limits, "deltas": deltas}
        for name, x in parts.items():
            if np.ndim(x) > 1:
                raise invalid_argument(f"{name} must be a scalar or vector")
        if len({np.shape(x) for x in parts.values() if np.ndim(x)}) > 1:
            raise invalid_argument("starts, limits, and deltas must have the same shape")
        if np.any(deltas == 0):
            raise invalid_argument("Requires delta != 0")
        dtype = np.result_type(starts)
        begin, end, step = np.broadcast_arrays(*map(np.atleast_1d, parts.values()))
        lengths = _range_lengths(begin, end, step)
        check_allocated((int(lengths.sum(dtype=np.float64)),), POSITION_BYTES, "RaggedRange")
        splits = splits_from(lengths, Tsplits.numpy)
        if dtype.kind == "i":
            return splits, integer_ranges(begin, step, splits)
        inside = positions(np.zeros(lengths.size, np.int64), lengths).astype(dtype)
        values = np.repeat(begin, lengths) + inside * np.repeat(step, lengths)
        return splits, values.astype(dtype, copy=False)


# What NumPy takes for a number in a range, in multiplications.
WORK_PER_NUMBER = 8


def integer_ranges(begin: Any, step: Any, splits: Any) -> Any:
    """begin, begin + step, ... for each row of these splits, one range after the other."""
    values = np.empty(int(splits[-1]), begin.dtype)
    arrays = [np.ascontiguousarray(x) for x in (begin, step, splits)]
    if run_loops(fill_ranges, WORK_PER_NUMBER * values.size, values, *arrays, rows=begin.size):
        return values
    lengths = np.diff(splits).astype(np.int64)
    if np.all(step == 1):
        return positions(begin, lengths).astype(begin.dtype, copy=False)
    inside = positions(np.zeros(lengths.size, np.int64), lengths).astype(begin.dtype)
    return np.repeat(begin, lengths) + inside * np.repeat(step, lengths)


def fill_ranges(values: Any, begin: Any, step: Any, splits: Any, first: Any, last: Any) -> None:
    """`integer_ranges` of some rows."""
    for row in range(first, last):
        at, value, by = splits[row], begin[row], step[row]
        for i in range(splits[row + 1] - at):
            values[at + i] = value
            value += by


def _range_lengths(begin: Any, end: Any, step: Any) -> Any:
    if begin.dtype.kind == "i":
        gap = end.astype(np.int64) - begin
        if np.all(step == 1):
            return np.maximum(gap, 0)
        count = -((-gap) // step.astype(np.int64))
        return np.where((gap > 0) == (step > 0), np.maximum(count, 0), 0)
    gap = (end.astype(np.float64) - begin.astype(np.float64)) / step.astype(np.float64)
    if not np.all(gap < MAX_RANGE):
        raise invalid_argument(f"Requires ((limit - start) / delta) <= {MAX_RANGE - 1}")
    return np.maximum(np.ceil(gap), 0).astype(np.int64)


@op
class RaggedGather(Op):
    """The rows of a ragged tensor at the indices, with the shape of the indices."""

    signature = (
        "params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues,"
        " indices: Tindices; OUTPUT_RAGGED_RANK: int"
        " -> output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits,"
        " output_dense_values: Tvalues"
    )
    Tvalues = ALL
    Tindices = INDEX
    Tsplits = INDEX

    def infer(
        self,
        params_nested_splits: list[Spec],
        params_dense_values: Spec,
        indices: Spec,
        OUTPUT_RAGGED_RANK,
    ) -> Any:
        _check_ragged_rank(OUTPUT_RAGGED_RANK)
        dtype = params_nested_splits[0].dtype
        splits = [Spec(dtype, (None,)) for _ in range(OUTPUT_RAGGED_RANK)]
        if indices.shape is not None and indices.shape and splits:
            size = indices.shape[0]
            splits[0] = Spec(dtype, (None if size is None else size + 1,))
        dims = params_dense_values.shape
        inner = None if dims is None else (None, *dims[1:])
        return splits, Spec(params_dense_values.dtype, inner)

    def kernel(self, params_nested_splits, params_dense_values, indices, OUTPUT_RAGGED_RANK):
        _check_ragged_rank(OUTPUT_RAGGED_RANK)
        splits, taken = _gathered(params_nested_splits, params_dense_values, indices)
        dtype = params_nested_splits[0].dtype
        # What several dimensions of indices add: uniform partitions in front.
        front: list[Any] = []
        rows = 1
        for axis in range(indices.ndim - 1):
            rows *= indices.shape[axis]
            step = indices.shape[axis + 1]
            front.append(np.arange(rows + 1, dtype=dtype) * step)
        whole = [*front, *splits]
        kept = whole[len(whole) - OUTPUT_RAGGED_RANK :]
        return kept, np.take(params_dense_values, taken, axis=0)

    def gradient(
        self, doutput_dense_values, params_nested_splits, params_dense_values: Spec, indices
    ) -> Any:
        # The values' indices are gathered like the values.
        def by_values() -> Any:
            shape: Any = shape_of(params_dense_values)
            rows = raw.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
            zero, one = np.asarray(0, np.int64), np.asarray(1, np.int64)
            positions = raw.Range(zero, raw.Cast(rows, DstT=int64), one)
            rank = len(params_nested_splits)
            flat = raw.Reshape(indices, np.asarray([-1], np.int32))
            found = raw.RaggedGather(params_nested_splits, positions, flat, OUTPUT_RAGGED_RANK=rank)
            return raw.UnsortedSegmentSum(doutput_dense_values, found.output_dense_values, rows)

        return [None] * len(params_nested_splits), by_values, None


def _check_ragged_rank(rank: int) -> None:
    if rank < 0:
        raise invalid_argument(
            f"Value for attr 'OUTPUT_RAGGED_RANK' of {rank} must be at least minimum 0"
        )


def _gathered(splits: Any, values: Any, indices: Any) -> tuple[list[Any], Any]:
    """The row splits of the gathered rows, and the indices of their values."""
    outer = splits[0]
    size = outer.size - 1
    flat = indices.reshape(-1)
    if flat.size and (flat.min() < 0 or flat.max() >= size):
        bad = int(np.flatnonzero((flat < 0) | (flat >= size))[0])
        raise invalid_argument(f"indices[{bad}] = {flat[bad]} is not in [0, {size})")
    row_indices = flat
    found: list[Any] = []
    for level in splits:
        if level.size and level.min() < 0:
            raise invalid_argument(
                f"Ragged splits must be non-negative, but one is {int(level.min())}"
            )
        if np.any(np.diff(level) < 0):
            raise invalid_argument(
                "Ragged splits must be sorted, but one is smaller than the one before it"
            )
        starts = level[:-1][row_indices]
        lengths = level[1:][row_indices] - starts
        found.append(splits_from(lengths, level.dtype))
        row_indices = positions(starts, lengths)
    if row_indices.size and (values.ndim == 0 or row_indices.max() >= values.shape[0]):
        raise invalid_argument("Ragged splits must not be greater than the values")
    return found, row_indices


# -- dense ---------------------------------------------------------------------------


@op
class RaggedTensorToTensor(Op):
    """The rows of a ragged tensor as a tensor, with a default where there are no values."""

    signature = (
        "shape: Tshape, values: T, default_value: T,"
        " row_partition_tensors: num_row_partition_tensors*Tindex;"
        " row_partition_types: list(str) -> result: T"
    )
    T = ALL
    Tindex = INDEX
    Tshape = INDEX
    without_default = ("Tshape",)

    def infer(
        self,
        shape: Spec,
        values: Spec,
        default_value: Spec,
        row_partition_tensors: list[Spec],
        row_partition_types,
    ) -> Spec:
        if values.shape is None:
            return Spec(values.dtype, None)
        levels = len(row_partition_tensors)
        first = row_partition_types[0] == "FIRST_DIM_SIZE"
        ragged = levels - 1 if first else levels
        dims: list[int | None] = [None] * (ragged + 1)
        if not first and row_partition_types[0] == "ROW_SPLITS":
            rows = row_partition_tensors[0].shape
            dims[0] = rows[0] - 1 if rows and rows[0] is not None else None
        dims += values.shape[1:]
        wanted = numbers(shape)
        if shape.rank != 0 and wanted is None:
            dims = [None] * len(dims)
        if wanted is not None and shape.rank == 1 and len(wanted) == len(dims):
            dims = [d if w < 0 else w for d, w in zip(dims, wanted, strict=True)]
        return Spec(values.dtype, tuple(dims))

    def kernel(self, shape, values, default_value, row_partition_tensors, row_partition_types):
        partitions = _as_splits(row_partition_tensors, row_partition_types)
        dims = _dense_dims(shape, values, partitions)
        _check_default(default_value, values)
        if values.ndim - 1 < 0:
            raise invalid_argument("values must have rank at least 1")
        result = np.empty(dims, values.dtype)
        result[...] = default_value
        inner = math.prod(dims[len(partitions) + 1 :])
        targets, taken = _dense_positions(partitions, dims, values.shape[0])
        rows = result.reshape((math.prod(dims[: len(partitions) + 1]), inner))
        source = values.reshape((values.shape[0], math.prod(values.shape[1:])))
        if source.shape[1] == inner and tuple(values.shape[1:]) == tuple(
            dims[len(partitions) + 1 :]
        ):
            rows[targets] = source[taken]
            return rows.reshape(dims)
        flat = result.reshape((rows.shape[0], *dims[len(partitions) + 1 :]))
        cut = tuple(
            slice(0, min(a, b)) for a, b in zip(values.shape[1:], flat.shape[1:], strict=True)
        )
        flat[(targets, *cut)] = values[(taken, *cut)]
        return flat.reshape(dims)

    def gradient(
        self,
        dresult,
        shape,
        values,
        default_value: Spec,
        row_partition_tensors,
        row_partition_types,
        result: Spec,
    ) -> Any:
        # Where each value went: the same op scatters the values' numbers.
        levels = len(row_partition_tensors)
        first = row_partition_types[0] == "FIRST_DIM_SIZE"
        outer = levels if first else levels + 1
        dense: Any = raw.Shape(dresult, out_type=int64)
        lead = raw.StridedSlice(dense, [0], [outer], [1])
        count = raw.StridedSlice(
            raw.Shape(values, out_type=int64), [0], [1], [1], shrink_axis_mask=1
        )
        zero, one = np.asarray(0, np.int64), np.asarray(1, np.int64)
        positions = raw.RaggedTensorToTensor(
            lead,
            raw.Range(zero, count, one),
            np.asarray(-1, np.int64),
            row_partition_tensors,
            row_partition_types=row_partition_types,
        )
        flat = raw.Reshape(positions, np.asarray([-1], np.int32))
        tail = raw.StridedSlice(dense, [outer], [0], [1], end_mask=1)
        rows = raw.Reshape(dresult, raw.ConcatV2([np.asarray([-1], np.int64), tail], 0))
        dvalues = raw.UnsortedSegmentSum(rows, flat, count)

        def by_default() -> Any:
            empty = raw.Less(flat, zero)
            chosen = raw.GatherV2(rows, raw.Squeeze(raw.Where(empty), axis=[1]), 0)
            one = np.asarray(1, np.int32)
            own: Any = default_value.rank
            own = raw.Rank(default_value.tensor) if own is None else np.asarray(own, np.int32)
            # The shape to which the default was broadcast, and the elements that have it.
            wide = raw.Sub(raw.Rank(chosen), own)
            summed = raw.Sum(chosen, raw.Range(np.asarray(0, np.int32), wide, one))
            return raw.Reshape(summed, shape_of(default_value))

        return None, dvalues, by_default, [None] * levels


def _as_splits(tensors: Any, kinds: Any) -> list[Any]:
    """Row splits for each partition, however it was given."""
    found: list[Any] = []
    rows: int | None = None
    for tensor, kind in zip(tensors, kinds, strict=True):
        if kind == "FIRST_DIM_SIZE":
            rows = int(tensor)
        elif kind == "ROW_SPLITS":
            if not tensor.size:
                raise invalid_argument(
                    "Invalid first partition input. Tensor requires at least one element."
                )
            if rows is not None and tensor.size - 1 > rows:
                raise invalid_argument(
                    f"Row partition size is greater than output size: {tensor.size - 1} > {rows}"
                )
            found.append(tensor)
            rows = int(tensor[-1])
        elif kind == "VALUE_ROWIDS":
            lengths = np.bincount(tensor, minlength=rows or 0)
            found.append(splits_from(lengths, tensor.dtype))
            rows = tensor.size
        else:
            raise invalid_argument(f"Unsupported row partition type {kind}")
    return found


def _dense_dims(shape: Any, values: Any, partitions: list[Any]) -> list[int]:
    dims = [partitions[0].size - 1]
    dims += [int(np.diff(p).max(initial=0)) for p in partitions]
    dims += values.shape[1:]
    if shape.ndim == 0:
        if shape != -1:
            raise invalid_argument("tf.cond requires the shape to be a vector, or -1 for any shape")
        return dims
    if shape.size and shape.min() < -1:
        raise invalid_argument(f"Dimension {int(shape.min())} must be >= -1")
    if shape.size != len(dims):
        raise invalid_argument(
            f"rt_input.shape and shape={_comma(shape.tolist())} are incompatible: "
            f"rt_input.rank = {len(dims)} but shape.rank = {shape.size}"
        )
    return [own if w < 0 else int(w) for own, w in zip(dims, shape, strict=True)]


def _check_default(default: Any, values: Any) -> None:
    if default.ndim >= values.ndim and default.ndim:
        raise invalid_argument(
            f"default_value.shape={_comma(default.shape)} and rt_input.flat_values.shape="
            f"{_comma(values.shape)} are incompatible: default_value.rank = "
            f"{default.ndim}  must be less than rt_input.flat_values.rank = {values.ndim}"
        )
    facing = values.shape[values.ndim - default.ndim :]
    if any(d not in (1, f) for d, f in zip(default.shape, facing, strict=True)):
        raise invalid_argument(
            f"default_value.shape={_comma(default.shape)} and rt_input.flat_values.shape="
            f"{_comma(values.shape)} are incompatible: default_value.shape"
            f" = {_comma(default.shape)} does not broadcast to {_comma(facing)}"
        )


def _dense_positions(partitions: list[Any], dims: list[int], size: int) -> tuple[Any, Any]:
    """The positions of values in the dense outer dimensions, and the values' indices."""
    rows = min(partitions[0].size - 1, dims[0])
    targets = np.arange(rows)
    index = np.arange(rows)
    for splits, width in zip(partitions, dims[1:], strict=False):
        starts = splits[:-1][index].astype(np.int64)
        lengths = np.minimum(splits[1:][index].astype(np.int64) - starts, width)
        targets = positions(targets * width, lengths)
        index = positions(starts, lengths)
    if index.size and index.max() >= size:
        raise invalid_argument("row splits reach beyond the values")
    return targets, index


# -- sparse --------------------------------------------------------------------------


@op
class RaggedTensorToSparse(Op):
    """The values of a ragged tensor with their indices."""

    signature = (
        "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T"
        " -> sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64"
    )
    T = ALL
    Tsplits = INDEX

    def infer(self, rt_nested_splits: list[Spec], rt_dense_values: Spec) -> Any:
        dims = rt_dense_values.shape
        rank = None if dims is None else len(rt_nested_splits) + len(dims)
        count = rt_dense_values.count
        return (
            Spec(int64, (count, rank)),
            Spec(rt_dense_values.dtype, (count,)),
            Spec(int64, (rank,)),
        )

    def kernel(self, rt_nested_splits, rt_dense_values):
        values = rt_dense_values
        for splits in rt_nested_splits:
            if not splits.size or splits[0] != 0:
                raise invalid_argument("First value of ragged splits must be 0.")
        lengths = [*(s.size - 1 for s in rt_nested_splits[1:]), values.shape[0]]
        for splits, length in zip(rt_nested_splits, lengths, strict=True):
            if splits[-1] != length:
                raise invalid_argument(
                    "Final value of ragged splits must match the length the corresponding"
                    f" ragged values: it is {int(splits[-1])}, for {length} values."
                )
        columns: list[Any] = [np.arange(rt_nested_splits[0].size - 1)]
        widths: list[int] = [rt_nested_splits[0].size - 1]
        for splits in rt_nested_splits:
            lengths = np.diff(splits)
            inside = positions(np.zeros(lengths.size, np.int64), lengths)
            columns = [np.repeat(c, lengths) for c in columns] + [inside]
            widths.append(int(lengths.max(initial=0)))
        inner = values.shape[1:]
        each = math.prod(inner)
        grid = np.indices(inner).reshape(len(inner), each)
        rows = values.shape[0]
        table = [np.repeat(c, each) for c in columns] + [np.tile(g, rows) for g in grid]
        indices = np.stack(table, axis=1).astype(np.int64)
        return indices, values.reshape(-1), np.array([*widths, *inner], np.int64)

    def gradient(self, dsparse_values, rt_nested_splits, rt_dense_values: Spec) -> Any:
        back = raw.Reshape(dsparse_values, shape_of(rt_dense_values))
        return [None] * len(rt_nested_splits), back
