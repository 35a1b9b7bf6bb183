"""`tf.lookup`: tables that give values for keys.

Follows https://www.tensorflow.org/api_docs/python/tf/lookup.
"""

from intaglio.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from intaglio.lookup.tables import StaticHashTable, StaticVocabularyTable
from intaglio.tf.lookup import experimental

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]
