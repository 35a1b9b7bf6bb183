"""Specifications of features to parse from serialized Examples.

Follows https://www.tensorflow.org/api_docs/python/tf/io/FixedLenFeature and its siblings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.base.dtypes import as_dtype, int32


class VarLenFeature(NamedTuple):
    """Any number of values, read as a sparse tensor."""

    dtype: Any


class FixedLenFeature(NamedTuple):
    """Values of one shape, read as a tensor; `default_value` for records without it."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Any number of items of one shape, padded with `default_value` to the longest.

    `allow_missing` allows records without it.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A sparse tensor of shape `size`, of which one feature has the values.

    `index_key` names the feature with the indices, or is a list of one for each dimension.
    With `already_sorted` the indices are taken as they come.
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """A feature with the row splits: where rows begin and where the last one ends."""

    key: str


class RowLengths(NamedTuple):
    """A feature with the row lengths."""

    key: str


class RowStarts(NamedTuple):
    """A feature with the row starts."""

    key: str


class RowLimits(NamedTuple):
    """A feature with the row limits."""

    key: str


class ValueRowIds(NamedTuple):
    """A feature with the row id of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """Rows of one length."""

    length: int


class _Ragged(NamedTuple):
    dtype: Any
    value_key: str | None = None
    partitions: Any = ()
    row_splits_dtype: Any = int32
    validate: bool = False


class RaggedFeature(_Ragged):
    """Any number of values, read as a ragged tensor.

    `value_key` names the feature, by default its key. Each of `partitions` cuts the values of
    a record further. Raises TypeError for partitions of other kinds.
    """

    __slots__ = ()

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Any = (),
        row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> RaggedFeature:
        """Checks the partitions."""
        kinds = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(
                f"`partitions` must be a list or tuple. Received partitions={partitions}."
            )
        for one in partitions:
            if not isinstance(one, kinds):
                raise TypeError(
                    f"`partitions` must be a list of partition objects, e.g. RowLengths; got {one!r}"
                )
        return super().__new__(
            cls, dtype, value_key, tuple(partitions), as_dtype(row_splits_dtype), validate
        )


__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
]
