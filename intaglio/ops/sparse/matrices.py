"""Sparse matrices as single values (CSR in TensorFlow's names), and their products."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import (
    VARIANT_MARKER,
    DType,
    complex64,
    complex128,
    float32,
    float64,
    int32,
    int64,
    variant,
)
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.array.scattering import add_rows
from intaglio.ops.families import conjugate
from intaglio.ops.sparse import indices as coordinates

_ELEMENTS = (float32, float64, complex64, complex128)


class SparseMatrix:
    """A sparse matrix, or a batch of them: sorted indices, their values, the dense shape."""

    __slots__ = ("dense", "indices", "values")
    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    spec = Spec(variant, ())

    def __init__(self, indices: Any, values: Any, dense: tuple[int, ...]) -> None:
        self.indices = indices
        self.values = values
        self.dense = dense

    @classmethod
    def unordered(cls, indices: Any, values: Any, dense: tuple[int, ...]) -> SparseMatrix:
        """The matrix with these elements; repeated indices are kept."""
        order = coordinates.order(indices)
        return cls(indices[order], values[order], dense)

    def __repr__(self) -> str:
        return f"<SparseMatrix of shape {brackets(self.dense)}>"

    def transposed(self, conjugate: bool = False) -> SparseMatrix:
        """Rows for columns, in each matrix of a batch."""
        rank = len(self.dense)
        swap = [*range(rank - 2), rank - 1, rank - 2]
        values = np.conj(self.values) if conjugate else self.values
        dense = tuple([self.dense[i] for i in swap])
        return SparseMatrix.unordered(self.indices[:, swap], values, dense)

    def to_dense(self) -> Any:
        """The array; of repeated indices, the last."""
        result = np.zeros(self.dense, self.values.dtype)
        result[tuple(self.indices.T)] = self.values
        return result

    def row_starts(self) -> Any:
        """Where the elements of each row begin, rows of all matrices counted through."""
        rows = coordinates.flat(self.indices[:, :-1], self.dense[:-1])
        count = int(np.prod(self.dense[:-1], dtype=np.int64))
        return np.searchsorted(rows, np.arange(count + 1))

    # -- as values that gradients add ------------------------------------------------------

    def zeros_like(self) -> SparseMatrix:
        """A matrix without elements."""
        return SparseMatrix(self.indices[:0], self.values[:0], self.dense)

    def add_n(self, matrices: list[SparseMatrix]) -> SparseMatrix:
        """The sum of matrices of one shape."""
        indices = np.concatenate([m.indices for m in matrices])
        values = np.concatenate([m.values for m in matrices])
        return _summed(indices, values, self.dense)


def _summed(indices: Any, values: Any, dense: tuple[int, ...]) -> SparseMatrix:
    """The matrix whose elements are the sums of those at one index."""
    _, first, where = np.unique(
        coordinates.flat(indices, dense), return_index=True, return_inverse=True
    )
    totals = np.zeros(first.size, values.dtype)
    np.add.at(totals, where.reshape(-1), values)
    return SparseMatrix(indices[first], totals, dense)


def _of_type(matrix: Any, dtype: DType, message: str) -> SparseMatrix:
    if not isinstance(matrix, SparseMatrix):
        raise invalid_argument(
            f"Expected a CSRSparseMatrix, got {type(matrix).__name__}: make one with "
            "SparseTensorToCSRSparseMatrix or DenseToCSRSparseMatrix."
        )
    if matrix.values.dtype != dtype.numpy:
        raise invalid_argument(message.format(matrix.values.dtype, dtype.name))
    return matrix


_OTHER_TYPE = "Expected a CSRSparseMatrix of type {1} but saw type: {0}"
_OTHER_OPERAND = "dtype of the operands is not equal to 'type': {0} vs. {1}"


# -- conversion from and to tensors --------------------------------------------------------


@op
class SparseTensorToCSRSparseMatrix(Op):
    """The matrix, or batch of matrices, that a sparse tensor is."""

    signature = "indices: int64, values: T, dense_shape: int64 -> sparse_matrix: variant"
    T = _ELEMENTS

    def infer(self, indices: Spec, values: Spec, dense_shape: Spec) -> Spec:
        coordinates.need_ranks((indices, 2), (values, 1), (dense_shape, 1))
        return Spec(variant, ())

    def kernel(self, indices, values, dense_shape):
        coordinates.check(indices, values, dense_shape)
        rank = dense_shape.size
        if rank not in (2, 3):
            raise invalid_argument(
                f"SparseTensor must have rank 2 or 3; but indices has rank: {rank}"
            )
        dense = tuple(dense_shape.tolist())
        outside = np.any((indices < 0) | (indices >= dense_shape), axis=1)
        if outside.any():
            at = int(np.argmax(outside))
            raise invalid_argument(
                f"Sparse index tuple indices[{at}, :] = {indices[at].tolist()} is out of "
                f"bounds of shape {brackets(dense)}"
            )
        return SparseMatrix.unordered(indices, values, dense)

    def gradient(self, dsparse_matrix, indices, values: Spec) -> Any:
        there, found, _ = raw.CSRSparseMatrixToSparseTensor(dsparse_matrix, type=values.dtype)
        # The gradient of a product is larger than the matrix: only its own indices count.
        own, _ = raw.SparseAddGrad(found, indices, indices, there)
        return None, own, None


@op
class CSRSparseMatrixToSparseTensor(Op):
    """The elements of a matrix, or of a batch, as a sparse tensor."""

    signature = (
        "sparse_matrix: variant; type: type -> indices: int64, values: type, dense_shape: int64"
    )
    type = _ELEMENTS

    def infer(self, type: DType) -> Any:
        return Spec(int64, (None, None)), Spec(type, (None,)), Spec(int64, (None,))

    def kernel(self, sparse_matrix, type: DType):
        matrix = _of_type(sparse_matrix, type, _OTHER_TYPE)
        return matrix.indices, matrix.values, np.array(matrix.dense, np.int64)

    def gradient(self, dvalues, indices, dense_shape) -> Any:
        return raw.SparseTensorToCSRSparseMatrix(indices, dvalues, dense_shape)


@op
class DenseToCSRSparseMatrix(Op):
    """The elements of a dense matrix, or of a batch, at given indices."""

    signature = "dense_input: T, indices: int64 -> sparse_output: variant"
    T = _ELEMENTS

    def infer(self, indices: Spec) -> Spec:
        coordinates.need_ranks((indices, 2))
        return Spec(variant, ())

    def kernel(self, dense_input, indices):
        dense = dense_input.shape
        if len(dense) not in (2, 3):
            raise invalid_argument(
                f"params must have rank == 2 or 3; but saw shape: {brackets(dense)}"
            )
        if indices.shape[1] != len(dense):
            raise invalid_argument(
                f"indices must have {len(dense)} columns, one for each dimension of the "
                f"matrix; got shape {brackets(indices.shape)}"
            )
        outside = np.any((indices < 0) | (indices >= np.array(dense)), axis=1)
        if outside.any():
            at = int(np.argmax(outside))
            raise invalid_argument(
                f"indices[{at}] = {indices[at].tolist()} does not index into param shape "
                f"{brackets(dense)}"
            )
        values = dense_input[tuple(indices.T)]
        return SparseMatrix.unordered(indices, values, dense)

    def gradient(self, dsparse_output, dense_input: Spec) -> Any:
        return raw.CSRSparseMatrixToDense(dsparse_output, type=dense_input.dtype), None


@op
class CSRSparseMatrixToDense(Op):
    """A matrix, or a batch, with zeros where it has no elements."""

    signature = "sparse_input: variant; type: type -> dense_output: type"
    type = _ELEMENTS

    def infer(self, type: DType) -> Spec:
        return Spec(type, None)

    def kernel(self, sparse_input, type: DType):
        return _of_type(sparse_input, type, _OTHER_TYPE).to_dense()

    def gradient(self, ddense_output, sparse_input, type: DType) -> Any:
        indices, _, _ = raw.CSRSparseMatrixToSparseTensor(sparse_input, type=type)
        return raw.DenseToCSRSparseMatrix(ddense_output, indices)


@op
class CSRSparseMatrixComponents(Op):
    """The compressed rows of one matrix of a batch: pointers to rows, columns, values."""

    signature = (
        "csr_sparse_matrix: variant, index: int32; type: type"
        " -> row_ptrs: int32, col_inds: int32, values: type"
    )
    type = _ELEMENTS
    differentiable = False

    def infer(self, type: DType) -> Any:
        return Spec(int32, (None,)), Spec(int32, (None,)), Spec(type, (None,))

    def kernel(self, csr_sparse_matrix, index, type: DType):
        matrix = _of_type(csr_sparse_matrix, type, _OTHER_TYPE)
        batched = len(matrix.dense) == 3
        size, rows = (matrix.dense[0] if batched else 1), matrix.dense[-2]
        which = int(index)
        if not 0 <= which < size:
            raise invalid_argument(f"index ({which}) not in [0, {size})")
        starts = matrix.row_starts()[which * rows : (which + 1) * rows + 1]
        own = slice(starts[0], starts[-1])
        columns = matrix.indices[own, -1].astype(np.int32)
        return (starts - starts[0]).astype(np.int32), columns, matrix.values[own]


@op
class SparseMatrixNNZ(Op):
    """The number of elements of a matrix, or of each matrix of a batch."""

    signature = "sparse_matrix: variant -> nnz: int32"
    differentiable = False

    def infer(self) -> Spec:
        return Spec(int32, None)

    def kernel(self, sparse_matrix):
        matrix: SparseMatrix = sparse_matrix
        if len(matrix.dense) == 2:
            return np.int32(matrix.values.size)
        counts = np.bincount(matrix.indices[:, 0], minlength=matrix.dense[0])
        return counts.astype(np.int32)


# -- algebra ------------------------------------------------------------------------------


@op
class SparseMatrixTranspose(Op):
    """The transpose of a matrix, or of each matrix of a batch; conjugated on request."""

    signature = "input: variant; conjugate: bool = False, type: type -> output: variant"
    type = _ELEMENTS

    def infer(self) -> Spec:
        return Spec(variant, ())

    def kernel(self, input, conjugate, type: DType):
        return _of_type(input, type, _OTHER_TYPE).transposed(conjugate)

    def gradient(self, doutput, conjugate, type: DType) -> Any:
        return raw.SparseMatrixTranspose(doutput, conjugate=conjugate, type=type)


class _Product(Op):
    """What products have in common: which operand is transposed or conjugated."""

    def check_flags(self, transpose: bool, adjoint: bool, name: str) -> None:
        """Raises InvalidArgumentError if one operand is to be both transposed and adjoint."""
        if transpose and adjoint:
            raise invalid_argument(f"Only one of adjoint_{name} and transpose_{name} may be true.")

    def check_inner(self, a: tuple[int, ...], b: tuple[int, ...], inner: tuple[int, int]) -> None:
        """Raises InvalidArgumentError unless the inner dimensions are equal."""
        if inner[0] != inner[1]:
            raise invalid_argument(
                "Inner product dimensions of A and B do not agree. Shapes are: "
                f"{brackets(a)} vs. {brackets(b)}"
            )


@op
class SparseMatrixSparseMatMul(_Product):
    """The product of two sparse matrices, or of the matrices of two batches."""

    signature = (
        "a: variant, b: variant; type: type, transpose_a: bool = False,"
        " transpose_b: bool = False, adjoint_a: bool = False, adjoint_b: bool = False"
        " -> c: variant"
    )
    type = _ELEMENTS

    def infer(self) -> Spec:
        return Spec(variant, ())

    def kernel(self, a, b, type: DType, transpose_a, transpose_b, adjoint_a, adjoint_b):
        a, b = (_of_type(x, type, _OTHER_OPERAND) for x in (a, b))
        self.check_flags(transpose_a, adjoint_a, "a")
        self.check_flags(transpose_b, adjoint_b, "b")
        if len(a.dense) != len(b.dense) or a.dense[:-2] != b.dense[:-2]:
            raise invalid_argument(
                "The batches of A and B do not agree. Shapes are: "
                f"{brackets(a.dense)} vs. {brackets(b.dense)}"
            )
        left = a.transposed(adjoint_a) if transpose_a or adjoint_a else a
        right = b.transposed(adjoint_b) if transpose_b or adjoint_b else b
        self.check_inner(a.dense, b.dense, (left.dense[-1], right.dense[-2]))
        return _product(left, right)

    def gradient(
        self, dc, a, b, type: DType, transpose_a, transpose_b, adjoint_a, adjoint_b
    ) -> Any:
        left = _transposed(a, transpose_a, adjoint_a, type)
        right = _transposed(b, transpose_b, adjoint_b, type)
        da = raw.SparseMatrixSparseMatMul(dc, right, adjoint_b=True, type=type)
        db = raw.SparseMatrixSparseMatMul(left, dc, adjoint_a=True, type=type)
        return (
            _transposed(da, transpose_a, adjoint_a, type),
            _transposed(db, transpose_b, adjoint_b, type),
        )


def _transposed(matrix: Any, transpose: bool, adjoint: bool, type: DType) -> Any:
    """A sparse operand as a product uses it; what takes its gradient back is the same."""
    if not transpose and not adjoint:
        return matrix
    return raw.SparseMatrixTranspose(matrix, conjugate=adjoint, type=type)


def _product(a: SparseMatrix, b: SparseMatrix) -> SparseMatrix:
    """Each element of `a` is multiplied by the row of `b` that its column names."""
    rows = coordinates.flat(
        np.concatenate([a.indices[:, :-2], a.indices[:, -1:]], axis=1), b.dense[:-1]
    )
    starts = b.row_starts()
    counts = starts[rows + 1] - starts[rows]
    of_a = np.repeat(np.arange(rows.size), counts)
    ends = np.cumsum(counts)
    within = np.arange(of_a.size) - np.repeat(ends - counts, counts)
    of_b = starts[rows][of_a] + within
    met = np.concatenate([a.indices[of_a, :-1], b.indices[of_b, -1:]], axis=1)
    values = a.values[of_a] * b.values[of_b]
    return _summed(met, values, (*a.dense[:-1], b.dense[-1]))


@op
class SparseMatrixMatMul(_Product):
    """The product of a sparse matrix and a dense one, or of the matrices of two batches."""

    signature = (
        "a: variant, b: T; transpose_a: bool = False, transpose_b: bool = False,"
        " adjoint_a: bool = False, adjoint_b: bool = False,"
        " transpose_output: bool = False, conjugate_output: bool = False -> output: T"
    )
    T = _ELEMENTS

    def infer(self, b: Spec) -> Spec:
        return Spec(b.dtype, None if b.rank is None else (None,) * b.rank)

    def kernel(
        self,
        a,
        b,
        transpose_a,
        transpose_b,
        adjoint_a,
        adjoint_b,
        transpose_output,
        conjugate_output,
        T: DType,
    ):
        a = _of_type(a, T, _OTHER_OPERAND)
        self.check_flags(transpose_a, adjoint_a, "a")
        self.check_flags(transpose_b, adjoint_b, "b")
        if len(a.dense) != b.ndim:
            raise invalid_argument(
                f"Ranks of a and b must match, saw: {len(a.dense)} vs. {b.ndim}."
            )
        if a.dense[:-2] != b.shape[:-2]:
            raise invalid_argument(
                f"Batch sizes of a and b must match, saw: {a.dense[0]} vs. {b.shape[0]}."
            )
        left = a.transposed(adjoint_a) if transpose_a or adjoint_a else a
        right = np.swapaxes(b, -1, -2) if transpose_b or adjoint_b else b
        right = np.conj(right) if adjoint_b else right
        self.check_inner(a.dense, b.shape, (left.dense[-1], right.shape[-2]))
        result = _times_dense(left, right)
        result = np.swapaxes(result, -1, -2) if transpose_output else result
        return np.conj(result) if conjugate_output else result

    def gradient(
        self,
        doutput,
        a,
        b,
        transpose_a,
        transpose_b,
        adjoint_a,
        adjoint_b,
        transpose_output,
        conjugate_output,
        T: DType,
    ) -> Any:
        dy = _transposed_dense(doutput, transpose_output, False)
        dy = conjugate(dy) if conjugate_output else dy
        left = _transposed(a, transpose_a, adjoint_a, T)
        right = _transposed_dense(b, transpose_b, adjoint_b)
        indices, _, _ = raw.CSRSparseMatrixToSparseTensor(left, type=T)
        whole = raw.BatchMatMulV2(dy, right, adj_y=True)
        da = raw.DenseToCSRSparseMatrix(whole, indices)
        db = raw.SparseMatrixMatMul(left, dy, adjoint_a=True)
        return (
            _transposed(da, transpose_a, adjoint_a, T),
            _transposed_dense(db, transpose_b, adjoint_b),
        )


def _transposed_dense(x: Any, transpose: bool, adjoint: bool) -> Any:
    """A dense operand, or batch of them, as a product uses it."""
    if not transpose and not adjoint:
        return x
    transposed = raw.Einsum([x], equation="...ij->...ji")
    return conjugate(transposed) if adjoint else transposed


def _times_dense(a: SparseMatrix, b: Any) -> Any:
    """Rows of `b`, one for each element of `a`, summed by row of `a`."""
    columns = tuple(np.concatenate([a.indices[:, :-2], a.indices[:, -1:]], axis=1).T)
    terms = a.values[:, None] * b[columns]
    result = np.zeros((int(np.prod(a.dense[:-1])), b.shape[-1]), b.dtype)
    add_rows(result, coordinates.flat(a.indices[:, :-1], a.dense[:-1]), terms)
    return result.reshape(*a.dense[:-1], b.shape[-1])
