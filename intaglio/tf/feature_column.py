"""`tf.feature_column`: how features of examples are read, and what becomes of them.

Follows https://www.tensorflow.org/api_docs/python/tf/feature_column.
"""

from intaglio import feature_columns
from intaglio.feature_columns import *

__all__: list[str] = []
__all__ += feature_columns.__all__
