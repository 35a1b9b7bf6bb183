"""Tensors sorted, and indices in sorted ones.

Follows https://www.tensorflow.org/api_docs/python/tf/sort, `tf.argsort`, `tf.searchsorted`
and https://www.tensorflow.org/api_docs/python/tf/math/top_k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """The k largest elements along the last dimension and their positions: (values, indices).

    Of equal elements, the one with the lower index comes first. Raises InvalidArgumentError
    (ValueError in a graph) if there are fewer than k.

    `sorted` has no effect: they always are. `index_type` is the dtype of the positions.

    >>> [x.numpy().tolist() for x in tf.math.top_k([3, 1, 4, 1, 5], 2)]
    [[5, 4], [4, 2]]
    """
    return raw.TopKV2(input, k, sorted=sorted, index_type=index_type, name=name)


@dispatchable
def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """For each row of predictions, whether the target class is among the k largest.

    >>> print(tf.math.in_top_k([0, 1], [[0.1, 0.9, 0.5], [0.1, 0.9, 0.5]], 2).numpy())
    [False  True]
    """
    return raw.InTopKV2(predictions, targets, k, name=name)


@dispatchable
def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The elements in order along `axis`; `direction` is ASCENDING or DESCENDING.

    Raises ValueError for another direction.

    >>> print(tf.sort([3, 1, 2], direction="DESCENDING").numpy())
    [3 2 1]
    """
    return _ordered(values, axis, direction, name or "sort")[0]


@dispatchable
def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The positions of the elements in order along `axis`, int32; equal ones keep their order.

    Raises ValueError for a direction other than ASCENDING and DESCENDING.

    `stable` has no effect: the order always is.

    >>> print(tf.argsort([3, 1, 2]).numpy())
    [1 2 0]
    """
    return _ordered(values, axis, direction, name or "argsort")[1]


def _ordered(values: Any, axis: int, direction: str, name: str) -> tuple[Any, Any]:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            "Argument `direction` should be one of ASCENDING, DESCENDING. "
            f"Received: direction={direction}"
        )
    x = convert.to_tensor(values)
    last, order = _to_last(x, axis)
    down = last if direction == "DESCENDING" else _mirrored(last)
    size = raw.StridedSlice(raw.Shape(down), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
    top, indices = raw.TopKV2(down, size, name=name)
    if direction == "ASCENDING":
        top = _mirrored(top)
    if order is not None:
        top, indices = raw.Transpose(top, order), raw.Transpose(indices, order)
    return top, indices


def _to_last(x: Tensor, axis: int) -> tuple[Tensor, Any]:
    """The tensor with `axis` last, and the permutation that puts it back."""
    rank = None if x.dims is None else len(x.dims)
    if rank is None:
        if axis == -1:
            return x, None
        return _to_last_of_any_rank(x, axis)
    if not -rank <= axis < rank:
        # Where TensorFlow looks up the dimension's size.
        raw.StridedSlice(raw.Shape(x), [axis], [axis + 1], [1], shrink_axis_mask=1)
    at = axis % rank
    if at == rank - 1:
        return x, None
    order = list(range(rank))
    order[at], order[-1] = order[-1], order[at]
    swap = np.array(order, np.int32)
    return raw.Transpose(x, swap), swap


def _to_last_of_any_rank(x: Tensor, axis: int) -> tuple[Tensor, Any]:
    """The same where the rank is not static."""
    sizes = raw.Shape(x)
    raw.StridedSlice(sizes, [axis], [axis + 1], [1], shrink_axis_mask=1)
    rank = raw.Size(sizes)
    last = raw.Sub(rank, 1)
    at = axis if axis >= 0 else raw.AddV2(rank, axis)
    order = raw.Range(0, rank, 1)
    back = raw.SelectV2(raw.Equal(order, last), at, order)
    swap = raw.SelectV2(raw.Equal(order, at), last, back)
    return raw.Transpose(x, swap), swap


def _mirrored(x: Tensor) -> Tensor:
    """Values whose order is the reverse of that of x; doing it twice gives x."""
    if not x.dtype.is_integer:
        return raw.Neg(x)
    # -1 - x and max - x have no overflow at the ends of the type.
    pivot = x.dtype.max if x.dtype.is_unsigned else -1
    return raw.Sub(np.asarray(pivot, x.dtype.numpy), x)


@dispatchable
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The insertion point of each value in the sorted rows (along the last dimension).

    `side`: before ("left") or after ("right") equal elements. Raises ValueError for a side other
    than "left" and "right".

    >>> print(tf.searchsorted([1, 3, 5], [0, 3, 9]).numpy())
    [0 1 3]
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    rows, wanted = convert.to_tensor(sorted_sequence), convert.to_tensor(values)
    if wanted.dtype is not rows.dtype and not isinstance(values, Tensor):
        wanted = convert.to_tensor(values, rows.dtype)
    op = raw.LowerBound if side == "left" else raw.UpperBound
    found = op(_matrix(rows), _matrix(wanted), out_type=out_type)
    return raw.Reshape(found, raw.Shape(wanted), name=name)


def _matrix(x: Tensor) -> Tensor:
    """All dimensions but the last as one."""
    width = raw.StridedSlice(raw.Shape(x), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
    return raw.Reshape(x, raw.Pack([-1, width]))


__all__ = ["argsort", "searchsorted", "sort"]
