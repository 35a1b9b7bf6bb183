"""`tf.distribute.experimental`: strategies of several devices, for `isinstance` checks."""

from __future__ import annotations

from intaglio.distribute.unsupported import (
    CentralStorageStrategy,
    MultiWorkerMirroredStrategy,
    ParameterServerStrategy,
    TPUStrategy,
)
from intaglio.tf.distribute import coordinator

__all__ = [
    "CentralStorageStrategy",
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
    "TPUStrategy",
    "coordinator",
]
