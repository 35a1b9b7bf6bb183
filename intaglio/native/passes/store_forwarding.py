"""Store-to-load forwarding for variables: a native function reads them first and writes them last.

A later read gives the assigned value, so values go from op to op; `variable += x` becomes an
addition. The update of a variable and its optimizer slots is then one loop that writes in place.
Every other node that reads or writes a variable, by its op or by the graphs it runs, comes after
the assignments before it, and before those after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import resource
from intaglio.ir import resources
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.ops.state.resource_variable import contents_of

# Ops that become a read, an op on values with the same further inputs, and an assignment.
UPDATES: dict[Op, Op] = {
    raw.AssignAddVariableOp: raw.AddV2,
    raw.AssignSubVariableOp: raw.Sub,
    raw.ResourceStridedSliceAssign: raw.TensorStridedSliceUpdate,
}


def forward_stores(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph in that order; the same graph if it has no variables."""
    fuel = fuel or Fuel()
    taken = any(v.dtype is resource for n in graph.nodes for v in n.inputs)
    return _Forwarding(graph).graph() if taken and fuel.burn() else graph


class _Forwarding:
    """Builds the new graph."""

    def __init__(self, graph: Graph) -> None:
        self.old = graph
        self.new = Rewriter(graph)
        self.inputs = {id(v) for v in graph.inputs}
        self.first: list[Node] = []  # reads of variables that the graph has not written
        # By the id of a variable's handle: its value, and the pending assignment.
        self.known: dict[int, SymbolicTensor] = {}
        self.pending: dict[int, Node] = {}
        self.changed: set[int] = set()

    def graph(self) -> Graph:
        """The new graph."""
        placeholders: list[Node] = []
        for node in self.old.nodes:
            if node.outputs and id(node.outputs[0]) in self.inputs:
                placeholders.append(node)
            else:
                self._add(node)
        for handle in list(self.pending):
            self._flush(handle)
        self.new.nodes[:0] = [*placeholders, *self.first]
        # Operands of assignments that were overwritten are dead.
        return prune(self.new.result())

    def _add(self, node: Node) -> None:
        op = node.op
        inputs = self.new.values(node.inputs)
        is_input = all(id(v) in self.inputs for v in node.inputs if v.dtype is resource)
        if not is_input:  # a handle that may be that of any variable
            self._other(node, inputs)
        elif op in (raw.ReadVariableOp, raw._ReadVariablesOp):
            self.new.replace(node, [self._read(node, handle) for handle in inputs])
        elif op is raw.AssignVariableOp:
            self._assign(node, inputs[0], inputs[1])
            self.new.drop(node)
        elif op in UPDATES and shapes.known(contents_of(inputs[0].spec).shape):
            change = UPDATES[op]
            attrs = {name: node.attrs[name] for name in change.defaults if name in node.attrs}
            taken = [self._read(node, inputs[0]), *inputs[1:]]
            specs = [contents_of(inputs[0].spec)]
            changed = self.new.like(node, taken, op=change, attrs=attrs, specs=specs)
            self._assign(node, inputs[0], changed.outputs[0])
            self.new.drop(node)
        else:
            self._other(node, inputs)

    def _read(self, node: Node, handle: SymbolicTensor) -> SymbolicTensor:
        key = id(handle)
        if key not in self.known:
            contents = contents_of(handle.spec)
            attrs = {"dtype": contents.dtype}
            read = self._derived(node, raw.ReadVariableOp, [handle], attrs, [contents])
            (self.new.nodes if key in self.changed else self.first).append(read)
            self.known[key] = read.outputs[0]
        return self.known[key]

    def _assign(self, node: Node, handle: SymbolicTensor, value: SymbolicTensor) -> None:
        attrs = {**raw.AssignVariableOp.defaults, "dtype": value.dtype}
        self.known[id(handle)] = value
        assign = self._derived(node, raw.AssignVariableOp, [handle, value], attrs, [])
        self.pending[id(handle)] = assign
        self.changed.add(id(handle))

    def _derived(
        self,
        node: Node,
        op: Op,
        inputs: Sequence[SymbolicTensor],
        attrs: dict[str, Any],
        specs: Sequence[Spec],
    ) -> Node:
        """A node derived from `node` that is emitted later."""
        name = self.new.label(node.name)
        return derived(node, inputs, op=op, attrs=attrs, specs=specs, name=name)

    def _flush(self, handle: int) -> None:
        node = self.pending.pop(handle, None)
        if node is not None:
            self.new.add(node)

    def _other(self, node: Node, inputs: Sequence[SymbolicTensor]) -> None:
        for index in range(len(node.inputs)):
            writes = resources.writes(node, index)
            if writes or resources.reads(node, index):
                for handle in self._possible_inputs(node.inputs[index]):
                    self._flush(handle)
                    if writes:
                        self.known.pop(handle, None)
                        self.changed.add(handle)
        # Other control inputs are emitted before it in any case, or are effects, which keep their
        # order.
        self.new.keep(node, derived(node, inputs) if node.control else None)

    def _possible_inputs(self, handle: SymbolicTensor) -> Sequence[int]:
        """The ids of the inputs that a handle may be."""
        found = id(resources.origin(handle))
        return [found] if found in self.inputs else list(self.inputs)
