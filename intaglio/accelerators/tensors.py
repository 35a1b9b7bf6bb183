"""`AcceleratorTensor`: an eager tensor in the memory of a device of XLA. Ops on it run there.

Each op is a program, compiled for the dtypes and shapes of its inputs and kept; a call of a traced
function is one program. What is no program, as ops on strings are not, the host computes: without soft
placement that is an error. A tensor that is made of numbers of the host goes to the device when an op
takes it, if it is small, and is read without it: so shapes and axes are part of programs, as constants.

Follows https://www.tensorflow.org/guide/gpu.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio import xla
from intaglio.accelerators.device_tensor import DeviceTensor, through_the_door
from intaglio.accelerators.op_graphs import SEEDS, graph_of, key_of
from intaglio.base import errors, shapes
from intaglio.base.devices import DEVICE, is_host
from intaglio.base.dtypes import resource, string, variant
from intaglio.base.options import OPTIONS
from intaglio.ir.graph import Graph
from intaglio.ir.memo import memoized
from intaglio.opdef import door, operators
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.optimize.pipeline import optimize
from intaglio.runtime.eager import EagerLevel, EagerTensor, from_array, spec_of
from intaglio.runtime.executors import register_executor
from intaglio.runtime.hooks import SERVICES
from intaglio.runtime.placement import PlacedLevel
from intaglio.runtime.resources import Resource

# Numbers of the host with at most so many elements stay there until an op takes them.
MAX_SMALL = 16
_MAX_PROGRAMS = 4096


class AcceleratorTensor(DeviceTensor):
    """A tensor on a GPU or another accelerator."""

    __slots__ = ("_device",)

    def __init__(self, buffer: Any, device: str, host: Any = None) -> None:
        super().__init__(buffer, host)
        self._device = device

    def on_device(self) -> Any:
        if self._buffer is None and not is_of_host(self._host):
            self._buffer = xla.placed.put(self._host, self._device)
        return self._stored

    def __dlpack__(self, **options: Any) -> Any:
        """The value in a DLPack capsule; the memory of the device is shared."""
        return self.on_device().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The type of the device and its number, as DLPack has them."""
        found = self.on_device().__dlpack_device__()
        return int(found[0]), int(found[1])


def is_of_host(array: Any) -> bool:
    """True for what accelerators do not have: variables, strings and other objects."""
    if isinstance(array, (np.ndarray, np.generic)):
        return array.dtype == object or array.dtype.names is not None
    return not xla.placed.is_of_device(array)


def on_device(array: Any, device: str) -> Any:
    """An array of the host as a tensor of the device, or of the host where only that can have it."""
    if is_of_host(array) and not isinstance(array, Resource):
        return from_array(array)
    tensor = AcceleratorTensor(None, device, array)
    if not isinstance(array, Resource) and array.size > MAX_SMALL:
        tensor.on_device()
        tensor._host = None
    return tensor


def moved(tensor: Any, device: str) -> Any:
    """A tensor with a value as one of another device, or of the host."""
    if is_host(device):
        found = from_array(tensor._array)
        if device != DEVICE:
            found._device = device  # type: ignore[misc]  # in the tensor's own dict
        return found
    if isinstance(tensor, AcceleratorTensor) and tensor._buffer is not None:
        return AcceleratorTensor(xla.placed.put(tensor._buffer, device), device)
    return on_device(tensor._array, device)


def of_dlpack(exporter: Any) -> Any:
    """The tensor of an object with `__dlpack__` and `__dlpack_device__`, whose memory it shares."""
    array = xla.placed.from_dlpack(exporter)
    return AcceleratorTensor(array, xla.placed.name_of(array))


# -- ops -----------------------------------------------------------------------------------


def execute(
    op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None
) -> Sequence[Any]:
    """Carries out an op where its inputs are, or where the block says. Raises as the op on the host."""
    level = door.level()
    if isinstance(level, AcceleratorLevel):
        return carried_out(op, inputs, attrs, name, level.device)
    if isinstance(level, PlacedLevel) and level.is_chosen:  # the block says: on the host
        return _on_host(op, inputs, attrs, name)
    device = next(t._device for t in inputs if isinstance(t, AcceleratorTensor))
    return carried_out(op, inputs, attrs, name, device)


def carried_out(
    op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None, device: str
) -> Sequence[Any]:
    """The outputs of an op on a device; the host's, where it has no program."""
    if any([is_strings(t) for t in inputs]) or op.reaches_outside:
        return _without_program(op, inputs, attrs, name, device, "it is the host's")
    if _checks(op, inputs):
        return [on_device(t._array, device) for t in _on_host(op, inputs, attrs, name)]
    if (
        op.control_flow == "call"
    ):  # what the host computes of it is computed there, and errors are its own
        found = function_on(attrs["f"], device)(*[operand(t, device) for t in inputs])
        return [result(a, device) for a in found]
    try:
        found = _by_program(op, inputs, attrs, device)
    except (xla.placed.Untraceable, ValueError, TypeError) as e:
        # The host words errors, and carries out what neither the evaluator nor jax can.
        return _without_program(op, inputs, attrs, name, device, str(e))
    except RuntimeError as e:
        if "RESOURCE_EXHAUSTED" not in str(e):
            raise
        raise errors.ResourceExhaustedError(None, None, f"{e} [Op:{op.name}]") from None
    return [result(a, device) for a in found]


def _checks(op: Any, inputs: Sequence[Any]) -> bool:
    """Whether an op is called for an effect that programs do not have: it fails for some data."""
    if not op.stateful or op.has_graphs or op.is_random:
        return False
    return not any([t.dtype is resource for t in inputs])


def is_strings(tensor: Any) -> bool:
    """True for strings and variants, which no program takes."""
    stored = tensor._stored if isinstance(tensor, AcceleratorTensor) else tensor._array
    return is_of_host(stored) and not isinstance(stored, Resource)


def result(array: Any, device: str) -> Any:
    """What a program gives is on its device; what the host gave is there."""
    return AcceleratorTensor(array, device) if xla.placed.is_of_device(array) else from_array(array)


def operand(tensor: Any, device: str) -> Any:
    """A tensor as a program of the device takes it."""
    if isinstance(tensor, AcceleratorTensor) and tensor._device == device:
        return tensor.on_device()
    array = tensor._stored if isinstance(tensor, AcceleratorTensor) else tensor._array
    if is_of_host(array):
        return array
    copies = vars(tensor).get("_copies") if type(tensor) is EagerTensor else None
    if copies is None:
        return xla.placed.put(array, device)
    found = copies.get(device)
    if found is None:
        found = copies[device] = xla.placed.put(array, device)
    return found


def keep_copies(tensors: Sequence[Any]) -> None:
    """The host's tensors among these are copied to a device once, as those that a function captures are."""
    for tensor in tensors:
        if type(tensor) is EagerTensor:
            vars(tensor).setdefault("_copies", {})


@memoized
def _functions(graph: Graph) -> dict[Any, Any]:
    """A called graph as programs, by their device and how exact products are."""
    return {}


def function_on(graph: Graph, device: str) -> Any:
    """A called graph as programs of a device, kept with the graph."""
    functions, key = _functions(graph), (device, OPTIONS.tensor_float_32)
    found = functions.get(key)
    if found is None:
        found = functions.setdefault(key, xla.placed.function(optimize(graph), device))
    return found


def reports_of(graph: Graph) -> list[str]:
    """What a called graph runs as on each device that it was called on, with each crossing to the host."""
    return [function.report() for function in [*_functions(graph).values()]]


_programs: dict[Any, Any] = {}
# The calls of ops that have no program.
_of_host: set[Any] = set()


def _by_program(op: Any, inputs: Sequence[Any], attrs: dict[str, Any], device: str) -> Any:
    is_random = op.is_random
    operands = tuple([_like(t) for t in inputs])
    key = key_of(op, operands, attrs, SEEDS if is_random else frozenset())
    key = key and (*key, device, OPTIONS.tensor_float_32)
    if key in _of_host:
        raise xla.placed.Untraceable("it has no program for these inputs")
    found = _programs.get(key)
    if found is None:
        if len(_programs) >= _MAX_PROGRAMS:
            _programs.clear()
        found = xla.placed.program(
            _graph(op, inputs, attrs), device, _structural(op, inputs, attrs)
        )
        if key is not None:
            _programs[key] = found
    constants = found.constants
    arrays = [t._array if i in constants else operand(t, device) for i, t in enumerate(inputs)]
    try:
        if is_random:
            types = op.types_of(inputs, attrs)
            return found.drawn(arrays, [SERVICES.stream.for_call(op, types, attrs)])
        return found(*arrays)
    except xla.placed.Untraceable:
        if key is not None:
            _of_host.add(key)
        raise


def _graph(op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Graph:
    """The graph of a call. Raises Untraceable where it is an error, which the host words, or gives strings."""
    try:
        graph = graph_of(op, inputs, attrs)
    except (ValueError, TypeError, errors.OpError) as e:
        raise xla.placed.Untraceable(str(e)) from e
    if any([v.dtype is string or v.dtype is variant for v in graph.outputs]):
        raise xla.placed.Untraceable("its results are no arrays of numbers")
    return graph


def _structural(op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[int, ...]:
    """The numbers of the inputs, a few integers each, without whose values the shapes of results are unknown."""
    few = [
        i
        for i, t in enumerate(inputs)
        if t.dtype.is_integer and (shapes.count(t.dims) or 0) <= MAX_SMALL
    ]
    if not few or op.has_graphs:
        return ()
    specs = [Spec(t.dtype, t.dims) for t in inputs]
    known = {i: Spec(t.dtype, t.dims, _value(t)) for i, t in enumerate(inputs) if i in few}
    known |= {i: spec_of(t) for i, t in enumerate(inputs) if t.dtype is resource}
    found: list[int] = []
    for number in few:
        hidden = [known.get(i, s) if i != number else s for i, s in enumerate(specs)]
        try:
            outputs = op.output_specs(hidden, attrs)
        except (ValueError, TypeError, errors.OpError):  # which the program will raise, too
            continue
        if not all([shapes.known(s.shape) for s in outputs]):
            found.append(number)
    return tuple(found)


def _value(tensor: Any) -> Any:
    """The value of a tensor, if the host has it."""
    value = tensor._host if isinstance(tensor, AcceleratorTensor) else tensor._array
    return value if isinstance(value, (np.ndarray, np.generic)) else None


def _like(tensor: Any) -> Any:
    """What of an input the program of an op depends on."""
    stored = tensor._stored if isinstance(tensor, AcceleratorTensor) else tensor._array
    if isinstance(stored, Resource):
        return (stored.spec.dtype, stored.spec.shape, "resource")
    return (stored.dtype, stored.shape)


def _without_program(
    op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None, device: str, why: str
) -> Sequence[Any]:
    """The outputs, computed by the host, where they stay. Raises InvalidArgumentError without soft placement."""
    plain = [from_array(t._array) for t in inputs]
    found = EagerLevel().execute(op, plain, attrs, name)  # errors of the op come first
    is_chosen = getattr(door.level(), "is_chosen", True)  # a default is no demand
    if (
        is_chosen
        and not OPTIONS.soft_placement
        and op.output_names
        and any(map(_has_numbers, found))
    ):
        raise errors.invalid_argument(
            f"Could not satisfy device specification '{device}'. enable_soft_placement=0. "
            f"{op.name} has no program of XLA: {why} [Op:{op.name}]"
        )
    return found


def _has_numbers(tensor: Any) -> bool:
    return isinstance(tensor._array, (np.ndarray, np.generic)) and tensor._array.dtype != object


def _on_host(
    op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None
) -> Sequence[Any]:
    """The outputs, computed by the host, which the block asks for."""
    return EagerLevel().execute(op, [from_array(t._array) for t in inputs], attrs, name)


class AcceleratorLevel(PlacedLevel):
    """Computes at once, on an accelerator. Tapes of the level below see its ops."""

    is_elsewhere = True

    def execute(
        self, op: Any, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Any]:
        return carried_out(op, inputs, attrs, name, self.device)

    def quick(self, op: Any, args: tuple[Any, ...]) -> Any:
        return None

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        return on_device(array, self.device)


def quiet_device() -> str | None:
    """The accelerator of the block that runs, if nothing watches its ops."""
    level: Any = door.level()
    if not level.is_elsewhere or level.watchers or door.INSPECTORS:
        return None
    return level.device


# -- operators -----------------------------------------------------------------------------


def _quick(op: Any, special: str) -> Any:
    """An operator of two arrays of one device: its program is looked up once, for all shapes."""
    slow, reverse, state = through_the_door(special), special.startswith("__r"), door.STATE
    allowed = op.stored
    run: Any = None

    def operate(self: Any, other: Any) -> Any:
        nonlocal run
        if type(other) is not AcceleratorTensor:
            return slow(self, other)
        if state.unusual and quiet_device() != self._device:
            return slow(self, other)
        x, y = self._buffer, other._buffer
        if x is None or y is None or self._device != other._device:
            return slow(self, other)
        dtype = x.dtype
        if y.dtype != dtype or dtype not in allowed:
            return slow(self, other)
        if run is None:
            run = xla.placed.elementwise(op)
        try:
            found = run(y, x) if reverse else run(x, y)
        except Exception:  # the slow path raises the right error
            return slow(self, other)
        return AcceleratorTensor(found, self._device)

    operate.__name__ = special
    return operate


for _special, (_op_of, _) in operators.FAST.items():
    # Comparisons and what has attributes go through the door.
    if "scalar" in _op_of().rules and not _op_of().attr_names:
        setattr(AcceleratorTensor, _special, _quick(_op_of(), _special))
register_executor(AcceleratorTensor, execute)

__all__ = [
    "AcceleratorLevel",
    "AcceleratorTensor",
    "carried_out",
    "execute",
    "function_on",
    "is_of_host",
    "keep_copies",
    "moved",
    "of_dlpack",
    "on_device",
    "operand",
    "quiet_device",
    "reports_of",
    "result",
]
