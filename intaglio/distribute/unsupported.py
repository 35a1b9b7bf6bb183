"""Strategies of several machines or devices. They exist by name, for `isinstance` checks.

`isinstance(strategy, tf.distribute.TPUStrategy)` is False, as on a machine without a TPU.
"""

from __future__ import annotations

from typing import Any

from intaglio.distribute.strategy import Strategy


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas on several machines. Raises NotImplementedError: there is one machine."""

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        raise NotImplementedError(
            "tf.distribute.MultiWorkerMirroredStrategy needs several machines, and "
            "Intaglio runs on one: use tf.distribute.MirroredStrategy()."
        )


class TPUStrategy(Strategy):
    """Replicas on the cores of TPUs. Raises NotImplementedError: there are none."""

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        raise NotImplementedError(
            "tf.distribute.TPUStrategy needs TPUs, and Intaglio runs on the host: use "
            "tf.distribute.MirroredStrategy()."
        )


class ParameterServerStrategy(Strategy):
    """Variables on servers of their own. Raises NotImplementedError: there is one machine."""

    def __init__(self, cluster_resolver: Any, variable_partitioner: Any = None) -> None:
        raise NotImplementedError(
            "tf.distribute.ParameterServerStrategy needs several machines, and Intaglio "
            "runs on one: use tf.distribute.MirroredStrategy()."
        )
