"""The same elements in another shape or order.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `reshape`, `transpose`,
`flip`, `roll`, `tile` and their kin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.array import rearranging
from intaglio.numpy_api.promotion import as_tensor
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def shape(a: Any) -> TensorShape:
    """The static shape.

    >>> tnp.shape([[1, 2]])
    TensorShape([1, 2])
    """
    return as_tensor(a).shape


def ndim(a: Any) -> Any:
    """The number of dimensions; a tensor where it is not static.

    >>> tnp.ndim([[1, 2]])
    2
    """
    x = as_tensor(a)
    return raw.Rank(x) if x.dims is None else len(x.dims)


def size(x: Any, axis: Any = None) -> Any:
    """The number of elements; a tensor where it is not static.

    Raises NotImplementedError for an axis.

    >>> int(tnp.size([[1, 2]]))
    2
    """
    if axis is not None:
        raise NotImplementedError(
            "axis argument is not supported in the current `np.size` implementation"
        )
    if isinstance(x, (int, float, complex, bool, np.generic)):
        return 1
    x = as_tensor(x)
    if x.dims is not None and None not in x.dims:
        return np.prod(x.dims, dtype=np.int64)
    return raw.Size(x)


@dispatchable
def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """The elements in another shape; one length may be -1.

    `order` is the index that varies fastest: the last ("C") or the first ("F"). Raises ValueError
    for another.

    >>> tnp.reshape([1, 2, 3, 4], (2, -1), order="F")
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 3],
           [2, 4]])>
    """
    order = str(order).upper()
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    x = as_tensor(a)
    if isinstance(newshape, (int, np.integer)):
        newshape = [int(newshape)]
    if isinstance(newshape, Tensor) and newshape.dims == ():
        newshape = raw.Reshape(newshape, [1])
    if order == "C":
        return raw.Reshape(x, newshape)
    backwards = raw.ReverseV2(convert.to_tensor(newshape), [0])
    return transpose(raw.Reshape(transpose(x), backwards))


@dispatchable
def ravel(a: Any) -> Tensor:
    """The elements as a vector.

    >>> tnp.ravel([[1, 2], [3, 4]])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([1, 2, 3, 4])>
    """
    return raw.Reshape(as_tensor(a), [-1])


@dispatchable
def flatten(a: Any, order: str = "C") -> Tensor:
    """The elements as a vector, the last index running fastest ("C", "A", "K") or the first ("F").

    >>> tnp.flatten([[1, 2], [3, 4]], order="F")
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([1, 3, 2, 4])>
    """
    order = str(order).upper()
    if order not in ("C", "A", "K", "F"):
        raise ValueError(f'order can only be "C", "A", "K" or "F". Received: order={order}')
    return reshape(a, [-1], "F" if order == "F" else "C")


@dispatchable
def transpose(a: Any, axes: Any = None) -> Tensor:
    """The axes in another order, reversed without `axes`.

    >>> tnp.transpose([[1, 2]])
    <tf.Tensor: shape=(2, 1), dtype=int64, numpy=
    array([[1],
           [2]])>
    """
    return rearranging.transpose(as_tensor(a), axes)


@dispatchable
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged. Raises IndexError if they are not there.

    >>> tnp.swapaxes([[1, 2]], 0, 1)
    <tf.Tensor: shape=(2, 1), dtype=int64, numpy=
    array([[1],
           [2]])>
    """
    x = as_tensor(a)
    if x.dims is not None:
        axis1, axis2 = int(axis1), int(axis2)
        order = [*range(len(x.dims))]
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return raw.Transpose(x, np.array(order, np.int32))
    rank = raw.Rank(x)
    order = raw.Range(0, rank, 1)
    one, two = (raw.FloorMod(axis, rank) for axis in (axis1, axis2))
    first = raw.SelectV2(raw.Equal(order, two), one, order)
    return raw.Transpose(x, raw.SelectV2(raw.Equal(order, one), two, first))


@dispatchable
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Axes put at other positions; the others keep their order.

    Raises ValueError if the numbers of both differ, or an axis is not there or named twice.

    >>> tnp.moveaxis(tnp.zeros((2, 3, 4)), 0, -1).shape
    TensorShape([3, 4, 2])
    """
    x = as_tensor(a)
    moved = [*source] if isinstance(source, Sequence) else [source]
    indices = [*destination] if isinstance(destination, Sequence) else [destination]
    if len(moved) != len(indices):
        raise ValueError("The lengths of source and destination must equal")
    if x.dims is None:
        return raw.Transpose(x, _late_order(raw.Rank(x), moved, indices))
    rank = len(x.dims)
    moved, indices = _axes(moved, rank), _axes(indices, rank)
    order = [i for i in range(rank) if i not in moved]
    for index, axis in sorted(zip(indices, moved, strict=True)):
        order.insert(index, axis)
    return raw.Transpose(x, np.array(order, np.int32))


def _axes(axes: list[Any], rank: int) -> list[int]:
    """Axes counted from the front. Raises ValueError."""
    found = [int(axis) for axis in axes]
    wrong = [axis for axis in found if not -rank <= axis < rank]
    if wrong or len({axis % rank for axis in found}) < len(found):
        raise ValueError(
            f"axes {found} are no {len(found)} different axes of a tensor of rank {rank}"
        )
    return [axis % rank for axis in found]


def _late_order(rank: Tensor, moved: list[int], positions: list[int]) -> Tensor:
    """The permutation of the axes where the rank is not static."""
    order = raw.Range(0, rank, 1)
    source = raw.FloorMod(np.array(moved, np.int32), rank)
    target = raw.FloorMod(np.array(positions, np.int32), rank)

    def others(named: Tensor) -> Tensor:
        free = raw.All(raw.NotEqual(raw.ExpandDims(order, 1), named), 1)
        return raw.Cast(raw.Reshape(raw.Where(free), [-1]), DstT=dtypes.int32)

    return raw.DynamicStitch([target, others(target)], [source, others(source)])


@dispatchable
def expand_dims(a: Any, axis: Any) -> Tensor:
    """A new dimension of length 1 at `axis`.

    >>> tnp.expand_dims([1, 2], 0)
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[1, 2]])>
    """
    return raw.ExpandDims(as_tensor(a), axis)


@dispatchable
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Without the dimensions of length 1, all of them or those of `axis`.

    >>> tnp.squeeze([[[1, 2]]], axis=0)
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[1, 2]])>
    """
    return rearranging.squeeze(as_tensor(a), axis)


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """The elements repeated to fill a shape.

    >>> tnp.broadcast_to([1, 2], (2, 2))
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 2],
           [1, 2]])>
    """
    return full_shape(as_tensor(array), shape)


def full_shape(x: Tensor, shape: Any) -> Tensor:
    """`x` broadcast to a shape, a single length included."""
    if isinstance(shape, (int, np.integer)):
        shape = [int(shape)]
    if isinstance(shape, Tensor) and shape.dims == ():
        shape = raw.Reshape(shape, [1])
    return raw.BroadcastTo(x, shape)


def broadcast_arrays(*args: Any, **kwargs: Any) -> Any:
    """All of them broadcast to their common shape. Raises ValueError for `subok=True`.

    >>> [x.numpy().tolist() for x in tnp.broadcast_arrays([1, 2], [[3], [4]])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    subok = kwargs.pop("subok", False)
    if subok:
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {kwargs.keys()}")
    tensors = [as_tensor(x) for x in args]
    if not tensors:
        return ()
    common = raw.Shape(tensors[0])
    for x in tensors[1:]:
        common = raw.BroadcastArgs(common, raw.Shape(x))
    return [raw.BroadcastTo(x, common) for x in tensors]


# -- flipped ---------------------------------------------------------------------------


@dispatchable
def flip(m: Any, axis: Any = None) -> Tensor:
    """The order reversed along `axis` (one or a tuple of several), without it along all.

    >>> tnp.flip([[1, 2], [3, 4]], axis=1)
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[2, 1],
           [4, 3]])>
    """
    x = as_tensor(m)
    if axis is None:
        axes: Any = raw.Range(0, raw.Rank(x), 1)
    else:
        axes = [*axis] if isinstance(axis, (tuple, list)) else [axis]
    return raw.ReverseV2(x, axes)


@dispatchable
def flipud(m: Any) -> Tensor:
    """The order of the rows reversed.

    >>> tnp.flipud([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[3, 4],
           [1, 2]])>
    """
    return flip(m, 0)


@dispatchable
def fliplr(m: Any) -> Tensor:
    """The order of the columns reversed.

    >>> tnp.fliplr([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[2, 1],
           [4, 3]])>
    """
    return flip(m, 1)


@dispatchable
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Turned by `k` right angles, from the first of `axes` towards the second.

    >>> tnp.rot90([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[2, 4],
           [1, 3]])>
    """
    x = as_tensor(m)
    one, two = axes
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(flip(x, one), two)
    if k == 1:
        return swapaxes(flip(x, two), one, two)
    return flip(swapaxes(x, one, two), two)


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Elements shifted by `shift` along `axis`; those pushed out come in at the other end.

    Without an axis, of the elements as one vector.

    >>> tnp.roll([1, 2, 3], 1)
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([3, 1, 2])>
    """
    x = as_tensor(a)
    if axis is not None:
        return raw.Roll(x, shift, axis)
    return raw.Reshape(raw.Roll(raw.Reshape(x, [-1]), shift, 0), raw.Shape(x))


# -- longer ----------------------------------------------------------------------------


def tile(a: Any, reps: Any) -> Tensor:
    """The tensor repeated `reps` times along its last axes; further axes are added in front.

    >>> tnp.tile([1, 2], (2, 2))
    <tf.Tensor: shape=(2, 4), dtype=int64, numpy=
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])>
    """
    x, times = as_tensor(a), raw.Reshape(as_tensor(reps, dtypes.int32), [-1])
    missing = raw.Sub(raw.Rank(x), raw.Size(times))
    more = raw.Fill(raw.Reshape(raw.Maximum(missing, 0), [1]), 1)
    ones = raw.Fill(raw.Reshape(raw.Maximum(raw.Neg(missing), 0), [1]), 1)
    wide = raw.Reshape(x, raw.ConcatV2([ones, raw.Shape(x)], 0))
    return raw.Tile(wide, raw.ConcatV2([more, times], 0))


@dispatchable
def repeat(a: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Each slice along `axis` repeated; without it, each element of `a` as a vector.

    >>> tnp.repeat([1, 2], [1, 3])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([1, 2, 2, 2])>
    """
    x = as_tensor(a)
    return rearranging.repeat(x, as_tensor(repeats, dtypes.int32), axis)


def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Tensor:
    """Wider by pairs of numbers, before and after each axis.

    `mode` is "constant" (with `constant_values`, a scalar, 0), "reflect" or "symmetric"; raises
    ValueError for another.

    >>> tnp.pad([1, 2], [[1, 2]], "constant", constant_values=7)
    <tf.Tensor: shape=(5,), dtype=int64, numpy=array([7, 1, 2, 7, 7])>
    """
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}")
    x = as_tensor(array)
    widths = as_tensor(pad_width, dtypes.int32)
    if mode != "constant":
        return raw.MirrorPad(x, widths, mode=mode.upper())
    value = kwargs.get("constant_values", 0)
    if isinstance(value, int) and value == 0:
        return raw.Pad(x, widths)
    return raw.PadV2(x, widths, convert.to_tensor(value, x.dtype))


__all__ = [
    "broadcast_arrays", "broadcast_to", "expand_dims", "flatten", "flip", "fliplr",
    "flipud", "moveaxis", "ndim", "pad", "ravel", "repeat", "reshape", "roll", "rot90",
    "shape", "size", "squeeze", "swapaxes", "tile", "transpose",
]  # fmt: skip
