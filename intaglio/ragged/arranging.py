"""Ragged tensors with dimensions added, removed, reversed or sliced; selection of values.

Follows https://www.tensorflow.org/api_docs/python/tf/expand_dims and the pages of the other
functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import broadcasting, checks, core, densities, indexing, joining, shape
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope

_MINUS_ONE = np.asarray([-1], np.int32)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """A dimension of size 1 more."""
    with name_scope(name or "RaggedExpandDims"):
        rank = core.rank_of(input)
        return expanded(input, checks.axis_of(axis, None if rank is None else rank + 1))


def expanded(x: Any, axis: int) -> Any:
    """`expand_dims` with an axis counted from the front."""
    if not isinstance(x, Ragged):
        return raw.ExpandDims(x, axis)
    count = x.partition.nrows()
    if axis == 0:
        return core.from_uniform(x, count, 1)
    if axis == 1:
        return core.from_uniform(x, 1, count)
    return x.with_values(expanded(x.values, axis - 1))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Without the dimensions of size 1 that `axis` names."""
    with name_scope(name or "RaggedSqueeze"):
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        axes = axis if isinstance(axis, (list, tuple)) else [axis]
        rank = core.rank_of(input)
        found = sorted({checks.axis_of(a, rank) for a in axes}, reverse=True)
        for one in found:
            input = _squeezed(input, one)
        return input


def _squeezed(x: Any, axis: int) -> Any:
    if not isinstance(x, Ragged):
        return raw.Squeeze(x, axis=[axis])
    if axis > 1:
        return x.with_values(_squeezed(x.values, axis - 1))
    lengths = x.partition.nrows() if axis == 0 else x.partition.row_lengths()
    one = convert.to_tensor(1, x.row_splits.dtype)
    same = raw.Equal(lengths, one)
    condition = same if axis == 0 else raw.All(same, np.asarray([0], np.int32))
    checks.holds(condition, [f"the given axis (axis = {axis}) is not squeezable!"])
    return x.values


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor reversed along the axes."""
    rank = core.rank_of(tensor) or 0
    with name_scope(name or "Reverse"):
        if isinstance(axis, Tensor):
            axis = checks.known(axis)
            if axis is None:
                raise ValueError("tf.reverse of a RaggedTensor needs axes that are known")
        axes = axis if isinstance(axis, (list, tuple, np.ndarray)) else [axis]
        found = {checks.axis_of(a, rank, f"axis[{i}]") for i, a in enumerate(axes)}
        if not found:
            return tensor
        backwards = slice(None, None, -1)
        last = max(found)
        key = [backwards if i in found else slice(None) for i in range(last + 1)]
        return indexing.getitem(tensor, key)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The number of elements."""
    wanted = dtypes.int32 if out_type is None else as_dtype(out_type)
    return raw.Size(input.flat_values, out_type=wanted, name=name)


def rank(input: Any, name: str | None = None) -> Any:
    """The number of dimensions."""
    known = core.rank_of(input)
    if known is not None:
        return convert.to_tensor(known, dtypes.int32, name)
    inner = raw.Rank(input.flat_values, name=name)
    return raw.AddV2(inner, np.asarray(input.ragged_rank, np.int32))


def one_hot(
    function: Callable[..., Any],
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Rows of `depth` values, all off but the one at the index."""
    if isinstance(axis, int) and axis >= 0:
        if axis <= indices.ragged_rank:
            raise ValueError("axis (%d) must be greater than indices.ragged_rank (%d)." % (axis, indices.ragged_rank))  # fmt: skip  # noqa: UP031
        axis -= indices.ragged_rank
    return indices.with_flat_values(
        function(indices.flat_values, depth, on_value, off_value, axis, dtype, name)
    )


def over_values(function: Callable[..., Any], x: Any, *rest: Any, **named: Any) -> Any:
    """`function` of the flat values."""
    return x.with_flat_values(function(x.flat_values, *rest, **named))


# -- choosing ------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where the condition holds, else `y`; without both, where it holds."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name or "RaggedWhere"):
        if x is None:
            parts = raw.RaggedTensorToSparse(
                list(condition.nested_row_splits), condition.flat_values
            )
            there: Any = raw.Where(parts.sparse_values)
            return raw.GatherV2(parts.sparse_indices, raw.Squeeze(there, axis=[1]), 0)
        kind = next((v.dtype for v in (x, y) if isinstance(v, (Ragged, Tensor))), None)
        operands = [core.as_operand(condition), core.as_operand(x, kind), core.as_operand(y, kind)]
        flats, partitions = broadcasting.together(operands)
        return core.nested(raw.SelectV2(*flats), partitions)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The slices where the mask is true, in rows as before.

    Raises ValueError for a scalar mask.
    """
    with name_scope(name or "RaggedMask"):
        mask = mask if isinstance(mask, Ragged) else convert.to_tensor(mask, dtypes.bool_)
        if mask.dims == ():
            raise ValueError("mask cannot be scalar.")
        data = core.as_operand(data)
        return _masked(*core.matched([data, mask]))


def _masked(data: Any, mask: Any) -> Any:
    if isinstance(mask, Ragged):
        dtype = mask.row_splits.dtype
        if not isinstance(data, Ragged):
            data = densities.from_tensor(data, None, None, mask.ragged_rank, dtype)
        text = "Inputs must have identical ragged splits"
        checks.same_splits(mask.row_splits, data.row_splits, text)
        kept = _masked(data.values, mask.values)
        if isinstance(mask.values, Ragged):
            return data.with_values(kept)
        counts = raw.Cast(mask.values, DstT=dtype)
        rows = raw.UnsortedSegmentSum(counts, mask.partition.value_rowids(), mask.partition.nrows())
        return core.from_lengths(kept, rows)
    if core.rank_of(mask) == 1:
        indices = raw.Squeeze(raw.Where(mask), axis=[1])
        return indexing.rows_at(data, indices)
    dtype = core.splits_dtype(data)
    cut = len(mask.dims) - 1
    ragged_mask = densities.from_tensor(mask, None, None, cut, dtype)
    return _masked(joining.cut_to(data, max(cut, _levels(data)), dtype), ragged_mask)


def _levels(x: Any) -> int:
    return x.ragged_rank if isinstance(x, Ragged) else 0


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """The slices of `data` by the number that each has, as rows of a ragged tensor."""
    with name_scope(name or "SegmentStack"):
        data = core.as_operand(data)
        numbers = core.as_operand(partitions)
        if isinstance(numbers, Ragged):
            if not isinstance(data, Ragged):
                raise ValueError("data must be ragged if partitions is ragged")
            for a, b in zip(data.nested_row_splits, numbers.nested_row_splits, strict=False):
                checks.same_splits(a, b)
            values = data
            for _ in range(numbers.ragged_rank):
                values = values.values
            return stack_dynamic_partitions(values, numbers.flat_values, num_partitions)
        dtype = core.splits_dtype(data) if isinstance(data, Ragged) else dtypes.int64
        count = core.as_index(num_partitions, dtype)
        if numbers.dims is not None and len(numbers.dims) > 1:
            for one, two in zip(data.dims or (), numbers.dims, strict=False):
                checks.same_size(one, two)
            tail = raw.StridedSlice(raw.Shape(data), [len(numbers.dims)], [0], [1], end_mask=1)
            data = raw.Reshape(data, raw.ConcatV2([_MINUS_ONE, tail], 0))
            numbers = raw.Reshape(numbers, _MINUS_ONE)
        numbers = core.as_index(numbers, dtype)
        for one, two in zip(numbers.dims or (), data.dims or (), strict=False):
            checks.same_size(one, two)
        checks.compare("<", _largest(numbers), count, "partitions must be less than num_partitions")
        order = _stable_order(numbers)
        ones = raw.OnesLike(numbers)
        lengths = raw.UnsortedSegmentSum(ones, numbers, count)
        return core.from_lengths(indexing.rows_at(data, order), lengths)


def _largest(numbers: Any) -> Any:
    lowest = convert.to_tensor([-1], numbers.dtype)
    return raw.Max(raw.ConcatV2([numbers, lowest], 0), np.asarray([0], np.int32))


def _stable_order(numbers: Any) -> Any:
    """A stable argsort of the numbers."""
    size = raw.Size(numbers, out_type=dtypes.int64)
    positions = raw.Range(np.asarray(0, np.int64), size, np.asarray(1, np.int64))
    wide = raw.Cast(numbers, DstT=dtypes.int64)
    keys = raw.AddV2(raw.Mul(wide, raw.Maximum(size, np.asarray(1, np.int64))), positions)
    count = raw.Cast(size, DstT=dtypes.int32)
    return raw.Cast(raw.TopKV2(raw.Neg(keys), count).indices, DstT=dtypes.int64)


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """The slices of `data` by the number that each has, as a list."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    stacked = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [stacked[i] for i in range(num_partitions)]


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Running sums along an axis; each row has its own."""
    with name_scope(name or "RaggedCumSum"):
        axis = checks.axis_of(axis, core.rank_of(x))
        if axis > 1 or not isinstance(x, Ragged):
            if not isinstance(x, Ragged):
                return raw.Cumsum(x, axis, exclusive=exclusive, reverse=reverse)
            return x.with_values(cumsum(x.values, axis - 1, exclusive, reverse))
        # Along a dense dimension of rows filled up with 0.
        dense = densities.to_tensor(x, None, None)
        sums = raw.Cumsum(dense, axis, exclusive=exclusive, reverse=reverse)
        kept = [p.row_lengths() for p in x.nested_partitions]
        return _cut_as(sums, x, kept)


def _cut_as(dense: Any, x: Any, lengths: Any) -> Any:
    if len(lengths) == 1:
        values = densities.from_tensor(dense, lengths[0], None, 1, x.row_splits.dtype)
    else:
        values = densities.from_tensor(dense, tuple(lengths), None, 1, x.row_splits.dtype)
    return x.with_flat_values(values.flat_values)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str | None = None
) -> list[Any]:
    """The slices along an axis cut into pieces; ragged axes cannot be cut."""
    with name_scope(name or "RaggedSplit"):
        axis = checks.axis_of(axis, core.rank_of(value))
        if isinstance(value, Ragged) and axis == 1:
            own = shape.DynamicRaggedShape.from_tensor(value)
            raise ValueError(
                f"Cannot split a ragged dimension. Got `value` with shape {own} and `axis` {axis}."
            )
        return _split(value, num_or_size_splits, axis, num)


def _split(x: Any, pieces: Any, axis: int, num: Any) -> list[Any]:
    if not isinstance(x, Ragged):
        if isinstance(pieces, int):
            return list(raw.Split(axis, x, num_split=pieces))
        sizes: Any = convert.to_tensor(pieces)
        return list(raw.SplitV(x, sizes, axis, num_split=num or sizes.dims[0]))
    if axis > 1:
        return [x.with_values(v) for v in _split(x.values, pieces, axis - 1, num)]
    dtype = x.row_splits.dtype
    count = x.partition.nrows()
    if isinstance(pieces, int):
        if pieces <= 0:
            raise ValueError("`num_or_size_splits` must be greater than 0")
        static = x.partition.static_nrows
        if static is not None and static % pieces:
            raise checks.fail("Cannot exactly split the dimension into equal pieces")
        sizes = [core.as_index(count, dtype) // pieces] * pieces
    else:
        vector: Any = core.as_index(convert.to_tensor(pieces), dtype)
        total = num or vector.dims[0]
        sizes = [vector[i] for i in range(total)]
        checks.compare("==", raw.Sum(vector, 0), core.as_index(count, dtype), "Cannot split")
    found: list[Any] = []
    begin: Any = convert.to_tensor(0, dtype)
    for one in sizes:
        found.append(indexing.getitem(x, slice(begin, begin + one)))
        begin = begin + one
    return found


# -- the values as they are ------------------------------------------------------------


def bitcast(function: Callable[..., Any], input: Any, type: Any, name: str | None = None) -> Any:
    """The bits of the elements as elements of a type of the same size."""
    wanted = as_dtype(type)
    if wanted.size != input.dtype.size:
        raise ValueError(
            f"type.size={wanted.size} must be the same as input.dtype.size={input.dtype.size}"
        )
    return over_values(function, input, wanted, name)


def identity(input: Any, name: str | None = None) -> Any:
    """The same ragged tensor, of new tensors."""
    flat = raw.Identity(input.flat_values, name=name)
    return input.with_flat_values(flat)


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same ragged tensor, through which no gradient flows."""
    return input.with_flat_values(raw.StopGradient(input.flat_values, name=name))


def assert_type(
    function: Callable[..., Any],
    tensor: Any,
    tf_type: Any,
    message: Any = None,
    name: str | None = None,
) -> Any:
    """Raises TypeError unless the elements have this type."""
    return function(tensor.flat_values, tf_type, message, name)


def constant_refused(value: Any) -> Any:
    """A ragged tensor is no constant: raises ValueError as conversion does."""
    return convert.to_tensor(value)
