"""The graph rewriter, by which every pass derives a new graph from an old one.

A pass walks the nodes of a graph in order and decides for each: it is kept (`keep`),
replaced by other values (`replace`), dropped (`drop`) or absorbed by another node (`absorb`). The
`Rewriter` maps the inputs and control inputs of later nodes, and passes on provenance: where the user
wrote a node, its device, the traced node that it comes from. Graphs and nodes are immutable: what
did not change is shared by both graphs.

    new = Rewriter(graph)
    for node in graph.nodes:
        if is_double_negation(node) and fuel.burn():
            new.replace(node, [new.value(node.inputs[0].node.inputs[0])])
        else:
            new.keep(node)
    return new.result()
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.base.dtypes import from_numpy
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.door import Level
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor


class Meter:
    """Fuel shared by all passes over all graphs of this thread, for a bisection.

    `spent` counts the rewrites so far; at most `limit` rewrites happen.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0

    def burn(self) -> bool:
        """Consumes fuel for one rewrite; False if none is left."""
        if self.spent >= self.limit:
            return False
        self.spent += 1
        return True

    def step(self, stage: str, name: str, before: Graph, after: Graph, spent: int) -> None:
        """Called after a pass with its pipeline and name, both graphs, and `spent` before it."""


class _Active(threading.local):
    meter: Meter | None = None


_active = _Active()


@contextmanager
def metered(meter: Meter) -> Generator[None]:
    """Makes all passes that this thread runs in the block share the fuel of one meter."""
    outer, _active.meter = _active.meter, meter
    try:
        yield
    finally:
        _active.meter = outer


def active_meter() -> Meter | None:
    """The meter of the innermost block of this thread, if there is one."""
    return _active.meter


class Fuel:
    """The number of rewrites that are still allowed; a bisection over it finds a wrong rewrite.

    `INTAGLIO_FUEL=n` permits the first n rewrites of every graph.
    """

    def __init__(self, amount: int | None = None) -> None:
        self._meter = _active.meter
        if self._meter is not None:
            amount = self._meter.limit
        elif amount is None:
            amount = int(os.environ.get("INTAGLIO_FUEL", "-1"))
        self.amount = amount
        self.left = amount

    def burn(self) -> bool:
        """Consumes fuel for one rewrite; False if none is left."""
        if self._meter is not None:
            return self._meter.burn()
        if self.left == 0:
            return False
        self.left -= 1
        return True


def derived(
    node: Node,
    inputs: Sequence[SymbolicTensor],
    *,
    op: Op | None = None,
    attrs: dict[str, Any] | None = None,
    specs: Sequence[Spec] | None = None,
    control: tuple[Node, ...] = (),
    name: str | None = None,
) -> Node:
    """A node with the provenance of another: its origin, device, name and traced node.

    By default it is of the same op, with the same attributes and output specs. Of another op it
    has no attributes by default.
    """
    if attrs is None:
        attrs = node.attrs if op is None or op is node.op else {}
    return Node(
        op or node.op,
        inputs,
        attrs,
        node.name if name is None else name,
        [v.spec for v in node.outputs] if specs is None else specs,
        control=control,
        origin=node.origin,
        graph=node.graph,
        device=node.device,
        source=node.source or node,
    )


class Rewriter(Level):
    """Derives a new graph from an old one; `nodes` are the nodes of the new graph so far.

    It is also a level: while it is on top, op calls append nodes with the origin of `root`, the node
    that is being replaced.
    """

    eager = False

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.nodes: list[Node] = []
        self.root: Node | None = None
        self._values: dict[int, SymbolicTensor] = {}
        self._control: dict[int, Node | None] = {}
        # The names in use, each with the last number appended to it.
        self._names: dict[str, int] | None = None
        self._names_used: set[str] = set()

    # -- the mapping from old to new values --------------------------------------------

    def value(self, old: SymbolicTensor) -> SymbolicTensor:
        """The new value of an old one."""
        return self._values.get(id(old), old)

    def values(self, old: Iterable[SymbolicTensor]) -> list[SymbolicTensor]:
        """The new values of old ones."""
        return [self._values.get(id(v), v) for v in old]

    def control(self, node: Node) -> tuple[Node, ...]:
        """The new control inputs of an old node, without repetitions."""
        if not node.control or not self._control:
            return node.control
        mapped = (self._control.get(id(c), c) for c in node.control)
        return tuple(dict.fromkeys([c for c in mapped if c is not None]))

    def copy(self, node: Node) -> Node:
        """The node with its new inputs; the same object if none has changed."""
        values = self._values
        control = self.control(node)
        for v in node.inputs:
            if id(v) in values:
                break
        else:
            if control is node.control or control == node.control:
                return node
        return derived(node, [values.get(id(v), v) for v in node.inputs], control=control)

    # -- decisions about a node ----------------------------------------------------------

    def keep(self, old: Node, new: Node | None = None) -> Node:
        """Keeps the node, with its new inputs, or as the node `new`; returns the node of the new graph."""
        values = self._values
        if new is None:
            # Most nodes are unchanged and need no entry in the mapping.
            if not (old.control and self._control):
                for v in old.inputs:
                    if id(v) in values:
                        break
                else:
                    self.nodes.append(old)
                    return old
            new = self.copy(old)
        self.nodes.append(new)
        if new is not old:
            self._control[id(old)] = new
            for before, after in zip(old.outputs, new.outputs, strict=True):
                values[id(before)] = after
        return new

    def keep_extended(self, old: Node, new: Node) -> None:
        """Keeps the node as `new`, which has further outputs."""
        self.nodes.append(new)
        self._control[id(old)] = new
        for before, after in zip(old.outputs, new.outputs, strict=False):
            self._values[id(before)] = after

    def replace(self, old: Node, values: Sequence[SymbolicTensor]) -> None:
        """Replaces the old node's values by others and removes the node."""
        self._control[id(old)] = None
        for before, after in zip(old.outputs, values, strict=True):
            self._values[id(before)] = after

    def drop(self, old: Node) -> None:
        """Removes a node without users of its values; control dependencies on it are removed too."""
        self._control[id(old)] = None

    def absorb(self, old: Iterable[Node], new: Node) -> None:
        """Removes nodes that `new` replaces; control dependencies on them become dependencies on it."""
        for node in old:
            self._control[id(node)] = new

    def substitute(self, old: SymbolicTensor, value: SymbolicTensor) -> None:
        """Replaces a value by another, independently of the decision about its node."""
        self._values[id(old)] = value

    # -- new nodes -----------------------------------------------------------------------

    def add(self, node: Node) -> Node:
        """Appends a node that replaces none."""
        self.nodes.append(node)
        return node

    def like(
        self,
        node: Node,
        inputs: Sequence[SymbolicTensor],
        *,
        op: Op | None = None,
        attrs: dict[str, Any] | None = None,
        specs: Sequence[Spec] | None = None,
        control: tuple[Node, ...] = (),
    ) -> Node:
        """Appends a node `derived` from an old one that is to be replaced.

        The first one gets the old node's name, further ones a name with a number.
        """
        label = self.label(node.name)
        return self.add(
            derived(node, inputs, op=op, attrs=attrs, specs=specs, control=control, name=label)
        )

    def splice(
        self,
        graph: Graph,
        inputs: Sequence[SymbolicTensor],
        copy: Callable[[Node, list[SymbolicTensor], tuple[Node, ...]], Node],
    ) -> list[SymbolicTensor]:
        """Inlines another graph for these inputs; returns its outputs.

        `copy` is called with a node of that graph and its new inputs and control inputs; it appends and
        returns the copy.
        """
        values = {id(a): b for a, b in zip(graph.inputs, inputs, strict=True)}
        arguments = {id(v.node) for v in graph.inputs}
        copies: dict[int, Node] = {}
        for node in graph.nodes:
            if id(node) in arguments:
                continue
            control = tuple([copies[id(c)] for c in node.control if id(c) in copies])
            copied = copies[id(node)] = copy(node, [values[id(v)] for v in node.inputs], control)
            values.update((id(a), b) for a, b in zip(node.outputs, copied.outputs, strict=True))
        return [values[id(v)] for v in graph.outputs]

    def record_beside(self, node: Node) -> None:
        """Sets the origin of nodes recorded from now on to that of a node which keeps its name."""
        self.root = node
        self._names_used.add(node.name)

    # -- the new graph -------------------------------------------------------------------

    def result(self, outputs: Sequence[SymbolicTensor] | None = None) -> Graph:
        """The new graph, or the old one if nothing has changed.

        By default its outputs are the new values of the old outputs.
        """
        old = self.graph
        if outputs is None:
            outputs = self.values(old.outputs)
        if len(self.nodes) == len(old.nodes):
            same = all(map(operator.is_, self.nodes, old.nodes))
            if same and all(map(operator.is_, outputs, old.outputs)):
                return old
        return Graph(old.name, self.values(old.inputs), self.nodes, outputs)

    # -- recording -----------------------------------------------------------------------

    def finish(self, op: Op, outputs: Sequence[Tensor]) -> Any:
        return self.nodes[-1]

    def unique_name(self, name: str) -> str:
        """A name that no node of the graph has."""
        if self._names is None:
            self._names = dict.fromkeys([n.name for n in self.graph.nodes], 0)
        names = self._names
        number, unique = names.get(name, -1), name
        while unique in names:
            number += 1
            unique = f"{name}_{number}" if number else name
        names[name] = max(number, 0)
        names.setdefault(unique, 0)
        return unique

    def label(self, name: str) -> str:
        """A name for a replacement of a node: the node's own the first time, then numbered ones."""
        if name in self._names_used:
            return self.unique_name(name)
        self._names_used.add(name)
        return name

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        specs = op.output_specs([v.spec for v in inputs], attrs)
        return self._record(op, inputs, attrs, specs).outputs

    def _record(self, op: Op, inputs: Any, attrs: dict[str, Any], specs: list[Spec]) -> Node:
        root = self.root
        label = self.label(root.name if root else op.name)
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
        return self.add(node)

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        spec = Spec(from_numpy(array.dtype), array.shape, array)
        attrs = {"value": array, "dtype": spec.dtype}
        return self._record(raw.Const, (), attrs, [spec]).outputs[0]


def map_attached(graph: Graph, change: Callable[[Node, str, Graph], Graph]) -> Graph:
    """The graph with branches, bodies and called functions as `change` returns them.

    `change` is called with the node, the name of the attribute that holds the graph, and the graph. If
    none of them changes, the graph itself is returned.
    """
    if not any([node.op.has_graphs for node in graph.nodes]):
        return graph
    new = Rewriter(graph)
    for node in graph.nodes:
        if not node.op.has_graphs:
            new.keep(node)
            continue
        attrs = {name: _mapped(node, name, value, change) for name, value in node.attrs.items()}
        if any(attrs[name] is not value for name, value in node.attrs.items()):
            inputs, control = new.values(node.inputs), new.control(node)
            new.keep(node, derived(node, inputs, attrs=attrs, control=control))
        else:
            new.keep(node)
    return new.result()


def _mapped(node: Node, name: str, value: Any, change: Callable[[Node, str, Graph], Graph]) -> Any:
    """An attribute's value with its graphs changed; the same object if none has."""
    if isinstance(value, Graph):
        return change(node, name, value)
    if isinstance(value, tuple) and any(isinstance(item, Graph) for item in value):
        changed = tuple([_mapped(node, name, item, change) for item in value])
        return value if all(map(operator.is_, changed, value)) else changed
    return value


def copied(graph: Graph) -> Graph:
    """A copy of the graph and the graphs nested in it, without memoized results.

    `Graph.derived` is not copied; nodes are shared.
    """
    found: dict[int, Graph] = {}

    def copy(inner: Graph) -> Graph:
        if inner.opaque:
            return inner
        if id(inner) not in found:
            new = map_attached(inner, lambda node, name, below: copy(below))
            found[id(inner)] = Graph(new.name, new.inputs, new.nodes, new.outputs)
        return found[id(inner)]

    return copy(graph)
