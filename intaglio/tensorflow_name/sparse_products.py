"""`sparse_csr_matrix_ops` of TensorFlow, and its class: what products of sparse tensors go through."""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, raw
from intaglio.sparse.tensor import SparseTensor


class _Elements(NamedTuple):
    indices: Any
    values: Any
    dense_shape: Any


def sparse_tensor_to_csr_sparse_matrix(
    indices: Any, values: Any, dense_shape: Any, name: str | None = None
) -> Any:
    """The matrix, or batch of matrices, that a sparse tensor is."""
    parts = (convert.to_tensor(x) for x in (indices, values, dense_shape))
    return raw.SparseTensorToCSRSparseMatrix(*parts, name=name)


def sparse_matrix_sparse_mat_mul(
    a: Any,
    b: Any,
    type: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Any:
    """The product of two sparse matrices."""
    return raw.SparseMatrixSparseMatMul(
        a,
        b,
        type=type,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_b,
        name=name,
    )


def csr_sparse_matrix_to_sparse_tensor(
    sparse_matrix: Any, type: Any, name: str | None = None
) -> _Elements:
    """The elements of a sparse matrix: `indices`, `values` and `dense_shape`."""
    return _Elements(*raw.CSRSparseMatrixToSparseTensor(sparse_matrix, type=type, name=name))


class CSRSparseMatrix:
    """A sparse matrix, or a batch of them, behind a handle.

    `value` is a SparseTensor, or a dense matrix of which `indices` are the elements that are kept (all
    that are not zero if None).
    """

    def __init__(self, value: Any, indices: Any = None, name: str | None = None) -> None:
        if isinstance(value, SparseTensor):
            if indices is not None:
                raise ValueError("indices must be None if value is a SparseTensor.")
            parts = (value.indices, value.values, value.dense_shape)
            self._set(
                raw.SparseTensorToCSRSparseMatrix(*parts, name=name), value.dtype, value.shape
            )
            return
        dense = convert.to_tensor(value)
        if indices is None:
            indices = raw.Where(raw.NotEqual(dense, raw.Cast(0, DstT=dense.dtype)))
        handle = raw.DenseToCSRSparseMatrix(dense, indices, name=name)
        self._set(handle, dense.dtype, dense.shape)

    def _set(self, handle: Any, dtype: Any, shape: TensorShape) -> None:
        self._csr_matrix = handle
        self._dtype = dtype
        self._shape = shape

    @classmethod
    def _of(cls, handle: Any, dtype: Any, shape: TensorShape) -> CSRSparseMatrix:
        found = object.__new__(cls)
        found._set(handle, dtype, shape)
        return found

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The dense shape."""
        return self._shape

    def to_dense(self) -> Any:
        """All elements, as a dense tensor."""
        return raw.CSRSparseMatrixToDense(self._csr_matrix, type=self._dtype)

    def to_sparse_tensor(self) -> SparseTensor:
        """The elements, as a SparseTensor."""
        return SparseTensor(*raw.CSRSparseMatrixToSparseTensor(self._csr_matrix, type=self._dtype))

    def nnz(self) -> Any:
        """How many elements are kept, for each matrix of a batch."""
        return raw.SparseMatrixNNZ(self._csr_matrix)

    def transpose(self) -> CSRSparseMatrix:
        """Rows for columns."""
        return self._transposed(False)

    def hermitian_transpose(self) -> CSRSparseMatrix:
        """Rows for columns, conjugated."""
        return self._transposed(True)

    def _transposed(self, conjugate: bool) -> CSRSparseMatrix:
        handle = raw.SparseMatrixTranspose(self._csr_matrix, type=self._dtype, conjugate=conjugate)
        dims = self._shape.as_list()
        return self._of(handle, self._dtype, TensorShape([*dims[:-2], dims[-1], dims[-2]]))


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Any:
    """a @ b, of which one or both are CSRSparseMatrix; the product of two such is one again."""
    options = {
        "transpose_a": transpose_a,
        "transpose_b": transpose_b,
        "adjoint_a": adjoint_a,
        "adjoint_b": adjoint_b,
    }
    if isinstance(a, CSRSparseMatrix) and isinstance(b, CSRSparseMatrix):
        dtype = a.dtype
        handle = raw.SparseMatrixSparseMatMul(
            a._csr_matrix, b._csr_matrix, type=dtype, name=name, **options
        )
        rows = a.shape[-1 if transpose_a or adjoint_a else -2]
        columns = b.shape[-2 if transpose_b or adjoint_b else -1]
        return CSRSparseMatrix._of(handle, dtype, TensorShape([*a.shape[:-2], rows, columns]))
    if isinstance(a, CSRSparseMatrix):
        return raw.SparseMatrixMatMul(a._csr_matrix, convert.to_tensor(b), name=name, **options)
    if not isinstance(b, CSRSparseMatrix):
        raise ValueError("One of `a` and `b` must be a CSRSparseMatrix.")
    # opA(a) @ opB(b) = (opB(b)^T @ opA(a)^T)^T, with the sparse matrix first.
    return raw.SparseMatrixMatMul(
        b._csr_matrix,
        convert.to_tensor(a),
        transpose_a=not (transpose_b or adjoint_b),
        transpose_b=not (transpose_a or adjoint_a),
        conjugate_output=adjoint_a and adjoint_b,
        transpose_output=True,
        name=name,
    )
