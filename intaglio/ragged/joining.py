"""Concatenation, stacking and repetition of ragged tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/concat,
https://www.tensorflow.org/api_docs/python/tf/ragged/stack and
https://www.tensorflow.org/api_docs/python/tf/tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, raw
from intaglio.ragged import checks, core, densities, indexing
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope


def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """The operands one after the other along an axis."""
    with name_scope(name or "RaggedConcat"):
        operands = _operands(values)
        if len(operands) == 1:
            return operands[0]
        axis = checks.axis_of(axis, _rank(operands))
        return _concatenated(operands, axis)


def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """The operands as the slices of a new axis."""
    with name_scope(name or "RaggedConcat"):
        operands = _operands(values)
        rank = _rank(operands)
        axis = checks.axis_of(axis, None if rank is None else rank + 1)
        return _stacked(operands, axis)


def _operands(values: Any) -> list[Any]:
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    return core.matched(values)


def _rank(operands: Sequence[Any]) -> int | None:
    """The rank that all have. Raises ValueError if two differ."""
    rank = core.rank_of(operands[0])
    for x in operands[1:]:
        if rank is None:
            rank = core.rank_of(x)
        elif x.dims is not None:
            TensorShape(x.dims).assert_has_rank(rank)
    return rank


def _concatenated(operands: Sequence[Any], axis: int) -> Any:
    if not any(isinstance(x, Ragged) for x in operands) and (
        axis != 1 or len({x.dims for x in operands}) == 1
    ):
        # Rows of tensors: the tensors' own rows, if they are equally long.
        inner = {x.dims[1:axis] for x in operands}
        if len(inner) == 1 and axis > 0:
            return raw.ConcatV2(list(operands), axis)
        if axis == 0 and len({x.dims[1:] for x in operands}) == 1:
            return raw.ConcatV2(list(operands), 0)
    operands = _alike(operands)
    if not isinstance(operands[0], Ragged):
        return raw.ConcatV2(list(operands), axis, name="concat")
    if axis == 0:
        return _rows_after_rows(operands)
    if axis == 1:
        joined = _interleaved(operands)
        count = len(operands)
        return core.from_splits(joined.values, joined.row_splits[::count])
    _check_outer(operands)
    first = operands[0]
    return first.with_values(_concatenated([x.values for x in operands], axis - 1))


def _alike(operands: Sequence[Any]) -> list[Any]:
    """All operands with as many partitions as the one that has most."""
    most = max([x.ragged_rank if isinstance(x, Ragged) else 0 for x in operands])
    dtype = core.splits_dtype(*operands)
    return [cut_to(x, max(most, 0), dtype) for x in operands]


def cut_to(x: Any, ragged_rank: int, dtype: Any) -> Any:
    """The operand with this many partitions; further ones are uniform."""
    if ragged_rank == 0:
        return x
    if isinstance(x, Ragged):
        if x.ragged_rank == ragged_rank:
            return x
        return x.with_values(cut_to(x.values, ragged_rank - 1, dtype))
    return densities.from_tensor(x, None, None, ragged_rank, dtype)


def _rows_after_rows(operands: Sequence[Any]) -> Any:
    levels = list(zip(*[x.nested_row_splits for x in operands], strict=True))
    flat = raw.ConcatV2([x.flat_values for x in operands], 0, name="concat")
    result = flat
    uniform = _uniform_lengths(operands)
    for splits, length in reversed(list(zip(levels, uniform, strict=True))):
        result = core.from_splits(result, _joined_splits(splits), length)
    return result


def _uniform_lengths(operands: Sequence[Any]) -> list[int | None]:
    """The lengths of rows that are the same in all operands."""
    columns = zip(*[x.nested_partitions for x in operands], strict=True)
    found: list[int | None] = []
    for rows in columns:
        lengths = {r.static_uniform_row_length for r in rows}
        found.append(lengths.pop() if len(lengths) == 1 else None)
    return found


def _joined_splits(splits: Sequence[Any]) -> Any:
    parts: list[Any] = [splits[0]]
    last = splits[0][-1]
    for one in splits[1:]:
        parts.append(one[1:] + last)
        last = last + one[-1]
    return raw.ConcatV2(parts, 0)


def _interleaved(operands: Sequence[Any]) -> Any:
    """The first rows of all operands, then the second rows, ..."""
    count = operands[0].partition.nrows()
    for i, x in enumerate(operands[1:], 1):
        checks.compare(
            "==",
            count,
            x.partition.nrows(),
            f"Input tensors at index 0 (=x) and {i} (=y) have incompatible shapes.",
        )
    whole = _rows_after_rows(operands)
    dtype = whole.row_splits.dtype
    positions = raw.Range(
        convert.to_tensor(0, dtype),
        core.as_index(count, dtype) * len(operands),
        convert.to_tensor(1, dtype),
    )
    table = raw.Reshape(positions, np.asarray([len(operands), -1], np.int32))
    order = raw.Reshape(raw.Transpose(table, np.asarray([1, 0], np.int32)), [-1])
    return indexing.rows_at(whole, order)


def _check_outer(operands: Sequence[Any]) -> None:
    for i, x in enumerate(operands[1:], 1):
        text = f"Input tensors at index 0 (=x) and {i} (=y) have incompatible shapes."
        checks.same_splits(operands[0].row_splits, x.row_splits, text)


def _stacked(operands: Sequence[Any], axis: int) -> Any:
    if axis == 0:
        if core.rank_of(operands[0]) == 0:
            return raw.Pack(list(operands), axis=0)
        whole, counts = _stacked_rows(operands)
        return core.from_lengths(whole, counts)
    if axis == 1 or not isinstance(operands[0], Ragged):
        if not any(isinstance(x, Ragged) for x in operands):
            return raw.Pack(list(operands), axis=axis)
        joined = _interleaved(_alike(operands))
        return core.from_uniform(joined, len(operands))
    operands = _alike(operands)
    _check_outer(operands)
    first = operands[0]
    return first.with_values(_stacked([x.values for x in operands], axis - 1))


def _stacked_rows(operands: Sequence[Any]) -> tuple[Any, Any]:
    """All operands' rows one after the other, and how many each has."""
    dtype = core.splits_dtype(*operands)
    counts = [
        x.partition.nrows()
        if isinstance(x, Ragged)
        else raw.StridedSlice(raw.Shape(x, out_type=dtype), [0], [1], [1], shrink_axis_mask=1)
        for x in operands
    ]
    whole = operands[0]
    if len(operands) > 1:
        if core.rank_of(whole) != 1 and len({_row_shape(x) for x in operands}) > 1:
            operands = [cut_to(x, max(_cuts(x), 1), dtype) for x in operands]
        whole = _concatenated(operands, 0)
    return whole, raw.Pack(counts, axis=0)


def _row_shape(x: Any) -> Any:
    return x.dims[1:] if x.dims is not None else None


def _cuts(x: Any) -> int:
    return x.ragged_rank if isinstance(x, Ragged) else 0


# -- repeating -----------------------------------------------------------------------


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along each dimension, `multiples` times."""
    with name_scope(name or "RaggedTile"):
        times = convert.to_tensor(multiples)
        checks.has_rank(times, 1)
        rank = core.rank_of(input) or 0
        known = checks.known(times)
        if known is not None and known.size < rank:
            raise IndexError(
                f"index {known.size} is out of bounds for axis 0 with size {known.size}"
            )
        return _tiled(input, times, known, rank)


def _tiled(x: Any, times: Any, known: Any, rank: int) -> Any:
    for axis in range(rank):
        if known is None or known[axis] != 1:
            x = _repeated(x, times[axis], axis, rank)
    return x


def _repeated(x: Any, count: Any, axis: int, rank: int) -> Any:
    if not isinstance(x, Ragged):
        own = len(x.dims)
        one = np.ones(1, np.int64)
        many = raw.ExpandDims(core.as_index(count, convert.as_dtype("int64")), 0)
        parts: list[Any] = [one] * own
        parts[axis] = many
        return raw.Tile(x, raw.ConcatV2([convert.to_tensor(p) for p in parts], 0))
    if axis > 1:
        return _inside(x, count, axis, rank)
    dtype = x.row_splits.dtype
    count = core.as_index(count, dtype)
    if axis == 0:
        zero, one = convert.to_tensor(0, dtype), convert.to_tensor(1, dtype)
        indices = raw.Range(zero, x.partition.nrows(), one)
        return indexing.rows_at(x, raw.Tile(indices, raw.ExpandDims(count, 0)))
    lengths: Any = x.partition.row_lengths()
    many = raw.Pack([convert.to_tensor(1, dtype), count], axis=0)

    def tiled(bounds: Any) -> Any:
        return raw.Reshape(raw.Tile(raw.ExpandDims(bounds, 1), many), [-1])

    rows = x.partition
    repeated = indexing.gathered_ranges(
        x.values, tiled(rows.row_starts()), tiled(rows.row_limits())
    )
    return core.from_lengths(repeated.values, lengths * count)


def _inside(x: Any, count: Any, axis: int, rank: int) -> Any:
    """An axis of the values' rows: the rows of `x` stay as they are."""
    return x.with_values(_repeated(x.values, count, axis - 1, rank - 1))


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of ragged tensors with equal rows."""
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(f"Invalid argument for inputs, got {inputs}")
    operands = core.matched(inputs)
    sizes = {x.flat_values.dims[0] for x in operands if isinstance(x, Ragged)}
    if len(sizes - {None}) > 1:
        raise ValueError(
            "Input RaggedTensors' flat_values must all have the same outer-dimension "
            f"size.  Got sizes: {sizes}"
        )
    first = next(x for x in operands if isinstance(x, Ragged))
    for other in operands:
        if isinstance(other, Ragged):
            for a, b in zip(first.nested_row_splits, other.nested_row_splits, strict=True):
                checks.same_splits(a, b)
    flats = [x.flat_values if isinstance(x, Ragged) else x for x in operands]
    return first.with_flat_values(raw.AddN(flats, name=name))
