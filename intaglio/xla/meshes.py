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
    """What one device has of an array that a mesh divides along its first dimension: the row `data[0]`."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the row."""
        return self.data.shape[1:]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.data, dtype)[0, ...]


def stacked(values: Sequence[Any], sharding: Any) -> Any:
    """Arrays of the host, or parts on devices, as one array with a row on each device of a mesh."""
    rows: list[Any] = []
    for value, where in zip(values, sharding.mesh.devices.flat, strict=True):
        row = value.data if isinstance(value, Part) else np.asarray(value)[None]
        rows.append(jax.device_put(row, where))
    dims = (len(rows), *rows[0].shape[1:])
    return jax.make_array_from_single_device_arrays(dims, sharding, rows)


def parts(array: Any) -> list[Part]:
    """The rows of an array that `stacked` made, or a program with such a sharding."""
    of = {shard.device: shard.data for shard in array.addressable_shards}
    return [Part(of[d]) for d in array.sharding.mesh.devices.flat]


__all__ = ["Part", "device", "host_devices", "mesh", "parts", "stacked"]
