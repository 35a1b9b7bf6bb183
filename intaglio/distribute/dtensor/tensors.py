"""`DTensor`: an eager tensor with a layout. An op with one among its inputs is a program of XLA over the mesh.

The tensor is an array of jax, whose parts the devices of the mesh have, or one of the host that is
placed when a program takes it. What is no program, as ops on strings are not, the host computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio import xla
from intaglio.accelerators.device_tensor import DeviceTensor
from intaglio.accelerators.op_graphs import graph_of, key_of
from intaglio.base import errors, shapes
from intaglio.distribute.dtensor.layouts import Layout, Mesh
from intaglio.ir.graph import Graph
from intaglio.ir.memo import memoized
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.ops.text.tensor_text import printed
from intaglio.optimize.pipeline import optimize
from intaglio.runtime.eager import EagerLevel, EagerTensor, from_array
from intaglio.runtime.executors import register_executor
from intaglio.runtime.placement import PlacedLevel
from intaglio.runtime.resources import Resource

DEVICE_NAME = "/job:localhost/replica:0/task:0/device:CUSTOM:0"
# Integers and strings of at most so many elements need no layout to be operands.
MAX_BROADCAST = 16
# Elements of each end of a dimension that are printed.
_ENDS = 3


class DTensor(DeviceTensor):
    """A tensor divided among the devices of a mesh."""

    __slots__ = ("_layout",)

    _device = DEVICE_NAME

    def __init__(self, value: Any, layout: Layout, host: Any = None) -> None:
        super().__init__(value, host)
        self._layout = layout

    def on_device(self) -> Any:
        if self._buffer is None and not is_of_host(self._host):
            self._buffer = xla.sharding.placed(self._host, self._layout.to_string())
        return self._stored

    def _numpy(self) -> Any:
        if not self._layout.is_fully_replicated():
            raise errors.UnimplementedError(
                None,
                None,
                "Trying to copy a non-single-device and non-replicated DTensor is not supported. "
                f"Input tensor is: DTensor({self._text()}, shape=[{','.join(map(str, self.dims))}], "
                f"type={self.dtype.kernel_name})",
            )
        return super()._numpy()

    def numpy(self) -> Any:
        found = self._numpy()
        return np.array(found) if isinstance(found, np.ndarray) else found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self._numpy()
        return super().__array__(dtype, copy)

    def _text(self) -> str:
        """The value as TensorFlow prints it, of each device if they differ, and the layout."""
        if self._layout.is_fully_replicated():
            value = printed(self._array, _ENDS).decode()
        else:
            names = [d.rsplit(":", 2)[-2:] for d in self._layout.mesh.local_devices()]
            parts = zip(names, xla.sharding.unpacked(self.on_device()), strict=True)
            shown = [f'"{k}:{i}": {printed(a, _ENDS).decode()}' for (k, i), a in parts]
            value = f"{{{', '.join(shown)}}}"
        return f'{value}, layout="{self._layout.to_string()}"'

    def __str__(self) -> str:
        shape = shapes.text(self.dims)
        return f"tf.Tensor({self._text()}, shape={shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        shape = shapes.text(self.dims)
        return f"<tf.Tensor: shape={shape}, dtype={self.dtype.name}, value={self._text()}>"


def is_of_host(array: Any) -> bool:
    """True for what devices of XLA do not have: variables, strings and other objects."""
    return isinstance(array, Resource) or array.dtype == object or array.dtype.names is not None


def replicated(array: Any, mesh: Mesh) -> DTensor:
    """An array of the host as a tensor that all devices have whole."""
    return DTensor(None, Layout.replicated(mesh, array.ndim), array)


def of_result(array: Any, mesh: Mesh) -> DTensor:
    """What a program returned, with the layout that it has; replicated if it has none of DTensor."""
    text = mesh.to_string()
    layout = xla.sharding.layout_of(array, text)
    if layout is None:
        layout = xla.sharding.replicated(array.ndim, text)
        array = xla.sharding.placed(array, layout)
    return DTensor(array, Layout.from_string(layout))


# -- ops -----------------------------------------------------------------------------------


def execute(
    op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None
) -> Sequence[Any]:
    """Carries out an op over the mesh of its inputs.

    Raises UnimplementedError for a tensor without a layout, InvalidArgumentError for two meshes.
    """
    mesh = _mesh_of(op, inputs, name)
    arrays = [t.on_device() if isinstance(t, DTensor) else t._array for t in inputs]
    if not any([a.dtype == object for a in arrays if not isinstance(a, Resource)]):
        try:
            results = _program(op, inputs, attrs)(*_passed(op, arrays, inputs))
            return [_as_operand(of_result(a, mesh), op, inputs) for a in results]
        except xla.sharding.Untraceable:
            pass
    plain = [from_array(t._array) for t in inputs]
    found = EagerLevel().execute(op, plain, attrs, name)
    return [replicated(t._array, mesh) if _is_value(t) else t for t in found]


def _as_operand(result: DTensor, op: Any, inputs: Sequence[Any]) -> DTensor:
    """The result of an op that reads a shape alone, with the layout of the operand that it is like."""
    first = inputs[0]
    if op not in (raw.ZerosLike, raw.OnesLike):
        return result
    placed = xla.sharding.placed(result.on_device(), first._layout.to_string())
    return DTensor(placed, first._layout)


def _is_value(tensor: Any) -> bool:
    return isinstance(tensor._array, (np.ndarray, np.generic))


def _mesh_of(op: Any, inputs: Sequence[Any], name: str | None) -> Mesh:
    meshes = {t._layout.mesh: None for t in inputs if isinstance(t, DTensor)}
    if len(meshes) > 1:
        raise errors.UnknownError(
            None,
            None,
            "All inputs to an op must have same mesh configuration. List of found meshes: "
            f"{', '.join([m.to_string() for m in meshes])} [Op:{op.name}]",
        )
    for number, tensor in enumerate(inputs):
        if not isinstance(tensor, DTensor) and not _is_small(tensor._array):
            dims = ",".join(map(str, tensor.dims))
            what = op.name
            raise errors.UnimplementedError(
                None,
                None,
                f"The op/function {what} got a regular tensor for input {number} (shape [{dims}]) but "
                "was expecting a DTensor. Currently only scalars and small integer/string tensors are "
                "auto-broadcast to DTensors. For other tensors, please use copy_to_mesh to make a "
                "DTensor explicitly; note that this may be slow if it happens frequently. "
                f"[Op:{what}] name: {name or ''}",
            )
    return next(iter(meshes))


def _is_small(array: Any) -> bool:
    if isinstance(array, Resource) or not hasattr(array, "size"):
        return False
    return array.ndim == 0 or (array.dtype.kind in "iuOb" and array.size <= MAX_BROADCAST)


def _is_constant(tensor: Any) -> bool:
    """True for small integers without a layout, which are part of a program: axes, shapes."""
    return not isinstance(tensor, DTensor) and tensor._array.dtype.kind in "iub"


def _passed(op: Any, arrays: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    if op.control_flow == "call":
        return [*arrays]
    return [a for a, t in zip(arrays, inputs, strict=True) if not _is_constant(t)]


_programs: dict[Any, Any] = {}
_MAX_PROGRAMS = 4096


@memoized
def _program_of_graph(graph: Graph, layouts: tuple[Any, ...]) -> Any:
    return xla.sharding.program(optimize(graph))


def _program(op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """The program of an op for inputs of these layouts; of a call, that of the graph."""
    layouts = tuple([t._layout if isinstance(t, DTensor) else None for t in inputs])
    if op.control_flow == "call":
        return _program_of_graph(attrs["f"], layouts)
    key = _key(op, inputs, attrs, layouts)
    found = _programs.get(key)
    if found is None:
        if len(_programs) >= _MAX_PROGRAMS:
            _programs.clear()
        found = xla.sharding.program(graph_of(op, inputs, attrs, _is_constant))
        if key is not None:
            _programs[key] = found
    return found


def _key(op: Any, inputs: Sequence[Any], attrs: dict[str, Any], layouts: Any) -> Any:
    """What determines the program of an op; None where that cannot be compared."""
    operands = tuple(
        [
            (t.dtype, t.dims, t._array.tobytes()) if _is_constant(t) else (t.dtype, t.dims)
            for t in inputs
        ]
    )
    return key_of(op, (operands, layouts), attrs)


class MeshLevel(PlacedLevel):
    """Computes at once, and gives its results to all devices of a mesh."""

    def __init__(self, below: Any, mesh: Mesh) -> None:
        super().__init__(below, DEVICE_NAME)
        self.mesh = mesh

    def quick(self, op: Any, args: tuple[Any, ...]) -> Any:
        return None

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        # Small integers are axes and shapes, which programs have as constants.
        tensor = from_array(array)
        return tensor if _is_small(array) else self._here(tensor)

    def _here(self, tensor: Any) -> Any:
        if type(tensor) is EagerTensor and _is_value(tensor):
            return replicated(np.asarray(tensor._array), self.mesh)
        return tensor


register_executor(DTensor, execute)

__all__ = [
    "DEVICE_NAME",
    "DTensor",
    "MeshLevel",
    "execute",
    "is_of_host",
    "of_result",
    "replicated",
]
