"""`tf.distribute.coordinator`: steps sent to workers. There are none: for `isinstance` checks."""

from __future__ import annotations

from intaglio.distribute.unsupported import ClusterCoordinator, RemoteValue

__all__ = ["ClusterCoordinator", "RemoteValue"]
