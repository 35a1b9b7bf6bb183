"""`tf.lookup`: tables that give values for keys.

Follows https://www.tensorflow.org/api_docs/python/tf/lookup.
"""

from intaglio.tf.lookup import experimental
from intaglio.tf.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from intaglio.tf.lookup.tables import StaticHashTable, StaticVocabularyTable

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]
