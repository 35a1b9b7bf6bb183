"""Columns of vectors of categories, of their own or shared.

Follows https://www.tensorflow.org/api_docs/python/tf/feature_column/embedding_column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.compat_v1.initializers import TruncatedNormal
from intaglio.feature_columns import checks
from intaglio.feature_columns.columns import (
    CategoricalColumn,
    SequenceCategoricalColumn,
    WeightedCategoricalColumn,
)
from intaglio.feature_columns.vectors import (
    EmbeddingColumn,
    SharedEmbeddingColumn,
    SharedEmbeddings,
)
from intaglio.opdef import door


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """Vectors of the categories of a column, put together by `combiner` for each example.

    Raises ValueError for a dimension below 1, or an initializer that is no function.

    The table is loaded from the variable `tensor_name_in_ckpt` of the checkpoint
    `ckpt_to_load_from`, if they are given; it is learned unless `trainable` is False.
    `use_safe_embedding_lookup` is accepted for compatibility. Embeddings are scaled to an l2 norm
    of `max_norm` at most.

    >>> word = tf.feature_column.categorical_column_with_hash_bucket("word", 100)
    >>> tf.feature_column.embedding_column(word, dimension=8).variable_shape
    TensorShape([8])
    """
    checkpoint = (ckpt_to_load_from, tensor_name_in_ckpt)
    if not isinstance(categorical_column, CategoricalColumn):
        raise TypeError(f"categorical_column is no column of categories: {categorical_column!r}")
    what = f"Embedding of column_name: {categorical_column.name}"
    checks.checked_embedding(dimension, initializer, checkpoint, what)
    return EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        initializer or TruncatedNormal(stddev=1 / math.sqrt(dimension)),
        *checkpoint,
        max_norm,
        trainable,
        use_safe_embedding_lookup,
    )


def shared_embeddings(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumn]:
    """A column for each of several, with the same vectors for the same categories.

    Only where a graph is recorded: raises RuntimeError in eager execution, as TensorFlow does, and
    ValueError for columns that are not alike.

    `initializer` initialises the table, by default a truncated normal distribution. `combiner` is
    "mean", "sqrtn" or "sum"; `shared_embedding_collection_name` names the collection of the table.
    The table is loaded from the variable `tensor_name_in_ckpt` of the checkpoint
    `ckpt_to_load_from`, if they are given; it is learned unless `trainable` is False.
    `use_safe_embedding_lookup` is accepted for compatibility. Embeddings are scaled to an l2 norm
    of `max_norm` at most.

    >>> both = [tf.feature_column.categorical_column_with_identity(k, 9) for k in ("read", "liked")]
    >>> with tf.Graph().as_default():
    ...     [column.name for column in tf.feature_column.shared_embeddings(both, dimension=4)]
    ['read_shared_embedding', 'liked_shared_embedding']
    """
    if door.level().eager:
        raise RuntimeError(
            "shared_embedding_columns are not supported when eager execution is enabled."
        )
    checkpoint = (ckpt_to_load_from, tensor_name_in_ckpt)
    checks.checked_embedding(dimension, initializer, checkpoint, "")
    if not categorical_columns:
        raise ValueError("categorical_columns must not be empty.")
    _check_alike(categorical_columns)
    names = sorted([_plain(c).name for c in categorical_columns])
    shared = SharedEmbeddings(
        dimension,
        initializer or TruncatedNormal(stddev=1 / math.sqrt(dimension)),
        shared_embedding_collection_name or "_".join(names) + "_shared_embedding",
        categorical_columns[0].num_buckets,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
        trainable=trainable,
    )
    return [
        SharedEmbeddingColumn(c, shared, combiner, max_norm, use_safe_embedding_lookup)
        for c in categorical_columns
    ]


def _plain(column: Any) -> Any:
    """A column without weights, or of what its sequences are."""
    while isinstance(column, (WeightedCategoricalColumn, SequenceCategoricalColumn)):
        column = column.categorical_column
    return column


def _check_alike(columns: Sequence[Any]) -> None:
    first = columns[0]
    for column in columns[1:]:
        if type(_plain(column)) is not type(_plain(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                "weighted_categorical_column or sequence column of the same type. Given column: "
                f"{first} of type: {type(_plain(first))} does not match given column: {column} of type: "
                f"{type(_plain(column))}"
            )
        if column.num_buckets != first.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. "
                f"Given column: {first} with buckets: {first.num_buckets} does  not match column: {column} with "
                f"buckets: {column.num_buckets}"
            )


__all__ = ["embedding_column", "shared_embeddings"]
