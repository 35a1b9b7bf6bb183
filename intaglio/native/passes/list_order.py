"""Orders list ops so that a native function can update lists in place.

A list without later users is updated in place, so reads of a list are moved before the op that
updates it. Gradients are often recorded in the opposite order, which would copy the list in every
iteration of a loop. Common subexpression elimination merges new lists that are equal; here each
user gets a list of its own again, whose elements then have one shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from intaglio.base.dtypes import variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.native.analysis.list_elements import READERS
from intaglio.opdef import raw

# Ops that make lists of which no element is set.
NEW = frozenset([raw.EmptyTensorList, raw.TensorListReserve])


@looks_for(lambda op: op in READERS)
def read_lists_first(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph in that order, as far as dependencies allow; the same graph if it has it already."""
    later = dict(_later_readers(graph))
    if not later:
        return graph
    fuel = fuel or Fuel()
    order = _Order(graph)
    for changer, readers in later.items():
        for reader in readers:
            if fuel.burn():
                order.before(reader, changer)
    new = Rewriter(graph)
    for node in walk.scheduled(graph.nodes, order.needed):
        new.keep(node)
    return new.result()


def _later_readers(graph: Graph) -> Iterator[tuple[Node, list[Node]]]:
    """The nodes that may update a list, each with the nodes after it that read the same list."""
    if not any(v.dtype is variant for n in graph.nodes for v in n.inputs):
        return
    users = walk.uses(graph)
    order = {id(n): i for i, n in enumerate(graph.nodes)}
    for node in graph.nodes:
        if node.op in READERS:
            continue
        readers = [
            user
            for value in node.inputs
            if value.dtype is variant
            for user in users[id(value)]
            if user.op in READERS and order[id(user)] > order[id(node)]
        ]
        if readers:
            yield node, readers


@looks_for(lambda op: op in NEW)
def own_lists(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a new list of its own for each use of one; the same graph if each has it.

    Ops that only read the length of a list share the first one.
    """
    fuel = fuel or Fuel()
    new, taken = Rewriter(graph), set[int]()

    def used(value: SymbolicTensor, user: Node | None) -> SymbolicTensor:
        node: Node = value.node
        shared = user is not None and user.op is raw.TensorListLength
        if node.op not in NEW or shared:
            return new.value(value)
        if id(value) not in taken or not fuel.burn():
            taken.add(id(value))
            return new.value(value)
        new.record_beside(node)
        return new.like(node, new.values(node.inputs), control=new.control(node)).outputs[0]

    for node in graph.nodes:
        inputs = [used(v, node) for v in node.inputs]
        if any(a is not new.value(b) for a, b in zip(inputs, node.inputs, strict=True)):
            new.keep(node, derived(node, inputs, control=new.control(node)))
        else:
            new.keep(node)
    return new.result([used(v, None) for v in graph.outputs])


class _Order:
    """The dependencies of each node, and those that are added."""

    def __init__(self, graph: Graph) -> None:
        self._before: dict[int, list[Node]] = {}
        effect: Node | None = None
        for node in graph.nodes:
            needed = [*[v.node for v in node.inputs], *node.control]
            if node.op.stateful:  # effects keep their order
                needed += [effect] if effect is not None else []
                effect = node
            self._before[id(node)] = needed

    def before(self, first: Node, then: Node) -> None:
        """Adds a dependency of `then` on `first`, unless `first` depends on `then`."""
        waiting, seen = [first], set[int]()
        while waiting:
            node = waiting.pop()
            if node is then:
                return
            if id(node) not in seen:
                seen.add(id(node))
                waiting += self._before[id(node)]
        self._before[id(then)].append(first)

    def needed(self, node: Node) -> list[Node]:
        """The nodes that have to come before a node."""
        return self._before[id(node)]
