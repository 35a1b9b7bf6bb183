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


class CentralStorageStrategy(Strategy):
    """Variables on the host, replicas on its GPUs. Raises NotImplementedError: there are none."""

    def __init__(self, compute_devices: Any = None, parameter_device: Any = None) -> None:
        raise NotImplementedError(
            "tf.distribute.experimental.CentralStorageStrategy needs GPUs, and Intaglio runs on "
            "the host: use tf.distribute.MirroredStrategy()."
        )


class ClusterCoordinator:
    """Sends steps to workers. Raises NotImplementedError: there is one machine."""

    def __init__(self, strategy: Any) -> None:
        raise NotImplementedError(
            "tf.distribute.coordinator.ClusterCoordinator needs several machines, and Intaglio "
            "runs on one: call the step itself."
        )


class RemoteValue:
    """What a worker will have computed. Raises NotImplementedError: there are no workers."""

    def __init__(self, *arguments: Any) -> None:
        raise NotImplementedError(
            "Values of tf.distribute.coordinator are made by workers, and there is one machine."
        )


class DTensorDataset:
    """A dataset whose elements are spread over a mesh. Raises NotImplementedError: there is none."""

    def __init__(self, dataset: Any, **options: Any) -> None:
        raise NotImplementedError(
            "tf.experimental.dtensor.DTensorDataset needs a mesh of devices, and Intaglio runs on "
            "one: use the dataset itself."
        )


class DVariable:
    """A variable spread over a mesh. Raises NotImplementedError: there is none."""

    def __init__(self, initial_value: Any, *arguments: Any, **options: Any) -> None:
        raise NotImplementedError(
            "tf.experimental.dtensor.DVariable needs a mesh of devices, and Intaglio runs on one: "
            "use tf.Variable."
        )


class ShardedVariable:
    """A variable in parts on several servers. Raises NotImplementedError: there is one machine."""

    def __init__(self, variables: Any, name: str = "ShardedVariable") -> None:
        raise NotImplementedError(
            "A ShardedVariable needs several machines, and Intaglio runs on one: use tf.Variable."
        )
