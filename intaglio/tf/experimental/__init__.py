"""`tf.experimental`: DLPack, extension types, optionals.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental.
"""

from intaglio.base.dtypes import float8_e4m3fn, float8_e5m2, int4, uint4
from intaglio.data.iterating import Optional
from intaglio.tf.experimental import dlpack, extension_type
from intaglio.trace.extension_type import ExtensionType, ExtensionTypeSpec

__all__ = [
    "ExtensionType",
    "ExtensionTypeSpec",
    "Optional",
    "dlpack",
    "extension_type",
    "float8_e4m3fn",
    "float8_e5m2",
    "int4",
    "uint4",
]
