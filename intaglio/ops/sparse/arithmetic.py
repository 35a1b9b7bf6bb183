"""Arithmetic of sparse tensors with one another and with dense ones, and their products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, INDEX, NUMERIC, QUANTIZED, REAL, int64
from intaglio.base.errors import invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.array.scattering import add_rows
from intaglio.ops.compiled import select_kernel
from intaglio.ops.families import conjugate, constant, shape_of, spec_of, truncated_quotient
from intaglio.ops.linalg.matmul import dot
from intaglio.ops.sparse import indices as coordinates

_NUMBERS = NUMERIC + QUANTIZED

# -- two sparse tensors --------------------------------------------------------------------


@op
class SparseAdd(Op):
    """The sum of two sparse tensors, without sums smaller than a threshold."""

    signature = (
        "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T,"
        " b_shape: int64, thresh: Treal"
        " -> sum_indices: int64, sum_values: T, sum_shape: int64"
    )
    T = _NUMBERS
    Treal = REAL

    def infer(self, a_indices: Spec, a_values: Spec, a_shape: Spec) -> Any:
        coordinates.need_ranks((a_indices, 2), (a_values, 1), (a_shape, 1))
        dims = a_shape.as_shape()
        rank = coordinates.rank_of(a_indices, a_shape)
        return coordinates.parts(a_values.dtype, None, rank, dims)

    def kernel(self, a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
        coordinates.check(a_indices, a_values, a_shape, "a")
        coordinates.check(b_indices, b_values, b_shape, "b")
        coordinates.check_same_shape(a_shape, b_shape)
        if np.ndim(thresh):
            raise invalid_argument(
                f"The magnitude threshold must be a scalar: got shape {brackets(np.shape(thresh))}"
            )
        table, a_rows, b_rows = coordinates.merged(a_indices, b_indices)
        total = np.zeros(len(table), a_values.dtype)
        np.add.at(total, a_rows, a_values)
        np.add.at(total, b_rows, b_values)
        kept = np.abs(total) >= thresh
        if kept.all():
            return table, total, a_shape
        # Only sums of several elements can fall below the threshold.
        added = np.concatenate([a_rows, b_rows])
        kept |= np.bincount(added, minlength=len(table)) == 1
        return table[kept], total[kept], a_shape

    def gradient(self, dsum_values, a_indices, b_indices, sum_indices) -> Any:
        a, b = raw.SparseAddGrad(dsum_values, a_indices, b_indices, sum_indices)
        return None, a, None, None, b, None, None


@op
class SparseAddGrad(Op):
    """The gradients of the operands of a sparse sum: 0 for what fell below the threshold."""

    signature = (
        "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64"
        " -> a_val_grad: T, b_val_grad: T"
    )
    differentiable = False
    T = _NUMBERS

    def infer(self, backprop_val_grad: Spec, a_indices: Spec, b_indices: Spec) -> Any:
        coordinates.need_ranks((backprop_val_grad, 1), (a_indices, 2), (b_indices, 2))
        dtype = backprop_val_grad.dtype
        counts = [x.shape[0] if x.shape else None for x in (a_indices, b_indices)]
        return Spec(dtype, (counts[0],)), Spec(dtype, (counts[1],))

    def kernel(self, backprop_val_grad, a_indices, b_indices, sum_indices):
        for name, indices in (("a_indices", a_indices), ("b_indices", b_indices)):
            if indices.ndim != 2:
                raise invalid_argument(
                    f"Input {name} should be a matrix but received shape: {brackets(indices.shape)}"
                )
        if backprop_val_grad.shape != sum_indices.shape[:1]:
            raise invalid_argument(
                "# elements in backprop_val_grad and rows in sum_indices should match "
                f"(#elems = {backprop_val_grad.size}, #rows = {sum_indices.shape[0]})"
            )
        return (
            _picked(backprop_val_grad, a_indices, sum_indices),
            _picked(backprop_val_grad, b_indices, sum_indices),
        )


def _picked(values: Any, wanted: Any, there: Any) -> Any:
    at, found = coordinates.matched(wanted, there)
    result = np.zeros(len(wanted), values.dtype)
    result[found] = values[at[found]]
    return result


class SparseExtreme(Op):
    """The larger or smaller of two sparse tensors, element by element; missing ones are 0."""

    signature = (
        "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T,"
        " b_shape: int64 -> output_indices: int64, output_values: T"
    )
    differentiable = False
    choose: Callable[..., Any]

    def infer(self, a_indices: Spec, a_values: Spec, a_shape: Spec) -> Any:
        coordinates.need_ranks((a_indices, 2), (a_values, 1), (a_shape, 1))
        rank = coordinates.rank_of(a_indices, a_shape)
        return coordinates.parts(a_values.dtype, None, rank)[:2]

    def kernel(self, a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        coordinates.check(a_indices, a_values, a_shape, "a")
        coordinates.check(b_indices, b_values, b_shape, "b")
        coordinates.check_same_shape(a_shape, b_shape)
        coordinates.check_bounds(a_indices, a_shape)
        coordinates.check_bounds(b_indices, b_shape)
        table, a_rows, b_rows = coordinates.merged(a_indices, b_indices)
        a, b = np.zeros((2, len(table)), a_values.dtype)
        a[a_rows], b[b_rows] = a_values, b_values
        return table, self.choose(a, b)


@op
class SparseSparseMaximum(SparseExtreme):
    """The larger element of two sparse tensors."""

    T = REAL
    choose = staticmethod(np.maximum)


@op
class SparseSparseMinimum(SparseExtreme):
    """The smaller element of two sparse tensors."""

    T = _NUMBERS
    choose = staticmethod(np.minimum)


# -- a sparse and a dense tensor -------------------------------------------------------------


@op
class SparseTensorDenseAdd(Op):
    """The dense sum of a sparse and a dense tensor of one shape."""

    signature = "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T"
    T = _NUMBERS
    Tindices = INDEX

    def infer(self, b: Spec) -> Spec:
        return Spec(b.dtype, b.shape)

    def kernel(self, a_indices, a_values, a_shape, b):
        coordinates.check(a_indices, a_values, a_shape, "a")
        if a_shape.size != b.ndim:
            raise invalid_argument(
                f"Two operands have different ranks; received: {a_shape.size} and {b.ndim}"
            )
        if tuple(a_shape.tolist()) != b.shape:
            at = int(np.argmax(a_shape != np.array(b.shape)))
            raise invalid_argument(
                f"Dimension {at} does not equal (no broadcasting is supported): sparse "
                f"side {int(a_shape[at])} vs dense side {b.shape[at]}"
            )
        if not coordinates.inside(a_indices, b.shape):
            wrong = (a_indices < 0) | (a_indices >= np.array(b.shape))
            row, column = np.argwhere(wrong)[0]
            raise invalid_argument(
                f"Sparse tensor has an invalid index on dimension {column}: "
                f"a_indices({row},{column}) = {int(a_indices[row, column])}, dense "
                f"tensor shape: {' '.join([str(d) for d in b.shape])}"
            )
        found = np.array(b)
        np.add.at(found.reshape(-1), coordinates.flat(a_indices, b.shape), a_values)
        return found

    def gradient(self, doutput, a_indices) -> Any:
        return None, raw.GatherNd(doutput, a_indices), None, doutput


class WithDense(Op):
    """The elements of a sparse tensor with those of a dense one, broadcast to its shape."""

    signature = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T"
    T = _NUMBERS

    def infer(self, sp_indices: Spec, sp_values: Spec, sp_shape: Spec) -> Spec:
        coordinates.need_ranks((sp_indices, 2), (sp_values, 1), (sp_shape, 1))
        return Spec(sp_values.dtype, (coordinates.size_of(sp_indices, sp_values),))

    def combine(self, values: Any, dense: Any, whole: Any) -> Any:
        """The result of a value and the dense element at its index."""
        raise NotImplementedError

    def kernel(self, sp_indices, sp_values, sp_shape, dense):
        coordinates.check(sp_indices, sp_values, sp_shape, "sp")
        facing = sp_shape[sp_shape.size - dense.ndim :]
        fits = dense.ndim <= sp_shape.size and all(
            [d in (1, s) for d, s in zip(dense.shape, facing.tolist(), strict=True)]
        )
        if not fits:
            raise invalid_argument(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got "
                f"incompatible shapes: {brackets(tuple(sp_shape.tolist()))} vs. "
                f"{brackets(dense.shape)}"
            )
        coordinates.check_bounds(sp_indices, sp_shape)
        flat = np.zeros(sp_values.size, np.int64)
        for column, size in zip(
            sp_indices.T[sp_shape.size - dense.ndim :], dense.shape, strict=True
        ):
            flat *= size
            if size > 1:
                flat += column
        return self.combine(sp_values, dense.reshape(-1)[flat], dense)


def _where(indices: Any, dense: Any) -> tuple[Any, Any]:
    """The indices into the dense tensor broadcast to the sparse one's shape, and its shape.

    Both have an additional dimension of size 1 in front, so that scalars have indices as well.
    """
    one = np.array([1], np.int64)
    shape = raw.ConcatV2([one, raw.Shape(dense, out_type=int64)], 0)
    first = raw.ZerosLike(raw.Slice(indices, np.array([0, 0]), np.array([-1, 1])))
    table = raw.ConcatV2([first, indices], 1)
    width = raw.StridedSlice(raw.Shape(table, out_type=int64), [1], [2], [1])
    skipped = raw.Sub(width, raw.Shape(shape, out_type=int64))
    begin = raw.ConcatV2([np.array([0], np.int64), skipped], 0)
    inner = raw.Slice(table, begin, np.array([-1, -1], np.int64))
    return raw.Minimum(inner, raw.Sub(shape, np.array(1, np.int64))), shape


def _taken(indices: Any, dense: Any) -> Any:
    """The dense elements at the indices."""
    at, shape = _where(indices, dense)
    return raw.GatherNd(raw.Reshape(dense, shape), at)


def _dense_gradient(gradient: Any, indices: Any, dense: Any) -> Any:
    """The gradient of the dense operand: the sums at its indices."""
    at, shape = _where(indices, dense)
    whole = raw.ScatterNd(at, gradient, shape)
    return raw.Reshape(whole, shape_of(spec_of(dense)))


@op
class SparseDenseCwiseAdd(WithDense):
    """The sums of a sparse tensor's elements and the dense ones at their indices."""

    def combine(self, values: Any, dense: Any, whole: Any) -> Any:
        """The sum."""
        return np.add(values, dense)

    def gradient(self, doutput, sp_indices, dense) -> Any:
        return None, doutput, None, lambda: _dense_gradient(doutput, sp_indices, dense)


@op
class SparseDenseCwiseMul(WithDense):
    """The products of a sparse tensor's elements and the dense ones at their indices."""

    def combine(self, values: Any, dense: Any, whole: Any) -> Any:
        """The product."""
        return np.multiply(values, dense)

    def gradient(self, doutput, sp_indices, sp_values, dense) -> Any:
        there = _taken(sp_indices, dense)
        by_values = raw.Mul(doutput, conjugate(there))

        def by_dense() -> Any:
            return _dense_gradient(raw.Mul(doutput, conjugate(sp_values)), sp_indices, dense)

        return None, by_values, None, by_dense


@op
class SparseDenseCwiseDiv(WithDense):
    """The quotients of a sparse tensor's elements and the dense ones at their indices."""

    def combine(self, values: Any, dense: Any, whole: Any) -> Any:
        """The quotient; of integers, rounded towards zero. Only the elements taken may not be 0."""
        if not np.all(dense):
            raise invalid_argument(
                "SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero "
            )
        if values.dtype.kind not in "iu":
            return np.true_divide(values, dense)
        return truncated_quotient(values, dense)

    def gradient(self, doutput, sp_indices, sp_values, dense) -> Any:
        there = _taken(sp_indices, dense)
        by_values = raw.RealDiv(doutput, conjugate(there))

        def by_dense() -> Any:
            slope = raw.RealDiv(raw.RealDiv(raw.Neg(sp_values), there), there)
            return _dense_gradient(raw.Mul(doutput, conjugate(slope)), sp_indices, dense)

        return None, by_values, None, by_dense


# -- products --------------------------------------------------------------------------------

# What NumPy spends on an element besides the multiplications of its row: it sorts them.
_WORK_PER_ELEMENT = 64
# Elements of rows that are multiplied at a time.
_MAX_ELEMENTS_AT_ONCE = 1 << 20


def _is_thick(size: int, values: Any, dense: Any) -> bool:
    """True for a sparse matrix whose product is faster as a dense one, and equal.

    The product of 0 and a number is 0 only if the number is finite.
    """
    return (
        dense.dtype.kind in "fc"
        and dense.dtype.itemsize >= 4
        and size <= coordinates.MAX_TABLE_CELLS_PER_ELEMENT * values.size
        and bool(np.isfinite(dense).all())
    )


@op
class SparseTensorDenseMatMul(Op):
    """The product of a sparse and a dense matrix."""

    signature = (
        "a_indices: Tindices, a_values: T, a_shape: int64, b: T;"
        " adjoint_a: bool = False, adjoint_b: bool = False -> product: T"
    )
    T = ALL
    Tindices = INDEX

    def infer(
        self, a_indices: Spec, a_values: Spec, a_shape: Spec, b: Spec, adjoint_a, adjoint_b
    ) -> Spec:
        coordinates.need_ranks((a_indices, 2), (a_values, 1), (a_shape, 1), (b, 2))
        dims = a_shape.as_shape()
        rows = None if dims is None or len(dims) != 2 else dims[1 if adjoint_a else 0]
        columns = b.shape[0 if adjoint_b else 1] if b.shape else None
        return Spec(b.dtype, (rows, columns))

    def kernel(self, a_indices, a_values, a_shape, b, adjoint_a, adjoint_b):
        if b.ndim != 2:
            raise invalid_argument("Tensor 'b' is not a matrix")
        if a_shape.shape != (2,):
            raise invalid_argument("Tensor 'a_shape' must have 2 elements")
        coordinates.check(a_indices, a_values, a_shape, "a")
        dense = _adjoint(b) if adjoint_b else b
        values = np.conj(a_values) if adjoint_a and a_values.dtype.kind == "c" else a_values
        rows, inner = (int(d) for d in (a_shape[::-1] if adjoint_a else a_shape))
        if inner != dense.shape[0]:
            raise invalid_argument(
                "Cannot multiply A and B because inner dimension does not match: "
                f"{inner} vs. {dense.shape[0]}.  Did you forget a transpose?  Dimensions "
                f"of A: [{rows}, {inner}).  Dimensions of B: {brackets(dense.shape)}"
            )
        to, of = (a_indices[:, 1], a_indices[:, 0]) if adjoint_a else a_indices.T
        _check_index("m", to, rows, int(adjoint_a))
        _check_index("k", of, inner, 1 - int(adjoint_a))
        check_allocated((rows, dense.shape[1]), dense.dtype.itemsize, "A sparse product")
        work = values.size * (dense.shape[1] + _WORK_PER_ELEMENT)
        run = select_kernel("sparse product", dense.dtype, work)
        if run is not None:
            return run(to, of, values, dense, rows)
        if _is_thick(rows * inner, values, dense):
            whole = np.zeros((rows, inner), dense.dtype)
            np.add.at(whole, (to, of), values)
            return dot(whole, np.ascontiguousarray(dense))
        wide = dense.dtype.itemsize == 2 and dense.dtype.kind not in "iu"
        found = np.zeros((rows, dense.shape[1]), np.float32 if wide else dense.dtype)
        step = max(1, _MAX_ELEMENTS_AT_ONCE // max(1, dense.shape[1]))
        for begin in range(0, values.size, step):
            some = slice(begin, begin + step)
            taken = dense[of[some]]
            product = np.multiply(taken, values[some, None], dtype=found.dtype)
            add_rows(found, to[some], product)
        return found.astype(dense.dtype, copy=False)

    def native(self, a_indices, a_values, a_shape, b, adjoint_a, adjoint_b) -> Any:
        known = a_shape.spec.value
        if known is None or a_values.dtype not in NUMERIC or not a_values.spec.count:
            return NotImplemented
        dense, values = b, raw.ExpandDims(a_values, 1)
        if adjoint_b:
            dense = conjugate(raw.Transpose(b, np.array([1, 0], np.int32)))
        values = conjugate(values) if adjoint_a else values
        rows, inner = known[::-1] if adjoint_a else known
        if dense.dims[0] != inner:
            return NotImplemented
        to, of = (_row(a_indices, i) for i in ((1, 0) if adjoint_a else (0, 1)))
        product = raw.Mul(raw.GatherV2(dense, of, 0), values)
        # Indices out of bounds are refused, not dropped.
        below = raw.Less(to, constant(0, to))
        to = raw.SelectV2(below, constant(int(rows), to), to)
        return raw.UnsortedSegmentSum(product, to, np.asarray(rows, np.int32))

    def gradient(self, dproduct, a_indices, a_values, a_shape, b, adjoint_a, adjoint_b) -> Any:
        rows = raw.GatherV2(dproduct, _row(a_indices, int(adjoint_a)), 0)
        inner = _row(a_indices, 1 - int(adjoint_a))
        columns = raw.GatherV2(b, inner, 1 if adjoint_b else 0)
        if adjoint_b:
            columns = conjugate(raw.Transpose(columns, np.array([1, 0], np.int32)))
        dvalues = raw.Sum(raw.Mul(rows, conjugate(columns)), np.array([1], np.int32))

        def by_b() -> Any:
            back = raw.SparseTensorDenseMatMul(
                a_indices, a_values, a_shape, dproduct, adjoint_a=not adjoint_a
            )
            if not adjoint_b:
                return back
            return conjugate(raw.Transpose(back, np.array([1, 0], np.int32)))

        return None, conjugate(dvalues) if adjoint_a else dvalues, None, by_b


def _row(indices: Any, column: int) -> Any:
    return raw.StridedSlice(
        indices, [0, column], [0, column + 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )


def _adjoint(matrix: Any) -> Any:
    return np.conj(matrix.T) if matrix.dtype.kind == "c" else matrix.T


def _check_index(name: str, numbers: Any, size: int, column: int) -> None:
    if numbers.size and numbers.min() >= 0 and numbers.max() < size:
        return
    wrong = (numbers < 0) | (numbers >= size)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise invalid_argument(
            f"{name} ({int(numbers[at])}) from index[{at},{column}] out of bounds (>={size})"
        )
