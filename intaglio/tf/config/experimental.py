"""`tf.config.experimental`: determinism, memory figures, execution order.

Follows https://www.tensorflow.org/api_docs/python/tf/config/experimental.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from intaglio.base.devices import (
    PhysicalDevice,
    counted_memory,
    device_details,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    memory_growth,
    set_memory_growth,
    set_visible_devices,
)
from intaglio.base.devices import (
    get_logical_device_configuration as get_virtual_device_configuration,
)
from intaglio.base.devices import (
    set_logical_device_configuration as set_virtual_device_configuration,
)
from intaglio.base.options import OPTIONS, set_device_policy


def enable_op_determinism() -> None:
    """Ops give the same answers on every run: random ones without any seed raise RuntimeError.

    Others give the same anyway: nothing here is unordered.

    >>> tf.config.experimental.enable_op_determinism()
    """
    OPTIONS.deterministic = True


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device: nothing for the host.

    Raises ValueError for a device that does not exist.

    >>> tf.config.experimental.get_device_details(tf.config.list_physical_devices()[0])
    {}
    """
    return device_details(device)


def get_device_policy() -> str:
    """What happens to inputs on another device; there is only one.

    >>> tf.config.experimental.get_device_policy()
    'silent'
    """
    return OPTIONS.device_policy


def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """What `set_memory_growth` was called with, None before. Raises KeyError for the host, ValueError
    for a device that does not exist.

    >>> tf.config.experimental.get_memory_growth(tf.config.list_physical_devices()[0])
    Traceback (most recent call last):
    KeyError: PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')
    """
    return memory_growth(device)


def get_memory_info(device: str) -> dict[str, int]:
    """Bytes in use on a device. Raises ValueError for an undivided host, which does not count them.

    >>> tf.config.experimental.get_memory_info("CPU:0")
    Traceback (most recent call last):
    ValueError: Allocator stats not available for device 'CPU:0'
    """
    return counted_memory(device)


def get_memory_usage(device: str) -> int:
    """Bytes in use on a device. Raises ValueError for an undivided host, which does not count them.

    >>> tf.config.experimental.get_memory_usage("CPU:0")
    Traceback (most recent call last):
    ValueError: Allocator stats not available for device 'CPU:0'
    """
    return counted_memory(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Sets the peak to what is in use. Raises ValueError for an undivided host.

    >>> tf.config.experimental.reset_memory_stats("CPU:0")
    Traceback (most recent call last):
    ValueError: Cannot reset memory stats for device 'CPU:0'
    """
    counted_memory(device, "Cannot reset memory stats")


def get_synchronous_execution() -> bool:
    """Whether an op has run when its call returns.

    >>> tf.config.experimental.get_synchronous_execution()
    True
    """
    return OPTIONS.synchronous


def set_synchronous_execution(enable: bool) -> None:
    """Asks for ops to run in the order of the calls. They always do.

    >>> tf.config.experimental.set_synchronous_execution(True)
    """
    OPTIONS.synchronous = bool(enable)


def tensor_float_32_execution_enabled() -> bool:
    """Whether products may be computed in TensorFloat-32, which the host never does: see
    `enable_tensor_float_32_execution`.

    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return OPTIONS.tensor_float_32 is not False


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Allows convolutions to be less accurate than sums of float32, or forbids it.

    There is no TensorFloat-32 on the host, whose numbers have 10 binary digits. A program that
    enables it gets large convolutions of 3x3, and their gradients, with little
    more than half of the multiplications: errors are about 1e-6 of the largest result, where
    3e-7 is usual, and NaN spreads up to three pixels beyond the results that it belongs to.
    By default nothing changes.

    >>> tf.config.experimental.enable_tensor_float_32_execution(False)
    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    False
    >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    OPTIONS.tensor_float_32 = enabled


def enable_mlir_bridge() -> None:
    """Accepted; there is no bridge.

    >>> tf.config.experimental.enable_mlir_bridge()
    """


def disable_mlir_bridge() -> None:
    """Accepted; there is no bridge.

    >>> tf.config.experimental.disable_mlir_bridge()
    """


__all__ = [
    "VirtualDeviceConfiguration",
    "disable_mlir_bridge",
    "enable_mlir_bridge",
    "enable_op_determinism",
    "enable_tensor_float_32_execution",
    "get_device_details",
    "get_device_policy",
    "get_memory_growth",
    "get_memory_info",
    "get_memory_usage",
    "get_synchronous_execution",
    "get_virtual_device_configuration",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "reset_memory_stats",
    "set_device_policy",
    "set_memory_growth",
    "set_synchronous_execution",
    "set_virtual_device_configuration",
    "set_visible_devices",
    "tensor_float_32_execution_enabled",
]
