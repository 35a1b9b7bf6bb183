"""How often integers occur in the rows of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import as_dtype
from intaglio.composite_ops.math.counting import check_weights, counted_integers, length_of_counts
from intaglio.opdef import convert, raw
from intaglio.ragged import checks, core
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope


def bincount(
    function: Any,
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """How often each integer occurs, in all rows together or (`axis=-1`) in each."""
    check_weights(weights, binary_output)
    if isinstance(weights, Ragged):
        checks.same_splits(arr.row_splits, weights.row_splits)
        weights = weights.flat_values
    if axis in (None, 0):
        return function(
            arr.flat_values, weights, minlength, maxlength, dtype, name, None, binary_output
        )
    if axis != -1:
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    with name_scope(name or "bincount"):
        values = counted_integers(arr.flat_values)
        weights_or_none = np.zeros(0, as_dtype(dtype).numpy) if weights is None else weights
        size = length_of_counts(values, minlength, maxlength)
        splits = core.as_index(arr.row_splits, dtypes.int64)
        return raw.RaggedBincount(
            splits, values, size, convert.to_tensor(weights_or_none), binary_output=binary_output
        )
