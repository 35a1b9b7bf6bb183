"""Arithmetic, reductions and products of sparse tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.api import SparseTensor, as_sparse, is_sparse
from intaglio.trace.assertions import compare
from intaglio.trace.scopes import name_scope


def _parts(x: SparseTensor) -> tuple[Any, Any, Any]:
    return x.indices, x.values, x.dense_shape


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two sparse tensors of one shape, or the dense one of a sparse and a dense.

    Sums of two elements whose magnitude is below `threshold` are left out of a sparse result. Raises
    TypeError if neither operand is sparse.

    >>> print(tf.sparse.add(tf.sparse.eye(2), tf.ones([2, 2])).numpy())
    [[2. 1.]
     [1. 2.]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/add
    """
    if not is_sparse(a) and not is_sparse(b):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if is_sparse(a) and is_sparse(b):
        x, y = as_sparse(a), as_sparse(b)
        real = x.dtype.real_dtype if x.dtype.is_complex else x.dtype
        result = raw.SparseAdd(*_parts(x), *_parts(y), convert.to_tensor(threshold, real))
        total = SparseTensor(*result)
        total.set_shape(x.shape)
        return total
    sparse, dense = (a, b) if is_sparse(a) else (b, a)
    x = as_sparse(sparse)
    return raw.SparseTensorDenseAdd(*_parts(x), convert.to_tensor(dense, x.dtype))


def _extreme(op: Any, sp_a: Any, sp_b: Any, name: str) -> SparseTensor:
    with name_scope(name):
        a, b = as_sparse(sp_a), as_sparse(sp_b)
        indices, values = op(*_parts(a), *_parts(b))
        result = SparseTensor(indices, values, a.dense_shape)
        result.set_shape(a.shape)
        return result


def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger elements of two sparse tensors of one shape; missing ones are 0.

    >>> a, b = tf.SparseTensor([[0]], [-1], [2]), tf.SparseTensor([[1]], [3], [2])
    >>> print(tf.sparse.maximum(a, b).values.numpy())
    [0 3]

    https://www.tensorflow.org/api_docs/python/tf/sparse/maximum
    """
    return _extreme(raw.SparseSparseMaximum, sp_a, sp_b, name or "SparseSparseMaximum")


def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller elements of two sparse tensors of one shape; missing ones are 0.

    >>> a, b = tf.SparseTensor([[0]], [-1], [2]), tf.SparseTensor([[1]], [3], [2])
    >>> print(tf.sparse.minimum(a, b).values.numpy())
    [-1  0]

    https://www.tensorflow.org/api_docs/python/tf/sparse/minimum
    """
    return _extreme(raw.SparseSparseMinimum, sp_a, sp_b, name or "SparseSparseMinimum")


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` of the values of all sparse arguments, which have the same indices.

    Raises ValueError if the arguments have different shapes or there is no sparse one,
    InvalidArgumentError for different indices.

    >>> print(tf.sparse.map_values(tf.add, tf.sparse.eye(2), 5).values.numpy())
    [6. 6.]

    https://www.tensorflow.org/api_docs/python/tf/sparse/map_values
    """
    found = [v for v in (*args, *kwargs.values()) if is_sparse(v)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = as_sparse(found[0])
    for other in found[1:]:
        _check_equal_indices(first, as_sparse(other))
    plain = [as_sparse(v).values if is_sparse(v) else v for v in args]
    named = {k: as_sparse(v).values if is_sparse(v) else v for k, v in kwargs.items()}
    return first.with_values(op(*plain, **named))


def _check_equal_indices(a: SparseTensor, b: SparseTensor) -> None:
    if not a.shape.is_compatible_with(b.shape):
        raise ValueError(f"Shapes {a.shape} and {b.shape} are incompatible")
    for of_a, of_b, what in (
        (a.indices, b.indices, "indices"),
        (a.dense_shape, b.dense_shape, "dense_shape"),
    ):
        if of_a is not of_b:
            compare("==", raw.Equal, of_a, of_b, f"Mismatched {what}!", None, "assert_equal")


def _reduced(
    sp_input: Any,
    axis: Any,
    keepdims: Any,
    output_is_sparse: bool,
    name: Any,
    dense: Any,
    sparse: Any,
) -> Any:
    x = as_sparse(sp_input)
    if axis is None:
        rank = x.shape.rank
        axis = (
            np.arange(rank, dtype=np.int32)
            if rank is not None
            else raw.Range(0, raw.Size(x.dense_shape), 1)
        )
    options: dict[str, Any] = {"keep_dims": bool(keepdims), "name": name}
    axes = convert.to_tensor(axis, dtypes.int32)
    if output_is_sparse:
        return SparseTensor(*sparse(*_parts(x), axes, **options))
    return dense(*_parts(x), axes, **options)


def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sum over some axes, or all: a tensor, or a sparse one with `output_is_sparse`.

    >>> print(tf.sparse.reduce_sum(tf.sparse.eye(2), axis=1).numpy())
    [1. 1.]

    https://www.tensorflow.org/api_docs/python/tf/sparse/reduce_sum
    """
    return _reduced(
        sp_input,
        axis,
        keepdims,
        output_is_sparse,
        name,
        raw.SparseReduceSum,
        raw.SparseReduceSumSparse,
    )


def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The largest of the elements that are there over some axes, or all; 0 where none are.

    With `output_is_sparse` the result is a SparseTensor.

    >>> print(tf.sparse.reduce_max(tf.SparseTensor([[0, 1]], [-5], [2, 2]), 1).numpy())
    [-5  0]

    https://www.tensorflow.org/api_docs/python/tf/sparse/reduce_max
    """
    return _reduced(
        sp_input,
        axis,
        keepdims,
        output_is_sparse,
        name,
        raw.SparseReduceMax,
        raw.SparseReduceMaxSparse,
    )


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the elements of each innermost row that are there. Rank at least 2.

    >>> print(tf.sparse.softmax(tf.sparse.eye(2)).values.numpy())
    [1. 1.]

    https://www.tensorflow.org/api_docs/python/tf/sparse/softmax
    """
    x = as_sparse(sp_input)
    with name_scope(name or "SparseSoftmax"):
        return x.with_values(raw.SparseSoftmax(*_parts(x)))


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The product of a sparse and a dense matrix, in this order or the other.

    `adjoint_a` and `adjoint_b` transpose and conjugate the operands first.

    >>> print(tf.sparse.sparse_dense_matmul(tf.sparse.eye(2), [[1.0], [2.0]]).numpy())
    [[1.]
     [2.]]

    https://www.tensorflow.org/api_docs/python/tf/sparse/sparse_dense_matmul
    """
    with name_scope(name or "SparseTensorDenseMatMul"):
        if is_sparse(b):
            # (A B)* = B* A*.
            transposed = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
            back = raw.Transpose(transposed, np.array([1, 0], np.int32))
            return raw.Conj(back) if back.dtype.is_complex else back
        x = as_sparse(sp_a)
        dense = convert.to_tensor(b, x.dtype)
        return raw.SparseTensorDenseMatMul(
            *_parts(x), dense, adjoint_a=adjoint_a, adjoint_b=adjoint_b
        )


def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: float = 1.0,
    alpha: float = 1.0,
    output_type: Any = dtypes.float32,
) -> tuple[Any, Tensor, Any]:
    """`beta * values + alpha * (mat1 @ mat2)` at the indices of sparse matrices, as their parts.

    `mat1` is [..., m, k] and `mat2` [..., k, n]; each pair has `indices` [..., count, 2] with
    `values` [..., count], and all have the shape `dense_shape`. The whole product is never computed.

    >>> _, values, _ = tf.sparse.sampled_addmm([[0, 1]], [1.0], [2, 2], tf.ones([2, 3]), tf.ones([3, 2]))
    >>> print(values.numpy())
    [4.]

    https://www.tensorflow.org/api_docs/python/tf/sparse/sampled_addmm
    """
    dtype = as_dtype(output_type)
    positions = convert.to_tensor(indices)
    a, b = (raw.Cast(convert.to_tensor(m), DstT=dtype) for m in (mat1, mat2))
    outer = len(positions.dims or ()) - 2
    row, column = raw.Unpack(positions, num=2, axis=-1)
    axis = np.int32(outer)
    rows = raw.GatherV2(a, row, axis, batch_dims=outer)
    columns = raw.GatherV2(raw.Einsum([b], equation="...kn->...nk"), column, axis, batch_dims=outer)
    products: Any = raw.Sum(raw.Mul(rows, columns), np.array([-1], np.int32))
    before: Any = convert.to_tensor(values, dtype)
    result: Any = before * beta + products * alpha
    return positions, result, convert.to_tensor(dense_shape)


__all__ = [
    "add",
    "map_values",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "sampled_addmm",
    "softmax",
    "sparse_dense_matmul",
]
