"""How often integers occur, counted in sparse form.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse/bincount. It is in this layer because it
takes ragged tensors as well.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.ragged.api import RaggedTensor
from intaglio.sparse.api import SparseTensor, as_sparse, is_sparse
from intaglio.trace.scopes import name_scope


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
        whole = as_sparse(x)
        weight_values = none if weights is None else as_sparse(weights).values
        return raw.SparseCountSparseOutput(
            whole.indices, whole.values, whole.dense_shape, weight_values, **options
        )
    if isinstance(x, RaggedTensor):
        weight_values = none if weights is None else weights.values
        splits = raw.Cast(x.row_splits, DstT=dtypes.int64)
        return raw.RaggedCountSparseOutput(splits, x.values, weight_values, **options)
    weight_values = none if weights is None else convert.to_tensor(weights)
    return raw.DenseCountSparseOutput(x, weight_values, **options)


__all__ = ["bincount"]
