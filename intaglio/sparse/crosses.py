"""Feature crosses in sparse form.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse/cross.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.api import SparseTensor, as_sparse, is_sparse

_HASH_KEY = 956888297470


def _columns(inputs: Any) -> dict[str, list[Any]]:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if not all(is_sparse(x) or isinstance(x, Tensor) for x in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    sparse = [as_sparse(x) for x in inputs if is_sparse(x)]
    dense = [x for x in inputs if not is_sparse(x)]
    return {
        "indices": [x.indices for x in sparse],
        "values": [_known_kind(x.values) for x in sparse],
        "shapes": [x.dense_shape for x in sparse],
        "dense_inputs": [_known_kind(x) for x in dense],
    }


def _known_kind(x: Tensor) -> Tensor:
    """Strings as they are, integers as int64."""
    return x if x.dtype in (dtypes.string, dtypes.int64) else raw.Cast(x, DstT=dtypes.int64)


def cross(inputs: Any, name: str | None = None, separator: str | None = None) -> SparseTensor:
    """All combinations of one value of each input, row by row, joined by "_X_".

    Inputs are tensors and sparse tensors of rank 2 with equally many rows; sparse ones come
    first in the joined strings. Raises TypeError for anything else.

    `separator` joins the strings, "_X_" by default.

    >>> print(tf.sparse.cross([tf.constant([["a"]]), tf.constant([["b"]])]).values.numpy())
    [b'a_X_b']

    https://www.tensorflow.org/api_docs/python/tf/sparse/cross
    """
    mark = "_X_" if separator is None else separator
    return SparseTensor(
        *raw.SparseCrossV2(**_columns(inputs), sep=convert.to_tensor(mark), name=name)
    )


def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """All combinations of one value of each input, row by row, as int64 hashes.

    Hashes are below `num_buckets` unless this is 0.

    `hash_key` selects a hash function.

    >>> sp = tf.sparse.from_dense(tf.constant([["a"], ["b"]]))
    >>> print(tf.sparse.cross_hashed([sp, tf.sparse.from_dense([[5, 6], [1, 2]])], num_buckets=10).values.numpy())
    [3 9 3 7]

    https://www.tensorflow.org/api_docs/python/tf/sparse/cross_hashed
    """
    return SparseTensor(
        *raw.SparseCross(
            **_columns(inputs),
            hashed_output=True,
            num_buckets=num_buckets,
            hash_key=hash_key or _HASH_KEY,
            out_type=dtypes.int64,
            internal_type=dtypes.int64,
            name=name,
        )
    )


__all__ = ["cross", "cross_hashed"]
