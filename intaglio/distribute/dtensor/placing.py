"""How tensors get layouts, and parts become tensors: `copy_to_mesh`, `relayout`, `pack` and others.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dtensor.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from intaglio import xla
from intaglio.base import errors, nest
from intaglio.base.devices import DEVICE
from intaglio.base.threads import Inherited
from intaglio.distribute.dtensor.layouts import Layout, Mesh
from intaglio.distribute.dtensor.tensors import DEVICE_NAME, DTensor, MeshLevel, is_of_host
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.state.variable import Variable


class _Meshes(Inherited):
    def __init__(self) -> None:
        self.default: Mesh | None = None


_meshes = _Meshes()


def is_dtensor(tensor: Any) -> bool:
    """Whether a tensor or variable has a layout.

    >>> tf.experimental.dtensor.is_dtensor(tf.zeros([2]))
    False
    """
    return isinstance(tensor, DTensor) or hasattr(tensor, "_layout")


def fetch_layout(tensor: Any) -> Layout:
    """The layout of a tensor or variable. Raises InvalidArgumentError if it has none, ValueError in graphs.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> dtensor.fetch_layout(dtensor.copy_to_mesh([1, 2], layout)).sharding_specs
    ['x']
    """
    if not door.level().eager:
        raise RuntimeError("`fetch_layout` must be called eagerly.")
    if not is_dtensor(tensor):
        raise errors.invalid_argument("FetchLayout expects a tensor placed on the layout device.")
    return tensor._layout


def check_layout(tensor: Any, layout: Layout) -> None:
    """Raises ValueError if a tensor has another layout.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> dtensor.check_layout(dtensor.copy_to_mesh([1, 2], layout), layout)
    """
    found = fetch_layout(tensor)
    if found != layout:
        raise ValueError(f"Layout of tensor: {found}, did not match expected layout: {layout}")


def relayout(tensor: Any, layout: Layout, name: str | None = None) -> Any:
    """The tensor with another layout of its mesh; its gradient has any. Raises InvalidArgumentError.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> x = dtensor.copy_to_mesh([1, 2], layout)
    >>> dtensor.fetch_layout(dtensor.relayout(x, dtensor.Layout.replicated(mesh, 1))).sharding_specs
    ['unsharded']
    """
    value = convert.to_tensor(tensor)
    layout = _matched(value, layout)
    if not isinstance(value, EagerTensor) or _is_watched(value):
        return raw._Relayout(value, layout=layout.to_string(), name=name or "Relayout")
    return _placed(value, layout)


def relayout_like(tensor: Any, layout_tensor: Any, name: str | None = None) -> Any:
    """The tensor with the layout of another one.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> x = dtensor.copy_to_mesh([1, 2], layout)
    >>> dtensor.fetch_layout(dtensor.relayout_like(x, x)).sharding_specs
    ['x']
    """
    if is_dtensor(layout_tensor) and not isinstance(layout_tensor, Variable):
        return relayout(tensor, layout_tensor._layout, name)
    if isinstance(layout_tensor, Variable) and is_dtensor(layout_tensor):
        return relayout(tensor, layout_tensor._layout, name)  # type: ignore[attr-defined]  # a DVariable
    return raw._RelayoutLike(
        convert.to_tensor(tensor), convert.to_tensor(layout_tensor), name=name or "RelayoutLike"
    )


def copy_to_mesh(tensor: Any, layout: Layout, source_layout: Layout | None = None) -> Any:
    """A tensor of the host, or one with a layout, with a layout of a mesh. Raises InvalidArgumentError.

    `source_layout` has no effect.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> int(tf.reduce_sum(dtensor.copy_to_mesh([1, 2], layout)))
    3
    """
    value = convert.to_tensor(tensor)
    if not isinstance(value, EagerTensor) or _is_watched(value):
        return raw._Relayout(value, layout=layout.to_string(), name="CopyToMesh")
    return _placed(value, layout)


def _is_watched(value: Any) -> bool:
    return any([w.depends((value,)) for w in door.level().watchers])


def _matched(value: Any, layout: Layout) -> Layout:
    """The layout with the tensor's own dimension where it says MATCH."""
    specs = layout.sharding_specs
    if "match" not in specs:
        return layout
    own = fetch_layout(value).sharding_specs
    found = [b if a == "match" else a for a, b in zip(specs, own, strict=True)]
    return Layout(found, layout.mesh)


def _placed(value: Any, layout: Layout) -> Any:
    if is_of_host(value._array if not isinstance(value, DTensor) else value._stored):
        if not layout.is_fully_replicated():
            raise errors.invalid_argument(
                "Strings are replicated on a mesh: use Layout.replicated."
            )
        return DTensor(None, layout, value._array)
    array = value.on_device() if isinstance(value, DTensor) else np.asarray(value._array)
    return DTensor(xla.sharding.placed(array, layout.to_string()), layout)


def pack(tensors: Sequence[Any], layout: Layout) -> Any:
    """The tensor whose part on each device of the mesh is one of `tensors`.

    Raises InvalidArgumentError for another number of them, for another rank, and for tensors with layouts.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> dtensor.pack([[1, 2]], layout).numpy()
    array([1, 2], dtype=int32)
    """
    if not door.level().eager:
        raise RuntimeError("`pack` must be called eagerly.")
    values = [convert.to_tensor(t) for t in tensors]
    if any([is_dtensor(v) for v in values]):
        raise errors.invalid_argument(
            "Does not support packing a Tensor that is already on dtensor device"
        )
    count = layout.mesh.num_local_devices()
    if len(values) != count:
        raise errors.invalid_argument(
            f"The dtensor device {DEVICE_NAME} expected {count} inputs to DTensorPack, but got {len(values)}"
        )
    if len({v.shape.rank for v in values}) != 1 or values[0].shape.rank != layout.rank:
        raise errors.invalid_argument(
            "Packed layout should have the same rank as the rank for each component. The rank of each "
            f"component is: {values[0].shape.rank}, while layout has rank: {layout.rank}\n"
            f"Layout: {layout.to_string()}\n"
        )
    if len({v.dtype for v in values}) != 1:
        raise errors.InternalError(
            None, None, "Components of a PackedTensor must all have the same dtype"
        )
    arrays = [np.asarray(v._array) for v in values]
    if len({a.shape for a in arrays}) != 1:
        raise errors.UnimplementedError(
            None, None, "Components of a PackedTensor must currently all have the same shape"
        )
    if arrays[0].dtype == object:
        return DTensor(None, layout, arrays[0])
    return DTensor(xla.sharding.packed(arrays, layout.to_string()), layout)


def unpack(tensor: Any) -> list[Any]:
    """The part that each device of the mesh has. Raises InvalidArgumentError for a tensor without a layout.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> [part.numpy().tolist() for part in dtensor.unpack(dtensor.copy_to_mesh([1, 2], layout))]
    [[1, 2]]
    """
    if not door.level().eager:
        raise RuntimeError("`unpack` must be called eagerly.")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Expecting a Tensor, got {type(tensor)}")
    if not isinstance(tensor, DTensor):
        raise errors.invalid_argument(
            f"DTensorUnpack expects a tensor placed on the DTensor device: {DEVICE_NAME}, but input was "
            f"placed on device: {getattr(tensor, 'device', DEVICE)}"
        )
    devices = tensor._layout.mesh.local_devices()
    if is_of_host(tensor._stored):
        return [from_array(tensor._array)._copy(device_name=name) for name in devices]
    parts = xla.sharding.unpacked(tensor.on_device())
    return [
        from_array(part)._copy(device_name=name) for part, name in zip(parts, devices, strict=True)
    ]


def call_with_layout(
    fn: Callable[..., Any], layout: Layout | None, *args: Any, **kwargs: Any
) -> Any:
    """`fn(*args, **kwargs)` on the mesh of a layout, which its results get; without one, `fn` as it is.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> layout = dtensor.Layout(["x"], mesh)
    >>> dtensor.call_with_layout(tf.ones, layout, shape=(2,)).numpy()
    array([1., 1.], dtype=float32)
    """
    if layout is None:
        return fn(*args, **kwargs)
    with default_mesh(layout.mesh):
        results = fn(*args, **kwargs)
    return nest.map_structure(lambda v: _with_layout(v, layout), results)


def _with_layout(value: Any, layout: Layout) -> Any:
    return relayout(value, layout) if isinstance(value, (Tensor, Variable)) else value


@contextmanager
def default_mesh(mesh: Mesh) -> Generator[None]:
    """In the block, results of ops without a mesh belong to this one; every device has them whole.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> with dtensor.default_mesh(mesh):
    ...     dtensor.is_dtensor(tf.ones([2]))
    True
    """
    if not isinstance(mesh, Mesh):
        raise ValueError(f"Expect `mesh` to be `Mesh`, got {type(mesh)}")
    before, _meshes.default = _meshes.default, mesh
    try:
        if door.level().eager:
            with door.pushed(MeshLevel(door.level(), mesh)):
                yield
        else:
            yield
    finally:
        _meshes.default = before


run_on = default_mesh


def get_default_mesh() -> Mesh | None:
    """The mesh of `default_mesh`; None outside of such a block.

    >>> tf.experimental.dtensor.get_default_mesh()
    """
    return _meshes.default


def device_name() -> str:
    """The device of tensors with layouts.

    >>> tf.experimental.dtensor.device_name()
    '/job:localhost/replica:0/task:0/device:CUSTOM:0'
    """
    return DEVICE_NAME


__all__ = [
    "call_with_layout",
    "check_layout",
    "copy_to_mesh",
    "default_mesh",
    "device_name",
    "fetch_layout",
    "get_default_mesh",
    "is_dtensor",
    "pack",
    "relayout",
    "relayout_like",
    "run_on",
    "unpack",
]
