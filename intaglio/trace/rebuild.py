"""Making a graph anew from an old one: the part that every pass shares."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from intaglio.base.dtypes import from_numpy
from intaglio.ir.builder import GraphBuilder
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.door import Level
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor


class Fuel:
    """How many rewrites are still allowed: lowering it finds the one that is wrong.

    `INTAGLIO_FUEL=n` lets the first n rewrites of every graph happen.
    """

    def __init__(self, amount: int | None = None) -> None:
        if amount is None:
            amount = int(os.environ.get("INTAGLIO_FUEL", "-1"))
        self.amount = amount
        self.left = amount

    def burn(self) -> bool:
        """Takes one rewrite; False if none is left."""
        if self.left == 0:
            return False
        self.left -= 1
        return True


class Rebuild(Level):
    """The new graph: old nodes are copied with their new inputs, new ones recorded.

    While the level is on top, op calls become nodes that carry the origin of `root`, the
    node being replaced.
    """

    eager = False

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.nodes: list[Node] = []
        self.root: Node | None = None
        self._values: dict[int, SymbolicTensor] = {}
        self._control: dict[int, Node | None] = {}
        self._names: GraphBuilder | None = None
        self._given: set[str] = set()

    def value(self, old: SymbolicTensor) -> SymbolicTensor:
        """What an old value has become."""
        return self._values.get(id(old), old)

    def copy(self, node: Node) -> Node:
        """The node with its inputs as they are now; the same object if nothing changed."""
        values = self._values
        control = node.control
        if control and self._control:
            control = self._mapped_control(control)
        for v in node.inputs:
            if id(v) in values:
                break
        else:
            if control is node.control or control == node.control:
                return node
        inputs = [values.get(id(v), v) for v in node.inputs]
        return self.made(node, inputs, control=control)

    def made(
        self,
        node: Node,
        inputs: Sequence[SymbolicTensor],
        attrs: dict[str, Any] | None = None,
        control: tuple[Node, ...] = (),
    ) -> Node:
        """A node like the old one with other inputs or attributes."""
        specs = [v.spec for v in node.outputs]
        return Node(
            node.op,
            inputs,
            node.attrs if attrs is None else attrs,
            node.name,
            specs,
            control=control,
            origin=node.origin,
            graph=node.graph,
            device=node.device,
            source=node.source or node,
        )

    def _mapped_control(self, control: tuple[Node, ...]) -> tuple[Node, ...]:
        mapped = (self._control.get(id(c), c) for c in control)
        return tuple(dict.fromkeys([c for c in mapped if c is not None]))

    def keep(self, old: Node, new: Node) -> None:
        """The new node takes the old one's place."""
        self.nodes.append(new)
        if new is not old:
            self._control[id(old)] = new
            for before, after in zip(old.outputs, new.outputs, strict=True):
                self._values[id(before)] = after

    def keep_some(self, old: Node, new: Node) -> None:
        """The same for a node that gives more than the old one."""
        self.nodes.append(new)
        self._control[id(old)] = new
        for before, after in zip(old.outputs, new.outputs, strict=False):
            self._values[id(before)] = after

    def substitute(self, old: SymbolicTensor, value: SymbolicTensor) -> None:
        """Another value takes the place of one that a node gives, which stays."""
        self._values[id(old)] = value

    def beside(self, node: Node) -> None:
        """What is recorded now has the origin of a node that stays and keeps its name."""
        self.root = node
        self._given.add(node.name)

    def replace(self, old: Node, values: Sequence[SymbolicTensor]) -> None:
        """Other values take the place of the old node's; the node itself is gone."""
        self._control[id(old)] = None
        for before, after in zip(old.outputs, values, strict=True):
            self._values[id(before)] = after

    def finish(self, op: Op, outputs: Sequence[Tensor]) -> Any:
        return self.nodes[-1]

    def done(self) -> Graph:
        """The new graph, or the old one if it is the same."""
        outputs = [self.value(v) for v in self.graph.outputs]
        same = not self._values and not self._control
        if same and len(self.nodes) == len(self.graph.nodes):
            return self.graph
        return Graph(self.graph.name, self.graph.inputs, self.nodes, outputs)

    # -- recording -----------------------------------------------------------------

    def unique_name(self, name: str) -> str:
        """A node name that the graph does not have."""
        if self._names is None:
            self._names = GraphBuilder()
            for node in self.graph.nodes:
                self._names.unique_name(node.name)
        return self._names.unique_name(name)

    def _label(self, name: str) -> str:
        """The name of what is replaced, which is free, the first time; then others like it."""
        if name in self._given:
            return self.unique_name(name)
        self._given.add(name)
        return name

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        specs = op.output_specs([v.spec for v in inputs], attrs)
        return self._record(op, inputs, attrs, specs).outputs

    def _record(self, op: Op, inputs: Any, attrs: dict[str, Any], specs: list[Spec]) -> Node:
        root = self.root
        label = self._label(root.name if root else op.name)
        node = Node(
            op,
            inputs,
            attrs,
            label,
            specs,
            origin=root.origin if root else (),
            graph=root.graph if root else None,
            source=(root.source or root) if root else None,
        )
        self.nodes.append(node)
        return node

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        spec = Spec(from_numpy(array.dtype), array.shape, array)
        attrs = {"value": array, "dtype": spec.dtype}
        return self._record(raw.Const, (), attrs, [spec]).outputs[0]
