"""`Mesh` and `Layout`: devices in a grid with named dimensions, and which of these divides which axis of a tensor.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dtensor/Mesh and
https://www.tensorflow.org/api_docs/python/tf/experimental/dtensor/Layout.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio import xla
from intaglio.base.device_spec import DeviceSpec
from intaglio.base.devices import full_name
from intaglio.opdef import convert

UNSHARDED = "unsharded"
MATCH = "match"
_SINGLE = "maximal:true"


class MeshDimension(NamedTuple):
    """A dimension of a mesh."""

    name: str
    size: int


class LayoutType(enum.Enum):
    """How a layout says what each device has."""

    STATIC = 1
    PARTED = 2
    SINGLE_DEVICE = 3
    EMPTY = 4


def _name_of(device: Any) -> str:
    return full_name(device.to_string() if isinstance(device, DeviceSpec) else str(device))


class Mesh:
    """Devices in a grid; `global_device_ids` is an array of their numbers, with a dimension for each name.

    Raises ValueError for arguments that do not fit each other.
    """

    def __init__(
        self,
        dim_names: Sequence[str],
        global_device_ids: Any,
        local_device_ids: Sequence[int],
        local_devices: Sequence[Any],
        mesh_name: str = "",
        global_devices: Sequence[Any] | None = None,
        use_xla_spmd: bool = False,
    ) -> None:
        xla.check_installed()
        ids = np.asarray(global_device_ids)
        if len(dim_names) != ids.ndim:
            raise ValueError(
                f"Number of mesh dimensions does not match number of dimension names: {list(dim_names)} "
                f"for device ids of shape {list(ids.shape)}."
            )
        if len(set(dim_names)) != len(dim_names):
            raise ValueError("The mesh dimension names must be unique.")
        if len(local_device_ids) != len(local_devices):
            raise ValueError(
                f"Number of local_device_ids ({len(local_device_ids)}) does not match number of "
                f"local_devices ({len(local_devices)})."
            )
        self._dim_names = tuple(dim_names)
        self._ids = ids
        self._local_ids = tuple([int(i) for i in local_device_ids])
        self._devices = tuple([_name_of(d) for d in local_devices])
        self._name = mesh_name
        self._global_devices = tuple([_name_of(d) for d in global_devices or ()])
        self._use_xla_spmd = use_xla_spmd
        self._single = ""

    # -- from others -----------------------------------------------------------------------

    @classmethod
    def from_device(cls, device: str) -> Mesh:
        """A mesh of one device, without dimensions."""
        found = cls([], np.array(0), [0], [device])
        found._single = device
        return found

    @classmethod
    def from_string(cls, mesh_str: str) -> Mesh:
        """The mesh that `to_string` wrote. Raises ValueError for other text."""
        parts = mesh_str.split("|")
        if len(parts) == 1:
            return cls.from_device(mesh_str)
        if len(parts) < 5:
            raise ValueError(f"Invalid format for mesh: {mesh_str!r}")
        name, dims, ids, local, devices, *_ = parts
        pairs = [d.partition("=") for d in dims.split(",") if d]
        shape = [int(size) for _, _, size in pairs]
        numbers = np.array([int(i) for i in ids.split(",") if i], np.int64).reshape(shape)
        return cls(
            [n for n, _, _ in pairs],
            numbers,
            [int(i) for i in local.split(",") if i],
            [d for d in devices.split(",") if d],
            name,
        )

    # -- what it is ------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the mesh."""
        return self._name

    @property
    def dim_names(self) -> list[str]:
        """The names of the dimensions."""
        return [*self._dim_names]

    @property
    def size(self) -> int:
        """The number of devices."""
        return self._ids.size

    @property
    def strides(self) -> list[int]:
        """How far apart the numbers of neighbours are, for each dimension."""
        shape = self.shape()
        return [math.prod(shape[i + 1 :]) for i in range(len(shape))]

    @property
    def single_device(self) -> str:
        """The device of a mesh that is one device."""
        return self._single

    def shape(self) -> list[int]:
        """The sizes of the dimensions."""
        return [*self._ids.shape]

    def dim_size(self, dim_name: str) -> int:
        """The size of a dimension. Raises ValueError for another name."""
        return self[dim_name].size

    def __getitem__(self, dim_name: str) -> MeshDimension:
        if dim_name not in self._dim_names:
            raise ValueError(
                f"Dimension {dim_name} does not exist in mesh."
                f"Available dimensions: {','.join(self._dim_names)}"
            )
        return MeshDimension(dim_name, self._ids.shape[self._dim_names.index(dim_name)])

    def contains_dim(self, dim_name: str) -> bool:
        """Whether there is a dimension of this name."""
        return dim_name in self._dim_names

    def __contains__(self, dim_name: str) -> bool:
        return dim_name in self._dim_names

    def device_type(self) -> str:
        """The type of the devices."""
        return DeviceSpec.from_string(self._devices[0]).device_type

    def global_device_ids(self) -> np.ndarray:
        """The numbers of all devices, in the shape of the mesh."""
        return self._ids

    def global_devices(self) -> list[str]:
        """The names of all devices, if they were given."""
        return [*self._global_devices]

    def local_device_ids(self) -> list[int]:
        """The numbers of the devices of this process."""
        return [*self._local_ids]

    def local_devices(self) -> list[str]:
        """The names of the devices of this process."""
        return [*self._devices]

    def num_local_devices(self) -> int:
        """The number of devices of this process."""
        return len(self._devices)

    def min_global_device_id(self) -> int:
        """The least number of a device."""
        return int(self._ids.min())

    def is_remote(self) -> bool:
        """Whether no device belongs to this process."""
        return not self._devices

    def is_single_device(self) -> bool:
        """Whether the mesh is one device, without dimensions."""
        return bool(self._single)

    def use_xla_spmd(self) -> bool:
        """What the mesh was made with: programs are divided by XLA in any case."""
        return self._use_xla_spmd

    def coords(self, device_idx: int) -> Any:
        """The place of a device in the mesh, a tensor."""
        return convert.to_tensor(self.device_location(device_idx))

    def device_location(self, device_id: int) -> list[int]:
        """The place of a device in the mesh."""
        at = device_id - self.min_global_device_id()
        return [int(i) for i in np.unravel_index(at, self._ids.shape)]

    def local_device_locations(self) -> list[dict[str, int]]:
        """The places of the devices of this process, by the names of the dimensions."""
        every = self.unravel_index()
        return [every[i - self.min_global_device_id()] for i in self._local_ids]

    def unravel_index(self) -> dict[int, dict[str, int]]:
        """The places of all devices, by the names of the dimensions."""
        places = itertools.product(*[range(n) for n in self._ids.shape])
        return {i: dict(zip(self._dim_names, place, strict=True)) for i, place in enumerate(places)}

    def host_mesh(self) -> Mesh:
        """The mesh of the hosts' CPUs: itself, where the devices are CPUs."""
        return self

    def as_proto(self) -> Any:
        """Raises NotImplementedError: `to_string` is the form that is written."""
        raise NotImplementedError("A Mesh is written as text: mesh.to_string().")

    @functools.cached_property
    def _text(self) -> str:
        if self._single:
            return self._single
        dims = ",".join([f"{n}={s}" for n, s in zip(self._dim_names, self._ids.shape, strict=True)])
        ids = ",".join(map(str, self._ids.flat))
        local = ",".join(map(str, self._local_ids))
        return f"{self._name}|{dims}|{ids}|{local}|{','.join(self._devices)}"

    def to_string(self) -> str:
        """The mesh as text: name, dimensions, numbers, local numbers, local devices."""
        return self._text

    def __repr__(self) -> str:
        return f"Mesh.from_string({self._text})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return Mesh.from_string, (self._text,)


class Layout:
    """Which dimension of a mesh divides which axis of a tensor; `UNSHARDED` axes are whole everywhere.

    Raises ValueError for a name that is no dimension, or is there twice.
    """

    type = LayoutType.STATIC

    def __init__(self, sharding_specs: Sequence[str], mesh: Mesh) -> None:
        specs = [*sharding_specs]
        if not isinstance(mesh, Mesh):
            raise ValueError("mesh is not a valid Mesh object.")
        named = [s for s in specs if s not in (UNSHARDED, MATCH)]
        for name in named:
            if name not in mesh.dim_names:
                raise ValueError(
                    f"{name}: A dimension sharding must either be a valid mesh dimension or UNSHARDED."
                )
            if named.count(name) > 1:
                raise ValueError(
                    f"Mesh dimension {name} was repeated in sharding specification {specs}. Mesh "
                    "dimensions must be unique in a layout."
                )
        self._specs = tuple(specs)
        self._mesh = mesh

    # -- from others -----------------------------------------------------------------------

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """Every device has the whole tensor."""
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """One axis, the first by default, is divided."""
        specs = [UNSHARDED] * rank
        specs[axis] = batch_dim
        return cls(specs, mesh)

    @classmethod
    def inner_sharded(cls, mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """The last axis is divided."""
        return cls.batch_sharded(mesh, inner_dim, rank, rank - 1)

    @classmethod
    def from_string(cls, layout_str: str) -> Layout:
        """The layout that `to_string` wrote. Raises ValueError for other text."""
        head, found, mesh = layout_str.partition(" mesh:")
        kind, _, specs = head.rstrip(",").partition(":")
        if not found or kind not in ("sharding_specs", "parted", "maximal"):
            raise ValueError(f"Invalid format for layout: {layout_str!r}")
        if kind == "maximal":
            return cls.from_single_device_mesh(Mesh.from_string(mesh))
        layout = cls([s for s in specs.split(",") if s], Mesh.from_string(mesh))
        return layout.to_parted() if kind == "parted" else layout

    @classmethod
    def from_single_device_mesh(cls, mesh: Mesh) -> Layout:
        """The layout of tensors on a mesh that is one device. Raises ValueError for another one."""
        if not mesh.is_single_device():
            raise ValueError("type is single device, but mesh is not single device")
        found = cls([], mesh)
        found.type = LayoutType.SINGLE_DEVICE
        return found

    @classmethod
    def from_device(cls, device: str) -> Layout:
        """The layout of tensors on one device."""
        return cls.from_single_device_mesh(Mesh.from_device(device))

    # -- what it is ------------------------------------------------------------------------

    @property
    def sharding_specs(self) -> list[str]:
        """The mesh dimension of each axis."""
        return [*self._specs]

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        return self._mesh

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self._specs)

    @property
    def shape(self) -> list[int]:
        """The shape of the mesh."""
        return self._mesh.shape()

    def num_shards(self, idx: int) -> int:
        """Into how many parts an axis is divided."""
        name = self._specs[idx]
        return self._mesh.dim_size(name) if name in self._mesh else 1

    def is_fully_replicated(self) -> bool:
        """Whether every device has the whole tensor."""
        return all([self.num_shards(i) == 1 for i in range(self.rank)])

    def is_batch_parallel(self) -> bool:
        """Whether the first axis at most is divided."""
        return all([self.num_shards(i) == 1 for i in range(1, self.rank)])

    def is_single_device(self) -> bool:
        """Whether the mesh is one device."""
        return self.type is LayoutType.SINGLE_DEVICE

    def delete(self, dims: Sequence[int]) -> Layout:
        """The layout without these axes."""
        gone = {d % max(self.rank, 1) for d in dims}
        return Layout([s for i, s in enumerate(self._specs) if i not in gone], self._mesh)

    def to_parted(self) -> Layout:
        """The layout as one whose parts are independent of each other."""
        found = Layout(self._specs, self._mesh)
        found.type = LayoutType.PARTED
        return found

    def local_shape_from_global_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a part."""
        return tuple([n // self.num_shards(i) for i, n in enumerate(global_shape)])

    def global_shape_from_local_shape(self, local_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a tensor with parts of a shape."""
        return tuple([n * self.num_shards(i) for i, n in enumerate(local_shape)])

    def offset_to_shard(self) -> list[tuple[int, ...]]:
        """For each device, the number of its part along each axis."""
        return [
            tuple([place.get(name, 0) for name in self._specs])
            for place in self._mesh.unravel_index().values()
        ]

    def offset_tuple_to_global_index(self, offset_tuple: Sequence[int]) -> int:
        """The number of a part among all parts, in the order of C."""
        index = 0
        for axis, at in enumerate(offset_tuple):
            index = index * self.num_shards(axis) + at
        return index

    def as_proto(self) -> Any:
        """Raises NotImplementedError: `to_string` is the form that is written."""
        raise NotImplementedError("A Layout is written as text: layout.to_string().")

    @functools.cached_property
    def _text(self) -> str:
        mesh = self._mesh.to_string()
        if self.is_single_device():
            return f"{_SINGLE}, mesh:{mesh}"
        kind = "parted" if self.type is LayoutType.PARTED else "sharding_specs"
        return f"{kind}:{','.join(self._specs)}{',' * bool(self._specs)} mesh:{mesh}"

    def to_string(self) -> str:
        """The layout as text: the dimension of each axis, and the mesh."""
        return self._text

    def __repr__(self) -> str:
        return f"Layout.from_string({self._text})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return Layout.from_string, (self._text,)


__all__ = ["MATCH", "UNSHARDED", "Layout", "LayoutType", "Mesh", "MeshDimension"]
