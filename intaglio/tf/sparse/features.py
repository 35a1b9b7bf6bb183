"""Feature crosses and counts in sparse form.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse/cross and
https://www.tensorflow.org/api_docs/python/tf/sparse/bincount.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.ragged.api import RaggedTensor
from intaglio.sparse.api import SparseTensor, as_sparse, is_sparse
from intaglio.trace.scopes import name_scope

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


@dispatchable
def bincount(
    values: Any,
    weights: Any = None,
    axis: Any = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each integer occurs, or the sum of its weights, in sparse form.

    `values` is a tensor, ragged or sparse tensor. With `axis` 0 all values are counted
    together, with -1 each row by itself. `minlength` widens the result, integers from
    `maxlength` on are left out, `binary_output` gives 1 for those that occur. Raises
    ValueError for another axis.

    >>> print(tf.sparse.bincount([[1, 1, 3]], axis=-1).values.numpy())
    [2 1]

    https://www.tensorflow.org/api_docs/python/tf/sparse/bincount
    """
    with name_scope(name or "count"):
        composite = is_sparse(values) or isinstance(values, RaggedTensor)
        x = values if composite else convert.to_tensor(values)
        if axis not in (0, -1, None):
            raise ValueError(
                f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
            )
        if axis in (0, None):
            x, weights = _flattened(x), None if weights is None else _flattened(weights)
        options: dict[str, Any] = {
            "minlength": -1 if minlength is None else minlength,
            "maxlength": -1 if maxlength is None else maxlength,
            "binary_output": binary_output,
        }
        return SparseTensor(*_counted(x, weights, options))


def _flattened(x: Any) -> Any:
    if is_sparse(x):
        return as_sparse(x).values
    flat = x.flat_values if isinstance(x, RaggedTensor) else convert.to_tensor(x)
    return raw.Reshape(flat, [-1])


def _counted(x: Any, weights: Any, options: dict[str, Any]) -> Any:
    none = convert.to_tensor([], x.dtype)
    if is_sparse(x):
        held = as_sparse(x)
        given = none if weights is None else as_sparse(weights).values
        return raw.SparseCountSparseOutput(
            held.indices, held.values, held.dense_shape, given, **options
        )
    if isinstance(x, RaggedTensor):
        given = none if weights is None else weights.values
        splits = raw.Cast(x.row_splits, DstT=dtypes.int64)
        return raw.RaggedCountSparseOutput(splits, x.values, given, **options)
    given = none if weights is None else convert.to_tensor(weights)
    return raw.DenseCountSparseOutput(x, given, **options)


__all__ = ["bincount", "cross", "cross_hashed"]
