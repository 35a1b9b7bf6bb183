"""`tf.experimental`: DLPack, extension types, optionals.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.base.dtypes import (
    float4_e2m1fn,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    int2,
    int4,
    uint2,
    uint4,
)
from intaglio.tf.experimental import dlpack, extension_type
from intaglio.type_specs.extension_type import ExtensionType, ExtensionTypeSpec

if TYPE_CHECKING:
    from intaglio.data.iterating import Optional as Optional
    from intaglio.opdef.dispatch_decorators import dispatch_for_api as dispatch_for_api
    from intaglio.opdef.dispatch_decorators import (
        dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
    )
    from intaglio.opdef.dispatch_decorators import (
        dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
    )
    from intaglio.opdef.dispatch_decorators import (
        dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
    )
    from intaglio.opdef.dispatch_decorators import (
        unregister_dispatch_for as unregister_dispatch_for,
    )
    from intaglio.ragged.api import BatchableExtensionType as BatchableExtensionType
    from intaglio.ragged.api import DynamicRaggedShape as DynamicRaggedShape
    from intaglio.ragged.api import ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder
    from intaglio.ragged.api import RowPartition as RowPartition
    from intaglio.tf.experimental import dtensor as dtensor
    from intaglio.tf.experimental import numpy as numpy
    from intaglio.trace.asynchronous import async_clear_error as async_clear_error
    from intaglio.trace.asynchronous import async_scope as async_scope

__all__ = [
    "ExtensionType",
    "ExtensionTypeSpec",
    "Optional",
    "dlpack",
    "extension_type",
    "float4_e2m1fn",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "int2",
    "int4",
    "uint2",
    "uint4",
]

_DISPATCH = "intaglio.opdef.dispatch_decorators"
_BATCHABLE = "intaglio.ragged.api"
LATER: dict[str, str] = {
    "numpy": "intaglio.tf.experimental.numpy",
    "BatchableExtensionType": f"{_BATCHABLE}:BatchableExtensionType",
    "DynamicRaggedShape": "intaglio.ragged.api:DynamicRaggedShape",
    "ExtensionTypeBatchEncoder": f"{_BATCHABLE}:ExtensionTypeBatchEncoder",
    "Optional": "intaglio.data.iterating:Optional",
    "RowPartition": "intaglio.ragged.api:RowPartition",
    "dtensor": "intaglio.tf.experimental.dtensor",
    "dispatch_for_api": f"{_DISPATCH}:dispatch_for_api",
    "dispatch_for_binary_elementwise_apis": f"{_DISPATCH}:dispatch_for_binary_elementwise_apis",
    "dispatch_for_binary_elementwise_assert_apis": f"{_DISPATCH}:dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis": f"{_DISPATCH}:dispatch_for_unary_elementwise_apis",
    "unregister_dispatch_for": f"{_DISPATCH}:unregister_dispatch_for",
    "async_clear_error": "intaglio.trace.asynchronous:async_clear_error",
    "async_scope": "intaglio.trace.asynchronous:async_scope",
}
__all__ += [n for n in LATER if n not in __all__]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
