"""Sparse tensors of a graph without a value.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/sparse_placeholder.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import int64
from intaglio.base.shapes import as_dims
from intaglio.opdef import door
from intaglio.sparse.tensor import SparseTensor, with_static
from intaglio.trace.placeholders import placeholder
from intaglio.trace.recorder import Recorder


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor of the current graph, of placeholders. Raises RuntimeError eagerly.

    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.sparse_placeholder(tf.float32, [None, 2]).shape)
    (None, 2)
    """
    if not isinstance(door.level(), Recorder):
        raise RuntimeError("`sparse_placeholder` is not compatible with eager execution.")
    dims = as_dims(shape)
    label = f"{name}/" if name else ""
    rank = None if dims is None else len(dims)
    dense_shape = placeholder(int64, [rank], f"{label}shape")
    values = placeholder(dtype, [None], f"{label}values")
    indices = placeholder(int64, [None, rank], f"{label}indices")
    return with_static(SparseTensor(indices, values, dense_shape), dims)


__all__ = ["sparse_placeholder"]
