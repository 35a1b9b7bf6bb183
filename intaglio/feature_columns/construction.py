"""Columns of numbers, categories and of both.

Follows https://www.tensorflow.org/api_docs/python/tf/feature_column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype, float32, string
from intaglio.feature_columns import checks
from intaglio.feature_columns.columns import (
    BucketizedColumn,
    CategoricalColumn,
    CrossedColumn,
    FeatureColumn,
    HashedCategoricalColumn,
    IdentityCategoricalColumn,
    NumericColumn,
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
    WeightedCategoricalColumn,
)
from intaglio.feature_columns.vectors import IndicatorColumn


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """What `tf.io.parse_example` is to read for columns: features by their names.

    Raises ValueError for what is no column, and for columns that read one feature differently.

    >>> price = tf.feature_column.numeric_column("price")
    >>> features = tf.feature_column.make_parse_example_spec([price])
    >>> example = tf.train.Example()
    >>> example.features.feature["price"].float_list.value.append(2.5)
    >>> parsed = tf.io.parse_example([example.SerializeToString()], features)
    >>> print(parsed["price"].numpy())
    [[2.5]]
    """
    result: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"All feature_columns must be FeatureColumn instances. Given: {column}"
            )
        for key, feature in column.parse_example_spec.items():
            if key in result and result[key] != feature:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {feature} and {result[key]}"
                )
            result[key] = feature
    return result


# -- numbers ---------------------------------------------------------------------------


def numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = float32,
    normalizer_fn: Callable[..., Any] | None = None,
) -> NumericColumn:
    """A column of numbers of a shape. `normalizer_fn` makes other numbers of them.

    Raises TypeError or ValueError for a shape, dtype, default value or function that is none.

    `default_value` stands for a missing number, one for all or an array of the shape.

    >>> tf.feature_column.numeric_column("price", shape=(2,)).variable_shape
    TensorShape([2])
    """
    dims = checks.checked_shape(shape, key)
    found = checks.number_dtype(
        dtype, f"dtype must be convertible to float. dtype: {as_dtype(dtype)}, key: {key}"
    )
    default = checks.checked_default(default_value, dims, found, key)
    checks.checked_function(normalizer_fn)
    return NumericColumn(checks.checked_key(key), dims, default, found, normalizer_fn)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> BucketizedColumn:
    """In which interval between sorted boundaries the numbers of a column are.

    Raises ValueError for another column, or boundaries that are not sorted.

    >>> price = tf.feature_column.numeric_column("price")
    >>> tf.feature_column.bucketized_column(price, boundaries=[0.0, 10.0]).num_buckets
    3
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            f"source_column must be a column generated with numeric_column(). Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if list(boundaries) != sorted(set(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


# -- categories ------------------------------------------------------------------------


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int | None, dtype: Any = string
) -> HashedCategoricalColumn:
    """A column of categories: hashes of text or integers.

    Raises ValueError for a number of categories below 1, or another dtype.

    >>> tf.feature_column.categorical_column_with_hash_bucket("word", 100).num_buckets
    100
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    found = checks.category_dtype(dtype, checks.checked_key(key))
    return HashedCategoricalColumn(key, hash_bucket_size, found)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """A column of categories that are numbers below `num_buckets` already.

    Raises ValueError for a number of categories below 1, or a default value that is none.

    `default_value` stands for a category that is not known.

    >>> tf.feature_column.categorical_column_with_identity("day", 7).num_buckets
    7
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    return IdentityCategoricalColumn(checks.checked_key(key), num_buckets, default_value)


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any] | None,
    dtype: Any = None,
    default_value: Any = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """A column of categories: indices in a list. Others are `default_value`, or hashes behind.

    Raises ValueError for a list that is empty or has an element twice, and for another dtype.

    Strings out of the vocabulary are hashed to `num_oov_buckets` further numbers.

    >>> color = tf.feature_column.categorical_column_with_vocabulary_list("color", ["red", "blue"])
    >>> color.num_buckets
    2
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    array = np.array(vocabulary_list)
    of_list = string if array.dtype.kind in "US" else as_dtype(array.dtype)
    default = checks.oov(key, default_value, num_oov_buckets)
    checks.category_dtype(of_list, key, "vocabulary ")
    found = of_list if dtype is None else checks.category_dtype(dtype, key)
    if found.is_integer != of_list.is_integer:
        raise ValueError(
            f"dtype {found} and vocabulary dtype {of_list} do not match, column_name: {key}"
        )
    return VocabularyListCategoricalColumn(
        checks.checked_key(key), tuple(vocabulary_list), found, default, num_oov_buckets
    )


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    dtype: Any = string,
    default_value: Any = None,
    num_oov_buckets: int = 0,
    file_format: str | None = None,
) -> VocabularyFileCategoricalColumn:
    """A column of categories: lines of a file. Others are `default_value`, or hashes behind.

    Without `vocabulary_size` the lines are counted. Raises ValueError if there is no such file.

    Strings out of the vocabulary are hashed to `num_oov_buckets` further numbers. `file_format` is
    "tfrecord_gzip", or None for a text file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "colors")
    ...     _ = path.write_text("red\\nblue\\n")
    ...     tf.feature_column.categorical_column_with_vocabulary_file("color", str(path)).num_buckets
    2
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    path = os.fspath(vocabulary_file)
    if vocabulary_size is None:
        if not os.path.exists(path):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with open(path, "rb") as file:
            vocabulary_size = sum(1 for _ in file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    default = checks.oov(key, default_value, num_oov_buckets)
    found = checks.category_dtype(dtype, checks.checked_key(key))
    return VocabularyFileCategoricalColumn(
        key, path, vocabulary_size, num_oov_buckets, found, default, file_format
    )


def crossed_column(keys: Any, hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """A column of categories: hashes of values that features have together.

    `keys` are names of features and columns of categories, but none that are hashes. Raises
    ValueError for others, or fewer than two.

    `hash_key` selects a hash function.

    >>> tf.feature_column.crossed_column(["city", "day"], 1000).name
    'city_X_day'
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                f"increase probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = float32
) -> WeightedCategoricalColumn:
    """Categories with weights, which are the feature `weight_feature_key`.

    Raises ValueError for weights that are no numbers.

    >>> word = tf.feature_column.categorical_column_with_hash_bucket("word", 100)
    >>> tf.feature_column.weighted_categorical_column(word, "count").name
    'word_weighted_by_count'
    """
    wanted = as_dtype(dtype)
    found = checks.number_dtype(wanted, f"dtype {wanted} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, found)


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """How often each category is there. Raises ValueError for another column.

    >>> day = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.indicator_column(day).variable_shape
    TensorShape([1, 7])
    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(
            f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}"
        )
    return IndicatorColumn(categorical_column)


__all__ = [
    "bucketized_column",
    "categorical_column_with_hash_bucket",
    "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file",
    "categorical_column_with_vocabulary_list",
    "crossed_column",
    "indicator_column",
    "make_parse_example_spec",
    "numeric_column",
    "weighted_categorical_column",
]
