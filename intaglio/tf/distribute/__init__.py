"""`tf.distribute`: strategies, as far as one device goes.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute.
"""

from __future__ import annotations

from intaglio.distribute.contexts import (
    ReduceOp,
    ReplicaContext,
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from intaglio.distribute.strategy import (
    DistributedDataset,
    DistributedIterator,
    DistributedValues,
    InputContext,
    MirroredStrategy,
    OneDeviceStrategy,
    Strategy,
    StrategyExtended,
)
from intaglio.distribute.unsupported import (
    MultiWorkerMirroredStrategy,
    ParameterServerStrategy,
    TPUStrategy,
)
from intaglio.tf.distribute import coordinator, experimental

__all__ = [
    "DistributedDataset",
    "DistributedIterator",
    "DistributedValues",
    "InputContext",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReduceOp",
    "ReplicaContext",
    "Strategy",
    "StrategyExtended",
    "TPUStrategy",
    "coordinator",
    "experimental",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]
