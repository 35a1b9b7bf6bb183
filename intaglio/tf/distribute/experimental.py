"""`tf.distribute.experimental`: options of strategies, and strategies by their old names."""

from __future__ import annotations

from intaglio.distribute.mirrored import CentralStorageStrategy
from intaglio.distribute.multi_worker import (
    CollectiveHints,
    CommunicationImplementation,
    CommunicationOptions,
    MultiWorkerMirroredStrategy,
)
from intaglio.distribute.preemption import (
    PreemptionCheckpointHandler,
    PreemptionWatcher,
    TerminationConfig,
)
from intaglio.distribute.replicated import ValueContext
from intaglio.distribute.unsupported import ParameterServerStrategy, TPUStrategy
from intaglio.tf.distribute import coordinator

CollectiveCommunication = CommunicationImplementation

__all__ = [
    "CentralStorageStrategy",
    "CollectiveCommunication",
    "CollectiveHints",
    "CommunicationImplementation",
    "CommunicationOptions",
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
    "PreemptionCheckpointHandler",
    "PreemptionWatcher",
    "TPUStrategy",
    "TerminationConfig",
    "ValueContext",
    "coordinator",
]
