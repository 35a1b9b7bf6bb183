"""`MirroredStrategy` and `OneDeviceStrategy`: replicas on the devices of one machine.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/MirroredStrategy and
https://www.tensorflow.org/api_docs/python/tf/distribute/OneDeviceStrategy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from intaglio.base.device_spec import DeviceSpec
from intaglio.base.devices import (
    DEVICE,
    LOCAL,
    LogicalDevice,
    elsewhere,
    full_name,
    list_logical_devices,
)
from intaglio.distribute.contexts import ReduceOp
from intaglio.distribute.cross_device_ops import CrossDeviceOps
from intaglio.distribute.replicated import ReplicatedExtended, ReplicatedStrategy, ValueContext
from intaglio.distribute.variables import CentralVariable, DistributedVariable
from intaglio.state.creation import VariableSynchronization


def local_devices(devices: Any, owner: str) -> tuple[str, ...]:
    """The full names of devices of this process; all that there are for None or an empty list.

    Raises ValueError for what is no device's name, and for another process' device.
    """
    if not devices:
        found = [d for d in list_logical_devices() if d.device_type != "CPU"]
        return tuple([LOCAL + d.name for d in found or list_logical_devices("CPU")])
    names: list[str] = []
    for name in devices:
        text = _name_of(name)
        DeviceSpec.from_string(text)
        if elsewhere(text) is not None:
            raise ValueError(
                f"{owner} has the devices of one process, and {text!r} belongs to another. Local "
                "devices have only 'localhost' in the job field: /job:localhost/replica:0/task:0/device:CPU:0."
            )
        names.append(full_name(text))
    return tuple(names)


def _name_of(device: Any) -> str:
    """The name of a device that is given by name, as a DeviceSpec or as a LogicalDevice."""
    if isinstance(device, LogicalDevice):
        return device.name
    return device.to_string() if isinstance(device, DeviceSpec) else str(device)


class MirroredStrategy(ReplicatedStrategy):
    """Replicas on the devices of one machine, each with a copy of every variable.

    `devices` are names; by default all accelerators, or all logical CPUs if there is none.
    `cross_device_ops` brings values together. Raises ValueError for a malformed name or a device of
    another process, AssertionError for one that is named twice.

    >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    >>> strategy.num_replicas_in_sync
    1
    """

    # Libraries' tests count it up for each strategy: collectives here need no keys.
    _collective_key_base = 0

    def __init__(self, devices: Any = None, cross_device_ops: CrossDeviceOps | None = None) -> None:
        names = local_devices(devices, "tf.distribute.MirroredStrategy")
        if len(set(names)) != len(names):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
        super().__init__(ReplicatedExtended(self, names, cross_device_ops))


class CentralStorageExtended(ReplicatedExtended):
    """The part for authors of optimizers and layers: variables have one copy."""

    def __init__(self, container_strategy: Any, devices: Sequence[str], parameter: str) -> None:
        super().__init__(container_strategy, devices)
        self._parameter_device = parameter

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The device that variables live on."""
        return (self._parameter_device,)

    @property
    def _variable_devices(self) -> tuple[str, ...]:
        return self.parameter_devices

    def _kind_of(self, synchronization: VariableSynchronization) -> type[DistributedVariable]:
        return CentralVariable


class CentralStorageStrategy(ReplicatedStrategy):
    """Replicas on the devices of one machine, with one copy of every variable.

    `compute_devices` are by default all accelerators, or the first CPU if there is none; variables are on
    `parameter_device`, by default the one compute device, or the host. Raises ValueError for malformed names.
    """

    def __init__(
        self, compute_devices: Any = None, parameter_device: str | LogicalDevice | None = None
    ) -> None:
        owner = "tf.distribute.experimental.CentralStorageStrategy"
        names = local_devices(compute_devices, owner)
        if not compute_devices and names[0].endswith("CPU:0"):
            names = names[:1]
        central = names[0] if len(names) == 1 else DEVICE
        if parameter_device is not None:
            (central,) = local_devices([parameter_device], owner)
        super().__init__(CentralStorageExtended(self, names, central))


class OneDeviceExtended(ReplicatedExtended):
    """The part for authors of optimizers and layers: the replica is the code that calls it."""

    def _tapes_around(self) -> Any:
        return nullcontext()


class OneDeviceStrategy(ReplicatedStrategy):
    """One replica on one device. Raises ValueError for what is no device's name."""

    def __init__(self, device: str | LogicalDevice) -> None:
        names = local_devices([device], "tf.distribute.OneDeviceStrategy")
        super().__init__(OneDeviceExtended(self, names))

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """`value`, or its sum or mean along `axis`: there is one replica, in which it is not called."""
        if axis is None:
            ReduceOp.of(reduce_op)
            with self.scope():
                return value
        return super().reduce(reduce_op, value, axis)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """What `value_fn(tf.distribute.experimental.ValueContext)` makes for the replica."""
        return value_fn(ValueContext())


__all__ = ["CentralStorageStrategy", "MirroredStrategy", "OneDeviceStrategy", "local_devices"]
