"""Tensors put together and taken apart: concat, pack, split, pad."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, int8, int32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number, numbers, of_elements
from intaglio.ops.array.passing import check_same
from intaglio.ops.array.reshaping import small
from intaglio.ops.control_flow.variants import Variants
from intaglio.ops.families import MAX_FOLDED_ELEMENTS, check_length, shape_of


def on_axis(axis: int, rank: int) -> int:
    """A non-negative axis. Raises ShapeError with TensorFlow's text if it is out of range."""
    if -rank <= axis < rank:
        return axis + rank if axis < 0 else axis
    least = axis + 1 if axis >= 0 else -axis
    raise ShapeError(f"Shape must be at least rank {least} but is rank {rank}")


@op
class ConcatV2(Op):
    """The tensors one after the other along a dimension that exists."""

    signature = "values: N*T, axis: Tidx -> output: T"
    T = ALL
    Tidx = INDEX
    native_exact = True
    numerics_checked = False

    def infer(self, values: list[Spec], axis: Spec) -> Spec:
        dtype = values[0].dtype
        if axis.shape:
            raise ShapeError(f"Shape must be rank 0 but is rank {len(axis.shape)}")
        ranked = next((v.shape for v in values if v.shape is not None), None)
        if ranked is None:
            return Spec(dtype, None)
        rank = len(ranked)
        at = number(axis)
        if at is None:
            return Spec(dtype, (None,) * rank)
        at = on_axis(at, rank)
        return _concatenated(values, at, dtype, rank)

    def kernel(self, values, axis):
        check_length("N", values)
        if axis.size != 1:
            raise invalid_argument(
                f"axis tensor should be a scalar integer, but got shape {brackets(axis.shape)}"
            )
        at, rank = int(axis.item()), values[0].ndim
        if not -rank <= at < rank:  # NumPy 1 takes large ones
            raise _concat_error(values, at, rank)
        try:
            return np.concatenate(values, at)
        except ValueError:
            raise _concat_error(values, at, rank) from None

    def gradient(self, doutput, values: list[Spec], axis) -> Any:
        return concat_gradient(doutput, values, axis), None


def _concatenated(values: list[Spec], at: int, dtype: Any, rank: int) -> Spec:
    dims: Any = (None,) * rank
    total: int | None = 0
    for v in values:
        if v.shape is None:
            total = None
            continue
        if len(v.shape) == rank:
            size = v.shape[at]
            total = None if size is None or total is None else total + size
            rest: Any = (*v.shape[:at], None, *v.shape[at + 1 :])
            check_same(dims[:at], rest[:at])
            check_same(dims[at + 1 :], rest[at + 1 :])
        else:
            rest = v.shape
            check_same(dims, rest)
        dims = shapes.merge(dims, rest)
    result = list(dims)
    result[at] = total
    if rank == 1 and dtype.is_integer and total is not None and total <= 64:
        return of_elements(dtype, [e for v in values for e in v.partial or ()])
    return Spec(dtype, tuple(result))


def _concat_error(values: list[Any], at: int, rank: int) -> Exception:
    if not rank:
        return invalid_argument("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    if not -rank <= at < rank:
        return invalid_argument(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {at}"
        )
    first = values[0].shape
    for i, v in enumerate(values):
        if v.ndim != rank:
            return invalid_argument(
                f"ConcatOp : Ranks of all input tensors should match: shape[0] = {brackets(first)} vs. shape[{i}] = {brackets(v.shape)}"
            )
        for d in range(rank):
            if d != at % rank and v.shape[d] != first[d]:
                return invalid_argument(
                    f"ConcatOp : Dimension {d} in both shapes must be equal: shape[0] = {brackets(first)} vs. shape[{i}] = {brackets(v.shape)}"
                )
    return invalid_argument("ConcatOp : the shapes of the inputs do not match")


def concat_gradient(doutput: Any, values: Any, axis: Any) -> list[Any]:
    """The parts of a concatenation's gradient: split where the sizes are known, else sliced."""
    sizes = _sizes_on_axis(values, axis)
    if axis.dtype is not int32:
        axis = raw.Cast(axis, DstT=int32)
    if sizes is not None:
        return raw.SplitV(doutput, np.asarray(sizes, np.int64), axis, num_split=len(sizes))
    lengths = raw.ShapeN([v.tensor if v.tensor is not None else _zeros_of(v) for v in values])
    at = raw.FloorMod(axis, raw.Rank(doutput))
    offsets = raw.ConcatOffset(at, lengths)
    return [raw.Slice(doutput, begin, size) for begin, size in zip(offsets, lengths, strict=True)]


def _zeros_of(x: Spec) -> Any:
    return raw.Fill(shape_of(x), np.zeros((), x.dtype.numpy))


def _sizes_on_axis(values: Any, axis: Any) -> list[int] | None:
    spec = getattr(axis, "spec", None)
    at = number(spec) if spec is not None else int(axis.numpy())
    if at is None:
        return None
    sizes: list[int] = []
    for v in values:
        if v.shape is None or v.shape[at] is None:
            return None
        sizes.append(v.shape[at])
    return sizes


@op
class Concat(Op):
    """ConcatV2 with the dimension first."""

    signature = "concat_dim: int32, values: N*T -> output: T"
    T = ALL
    numerics_checked = False

    def infer(self, values: list[Spec], concat_dim: Spec) -> Spec:
        return ConcatV2.infer(self, values, concat_dim)  # type: ignore[arg-type]  # the other op's rule

    def kernel(self, values, concat_dim):
        return ConcatV2.kernel(self, values, concat_dim)  # type: ignore[arg-type]  # the other op's rule

    def gradient(self, doutput, values: list[Spec], concat_dim) -> Any:
        return None, concat_gradient(doutput, values, concat_dim)


@op
class ConcatOffset(Op):
    """Where each part of a concatenation begins."""

    signature = "concat_dim: int32, shape: N*shape_type -> offset: N*shape_type"
    differentiable = False
    shape_type = INDEX

    def infer(self, shape: list[Spec]) -> Any:
        return [Spec(s.dtype, s.shape) for s in shape]

    def kernel(self, concat_dim, shape):
        check_length("N", shape, 2)
        at, total, offsets = int(concat_dim), 0, []
        first = shape[0]
        for i, s in enumerate(shape):
            apart = s != first if s.shape == first.shape else np.ones(1, bool)
            if apart[:at].any() or apart[at:][1:].any() or s.shape != first.shape:
                raise invalid_argument(
                    f"All dimensions except {at} must match. Input {i} has shape"
                    f" {brackets(s.tolist())} and doesn't match input 0 with shape"
                    f" {brackets(first.tolist())}."
                )
            offset = np.zeros_like(s)
            offset[at] = total
            total += s[at]
            offsets.append(offset)
        return offsets


@op
class ParallelConcat(Op):
    """The tensors, each with a first dimension of size 1, one after the other."""

    signature = "values: N*T; shape: shape -> output: T"
    T = ALL

    def infer(self, values: list[Spec], shape: Dims) -> Spec:
        return Spec(values[0].dtype, shape)

    def kernel(self, values):
        return np.concatenate(values, 0)

    def gradient(self, doutput, N) -> Any:
        return raw.Split(0, doutput, num_split=N)


@op
class Pack(Op):
    """The tensors side by side along a new dimension."""

    signature = "values: N*T; axis: int = 0 -> output: T"
    T = ALL
    native_exact = True
    numerics_checked = False

    def infer(self, values: list[Spec], axis) -> Spec:
        dims: Dims = None
        for i, v in reversed(list(enumerate(values))):
            if not shapes.compatible(v.shape, dims):
                raise ShapeError(
                    f"{shapes.mismatch(v.shape, dims)}\n\tFrom merging shape {i} with other shapes."
                )
            dims = shapes.merge(v.shape, dims)
        dtype = values[0].dtype
        if dims is None:
            return Spec(dtype, None)
        if not dims and dtype.is_integer and len(values) <= 64:
            return of_elements(dtype, [number(v) for v in values])
        rank = len(dims) + 1
        if not -rank <= axis < rank:
            raise ShapeError(f"Invalid axis {axis}: must be in [{-rank}, {rank})")
        at = axis % rank
        whole = (*dims[:at], len(values), *dims[at:])
        value = None
        if (shapes.count(whole) or MAX_FOLDED_ELEMENTS + 1) <= MAX_FOLDED_ELEMENTS:
            known = [v.value for v in values if small(v)]
            value = np.stack(known, at) if len(known) == len(values) else None
        return Spec(dtype, whole, value)

    def kernel(self, values, axis):
        first = values[0]
        shape = first.shape
        for i, v in enumerate(values):
            if v.shape != shape:
                raise invalid_argument(
                    f"Shapes of all inputs must match: values[0].shape = {brackets(shape)} != values[{i}].shape = {brackets(v.shape)}"
                )
        rank = len(shape) + 1
        if not -rank <= axis < rank:
            raise invalid_argument(f"axis = {axis} not in [{-rank}, {rank})")
        at = axis % rank
        if not isinstance(first, (np.ndarray, np.generic)):
            if at:
                raise NotImplementedError("Variants are stacked along axis 0 only.")
            return Variants.stacked(values)
        result = np.empty((*shape[:at], len(values), *shape[at:]), first.dtype)
        parts = np.moveaxis(result, at, 0) if at else result
        for i, v in enumerate(values):
            parts[i, ...] = v
        return result

    def gradient(self, doutput, N, axis) -> Any:
        return raw.Unpack(doutput, num=N, axis=axis)


@op
class Unpack(Op):
    """The slices along a dimension, which they no longer have."""

    signature = "value: T; num: int, axis: int = 0 -> output: num*T"
    T = ALL
    native_exact = True
    data_inputs = ("value",)
    numerics_checked = False

    def infer(self, value: Spec, num, axis) -> Any:
        if value.shape is None:
            return [Spec(value.dtype, None) for _ in range(num)]
        rank = len(value.shape)
        if not -rank <= axis < rank:
            raise ShapeError(f"Invalid axis {axis}: must be in [{-rank}, {rank})")
        at = axis % rank
        if value.shape[at] not in (None, num):
            raise ShapeError(f"Dimension must be {num} but is {value.shape[at]}")
        rest = value.shape[:at] + value.shape[at + 1 :]
        elements = value.partial if rank == 1 and value.dtype.is_integer else None
        if elements is not None and len(elements) == num:
            make = value.dtype.numpy.type
            return [
                Spec(value.dtype, (), None if e is None else np.asarray(make(e))) for e in elements
            ]
        return [Spec(value.dtype, rest) for _ in range(num)]

    def kernel(self, value, num, axis):
        rank = value.ndim
        if not -rank <= axis < rank:
            raise invalid_argument(f"axis = {axis} not in [{-rank}, {rank})")
        if value.shape[axis] != num:
            raise invalid_argument(
                f"Input shape axis {axis % rank} must equal {num}, got shape {brackets(value.shape)}"
            )
        parts = np.moveaxis(value, axis, 0) if axis else value
        return [parts[i, ...] for i in range(num)]

    def gradient(self, doutput, axis) -> Any:
        return raw.Pack(list(doutput), axis=axis)


@op
class Split(Op):
    """Equal parts along a dimension."""

    graphdef_names = {"axis": "split_dim"}

    signature = "axis: int32, value: T; num_split: int -> output: num_split*T"
    T = ALL
    native_exact = True
    data_inputs = ("value",)
    numerics_checked = False

    def infer(self, axis: Spec, value: Spec, num_split) -> Any:
        at = number(axis)
        if value.shape is None:
            return [Spec(value.dtype, None)] * num_split
        if at is None:
            return [Spec(value.dtype, (None,) * len(value.shape))] * num_split
        at = on_axis(at, len(value.shape))
        size = value.shape[at]
        if size is not None and size % num_split:
            raise ShapeError(
                f"Dimension size must be evenly divisible by {num_split} but is {size}\n\t"
                "Number of ways to split should evenly divide the split dimension"
            )
        part = None if size is None else size // num_split
        if part is not None and (cuts := _cut_elements(value, [part] * num_split)):
            return cuts
        dims = (*value.shape[:at], part, *value.shape[at + 1 :])
        return [Spec(value.dtype, dims) for _ in range(num_split)]

    def kernel(self, axis, value, num_split):
        at, rank = int(axis), value.ndim
        if num_split <= 0:
            raise invalid_argument(f"Number of ways to split should be > 0, but got {num_split}")
        if not -rank <= at < rank:
            raise invalid_argument(
                f"-input rank({-rank}) <= split_dim < input rank ({rank}), but got {at}"
            )
        size = value.shape[at]
        if size % num_split:
            raise invalid_argument(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {at % rank} (size = {size}) and num_split {num_split}"
            )
        return cut(value, [size // num_split] * num_split, at % rank)

    def gradient(self, axis, doutput) -> Any:
        return None, raw.ConcatV2(list(doutput), axis)


def _cut_elements(value: Spec, sizes: list[int]) -> list[Spec] | None:
    """The parts of a short integer vector, with the elements known of it."""
    elements = value.partial
    if value.rank != 1 or not value.dtype.is_integer or not elements or len(elements) > 64:
        return None
    ends = np.cumsum([0, *sizes]).tolist()
    return [of_elements(value.dtype, elements[a:b]) for a, b in itertools.pairwise(ends)]


def cut(value: Any, sizes: list[int], at: int) -> list[Any]:
    """Views of consecutive parts along dimension `at`."""
    lead = (slice(None),) * at
    parts: list[Any] = []
    start = 0
    for size in sizes:
        parts.append(value[(*lead, slice(start, start + size))])
        start += size
    return parts


@op
class SplitV(Op):
    """Parts of the sizes given along a dimension; one size may be -1."""

    graphdef_names = {"axis": "split_dim"}

    signature = "value: T, size_splits: Tlen, axis: int32; num_split: int -> output: num_split*T"
    T = ALL
    Tlen = (int8, *INDEX)
    data_inputs = ("value",)
    numerics_checked = False

    def infer(self, value: Spec, size_splits: Spec, axis: Spec, num_split) -> Any:
        if size_splits.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {size_splits.rank}")
        if value.shape is None:
            return [Spec(value.dtype, None)] * num_split
        at = number(axis)
        if at is None:
            return [Spec(value.dtype, (None,) * len(value.shape))] * num_split
        at = on_axis(at, len(value.shape))
        sizes: Any = numbers(size_splits)
        if sizes is None:
            sizes = [None] * num_split
        elif value.shape[at] is not None:
            sizes = _determined(sizes, value.shape[at] or 0, ShapeError)
        else:
            sizes = [None if s == -1 else s for s in sizes]
        if None not in sizes and (cuts := _cut_elements(value, sizes)):
            return cuts
        head, tail = value.shape[:at], value.shape[at + 1 :]
        return [Spec(value.dtype, (*head, s, *tail)) for s in sizes]

    def kernel(self, value, size_splits, axis, num_split):
        at, rank = int(axis.item()), value.ndim
        if not -rank <= at < rank:
            raise invalid_argument(
                f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {at}"
            )
        if len(size_splits) != num_split:
            raise invalid_argument(
                f"Size of size_splits must be {num_split}, but got {len(size_splits)}"
            )
        at %= rank
        sizes = _determined(size_splits.tolist(), value.shape[at], invalid_argument)
        return cut(value, sizes, at)

    def gradient(self, axis, doutput) -> Any:
        return raw.ConcatV2(list(doutput), axis), None, None


def _determined(sizes: list[int], whole: int, error: Any) -> list[int]:
    """The sizes with -1 worked out."""
    total = sum(s for s in sizes if s != -1)
    opens = sizes.count(-1)
    if opens > 1:
        raise error("There can only be one -1 in the input.")
    bad = next((s for s in sizes if s < -1), None)
    if bad is not None:
        raise error(f"Split size at index {sizes.index(bad)} must be >= 0. Got: {bad}")
    if (not opens and total != whole) or total > whole:
        raise error(
            "Determined shape must either match input shape along split_dim exactly if fully specified, "
            f"or be less than the size of the input along split_dim if not fully specified.  Got: {total}"
        )
    return [whole - total if s == -1 else s for s in sizes]
