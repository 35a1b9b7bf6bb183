"""Sparse tensors as strings, and back.

Follows https://www.tensorflow.org/api_docs/python/tf/io/serialize_sparse.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype, string
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.api import SparseTensor, as_sparse


@dispatchable
def serialize_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> Tensor:
    """A sparse tensor as three strings. Raises TypeError for what is not sparse.

    >>> tf.io.serialize_sparse(tf.sparse.eye(2)).shape
    TensorShape([3])

    https://www.tensorflow.org/api_docs/python/tf/io/serialize_sparse
    """
    x = as_sparse(sp_input)
    return raw.SerializeSparse(
        x.indices, x.values, x.dense_shape, out_type=as_dtype(out_type), name=name
    )


@dispatchable
def serialize_many_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> Tensor:
    """The rows of a sparse tensor of rank 2 or more as three strings each.

    >>> tf.io.serialize_many_sparse(tf.sparse.eye(2)).shape
    TensorShape([2, 3])

    https://www.tensorflow.org/api_docs/python/tf/io/serialize_many_sparse
    """
    x = as_sparse(sp_input)
    return raw.SerializeManySparse(
        x.indices, x.values, x.dense_shape, out_type=as_dtype(out_type), name=name
    )


@dispatchable
def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensor whose rows are three strings each; `rank` is that of a row.

    >>> rows = tf.io.serialize_many_sparse(tf.sparse.eye(2))
    >>> print(tf.io.deserialize_many_sparse(rows, tf.float32).values.numpy())
    [1. 1.]

    https://www.tensorflow.org/api_docs/python/tf/io/deserialize_many_sparse
    """
    data = convert.to_tensor(serialized_sparse, string)
    indices, values, shape = raw.DeserializeManySparse(data, dtype=as_dtype(dtype), name=name)
    if rank is not None:
        indices.set_shape([None, rank])
        shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


__all__ = ["deserialize_many_sparse", "serialize_many_sparse", "serialize_sparse"]
