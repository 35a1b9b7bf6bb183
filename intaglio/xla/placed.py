"""Programs of one device, by its name: what eager ops and functions on accelerators run as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from intaglio.ir.graph import Graph
from intaglio.opdef.op import Op
from intaglio.runtime import interpreter
from intaglio.xla import meshes, scalars, transfers
from intaglio.xla.compilation import Compiled
from intaglio.xla.program import Programs
from intaglio.xla.values import Untraceable

# Programs kept for an op: of those that depend on integers, such as positions, there may be many.
MAX_PROGRAMS = 512


def program(graph: Graph, device: str, constants: tuple[int, ...] = ()) -> Programs:
    """A graph of one op as a function of arrays, whose results stay on the device; see `Programs`."""
    found = meshes.device(device)
    return Programs(graph, device=found, limit=MAX_PROGRAMS, constants=constants)


def function(graph: Graph, device: str) -> Compiled:
    """An optimised graph as a function of arrays of the device; the host computes what is no program."""
    return Compiled(graph, lambda: interpreter.compiled(graph), meshes.device(device))


def put(array: Any, device: str) -> Any:
    """An array on the device."""
    return transfers.put(array, meshes.device(device))


def elementwise(op: Op) -> Callable[..., Any]:
    """An op without attributes, with the rule `scalar`, as a function of arrays of one device and dtype."""

    def computed(*arrays: Any) -> Any:
        found = scalars.expressed(op, arrays, {})
        if found.dtype != arrays[0].dtype:
            raise Untraceable(f"it gives {found.dtype}")
        return found

    run = jax.jit(computed)

    def wide(*arrays: Any) -> Any:
        if arrays[0].dtype.itemsize < 8:
            return run(*arrays)
        before = jax.enable_x64.swap_local(True)
        try:
            return run(*arrays)
        finally:
            jax.enable_x64.set_local(before)

    return wide


def is_of_device(array: Any) -> bool:
    """Whether an array is one of a device, and none of the host."""
    return isinstance(array, jax.Array)


def from_dlpack(exporter: Any) -> Any:
    """The array of an object with `__dlpack__`, or in a capsule's wrapper, where its memory is."""
    before = jax.enable_x64.swap_local(True)
    try:
        return jax.dlpack.from_dlpack(exporter)
    finally:
        jax.enable_x64.set_local(before)


def name_of(array: Any) -> str:
    """The full name of the device of an array."""
    return meshes.name_of(next(iter(array.sharding.device_set)))


__all__ = [
    "Untraceable",
    "elementwise",
    "from_dlpack",
    "function",
    "is_of_device",
    "name_of",
    "program",
    "put",
]
