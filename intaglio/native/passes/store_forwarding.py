"""Variables of a graph that is to be one native function: read at its beginning, written at its end.

What was assigned is what a later read gives, so that one value goes from op to op; `variable += x`
becomes an addition. What works on a variable and its companions then is one loop, which writes in
place. Every other node that reads or writes a variable, by its op or by the graphs it runs, comes
after what the graph has assigned before it, and before what it assigns afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import resource
from intaglio.ir import resources
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.ops.state.resource_variable import contents_of

# Ops that become a read, a sum and an assignment.
UPDATES = ("AssignAddVariableOp", "AssignSubVariableOp")


def settled(graph: Graph) -> Graph:
    """The graph in that order; the same one if it has nothing to do with variables."""
    taken = any(v.dtype is resource for n in graph.nodes for v in n.inputs)
    return _Order(graph).graph() if taken else graph


class _Order:
    """The new graph while it is made."""

    def __init__(self, graph: Graph) -> None:
        self.old = graph
        self.inputs = {id(v) for v in graph.inputs}
        self.values: dict[int, SymbolicTensor] = {}
        self.first: list[Node] = []  # reads of what the graph has not written
        self.nodes: list[Node] = []
        # By the id of a variable's handle: its value, and the assignment that is still to come.
        self.known: dict[int, SymbolicTensor] = {}
        self.pending: dict[int, Node] = {}
        self.changed: set[int] = set()

    def graph(self) -> Graph:
        """The graph."""
        placeholders: list[Node] = []
        for node in self.old.nodes:
            if node.outputs and id(node.outputs[0]) in self.inputs:
                placeholders.append(node)
            else:
                self._add(node)
        for handle in list(self.pending):
            self._flush(handle)
        outputs = [self._value(v) for v in self.old.outputs]
        nodes = [*placeholders, *self.first, *self.nodes]
        return Graph(self.old.name, self.old.inputs, nodes, outputs)

    def _value(self, value: SymbolicTensor) -> SymbolicTensor:
        return self.values.get(id(value), value)

    def _add(self, node: Node) -> None:
        name = node.op.name
        inputs = [self._value(v) for v in node.inputs]
        mine = all(id(v) in self.inputs for v in node.inputs if v.dtype is resource)
        if not mine:  # a handle that may be that of any variable
            self._other(node, inputs)
        elif name in ("ReadVariableOp", "_ReadVariablesOp"):
            for handle, value in zip(inputs, node.outputs, strict=True):
                self.values[id(value)] = self._read(node, handle)
        elif name == "AssignVariableOp":
            self._assign(node, inputs[0], inputs[1])
        elif name in UPDATES and shapes.known(contents_of(inputs[0].spec).shape):
            contents = contents_of(inputs[0].spec)
            both = [self._read(node, inputs[0]), inputs[1]]
            change = raw.AddV2 if name == "AssignAddVariableOp" else raw.Sub
            total = _made(node, change, both, {}, [contents])
            self.nodes.append(total)
            self._assign(node, inputs[0], total.outputs[0])
        else:
            self._other(node, inputs)

    def _read(self, node: Node, handle: SymbolicTensor) -> SymbolicTensor:
        key = id(handle)
        if key not in self.known:
            contents = contents_of(handle.spec)
            made = _made(node, raw.ReadVariableOp, [handle], {"dtype": contents.dtype}, [contents])
            (self.nodes if key in self.changed else self.first).append(made)
            self.known[key] = made.outputs[0]
        return self.known[key]

    def _assign(self, node: Node, handle: SymbolicTensor, value: SymbolicTensor) -> None:
        attrs = {**raw.AssignVariableOp.defaults, "dtype": value.dtype}
        self.known[id(handle)] = value
        self.pending[id(handle)] = _made(node, raw.AssignVariableOp, [handle, value], attrs, [])
        self.changed.add(id(handle))

    def _flush(self, handle: int) -> None:
        node = self.pending.pop(handle, None)
        if node is not None:
            self.nodes.append(node)

    def _other(self, node: Node, inputs: Sequence[SymbolicTensor]) -> None:
        for index in range(len(node.inputs)):
            writes = resources.writes(node, index)
            if writes or resources.reads(node, index):
                for handle in self._meant(node.inputs[index]):
                    self._flush(handle)
                    if writes:
                        self.known.pop(handle, None)
                        self.changed.add(handle)
        specs = [v.spec for v in node.outputs]
        made = _made(node, node.op, inputs, node.attrs, specs)
        self.nodes.append(made)
        for old, new in zip(node.outputs, made.outputs, strict=True):
            self.values[id(old)] = new

    def _meant(self, handle: SymbolicTensor) -> Sequence[int]:
        """The ids of the inputs that a handle may be."""
        found = id(resources.origin(handle))
        return [found] if found in self.inputs else list(self.inputs)


def _made(node: Node, op: Op, inputs: Any, attrs: dict[str, Any], specs: Sequence[Spec]) -> Node:
    return Node(
        op,
        inputs,
        attrs,
        node.name,
        specs,
        origin=node.origin,
        graph=node.graph,
        device=node.device,
        source=node.source or node,
    )
