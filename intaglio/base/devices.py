"""The devices of the process: the host, undivided or as several logical devices, and accelerators.

Strategies place replicas on the logical devices of the host, which XLA uses too. They are configured before
their first use. Accelerators, such as GPUs, are those that XLA reports.

Follows https://www.tensorflow.org/api_docs/python/tf/config/list_physical_devices.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.base.hooks import HOOKS
from intaglio.base.locks import lasting_lock
from intaglio.base.options import OPTIONS

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
    """The limits of a logical device on the use of its physical one."""

    memory_limit: float | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
# The prefix of the devices of this process, and its first device, on which ops run by default.
LOCAL = "/job:localhost/replica:0/task:0"
DEVICE = f"{LOCAL}/device:CPU:0"


class _Configuration:
    """The division of the host into logical devices, which is fixed once they are in use."""

    def __init__(self) -> None:
        self._lock = lasting_lock()
        self.divided: list[LogicalDeviceConfiguration] | None = None
        # The visible devices by type, where they have been set.
        self.shown: dict[str, list[PhysicalDevice]] = {}
        # The values of `set_memory_growth`, by device.
        self.growth: dict[PhysicalDevice, bool] = {}
        self._in_use = False

    def visible(self, kind: str) -> list[PhysicalDevice]:
        """The visible devices of a type."""
        found = self.shown.get(kind)
        return list_physical_devices(kind) if found is None else found

    def used(self, kind: str) -> list[LogicalDevice]:
        """The logical devices of a type, which cannot be changed from now on."""
        with self._lock:
            self._in_use = True
            count = len(self.divided or ()) or 1
        if kind != "CPU":
            count = len(self.visible(kind))
        return [LogicalDevice(f"/device:{kind}:{i}", kind) for i in range(count)]

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

    def show(self, kind: str, devices: list[PhysicalDevice]) -> None:
        """Sets the visible devices of a type. Raises RuntimeError if others are in use."""
        with self._lock:
            if self._in_use and devices != self.visible(kind):
                raise RuntimeError("Visible devices cannot be modified after being initialized")
            self.shown[kind] = devices

    def reset(self) -> None:
        """Resets the configuration: one logical device, all devices visible, none in use."""
        with self._lock:
            self.divided, self._in_use = None, False
            self.shown, self.growth = {}, {}


_configuration = _Configuration()


def reset_devices() -> None:
    """Resets the division of the host, so that it can be divided again; for tests of libraries.

    Strategies and tensors keep the names of devices that they have.
    """
    _configuration.reset()


def are_in_use() -> bool:
    """Whether the devices have been listed, named or used, so that their configuration is fixed."""
    return _configuration.is_in_use


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The machine's devices of a type (`"CPU"`, `"GPU"`), or all.

    >>> [device.device_type for device in tf.config.list_physical_devices()]
    ['CPU']
    """
    found = [CPU] if device_type in (None, "CPU") else []
    if device_type != "CPU":
        counts: dict[str, int] = {}
        for kind in HOOKS.accelerators():
            number = counts[kind] = counts.get(kind, -1) + 1
            if device_type in (None, kind):
                found.append(PhysicalDevice(f"/physical_device:{kind}:{number}", kind))
    return found


def list_accelerators() -> list[PhysicalDevice]:
    """The machine's devices that are not its host."""
    return [d for d in list_physical_devices() if d != CPU]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices of a type that ops can be placed on, or all. From now on they are in use.

    `device_type` is "CPU" or "GPU", or None for all.

    >>> tf.config.list_logical_devices("CPU")[0].name
    '/device:CPU:0'
    """
    return [d for kind in _kinds(device_type) for d in _configuration.used(kind)]


def _kinds(device_type: str | None) -> list[str]:
    """The existing types of devices, or only the given one."""
    if device_type is not None:
        return [device_type]
    return [*dict.fromkeys([d.device_type for d in list_physical_devices()])]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that the runtime may use, of a type or all.

    `device_type` is "CPU" or "GPU", or None for all.

    >>> tf.config.get_visible_devices("GPU")
    []
    """
    return [d for kind in _kinds(device_type) for d in _configuration.visible(kind)]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Restricts the runtime to some devices. The host computes even if it is not among them.

    Raises ValueError for a device that does not exist or has another type, RuntimeError if the
    devices are in use.

    `device_type` is "CPU" or "GPU", or None for all.

    >>> tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"))
    """
    wanted: Sequence[Any] = devices if isinstance(devices, (list, tuple)) else [devices]
    if isinstance(devices, (PhysicalDevice, LogicalDevice)):
        wanted = [devices]
    chosen: dict[str, list[PhysicalDevice]] = {kind: [] for kind in _kinds(device_type)}
    by_name: dict[str, PhysicalDevice] = {d.name: d for d in list_physical_devices()}
    for device in wanted:
        name = device.name if isinstance(device, PhysicalDevice) else device
        found = by_name.get(name) if isinstance(name, str) else None
        if found is None or found.device_type not in chosen:
            raise ValueError(f"Unrecognized device: {device!r}")
        chosen[found.device_type].append(found)
    for kind, devices in chosen.items():
        _configuration.show(kind, devices)


def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """The logical devices of a device; None if it is not divided. Raises ValueError for an absent device.

    >>> tf.config.get_logical_device_configuration(tf.config.list_physical_devices()[0])
    """
    _known(device)
    found = _configuration.divided if device == CPU else None
    return None if found is None else [*found]


def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Divides a device into several, before it is used.

    Raises ValueError for a device that does not exist and for limits, which the host has none of;
    RuntimeError once the devices are in use: listed, named by `tf.device`, or part of a strategy;
    NotImplementedError for parts of an accelerator, which XLA does not divide.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()])
    """
    _known(device)
    parts = list(logical_devices)
    if device != CPU:
        if parts == [LogicalDeviceConfiguration()]:
            return
        raise NotImplementedError(
            f"{device.name} cannot be divided, nor its memory limited: XLA uses an accelerator as one "
            "device. Set XLA_PYTHON_CLIENT_MEM_FRACTION before the program starts to limit its memory."
        )
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
    full = full_name(device)
    if not is_host(full):
        return HOOKS.accelerator_memory(full)
    if _configuration.divided is None:
        raise ValueError(f"{missing} for device '{device}'")
    return {"current": 0, "peak": 0}


def device_details(device: PhysicalDevice) -> dict[str, Any]:
    """Details of a device; empty for the host. Raises ValueError for an absent device."""
    if device != CPU and device in list_physical_devices():
        return HOOKS.accelerator_details(full_name(device.name.removeprefix("/physical_device:")))
    if device != CPU:
        raise ValueError(
            "The PhysicalDevice must be one obtained from calling "
            f"`tf.config.list_physical_devices`, but got: {device!r}"
        )
    return {}


def memory_growth(device: PhysicalDevice) -> bool | None:
    """The value that `set_memory_growth` has set, None before. Raises KeyError for the host."""
    _known(device)
    if device == CPU:
        raise KeyError(device)
    return _configuration.growth.get(device)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Lets an accelerator's memory be allocated as needed, which is always so: XLA starts with that option.

    Raises ValueError for the host, which takes memory as needed, and for what is no device,
    RuntimeError for a change when the devices are in use.

    >>> for gpu in tf.config.list_physical_devices("GPU"):
    ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    _known(device)
    if device != CPU:
        if _configuration.is_in_use and _configuration.growth.get(device) is not enable:
            raise RuntimeError("Physical devices cannot be modified after being initialized")
        _configuration.growth[device] = enable
        return
    if _configuration.divided:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def _known(device: Any) -> None:
    if device != CPU and device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def merged_devices(outer: str, inner: str) -> str:
    """The device of nested scopes: fields that the inner name omits are those of the outer one.

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


def default_device() -> str | None:
    """The full name of the device for ops without an explicit one; None for the host."""
    name = OPTIONS.default_device
    return placed(name) if is_of_accelerator(name) else None


def is_default_chosen() -> bool:
    """Whether the program has set a default device."""
    return bool(OPTIONS.default_device or _configuration.shown)


def is_of_accelerator(name: str) -> bool:
    """Whether a name, complete or partial, is that of another device than the host."""
    return not _device(name).startswith("CPU:")


def is_host(full: str) -> bool:
    """Whether a device, by its full name, is the host or a part of it."""
    return "/device:CPU:" in full


def available() -> str:
    """The devices of this process, as errors list them."""
    return f"[{', '.join([LOCAL + d.name for d in list_logical_devices()])}]"


def full_name(name: str) -> str:
    """The full name of a device of this process, with job, replica and task.

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
