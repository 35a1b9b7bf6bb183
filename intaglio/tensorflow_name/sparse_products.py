"""`sparse_csr_matrix_ops` of TensorFlow: what products of two sparse tensors go through."""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.opdef import convert, raw


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
