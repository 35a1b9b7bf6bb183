"""Ops without code in other ops, by rules, of operands of known shapes: linear ones as products of matrices,
dilations, positions, small matrices column by column.

Libraries use them where there is no native code (`portable_code.py`), ONNX models where ONNX has no operator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, complex128, float32, float64, int32, int64
from intaglio.export import assertions
from intaglio.export.assertions import asserted
from intaglio.export.rules import NoRule, Rules
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import late, raw
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op
from intaglio.runtime import interpreter

# The elements of a matrix that a linear op is written as, at most.
MAX_MATRIX_ELEMENTS = 1 << 18
Rule = Callable[[Node, Sequence[SymbolicTensor]], list[Any]]
# The outputs of a node in other ops, recorded in the graph that is written.
OPS: Rules[Rule] = Rules()
# The same for models, whose operators are no loops over elements; libraries have such loops (`loop_rules.py`).
WITHOUT_LOOPS: Rules[Rule] = Rules()


def _known(value: SymbolicTensor) -> Any:
    if value.node.op is not raw.Const:
        raise NoRule("an axis, an index or a size is data")
    return value.node.attrs["value"]


def _sizes(value: SymbolicTensor) -> tuple[int, ...]:
    return tuple([d for d in value.dims or () if d is not None])


# -- linear ops ------------------------------------------------------------------------------------


def _parts(array: Any) -> list[np.ndarray]:
    """An array as real ones."""
    array = np.asarray(array)
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def _linear(
    value: Any, outs: Sequence[int], kind: DType, axes: int, kernel: Callable[[Any], Any]
) -> Any:
    """A function over the last axes that is linear over real numbers, by what it makes of basis vectors.

    It is computed in double precision, so that it is as exact as the transform itself.
    """
    dims = _sizes(value)
    taken, resulting = math.prod(dims[-axes:]), math.prod(outs[-axes:])
    if not 0 < taken * resulting <= MAX_MATRIX_ELEMENTS:
        raise NoRule(f"{taken} elements are too many, or none")
    identity = np.eye(taken).reshape(taken, *dims[-axes:])
    tensors = [value]
    basis = [identity]
    if value.dtype.is_complex:
        tensors = [
            raw.Real(value, Tout=value.dtype.real_dtype),
            raw.Imag(value, Tout=value.dtype.real_dtype),
        ]
        basis = [identity + 0j, identity * 1j]
    rows = np.array([-1, taken], np.int32)
    sums: list[Any] = []
    for tensor, vectors in zip(tensors, basis, strict=True):
        flat = raw.Reshape(raw.Cast(tensor, DstT=float64), rows)
        matrices = [p.reshape(taken, resulting) for p in _parts(kernel(vectors))]
        products = [raw.MatMul(flat, np.ascontiguousarray(m)) for m in matrices]
        sums = [raw.AddV2(a, b) for a, b in zip(sums, products, strict=True)] if sums else products
    shape = np.array(outs, np.int32)
    found = [raw.Reshape(raw.Cast(s, DstT=kind.real_dtype), shape) for s in sums]
    return raw.Complex(*found, Tout=kind) if kind.is_complex else found[0]


def _register_fourier(axes: int, *ops: OpReference) -> None:
    @OPS.of(*ops)
    def transformed(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
        value, *lengths = inputs
        (result,) = node.outputs
        known = [_known(v) for v in lengths]

        def kernel(vectors: Any) -> Any:
            found = interpreter.call_kernel(node.op, [vectors, *known], attrs)
            return interpreter.flat_result(node.op, found)[0]

        double = {"Tcomplex", "Treal", "Tout"} & {*node.attrs}
        attrs = {k: v for k, v in node.attrs.items() if k not in double}
        attrs |= {k: _doubled(node.attrs[k]) for k in double}
        return [_linear(value, _sizes(result), result.dtype, axes, kernel)]


def _doubled(dtype: Any) -> Any:
    return complex128 if dtype.is_complex else float64


for _axes, _ops in enumerate(
    (
        (late.FFT, late.IFFT, late.RFFT, late.IRFFT),
        (late.FFT2D, late.IFFT2D, late.RFFT2D, late.IRFFT2D),
        (late.FFT3D, late.IFFT3D, late.RFFT3D, late.IRFFT3D),
    ),
    1,
):
    _register_fourier(_axes, *_ops)


@OPS.of(raw.AvgPool3D)
def _averaged(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Channels are rows of a product."""
    if node.attrs["data_format"] != "NDHWC":
        raise NoRule("channels are not its last dimension")
    (value,), (result,) = inputs, node.outputs
    first, last = np.array([0, 4, 1, 2, 3], np.int32), np.array([0, 2, 3, 4, 1], np.int32)
    moved, dims = raw.Transpose(value, first), _sizes(result)

    def kernel(vectors: Any) -> Any:
        found = interpreter.call_kernel(node.op, [vectors[..., np.newaxis]], node.attrs)
        return interpreter.flat_result(node.op, found)[0][..., 0]

    outs = (dims[0], dims[4], *dims[1:4])
    return [raw.Transpose(_linear(moved, outs, result.dtype, 3, kernel), last)]


@OPS.of(raw.ResizeBicubic, raw.ResizeArea, late.ScaleAndTranslate)
def _resized(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Rows, then columns: the weights of each are what the kernel makes of images of one column.

    Further operands are numbers for rows and columns.
    """
    images, size = inputs[0], _known(inputs[1])
    further = [np.asarray(_known(v)) for v in inputs[2:]]
    batch, height, width, channels = _sizes(images)
    rows, columns = np.asarray(size).tolist()
    if not (batch and channels and 0 < height * rows <= MAX_MATRIX_ELEMENTS):
        raise NoRule("images are too large, or there are none")
    if not 0 < width * columns <= MAX_MATRIX_ELEMENTS:
        raise NoRule("images are too large, or there are none")

    def weights(length: int, count: int, axis: int) -> Any:
        basis = np.eye(length, dtype=np.float32)[:, :, np.newaxis, np.newaxis]
        attrs = {**node.attrs, "T": float32} if "T" in node.attrs else node.attrs
        resized = np.array([count, 1], np.int32)
        neutral = np.array([1.0, 0.0], np.float32)[: len(further)]  # a scale, and a translation
        own = [np.array([f[axis], n], f.dtype) for f, n in zip(further, neutral, strict=True)]
        found = interpreter.call_kernel(node.op, [basis, resized, *own], attrs)
        return np.asarray(interpreter.flat_result(node.op, found)[0]).reshape(length, count)

    x = raw.Transpose(raw.Cast(images, DstT=float32), np.array([0, 3, 2, 1], np.int32))
    flat = raw.Reshape(x, np.array([batch * channels * width, height], np.int32))
    tall = raw.Reshape(
        raw.MatMul(flat, weights(height, rows, 0)),
        np.array([batch, channels, width, rows], np.int32),
    )
    flat = raw.Reshape(
        raw.Transpose(tall, np.array([0, 3, 1, 2], np.int32)),
        np.array([batch * rows * channels, width], np.int32),
    )
    wide = raw.Reshape(
        raw.MatMul(flat, weights(width, columns, 1)),
        np.array([batch, rows, channels, columns], np.int32),
    )
    return [raw.Transpose(wide, np.array([0, 1, 3, 2], np.int32))]


# -- the greatest of windows -----------------------------------------------------------------------


@OPS.of(raw.Dilation2D)
def _dilated(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """The greatest of the sums for each element of the filter."""
    value, filter_ = inputs
    if not value.dtype.is_floating:
        raise NoRule("its elements are integers")
    sizes, window, outs = _sizes(value), _sizes(filter_), _sizes(node.outputs[0])
    steps, rates = node.attrs["strides"], node.attrs["rates"]
    padding = np.zeros((4, 2), np.int32)
    for i in (1, 2):
        reach = (outs[i] - 1) * steps[i] + (window[i - 1] - 1) * rates[i] + 1
        missing = max(reach - sizes[i], 0)
        padding[i] = missing // 2, missing - missing // 2
    lowest = np.asarray(-np.inf, value.dtype.numpy)
    padded = raw.PadV2(value, padding, lowest)
    best: Any = None
    for i in range(window[0]):
        for j in range(window[1]):
            begin = np.array([0, i * rates[1], j * rates[2], 0], np.int32)
            ends = [(n - 1) * step + 1 for n, step in zip(outs[1:3], steps[1:3], strict=True)]
            end = begin + np.array([sizes[0], *ends, sizes[3]], np.int32)
            strides = np.array(steps, np.int32)
            part = raw.StridedSlice(padded, begin, end, strides)
            tap = raw.StridedSlice(
                filter_, np.array([i, j], np.int32), np.array([i + 1, j + 1], np.int32),
                np.array([1, 1], np.int32), shrink_axis_mask=3,
            )  # fmt: skip
            total = raw.AddV2(part, tap)
            best = total if best is None else raw.Maximum(best, total)
    return [best]


# -- positions, products from one end ----------------------------------------------------------------


def _slice(value: Any, axis: int, begin: int, end: int) -> Any:
    """A part of a value along an axis; from the end if that is negative."""
    rank = len(value.dims)
    starts, ends = np.zeros(rank, np.int32), np.zeros(rank, np.int32)
    starts[axis], ends[axis] = begin, end
    mask = ((1 << rank) - 1) & ~(1 << axis % rank)
    steps = np.ones(rank, np.int32)
    return raw.StridedSlice(value, starts, ends, steps, begin_mask=mask, end_mask=mask)


def _register_bound(op: Op, below: Op) -> None:
    @OPS.of(op)
    def position(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
        """How many of the sorted numbers of a row come before each value."""
        ordered, values = inputs
        before = below(raw.ExpandDims(ordered, np.int32(1)), raw.ExpandDims(values, np.int32(2)))
        number = raw.Cast(before, DstT=node.outputs[0].dtype)
        return [raw.Sum(number, np.array([2], np.int32))]


_register_bound(raw.LowerBound, raw.Less)
_register_bound(raw.UpperBound, raw.LessEqual)


@OPS.of(raw.Cumprod)
def _cumulative_product(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Products of neighbours, of twice as many in every step."""
    value, dims = inputs[0], _sizes(inputs[0])
    if not dims:
        raise NoRule("a scalar has no products along an axis")
    axis = int(np.asarray(_known(inputs[1]))) % len(dims)
    last = np.array([axis], np.int32)
    if node.attrs["reverse"]:
        value = raw.ReverseV2(value, last)
    if node.attrs["exclusive"]:
        value = _behind_ones(value, axis, 1, dims)
    step = 1
    while step < dims[axis]:
        value = raw.Mul(value, _behind_ones(value, axis, step, dims))
        step *= 2
    return [raw.ReverseV2(value, last) if node.attrs["reverse"] else value]


def _behind_ones(value: Any, axis: int, step: int, dims: Sequence[int]) -> Any:
    """A value moved by so many places along an axis, with ones before it."""
    shape = [*dims]
    shape[axis] = min(step, dims[axis])
    ones = np.ones(shape, value.dtype.numpy)
    return raw.ConcatV2([ones, _slice(value, axis, 0, dims[axis] - shape[axis])], np.int32(axis))


# -- small matrices ----------------------------------------------------------------------------------

# Matrices of more rows are not written out column by column.
MAX_ROWS = 24


def _rows_of(value: SymbolicTensor) -> int:
    dims = _sizes(value)
    if len(dims) < 2 or not 0 < dims[-2] <= MAX_ROWS or value.dtype.is_complex:
        raise NoRule(f"it is written out for real matrices of 1 to {MAX_ROWS} rows")
    return dims[-2]


@OPS.of(late.Cholesky)
def _cholesky(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Column by column; what has no root becomes NaN."""
    (matrix,) = inputs
    count = _rows_of(matrix)
    rest: Any = raw.MatrixBandPart(matrix, np.int32(-1), np.int32(0))
    columns: list[Any] = []
    for j in range(count):
        column = _slice(rest, -1, j, j + 1)
        pivot = raw.Sqrt(_slice(column, -2, j, j + 1))
        kept = _slice(column, -2, j, count)
        scaled = raw.RealDiv(kept, pivot)
        shape = (*_sizes(matrix)[:-2], j, 1)
        zeros = np.zeros(shape, matrix.dtype.numpy)
        columns.append(raw.ConcatV2([zeros, scaled], np.int32(-2)) if j else scaled)
        outer = raw.BatchMatMulV2(columns[-1], columns[-1], adj_y=True)
        rest = raw.Sub(rest, raw.MatrixBandPart(outer, np.int32(-1), np.int32(0)))
    return [raw.ConcatV2(columns, np.int32(-1))]


@OPS.of(late.MatrixTriangularSolve)
def _substituted(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Row by row, from the first or the last on."""
    matrix, right = inputs
    count = _rows_of(matrix)
    lower, adjoint = node.attrs["lower"], node.attrs["adjoint"]
    if adjoint:
        matrix, lower = _transposed(matrix), not lower
    found: list[Any] = []
    order = range(count) if lower else range(count - 1, -1, -1)
    for i in order:
        row = _slice(matrix, -2, i, i + 1)
        rest: Any = _slice(right, -2, i, i + 1)
        if found:
            known = raw.ConcatV2(found, np.int32(-2)) if len(found) > 1 else found[0]
            part = _slice(row, -1, 0, i) if lower else _slice(row, -1, i + 1, count)
            rest = raw.Sub(rest, raw.BatchMatMulV2(part, known))
        solved = raw.RealDiv(rest, _slice(row, -1, i, i + 1))
        found = [*found, solved] if lower else [solved, *found]
    return [raw.ConcatV2(found, np.int32(-2)) if count > 1 else found[0]]


def _transposed(matrix: Any) -> Any:
    rank = len(matrix.dims)
    return raw.Transpose(matrix, np.array([*range(rank - 2), rank - 1, rank - 2], np.int32))


def _eliminated(matrix: Any, right: Any, count: int) -> Any:
    """The solution by elimination; the row with the largest element is taken first."""
    rank, kind = len(matrix.dims), matrix.dtype
    whole: Any = raw.ConcatV2([matrix, right], np.int32(-1))
    numbers = np.arange(count, dtype=np.int64)
    for j in range(count):
        below = raw.Squeeze(raw.Abs(_slice(_slice(whole, -1, j, j + 1), -2, j, count)), axis=[-1])
        best = raw.ArgMax(below, np.int32(-1), output_type=int64)
        best = raw.ExpandDims(raw.AddV2(best, np.int64(j)), np.int32(-1))
        swapped = raw.SelectV2(raw.Equal(numbers, best), np.int64(j), numbers)
        swapped = raw.SelectV2(raw.Equal(numbers, np.int64(j)), best, swapped)
        hot = raw.Equal(raw.ExpandDims(swapped, np.int32(-1)), numbers)
        whole = raw.BatchMatMulV2(raw.Cast(hot, DstT=kind), whole)
        row = _slice(whole, -2, j, j + 1)
        row = raw.RealDiv(row, _slice(row, -1, j, j + 1))
        factors = _slice(whole, -1, j, j + 1)
        others = raw.Sub(whole, raw.BatchMatMulV2(factors, row))
        is_row = np.equal(numbers, j).reshape(*[1] * (rank - 2), count, 1)
        whole = raw.SelectV2(is_row, row, others)
    return _slice(whole, -1, count, count + right.dims[-1])


@OPS.of(late.MatrixSolve)
def _solved(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    matrix, right = inputs
    count = _rows_of(matrix)
    matrix = _transposed(matrix) if node.attrs["adjoint"] else matrix
    return [_eliminated(matrix, right, count)]


@OPS.of(late.MatrixInverse)
def _inverted(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    (matrix,) = inputs
    count = _rows_of(matrix)
    matrix = _transposed(matrix) if node.attrs["adjoint"] else matrix
    identity = np.broadcast_to(np.eye(count, dtype=matrix.dtype.numpy), _sizes(inputs[0])).copy()
    return [_eliminated(matrix, raw.Const(value=identity, dtype=matrix.dtype), count)]


@OPS.of(late.MatrixDiagPart, late.MatrixDiagPartV2, late.MatrixDiagPartV3)
def _diagonal(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """One diagonal: every so many elements of a matrix in one row."""
    matrix, dims, outs = inputs[0], _sizes(inputs[0]), _sizes(node.outputs[0])
    band = np.asarray(_known(inputs[1])).reshape(-1) if len(inputs) > 1 else np.zeros(1, np.int32)
    if len({*band.tolist()}) != 1 or len(outs) != len(dims) - 1 or not outs[-1]:
        raise NoRule("several diagonals, or none; take them one by one, k=0, k=1")
    offset, columns = int(band[0]), dims[-1]
    begin = offset if offset >= 0 else -offset * columns
    flat = raw.Reshape(matrix, np.array([*dims[:-2], dims[-2] * columns], np.int32))
    end = begin + (outs[-1] - 1) * (columns + 1) + 1
    mask = (1 << (len(outs) - 1)) - 1
    before = [0] * (len(outs) - 1)
    found = raw.StridedSlice(
        flat,
        np.array([*before, begin], np.int32),
        np.array([*before, end], np.int32),
        np.array([*[1] * len(before), columns + 1], np.int32),
        begin_mask=mask,
        end_mask=mask,
    )
    return [found]


@OPS.of(late.MatrixDiag, late.MatrixDiagV3)
def _diagonal_matrix(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """A square matrix of its main diagonal."""
    value, outs = inputs[0], _sizes(node.outputs[0])
    count = _sizes(value)[-1]
    band = np.asarray(_known(inputs[1])).reshape(-1) if len(inputs) > 1 else np.zeros(1, np.int32)
    if any(band) or outs[-2:] != (count, count):
        raise NoRule(
            "it is another diagonal than the main one of a square matrix; pad the vector instead"
        )
    other = inputs[4] if len(inputs) > 4 else np.zeros((), value.dtype.numpy)
    main = np.eye(count, dtype=bool)
    return [raw.SelectV2(main, raw.ExpandDims(value, np.int32(-1)), other)]


def _pivots(matrix: Any, count: int) -> tuple[list[Any], Any]:
    """The pivots of an elimination with the largest elements of columns, [..., 1, 1], and the sign of its swaps.

    Of a singular matrix one is 0, and those behind it have no meaning.
    """
    rank, kind = len(matrix.dims), matrix.dtype
    numbers = np.arange(count, dtype=np.int64)
    sign: Any = np.ones((), kind.numpy)
    found: list[Any] = []
    for j in range(count):
        column = raw.Squeeze(_slice(_slice(matrix, -1, j, j + 1), -2, j, count), axis=[-1])
        sizes = raw.ComplexAbs(column, Tout=kind.real_dtype) if kind.is_complex else raw.Abs(column)
        best = raw.ArgMax(sizes, np.int32(-1), output_type=int64)
        best = raw.ExpandDims(raw.AddV2(best, np.int64(j)), np.int32(-1))
        swapped = raw.SelectV2(raw.Equal(numbers, best), np.int64(j), numbers)
        swapped = raw.SelectV2(raw.Equal(numbers, np.int64(j)), best, swapped)
        matrix = raw.GatherV2(matrix, swapped, np.int32(rank - 2), batch_dims=rank - 2)
        stays = raw.ExpandDims(raw.Equal(best, np.int64(j)), np.int32(-1))
        sign = raw.Mul(sign, raw.SelectV2(stays, np.ones((), kind.numpy), -np.ones((), kind.numpy)))
        row = _slice(matrix, -2, j, j + 1)
        pivot = _slice(row, -1, j, j + 1)
        found.append(pivot)
        is_zero = raw.Equal(pivot, np.zeros((), kind.numpy))
        divisor = raw.SelectV2(is_zero, np.ones((), kind.numpy), pivot)
        factors = raw.RealDiv(_slice(matrix, -1, j, j + 1), divisor)
        below = (numbers > j).reshape(count, 1)
        factors = raw.SelectV2(below, factors, np.zeros((), kind.numpy))
        matrix = raw.Sub(matrix, raw.Mul(factors, row))
    return found, sign


def _single(matrices: Any) -> Any:
    return raw.Squeeze(matrices, axis=[-2, -1])


@OPS.of(late.MatrixDeterminant)
def _determinant(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Of complex matrices: the product of pivots."""
    (matrix,) = inputs
    pivots, total = _pivots(matrix, _complex_rows(matrix))
    for pivot in pivots:
        total = raw.Mul(total, pivot)
    return [_single(total)]


@OPS.of(late.LogMatrixDeterminant)
def _logarithm_of_determinant(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Of complex matrices: the product of the pivots' directions, and the sum of logarithms of their sizes."""
    (matrix,) = inputs
    kind, real = matrix.dtype, matrix.dtype.real_dtype
    pivots, sign = _pivots(matrix, _complex_rows(matrix))
    total: Any = np.zeros((), real.numpy)
    regular: Any = np.True_
    for pivot in pivots:
        size = raw.ComplexAbs(pivot, Tout=real)
        there = raw.NotEqual(size, np.zeros((), real.numpy))
        regular = raw.LogicalAnd(regular, there)
        size = raw.SelectV2(there, size, np.ones((), real.numpy))
        sign = raw.Mul(sign, raw.RealDiv(pivot, raw.Cast(size, DstT=kind)))
        total = raw.AddV2(total, raw.Log(size))
    total = raw.SelectV2(regular, total, np.asarray(-np.inf, real.numpy))
    sign = raw.SelectV2(regular, sign, np.zeros((), kind.numpy))
    return [_single(sign), _single(raw.Cast(total, DstT=kind))]


def _complex_rows(value: SymbolicTensor) -> int:
    dims = _sizes(value)
    if not value.dtype.is_complex or len(dims) < 2 or not 0 < dims[-1] <= MAX_ROWS:
        raise NoRule("matrices are too large")
    return dims[-1]


@WITHOUT_LOOPS.of(late.Qr)
def _orthogonalised(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Reflections, one for each column, with the signs that LAPACK gives them."""
    (matrix,) = inputs
    rows, columns, kind = _rows_of(matrix), _sizes(matrix)[-1], matrix.dtype
    if not columns:
        raise NoRule("matrices without columns")
    two, zero, one = (np.asarray(v, kind.numpy) for v in (2, 0, 1))
    identity = np.eye(rows, dtype=kind.numpy)
    q: Any = raw.BroadcastTo(identity, np.array([*_sizes(matrix)[:-2], rows, rows], np.int32))
    r: Any = matrix
    for j in range(min(rows - 1, columns)):
        rest = _slice(r, -2, j, rows)
        column = _slice(rest, -1, j, j + 1)
        head, below = _slice(column, -2, 0, 1), _slice(column, -2, 1, rows - j)
        tail = raw.Sum(raw.Square(below), np.array([-2], np.int32), keep_dims=True)
        size = raw.Sqrt(raw.AddV2(raw.Square(head), tail))
        end = raw.AddV2(head, raw.SelectV2(raw.Less(head, zero), raw.Neg(size), size))
        normal = raw.ConcatV2([end, below], np.int32(-2))
        square = raw.AddV2(raw.Square(end), tail)
        is_there = raw.Greater(tail, zero)  # else nothing is reflected
        factor = raw.RealDiv(raw.SelectV2(is_there, two, zero), raw.SelectV2(is_there, square, one))
        scaled = raw.Mul(normal, factor)
        along = raw.BatchMatMulV2(normal, rest, adj_x=True)
        rest = raw.Sub(rest, raw.BatchMatMulV2(scaled, along))
        r = raw.ConcatV2([_slice(r, -2, 0, j), rest], np.int32(-2)) if j else rest
        own = _slice(q, -1, j, rows)
        own = raw.Sub(own, raw.BatchMatMulV2(raw.BatchMatMulV2(own, normal), scaled, adj_y=True))
        q = raw.ConcatV2([_slice(q, -1, 0, j), own], np.int32(-1)) if j else own
    r = raw.MatrixBandPart(r, np.int32(0), np.int32(-1))
    if not node.attrs["full_matrices"] and columns < rows:
        q, r = _slice(q, -1, 0, columns), _slice(r, -2, 0, columns)
    return [q, r]


# -- sparse tensors ----------------------------------------------------------------------------------


@OPS.of(late.SparseReduceSum, late.SparseReduceMax)
def _reduced_elements(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Elements at their places in the dimensions that are left; 0 where there are none."""
    indices, values, shape, axes = inputs
    dims = [int(d) for d in np.asarray(_known(shape)).tolist()]
    along = {int(a) % len(dims) for a in np.asarray(_known(axes)).reshape(-1).tolist()}
    kept = [i for i in range(len(dims)) if i not in along]
    count, kind = math.prod([dims[i] for i in kept]), values.dtype
    if not count or not _sizes(values)[0]:
        raise NoRule("there are no elements")
    bounds = np.array(dims, np.int64)
    inside = raw.LogicalAnd(raw.GreaterEqual(indices, np.int64(0)), raw.Less(indices, bounds))
    asserted(inside, assertions.INDEX_OUT_OF_RANGE)
    steps = np.zeros(len(dims), np.int64)
    steps[kept] = [math.prod([dims[j] for j in kept if j > i]) for i in kept]
    places = raw.Sum(raw.Mul(indices, steps), np.array([1], np.int32))
    if node.op.name == late.SparseReduceSum.name:
        wide = float64 if kind.is_floating else kind  # added up in float64, as by the kernel
        found = raw.UnsortedSegmentSum(raw.Cast(values, DstT=wide), places, np.int32(count))
        found = raw.Cast(found, DstT=kind)
    else:
        ones = raw.Fill(raw.Shape(places), np.int32(1))
        there = raw.UnsortedSegmentMax(ones, places, np.int32(count))
        found = raw.UnsortedSegmentMax(values, places, np.int32(count))
        found = raw.SelectV2(raw.Greater(there, np.int32(0)), found, np.zeros((), kind.numpy))
    return [raw.Reshape(found, np.array(_sizes(node.outputs[0]), np.int32))]


# -- rounding ----------------------------------------------------------------------------------------


@OPS.of(raw.Cast)
def _narrowed(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """float64 as a float of 16 bits, by way of float32 rounded to odd, so that it is rounded once.

    After S. Boldo and G. Melquiond, "When double rounding is odd" (2005).
    """
    (value,), wide = inputs, node.outputs[0].dtype
    if value.dtype is not float64 or not wide.is_floating or wide.size != 2:
        raise NoRule(
            f"it has no code from {value.dtype.name} to {wide.name}; cast to float32 between them"
        )
    single = raw.Cast(value, DstT=float32)
    bits, back = raw.Bitcast(single, type=int32), raw.Cast(single, DstT=float64)
    one = np.int32(1)
    is_even = raw.Equal(raw.BitwiseAnd(bits, one), np.int32(0))
    away = raw.LogicalAnd(is_even, raw.Greater(raw.Abs(back), raw.Abs(value)))
    odd = raw.SelectV2(away, raw.Sub(bits, one), raw.BitwiseOr(bits, one))
    exact = raw.LogicalOr(raw.Equal(back, value), raw.IsNan(value))
    rounded = raw.Bitcast(raw.SelectV2(exact, bits, odd), type=float32)
    return [raw.Cast(rounded, DstT=wide)]


# -- shapes that are data ------------------------------------------------------------------------------


@OPS.of(raw.BroadcastArgs)
def _common_shape(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """The shape that two shapes broadcast to."""
    rank, one = max(_sizes(v)[0] for v in inputs), np.ones((), node.outputs[0].dtype.numpy)
    if not all(map(len, map(_sizes, inputs))) or not rank:
        raise NoRule("a shape has no dimensions")
    a, b = (
        raw.ConcatV2([np.ones(rank - _sizes(v)[0], one.dtype), v], np.int32(0))
        if _sizes(v)[0] < rank
        else v
        for v in inputs
    )
    is_one = raw.Equal(a, one)
    fits = raw.LogicalOr(raw.LogicalOr(is_one, raw.Equal(b, one)), raw.Equal(a, b))
    asserted(fits, f"{assertions.INCOMPATIBLE_SHAPES} between s0 and s1")
    return [raw.SelectV2(is_one, b, a)]


@OPS.of(raw.ConcatOffset)
def _offsets(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Where each part of what is joined begins: the sums of the parts before it."""
    axis, *parts = inputs
    rank = _sizes(parts[0])[0]
    if not rank:
        raise NoRule("a shape has no dimensions")
    kind = parts[0].dtype.numpy
    at = raw.FloorMod(raw.Cast(axis, DstT=int32), np.int32(rank))
    along = raw.Equal(np.arange(rank, dtype=np.int32), at)
    found: list[Any] = [np.zeros(rank, kind)]
    for part in parts[1:]:
        same = raw.LogicalOr(along, raw.Equal(part, parts[0]))
        asserted(same, assertions.INCOMPATIBLE_PARTS)
    for part in parts[:-1]:
        sizes = raw.SelectV2(along, part, np.zeros((), kind))
        found.append(raw.AddV2(found[-1], sizes))
    return [raw.Const(value=found[0], dtype=parts[0].dtype), *found[1:]]


# -- positions that are data --------------------------------------------------------------------------


@OPS.of(raw.ReverseSequence)
def _reversed(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Each example's elements up to its length are gathered from the other end."""
    value, lengths = inputs
    dims = _sizes(value)
    batch, axis = node.attrs["batch_dim"] % len(dims), node.attrs["seq_dim"] % len(dims)
    if batch == axis or not math.prod(dims):
        raise NoRule(
            "there are no elements, or the sequences are along the batch; tf.reverse instead"
        )
    order = [batch, axis, *[i for i in range(len(dims)) if i not in (batch, axis)]]
    moved = raw.Transpose(value, np.array(order, np.int32))
    length = raw.ExpandDims(raw.Cast(lengths, DstT=int64), np.int32(1))
    places = np.arange(dims[axis], dtype=np.int64)
    opposite = raw.Sub(raw.Sub(length, np.int64(1)), places)
    indices = raw.SelectV2(raw.Less(places, length), opposite, places)
    gathered = raw.GatherV2(moved, indices, np.int32(1), batch_dims=1)
    return [raw.Transpose(gathered, np.argsort(order).astype(np.int32))]


# -- windows of images ---------------------------------------------------------------------------------


@OPS.of(late.ExtractGlimpse, late.ExtractGlimpseV2)
def _glimpses(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Noise outside of the images: there a window of ones has zeros."""
    images, attrs = inputs[0], node.attrs
    kind, dims = attrs["noise"], _sizes(images)
    if kind == "zero" and not attrs["uniform_noise"]:
        raise NoRule("")  # its kernel has an expression
    if not math.prod(dims) or kind not in ("uniform", "gaussian"):
        raise NoRule("there are no elements, or no such noise; write noise='uniform'")
    plain: dict[str, Any] = {**attrs, "noise": "zero", "uniform_noise": False}
    seen = node.op(*inputs, **plain)
    # Ones that are computed: an expression of a kernel cannot take elements of a constant at data.
    ones = raw.Cast(raw.LogicalOr(raw.Equal(images, images), raw.IsNan(images)), DstT=float32)
    inside = raw.Greater(node.op(ones, *inputs[1:], **plain), np.float32(0))
    axes, shape = np.arange(4, dtype=np.int32), np.array(_sizes(node.outputs[0]), np.int32)
    if kind == "uniform":
        least, most = raw.Min(images, axes), raw.Max(images, axes)
        scale, drawn = raw.Sub(most, least), raw.RandomUniform(shape, dtype=float32)
    else:
        least = raw.Mean(images, axes)
        scale = raw.Sqrt(raw.Mean(raw.SquaredDifference(images, least), axes))
        drawn = raw.RandomStandardNormal(shape, dtype=float32)
    return [raw.SelectV2(inside, seen, raw.AddV2(raw.Mul(drawn, scale), least))]
