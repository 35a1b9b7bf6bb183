"""What other packages use of ragged tensors, with all public functions ready for them.

Importing this module registers the dispatch targets of public functions (`handlers`).
"""

from __future__ import annotations

from intaglio.ragged import handlers
from intaglio.ragged.partition import RowPartition, RowPartitionSpec
from intaglio.ragged.shape import DynamicRaggedShape
from intaglio.ragged.spec import RaggedTensorSpec
from intaglio.ragged.tensor import RaggedTensor
from intaglio.type_specs.batchable_extension_type import (
    BatchableExtensionType,
    ExtensionTypeBatchEncoder,
)

handlers.register()

__all__ = [
    "BatchableExtensionType",
    "ExtensionTypeBatchEncoder",
    "DynamicRaggedShape",
    "RaggedTensor",
    "RaggedTensorSpec",
    "RowPartition",
    "RowPartitionSpec",
]
