"""Several ragged tensors and tensors brought to one shape.

Dimensions are taken from the outermost to the innermost ragged one. A dimension is stretched
where all its slices have length 1; else the rows of all operands have to be equal. What is
inside the innermost ragged dimension broadcasts as tensors do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import checks, core, partition
from intaglio.ragged.core import Ragged
from intaglio.ragged.partition import RowPartition


def together(operands: Sequence[Any]) -> tuple[list[Any], Any]:
    """The operands' flat values in one arrangement, and the partitions of the result.

    Operands are ragged tensors, tensors, or Python values, which count as scalars. Raises
    InvalidArgumentError where the rows of two do not fit.
    """
    ragged = [x for x in operands if isinstance(x, Ragged)]
    if not ragged:
        return list(operands), ()
    first = ragged[0]
    if all(_alike(first, x) for x in operands):
        flats = [x.flat_values if isinstance(x, Ragged) else x for x in operands]
        return flats, first.nested_partitions
    return _broadcast(core.matched(operands))


def _alike(first: Any, x: Any) -> bool:
    """True if an operand's flat values correspond one to one to those of the first."""
    if isinstance(x, Ragged):
        if x.ragged_rank != first.ragged_rank:
            return False
        pairs = zip(x.nested_row_splits, first.nested_row_splits, strict=True)
        same = all(_same_splits(a, b) for a, b in pairs)
        return same and core.rank_of(x.flat_values) == core.rank_of(first.flat_values)
    if not isinstance(x, Tensor):
        return isinstance(x, (int, float, complex, bool, str, bytes, np.generic))
    dims = x.dims
    inner = core.rank_of(first.flat_values)
    return (dims is not None and inner is not None and len(dims) < inner) or dims == ()


def _same_splits(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if not door.level().eager:
        return False
    return a.dtype is b.dtype and np.array_equal(checks.known(a), checks.known(b))


class _Operand:
    """One operand: row splits for each ragged level of the result, and flat values."""

    def __init__(self, x: Any, rank: int, levels: int, dtype: Any) -> None:
        own = core.rank_of(x)
        if own is None:
            raise ValueError("Unable to broadcast: unknown rank")
        for _ in range(rank - own):
            x = _wrapped(x, dtype)
        self.partitions: list[RowPartition] = []
        while isinstance(x, Ragged):
            self.partitions.append(x.partition)
            x = x.values
        while len(self.partitions) < levels:
            x, rows = _cut(x, dtype)
            self.partitions.append(rows)
        self.flat = x
        # Which of the operand's rows each row of the result is; None: the same one.
        self.map: Any = None

    def lengths(self, level: int) -> Any:
        """The lengths of the slices that the result's slices come from."""
        found = self.partitions[level].row_lengths()
        return found if self.map is None else raw.GatherV2(found, self.map, 0)

    def starts(self, level: int) -> Any:
        """Where these slices begin."""
        found = self.partitions[level].row_starts()
        return found if self.map is None else raw.GatherV2(found, self.map, 0)

    def is_single(self, level: int) -> bool:
        """True if all slices are known to have length 1."""
        rows = self.partitions[level]
        if rows.static_uniform_row_length is not None:
            return rows.static_uniform_row_length == 1
        return False


def _wrapped(x: Any, dtype: Any) -> Any:
    """One more dimension of size 1 in front."""
    if not isinstance(x, Ragged):
        return raw.ExpandDims(x, 0)
    count = x.partition.nrows()
    return core.from_uniform(x, core.as_index(count, dtype), 1)


def _cut(x: Any, dtype: Any) -> tuple[Any, RowPartition]:
    """A tensor's two outer dimensions merged into one, and the uniform row length that it had."""
    shape: Any = raw.Shape(x, out_type=dtype)
    dims = x.dims
    rows = RowPartition.from_uniform_row_length(
        shape[1] if dims[1] is None else dims[1],
        shape[0] * shape[1],
        shape[0] if dims[0] is None else dims[0],
        validate=False,
        dtype=dtype,
    )
    merged = raw.ConcatV2([raw.ExpandDims(shape[0] * shape[1], 0), shape[2:]], 0)
    return raw.Reshape(x, merged), rows


def _broadcast(operands: Sequence[Any]) -> tuple[list[Any], Any]:
    dtype = core.splits_dtype(*operands)
    ranks = [_rank(x) for x in operands]
    rank = max(ranks)
    levels = max(
        [
            x.ragged_rank + rank - own
            for x, own in zip(operands, ranks, strict=True)
            if isinstance(x, Ragged)
        ]
    )
    laid_out: list[_Operand | None] = [
        None if own == 0 else _Operand(x, rank, levels, dtype)
        for x, own in zip(operands, ranks, strict=True)
    ]
    present = [x for x in laid_out if x is not None]
    outer = _outer_rows(present)
    partitions: list[RowPartition] = []
    for level in range(levels):
        rows = _level(present, level, outer)
        partitions.append(rows)
        outer = rows.nvals()
    flats: list[Any] = []
    for x, operand in zip(laid_out, operands, strict=True):
        if x is None:
            flats.append(operand)
        else:
            flats.append(x.flat if x.map is None else raw.GatherV2(x.flat, x.map, 0))
    return flats, partitions


def _rank(operand: Any) -> int:
    """The rank of an operand. Raises ValueError if it is unknown: which dimension meets which follows from it."""
    found = core.rank_of(operand)
    if found is None:
        raise ValueError(
            "Unable to broadcast: unknown rank. Give the operand a rank, by tf.ensure_shape or an input signature."
        )
    return found


def _outer_rows(operands: Sequence[_Operand]) -> Any:
    """The number of rows of the result; sets the maps of what is stretched."""
    counts = [x.partitions[0].nrows() for x in operands]
    static = [x.partitions[0].static_nrows for x in operands]
    wide = [i for i, n in enumerate(static) if n != 1]
    if not wide:
        return counts[0]
    count = counts[wide[0]]
    for i in wide[1:]:
        checks.compare("==", counts[i], count)
    for x, n in zip(operands, static, strict=True):
        if n == 1:
            zero = convert.to_tensor(0, count.dtype)
            x.map = raw.Fill(raw.ExpandDims(count, 0), zero)
    return count


def _level(operands: Sequence[_Operand], level: int, outer: Any) -> RowPartition:
    """The result's rows of one dimension; the operands' maps are those of its values."""
    wide = [x for x in operands if not x.is_single(level)] or list(operands[:1])
    chosen = next(
        (x for x in wide if x.partitions[level].static_uniform_row_length is None), wide[0]
    )
    if chosen.map is None:
        rows = chosen.partitions[level]
    else:
        uniform = chosen.partitions[level].static_uniform_row_length
        splits = partition.splits_of(chosen.lengths(level))
        rows = partition.partition_from_splits(splits, uniform)
    splits = rows.row_splits()
    for x in wide:
        if x is not chosen:
            own = x.partitions[level].row_splits()
            if x.map is not None:
                own = partition.splits_of(x.lengths(level))
            uniform = x.partitions[level].is_uniform()
            checks.same_splits(*((own, splits) if uniform else (splits, own)))
    if all(x.map is None and x in wide for x in operands):
        return rows
    rowids: Any = rows.value_rowids()
    offsets: Any = rows.offsets_in_rows()
    for x in operands:
        if x.map is None and x in wide:
            continue
        starts: Any = raw.GatherV2(x.starts(level), rowids, 0)
        x.map = starts if x.is_single(level) and x not in wide else starts + offsets
    return rows
