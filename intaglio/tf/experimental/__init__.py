"""`tf.experimental`: DLPack, extension types.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental.
"""

from intaglio.base.dtypes import float8_e4m3fn, float8_e5m2, int4, uint4
from intaglio.tf.experimental import dlpack

__all__ = ["dlpack", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"]
