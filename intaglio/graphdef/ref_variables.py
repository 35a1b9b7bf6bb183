"""Variables of the form of TensorFlow 1, as those of today: a graph rewritten before it is read.

An op `VariableV2` has a reference as its output, which ops such as `Assign` write through and all
others read. Here it becomes a handle, writes become the ops of handles, and reads are spelt out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.dtypes import resource
from intaglio.graphdef.tensors import set_attribute
from intaglio.opdef import raw

_VARIABLES = ("Variable", "VariableV2")
# What hands a reference on, or returns one when it has written through it.
_WRITES = {
    "Assign": raw.AssignVariableOp,
    "AssignAdd": raw.AssignAddVariableOp,
    "AssignSub": raw.AssignSubVariableOp,
}
# What takes a reference into a branch or a loop, and the op that takes a handle there.
_ENTRANCES = {"RefSwitch": "Switch", "RefEnter": "Enter"}


def with_handles(graph_def: Any) -> tuple[Any, set[str]]:
    """The graph, where variables are handles, and the names of those variables.

    A graph without such variables is returned itself. Functions have none: references do not pass.
    """
    variables = {n.name: n for n in graph_def.node if n.op in _VARIABLES}
    if not variables:
        return graph_def, set()
    rewritten = type(graph_def)()
    rewritten.CopyFrom(graph_def)
    del rewritten.node[:]
    rewriter = _Rewriter(rewritten.node, variables, graph_def.node)
    for node in graph_def.node:
        rewriter.add(node)
    return rewritten, set(variables)


class _Rewriter:
    def __init__(self, nodes: Any, variables: dict[str, Any], old: Sequence[Any]) -> None:
        self.nodes = nodes
        self.variables = variables
        self.read: set[str] = set()
        by_name = self.old = {n.name: n for n in old}
        # The variable to which the first output of an op refers, by the op's name.
        self.refers = {name: name for name in variables}
        for node in old:
            chain = []
            while node.name not in self.refers and _hands_on(node) and node.input:
                chain.append(node.name)
                node = by_name.get(node.input[0].partition(":")[0], node)
                if node.name in chain:
                    break
            if node.name in self.refers:
                self.refers |= dict.fromkeys(chain, self.refers[node.name])

    def add(self, node: Any) -> None:
        """Adds what stands for a node."""
        name = node.name
        if name in self.variables:
            self._handle(node)
        elif node.op == "IsVariableInitialized":
            self._node(name, raw.VarIsInitializedOp.name, self._inputs(node, 1))
        elif name in self.refers and (node.op in _WRITES or node.op.startswith("Scatter")):
            self._write(node)
        elif name in self.refers and node.op in _ENTRANCES:
            added = self._node(name, _ENTRANCES[node.op], self._inputs(node, 1))
            for key in node.attr:
                added.attr[key].CopyFrom(node.attr[key])
            added.attr["T"].type = resource.as_datatype_enum
        elif node.op.startswith("Apply") or node.op.startswith("SparseApply"):
            self._apply(node)
        else:
            added = self.nodes.add()
            added.CopyFrom(node)
            del added.input[:]
            added.input.extend(self._inputs(node, 0))
            if node.op == "RefIdentity":
                added.op = raw.Identity.name

    def _handle(self, node: Any) -> None:
        added = self._node(node.name, raw.VarHandleOp.name, list(node.input))
        for key in ("dtype", "shape", "container", "shared_name"):
            added.attr[key].CopyFrom(node.attr[key])
        added.attr["shared_name"].s = node.attr["shared_name"].s or node.name.encode()

    def _write(self, node: Any) -> None:
        """A write, and under the old name a read of what is there then."""
        write = f"{node.name}/write"
        if node.op in _WRITES:
            added = self._node(write, _WRITES[node.op].name, self._inputs(node, 1))
        else:
            added = self._node(write, f"Resource{node.op}", self._inputs(node, 1))
            added.attr["Tindices"].CopyFrom(node.attr["Tindices"])
        added.attr["dtype"].CopyFrom(node.attr["T"])
        self._value(node.name, node.input[0], [f"^{write}"])

    def _apply(self, node: Any) -> None:
        """A step of an optimizer: its first inputs are variables."""
        count = 0
        for text in node.input:
            if text.partition(":")[0] not in self.refers:
                break
            count += 1
        write = f"{node.name}/write"
        added = self._node(write, f"Resource{node.op}", self._inputs(node, count))
        for key in node.attr:
            added.attr[key].CopyFrom(node.attr[key])
        if count:
            self._value(node.name, node.input[0], [f"^{write}"])

    def _inputs(self, node: Any, handles: int) -> list[str]:
        """The inputs of a node, of which the first are handles; others are values."""
        found: list[str] = []
        controls = [text for text in node.input if text[:1] == "^"]
        waits: list[str] = []
        for i, text in enumerate(node.input):
            name = text.partition(":")[0]
            if i < handles and name in self.refers:
                found.append(self._handle_of(text))
                if name not in self.variables and not self._enters(name):
                    waits.append(f"^{name}")  # what was written there before
            elif name in self.variables:
                found.append(self._read_of(name))
            elif self._enters(name):  # in a branch or a loop, the value that is there by then
                found.append(f"{node.name}/value_of_reference_{i}")
                self._value(found[-1], text, controls)
            else:
                found.append(text)
        return found + waits

    def _enters(self, name: str) -> bool:
        return name in self.refers and self.old[name].op in _ENTRANCES

    def _handle_of(self, text: str) -> str:
        """The handle that a reference has become: the variable, or what a branch or a loop has of it."""
        name = text.partition(":")[0]
        while name not in self.variables and not self._enters(name):
            text = self.old[name].input[0]
            name = text.partition(":")[0]
        return text

    def _read_of(self, name: str) -> str:
        own = f"{name}/value_of_reference"
        if name not in self.read:
            self.read.add(name)
            self._value(own, name, [])
        return own

    def _value(self, name: str, reference: str, waits: list[str]) -> None:
        variable = self.variables[self.refers[reference.partition(":")[0]]]
        read = self._node(name, raw.ReadVariableOp.name, [self._handle_of(reference), *waits])
        read.attr["dtype"].CopyFrom(variable.attr["dtype"])

    def _node(self, name: str, op: str, inputs: list[str]) -> Any:
        return self.nodes.add(name=name, op=op, input=inputs)


def _hands_on(node: Any) -> bool:
    return (
        node.op in _WRITES
        or node.op in _ENTRANCES
        or node.op == "RefIdentity"
        or node.op.startswith(("Scatter", "Apply"))
    ) and node.op != raw.ScatterNd.name


def own_resources(graph_def: Any, suffix: str) -> None:
    """Gives the tables and queues of a graph names of their own, so that no other graph shares them."""
    for node in graph_def.node:
        if "shared_name" in node.attr and node.op != raw.VarHandleOp.name:
            name = node.attr["shared_name"].s or node.name.encode()
            set_attribute(node.attr["shared_name"], name + suffix.encode(), "str", str)
