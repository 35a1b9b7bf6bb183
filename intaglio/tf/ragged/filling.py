"""Empty rows filled with a default.

Follows https://www.tensorflow.org/api_docs/python/tf/ragged_fill_empty_rows.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable


@dispatchable
def ragged_fill_empty_rows(
    value_rowids: Any, values: Any, nrows: Any, default_value: Any, name: str | None = None
) -> Any:
    """Each row without values gets `default_value` as its only value.

    `value_rowids` (int64) are the rows of the vector `values`. Returns the new row numbers
    and values, which rows were empty, and where the old values went. Raises
    InvalidArgumentError for row numbers that are not in [0, nrows).

    https://www.tensorflow.org/api_docs/python/tf/ragged_fill_empty_rows

    >>> tf.ragged_fill_empty_rows([0, 2], [7, 8], 3, -1).output_values
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([ 7, -1,  8], dtype=int32)>
    """
    return raw.RaggedFillEmptyRows(value_rowids, values, nrows, default_value, name=name)


@dispatchable
def ragged_fill_empty_rows_grad(
    reverse_index_map: Any, grad_values: Any, name: str | None = None
) -> Any:
    """The gradients of `values` and `default_value` of `ragged_fill_empty_rows`.

    https://www.tensorflow.org/api_docs/python/tf/ragged_fill_empty_rows_grad

    >>> tf.ragged_fill_empty_rows_grad([0, 2], [5.0, 6.0, 7.0]).d_default_value
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """
    return raw.RaggedFillEmptyRowsGrad(reverse_index_map, grad_values, name=name)


__all__ = ["ragged_fill_empty_rows", "ragged_fill_empty_rows_grad"]
