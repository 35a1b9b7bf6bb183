"""Elements chosen by position or condition, and diagonals.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `take`, `where`,
`nonzero`, `diag` and their kin.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.composite_ops.array.lengths import of_axis
from intaglio.numpy_api.promotion import as_tensor, number, promoted, truth
from intaglio.numpy_api.shaping import swapaxes
from intaglio.opdef import convert, raw, slicing
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.promotion.functions import applied


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "clip") -> Tensor:
    """The elements (or slices along `axis`) at `indices`; without an axis, of `a` as a vector.

    An index out of range is that of the nearest end ("clip") or counted around ("wrap"). Raises
    ValueError for other modes and for `out`.

    `mode` is "clip" or "wrap", which say what indices out of bounds mean.

    >>> tnp.take([1, 2, 3], [0, 5])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 3])>
    """
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    if mode == "raise":
        raise ValueError("The 'raise' mode to take is not supported.")
    x, at = as_tensor(a), as_tensor(indices)
    if axis is None:
        x, axis = raw.Reshape(x, [-1]), 0
    size = raw.Cast(of_axis(x, axis), DstT=at.dtype)
    if mode == "wrap":
        at = raw.FloorMod(at, size)
    else:
        last = raw.Sub(size, number(1, at))
        at = raw.Maximum(raw.Minimum(at, last), number(0, at))
    return raw.GatherV2(x, at, axis)


def take_along_axis(arr: Any, indices: Any, axis: Any) -> Tensor:
    """For each line along `axis`, its elements at the indices of the same line.

    Negative indices count from the end; the other axes broadcast. InvalidArgumentError for an
    index out of range.

    >>> tnp.take_along_axis([[3, 1, 2]], [[1, 2, 0]], axis=1)
    <tf.Tensor: shape=(1, 3), dtype=int64, numpy=array([[1, 2, 3]])>
    """
    x, at = as_tensor(arr), as_tensor(indices)
    if axis is None:
        x, at, axis = raw.Reshape(x, [-1]), raw.Reshape(at, [-1]), 0
    x, at = (t if axis == -1 else swapaxes(t, axis, -1) for t in (x, at))
    lines = _lead(x), _lead(at)
    lead = raw.BroadcastArgs(*lines)
    length, count = _last(x), _last(at)
    rows = raw.BroadcastTo(x, raw.ConcatV2([lead, length], 0))
    positions = raw.BroadcastTo(at, raw.ConcatV2([lead, count], 0))
    size = raw.Cast(raw.Reshape(length, []), DstT=at.dtype)
    below = raw.Less(positions, number(0, positions))
    positions = raw.SelectV2(below, raw.AddV2(positions, size), positions)
    many = raw.Reshape(raw.Prod(lead, 0), [1])
    found = raw.GatherV2(
        raw.Reshape(rows, raw.ConcatV2([many, length], 0)),
        raw.Reshape(positions, raw.ConcatV2([many, count], 0)),
        1,
        batch_dims=1,
    )
    result = raw.Reshape(found, raw.ConcatV2([lead, count], 0))
    return result if axis == -1 else swapaxes(result, axis, -1)


def _lead(x: Tensor) -> Tensor:
    """The shape without its last dimension."""
    return raw.StridedSlice(raw.Shape(x), [0], [-1], [1], begin_mask=1)


def _last(x: Tensor) -> Tensor:
    """The last dimension, as a vector of one."""
    return raw.StridedSlice(raw.Shape(x), [-1], [0], [1], end_mask=1)


def compress(condition: Any, a: Any, axis: Any = None) -> Tensor:
    """The slices along `axis` where the condition, a vector, is true.

    Without an axis, of `a` as a vector. The condition may be shorter than the axis. Raises
    ValueError if it is longer or no vector.

    >>> tnp.compress([True, False, True], [1, 2, 3])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 3])>
    """
    keep, x = truth(condition), as_tensor(a)
    if keep.dims is not None and len(keep.dims) != 1:
        raise ValueError("condition must be a 1-d array.")
    if axis is None:
        x, axis = raw.Reshape(x, [-1]), 0
    if axis < 0:
        if x.dims is None:
            raise ValueError("`axis` must not be negative if the rank is unknown")
        axis += len(x.dims)
    size = keep.dims[0] if keep.dims else None
    if size is None:
        size = raw.Reshape(raw.Size(keep), [])
    part = x[(slice(None),) * axis + (slice(0, size),)]
    return slicing.boolean_mask(part, keep, axis)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where the condition holds and else `y`; alone, the coordinates as `nonzero` returns them.

    Raises ValueError if only one of `x` and `y` is given.

    >>> tnp.where([True, False], [1, 2], 3.)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1., 3.])>
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    a, b = promoted(x, y)
    return raw.SelectV2(truth(condition), a, b)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """Of each position the choice whose condition holds there first, else the default.

    Raises ValueError for no conditions, or another number of choices.

    >>> tnp.select([[True, False], [True, True]], [[1, 2], [3, 4]])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 4])>
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not len(condlist):
        raise ValueError("condlist must be non-empty")
    result, *choices = promoted(default, *choicelist)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = raw.SelectV2(truth(condition), choice, result)
    return result


def nonzero(a: Any) -> list[Tensor]:
    """The coordinates of what is not 0: an int64 vector for each axis.

    >>> [x.numpy().tolist() for x in tnp.nonzero([[1, 0], [0, 2]])]
    [[0, 1], [0, 1]]
    """
    x = truth(a)
    if x.dims is None:
        raise ValueError("nonzero needs a tensor whose rank is known")
    if not x.dims:
        x = raw.Reshape(x, [1])
    return list(raw.Unpack(raw.Where(x), num=len(x.dims or (1,)), axis=1))


def ix_(*args: Any) -> list[Tensor]:
    """Vectors shaped so that indexing with them picks the grid of all their combinations.

    A mask is replaced by the positions of its true values. Raises ValueError for what is no
    vector or has another type.

    >>> [x.shape for x in tnp.ix_([0, 1], [True, False, True])]
    [TensorShape([2, 1]), TensorShape([1, 2])]
    """

    def along(index: int, value: Any) -> Tensor:
        x = as_tensor(value)
        if x.dims is not None and len(x.dims) != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {index} of rank {len(x.dims)}")
        if x.dtype is dtypes.bool_:
            x = raw.Reshape(raw.Where(x), [-1])
        elif not x.dtype.is_integer:
            raise ValueError(f"Only integer and bool dtypes are supported, got {x.dtype!r}")
        shape = [1] * len(args)
        shape[index] = -1
        return raw.Reshape(x, shape)

    return [applied(functools.partial(along, n), x) for n, x in enumerate(args)]


# -- diagonals -------------------------------------------------------------------------


def diag_indices(n: Any, ndim: int = 2) -> tuple[Tensor, ...]:
    """The indices of the diagonal of a tensor of so many axes of length n.

    `ndim` is the number of index vectors.

    >>> [x.numpy().tolist() for x in tnp.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    return (raw.Range(0, raw.Cast(n, DstT=dtypes.int32), 1),) * ndim


@dispatchable
def diag(v: Any, k: int = 0) -> Tensor:
    """The matrix with this vector on its diagonal `k`, or that diagonal of a matrix.

    Raises ValueError for higher ranks, InvalidArgumentError for a scalar.

    >>> tnp.diag([1, 2])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 0],
           [0, 2]])>
    """
    x = as_tensor(v)
    if x.dims is None:
        raise ValueError("diag needs a vector or a matrix, not an unknown rank")
    if len(x.dims) > 2:
        raise ValueError(f"Shape {x.shape} must have rank at most 2")
    if not x.dims:
        raise convert.invalid("diag needs a vector or a matrix, not a scalar")
    if len(x.dims) == 2:
        return _diagonal(x, k)
    return raw.MatrixDiagV3(x, k, -1, -1, number(0, x))


@dispatchable
def diagflat(v: Any, k: int = 0) -> Tensor:
    """The matrix with all elements of `v` on its diagonal `k`.

    >>> tnp.diagflat([[1, 2]], k=1)
    <tf.Tensor: shape=(3, 3), dtype=int64, numpy=
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])>
    """
    return diag(raw.Reshape(as_tensor(v), [-1]), k)


@dispatchable
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonals of the matrices that two axes make, along a new last axis.

    `offset` is the number of the diagonal above the main one; `axis1` and `axis2` are the axes of
    the matrices.

    >>> tnp.diagonal([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 4])>
    """
    return _diagonal(_at_end(as_tensor(a), axis1, axis2), offset)


def _at_end(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """The tensor with two axes last."""
    if x.dims is not None and len(x.dims) == 2 and (axis1, axis2) in ((0, 1), (-2, -1)):
        return x
    if x.dims is None:
        size = raw.Rank(x)
        indices = raw.Range(0, size, 1)
        one, two = (raw.FloorMod(axis, size) for axis in (axis1, axis2))
        other = raw.LogicalAnd(raw.NotEqual(indices, one), raw.NotEqual(indices, two))
        kept = raw.Cast(raw.Reshape(raw.Where(other), [-1]), DstT=dtypes.int32)
        return raw.Transpose(x, raw.ConcatV2([kept, raw.Pack([one, two])], 0))
    rank = len(x.dims)
    if not (-rank <= axis1 < rank and -rank <= axis2 < rank):
        raise convert.invalid(f"axes {axis1} and {axis2} are not those of a tensor of rank {rank}")
    found = (axis1 % rank, axis2 % rank)
    rest = [i for i in range(rank) if i not in found]
    return raw.Transpose(x, np.array([*rest, *found], np.int32))


def _diagonal(x: Tensor, k: int) -> Tensor:
    """The diagonals `k` of matrices; empty where they have none."""
    rows, columns = of_axis(x, -2), of_axis(x, -1)
    down, right = max(-k, 0), max(k, 0)
    length = raw.Maximum(
        raw.Minimum(raw.Sub(rows, np.int32(down)), raw.Sub(columns, np.int32(right))), np.int32(0)
    )
    steps = raw.Range(np.int32(0), length, np.int32(1))
    at = raw.AddV2(
        raw.Mul(raw.AddV2(steps, np.int32(down)), columns), raw.AddV2(steps, np.int32(right))
    )
    lead = raw.StridedSlice(raw.Shape(x), [0], [-2], [1], begin_mask=1)
    flat = raw.Reshape(x, raw.ConcatV2([lead, np.array([-1], np.int32)], 0))
    return raw.GatherV2(flat, at, -1)


__all__ = [
    "compress",
    "diag",
    "diag_indices",
    "diagflat",
    "diagonal",
    "ix_",
    "nonzero",
    "select",
    "take",
    "take_along_axis",
    "where",
]
