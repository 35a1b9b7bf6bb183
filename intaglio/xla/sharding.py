"""Arrays on meshes of devices, and programs whose arguments are such: `jax.sharding` for `tf.experimental.dtensor`.

A layout is text here, as `Layout.to_string()` of DTensor writes it: the mesh dimension of each
axis of the array, and the mesh. The partitioner of XLA divides a program, and chooses the layouts
of its results unless the program states them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from intaglio.base import errors
from intaglio.ir.graph import Graph
from intaglio.opdef import raw
from intaglio.xla import meshes
from intaglio.xla.program import Programs
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable

UNSHARDED = "unsharded"


class Placement(NamedTuple):
    """A layout, taken apart."""

    axes: tuple[str, ...]
    dims: tuple[tuple[str, int], ...]
    devices: tuple[str, ...]
    mesh: str


@functools.lru_cache(maxsize=1024)
def placement(layout: str) -> Placement:
    """The parts of a layout's text."""
    axes, _, mesh = layout.removeprefix("sharding_specs:").partition(" mesh:")
    _, dims, _, _, devices, *_ = mesh.split("|")
    pairs = [d.partition("=") for d in dims.split(",") if d]
    return Placement(
        tuple([a for a in axes.split(",") if a]),
        tuple([(name, int(size)) for name, _, size in pairs]),
        tuple(devices.split(",")),
        mesh,
    )


@functools.lru_cache(maxsize=1024)
def sharding(layout: str) -> NamedSharding:
    """The sharding of jax that a layout is."""
    found = placement(layout)
    parts = [None if a == UNSHARDED else a for a in found.axes]
    return NamedSharding(meshes.mesh(found.dims, found.devices), PartitionSpec(*parts))


def check_divides(dims: Sequence[int], layout: str) -> None:
    """Raises UnknownError where the layout has another rank, or its parts would not be equal."""
    found = placement(layout)
    if len(dims) != len(found.axes):
        raise errors.UnknownError(
            None,
            None,
            f"requires matching rank for layout and input, but got {len(found.axes)} as suggested rank "
            f"from layout but {len(dims)} from shape.",
        )
    sizes = dict(found.dims)
    for axis, (size, name) in enumerate(zip(dims, found.axes, strict=True)):
        shards = sizes.get(name, 1)
        if size % shards:
            raise errors.UnknownError(
                None,
                None,
                f"requires dimension {axis} to be divisible by sharding specified in DTensorLayout, but "
                f"got dimension size={size} is not divisible by number of shards in layout for this "
                f"dimension={shards}.",
            )


def placed(array: Any, layout: str) -> Any:
    """An array of the host, or of a mesh, with a layout. Raises UnknownError where it does not fit."""
    check_divides(array.shape, layout)
    with jax.enable_x64(True):
        return jax.device_put(array, sharding(layout))


def packed(shards: Sequence[Any], layout: str) -> Any:
    """The array that has these arrays of the host as its parts, one for each device of the mesh."""
    found = placement(layout)
    sizes = dict(found.dims)
    local = shards[0].shape
    dims = [n * sizes.get(axis, 1) for n, axis in zip(local, found.axes, strict=True)]
    where = sharding(layout)
    devices: Any = where.mesh.devices
    with jax.enable_x64(True):
        parts = [jax.device_put(a, d) for a, d in zip(shards, devices.flat, strict=True)]
        return jax.make_array_from_single_device_arrays(tuple(dims), where, parts)


def unpacked(array: Any) -> list[np.ndarray]:
    """The part of an array that each device of its mesh has."""
    of = {shard.device: shard.data for shard in array.addressable_shards}
    return [np.asarray(of[d]) for d in array.sharding.mesh.devices.flat]


def layout_of(array: Any, mesh: str) -> str | None:
    """The layout of a program's result on a mesh; None if it is no layout of DTensor."""
    found = getattr(array, "sharding", None)
    if not isinstance(found, NamedSharding):
        return None
    axes: list[str] = []
    for part in found.spec:
        if isinstance(part, tuple) and len(part) > 1:
            return None
        name = part[0] if isinstance(part, tuple) and part else part
        axes.append(name if isinstance(name, str) else UNSHARDED)
    axes += [UNSHARDED] * (array.ndim - len(axes))
    return _text(axes, mesh)


def replicated(rank: int, mesh: str) -> str:
    """The layout of an array that every device has whole."""
    return _text([UNSHARDED] * rank, mesh)


def _text(axes: Sequence[str], mesh: str) -> str:
    """A layout as `Layout.to_string` writes it."""
    return f"sharding_specs:{','.join(axes)}{',' * bool(axes)} mesh:{mesh}"


def program(graph: Graph) -> Programs:
    """The graph as a function of arrays on a mesh, whose results stay there.

    Nothing is donated: tensors refer to the arrays that variables have.
    """
    return Programs(graph, stays=True)


@xla(raw._Relayout)
def _relayout(input: Any, layout: str) -> Any:
    return jax.lax.with_sharding_constraint(input, sharding(layout))


__all__ = [
    "UNSHARDED",
    "Untraceable",
    "check_divides",
    "layout_of",
    "packed",
    "placed",
    "placement",
    "program",
    "replicated",
    "sharding",
    "unpacked",
]
