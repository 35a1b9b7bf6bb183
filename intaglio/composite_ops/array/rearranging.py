"""Tensors rearranged, joined and taken apart.

Follows https://www.tensorflow.org/api_docs/python/tf: `tf.reshape`, `tf.concat`, `tf.pad`
and their kin.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes, nest
from intaglio.base.composite import CompositeTensor
from intaglio.composite_ops.array.creation import get_static_value
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable, globally_dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the same value; a composite of the same tensors as it is.

    >>> print(tf.identity([1, 2]).numpy())
    [1 2]
    """
    if isinstance(input, CompositeTensor):
        return nest.map_structure(identity, input, expand_composites=True)
    return raw.Identity(convert.to_tensor(input), name=name)


@dispatchable
def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """Tensors with the same values as those of a list.

    >>> [
    ...     x.numpy()
    ...     for x in tf.identity_n([tf.constant([1, 2]), tf.constant(["a"], tf.string)])
    ... ]
    [array([1, 2], dtype=int32), array([b'a'], dtype=object)]
    """
    return raw.IdentityN([convert.to_tensor(x) for x in input], name=name)


@dispatchable
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The input, which counts as a constant when gradients are computed.

    >>> print(tf.stop_gradient([1.0, 2.0]).numpy())
    [1. 2.]
    """
    return raw.StopGradient(input, name=name)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """The input, promised not to change from run to run.

    >>> print(tf.guarantee_const([1, 2]).numpy())
    [1 2]
    """
    return raw.GuaranteeConst(input, name=name)


@dispatchable
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements in row-major order under another shape, in which one size may be -1.

    Raises InvalidArgumentError (ValueError in a graph) if the sizes do not fit.

    >>> print(tf.reshape([1, 2, 3, 4], [2, -1]).numpy())
    [[1 2]
     [3 4]]
    """
    return raw.Reshape(tensor, shape, name=name)


@dispatchable
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """Dimension i of the result is dimension perm[i] of a; without perm, all are reversed.

    `conjugate` conjugates the elements as well.

    >>> print(tf.transpose([[1, 2], [3, 4]]).numpy())
    [[1 3]
     [2 4]]
    """
    x = convert.to_tensor(a)
    if perm is None:
        if x.dims is not None:
            perm = np.arange(len(x.dims) - 1, -1, -1, dtype=np.int32)
        else:
            last = raw.Sub(raw.Rank(x), 1)
            perm = raw.Sub(last, raw.Range(0, raw.Rank(x), 1))
    if conjugate and x.dtype.is_complex:
        return raw.ConjugateTranspose(x, perm, name=name)
    return raw.Transpose(x, perm, name=name)


@dispatchable
def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """One dimension of size 1 more, at `axis`, which may be negative.

    >>> tf.expand_dims(tf.zeros([2, 3]), 1).shape
    TensorShape([2, 1, 3])
    """
    return raw.ExpandDims(input, axis, name=name)


@dispatchable
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Without dimensions of size 1: all of them, or those that `axis` lists.

    Raises InvalidArgumentError (ValueError in a graph) if one of the latter is larger.

    >>> tf.squeeze(tf.zeros([1, 2, 1])).shape
    TensorShape([2])
    """
    axes = [] if axis is None else [axis] if np.ndim(axis) == 0 else list(axis)
    return raw.Squeeze(input, axis=[int(a) for a in axes], name=name)


@dispatchable
def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """The tensors one after the other along a dimension that exists.

    Raises InvalidArgumentError (ValueError in a graph) if ranks or other sizes differ.

    >>> print(tf.concat([[[1, 2]], [[3, 4]]], axis=1).numpy())
    [[1 2 3 4]]
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        at = convert.to_tensor(axis, dtypes.int32)
        if at.dims not in ((), None):
            raise ValueError(f"Shape {at.shape} must have rank 0")
        with door.level().scoped(name or "concat"):  # names as in TensorFlow: "concat/concat"
            return raw.Identity(convert.to_tensor(values[0]), name=name)
    return raw.ConcatV2(list(values), axis, name=name)


@dispatchable
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape side by side along a new dimension.

    Raises ValueError if `axis` is out of range, InvalidArgumentError (ValueError in a
    graph) if the shapes differ.

    >>> print(tf.stack([[1, 2], [3, 4]], axis=1).numpy())
    [[1 3]
     [2 4]]
    """
    if axis == 0 and not convert.holds_tensors(values):
        try:
            return convert.to_tensor(values, None, name)
        except (TypeError, ValueError, NotImplementedError):
            pass
    if isinstance(values, Tensor):
        values = unstack(values)
    values = list(values)
    if values:
        dims = convert.to_tensor(values[0]).dims
        if dims is not None:
            rank = len(dims) + 1
            if not -rank <= axis < rank:
                raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    return raw.Pack(values, axis=axis, name=name)


@dispatchable
def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Like `stack` along dimension 0; only in graphs. Raises RuntimeError eagerly.

    >>> @tf.function
    ... def both():
    ...     return tf.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4])])
    >>> print(both().numpy())
    [[1 2]
     [3 4]]
    """
    if door.level().eager:
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    tensors = [convert.to_tensor(v) for v in values]
    dims = tensors[0].dims
    whole = None if dims is None else (len(tensors), *dims)
    rows = [raw.ExpandDims(t, 0) for t in tensors]
    return raw.ParallelConcat(rows, shape=whole, name=name)


@dispatchable
def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The slices along a dimension, which they no longer have.

    Raises ValueError if `axis` is out of range or `num` neither given nor known.

    >>> [x.numpy().tolist() for x in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = convert.to_tensor(value)
    if num is None:
        if x.dims is not None:
            rank = len(x.dims)
            if not -rank <= axis < rank:
                raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
            num = x.dims[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {x.shape}")
    return raw.Unpack(x, num=num, axis=axis, name=name)


@dispatchable
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """Parts along a dimension: a number of equal ones, or of the sizes listed.

    One size may be -1. Raises ValueError if the number of parts is not known,
    InvalidArgumentError (ValueError in a graph) if the sizes do not fit.

    `num` is their number where `num_or_size_splits` has an unknown length.

    >>> [x.numpy().tolist() for x in tf.split([1, 2, 3, 4], [1, 3])]
    [[1], [2, 3, 4]]
    """
    if isinstance(num_or_size_splits, (int, np.integer)):
        return raw.Split(axis, value, num_split=int(num_or_size_splits), name=name)
    sizes = convert.to_tensor(num_or_size_splits)
    if sizes.dims == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits!s}"
        )
    if num is None:
        num = sizes.dims[0] if sizes.dims else None
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return raw.SplitV(value, sizes, axis, num_split=num, name=name)


@dispatchable
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """The input repeated `multiples[i]` times along dimension i.

    >>> print(tf.tile([[1, 2]], [2, 2]).numpy())
    [[1 2 1 2]
     [1 2 1 2]]
    """
    return raw.Tile(input, multiples, name=name)


@dispatchable
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:
    """Padded by `paddings[i] = [before, after]` along dimension i.

    `mode` is CONSTANT, REFLECT or SYMMETRIC. Raises ValueError for another,
    InvalidArgumentError for negative paddings or more than there is to mirror.

    >>> print(tf.pad([[1, 2]], [[0, 1], [1, 0]], constant_values=9).numpy())
    [[9 1 2]
     [9 9 9]]
    """
    if not isinstance(mode, str):
        raise ValueError(f"`mode` must be CONSTANT, REFLECT or SYMMETRIC, not {mode!r}")
    kind = mode.upper()
    if kind == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.ndim(constant_values) == 0:
            plain = constant_values == 0 or constant_values in ("", b"")
        else:
            plain = False
        if plain:
            return raw.Pad(tensor, paddings, name=name)
        return raw.PadV2(tensor, paddings, constant_values, name=name)
    if kind not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or '
            f'"SYMMETRIC". Received `mode` = {kind}'
        )
    return raw.MirrorPad(tensor, paddings, mode=kind, name=name)


@dispatchable
def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each slice along `axis` repeated; without `axis`, each element of the flat input.

    `repeats` is a scalar, or a vector with a number for each slice. Raises
    InvalidArgumentError (ValueError in a graph) if its length does not fit.

    >>> print(tf.repeat([1, 2], [2, 3]).numpy())
    [1 1 2 2 2]
    """
    x = convert.to_tensor(input)
    if axis is None:
        x, axis = raw.Reshape(x, [-1]), 0
    counts = convert.to_tensor(repeats)
    if counts.dtype is not dtypes.int32:
        counts = raw.Cast(counts, DstT="int32")
    dims = x.dims
    if dims is None and axis < 0:
        raise ValueError(f"axis={axis} may only be negative if rank(data) is statically known.")
    at = axis if dims is None or axis >= 0 else axis + len(dims)
    if dims is not None:
        _check_repeats(dims, counts, axis, at)
    if counts.dims in ((), (1,)):
        return _repeat_alike(x, raw.Reshape(counts, []), at, name)
    return _repeat_each(x, counts, at, name)


def _check_repeats(dims: Any, counts: Tensor, axis: int, at: int) -> None:
    if not 0 <= at < len(dims):
        raise ValueError(f"Argument `axis` = {axis} not in range [{-len(dims)}, {len(dims)})")
    length = counts.dims[0] if counts.dims else 1
    if None not in (length, dims[at]) and length not in (1, dims[at]):
        raise ValueError(f"Dimensions {dims[at]} and {length} are not compatible")


def _repeat_alike(x: Tensor, count: Tensor, at: int, name: str | None) -> Tensor:
    whole = raw.Shape(x)
    before = raw.StridedSlice(whole, [0], [at], [1])
    after = raw.StridedSlice(whole, [at + 1], [0], [1], end_mask=1)
    ones = raw.OnesLike(before), raw.OnesLike(after)
    times = raw.ConcatV2([ones[0], [1], raw.Reshape(count, [1]), ones[1]], 0)
    wide = raw.Tile(raw.ExpandDims(x, at + 1), times)
    middle = raw.Mul(raw.StridedSlice(whole, [at], [at + 1], [1]), count)
    shape = raw.ConcatV2([before, middle, after], 0)
    return raw.Reshape(wide, shape, name=name or "Repeat")


def _repeat_each(x: Tensor, counts: Tensor, at: int, name: str | None) -> Tensor:
    """By index: each position as often as it is repeated."""
    known = get_static_value(counts)
    if known is not None and (known >= 0).all():
        steps = np.repeat(np.arange(len(known), dtype=np.int32), known)
        return raw.GatherV2(x, steps, at, name=name or "Repeat")
    length = raw.StridedSlice(raw.Shape(x), [at], [at + 1], [1], shrink_axis_mask=1)
    counts = raw.BroadcastTo(counts, raw.Pack([length]))
    most = raw.Maximum(raw.Max(counts, 0), 0)
    steps = raw.Range(0, most, 1)
    present = raw.Less(raw.ExpandDims(steps, 0), raw.ExpandDims(counts, 1))
    indices = raw.StridedSlice(
        raw.Where(present), [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    return raw.GatherV2(x, indices, at, name=name or "Repeat")


@dispatchable
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Elements shifted by `shift` along `axis`; those pushed out come in at the other end.

    >>> print(tf.roll([1, 2, 3, 4], shift=1, axis=0).numpy())
    [4 1 2 3]
    """
    return raw.Roll(input, shift, axis, name=name)


@dispatchable
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """The order reversed along the dimensions that the vector `axis` lists.

    >>> print(tf.reverse([[1, 2], [3, 4]], axis=[1]).numpy())
    [[2 1]
     [4 3]]
    """
    return raw.ReverseV2(tensor, axis, name=name)


@dispatchable
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """For each slice along `batch_axis`, the first `seq_lengths[i]` elements along `seq_axis` reversed.

    >>> print(tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy())
    [[2 1 3]
     [6 5 4]]
    """
    return raw.ReverseSequence(
        input,
        seq_lengths,
        seq_dim=_required(seq_axis, "seq_axis"),
        batch_dim=0 if batch_axis is None else batch_axis,
        name=name,
    )


def _required(value: int | None, argument: str) -> int:
    if value is None:
        raise TypeError(f"tf.reverse_sequence needs the argument `{argument}`")
    return value


@dispatchable
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Repeated along dimensions of size 1 and new ones in front, to `shape`.

    >>> print(tf.broadcast_to([1, 2], [2, 2]).numpy())
    [[1 2]
     [1 2]]
    """
    return raw.BroadcastTo(input, shape, name=name)


@globally_dispatchable
def meshgrid(*args: Any, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """Coordinate grids of vectors: one tensor for each, all of the shape they span.

    With `indexing="xy"` the first two dimensions are exchanged. Raises ValueError for an
    indexing other than "xy" and "ij", and for vectors of two dtypes as a product does.

    >>> [x.numpy().tolist() for x in tf.meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    vectors = [convert.to_tensor(a) for a in args]
    count = len(vectors)
    indices = list(builtins.range(count))
    if indexing == "xy" and count > 1:
        indices[:2] = [1, 0]
    sizes: list[Any] = [None] * count
    rows: list[Tensor] = []
    for at, x in zip(indices, vectors, strict=True):
        sides = [1] * count
        sides[at] = -1
        rows.append(raw.Reshape(x, sides))
        sizes[at] = _length(x)
        if x.dtype is not vectors[0].dtype:
            raw.Mul(x, raw.OnesLike(vectors[0]))  # TensorFlow's grids are products with ones
    shape: Any = sizes
    if any(isinstance(n, Tensor) for n in sizes):
        shape = raw.Pack([convert.to_tensor(n, dtypes.int32) for n in sizes])
    return [raw.BroadcastTo(row, shape, name=name) for row in rows]


def _length(x: Tensor) -> Any:
    dims = x.dims
    if dims is not None and None not in dims:
        total = 1
        for d in dims:
            total *= d  # type: ignore[operator]  # none is None here
        return total
    return raw.Size(x)


@dispatchable
def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Blocks of the spatial dimensions transposed into the batch dimension, after padding.

    >>> tf.space_to_batch(
    ...     tf.reshape([1, 2, 3, 4], [1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]
    ... ).shape
    TensorShape([4, 1, 1, 1])
    """
    return raw.SpaceToBatchND(input, block_shape, paddings, name=name)


@dispatchable
def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Tensor:
    """Blocks of the spatial dimensions transposed into the batch dimension, after padding.

    >>> tf.space_to_batch_nd(
    ...     tf.reshape([1, 2, 3, 4], [1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]
    ... ).shape
    TensorShape([4, 1, 1, 1])
    """
    return space_to_batch(input, block_shape, paddings, name)


@dispatchable
def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Blocks of the batch dimension transposed back into the spatial ones, then cropped.

    >>> tf.batch_to_space(
    ...     tf.reshape([1, 2, 3, 4], [4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]
    ... ).numpy().ravel()
    array([1, 2, 3, 4], dtype=int32)
    """
    return raw.BatchToSpaceND(input, block_shape, crops, name=name)


@dispatchable
def space_to_depth(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Blocks of height and width transposed into the channels.

    >>> tf.nn.space_to_depth(tf.reshape([1, 2, 3, 4], [1, 2, 2, 1]), 2).shape
    TensorShape([1, 1, 1, 4])
    """
    return raw.SpaceToDepth(input, block_size=block_size, data_format=data_format, name=name)


@dispatchable
def depth_to_space(
    input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Channels transposed into blocks of height and width.

    >>> tf.nn.depth_to_space(tf.reshape([1, 2, 3, 4], [1, 1, 1, 4]), 2).numpy().ravel()
    array([1, 2, 3, 4], dtype=int32)
    """
    return raw.DepthToSpace(input, block_size=block_size, data_format=data_format, name=name)


@dispatchable
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The data in `num_partitions` tensors: `partitions` has each element's tensor number.

    >>> [x.numpy().tolist() for x in tf.dynamic_partition([10, 20, 30], [0, 1, 0], 2)]
    [[10, 30], [20]]
    """
    return raw.DynamicPartition(data, partitions, num_partitions=num_partitions, name=name)


@dispatchable
def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """`merged[indices[m][i]] = data[m][i]`; where indices repeat, the last one counts.

    >>> print(tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy())
    [10 20 30]
    """
    return raw.DynamicStitch(list(indices), list(data), name=name)


__all__ = [
    "identity",
    "identity_n",
    "stop_gradient",
    "guarantee_const",
    "reshape",
    "transpose",
    "expand_dims",
    "squeeze",
    "concat",
    "stack",
    "parallel_stack",
    "unstack",
    "split",
    "tile",
    "pad",
    "repeat",
    "roll",
    "reverse",
    "reverse_sequence",
    "broadcast_to",
    "meshgrid",
    "space_to_batch",
    "space_to_batch_nd",
    "batch_to_space",
    "dynamic_partition",
    "dynamic_stitch",
]
