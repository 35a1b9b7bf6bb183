"""Ragged tensors as lists, arrays and text."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from intaglio.base.errors import InvalidArgumentError
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import checks
from intaglio.ragged.core import Ragged


def as_array(value: Any) -> Any:
    """The values as an array: of rows as arrays, if these have different lengths."""
    if not isinstance(value, Ragged):
        return np.asarray(value._array)
    values = as_array(value.values)
    splits = checks.known(value.row_splits)
    lengths = np.diff(splits)
    if not lengths.size or bool(np.all(lengths == lengths[0])):
        length = int(lengths[0]) if lengths.size else 0
        rows = values[splits[0] : splits[-1]]
        return rows.reshape((lengths.size, length, *values.shape[1:]))
    result = np.empty(lengths.size, object)
    for i, (start, end) in enumerate(itertools.pairwise(splits)):
        result[i] = values[start:end]
    return result


def as_list(value: Any) -> list[Any]:
    """The values as nested Python lists."""
    if not isinstance(value, Ragged):
        array = np.asarray(value._array)
        return array.tolist()
    values = as_list(value.values)
    splits = checks.known(value.row_splits).tolist()
    return [values[a:b] for a, b in itertools.pairwise(splits)]


def shown(value: Any) -> str:
    """How a ragged tensor prints: its rows, or its tensors where they have no values."""
    if any(checks.known(t) is None or not hasattr(t, "_array") for t in _tensors(value)):
        return f"tf.RaggedTensor(values={value.values!s}, row_splits={value.row_splits!s})"
    try:
        return f"<tf.RaggedTensor {_text(as_array(value))}>"
    except (ValueError, IndexError, InvalidArgumentError):
        # Splits that were not validated on construction, and do not fit.
        return f"tf.RaggedTensor(values={value.values!s}, row_splits={value.row_splits!s})"


def plain(value: Any) -> str:
    """A value as messages show it: a tensor as its elements."""
    array = getattr(value, "_array", None)
    return str(value) if array is None else str(array)


def _tensors(value: Any) -> list[Tensor]:
    return [value.flat_values, *value.nested_row_splits]


def _text(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(value)
    if not value.size and value.ndim > 1:
        return f"[{', '.join([_text(row) for row in value])}]"
    return np.array2string(value, separator=", ", formatter={"all": _text})
