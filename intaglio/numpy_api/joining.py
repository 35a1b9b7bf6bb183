"""Tensors put together, and taken apart.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `concatenate`, `stack`,
`split` and their kin. What is put together comes in its common type.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.composite_ops.array import rearranging
from intaglio.composite_ops.array.creation import get_static_value
from intaglio.numpy_api.promotion import as_tensor, promoted
from intaglio.numpy_api.shaping import moveaxis
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.promotion.functions import applied


def _several(arrays: Any) -> list[Tensor]:
    """The tensors of a list, or the rows of a tensor, in their common type."""
    if isinstance(arrays, (Tensor, np.ndarray)) or hasattr(type(arrays), "__tf_tensor__"):
        return list(rearranging.unstack(as_tensor(arrays)))
    return promoted(*arrays)


def concatenate(arys: Any, axis: Any = 0) -> Tensor:
    """One after the other along `axis`. Raises IndexError for none.

    >>> tnp.concatenate([[1, 2], [3.]])
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([1., 2., 3.])>
    """
    parts = _several(arys)
    if not parts:
        raise ValueError(
            f"Need at least one array to concatenate. Received empty input: arys={arys}"
        )
    if axis is None:
        parts, axis = [raw.Reshape(p, [-1]) for p in parts], 0
    return rearranging.concat(parts, axis)


def append(arr: Any, values: Any, axis: Any = None) -> Tensor:
    """`values` after `arr` along `axis`; without it, both as vectors.

    >>> tnp.append([1, 2], [[3]])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 2, 3])>
    """
    if axis is not None:
        return concatenate([arr, values], axis)
    return concatenate([raw.Reshape(as_tensor(x), [-1]) for x in promoted(arr, values)])


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Side by side along a new axis.

    >>> tnp.stack([[1, 2], [3, 4.]], axis=1)
    <tf.Tensor: shape=(2, 2), dtype=float64, numpy=
    array([[1., 3.],
           [2., 4.]])>
    """
    if isinstance(arrays, (Tensor, np.ndarray)):
        rows = as_tensor(arrays)
        if axis == 0 or rows.dims is None or -len(rows.dims) <= axis < len(rows.dims):
            return moveaxis(rows, 0, axis) if axis else rows
    parts = _several(arrays)
    return rearranging.stack(parts, axis) if parts else as_tensor(np.zeros(0, np.float32))


def _joined(raise_rank: Callable[..., Any], arrays: Any, axis: int) -> Tensor:
    return concatenate([raise_rank(x) for x in _several(arrays)], axis)


def vstack(tup: Any) -> Tensor:
    """Rows, or matrices, below one another.

    >>> tnp.vstack([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 2],
           [3, 4]])>
    """
    return _joined(atleast_2d, tup, 0)


def hstack(tup: Any) -> Tensor:
    """Vectors one after the other; matrices side by side. Raises IndexError for none.

    >>> tnp.hstack([[[1], [2]], [[3], [4]]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 3],
           [2, 4]])>
    """
    parts = [atleast_1d(x) for x in _several(tup)]
    if not parts:
        raise IndexError("need at least one array to concatenate")
    return concatenate(parts, 0 if parts[0].dims and len(parts[0].dims) == 1 else 1)


def dstack(tup: Any) -> Tensor:
    """Along the third axis.

    >>> tnp.dstack([[1, 2], [3, 4]])
    <tf.Tensor: shape=(1, 2, 2), dtype=int64, numpy=
    array([[[1, 3],
            [2, 4]]])>
    """
    return _joined(atleast_3d, tup, 2)


# -- ranks -----------------------------------------------------------------------------


def _each(change: Callable[[Tensor], Tensor], arys: tuple[Any, ...]) -> Any:
    result = [applied(lambda y: change(as_tensor(y)), x) for x in arys]
    return result[0] if len(result) == 1 else result


def _raised(x: Tensor, axes_by_rank: tuple[tuple[int, ...], ...]) -> Tensor:
    """With new axes by the rank the tensor has: `axes_by_rank[rank]`."""
    if x.dims is not None:
        for axis in axes_by_rank[len(x.dims)] if len(x.dims) < len(axes_by_rank) else ():
            x = raw.ExpandDims(x, axis)
        return x
    # The lengths by rank, of which the run takes the right ones.
    whole, rank = raw.Shape(x), raw.Rank(x)
    padded = raw.ConcatV2([whole, np.ones(len(axes_by_rank), np.int32)], 0)
    shape = whole
    for known, axes in enumerate(axes_by_rank):
        picks = [*range(known)]
        for axis in axes:
            picks.insert(axis, -1)
        # The new dimension has length 1, right after the existing ones.
        order = np.array([known if p < 0 else p for p in picks], np.int32)
        wanted = raw.GatherV2(padded, order, 0)
        shape = _chosen(raw.Equal(rank, known), wanted, shape)
    return raw.Reshape(x, shape)


def _chosen(condition: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    """One of two vectors, whose lengths may differ."""
    both = raw.ConcatV2([yes, no], 0)
    first, second = raw.Size(yes), raw.Size(no)
    start = raw.SelectV2(condition, 0, first)
    size = raw.SelectV2(condition, first, second)
    return raw.Slice(both, raw.Reshape(start, [1]), raw.Reshape(size, [1]))


def atleast_1d(*arys: Any) -> Any:
    """With at least one dimension: one tensor, or a list.

    >>> tnp.atleast_1d(1)
    <tf.Tensor: shape=(1,), dtype=int64, numpy=array([1])>
    """
    return _each(lambda x: _raised(x, ((0,),)), arys)


def atleast_2d(*arys: Any) -> Any:
    """With at least two dimensions, new ones in front: one tensor, or a list.

    >>> tnp.atleast_2d([1, 2])
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[1, 2]])>
    """
    return _each(lambda x: _raised(x, ((0, 0), (0,))), arys)


def atleast_3d(*arys: Any) -> Any:
    """With three dimensions or more; a vector goes along the second: one tensor, or a list.

    >>> tnp.atleast_3d([1, 2]).shape
    TensorShape([1, 2, 1])
    """
    return _each(lambda x: _raised(x, ((0, 0, 0), (0, 2), (2,))), arys)


# -- apart -----------------------------------------------------------------------------


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Parts along `axis`: so many of one length, or cut at each index of a list.

    InvalidArgumentError (ValueError in a graph) if the parts would not be of one length.

    >>> [part.numpy().tolist() for part in tnp.split([1, 2, 3, 4], [1, 3])]
    [[1], [2, 3], [4]]
    """
    x = as_tensor(ary)
    cuts = _cuts(indices_or_sections)
    if isinstance(cuts, int):
        return rearranging.split(x, cuts, axis)
    if x.dims is None and axis < 0:
        raise ValueError(
            f"`axis` may only be negative if the rank of the tensor is known, not {axis}"
        )
    if x.dims is not None:
        if not isinstance(axis, int) or not -len(x.dims) <= axis < len(x.dims):
            raise ValueError(f"a tensor of shape {x.shape} has no axis {axis} to split")
        axis %= len(x.dims)
    lead = (slice(None),) * axis
    bounds = [0, *cuts, None]
    return [x[(*lead, slice(start, stop))] for start, stop in itertools.pairwise(bounds)]


def _cuts(indices_or_sections: Any) -> int | list[Any]:
    """A number of parts, or the positions of the cuts, which may be tensors.

    Raises ValueError if the number of parts is not static.
    """
    known = get_static_value(indices_or_sections)
    if known is not None:
        found: Any = np.asarray(known).tolist()
        return found
    if isinstance(indices_or_sections, (list, tuple)):
        items: Any = indices_or_sections
        return [*items]
    cuts = as_tensor(indices_or_sections)
    if not cuts.dims or cuts.dims[0] is None:
        raise ValueError(
            "split needs a number of parts that is known while tracing: give an integer, or "
            f"indices of known length, not shape {cuts.shape}"
        )
    return list(raw.Unpack(cuts, num=cuts.dims[0]))


def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts along the first axis, as `split`.

    >>> [part.numpy().tolist() for part in tnp.vsplit([[1], [2]], 2)]
    [[[1]], [[2]]]
    """
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts along the second axis (the first of vectors), as `split`.

    >>> [part.numpy().tolist() for part in tnp.hsplit([[1, 2]], 2)]
    [[[1]], [[2]]]
    """
    x = as_tensor(ary)
    _has_axis(x, 0)
    return split(x, indices_or_sections, 0 if x.dims and len(x.dims) == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts along the third axis, as `split`.

    >>> [part.shape for part in tnp.dsplit(tnp.ones((1, 2, 4)), 2)]
    [TensorShape([1, 2, 2]), TensorShape([1, 2, 2])]
    """
    x = as_tensor(ary)
    if isinstance(_cuts(indices_or_sections), int):
        _has_axis(x, 2)
    return split(x, indices_or_sections, 2)


def _has_axis(x: Tensor, axis: int) -> None:
    if x.dims is not None and len(x.dims) <= axis:
        raise IndexError(f"a tensor of shape {x.shape} has no axis {axis} to split")


__all__ = [
    "append",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "split",
    "stack",
    "vsplit",
    "vstack",
]
