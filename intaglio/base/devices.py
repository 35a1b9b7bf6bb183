"""The devices of the process: the host's processor, whole or in logical parts.

The parts are what strategies place replicas on, and the devices that XLA has on the host. They are set
before they are used.

Follows https://www.tensorflow.org/api_docs/python/tf/config/list_physical_devices.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.base.locks import lasting_lock

_NUMBERED = re.compile(r"(?:^|[/:])[A-Za-z_]+:\d+$")


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
# The prefix of the devices of this process, and its first device, whose ops need no mark.
LOCAL = "/job:localhost/replica:0/task:0"
DEVICE = f"{LOCAL}/device:CPU:0"


class _Configuration:
    """How the host is divided, until its devices are in use: then it stays as it is."""

    def __init__(self) -> None:
        self._lock = lasting_lock()
        self.divided: list[LogicalDeviceConfiguration] | None = None
        self.visible: list[PhysicalDevice] = [CPU]
        self._in_use = False

    def used(self) -> list[LogicalDevice]:
        """The logical devices, which nobody changes from now on."""
        with self._lock:
            self._in_use = True
            count = len(self.divided or ()) or 1
        return [LogicalDevice(f"/device:CPU:{i}", "CPU") for i in range(count)]

    @property
    def is_in_use(self) -> bool:
        """Whether the logical devices can no longer be changed."""
        return self._in_use

    def divide(self, parts: list[LogicalDeviceConfiguration]) -> None:
        """Sets the logical devices. Raises RuntimeError if others are in use."""
        with self._lock:
            if self._in_use and (self.divided or [LogicalDeviceConfiguration()]) != parts:
                raise RuntimeError("Virtual devices cannot be modified after being initialized")
            self.divided = parts

    def show(self, devices: list[PhysicalDevice]) -> None:
        """Sets the visible devices. Raises RuntimeError if others are in use."""
        with self._lock:
            if self._in_use and devices != self.visible:
                raise RuntimeError("Visible devices cannot be modified after being initialized")
            self.visible = devices

    def reset(self) -> None:
        """The host is whole again, and not in use."""
        with self._lock:
            self.divided, self.visible, self._in_use = None, [CPU], False


_configuration = _Configuration()


def reset_devices() -> None:
    """Undivides the host, so that it can be divided anew; for tests of libraries.

    Strategies and tensors keep the names of devices that they have.
    """
    _configuration.reset()


def are_in_use() -> bool:
    """Whether the devices have been listed, named or computed with, so that they stay as they are."""
    return _configuration.is_in_use


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The machine's devices of a type (`"CPU"`, `"GPU"`), or all.

    >>> [device.device_type for device in tf.config.list_physical_devices()]
    ['CPU']
    """
    return [CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices of a type that ops can be placed on, or all. From now on they are in use.

    >>> tf.config.list_logical_devices("CPU")[0].name
    '/device:CPU:0'
    """
    found = _configuration.used()
    return found if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that the runtime may use, of a type or all.

    >>> tf.config.get_visible_devices("GPU")
    []
    """
    return [d for d in _configuration.visible if device_type in (None, d.device_type)]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Restricts the runtime to some devices. The host computes even if it is not among them.

    Raises ValueError for a device that does not exist or has another type, RuntimeError if the
    devices are in use.

    >>> tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"))
    """
    wanted: Sequence[Any] = devices if isinstance(devices, (list, tuple)) else [devices]
    if isinstance(devices, (PhysicalDevice, LogicalDevice)):
        wanted = [devices]
    for device in wanted:
        if device not in (CPU, CPU.name):
            raise ValueError(f"Unrecognized device: {device!r}")
        if device_type not in (None, "CPU"):
            raise ValueError(f"Unrecognized device: {device!r}")
    if device_type in (None, "CPU"):
        _configuration.show([CPU for _ in wanted])


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """How the device is divided; None if it is not. Raises ValueError if there is none.

    >>> tf.config.get_logical_device_configuration(tf.config.list_physical_devices()[0])
    """
    _known(device)
    found = _configuration.divided
    return None if found is None else [*found]


def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Divides a device into several, before it is used.

    Raises ValueError for a device that does not exist and for limits, which the host has none of;
    RuntimeError once the devices are in use: listed, named by `tf.device`, or part of a strategy.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()])
    """
    _known(device)
    parts = list(logical_devices)
    for part in parts:
        if part.memory_limit is not None:
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
        for field in ("experimental_priority", "experimental_device_ordinal"):
            if getattr(part, field) is not None:
                raise ValueError(
                    f"Setting {field} on CPU virtual  devices is currently not supported"
                )
    _configuration.divide(parts)


def counted_memory(device: str, missing: str = "Allocator stats not available") -> dict[str, int]:
    """Bytes in use on a device, and their peak. Parts of a host count to 0, as TensorFlow's do.

    Raises ValueError for what is no device's name, for a device that is not there, and for an
    undivided host, which does not count: its message begins with `missing`.
    """
    if not _NUMBERED.search(device):
        raise ValueError(
            f"Failed parsing device name: '{device}'. Note a valid device string should at least "
            'contain a device type and a device index, like "GPU:0".'
        )
    if absent(device) is not None:
        raise ValueError(f"No matching devices found for '{device}'")
    if _configuration.divided is None:
        raise ValueError(f"{missing} for device '{device}'")
    return {"current": 0, "peak": 0}


def device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device: nothing for the host. Raises ValueError if there is none."""
    if device != CPU:
        raise ValueError(
            "The PhysicalDevice must be one obtained from calling "
            f"`tf.config.list_physical_devices`, but got: {device!r}"
        )
    return {}


def memory_growth(device: PhysicalDevice) -> bool:
    """Whether the device's memory is taken as needed. Raises KeyError for the host."""
    _known(device)
    raise KeyError(device)


def refuse_memory_growth(device: PhysicalDevice) -> None:
    """Raises ValueError: the host takes memory as needed, and another device is none."""
    _known(device)
    if _configuration.divided:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


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
    """The full name of a device that this process does not have; None for one that it has."""
    return None if placed(name) is not None else f"{LOCAL}/device:{_device(name)}"


def placed(name: str) -> str | None:
    """The full name of the local device that a name, whole or in part, stands for; None if it is absent.

    From now on the devices are in use.
    """
    kind, _, index = _device(name).partition(":")
    found = [d.name for d in list_logical_devices(kind)]
    at = f"/device:{kind}:{'0' if index == '*' else index}"
    return LOCAL + at if at in found else None


def available() -> str:
    """The devices of this process, as errors list them."""
    return f"[{', '.join([LOCAL + d.name for d in list_logical_devices()])}]"


def full_name(name: str) -> str:
    """A device of this process as TensorFlow writes it: with job, replica and task.

    >>> from intaglio.base.devices import full_name
    >>> full_name("cpu:1")
    '/job:localhost/replica:0/task:0/device:CPU:1'
    """
    return elsewhere(name) or f"{LOCAL}/device:{_device(name)}"


def _device(name: str) -> str:
    return _device_parts(name).get("device", "CPU:0")


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
