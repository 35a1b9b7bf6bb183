"""`tf.ragged.constant`: nested Python lists as ragged tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/ragged/constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype, int32
from intaglio.base.shapes import as_dims
from intaglio.opdef import convert
from intaglio.ragged import core
from intaglio.ragged.partition import RowPartition

_UNEVEN = "all scalar values must have the same nesting depth"


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def constant(
    pylist: Any, dtype: Any, ragged_rank: Any, inner_shape: Any, row_splits_dtype: Any
) -> Any:
    """A ragged tensor of nested lists, or a tensor if there is no ragged dimension."""
    if ragged_rank is not None and not isinstance(ragged_rank, int):
        raise ValueError("Invalid ragged_rank; must be an int")
    kind = None if dtype is None else as_dtype(dtype)
    if not _is_nested(pylist):
        return _scalar(pylist, kind, ragged_rank, inner_shape)
    deepest, scalars = _depths(pylist)
    if scalars is not None:
        if deepest > scalars:
            raise ValueError(
                f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting"
            )
        if ragged_rank is not None and deepest < ragged_rank + 1:
            raise ValueError(
                f"pylist has scalar values depth {deepest}, but ragged_rank="
                f"{ragged_rank} requires scalar value depth greater than {ragged_rank}"
            )
    inner = None if inner_shape is None else as_dims(inner_shape)
    if inner is not None and ragged_rank is not None:
        expected = ragged_rank + 1 + len(inner)
        if (scalars is not None and scalars != expected) or (
            scalars is None and deepest > expected
        ):
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} "
                f"and dim(inner_shape)={len(inner)}"
            )
    if ragged_rank is None:
        ragged_rank = max(0, deepest - 1) if inner is None else max(0, deepest - 1 - len(inner))
    levels, values = _rows(pylist, ragged_rank)
    flat = _flat_values(values, kind, inner, deepest - ragged_rank - 1)
    result = convert.to_tensor(flat, kind)
    for lengths in reversed(levels):
        row_lengths = np.asarray(lengths, as_dtype(row_splits_dtype or int32).numpy)
        rows = RowPartition.from_row_lengths(row_lengths, validate=False)
        result = core.ragged(result, rows)
    return result


def _scalar(value: Any, kind: Any, ragged_rank: Any, inner_shape: Any) -> Any:
    if ragged_rank is not None and ragged_rank != 0:
        raise ValueError(f"Invalid pylist={value}: incompatible with ragged_rank={ragged_rank}")
    if inner_shape:
        raise ValueError(
            f"Invalid pylist={value}: incompatible with dim(inner_shape)={len(as_dims(inner_shape) or ())}"
        )
    return convert.to_tensor(value, kind)


def _depths(pylist: Any) -> tuple[int, int | None]:
    """The depth of lists, and the depth of the scalars in them, None without any."""
    if not _is_nested(pylist):
        return 0, 0
    if isinstance(pylist, np.ndarray) and pylist.dtype != object:
        return pylist.ndim, pylist.ndim if pylist.size else None
    deepest, scalars = 1, None
    for item in pylist:
        depth, own = _depths(item)
        deepest = max(deepest, depth + 1)
        if own is not None:
            if scalars is not None and scalars != own + 1:
                raise ValueError(_UNEVEN)
            scalars = own + 1
    return deepest, scalars


def _rows(pylist: Any, ragged_rank: int) -> tuple[list[list[int]], list[Any]]:
    """The rows' lengths of each ragged dimension, and the values, one after the other."""
    values: list[Any] = list(pylist)
    levels: list[list[int]] = []
    for _ in range(ragged_rank):
        levels.append([len(row) if _is_nested(row) else 0 for row in values])
        values = [item for row in values for item in row]
    return levels, values


def _flat_values(values: Sequence[Any], kind: Any, inner: Any, depth: int) -> Any:
    if values:
        return list(values)
    shape = (0, *(inner if inner is not None else (0,) * max(0, depth)))
    return np.zeros(shape, np.float32 if kind is None else kind.numpy)
