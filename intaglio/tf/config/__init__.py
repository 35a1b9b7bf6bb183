"""`tf.config`: devices, threads, eager functions. There is one device, the host.

Follows https://www.tensorflow.org/api_docs/python/tf/config.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.base.devices import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_visible_devices,
)
from intaglio.base.options import OPTIONS
from intaglio.tf.config import experimental, optimizer, threading

if TYPE_CHECKING:
    from intaglio.distribute.unsupported import (
        experimental_connect_to_cluster as experimental_connect_to_cluster,
    )
else:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "experimental_connect_to_cluster": "intaglio.distribute.unsupported:experimental_connect_to_cluster"
        },
    )


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every call of a `tf.function` run its Python body (or no longer).

    >>> tf.config.run_functions_eagerly(True)
    >>> tf.config.functions_run_eagerly()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    OPTIONS.run_functions_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """True while `run_functions_eagerly(True)` holds.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return OPTIONS.run_functions_eagerly


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly


def get_soft_device_placement() -> bool:
    """Whether an op placed on a missing device runs on an existing one.

    >>> isinstance(tf.config.get_soft_device_placement(), bool)
    True
    """
    return OPTIONS.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Sets the value of `get_soft_device_placement`.

    >>> before = tf.config.get_soft_device_placement()
    >>> tf.config.set_soft_device_placement(True)
    >>> tf.config.get_soft_device_placement()
    True
    >>> tf.config.set_soft_device_placement(before)
    """
    OPTIONS.soft_placement = enabled


__all__ = [
    "experimental_connect_to_cluster",
    "LogicalDevice",
    "LogicalDeviceConfiguration",
    "PhysicalDevice",
    "experimental",
    "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly",
    "functions_run_eagerly",
    "get_logical_device_configuration",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "optimizer",
    "run_functions_eagerly",
    "set_logical_device_configuration",
    "set_soft_device_placement",
    "set_visible_devices",
    "threading",
]
