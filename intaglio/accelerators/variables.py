"""Variables in the memory of an accelerator: reads and writes are programs there."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio import xla
from intaglio.accelerators.tensors import AcceleratorTensor
from intaglio.opdef import door, raw
from intaglio.opdef.keys import fresh
from intaglio.runtime.eager import register_reader
from intaglio.state.variable import ResourceVariable, UnreadVariable


class AcceleratorVariable(ResourceVariable):
    """A variable on a GPU or another accelerator.

    A read gives the variable's own array, which stays as it is: a program that overwrites the
    variable's memory copies the array first, if anybody else refers to it.
    """

    def _put(self, value: Any, device: str) -> None:
        self._device = device
        found = value._stored if isinstance(value, AcceleratorTensor) else value._array
        if found.dtype == object:
            super()._put(value, device)
            return
        self._resource.hold(xla.placed.put(found, device))
        self._handle = AcceleratorTensor(None, device, self._resource)

    def value(self) -> Any:
        return self._read(None)

    def _read_now(self, here: Any, resource: Any) -> Any:
        if not isinstance(self._handle, AcceleratorTensor):
            return super()._read_now(here, resource)
        array = xla.placed.put(resource.on_device(), self._device)
        resource.hold(array)
        tensor = AcceleratorTensor(array, self._device)
        if here.watchers:
            tensor._key = fresh()
            for watcher in here.watchers:
                attrs = {"dtype": self._dtype}
                watcher.record(raw.ReadVariableOp, attrs, (self._handle,), (tensor,))
        return tensor

    def _fits(self, tensor: Any) -> bool:
        return False  # values go through ops, which run where the variable is

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Makes `value` the variable's value. Raises as `tf.Variable.assign`."""
        return self._assign_by_op(value, name, read_value)

    def numpy(self) -> Any:
        return self.value().numpy() if door.level().eager else super().numpy()

    def _saved_value(self) -> np.ndarray:
        return np.asarray(self.value()._array)


class UnreadAcceleratorVariable(UnreadVariable, AcceleratorVariable):
    """The result of an assignment."""


AcceleratorVariable._unread = UnreadAcceleratorVariable


def _eager_value(variable: AcceleratorVariable) -> Any:
    """The present value if ops run eagerly."""
    return variable.value() if door.level().eager and not door.INSPECTORS else None


register_reader((AcceleratorVariable, UnreadAcceleratorVariable), _eager_value)

__all__ = ["AcceleratorVariable"]
