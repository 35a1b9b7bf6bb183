"""The devices of XLA by the names of logical devices, and meshes of them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from intaglio.base.device_spec import DeviceSpec
from intaglio.base.devices import list_logical_devices


@functools.cache
def host_devices() -> list[Any]:
    """The devices of XLA for the logical devices of the host; one if XLA was in use before."""
    count = len(list_logical_devices("CPU"))
    with contextlib.suppress(RuntimeError):  # XLA may be in use already
        jax.config.update("jax_num_cpu_devices", count)
    return jax.devices("cpu")


def device(name: str) -> Any:
    """The device of XLA for a logical device. Raises RuntimeError if XLA does not have it."""
    spec = DeviceSpec.from_string(name)
    kind, number = spec.device_type or "CPU", spec.device_index or 0
    found = host_devices() if kind == "CPU" else jax.devices(kind.lower())
    if number >= len(found):
        raise RuntimeError(
            f"XLA has {len(found)} devices of type {kind}, and {name} is another: configure logical devices "
            "before functions are compiled by XLA."
        )
    return found[number]


@functools.lru_cache(maxsize=256)
def mesh(dims: tuple[tuple[str, int], ...], names: tuple[str, ...]) -> Mesh:
    """A mesh of devices by name, with named dimensions. Raises RuntimeError as `device`."""
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


__all__ = ["Part", "device", "host_devices", "mesh", "parts", "stacked"]
