"""`tf.experimental.dtensor`: tensors divided among the devices of a mesh.

The partitioner of XLA divides programs, through jax: `pip install "intaglio[xla]"`.
"""

from __future__ import annotations

from intaglio.distribute.dtensor.accelerators import (
    barrier,
    client_id,
    create_distributed_mesh,
    create_mesh,
    create_tpu_mesh,
    full_job_name,
    heartbeat_enabled,
    initialize_accelerator_system,
    initialize_multi_client,
    initialize_tpu_system,
    job_name,
    jobs,
    local_devices,
    num_clients,
    num_global_devices,
    num_local_devices,
    preferred_device_type,
    shutdown_accelerator_system,
    shutdown_tpu_system,
)
from intaglio.distribute.dtensor.checkpoints import (
    DTensorCheckpoint,
    name_based_restore,
    name_based_save,
    sharded_save,
)
from intaglio.distribute.dtensor.inputs import DTensorDataset
from intaglio.distribute.dtensor.layouts import MATCH, UNSHARDED, Layout, Mesh
from intaglio.distribute.dtensor.placing import (
    call_with_layout,
    check_layout,
    copy_to_mesh,
    default_mesh,
    device_name,
    fetch_layout,
    get_default_mesh,
    is_dtensor,
    pack,
    relayout,
    relayout_like,
    run_on,
    unpack,
)
from intaglio.distribute.dtensor.variables import DVariable, enable_save_as_bf16

__all__ = [
    "MATCH",
    "UNSHARDED",
    "DTensorCheckpoint",
    "DTensorDataset",
    "DVariable",
    "Layout",
    "Mesh",
    "barrier",
    "call_with_layout",
    "check_layout",
    "client_id",
    "copy_to_mesh",
    "create_distributed_mesh",
    "create_mesh",
    "create_tpu_mesh",
    "default_mesh",
    "device_name",
    "enable_save_as_bf16",
    "fetch_layout",
    "full_job_name",
    "get_default_mesh",
    "heartbeat_enabled",
    "initialize_accelerator_system",
    "initialize_multi_client",
    "initialize_tpu_system",
    "is_dtensor",
    "job_name",
    "jobs",
    "local_devices",
    "name_based_restore",
    "name_based_save",
    "num_clients",
    "num_global_devices",
    "num_local_devices",
    "pack",
    "preferred_device_type",
    "relayout",
    "relayout_like",
    "run_on",
    "sharded_save",
    "shutdown_accelerator_system",
    "shutdown_tpu_system",
    "unpack",
]
