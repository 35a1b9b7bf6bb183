"""`tensorflow.python.eager.context` and other parts of TensorFlow's runtime that libraries use.

There is nothing to wait for and no kernel to forget: ops are done when they return.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.base import devices
from intaglio.base.device_spec import DeviceSpec
from intaglio.base.options import OPTIONS
from intaglio.graphdef import config_messages
from intaglio.trace import scopes

_MEMORY_LIMIT_BYTES = 1 << 28  # what TensorFlow says of a CPU


class _Context:
    """The runtime as Keras and Sonnet see it."""

    @property
    def device_spec(self) -> DeviceSpec:
        """The device policy. There is none: ops run on the one device there is."""
        return DeviceSpec()

    def clear_kernel_cache(self) -> None:
        """Forgets compiled kernels. There are none."""

    def executing_eagerly(self) -> bool:
        """True outside of graphs: ops run at once."""
        return scopes.executing_eagerly()


_CONTEXT = _Context()


def context() -> _Context:
    """The runtime of the process."""
    return _CONTEXT


class LocalDevice(NamedTuple):
    """A device of this process, as `device_lib.list_local_devices` lists it."""

    name: str
    device_type: str
    memory_limit: int
    incarnation: int
    physical_device_desc: str = ""


def list_local_devices(session_config: Any = None) -> list[LocalDevice]:
    """The devices of this process."""
    found = devices.list_logical_devices()
    return [
        LocalDevice(d.name, d.device_type, _MEMORY_LIMIT_BYTES, number + 1)
        for number, d in enumerate(found)
    ]


def num_gpus() -> int:
    """How many GPUs there are."""
    return len(devices.list_logical_devices("GPU"))


def async_wait() -> None:
    """Waits for pending ops. There are none: ops return when they are done."""


def divide_host(num_virtual_cpus: int) -> None:
    """Makes the host so many logical devices at least, before it is used.

    Raises ValueError for less than one, RuntimeError once devices are in use.
    """
    if num_virtual_cpus < 1:
        raise ValueError(f"`num_virtual_cpus` must be at least 1 not {num_virtual_cpus}")
    parts = devices.get_logical_device_configuration(devices.CPU) or []
    if len(parts) < num_virtual_cpus:
        more = [devices.LogicalDeviceConfiguration()] * (num_virtual_cpus - len(parts))
        devices.set_logical_device_configuration(devices.CPU, [*parts, *more])


def is_op_determinism_enabled() -> bool:
    """Whether `tf.config.experimental.enable_op_determinism` was called; ops are so anyway."""
    return OPTIONS.deterministic


def disable_op_determinism() -> None:
    """Takes back `enable_op_determinism`. Ops stay deterministic."""
    OPTIONS.deterministic = False


def get_config() -> Any:
    """A configuration of sessions, a ConfigProto, in which nothing is set."""
    return config_messages.ConfigProto()


def get_device_name() -> str:
    """The device that ops are placed on by a `with` block. There is one device."""
    return ""


def ensure_initialized() -> None:
    """Prepares the runtime, which needs no preparation."""
