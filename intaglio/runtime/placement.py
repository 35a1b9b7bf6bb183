"""Eager ops that `tf.device` places on another device than the host's first.

All logical CPU devices compute with the same kernels in the same memory, so that placing an op on one only
sets `x.device` of its results. The level of an accelerator is in `intaglio.accelerators`. Follows
https://www.tensorflow.org/api_docs/python/tf/device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.devices import (
    DEVICE,
    available,
    default_device,
    full_name,
    is_host,
    is_of_accelerator,
)
from intaglio.base.log import logger
from intaglio.base.options import OPTIONS
from intaglio.opdef.door import STATE, Level, Watcher
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerLevel, EagerTensor, from_array
from intaglio.runtime.hooks import HOOKS


class PlacedLevel(EagerLevel):
    """The eager level of a logical CPU device. Tapes of the level below watch its ops too.

    `is_chosen` says whether the program names the device, so that what is elsewhere comes here.
    """

    direct = False

    def __init__(self, below: Level | None, device: str, is_chosen: bool = True) -> None:
        self.is_chosen = is_chosen
        self._below = below
        self._own: list[Watcher] = []
        self.device = device

    @property
    def watchers(self) -> list[Watcher]:  # pyright: ignore[reportIncompatibleVariableOverride]  # a field elsewhere
        """The watchers of the level below: a tape outside of the block watches ops inside it."""
        return self._own if self._below is None else self._below.watchers

    @watchers.setter
    def watchers(  # pyright: ignore[reportIncompatibleVariableOverride]  # a field elsewhere
        self, watchers: list[Watcher]
    ) -> None:
        if self._below is None:
            self._own = watchers
        else:
            self._below.watchers = watchers

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        return [self._here(t) for t in super().execute(op, inputs, attrs, name)]

    def quick(self, op: Op, args: tuple[Any, ...]) -> Any:
        found = super().quick(op, args)
        return None if found is None else self._here(found)

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        return self._here(from_array(array))

    def _here(self, tensor: Any) -> Any:
        if type(tensor) is EagerTensor:
            tensor._device = self.device  # type: ignore[misc]  # in the tensor's own dict
        return tensor


def eager_level(
    device: str | None, below: Level | None = None, is_chosen: bool = True
) -> EagerLevel:
    """The eager level of a device; None is the host's first device."""
    if device is None:
        return EagerLevel()
    if is_host(device):
        return PlacedLevel(below, device, is_chosen)
    return HOOKS.accelerator_level(below, device, is_chosen)


def first_level() -> EagerLevel:
    """The bottom of a thread's stack of levels: that of the default device, over that of the host.

    Where the environment names a device that is not there, the host is the default, which is logged.
    """
    name, device = OPTIONS.default_device, default_device()
    if device is not None:
        return eager_level(device, EagerLevel(), False)
    if is_of_accelerator(name):
        OPTIONS.default_device = ""
        STATE.shift(-1)
        logger().warning(
            "There is no device %s: ops run on %s. The devices are %s.",
            full_name(name),
            DEVICE,
            available(),
        )
    return EagerLevel()


__all__ = ["PlacedLevel", "eager_level", "first_level"]
