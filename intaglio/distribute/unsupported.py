"""Strategies of several machines or devices. They exist by name, for `isinstance` checks.

`isinstance(strategy, tf.distribute.TPUStrategy)` is False, as on a machine without a TPU.
"""

from __future__ import annotations

from typing import Any

from intaglio.distribute.strategy import Strategy


class TPUStrategy(Strategy):
    """Replicas on the cores of TPUs. Raises NotImplementedError: there are none."""

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        raise NotImplementedError(
            "tf.distribute.TPUStrategy needs TPUs, and Intaglio runs on the host's devices: use "
            "tf.distribute.MirroredStrategy()."
        )


class ParameterServerStrategy(Strategy):
    """Variables on servers of their own. Raises NotImplementedError: no engine keeps them."""

    def __init__(self, cluster_resolver: Any, variable_partitioner: Any = None) -> None:
        raise NotImplementedError(
            "tf.distribute.ParameterServerStrategy needs servers that keep variables, which the engine, "
            "jax.distributed, does not have; Intaglio runs on workers with copies: use "
            "tf.distribute.MultiWorkerMirroredStrategy()."
        )


class ClusterCoordinator:
    """Sends steps to workers. Raises NotImplementedError: no engine sends them."""

    def __init__(self, strategy: Any) -> None:
        raise NotImplementedError(
            "tf.distribute.coordinator.ClusterCoordinator sends functions to other processes, which the "
            "engine, jax.distributed, does not do; Intaglio runs on workers that all run the program: use "
            "tf.distribute.MultiWorkerMirroredStrategy()."
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
