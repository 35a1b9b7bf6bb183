"""Ragged tensors of lists, ranges and stacks; functions of their values and rows.

Follows https://www.tensorflow.org/api_docs/python/tf/ragged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import arranging, checks, constants, core, elementwise, joining
from intaglio.ragged.api import RowPartition
from intaglio.ragged.partition import index_vector
from intaglio.trace.scopes import name_scope


@dispatchable
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A ragged tensor of nested lists; without a nested list a tensor.

    `ragged_rank` is the number of ragged dimensions, by default as many as there can be;
    `inner_shape` the shape of the elements of the innermost rows. Raises ValueError for
    lists that are not nested alike, TypeError for elements that do not fit `dtype`.

    Row splits are of `row_splits_dtype`, int32 or int64.

    https://www.tensorflow.org/api_docs/python/tf/ragged/constant

    >>> tf.ragged.constant([[1, 2], [3], []])
    <tf.RaggedTensor [[1, 2], [3], []]>
    """
    with name_scope(name or "RaggedConstant"):
        return constants.constant(pylist, dtype, ragged_rank, inner_shape, row_splits_dtype)


@dispatchable
def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A row start, start + delta, ... below limit for each of the vectors' elements.

    With one argument the rows are those up to it. Scalars serve all rows. Raises
    InvalidArgumentError if lengths differ or a delta is 0.

    `limits` are the ends, without which the starts are, and the rows start with 0; `deltas` are the
    steps. Row splits are of `row_splits_dtype`, int32 or int64.

    https://www.tensorflow.org/api_docs/python/tf/ragged/range

    >>> tf.ragged.range([2, 0, 3])
    <tf.RaggedTensor [[0, 1], [], [0, 1, 2]]>
    """
    if limits is None:
        starts, limits = 0, starts
    splits = as_dtype(row_splits_dtype)
    with name_scope(name or "RaggedRange"):
        kind = None if dtype is None else as_dtype(dtype)
        parts = [convert.to_tensor(x, kind) for x in (starts, limits, deltas)]
        if kind is None:
            parts = _of_one_type(parts)
        ranges = raw.RaggedRange(*parts, Tsplits=splits, name=name)
        return core.from_splits(ranges.rt_dense_values, ranges.rt_nested_splits)


def _of_one_type(parts: list[Tensor]) -> list[Tensor]:
    """All in the widest of their types."""
    order = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
    found = [p.dtype for p in parts if p.dtype in order]
    if len({p.dtype for p in parts}) == 1 or len(found) != len(parts):
        return parts
    widest = max(found, key=order.index)
    return [p if p.dtype is widest else raw.Cast(p, DstT=widest) for p in parts]


@dispatchable
def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Tensors and ragged tensors of one rank as the slices of a new axis, which is ragged.

    Raises ValueError for an empty list, different ranks, or an axis that is not there.

    https://www.tensorflow.org/api_docs/python/tf/ragged/stack

    >>> tf.ragged.stack([tf.constant([1, 2, 3]), tf.constant([4])])
    <tf.RaggedTensor [[1, 2, 3], [4]]>
    """
    return joining.stack(values, axis, name)


@dispatchable
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """The slices of `data` with the number i in `partitions` as row i.

    Raises InvalidArgumentError for a number that is not below `num_partitions`.

    https://www.tensorflow.org/api_docs/python/tf/ragged/stack_dynamic_partitions

    >>> tf.ragged.stack_dynamic_partitions([1, 2, 3], [1, 0, 1], 2)
    <tf.RaggedTensor [[2], [1, 3]]>
    """
    return arranging.stack_dynamic_partitions(data, partitions, num_partitions, name)


@dispatchable
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The slices of `data` where `mask` is True, in rows as before.

    Raises ValueError for a scalar mask, InvalidArgumentError for other rows than the data's.

    https://www.tensorflow.org/api_docs/python/tf/ragged/boolean_mask

    >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    return arranging.boolean_mask(data, mask, name)


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` of the flat values of all ragged arguments, which have equal rows.

    Raises ValueError if the result has another number of values, InvalidArgumentError if
    rows differ.

    https://www.tensorflow.org/api_docs/python/tf/ragged/map_flat_values

    >>> tf.ragged.map_flat_values(tf.negative, tf.ragged.constant([[1, 2], [3]]))
    <tf.RaggedTensor [[-1, -2], [-3]]>
    """
    return elementwise.map_flat_values(op, *args, **kwargs)


@dispatchable
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value. Raises ValueError for what are no row splits.

    https://www.tensorflow.org/api_docs/python/tf/ragged/row_splits_to_segment_ids

    >>> tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 0, 2])>
    """
    with name_scope(name or "RaggedSplitsToSegmentIds"):
        empty = isinstance(splits, Sequence) and not splits
        vector = index_vector(splits, "splits")
        checks.has_rank(vector, 1)
        if empty or vector.dims == (0,):
            raise ValueError("Invalid row_splits: []")
        rows = RowPartition.from_row_lengths(vector[1:] - vector[:-1], validate=False)
        ids = rows.value_rowids()
        return ids if out_type is None else core.as_index(ids, as_dtype(out_type))


@dispatchable
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """The row splits of values with these rows. Raises TypeError for what are no integers.

    `num_segments` is the number of results, by default one more than the last segment number.

    https://www.tensorflow.org/api_docs/python/tf/ragged/segment_ids_to_row_splits

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([0, 2, 2, 3])>
    """
    with name_scope(name or "SegmentIdsToRaggedSplits"):
        tensor = convert.to_tensor(segment_ids, dtype_hint=dtypes.int64)
        if not tensor.dtype.is_integer:
            raise TypeError(
                "Argument `tensor` (name: segment_ids) must be of type integer. Received "
                f"`tensor` = {segment_ids} of dtype: <dtype: '{tensor.dtype.name}'>"
            )
        wanted = dtypes.int64 if out_type is None else as_dtype(out_type)
        ids = core.as_index(tensor, wanted)
        rows = RowPartition.from_value_rowids(
            ids,
            None if num_segments is None else core.as_index(num_segments, wanted),
            validate=False,
        )
        return rows.row_splits()
