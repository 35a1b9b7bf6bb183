"""`tf.feature_column`: how features of examples are parsed and transformed.

TensorFlow keeps it for old programs: Keras 2's layers `DenseFeatures` and `SequenceFeatures` take the columns, and
`tf.compat.v1.feature_column.input_layer` and `linear_model` do.

Follows https://www.tensorflow.org/api_docs/python/tf/feature_column.
"""

from intaglio.feature_columns.construction import (
    bucketized_column,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    crossed_column,
    indicator_column,
    make_parse_example_spec,
    numeric_column,
    weighted_categorical_column,
)
from intaglio.feature_columns.embeddings import embedding_column, shared_embeddings
from intaglio.feature_columns.sequences import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)

__all__ = [
    "bucketized_column",
    "categorical_column_with_hash_bucket",
    "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file",
    "categorical_column_with_vocabulary_list",
    "crossed_column",
    "embedding_column",
    "indicator_column",
    "make_parse_example_spec",
    "numeric_column",
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column",
    "shared_embeddings",
    "weighted_categorical_column",
]
