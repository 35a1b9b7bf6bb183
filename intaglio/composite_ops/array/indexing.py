"""Elements chosen by position, condition or order.

Follows https://www.tensorflow.org/api_docs/python/tf: `tf.gather`, `tf.where`, `tf.sort`
and their kin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, raw, slicing
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """With x and y, x where the condition holds and else y, broadcast; alone, the coordinates.

    The coordinates are int64 rows, shape (number of true elements, rank). Raises ValueError
    if only one of x and y is given, InvalidArgumentError (ValueError in a graph) if the
    shapes do not broadcast.

    >>> print(tf.where([True, False], [1, 2], [10, 20]).numpy())
    [ 1 20]
    """
    if x is None and y is None:
        return raw.Where(convert.to_tensor(condition), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.SelectV2(condition, x, y, name=name)


@dispatchable
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements (or slices) of the tensor where the mask is True.

    The mask's shape is that of the tensor's dimensions from `axis` (0) on. Raises ValueError
    for a scalar mask or shapes that do not fit.

    >>> print(tf.boolean_mask([1, 2, 3], [True, False, True]).numpy())
    [1 3]
    """
    return slicing.boolean_mask(tensor, mask, axis, name)


@dispatchable
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """`size` elements from `begin` on along each dimension; -1 takes all that are left.

    Raises InvalidArgumentError (ValueError in a graph) if they are not there.

    >>> print(tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, 2]).numpy())
    [[2 3]
     [5 6]]
    """
    return raw.Slice(input_, begin, size, name=name)


@dispatchable
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin:end:strides]`, dimension by dimension, with masks as bits per entry.

    Raises InvalidArgumentError (ValueError in a graph) for an index out of bounds.

    Bits of `begin_mask` and `end_mask` leave a bound out, those of `ellipsis_mask`, `new_axis_mask`
    and `shrink_axis_mask` make an entry `...`, a new axis, or an index. `var` has no effect.

    >>> print(tf.strided_slice([1, 2, 3, 4, 5], [1], [5], [2]).numpy())
    [2 4]
    """
    if strides is None:
        first = convert.to_tensor(begin)
        strides = (
            np.ones(first.dims, first.dtype.numpy)  # type: ignore[arg-type]  # no None among them
            if first.dims and None not in first.dims
            else raw.OnesLike(first)
        )
    return raw.StridedSlice(
        input_,
        begin,
        end,
        strides,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
        name=name,
    )


@dispatchable
def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """params taken at `indices` along `axis` (default: the first after the batch dimensions).

    Shape `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`.
    Raises InvalidArgumentError for an index out of range.

    `validate_indices` has no effect.

    >>> print(tf.gather([10, 20, 30], [2, 0]).numpy())
    [30 10]
    """
    if axis is None:
        axis = batch_dims
    if type(axis) is int and axis == 0 and not (batch_dims or isinstance(params, Tensor)):
        read = getattr(params, "sparse_read", None)
        if read is not None:
            return read(indices, name=name)
    return raw.GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)


@dispatchable
def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Slices of params, each named by a row of coordinates, `indices[..., :]`.

    The first `batch_dims` dimensions of both go in step. Raises InvalidArgumentError for
    coordinates out of range.

    `bad_indices_policy` is "" or "ERROR", which raise the error, or "IGNORE".

    >>> print(tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy())
    [2 3]
    """
    at = convert.to_tensor(indices)
    if batch_dims:
        at = _with_batch_coordinates(at, batch_dims)
    return raw.GatherNd(params, at, bad_indices_policy=bad_indices_policy, name=name)


def _with_batch_coordinates(indices: Tensor, batch: int) -> Tensor:
    if indices.dims is None or not 0 < batch < len(indices.dims):
        raise ValueError(
            f"batch_dims = {batch} must be less than the rank of indices, {indices.shape}"
        )
    lead = len(indices.dims) - 1
    whole = raw.Shape(indices, out_type=indices.dtype)
    rows = raw.StridedSlice(whole, [0], [-1], [1])
    one = np.ones((), indices.dtype.numpy)
    parts: list[Any] = []
    for b in range(batch):
        size = raw.StridedSlice(whole, [b], [b + 1], [1], shrink_axis_mask=1)
        line = raw.Range(one - one, size, one)
        sides = [-1 if d == b else 1 for d in range(lead)]
        grid = raw.BroadcastTo(raw.Reshape(line, sides), rows)
        parts.append(raw.ExpandDims(grid, -1))
    return raw.ConcatV2([*parts, indices], -1)


@dispatchable
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` (1) at the positions that the indices name, `off_value` (0) elsewhere.

    The new dimension of size `depth` is at `axis`, last by default; indices out of range
    have no `on_value`. Raises TypeError if the values' dtypes disagree.

    >>> print(tf.one_hot([0, 2], 3).numpy())
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    dtypes_of_values = [
        convert.dtype_of(v) if convert.dtype_of(v) else convert.to_tensor(v).dtype
        for v in (on_value, off_value)
        if v is not None
    ]
    wanted = None if dtype is None else as_dtype(dtype)
    for kind, which in zip(dtypes_of_values, ("on_value", "off_value"), strict=False):
        if (
            wanted is not None
            and kind is not wanted
            and _has_dtype(on_value if which == "on_value" else off_value)
        ):
            raise TypeError(f"dtype {kind} of {which} does not match dtype parameter {wanted}")
    if wanted is None:
        wanted = dtypes_of_values[0] if dtypes_of_values else dtypes.float32
        if len(dtypes_of_values) == 2 and dtypes_of_values[0] is not dtypes_of_values[1]:
            raise TypeError(
                f"dtype {dtypes_of_values[0]} of on_value does not match dtype {dtypes_of_values[1]} of off_value"
            )
    on = convert.to_tensor(1 if on_value is None else on_value, wanted)
    off = convert.to_tensor(0 if off_value is None else off_value, wanted)
    return raw.OneHot(
        indices, depth, on, off, axis=-1 if axis is None else axis, name=name or "one_hot"
    )


def _has_dtype(value: Any) -> bool:
    return convert.dtype_of(value) is not None


@dispatchable
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None
) -> Tensor:
    """True at the first `lengths[...]` of `maxlen` positions along a new last dimension.

    Raises ValueError if `maxlen` is no scalar.

    >>> print(tf.sequence_mask([1, 3], 3).numpy())
    [[ True False False]
     [ True  True  True]]
    """
    x = convert.to_tensor(lengths)
    if maxlen is None:
        everywhere = raw.Range(0, raw.Rank(x), 1)
        maxlen = raw.Maximum(raw.Max(x, everywhere), np.zeros((), x.dtype.numpy))
    else:
        maxlen = convert.to_tensor(maxlen)
    if maxlen.dims not in ((), None):
        raise ValueError(
            f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {maxlen} with shape '{maxlen.shape}' instead"
        )
    zero = np.zeros((), maxlen.dtype.numpy)
    steps = raw.Range(zero, maxlen, zero + zero.dtype.type(1))
    ends = raw.ExpandDims(x, -1)
    if ends.dtype is not maxlen.dtype:
        ends = raw.Cast(ends, DstT=maxlen.dtype)
    mask = raw.Less(steps, ends, name=name or "SequenceMask/Less")
    wanted = as_dtype(dtype or dtypes.bool_)
    return mask if wanted is dtypes.bool_ else raw.Cast(mask, DstT=wanted)


# -- unique values -------------------------------------------------------------------


@dispatchable
def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """The distinct elements of a vector as they first occur, and for each element which it is.

    Returns (y, idx) with `x[i] == y[idx[i]]`.

    `out_idx` is the dtype of the indices, int32 or int64.

    >>> [x.numpy().tolist() for x in tf.unique([5, 7, 5])]
    [[5, 7], [0, 1, 0]]
    """
    return raw.Unique(x, out_idx=out_idx, name=name)


@dispatchable
def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """Like `unique`, with how often each distinct element occurs: (y, idx, count).

    `out_idx` is the dtype of the indices, int32 or int64.

    >>> [x.numpy().tolist() for x in tf.unique_with_counts([5, 7, 5])]
    [[5, 7], [0, 1, 0], [2, 1]]
    """
    return raw.UniqueWithCounts(x, out_idx=out_idx, name=name)


@dispatchable
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Flat indices into an array of shape `dims` as coordinates, a row for each dimension.

    >>> print(tf.unravel_index([2, 5], [2, 3]).numpy())
    [[0 1]
     [2 2]]
    """
    return raw.UnravelIndex(indices, dims, name=name)


# -- scatter -------------------------------------------------------------------------


@dispatchable
def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Zeros of `shape` plus the updates, each at the coordinates of its row of indices.

    Raises InvalidArgumentError for coordinates out of range or shapes that do not fit.

    `bad_indices_policy` is "" or "ERROR", which raise the error, or "IGNORE".

    >>> print(tf.scatter_nd([[1], [3]], [10, 30], [4]).numpy())
    [ 0 10  0 30]
    """
    return raw.ScatterNd(indices, updates, shape, bad_indices_policy=bad_indices_policy, name=name)


@dispatchable
def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """A copy of the tensor with the updates at the coordinates of their rows of indices.

    >>> print(tf.tensor_scatter_nd_update([1, 2, 3], [[0]], [10]).numpy())
    [10  2  3]
    """
    return raw.TensorScatterUpdate(tensor, indices, updates, name=name)


@dispatchable
def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of the tensor with the updates added; where indices repeat, all are.

    `bad_indices_policy` is "" or "ERROR", which raise the error, or "IGNORE".

    >>> print(tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [10, 5]).numpy())
    [16  2  3]
    """
    return raw.TensorScatterAdd(
        tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name
    )


@dispatchable
def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of the tensor with the updates subtracted; where indices repeat, all are.

    `bad_indices_policy` is "" or "ERROR", which raise the error, or "IGNORE".

    >>> print(tf.tensor_scatter_nd_sub([1, 2, 3], [[0], [2]], [10, 5]).numpy())
    [-9  2 -2]
    """
    return raw.TensorScatterSub(
        tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name
    )


@dispatchable
def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of the tensor with the minimum of each element and its updates.

    `bad_indices_policy` is "" or "ERROR", which raise the error, or "IGNORE".

    >>> print(tf.tensor_scatter_nd_min([1, 2, 3], [[0], [1]], [10, 0]).numpy())
    [1 0 3]
    """
    return raw.TensorScatterMin(
        tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name
    )


@dispatchable
def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of the tensor with the maximum of each element and its updates.

    `bad_indices_policy` is "" or "ERROR", which raise the error, or "IGNORE".

    >>> print(tf.tensor_scatter_nd_max([1, 2, 3], [[0], [1]], [10, 0]).numpy())
    [10  2  3]
    """
    return raw.TensorScatterMax(
        tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name
    )


__all__ = [
    "where",
    "boolean_mask",
    "slice",
    "strided_slice",
    "gather",
    "gather_nd",
    "one_hot",
    "sequence_mask",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "scatter_nd",
    "tensor_scatter_nd_update",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_max",
]
