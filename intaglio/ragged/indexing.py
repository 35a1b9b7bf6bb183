"""Indexing of ragged tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/RaggedTensor#__getitem__. The first key
is for rows; those after it are for the dimensions of every row.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import convert, raw, slicing
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import checks, core
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope

_ALL = slice(None)


@dispatchable
def ragged_getitem(rt_input: Any, key: Any) -> Any:
    """`rt_input[key]` as a function, which libraries may take over for what stands for ragged tensors."""
    return getitem(
        convert.to_tensor(rt_input) if not isinstance(rt_input, Ragged) else rt_input, key
    )


def getitem(x: Any, key: Any) -> Any:
    """`x[key]`. Raises TypeError for keys that are none, ValueError for ragged columns."""
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    with name_scope("RaggedGetItem"):
        if not keys:
            return x
        slicing.parse(keys)  # raises for what is no key
        return _rows(x, _without_ellipsis(x, keys))


def _without_ellipsis(x: Any, keys: list[Any]) -> list[Any]:
    """`...` as as many `:` as there are dimensions without a key."""
    positions = [i for i, k in enumerate(keys) if k is Ellipsis]
    if not positions:
        return keys
    rank = core.rank_of(x)
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    taken = len([k for k in keys if k is not None and k is not Ellipsis])
    open_dims = max(0, rank - taken)
    at = positions[0]
    rest = [k for k in keys[at + 1 :] if k is not Ellipsis]
    return [*keys[:at], *[_ALL] * open_dims, *rest]


def _rows(x: Any, keys: list[Any]) -> Any:
    """`x[keys]` with the first key for the rows."""
    if not keys:
        return x
    if not isinstance(x, Ragged):
        return x[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        whole = _rows(x, rest)
        return core.from_uniform(whole, _count(whole, x), 1)
    if isinstance(first, slice):
        return inner(_sliced_rows(x, first), rest)
    starts, limits = _row_bounds(x, first)
    return _rows(x.values[starts:limits], rest)


def _count(x: Any, like: Any) -> Any:
    if isinstance(x, Ragged):
        return x.partition.nrows()
    shape: Any = raw.Shape(x, out_type=like.row_splits.dtype)
    return shape[0]


def _row_bounds(x: Any, key: Any) -> tuple[Any, Any]:
    count = x.partition.static_nrows
    if not isinstance(key, Tensor):
        key = convert.to_tensor(key)
    static_key = checks.static(key)
    if static_key is not None and count is not None and static_key >= count:
        raise IndexError(f"Row key {static_key} out of bounds")
    return x.partition.row_starts()[key], x.partition.row_limits()[key]


def _sliced_rows(x: Any, key: slice) -> Any:
    """`x[a:b:c]`."""
    if key.start is None and key.stop is None and key.step is None:
        return x
    rows = x.partition
    starts: Any = rows.row_starts()[key]
    limits: Any = rows.row_limits()[key]
    uniform = rows.static_uniform_row_length
    if key.step is None or (isinstance(key.step, int) and key.step == 1):
        # The rows are neighbours: one slice of the values.
        splits = rows.row_splits()
        zero = convert.to_tensor([0], splits.dtype)
        begin: Any = raw.ConcatV2([starts[:1], zero], 0)
        end: Any = raw.ConcatV2([limits[-1:], zero], 0)
        first = begin[0]
        values = x.values[first : raw.Maximum(first, end[0])]
        moved = raw.ConcatV2([zero, limits - first], 0)
        return core.from_splits(values, moved, uniform)
    return gathered_ranges(x.values, starts, limits, uniform)


def gathered_ranges(
    values: Any, starts: Any, limits: Any, uniform: int | None = None, step: Any = None
) -> Any:
    """The ragged tensor whose rows are `values[start:limit:step]`."""
    step = convert.to_tensor(1, starts.dtype) if step is None else step
    indices = raw.RaggedRange(starts, limits, step, Tsplits=starts.dtype)
    return core.from_splits(
        rows_at(values, indices.rt_dense_values), indices.rt_nested_splits, uniform
    )


def rows_at(x: Any, indices: Any) -> Any:
    """The rows of a tensor or ragged tensor that a vector of indices names."""
    if not isinstance(x, Ragged):
        return raw.GatherV2(x, indices, 0)
    parts = raw.RaggedGather(
        list(x.nested_row_splits), x.flat_values, indices, OUTPUT_RAGGED_RANK=x.ragged_rank
    )
    lengths = [p.static_uniform_row_length for p in x.nested_partitions]
    gathered = parts.output_dense_values
    pairs = list(zip(parts.output_nested_splits, lengths, strict=True))
    for splits, uniform in reversed(pairs):
        gathered = core.from_splits(gathered, splits, uniform)
    return gathered


# -- inside every row --------------------------------------------------------------------


def inner(x: Any, keys: list[Any]) -> Any:
    """`x[:, *keys]`: the keys are for the dimensions of every row."""
    if not keys:
        return x
    if not isinstance(x, Ragged):
        return x[(_ALL, *keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        return core.from_uniform(inner(x, rest), 1, x.partition.nrows())
    if isinstance(first, slice):
        if first == _ALL:
            return _with_inner(x, rest)
        return _with_inner(_sliced_columns(x, first), rest)
    return inner(_column(x, first), rest)


def _with_inner(x: Any, keys: list[Any]) -> Any:
    return x.with_values(inner(x.values, keys)) if keys else x


def _column(x: Any, key: Any) -> Any:
    """`x[:, i]`, which only uniform rows have."""
    length = x.partition.uniform_row_length()
    if length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    dtype = x.row_splits.dtype
    index = core.as_index(key, dtype)
    starts: Any = x.partition.row_starts()
    static, size = checks.static(index), checks.static(length)
    if static is not None and size is not None and not -size <= static < size:
        raise checks.fail(f"slice index {static} of dimension 0 out of bounds.")
    zero = convert.to_tensor(0, dtype)
    from_front = raw.SelectV2(raw.Less(index, zero), index + length, index)
    return rows_at(x.values, starts + from_front)


def _sliced_columns(x: Any, key: slice) -> Any:
    """`x[:, a:b:c]`: of every row what the slice takes."""
    rows = x.partition
    dtype = rows.dtype
    step = convert.to_tensor(1, dtype) if key.step is None else core.as_index(key.step, dtype)
    forward = checks.static(step)
    lengths: Any = rows.row_lengths()
    starts: Any = rows.row_starts()
    zero = convert.to_tensor(0, dtype)
    one = convert.to_tensor(1, dtype)
    up = raw.Greater(step, zero)
    # Where a row's slice may begin and end, counted from the row's start.
    low = raw.SelectV2(up, lengths * zero, lengths * zero - one)
    high = raw.SelectV2(up, lengths, lengths - one)
    begin = _bound(key.start, lengths, low, high, raw.SelectV2(up, low, high), dtype)
    end = _bound(key.stop, lengths, low, high, raw.SelectV2(up, high, low), dtype)
    sliced = gathered_ranges(x.values, starts + begin, starts + end, step=step)
    size = rows.static_uniform_row_length
    if size is None or forward is None or not _all_static(key):
        return sliced
    plain = slice(*[None if v is None else int(v) for v in (key.start, key.stop, key.step)])
    return core.from_splits(sliced.values, sliced.row_splits, len(range(*plain.indices(size))))


def _all_static(key: slice) -> bool:
    return not any(isinstance(v, Tensor) for v in (key.start, key.stop, key.step))


def _bound(value: Any, lengths: Any, low: Any, high: Any, default: Any, dtype: Any) -> Any:
    """A slice's bound in every row, counted from the front and cut to the row."""
    if value is None:
        return default
    bound = core.as_index(value, dtype)
    zero = convert.to_tensor(0, dtype)
    moved = raw.SelectV2(raw.Less(bound, zero), lengths + bound, lengths * zero + bound)
    return raw.Minimum(raw.Maximum(moved, low), high)
