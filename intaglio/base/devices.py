"""The devices of the process: the host's processor, and nothing else.

Follows https://www.tensorflow.org/api_docs/python/tf/config/list_physical_devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that ops can be placed on."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How much of a physical device a logical one may use."""

    memory_limit: float | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
LOGICAL_CPU = LogicalDevice("/device:CPU:0", "CPU")


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The machine's devices of a type (`"CPU"`, `"GPU"`), or all.

    >>> [device.device_type for device in tf.config.list_physical_devices()]
    ['CPU']
    """
    return [CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices of a type that ops can be placed on, or all.

    >>> [device.name for device in tf.config.list_logical_devices("CPU")]
    ['/device:CPU:0']
    """
    return [LOGICAL_CPU] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that the runtime may use, of a type or all.

    >>> tf.config.get_visible_devices("GPU")
    []
    """
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Restricts the runtime to some devices.

    Raises ValueError for a device that does not exist, RuntimeError if it would take away
    the host.

    >>> tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"))
    """
    wanted: Sequence[Any] = devices if isinstance(devices, (list, tuple)) else [devices]
    if isinstance(devices, (PhysicalDevice, LogicalDevice)):
        wanted = [devices]
    for device in wanted:
        if device not in (CPU, CPU.name):
            raise ValueError(f"Unrecognized device: {device!r}")
    if device_type in (None, "CPU") and not wanted:
        raise RuntimeError("Visible devices cannot be modified after being initialized")


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """How the device is divided: None, it is not. Raises ValueError if there is none.

    >>> tf.config.get_logical_device_configuration(tf.config.list_physical_devices()[0])
    """
    _known(device)
    return None


def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Divides a device into several.

    Raises RuntimeError: the host is in use, and is one device.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()])
    """
    _known(device)
    if len(logical_devices) != 1:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")


def _known(device: Any) -> None:
    if device != CPU:
        raise ValueError(f"Unrecognized device: {device!r}")


def merged_devices(outer: str, inner: str) -> str:
    """A device scope inside another one: fields that the inner name omits are the outer's.

    Types are written `/device:CPU:0`, as operations show them.
    """
    parts = _device_parts(outer) | _device_parts(inner)
    order = ("job", "replica", "task", "device")
    return "".join([f"/{k}:{parts[k]}" for k in order if k in parts])


def elsewhere(name: str) -> str | None:
    """The full name of a device that is not of this process; None for one that is."""
    parts = _device_parts(name)
    address = [parts.get("job", "localhost")]
    address += [parts.get(k, "0") for k in ("replica", "task")]
    if all(a in (b, "*") for a, b in zip(address, ("localhost", "0", "0"), strict=True)):
        return None
    device = parts.get("device", "CPU:0")
    return f"/job:{address[0]}/replica:{address[1]}/task:{address[2]}/device:{device}"


def malformed(name: str) -> bool:
    """True for the name of a device whose index is below 0."""
    device = _device_parts(name).get("device", "CPU:0")
    return device.partition(":")[2].startswith("-")


def absent(name: str) -> str | None:
    """The full name of a device that this process does not have; None for its only one."""
    device = _device_parts(name).get("device", "CPU:0")
    if device in ("CPU:0", "CPU:*"):
        return None
    return f"/job:localhost/replica:0/task:0/device:{device}"


def _device_parts(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in name.split("/"):
        kind, _, rest = part.partition(":")
        if not kind:
            continue
        if kind.lower() in ("job", "replica", "task"):
            found[kind.lower()] = rest
            continue
        label, _, number = (rest if kind.lower() == "device" else part).partition(":")
        found["device"] = f"{label.upper()}:{number or '0'}"
    return found
