"""`DynamicRaggedShape`: the shape of a ragged tensor, as a value.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/DynamicRaggedShape. It is
the row partitions of the ragged dimensions, and the sizes of the flat values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from intaglio.base import dtypes
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import broadcasting, checks, core
from intaglio.ragged.core import Ragged
from intaglio.ragged.partition import RowPartition, index_vector
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec


class DynamicRaggedShape(CompositeTensor):
    """The shape of a tensor some of whose dimensions may be ragged."""

    __slots__ = ("__weakref__", "_inner_shape", "_partitions")

    Spec: ClassVar[Any]

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: Any,
        dtype: Any = None,
        validate: bool = False,
        static_inner_shape: Any = None,
    ) -> None:
        partitions = list(row_partitions)
        if dtype is None:
            dtype = partitions[0].dtype if partitions else None
        inner = index_vector(inner_shape, "inner_shape", dtype)
        if inner.dims not in (None,) and len(inner.dims or ()) != 1:
            raise ValueError("inner_shape must be a vector")
        self._partitions = tuple([p.with_dtype(inner.dtype) for p in partitions])
        self._inner_shape: Any = inner

    @classmethod
    def from_lengths(
        cls,
        lengths: Sequence[Any],
        num_row_partitions: int | None = None,
        dtype: Any = dtypes.int64,
    ) -> DynamicRaggedShape:
        """A size for each dimension, or for a ragged one the lengths of all its slices."""
        ragged = [i for i, n in enumerate(lengths) if isinstance(n, (list, tuple))]
        if lengths and isinstance(lengths[0], (list, tuple)):
            raise ValueError("Dimension 0 cannot be ragged.")
        least = ragged[-1] if ragged else 0
        count = least if num_row_partitions is None else num_row_partitions
        if count < least or (lengths and count >= len(lengths)) or count < 0:
            raise ValueError(f"num_row_partitions={count} does not fit lengths {lengths}")
        rows: int = lengths[0] if lengths else 0
        partitions: list[RowPartition] = []
        for n in lengths[1 : count + 1]:
            if isinstance(n, (list, tuple)):
                if len(n) != rows:
                    raise ValueError("Shape not consistent.")
                partitions.append(_of_lengths(n, dtype))
                rows = sum(n)
            else:
                partitions.append(
                    RowPartition.from_uniform_row_length(n, rows * n, rows, dtype=dtype)
                )
                rows *= n
        inner = [rows, *lengths[count + 1 :]] if lengths else []
        return cls(partitions, np.asarray(inner, as_dtype(dtype).numpy), dtype)

    @classmethod
    def from_row_partitions(
        cls, row_partitions: Sequence[RowPartition], dtype: Any = None
    ) -> DynamicRaggedShape:
        """The shape that these partitions have, the outermost first."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        inner = raw.ExpandDims(row_partitions[-1].nvals(), 0)
        return cls(row_partitions, inner, dtype)

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a tensor or ragged tensor."""
        x = core.as_operand(t)
        if isinstance(x, Ragged):
            kind = x.row_splits.dtype
            shape = cls(x.nested_partitions, raw.Shape(x.flat_values, out_type=kind), kind)
            return shape if dtype is None else shape.with_dtype(dtype)
        kind = dtypes.int64 if dtype is None else as_dtype(dtype)
        return cls([], raw.Shape(x, out_type=kind), kind)

    # -- reading -------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The type of sizes, int32 or int64."""
        return self._inner_shape.dtype

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of the ragged dimensions, the outermost first."""
        return self._partitions

    @property
    def num_row_partitions(self) -> int:
        """The number of partitions."""
        return len(self._partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values."""
        return self._inner_shape

    @property
    def inner_rank(self) -> int | None:
        """The number of dimensions of the flat values."""
        return self._inner_shape.dims[0] if self._inner_shape.dims else None

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        inner = self.inner_rank
        return None if inner is None else inner + len(self._partitions)

    def is_uniform(self, axis: int) -> bool:
        """True if all slices of the axis have one length by construction."""
        rank = self.rank
        if rank is not None and not 0 <= axis < rank:
            raise IndexError(f"Index {axis} must be in [0, {rank})")
        return axis == 0 or axis > len(self._partitions) or self._partitions[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """The sizes as far as they are known: of ragged dimensions all slices' lengths."""
        inner = checks.known(self._inner_shape)
        rank = self.inner_rank
        tail: list[Any]
        if rank is None:
            tail = [...]
        else:
            tail = [None] * rank if inner is None else inner.tolist()
        if not self._partitions:
            return tail
        found: list[Any] = [self._partitions[0].static_nrows]
        for rows in self._partitions:
            length = rows.static_uniform_row_length
            lengths = checks.known(rows.row_lengths())
            if length is not None:
                found.append(length)
            elif ragged_lengths and lengths is not None:
                found.append(tuple(lengths.tolist()))
            else:
                found.append(None)
        return [*found, *tail[1:]]

    def with_dtype(self, dtype: Any) -> DynamicRaggedShape:
        """The same shape with int32 or int64 sizes."""
        kind = as_dtype(dtype)
        inner = core.as_index(self._inner_shape, kind)
        return DynamicRaggedShape([p.with_dtype(kind) for p in self._partitions], inner, kind)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._sliced(index)
        rank = self.rank
        axis = checks.static(index)
        if axis is None:
            raise ValueError("The index of a DynamicRaggedShape must be known")
        if axis < 0:
            if rank is None:
                raise ValueError("Rank must be known to use index.")
            axis += rank
        if rank is not None and not 0 <= axis < rank:
            raise IndexError(f"Index {index} out of range of rank {rank}")
        count = len(self._partitions)
        if axis > count or not count:
            return self._inner_shape[axis - count]
        if axis == 0:
            return self._partitions[0].nrows()
        length = self._partitions[axis - 1].uniform_row_length()
        if length is None:
            raise ValueError(f"Index {axis} is not uniform")
        return length

    def _sliced(self, index: slice) -> DynamicRaggedShape:
        rank = self.rank
        if rank is None:
            raise NotImplementedError("Slices of shapes of unknown rank")
        start, stop, step = index.indices(rank)
        if step != 1:
            raise IndexError("Cannot stride through a shape")
        count = len(self._partitions)
        if start == 0 and stop > count:
            inner = self._inner_shape[: stop - count]
            return DynamicRaggedShape(self._partitions, inner)
        if start == 0:
            kept = self._partitions[: max(0, stop - 1)]
            if not kept:
                sizes = (
                    raw.Pack([self[i] for i in range(stop)], axis=0)
                    if stop
                    else np.zeros(0, np.int64)
                )
                return DynamicRaggedShape([], sizes)
            return DynamicRaggedShape.from_row_partitions(kept)
        if start > count or not count:
            return DynamicRaggedShape([], self._inner_shape[start - count : stop - count])
        if not all(self.is_uniform(axis) for axis in range(start, stop)):
            raise ValueError(f"Cannot slice a shape from its ragged dimension {start}")
        return DynamicRaggedShape([], raw.Pack([self[i] for i in range(start, stop)], axis=0))

    def __repr__(self) -> str:
        lengths = ", ".join([str(n) for n in self.static_lengths()])
        return (
            f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={len(self._partitions)}>"
        )

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, DynamicRaggedShape):
            return False
        if self.num_row_partitions != other.num_row_partitions or self.rank != other.rank:
            return False
        own = [*[p.row_splits() for p in self._partitions], self._inner_shape]
        others = [*[p.row_splits() for p in other._partitions], other._inner_shape]
        if any(a.dims != b.dims for a, b in zip(own, others, strict=True)):
            return convert.to_tensor(False)
        same = [
            raw.All(raw.Equal(a, b), np.asarray([0], np.int32))
            for a, b in zip(own, others, strict=True)
        ]
        return raw.All(raw.Pack(same, axis=0), np.asarray([0], np.int32))

    __hash__ = None  # type: ignore[assignment]  # unhashable on purpose

    @property
    def _type_spec(self) -> Any:
        return DynamicRaggedShape.Spec(
            tuple([p._type_spec for p in self._partitions]),
            TensorShape(_static_inner(self)),
            self.dtype,
        )


def _static_inner(value: DynamicRaggedShape) -> Any:
    inner = checks.known(value.inner_shape)
    rank = value.inner_rank
    if inner is None:
        return None if rank is None else [None] * rank
    return inner.tolist()


def _of_lengths(lengths: Any, dtype: Any) -> RowPartition:
    rows = RowPartition.from_row_lengths(np.asarray(lengths, as_dtype(dtype).numpy))
    return RowPartition.from_row_starts(rows.row_starts(), sum(lengths), dtype=dtype)


class DynamicRaggedShapeSpec(TypeSpec):
    """The type of shapes with these partitions and inner sizes."""

    __slots__ = ("_dtype", "_inner", "_partitions")

    def __init__(
        self, row_partitions: Any, static_inner_shape: Any, dtype: Any = dtypes.int64
    ) -> None:
        self._partitions = tuple(row_partitions)
        self._inner = TensorShape(static_inner_shape)
        self._dtype = as_dtype(dtype)

    @property
    def value_type(self) -> Any:
        """`DynamicRaggedShape`."""
        return DynamicRaggedShape

    @property
    def dtype(self) -> DType:
        """The type of sizes."""
        return self._dtype

    @property
    def inner_rank(self) -> int | None:
        """The number of dimensions of the flat values."""
        return self._inner.rank

    @property
    def num_row_partitions(self) -> int:
        """The number of partitions."""
        return len(self._partitions)

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        inner = self._inner.rank
        return None if inner is None else inner + len(self._partitions)

    def with_dtype(self, dtype: Any) -> DynamicRaggedShapeSpec:
        """The same spec with int32 or int64 sizes."""
        return DynamicRaggedShapeSpec(self._partitions, self._inner, dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._partitions, self._inner, self._dtype)

    @property
    def _component_specs(self) -> Any:
        return [*self._partitions, TensorSpec([self._inner.rank], self._dtype)]

    def _to_components(self, value: Any) -> Any:
        return [*value.row_partitions, value.inner_shape]

    def _from_components(self, components: Any) -> Any:
        *partitions, inner = components
        return DynamicRaggedShape(partitions, inner)

    def __repr__(self) -> str:
        return (
            f"DynamicRaggedShape.Spec(row_partitions={self._partitions!r}, "
            f"static_inner_shape={self._inner!r}, dtype={self._dtype!r})"
        )


DynamicRaggedShape.Spec = DynamicRaggedShapeSpec


# -- functions of shapes -----------------------------------------------------------------


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The shape of a ragged tensor; the default type is int32."""
    wanted = dtypes.int32 if out_type is None else as_dtype(out_type)
    return DynamicRaggedShape.from_tensor(input).with_dtype(wanted)


def _sample(value: Any) -> Any:
    """A tensor or ragged tensor of this shape."""
    zero = raw.Fill(value.inner_shape, convert.to_tensor(0, dtypes.int32))
    return core.nested(zero, value.row_partitions)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape of the result of an operation on tensors of these shapes."""
    x, y = [
        s if isinstance(s, DynamicRaggedShape) else DynamicRaggedShape([], s)
        for s in (shape_x, shape_y)
    ]
    if not x.row_partitions and not y.row_partitions:
        return DynamicRaggedShape([], raw.BroadcastArgs(x.inner_shape, y.inner_shape))
    flats, partitions = broadcasting.together([_sample(x), _sample(y)])
    inner = raw.AddV2(*flats)
    return DynamicRaggedShape(partitions, raw.Shape(inner, out_type=x.dtype))


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor stretched to a shape."""
    x = core.as_operand(input)
    if not isinstance(shape, DynamicRaggedShape):
        shape = DynamicRaggedShape([], shape)
    if isinstance(x, Ragged) and x.row_splits.dtype is not shape.dtype:
        raise ValueError("Cannot coerce row_splits.dtype")
    if not shape.row_partitions and not isinstance(x, Ragged):
        return raw.BroadcastTo(x, shape.inner_shape)
    flats, partitions = broadcasting.together([x, _sample(shape)])
    sizes: Any = raw.Shape(flats[1])
    return core.nested(raw.BroadcastTo(flats[0], sizes), partitions)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The elements in another shape, which may be that of a ragged tensor."""
    flat = tensor.flat_values if isinstance(tensor, Ragged) else convert.to_tensor(tensor)
    if isinstance(shape, DynamicRaggedShape):
        return core.nested(raw.Reshape(flat, shape.inner_shape), shape.row_partitions)
    return raw.Reshape(flat, shape, name=name)


def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """A tensor of this shape with one value everywhere."""
    flat = raw.Fill(dims.inner_shape, convert.to_tensor(value), name=name)
    return core.nested(flat, dims.row_partitions)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of this shape with 0, "" or False everywhere."""
    kind = as_dtype(dtype)
    value: Any = b"" if kind is dtypes.string else False if kind is dtypes.bool_ else 0
    return fill(shape, convert.to_tensor(value, kind), name)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of this shape with 1 or True everywhere."""
    kind = as_dtype(dtype)
    return fill(shape, convert.to_tensor(kind is dtypes.bool_ or 1, kind), name)
