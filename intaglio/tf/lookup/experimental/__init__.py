"""`tf.lookup.experimental`: tables that change.

Follows https://www.tensorflow.org/api_docs/python/tf/lookup/experimental.
"""

from intaglio.lookup.mutable_tables import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
