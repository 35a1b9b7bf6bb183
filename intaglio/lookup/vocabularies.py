"""Tables of vocabularies, from lists and files: `tensorflow.python.ops.lookup_ops`."""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import int64, string
from intaglio.lookup import initializers, tables
from intaglio.opdef import convert, raw


def _ids(initializer: Any, buckets: int, default: Any, kind: Any, name: str | None) -> Any:
    if buckets:
        return tables.StaticVocabularyTableV1(
            initializer, buckets, lookup_key_dtype=kind, name=name
        )
    return tables.StaticHashTableV1(initializer, default, name=name)


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = None,
    dtype: Any = string,
    name: str | None = None,
) -> Any:
    """A table from words to their indices in a list. Raises ValueError without a list."""
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    keys = convert.to_tensor(vocabulary_list)
    if keys.dtype.is_integer:
        keys = raw.Cast(keys, DstT=int64)
    values = raw.Cast(raw.Range(0, raw.Size(keys), 1), DstT=int64)
    first = initializers.KeyValueTensorInitializer(keys, values, keys.dtype, int64)
    return _ids(
        first, num_oov_buckets, default_value, dtype if keys.dtype is string else keys.dtype, name
    )


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """A table from indices to the words of a list. Raises ValueError without a list."""
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    words = convert.to_tensor(vocabulary_list, string)
    keys = raw.Cast(raw.Range(0, raw.Size(words), 1), DstT=int64)
    first = initializers.KeyValueTensorInitializer(keys, words, int64, string)
    return tables.StaticHashTableV1(first, default_value, name=name)


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = None,
    key_dtype: Any = string,
    name: str | None = None,
    key_column_index: int = -2,
    value_column_index: int = -1,
    delimiter: str = "\t",
) -> Any:
    """A table from the words of a file to the numbers of their lines. Raises ValueError without a file."""
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    kind = string if key_dtype is string else int64
    first = initializers.TextFileInitializer(
        vocabulary_file, kind, key_column_index, int64, value_column_index, vocab_size, delimiter
    )
    return _ids(first, num_oov_buckets, default_value, key_dtype, name)


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = -1,
    value_column_index: int = -2,
    delimiter: str = "\t",
) -> Any:
    """A table from the numbers of lines of a file to their words. Raises ValueError without a file."""
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified.")
    first = initializers.TextFileInitializer(
        vocabulary_file, int64, key_column_index, string, value_column_index, vocab_size, delimiter
    )
    return tables.StaticHashTableV1(first, default_value, name=name)
