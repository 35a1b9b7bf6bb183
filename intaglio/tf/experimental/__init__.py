"""`tf.experimental`: DLPack, extension types, optionals.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.base.dtypes import float8_e4m3fn, float8_e5m2, int4, uint4
from intaglio.tf.experimental import dlpack, extension_type
from intaglio.trace.extension_type import ExtensionType, ExtensionTypeSpec

if TYPE_CHECKING:
    from intaglio.data.iterating import Optional as Optional

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__, {"Optional": "intaglio.data.iterating:Optional"}
    )
