"""`tf.tpu.experimental.embedding`: descriptions of embedding tables, and look-ups on the host.

Follows https://www.tensorflow.org/api_docs/python/tf/tpu/experimental/embedding.
"""

from intaglio.feature_columns.tpu_embedding import (
    FTRL,
    SGD,
    Adagrad,
    AdagradMomentum,
    Adam,
    FeatureConfig,
    QuantizationConfig,
    SparseCoreEmbeddingConfig,
    TableConfig,
    TPUEmbedding,
    TPUEmbeddingForServing,
    TPUEmbeddingV0,
    TPUEmbeddingV2,
    serving_embedding_lookup,
)

__all__ = [
    "FTRL",
    "SGD",
    "Adagrad",
    "AdagradMomentum",
    "Adam",
    "FeatureConfig",
    "QuantizationConfig",
    "SparseCoreEmbeddingConfig",
    "TPUEmbedding",
    "TPUEmbeddingForServing",
    "TPUEmbeddingV0",
    "TPUEmbeddingV2",
    "TableConfig",
    "serving_embedding_lookup",
]
