"""What needs TPUs, or servers that keep variables. It exists by name, for `isinstance` checks.

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
    """What a worker will have computed. Raises NotImplementedError: no coordinator sends it functions."""

    def __init__(self, *arguments: Any) -> None:
        raise NotImplementedError(
            "Values of tf.distribute.coordinator are made by workers that functions are sent to. Intaglio runs "
            "on workers that all run the program: use tf.distribute.MultiWorkerMirroredStrategy()."
        )


class ShardedVariable:
    """A variable in parts on several servers. Raises NotImplementedError: no engine keeps them."""

    def __init__(self, variables: Any, name: str = "ShardedVariable") -> None:
        raise NotImplementedError(
            "A ShardedVariable needs servers that keep variables, and Intaglio runs on workers with copies: use "
            "tf.experimental.dtensor.DVariable, which devices of one process have in parts."
        )


def initialize_tpu_system(cluster_resolver: Any = None) -> Any:
    """Initializes TPUs. Raises ValueError without a resolver, as on a machine without a TPU.

    `cluster_resolver` names a TPU. Raises NotImplementedError for one.

    https://www.tensorflow.org/api_docs/python/tf/tpu/experimental/initialize_tpu_system
    """
    if cluster_resolver is None:
        raise ValueError("Please provide a TPU Name to connect to.")
    raise NotImplementedError(
        "tf.tpu.experimental.initialize_tpu_system: there are no TPUs of TensorFlow's runtime"
    )


def shutdown_tpu_system(cluster_resolver: Any = None) -> Any:
    """Ends the work of TPUs. Raises as `initialize_tpu_system` does.

    `cluster_resolver` names a TPU. Raises NotImplementedError for one.
    """
    return initialize_tpu_system(cluster_resolver)


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: Any = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> None:
    """Connects to servers. Raises NotImplementedError unless all that is there is this process.

    https://www.tensorflow.org/api_docs/python/tf/config/experimental_connect_to_cluster
    """
    spec = cluster_spec_or_resolver
    found = spec.cluster_spec() if hasattr(spec, "cluster_spec") else spec
    if found is not None and getattr(found, "jobs", None):
        raise NotImplementedError(
            "tf.config.experimental_connect_to_cluster: servers of TensorFlow's runtime; workers run "
            "the same program, under tf.distribute.MultiWorkerMirroredStrategy()."
        )
