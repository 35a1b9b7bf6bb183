"""Reductions over dimensions of sparse tensors, and softmax along the last one."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import HALF_TO_DOUBLE, NUMERIC, QUANTIZED, REAL, int64
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers
from intaglio.ops.math.reduction import lowest
from intaglio.ops.sparse import indices as coordinates


def _reduced(rank: int, axes: Any) -> Any:
    """Which dimensions are reduced, as a mask."""
    if np.ndim(axes) > 1:
        raise invalid_argument(
            "Expected reduction_axes to be a scalar or a vector; got shape: "
            f"{brackets(np.shape(axes))}"
        )
    found = np.zeros(rank, bool)
    for axis in np.asarray(axes).reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise invalid_argument(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
        found[axis] = True
    return found


class Reduction(Op):
    """A reduction over the elements that are there; 0 where there are none."""

    ufunc: Any

    def groups(self, indices: Any, values: Any, axes: Any, shape: Any) -> Any:
        """(indices kept, their positions for each element, which dimensions are reduced)."""
        coordinates.check(indices, values, shape)
        coordinates.check_bounds(indices, shape)
        reduced = _reduced(shape.size, axes)
        return indices[:, ~reduced], reduced

    def put_together(self, found: Any, where: Any, values: Any) -> Any:
        """Reduces values into `found` at positions `where`."""
        if self.ufunc is np.add and values.dtype.kind in "fV":
            # Added up in float64.
            wide = values.astype(np.float64)
            return np.bincount(where, wide, found.size).astype(values.dtype)
        self.ufunc.at(found, where, values)
        return found

    def start(self, values: Any) -> Any:
        """What reducing begins with."""
        return 0


class ReductionToDense(Reduction):
    """A reduction as a dense tensor."""

    signature = (
        "input_indices: int64, input_values: T, input_shape: int64,"
        " reduction_axes: int32; keep_dims: bool = False -> output: T"
    )

    def infer(
        self,
        input_indices: Spec,
        input_values: Spec,
        input_shape: Spec,
        reduction_axes: Spec,
        keep_dims,
    ) -> Spec:
        coordinates.need_ranks((input_indices, 2), (input_values, 1), (input_shape, 1))
        dims, axes = input_shape.as_shape(), numbers(reduction_axes)
        if dims is None:
            return Spec(input_values.dtype, None)
        if axes is None:
            return Spec(input_values.dtype, (None,) * len(dims) if keep_dims else None)
        reduced = _reduced(len(dims), axes).tolist()
        kept = [1 if g else d for d, g in zip(dims, reduced, strict=True) if keep_dims or not g]
        return Spec(input_values.dtype, tuple(kept))

    def kernel(self, input_indices, input_values, input_shape, reduction_axes, keep_dims):
        values = input_values
        kept, reduced = self.groups(input_indices, values, reduction_axes, input_shape)
        dims = tuple(input_shape[~reduced].tolist())
        where = coordinates.flat(kept, dims)
        found = np.full(int(np.prod(dims)), self.start(values), values.dtype)
        found = self.put_together(found, where, values)
        if self.ufunc is not np.add:
            there = np.zeros(found.size, bool)
            there[where] = True
            found[~there] = 0
        shape = np.where(reduced, 1, input_shape).tolist() if keep_dims else dims
        return found.reshape(shape)


class ReductionToSparse(Reduction):
    """A reduction as a sparse tensor."""

    signature = (
        "input_indices: int64, input_values: T, input_shape: int64,"
        " reduction_axes: int32; keep_dims: bool = False"
        " -> output_indices: int64, output_values: T, output_shape: int64"
    )
    differentiable = False

    def infer(
        self,
        input_indices: Spec,
        input_values: Spec,
        input_shape: Spec,
        reduction_axes: Spec,
        keep_dims,
    ) -> Any:
        coordinates.need_ranks((input_indices, 2), (input_values, 1), (input_shape, 1))
        rank, axes = coordinates.rank_of(input_indices, input_shape), numbers(reduction_axes)
        if not keep_dims and rank is not None:
            rank = None if axes is None else rank - int(_reduced(rank, axes).sum())
        return coordinates.parts(input_values.dtype, None, rank)

    def kernel(self, input_indices, input_values, input_shape, reduction_axes, keep_dims):
        values = input_values
        kept, reduced = self.groups(input_indices, values, reduction_axes, input_shape)
        _, first, where = np.unique(
            coordinates.keys(kept)[0], return_index=True, return_inverse=True
        )
        found = np.full(first.size, self.start(values), values.dtype)
        found = self.put_together(found, where.reshape(-1), values)
        if not keep_dims:
            return kept[first], found, input_shape[~reduced]
        table = np.where(reduced, 0, input_indices[first])
        return table.astype(np.int64), found, np.where(reduced, 1, input_shape)


@op
class SparseReduceSum(ReductionToDense):
    """Sums over dimensions of a sparse tensor, as a dense one."""

    T = NUMERIC + QUANTIZED
    ufunc = np.add

    def gradient(
        self, doutput, input_indices, input_values: Spec, input_shape, reduction_axes
    ) -> Any:
        # The gradient in the shape with reduced dimensions kept as 1.
        axes = raw.Cast(reduction_axes, DstT=int64)
        rank = raw.Shape(input_shape, out_type=int64)
        axes = raw.Reshape(raw.FloorMod(axes, rank), np.array([-1, 1], np.int32))
        ones = raw.Fill(raw.StridedSlice(raw.Shape(axes), [0], [1], [1]), np.array(1, np.int64))
        kept = raw.TensorScatterUpdate(input_shape, axes, ones)
        by_row = raw.Reshape(doutput, kept)
        at = raw.Minimum(input_indices, raw.Sub(kept, np.array(1, np.int64)))
        return None, raw.GatherNd(by_row, at), None, None


@op
class SparseReduceMax(ReductionToDense):
    """The largest elements over dimensions of a sparse tensor, as a dense one."""

    T = REAL
    ufunc = np.maximum

    def start(self, values: Any) -> Any:
        """Less than every value."""
        return lowest(values.dtype)


@op
class SparseReduceSumSparse(ReductionToSparse):
    """Sums over dimensions of a sparse tensor, as a sparse one."""

    T = NUMERIC + QUANTIZED
    ufunc = np.add


@op
class SparseReduceMaxSparse(ReductionToSparse):
    """The largest elements over dimensions of a sparse tensor, as a sparse one."""

    T = REAL
    ufunc = np.maximum

    def start(self, values: Any) -> Any:
        """Less than every value."""
        return lowest(values.dtype)


@op
class SparseSoftmax(Op):
    """Softmax over the elements of each innermost row."""

    signature = "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T"
    T = HALF_TO_DOUBLE

    def infer(self, sp_indices: Spec, sp_values: Spec, sp_shape: Spec) -> Spec:
        coordinates.need_ranks((sp_indices, 2), (sp_values, 1), (sp_shape, 1))
        return Spec(sp_values.dtype, (coordinates.size_of(sp_indices, sp_values),))

    def kernel(self, sp_indices, sp_values, sp_shape):
        if sp_shape.size < 2:
            raise invalid_argument(
                f"Input should have rank >= 2, but received shape: {sp_shape.tolist()}"
            )
        coordinates.check(sp_indices, sp_values, sp_shape, "sp")
        wide = np.float32 if sp_values.dtype.itemsize == 2 else sp_values.dtype
        _, rows = np.unique(coordinates.keys(sp_indices[:, :-1])[0], return_inverse=True)
        rows = rows.reshape(-1)
        count = int(rows.max(initial=-1)) + 1
        most = np.full(count, -np.inf, wide)
        np.maximum.at(most, rows, sp_values)
        found = np.exp(sp_values.astype(wide) - most[rows])
        total = np.zeros(count, wide)
        np.add.at(total, rows, found)
        return (found / total[rows]).astype(sp_values.dtype)

    def gradient(self, doutput, sp_indices, sp_shape, output) -> Any:
        product = raw.Mul(doutput, output)
        axis = np.array([-1], np.int32)
        total = raw.SparseReduceSum(sp_indices, product, sp_shape, axis, keep_dims=True)
        moved = raw.SparseDenseCwiseAdd(sp_indices, doutput, sp_shape, raw.Neg(total))
        return None, raw.Mul(moved, output), None
