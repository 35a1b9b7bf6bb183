"""The innermost rows of tensors and sparse tensors as sets.

Follows https://www.tensorflow.org/api_docs/python/tf/sets.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.api import SparseTensor, as_sparse, is_sparse


def _operand(value: Any) -> Any:
    return as_sparse(value) if is_sparse(value) else convert.to_tensor(value)


def _combined(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    one, two = _operand(a), _operand(b)
    if one.dtype is not two.dtype:
        raise TypeError(
            f"Types don't match, <dtype: '{one.dtype.name}'> vs <dtype: '{two.dtype.name}'>."
        )
    options: dict[str, Any] = {"set_operation": operation, "validate_indices": validate_indices}
    if not isinstance(two, SparseTensor):
        if isinstance(one, SparseTensor):
            mirrored = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
            return _combined(two, one, mirrored, validate_indices)
        return SparseTensor(*raw.DenseToDenseSetOperation(one, two, **options))
    second = (two.indices, two.values, two.dense_shape)
    if not isinstance(one, SparseTensor):
        return SparseTensor(*raw.DenseToSparseSetOperation(one, *second, **options))
    first = (one.indices, one.values, one.dense_shape)
    return SparseTensor(*raw.SparseToSparseSetOperation(*first, *second, **options))


@dispatchable
def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements in the rows of `a` and not in those of `b`, or vice versa.

    Operands are tensors or sparse tensors, equal in all dimensions but the last. Rows of the
    result are sorted. Raises TypeError for different dtypes, InvalidArgumentError for
    shapes that differ and for indices out of order.

    With `aminusb` False it is b without a. `validate_indices` checks the order and the range of the
    indices.

    >>> print(tf.sparse.to_dense(tf.sets.difference([[1, 2, 3]], [[2]])).numpy())
    [[1 3]]

    https://www.tensorflow.org/api_docs/python/tf/sets/difference
    """
    return _combined(a, b, "a-b" if aminusb else "b-a", validate_indices)


@dispatchable
def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What the rows of both operands have.

    `validate_indices` checks the order and the range of the indices.

    >>> print(tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3]], [[2, 4]])).numpy())
    [[2]]

    https://www.tensorflow.org/api_docs/python/tf/sets/intersection
    """
    return _combined(a, b, "intersection", validate_indices)


@dispatchable
def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What the rows of one of the operands have.

    `validate_indices` checks the order and the range of the indices.

    >>> print(tf.sparse.to_dense(tf.sets.union([[1, 3]], [[2, 3]])).numpy())
    [[1 2 3]]

    https://www.tensorflow.org/api_docs/python/tf/sets/union
    """
    return _combined(a, b, "union", validate_indices)


@dispatchable
def size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different values each innermost row of a sparse tensor has, int32.

    Raises TypeError for what is not sparse.

    `validate_indices` checks the order and the range of the indices.

    >>> print(tf.sets.size(tf.sparse.from_dense([[1, 2, 2], [3, 0, 0]])).numpy())
    [2 1]

    https://www.tensorflow.org/api_docs/python/tf/sets/size
    """
    if not is_sparse(a):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    x = as_sparse(a)
    return raw.SetSize(x.indices, x.values, x.dense_shape, validate_indices=validate_indices)


__all__ = ["difference", "intersection", "size", "union"]
