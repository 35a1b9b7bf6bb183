"""Runs graphs: one graph becomes one flat Python function that calls the kernels in order.

No look-ups by name remain: kernels, attributes and constants are globals of the generated
code, values are its locals, and a value is dropped after its last use. A large intermediate
value that only one elementwise kernel takes gives that kernel its memory for the result.
The first run of a graph, which may be the only one, goes node by node without generated code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import errors
from intaglio.base.devices import absent, available, elsewhere
from intaglio.base.dtypes import from_numpy
from intaglio.base.files import LOCAL_PATHS, check_local
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.locks import lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import RAISES, Op
from intaglio.runtime.hooks import HOOKS, SERVICES, PerNode

Compiled = Callable[..., tuple[Any, ...]]
# A node's kernel that replaces its op's: it takes the inputs' arrays one by one, and returns
# one array, or several for a node of several outputs. None: the op's own kernel is called.
Kernels = Callable[[Node], Callable[..., Any] | None]


def run_graph(graph: Graph, arrays: Sequence[Any]) -> list[Any]:
    """Runs a branch, body or called graph on arrays; returns its outputs as arrays."""
    run = repeated(graph) if COMPILER in graph.derived else compiled(graph)
    return list(run(*arrays))


class _Raises:
    """Creates the error of a node, where that is not its op's own."""

    def for_node(self, op: Op, attrs: dict[str, Any]) -> Any:
        return attrs.get(RAISES)

    def for_call(self, op: Op, types: dict[str, Any], attrs: dict[str, Any]) -> Any:
        return None


ERROR_OF_NODE = _Raises()


def compiled(graph: Graph) -> Compiled:
    """The graph as a Python function of its input arrays, built once."""
    function = graph.compiled
    if function is None:
        function = graph.compiled = _GraphSource(graph).function()
    return function


# The key in `Graph.derived` of another compiler for the graph, used from its first call on.
COMPILER = "compiler"
# The key in `Graph.derived` of True for a graph for which the program neither requires nor forbids machine code.
MAY_BE_COMPILED = "may be compiled"


def compiler_of(graph: Graph) -> Callable[[Graph], Compiled] | None:
    """The graph's own compiler to a Python function, if it has one."""
    return graph.derived.get(COMPILER)


def inherit(graph: Graph, copied: Graph) -> None:
    """Sets the compiler of graphs derived from a graph (its forward and backward graphs) to the graph's own."""
    for key in (COMPILER, MAY_BE_COMPILED):
        if key in graph.derived:
            copied.derived.setdefault(key, graph.derived[key])


def repeated(graph: Graph) -> Compiled:
    """The graph as a function for repeated calls: optimised from the second call on."""
    found = graph.optimized_run
    if found is None:
        compiler = compiler_of(graph)
        if compiler is not None:
            found = graph.optimized_run = compiler(graph)
            return found
        if graph.compiled is None and not HOOKS.compiles_at_once(graph):
            return compiled(graph)
        found = graph.optimized_run = HOOKS.compile_repeated(graph)
    return found


def run_nodes(graph: Graph, *arrays: Any) -> tuple[Any, ...]:
    """The graph's outputs for arrays, computed node by node: for a graph that may run only once.

    Generating code takes longer than running it once, and many traces are called once. Values are
    dropped after their last use.
    """
    _check_runnable(graph)
    last = _last_uses(graph).dropped
    # By id: tensors compare element by element.
    values = {id(v): array for v, array in zip(graph.inputs, arrays, strict=True)}
    for node in graph.nodes:
        op = node.op
        if op is raw.Const:
            values[id(node.outputs[0])] = node.attrs["value"]
            continue
        if op is raw.Placeholder and id(node.outputs[0]) in values:
            continue
        operands = [values[id(v)] for v in node.inputs]
        for value in last.get(node, ()):
            del values[id(value)]
        for value, array in zip(node.outputs, run_node(node, operands), strict=True):
            values[id(value)] = array
    return tuple([values[id(v)] for v in graph.outputs])


def run_node(node: Node, operands: list[Any]) -> list[Any]:
    """The outputs of a node for the arrays of its inputs."""
    op, attrs = node.op, node.attrs
    if LOCAL_PATHS in attrs:
        _check_paths(op, operands.__getitem__)
    kernel = op.fitted_kernel([v.spec for v in node.inputs], attrs)
    if kernel is None and op.plain:
        kernel = op.kernel_fn
    return flat_result(op, kernel(*operands) if kernel else call_kernel(op, operands, attrs, node))


def compiled_with(graph: Graph, kernels: Kernels) -> Compiled:
    """The graph as a function that calls a compiler's kernels where it has any."""
    return _GraphSource(graph, kernels=kernels).function()


def compiled_anew(graph: Graph) -> Compiled:
    """The graph compiled again, as a function with random streams of its own."""
    return _GraphSource(graph, own_streams=True).function()


def call_kernel(
    op: Op,
    arrays: Sequence[Any],
    attrs: dict[str, Any],
    node: Node | None = None,
    run: Callable[[Graph, Sequence[Any]], list[Any]] | None = None,
    stream: Any = None,
) -> Any:
    """Calls an op's kernel with the services it requests: as eager calls do, or for a node.

    `run`, if given, replaces the usual service that executes branches and bodies; `stream`, if given,
    the node's own state of a random op.
    """
    values = op.sig.group(arrays, attrs) if op.has_lists else arrays
    types = None
    args: list[Any] = []
    for kind, key in op.kernel_order:
        if kind == "input":
            args.append(values[key])
        elif kind == "attr":
            args.append(attrs[key])
        elif kind == "service":
            service: Any = run if run and key == "run" else getattr(SERVICES, key)
            if stream is not None and key == "stream":
                service = stream
            elif node is not None and hasattr(service, "for_node"):
                service = kept(node, service)
            elif hasattr(service, "for_call"):
                types = types or op.types_of([_Typed(a) for a in arrays], attrs)
                service = service.for_call(op, types, attrs)
            args.append(service)
        else:
            types = types or op.types_of([_Typed(a) for a in arrays], attrs)
            args.append(types[key])
    return op.kernel_fn(*args)


class _Typed:
    """An array with its DType, for working out type variables."""

    __slots__ = ("dtype",)

    def __init__(self, array: Any) -> None:
        self.dtype = dtype_of(array)


def dtype_of(array: Any) -> Any:
    """The DType of an array or resource object."""
    return from_numpy(array.dtype)


def flat_result(op: Op, result: Any) -> list[Any]:
    """A kernel's result as a flat list of arrays."""
    if not op.output_names:
        return []
    if op.result is None:
        return list(result) if op.has_list_outputs else [result]
    flat: list[Any] = []
    for arg, item in zip(op.sig.outputs, result, strict=True):
        flat.extend(item) if arg.is_list else flat.append(item)
    return flat


# Results of at least this many bytes are written over an operand that is dead:
# new memory of that size costs more than the arithmetic.
MIN_REUSED_BYTES = 1 << 16


def _is_fresh(node: Node) -> bool:
    """True if the node's result is an array of its own: no view, no input, no constant."""
    return isinstance(node.op.kernel_fn, np.ufunc) or node.op.fresh_result


# Serial numbers that distinguish graphs of one name, whose generated code is shared.
_NUMBER = re.compile(r"_\d+$")


class _Line(NamedTuple):
    """A line of a graph's code: the node that it runs, and the variables that hold its inputs."""

    node: Node
    inputs: tuple[str, ...]

    def operands(self, frame: FrameType) -> list[Any]:
        """The arrays of the inputs in a frame of the code."""
        local, constants = frame.f_locals, frame.f_globals
        return [local[n] if n in local else constants[n] for n in self.inputs]


def _check_runnable(graph: Graph) -> None:
    """Raises the error of a node that cannot run here: without a kernel, or for a device that is not there."""
    inputs = {v.node for v in graph.inputs}
    for node in graph.nodes:
        if node.op is raw.Const or node in inputs:
            continue
        if node.op.kernel_fn is None:
            raise errors.UnimplementedError(
                None, node, f"op {node.op.name} has no kernel and cannot be interpreted"
            )
        if not node.device:
            continue
        other = elsewhere(node.device)
        if other is not None:
            raise errors.InvalidArgumentError(
                None,
                node,
                f"Cannot assign a device for operation {node.name}: Could not satisfy device specification '{other}'. "
                f"All available devices {available()}.",
            )
        if not OPTIONS.soft_placement and absent(node.device):
            raise errors.InvalidArgumentError(
                None, node, f"Unable to find any devices for spec {node.device}"
            )


class _LastUses(NamedTuple):
    """The values that die after each node, and those that have several uses."""

    dropped: dict[Node, list[SymbolicTensor]]
    shared: set[int]  # ids of values that several nodes or the caller take


def _last_uses(graph: Graph) -> _LastUses:
    kept = {id(v) for v in graph.outputs}
    shared = set(kept)
    seen: dict[int, Node] = {}
    last: dict[Node, list[SymbolicTensor]] = {}
    for node in reversed(graph.nodes):
        for value in node.inputs:
            key = id(value)
            user = seen.setdefault(key, node)
            if user is not node:
                shared.add(key)
            elif key not in kept and value.node.op is not raw.Const:
                kept.add(key)
                last.setdefault(node, []).append(value)
    return _LastUses(last, shared)


class _GraphSource:
    """Generates the Python source of a graph."""

    def __init__(
        self, graph: Graph, own_streams: bool = False, kernels: Kernels | None = None
    ) -> None:
        self.graph = graph
        self.kernels = kernels
        self.own_streams = own_streams
        self.space: dict[str, Any] = {}
        self.names: dict[int, str] = {}  # by id: tensors compare element by element
        self.lines: list[str] = []
        self.line_map: list[_Line | None] = [None]
        self.last_uses = _last_uses(graph)

    def function(self) -> Compiled:
        """The compiled function."""
        for i, value in enumerate(self.graph.inputs):
            self.names[id(value)] = f"i{i}"
        _check_runnable(self.graph)
        for index, node in enumerate(self.graph.nodes):
            if node.op is raw.Placeholder and id(node.outputs[0]) in self.names:
                continue
            self._write(index, node)
            for value in self.last_uses.dropped.get(node, ()):
                self.lines.append(f" {self.names[id(value)]} = None")
                self.line_map.append(None)
        results = ", ".join([self.names[id(v)] for v in self.graph.outputs])
        inputs = ", ".join([f"i{i}" for i in range(len(self.graph.inputs))])
        text = (
            f"def run({inputs}):\n"
            + "\n".join(self.lines)
            + f"\n return ({results}{',' if results else ''})\n"
        )
        name = f"graph {_NUMBER.sub('', self.graph.name)}"
        return GeneratedCode(name, text, self.space, self.line_map).function("run")

    def _overwritten(self, node: Node) -> str:
        """The operand whose memory the result takes, as one more argument; or nothing."""
        result = node.outputs[0].spec
        count = result.count
        if count is None or count * result.dtype.size < MIN_REUSED_BYTES:
            return ""
        for value in node.inputs:
            if (
                id(value) not in self.last_uses.shared
                and value.dtype is result.dtype
                and value.dims == result.shape
                and _is_fresh(value.node)
            ):
                return f", {self.names[id(value)]}"
        return ""

    def _write(self, index: int, node: Node) -> None:
        op = node.op
        if op is raw.Const:
            name = f"c{index}"
            self.space[name] = node.attrs["value"]
            self.names[id(node.outputs[0])] = name
            return
        fitted = self.kernels(node) if self.kernels else None
        if fitted is None:
            fitted = op.fitted_kernel([v.spec for v in node.inputs], node.attrs)
        kernel = fitted or op.kernel_fn
        self.space[f"k{index}"] = (
            _for_local_paths(op, kernel) if LOCAL_PATHS in node.attrs else kernel
        )
        if fitted:
            arguments = ", ".join([self.names[id(v)] for v in node.inputs])
        else:
            arguments = ", ".join(self._arguments(index, node))
        if op.plain and isinstance(kernel, np.ufunc):
            arguments += self._overwritten(node)
        targets = [f"v{index}_{i}" for i in range(len(node.outputs))]
        self.names.update(zip(map(id, node.outputs), targets, strict=True))
        call = f"k{index}({arguments})"
        if op.result is not None and op.has_list_outputs:
            self.space[f"o{index}"] = op
            self.space["flat_result"] = flat_result
            call = f"flat_result(o{index}, {call})"
        if op.result is not None or op.has_list_outputs:
            left = ", ".join(targets) + "," if targets else "()"
            self.lines.append(f" {left} = {call}" if targets else f" {call}")
        else:
            self.lines.append(f" {targets[0]} = {call}" if targets else f" {call}")
        self.line_map.append(_Line(node, tuple([self.names[id(v)] for v in node.inputs])))

    def _arguments(self, index: int, node: Node) -> list[str]:
        op = node.op
        names = [self.names[id(v)] for v in node.inputs]
        if op.plain:
            return names
        grouped = op.sig.group(names, node.attrs) if op.has_lists else names
        types = None
        texts: list[str] = []
        for kind, key in op.kernel_order:
            if kind == "input":
                item = grouped[key]
                texts.append(f"[{', '.join(item)}]" if isinstance(item, list) else item)
                continue
            if kind == "attr":
                value = node.attrs[key]
            elif kind == "service":
                value = getattr(SERVICES, key)
                if hasattr(value, "for_node"):
                    value = self._service_state(node, value)
            else:
                types = types or op.types_of(node.inputs, node.attrs)
                value = types[key]
            if value is None or type(value) is bool or type(value) is int:
                texts.append(repr(value))
                continue
            name = f"a{index}_{key}"
            self.space[name] = value
            texts.append(name)
        return texts

    def _service_state(self, node: Node, service: PerNode) -> Any:
        """The state that a service keeps for a node: one for the traced node, shared by all its rewrites.

        A trace runs as it is first and optimised later; its random numbers continue.
        """
        if self.own_streams:
            return service.for_node(node.op, node.attrs)
        return kept(node, service)


def _check_paths(op: Op, operand: Callable[[int], Any]) -> None:
    """Raises PermissionDeniedError if one of the inputs that name files names one that is not local."""
    for name in op.path_inputs:
        check_local(operand(op.input_names.index(name)))


def _for_local_paths(op: Op, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The op's kernel, which checks the paths among its arguments first."""
    position = {key: i for i, (kind, key) in enumerate(op.kernel_order) if kind == "input"}

    def run(*arguments: Any) -> Any:
        _check_paths(op, lambda index: arguments[position[index]])
        return kernel(*arguments)

    return run


_keeping = lasting_lock()


def kept(node: Node, service: PerNode) -> Any:
    """The state that a service keeps for a traced node, in every function of its graph."""
    traced = node.source or node
    try:
        return traced.kept
    except AttributeError:
        with _keeping:
            if not hasattr(traced, "kept"):
                traced.kept = service.for_node(node.op, node.attrs)
        return traced.kept


class _Running(NamedTuple):
    """A node that was running, and the arrays of its inputs."""

    node: Node
    operands: list[Any]


def _running(error: BaseException) -> Iterator[_Running]:
    """The nodes of graphs that an error came through, outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        code = GeneratedCode.of(frame)
        if frame.f_code is run_nodes.__code__ and "operands" in frame.f_locals:
            yield _Running(frame.f_locals["node"], frame.f_locals["operands"])
        elif code is not None and code.line_map:
            code.show()
            line = code.at(traceback.tb_lineno)
            if line is not None:
                yield _Running(line.node, line.operands(frame))
        traceback = traceback.tb_next


def failing_nodes(error: BaseException) -> list[Node]:
    """The nodes that an error came through: calls, branches and loops, then the one that raised."""
    return [running.node for running in _running(error)]


def failing_node(error: BaseException) -> Node | None:
    """The node whose kernel raised."""
    nodes = failing_nodes(error)
    return nodes[-1] if nodes else None


def failing_inputs(error: BaseException) -> dict[str, Any]:
    """The arrays that the failing kernel took, by the op's input names; lists of arrays for list inputs."""
    running = list(_running(error))
    if not running:
        return {}
    node, operands = running[-1]
    grouped = node.op.sig.group(operands, node.attrs)
    return dict(zip(node.op.input_names, grouped, strict=True))


def is_users(error: BaseException) -> bool:
    """True for an exception of the user's own program, which the graph raises on its behalf."""
    node = failing_node(error)
    return node is not None and RAISES in node.attrs


def as_array(value: Any) -> Any:
    """A kernel's scalar as an array; resources stay as they are."""
    return np.asarray(value) if isinstance(value, np.generic) else value
