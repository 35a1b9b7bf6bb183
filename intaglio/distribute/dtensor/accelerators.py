"""The devices of this process and of others for meshes, and the meshes that are made of them.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dtensor/create_mesh. There is one
process, whose devices are the logical devices of the host.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.base import devices as host
from intaglio.base.device_spec import DeviceSpec
from intaglio.distribute.dtensor.layouts import Mesh

_OWNER = "tf.experimental.dtensor.initialize_accelerator_system"


class _System:
    """Whether the program has initialised the accelerators."""

    is_initialized = False


_system = _System()


def preferred_device_type() -> str:
    """The type of devices to use: CPU, the only one.

    >>> tf.experimental.dtensor.preferred_device_type()
    'CPU'
    """
    return "CPU"


def local_devices(device_type: str, for_client_id: int | None = None) -> list[DeviceSpec]:
    """The devices of a type of this process. Raises ValueError for another process.

    `for_client_id` is 0 or None. Raises ValueError for another.

    >>> tf.experimental.dtensor.local_devices("CPU")[0].device_type
    'CPU'
    """
    if device_type.upper() not in ("CPU", "GPU", "TPU"):
        raise ValueError(f"Device type {device_type} is not CPU, GPU, or TPU.")
    if for_client_id not in (None, 0):
        raise ValueError(f"There is one client, with id 0, not {for_client_id}.")
    found = host.list_logical_devices(device_type.upper())
    return [DeviceSpec.from_string(host.LOCAL + d.name) for d in found]


def num_local_devices(device_type: str) -> int:
    """The number of devices of a type of this process.

    >>> tf.experimental.dtensor.num_local_devices("GPU")
    0
    """
    return len(local_devices(device_type))


def num_global_devices(device_type: str) -> int:
    """The number of devices of a type of all processes.

    >>> tf.experimental.dtensor.num_global_devices("GPU")
    0
    """
    return num_local_devices(device_type)


def client_id() -> int:
    """The number of this process.

    >>> tf.experimental.dtensor.client_id()
    0
    """
    return 0


def num_clients() -> int:
    """The number of processes.

    >>> tf.experimental.dtensor.num_clients()
    1
    """
    return 1


def job_name() -> str:
    """The job of the processes.

    >>> tf.experimental.dtensor.job_name()
    'localhost'
    """
    return "localhost"


def full_job_name(task_id: int | None = None) -> str:
    """The job with a task, of this process by default. Raises ValueError for another one.

    `task_id` is 0 or None. Raises ValueError for another.

    >>> tf.experimental.dtensor.full_job_name()
    'localhost/replica:0/task:0'
    """
    if task_id not in (None, 0):
        raise ValueError(f"There is one client, with id 0, not {task_id}.")
    return "localhost/replica:0/task:0"


def jobs() -> list[str]:
    """The addresses of all processes of a cluster: none.

    >>> tf.experimental.dtensor.jobs()
    []
    """
    return []


def heartbeat_enabled() -> bool:
    """Whether processes watch each other.

    >>> tf.experimental.dtensor.heartbeat_enabled()
    True
    """
    return True


def initialize_accelerator_system(
    device_type: str | None = None,
    enable_coordination_service: bool | None = True,
    num_logical_cpu_devices: int | None = None,
    experimental_reset_context: bool | None = False,
    experimental_enable_megcore: bool | None = False,
) -> str:
    """Divides the host into logical devices, if a number is given; returns the type of device.

    Raises ValueError for a second call, for devices that there are not, and once devices are in use.

    `device_type` is "CPU" or "GPU", or None for all. `num_logical_cpu_devices` is the number of
    logical devices; `enable_coordination_service`, `experimental_reset_context` and
    `experimental_enable_megcore` have no effect.
    """
    if _system.is_initialized:
        raise ValueError(
            "Accelerator system has already been initialized. Call "
            "tf.experimental.dtensor.shutdown_accelerator_system() first."
        )
    kind = (device_type or preferred_device_type()).upper()
    if kind not in ("CPU", "GPU", "TPU"):
        raise ValueError(f"Unknown device_type {device_type}. Allowed values are CPU, GPU, or TPU")
    if not host.list_physical_devices(kind):
        raise ValueError(f"No {kind} devices were found: there is the host's CPU.")
    if experimental_reset_context:
        host.reset_devices()
    if host.are_in_use():
        raise ValueError(
            f"TensorFlow has already been initialized. {_OWNER}() must be called before TensorFlow is "
            "initialized."
        )
    if num_logical_cpu_devices is not None:
        parts = [host.LogicalDeviceConfiguration()] * num_logical_cpu_devices
        host.set_logical_device_configuration(host.CPU, parts)
    _system.is_initialized = True
    return kind


initialize_multi_client = initialize_tpu_system = initialize_accelerator_system


def shutdown_accelerator_system() -> None:
    """Undoes `initialize_accelerator_system`. Raises ValueError if it was not called."""
    if not _system.is_initialized:
        raise ValueError(f"Accelerator system is not initialized. Call {_OWNER} first.")
    _system.is_initialized = False


shutdown_tpu_system = shutdown_accelerator_system


def barrier(mesh: Mesh, barrier_name: str | None = None, timeout_in_ms: int | None = None) -> None:
    """Waits until all processes of a mesh are here: there is one.

    `barrier_name` and `timeout_in_ms` have no effect: there is one client.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> dtensor.barrier(mesh)
    """


# -- meshes --------------------------------------------------------------------------------


def create_mesh(
    mesh_dims: Sequence[tuple[str, int]] | Mapping[str, int] | None = None,
    mesh_name: str = "",
    devices: Sequence[Any] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """A mesh of devices of this process, by default all of a type in one dimension, `x`.

    Raises ValueError if the number of devices is not the product of the sizes.

    `mesh_dims` are pairs (name, size), or a dict, by default one dimension "x". `device_type` is
    "CPU" or "GPU", or None for all. `mesh_name` names the mesh; `use_xla_spmd` has no effect.

    >>> tf.experimental.dtensor.create_mesh([("batch", 1)], devices=["CPU:0"]).shape()
    [1]
    """
    specs = _specs(devices, device_type)
    pairs = list(mesh_dims.items() if isinstance(mesh_dims, Mapping) else mesh_dims or ())
    if mesh_dims is None:
        pairs = [("x", len(specs))]
    shape = [size for _, size in pairs]
    if len(specs) != math.prod(shape) or any([n < 0 for n in shape]):
        raise ValueError(
            f"length of devices ({len(specs)}) must be equal to total size of the mesh of shape {shape}"
        )
    ids = np.arange(len(specs)).reshape(shape)
    return Mesh(
        [name for name, _ in pairs],
        ids,
        [int(i) for i in ids.flat],
        specs,
        mesh_name,
        use_xla_spmd=use_xla_spmd,
    )


def _specs(devices: Sequence[Any] | None, device_type: str | None) -> list[DeviceSpec]:
    if devices is None:
        return local_devices(device_type or preferred_device_type())
    specs = [d if isinstance(d, DeviceSpec) else DeviceSpec.from_string(str(d)) for d in devices]
    kinds = {s.device_type for s in specs}
    if device_type is not None and kinds != {device_type.upper()}:
        raise ValueError(f"Conflicting devices {specs} and device_type {device_type.upper()}")
    if len(kinds) > 1:
        raise ValueError(f"Devices must be of one type, not {sorted(kinds)}.")
    return specs


def create_distributed_mesh(
    mesh_dims: Sequence[tuple[str, int]] | Mapping[str, int],
    mesh_name: str = "",
    local_devices: Sequence[Any] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """A mesh of the devices of all processes. Raises ValueError before `initialize_accelerator_system`.

    `local_devices` are the names of the devices of this client. `device_type` is "CPU" or "GPU", or
    None for all. `mesh_name` names the mesh; `use_xla_spmd` has no effect.
    """
    if not _system.is_initialized:
        raise ValueError(
            "Accelerators are uninitialized, please run dtensor.initialize_accelerator_system() first."
        )
    return create_mesh(mesh_dims, mesh_name, local_devices, device_type, use_xla_spmd)


def create_tpu_mesh(
    mesh_dim_names: Sequence[str],
    mesh_shape: Sequence[int],
    mesh_name: str,
    ring_dims: int | None = None,
    ring_axes: Sequence[str] | None = None,
    ring_bounds: Sequence[int] | None = None,
    can_split_host_across_rings: bool = True,
    build_ring_across_rings: bool = False,
    rotate_ring_across_rings: bool = False,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Raises NotImplementedError: there are no TPUs."""
    raise NotImplementedError(
        "tf.experimental.dtensor.create_tpu_mesh needs TPUs, and there are none: use "
        "tf.experimental.dtensor.create_mesh(..., device_type='CPU')."
    )


__all__ = [
    "barrier",
    "client_id",
    "create_distributed_mesh",
    "create_mesh",
    "create_tpu_mesh",
    "full_job_name",
    "heartbeat_enabled",
    "initialize_accelerator_system",
    "initialize_multi_client",
    "initialize_tpu_system",
    "job_name",
    "jobs",
    "local_devices",
    "num_clients",
    "num_global_devices",
    "num_local_devices",
    "preferred_device_type",
    "shutdown_accelerator_system",
    "shutdown_tpu_system",
]
