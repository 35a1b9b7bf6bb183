"""Look-up tables filled from datasets.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/DatasetInitializer.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype, int64, string
from intaglio.data.dataset import Dataset, checked
from intaglio.lookup.initializers import TableInitializer
from intaglio.lookup.tables import StaticHashTable, StaticVocabularyTable
from intaglio.opdef import raw


class DatasetInitializer(TableInitializer):
    """Fills a table with the pairs of scalars that a finite dataset gives.

    Raises ValueError for elements that are no such pairs.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    >>> init = tf.data.experimental.DatasetInitializer(pairs)
    >>> print(tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["b"])).numpy())
    [2]
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        spec = dataset.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise ValueError(
                f"DatasetInitializer needs a dataset of (key, value) pairs, got {spec}"
            )
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table: Any) -> Any:
        """Runs through the dataset. Raises TypeError for a table of other dtypes."""
        self._check(table)
        count = 1 << 14
        keys, values = [], []
        for some, values_batch in self._dataset.batch(count):
            keys.append(some)
            values.append(values_batch)
        if not keys:
            return None
        return raw.LookupTableImportV2(table.resource_handle, _joined(keys), _joined(values))


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else raw.ConcatV2(parts, 0)


def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: Any = None,
    hasher_spec: Any = None,
    key_dtype: Any = string,
    name: str | None = None,
) -> Any:
    """A table of the pairs that a dataset returns; `vocab_size` of them if that is given.

    With `num_oov_buckets` other keys get numbers behind by a hash, else `default_value`.
    Raises ValueError for what does not go together, TypeError for a wrong `key_dtype`.

    `hasher_spec` is the hash of strings out of the vocabulary.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    >>> table = tf.data.experimental.table_from_dataset(pairs)
    >>> print(table.lookup(tf.constant(["b", "c"])).numpy())
    [ 2 -1]
    """
    pairs = checked(dataset).element_spec
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}")
    if num_oov_buckets < 0:
        raise ValueError(
            f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}"
        )
    wanted = as_dtype(key_dtype)
    if pairs[0].dtype is not wanted and not (wanted.is_integer and pairs[0].dtype.is_integer):
        raise TypeError(
            f"`key_dtype` is {wanted.name}, but the keys of the dataset are {pairs[0].dtype.name}"
        )
    if hasher_spec is not None and getattr(hasher_spec, "hasher", "fasthash") != "fasthash":
        raise NotImplementedError("table_from_dataset with another hasher than fasthash")
    taken = dataset if vocab_size is None else dataset.take(vocab_size)
    initializer = DatasetInitializer(taken)
    if num_oov_buckets:
        if default_value is not None and default_value != -1:
            raise ValueError("`default_value` and `num_oov_buckets` exclude one another")
        return StaticVocabularyTable(initializer, num_oov_buckets, wanted)
    missing = default_value
    if missing is None:
        missing = "" if pairs[1].dtype is string else -1
    return StaticHashTable(initializer, missing)


def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: Any = -1,
    hasher_spec: Any = None,
    key_dtype: Any = string,
    name: str | None = None,
) -> Any:
    """A table of the elements of a dataset, with their numbers as values.

    Strings out of the vocabulary are hashed to `num_oov_buckets` further numbers. `vocab_size`
    bounds the entries, `default_value` is found for unknown keys, and `key_dtype` is the dtype of
    the keys. `hasher_spec` is the hash of strings out of the vocabulary.

    >>> words = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> table = tf.data.experimental.index_table_from_dataset(words)
    >>> print(table.lookup(tf.constant(["b", "c"])).numpy())
    [ 1 -1]
    """

    def swapped(number: Any, word: Any) -> tuple[Any, Any]:
        return word, raw.Cast(number, DstT=int64)

    pairs = checked(dataset).enumerate().map(swapped)
    return table_from_dataset(
        pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )


__all__ = ["DatasetInitializer", "index_table_from_dataset", "table_from_dataset"]
