"""The devices of XLA by the names of logical devices, and meshes of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.backend import clear_backends
from jax.sharding import Mesh

from intaglio.base.device_spec import DeviceSpec
from intaglio.base.devices import (
    CPU,
    LOCAL,
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
)
from intaglio.xla.stand_ins import stand_ins


class NoDevice(RuntimeError):
    """XLA does not have a device; the message says which, and what it has."""


_MEMORY = {"current": "bytes_in_use", "peak": "peak_bytes_in_use"}


@functools.cache
def host_devices() -> list[Any]:
    """The devices of XLA for the logical devices of the host; one if XLA was in use before.

    XLA counts as in use once it has arrays: what has only listed its devices starts it again.
    """
    count = len(list_logical_devices("CPU"))
    if (
        not _divide_host(count)
        and len(jax.local_devices(backend="cpu")) != count
        and not jax.live_arrays()
    ):
        clear_backends()
        _found.cache_clear()
        _divide_host(count)
    return jax.local_devices(backend="cpu")


def on_host(array: np.ndarray) -> Any:
    """An array of the host as one of XLA's, which programs of other devices may take, too.

    It shares the memory where that is aligned as XLA needs it.
    """
    before = jax.enable_x64.swap_local(True)
    try:
        with jax.default_device(host_devices()[0]):
            return jax.device_put(array)
    finally:
        jax.enable_x64.set_local(before)


def _divide_host(count: int) -> bool:
    """Has XLA start with so many devices on the host; False if it has started."""
    try:
        jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError:
        return False
    return True


def accelerators() -> list[tuple[str, Any]]:
    """The type and the device of XLA of each accelerator of this process, in jax' order."""
    kinds = stand_ins()
    if not kinds:
        return _found()
    host = host_devices()
    return [(kind, host[i % len(host)]) for i, kind in enumerate(kinds)]


@functools.cache
def _found() -> list[tuple[str, Any]]:
    """The accelerators that jax has.

    Their memory is taken as needed, unless the environment says otherwise: jax would take three quarters.
    """
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    _divide_host(len(get_logical_device_configuration(CPU) or ()) or 1)  # it starts here
    try:
        found = jax.local_devices()
    except RuntimeError:  # a plugin without its device
        return []
    return [(d.platform.upper(), d) for d in found if d.platform != "cpu"]


def accelerator_kinds() -> list[str]:
    """The types of the accelerators."""
    return [kind for kind, _ in accelerators()]


def _visible(kind: str) -> list[Any]:
    """The visible accelerators of a type: logical devices are counted among these."""
    found = [d for k, d in accelerators() if k == kind]
    return [found[int(d.name.rpartition(":")[2])] for d in get_visible_devices(kind)]


def name_of(found: Any) -> str:
    """The full name of a device of XLA."""
    for kind in dict.fromkeys(accelerator_kinds()):
        visible = _visible(kind)
        if found in visible:
            return f"{LOCAL}/device:{kind}:{visible.index(found)}"
    return f"{LOCAL}/device:CPU:{host_devices().index(found)}"


def accelerator_memory(name: str) -> dict[str, int]:
    """The bytes in use on an accelerator, and their peak. Raises ValueError where it does not count."""
    stats = device(name).memory_stats()
    if stats is None:
        raise ValueError(f"Allocator stats not available for device '{name}'")
    return {name: int(stats.get(key, 0)) for name, key in _MEMORY.items()}


def accelerator_details(name: str) -> dict[str, Any]:
    """An accelerator's name, and its compute capability if it has one."""
    spec = DeviceSpec.from_string(name)  # a physical device, which may be hidden
    found = [d for kind, d in accelerators() if kind == spec.device_type][spec.device_index or 0]
    capability = getattr(found, "compute_capability", None)
    details: dict[str, Any] = {"device_name": found.device_kind}
    if isinstance(capability, str):
        details["compute_capability"] = tuple(map(int, capability.split(".")))
    return details


def device(name: str) -> Any:
    """The device of XLA for a logical device. Raises NoDevice if XLA does not have it."""
    spec = DeviceSpec.from_string(name)
    kind, number = spec.device_type or "CPU", spec.device_index or 0
    found = host_devices() if kind == "CPU" else _visible(kind)
    if number >= len(found):
        raise NoDevice(
            f"XLA has {len(found)} devices of type {kind}, and {name} is another: configure logical devices "
            "before functions are compiled by XLA."
        )
    return found[number]


@functools.lru_cache(maxsize=256)
def mesh(dims: tuple[tuple[str, int], ...], names: tuple[str, ...]) -> Mesh:
    """A mesh of devices by name, with named dimensions. Raises NoDevice as `device`."""
    chosen = [device(name) for name in names]
    shape = [size for _, size in dims]
    return Mesh(np.array(chosen, object).reshape(shape), [name for name, _ in dims])


class Part:
    """What one device has of an array that a mesh divides along its first dimension: a row of `whole`."""

    def __init__(self, whole: Any, row: int) -> None:
        self.whole = whole
        self.row = row

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the row."""
        return self.whole.shape[1:]

    @property
    def data(self) -> Any:
        """The array of the device, with a first dimension of size 1."""
        where = self.whole.sharding.mesh.devices.flat[self.row]
        return next(s.data for s in self.whole.addressable_shards if s.device == where)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.data, dtype)[0, ...]


def stacked(values: Sequence[Any], sharding: Any) -> Any:
    """Arrays of the host, or parts on devices, as one array with a row on each device of a mesh."""
    whole: Any = getattr(values[0], "whole", None)
    rows = [v.row for v in values if isinstance(v, Part) and v.whole is whole]
    if rows == [*range(len(values))] and whole.sharding.is_equivalent_to(sharding, whole.ndim):
        return whole
    arrays = [v.data if isinstance(v, Part) else np.asarray(v)[None] for v in values]
    placed = jax.device_put(arrays, [*sharding.mesh.devices.flat])
    dims = (len(placed), *placed[0].shape[1:])
    return jax.make_array_from_single_device_arrays(dims, sharding, placed)


def parts(array: Any) -> list[Part]:
    """The rows of an array that `stacked` made, or a program with such a sharding."""
    return [Part(array, row) for row in range(array.shape[0])]


__all__ = [
    "NoDevice",
    "Part",
    "accelerators",
    "device",
    "host_devices",
    "mesh",
    "name_of",
    "on_host",
    "parts",
    "stacked",
]
