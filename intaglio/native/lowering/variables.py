"""Variables of a native function: read where they lie, and written in place.

The caller hands over where a variable's value is and where the new one goes, which is the same
memory unless somebody else holds the old value. An assignment therefore may overwrite what a
read has given: a value that is used after that is copied when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base import shapes
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.native.llvm.vectors import Unsupported, kind_of
from intaglio.native.lowering.operands import Held, Variable
from intaglio.ops.state.resource_variable import WRITES

if TYPE_CHECKING:
    from intaglio.native.lowering.function import Writer

Value = Any

# What makes another value of the same memory.
ALIASES = frozenset(
    ["Reshape", "Identity", "StopGradient", "Squeeze", "ExpandDims", "StridedSlice",
     "Slice", "Unpack", "Split", "SplitV", "GatherV2", "If", "StatelessIf", "Case",
     "StatelessCase", "While", "StatelessWhile", "PartitionedCall",
     "StatefulPartitionedCall", "IdentityN", "PreventGradient", "Transpose",
     "TensorListFromTensor", "TensorListStack"]
)  # fmt: skip


def assigned(graph: Graph, always: bool = True) -> set[int]:
    """The positions of the graph's inputs that are variables which it writes to.

    Those that it writes to itself count only if `always`; branches and bodies may not run.
    """
    places = {id(v): i for i, v in enumerate(graph.inputs)}
    found: set[int] = set()
    for node in graph.nodes:
        if always and node.op.name in WRITES:
            found.add(places.get(id(node.inputs[0]), -1))
        for inner, first in _inner(node):
            found |= {places.get(id(node.inputs[first + i]), -1) for i in assigned(inner)}
    return found - {-1}


def settle(w: Writer, variable: Variable) -> None:
    """Brings a variable's value to where the new one goes, which then need not be written."""
    size = Held(*_contents(variable)).bytes
    elsewhere = w.code.let(f"icmp ne ptr {variable.pointer}, {variable.target}")
    with w.code.when(elsewhere):
        w.copy(variable.pointer, variable.target, size)
    variable.pointer = variable.target


def _inner(node: Node) -> list[tuple[Graph, int]]:
    """The graphs of a node, each with the place of its first input among the node's."""
    if not node.op.has_graphs:
        return []
    first = 1 if node.op.name in ("If", "StatelessIf", "Case", "StatelessCase") else 0
    return [(g, first) for g in walk.attached(node)]


def _contents(variable: Value) -> tuple[Any, tuple[int, ...]]:
    if not isinstance(variable, Variable) or not shapes.known(variable.spec.shape):
        raise Unsupported("a variable whose shape is not known")
    return kind_of(variable.spec.dtype.numpy), tuple(variable.spec.shape)


def read(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """ReadVariableOp, and _ReadVariablesOp for several."""
    return [_read(w, node, i, v) for i, v in enumerate(inputs)]


def _read(w: Writer, node: Node, number: int, variable: Value) -> Held:
    kind, shape = _contents(variable)
    there = Held(kind, shape, pointer=variable.pointer)
    if there.small:
        return w.in_registers(w.lanes(there), shape)
    if not _overwritten(w, node, number):
        return there
    made = w.room(None, kind, shape)
    w.copy(there.pointer, made.pointer, made.bytes)
    return made


def _overwritten(w: Writer, node: Node, number: int) -> bool:
    """True if the variable is assigned before the last use of the value that is read."""
    scope = w.scopes[-1]
    if len(w.scopes) > 1 and w.writes:  # what the graph around this one does is not seen
        return True
    handle, nodes = node.inputs[number], scope.graph.nodes
    later = [i for i in _takers(scope.graph, handle) if i >= scope.at]
    write = next((i for i in later if _writes(nodes[i], handle)), None)
    return write is not None and _last_use(scope.graph, node.outputs[number]) > _start(
        scope.graph, write
    )


def _writes(node: Node, handle: Any) -> bool:
    if node.op.name in WRITES:
        return node.inputs[0] is handle
    return any(
        node.inputs[first + i] is handle for inner, first in _inner(node) for i in assigned(inner)
    )


def _last_use(graph: Graph, value: Any) -> int:
    """The position of the last node that uses a value, or another one of the same memory."""
    waiting, last = [value], 0
    while waiting:
        one = waiting.pop()
        for i in _takers(graph, one):
            last = max(last, i)
            if i < len(graph.nodes) and graph.nodes[i].op.name in ALIASES:
                waiting += graph.nodes[i].outputs
    return last


def _takers(graph: Graph, value: Any) -> list[int]:
    """The positions of the nodes that take a value; that after the last one for the caller."""
    found: dict[int, list[int]] | None = graph.derived.get(_takers)
    if found is None:
        found = graph.derived[_takers] = {}
        for i, node in enumerate(graph.nodes):
            for taken in node.inputs:
                found.setdefault(id(taken), []).append(i)
        for given in graph.outputs:
            found.setdefault(id(given), []).append(len(graph.nodes))
    return found.get(id(value), [])


def _start(graph: Graph, write: int) -> int:
    """The position of the node that may write to the variable's memory for an assignment."""
    node = graph.nodes[write]
    if node.op.name not in WRITES:
        return write - 1  # a graph that assigns reads what it is given at the same time
    return write


def assign(w: Writer, node: Node, inputs: list[Value]) -> list[Value]:
    """AssignVariableOp."""
    variable, value = inputs
    kind, shape = _contents(variable)
    if value.shape != shape or value.kind != kind:
        raise Unsupported("a variable that gets a value of another shape")
    w.store(value, variable.target)
    w.written = True
    w.undoes |= len(w.scopes) > 1  # a loop may find out in its next turn that it cannot go on
    variable.pointer = variable.target
    return []


def targets(w: Writer, graph: Graph) -> dict[int, str]:
    """Values that may be written where the variable lies that they are assigned to, by their ids.

    Nobody may read the old value afterwards; a loop over elements may read what it writes.
    """
    found: dict[int, str] = {}
    places = {id(n): i for i, n in enumerate(graph.nodes)}
    for node in graph.nodes:
        if node.op.name != "AssignVariableOp":
            continue
        handle, value = node.inputs
        maker, variable = value.node, w.scopes[-1].values.get(id(handle))
        if not isinstance(variable, Variable) or id(maker) not in places:
            continue
        at = places[id(maker)]
        readers = [graph.nodes[i] for i in _takers(graph, handle) if i < len(places)]
        if all(_read_before(graph, n, handle, value, at) for n in readers):
            found.setdefault(id(value), variable.target)
    return found


def _read_before(graph: Graph, node: Node, handle: Any, value: Any, at: int) -> bool:
    """True if a node does not read a variable, or nobody uses what it reads after a position."""
    if not any(v is handle for v in node.inputs) or node.op.name in WRITES:
        return True
    if node.op.name != "ReadVariableOp":
        return False
    read = node.outputs[0]
    last = _last_use(graph, read)
    if last == at and any(v is read for v in value.node.inputs):
        return value.node.op.name == "_FusedElementwise" and read.dims == value.dims
    return last < at


RULES: dict[str, Callable[..., list[Value]]] = {
    "ReadVariableOp": read,
    "_ReadVariablesOp": read,
    "AssignVariableOp": assign,
}
