"""NodeDefs by name, and the edges between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from intaglio.base import dtypes
from intaglio.graphdef import messages
from intaglio.graphdef.tensors import MalformedError
from intaglio.opdef import raw
from intaglio.opdef.op import MAX_OUTPUTS

# NodeDefs by name, in the order of the message.
Nodes = dict[str, Any]

CONTROL = -1  # the output that control dependencies take

SWITCH, MERGE, ENTER, EXIT, NEXT_ITERATION = (
    (name, f"Ref{name}") for name in ("Switch", "Merge", "Enter", "Exit", "NextIteration")
)
LOOP_CONDITION = "LoopCond"
DATAFLOW = frozenset([*SWITCH, *MERGE, *ENTER, *EXIT, *NEXT_ITERATION, LOOP_CONDITION])


class Edge(NamedTuple):
    """One output of a node, or the control dependency on it."""

    node: str
    output: int = 0

    @property
    def text(self) -> str:
        """The edge as inputs of NodeDefs have it."""
        if self.output == CONTROL:
            return f"^{self.node}"
        return f"{self.node}:{self.output}" if self.output else self.node


def edge(text: str) -> Edge:
    """The edge that an input names. Raises MalformedError."""
    if text[:1] == "^":
        return Edge(text[1:], CONTROL)
    name, _, output = text.partition(":")
    if not (output or "0").isdigit():
        raise MalformedError(f"'{text[:80]}' is not an output of a node")
    return Edge(name, int(output or "0"))


def edges(node: Any) -> Iterator[Edge]:
    """What a node takes and waits for."""
    return map(edge, node.input)


def operand(node: Any, index: int) -> Edge:
    """A data input of a node. Raises MalformedError if there is none."""
    if index >= len(node.input) or node.input[index][:1] == "^":
        raise MalformedError(f"node '{node.name}' ({node.op}) has no input {index}")
    return edge(node.input[index])


def controls(node: Any) -> list[str]:
    """The control dependencies of a node, as its inputs have them."""
    return [text for text in node.input if text[:1] == "^"]


def is_back_edge(nodes: Nodes, node: Any, taken: Edge) -> bool:
    """Whether an edge leads from the end of a loop's body to its begin."""
    source = nodes.get(taken.node)
    return node.op in MERGE and source is not None and source.op in NEXT_ITERATION


def in_order(nodes: Nodes) -> list[str]:
    """The names of nodes, what they take before them, but for back edges.

    Raises MalformedError if other nodes take their inputs from each other in a circle.
    """
    pending: dict[str, set[str]] = {}
    users: dict[str, list[str]] = {}
    for name, node in nodes.items():
        needed = {e.node for e in edges(node) if not is_back_edge(nodes, node, e)}
        pending[name] = needed & nodes.keys()
        for other in pending[name]:
            users.setdefault(other, []).append(name)
    ready = deque([name for name, needed in pending.items() if not needed])
    order: list[str] = []
    while ready:
        name = ready.popleft()
        order.append(name)
        for user in users.get(name, ()):
            pending[user].discard(name)
            if not pending[user]:
                ready.append(user)
    if len(order) < len(nodes):
        stuck = [name for name in nodes if pending[name]][:5]
        raise MalformedError(f"the nodes {stuck} take their inputs from each other in a circle")
    return order


def output_type(node: Any, output: int) -> int:
    """The number of the data type of a node's output. Raises MalformedError if it has none."""
    if node.op in MERGE and output == 1:
        return dtypes.int32.as_datatype_enum
    if node.op == LOOP_CONDITION:
        return dtypes.bool_.as_datatype_enum
    if node.op in DATAFLOW:
        return node.attr["T"].type
    op = raw.find(node.op)
    types: list[int] = []
    for arg in op.sig.outputs if op is not None else ():
        if arg.types:
            types += node.attr[arg.types].list.type
        else:
            dtype = arg.dtype
            kind = _variable(op, node, arg.var or "") if dtype is None else dtype.as_datatype_enum
            types += [kind] * (min(node.attr[arg.number].i, MAX_OUTPUTS) if arg.number else 1)
    if output >= len(types):
        raise MalformedError(f"node '{node.name}' ({node.op}) has no output {output} that is known")
    return types[output]


def _variable(op: Any, node: Any, name: str) -> int:
    """The data type that a type variable of a node is."""
    written = op.graphdef_names.get(name, name)
    if written in node.attr:
        return node.attr[written].type
    default = op.defaults.get(name)
    return default.as_datatype_enum if isinstance(default, dtypes.DType) else 0


def is_stateful(node: Any) -> bool:
    """Whether a node must not run twice for one run of the graph; functions that it calls may not."""
    op = raw.find(node.op)
    calls = any(a.WhichOneof("value") == "func" for a in node.attr.values())
    return calls or op is None or op.stateful


def redirect(nodes: Nodes, edges_by_old: Mapping[Edge, Edge]) -> None:
    """Lets all nodes take other edges, and wait for the nodes of these."""
    if not edges_by_old:
        return
    moved = {old.text: new.text for old, new in edges_by_old.items()}
    moved |= {
        Edge(o.node, CONTROL).text: Edge(n.node, CONTROL).text for o, n in edges_by_old.items()
    }
    for node in nodes.values():
        if any(text in moved for text in node.input):
            inputs = [moved.get(text, text) for text in node.input]
            del node.input[:]
            node.input.extend(inputs)


def unique(name: str, taken: Iterable[str] | Mapping[str, Any]) -> str:
    """A name that is not taken: the name itself, or with a number behind it."""
    number, candidate = 0, name
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def sibling(name: str, label: str, nodes: Nodes) -> str:
    """A new name in the scope of a node."""
    scope, slash, _ = name.rpartition("/")
    return unique(f"{scope}{slash}{label}", nodes)


def copied(node: Any, value: Edge) -> Any:
    """A node `Identity` of a value in the place of a Merge or Exit."""
    copy = messages.NodeDef(op=raw.Identity.name, name=node.name)
    copy.input.append(value.text)
    copy.attr["T"].CopyFrom(node.attr["T"])
    return copy
