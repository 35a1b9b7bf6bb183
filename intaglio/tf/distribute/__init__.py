"""`tf.distribute`: strategies, which share work among devices and processes.

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
from intaglio.distribute.cross_device_ops import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReductionToOneDevice,
)
from intaglio.distribute.datasets import (
    DistributedDataset,
    DistributedIterator,
    InputOptions,
    InputReplicationMode,
)
from intaglio.distribute.mirrored import MirroredStrategy, OneDeviceStrategy
from intaglio.distribute.multi_worker import MultiWorkerMirroredStrategy
from intaglio.distribute.strategy import InputContext, RunOptions, Strategy, StrategyExtended
from intaglio.distribute.unsupported import ParameterServerStrategy, TPUStrategy
from intaglio.distribute.values import DistributedValues
from intaglio.tf.distribute import cluster_resolver, coordinator, experimental

__all__ = [
    "CrossDeviceOps",
    "DistributedDataset",
    "DistributedIterator",
    "DistributedValues",
    "HierarchicalCopyAllReduce",
    "InputContext",
    "InputOptions",
    "InputReplicationMode",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "NcclAllReduce",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReduceOp",
    "ReductionToOneDevice",
    "ReplicaContext",
    "RunOptions",
    "Strategy",
    "StrategyExtended",
    "TPUStrategy",
    "cluster_resolver",
    "coordinator",
    "experimental",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]
