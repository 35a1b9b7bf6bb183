"""Columns of sequences.

Follows https://www.tensorflow.org/api_docs/python/tf/feature_column/sequence_numeric_column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.dtypes import as_dtype, float32, string
from intaglio.feature_columns import checks, construction
from intaglio.feature_columns.columns import SequenceCategoricalColumn, SequenceNumericColumn


def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> SequenceNumericColumn:
    """A column of sequences of numbers, padded with `default_value`.

    Raises TypeError or ValueError for a shape, dtype or function that is none.

    `normalizer_fn` is applied to the numbers.

    >>> tf.feature_column.sequence_numeric_column("price").parse_example_spec
    {'price': VarLenFeature(dtype=tf.float32)}
    """
    dims = checks.checked_shape(shape, key)
    found = checks.number_dtype(
        dtype, f"dtype must be convertible to float. dtype: {as_dtype(dtype)}, key: {key}"
    )
    checks.checked_function(normalizer_fn)
    return SequenceNumericColumn(checks.checked_key(key), dims, default_value, found, normalizer_fn)


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = string
) -> SequenceCategoricalColumn:
    """Sequences of hashes; see `categorical_column_with_hash_bucket`.

    >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("words", 100).num_buckets
    100
    """
    return SequenceCategoricalColumn(
        construction.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Sequences of numbers that are categories; see `categorical_column_with_identity`.

    `default_value` stands for a category that is not known.

    >>> tf.feature_column.sequence_categorical_column_with_identity("days", 7).num_buckets
    7
    """
    return SequenceCategoricalColumn(
        construction.categorical_column_with_identity(key, num_buckets, default_value)
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: Any = None,
    default_value: Any = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """Sequences of indices in a list; see `categorical_column_with_vocabulary_list`.

    `default_value` stands for a category that is not known. Strings out of the vocabulary are
    hashed to `num_oov_buckets` further numbers.

    >>> tf.feature_column.sequence_categorical_column_with_vocabulary_list("c", ["a", "b"]).num_buckets
    2
    """
    return SequenceCategoricalColumn(
        construction.categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: Any = None,
    dtype: Any = string,
) -> SequenceCategoricalColumn:
    """Sequences of lines of a file; see `categorical_column_with_vocabulary_file`.

    `vocabulary_size` is the number of lines that are used, by default all. Strings out of the
    vocabulary are hashed to `num_oov_buckets` further numbers. `default_value` stands for a
    category that is not known.

    >>> lines = tf.feature_column.sequence_categorical_column_with_vocabulary_file("c", "lines", 5)
    >>> lines.num_buckets
    5
    """
    return SequenceCategoricalColumn(
        construction.categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
        )
    )


__all__ = [
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column",
]
