"""A native function's list ops in an order, and on lists, that can be changed in place.

A list that nobody uses any more is changed in place, so what reads a list comes before what
changes it. The order in which a gradient was recorded often has it the other way round, which
would copy the list in every iteration of a loop. New lists that are equal are one list after
common subexpressions are eliminated; here each user has one of its own again, which also has
elements of one shape only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intaglio.base.dtypes import variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor

READERS = frozenset(
    ["TensorListGetItem", "TensorListLength", "TensorListElementShape", "TensorListGather"]
)
# Ops that make lists of which no element is set.
NEW = frozenset(["EmptyTensorList", "TensorListReserve"])


def readers_first(graph: Graph) -> Graph:
    """The graph in that order, as far as one op does not need the other; the same one if it is."""
    later = dict(_later_readers(graph))
    if not later:
        return graph
    order = _Order(graph)
    for changer, readers in later.items():
        for reader in readers:
            order.before(reader, changer)
    return Graph(graph.name, graph.inputs, order.nodes(), graph.outputs)


def _later_readers(graph: Graph) -> Iterator[tuple[Node, list[Node]]]:
    """The nodes that may change a list, each with those after it that read the same one."""
    if not any(v.dtype is variant for n in graph.nodes for v in n.inputs):
        return
    users = walk.uses(graph)
    place = {id(n): i for i, n in enumerate(graph.nodes)}
    for node in graph.nodes:
        if node.op.name in READERS:
            continue
        readers = [
            user
            for value in node.inputs
            if value.dtype is variant
            for user in users[id(value)]
            if user.op.name in READERS and place[id(user)] > place[id(node)]
        ]
        if readers:
            yield node, readers


def own_lists(graph: Graph) -> Graph:
    """The graph with a new list of its own for each use of one; the same graph if each has it.

    What only asks for the length of a list shares the first one.
    """
    if not any(n.op.name in NEW for n in graph.nodes):
        return graph
    values: dict[int, SymbolicTensor] = {}
    copies: dict[int, Node] = {}
    nodes: list[Node] = []
    taken: set[int] = set()

    def used(value: SymbolicTensor, user: Node | None) -> SymbolicTensor:
        shared = user is not None and user.op.name == "TensorListLength"
        if value.node.op.name not in NEW or shared:
            return values.get(id(value), value)
        if id(value) not in taken:
            taken.add(id(value))
            return values.get(id(value), value)
        node: Node = value.node
        given = [values.get(id(v), v) for v in node.inputs]
        before = [copies.get(id(c), c) for c in node.control]
        nodes.append(_like(node, given, tuple(before)))
        return nodes[-1].outputs[0]

    for node in graph.nodes:
        inputs: list[SymbolicTensor] = [used(v, node) for v in node.inputs]
        control: tuple[Node, ...] = tuple([copies.get(id(c), c) for c in node.control])
        same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
        made = node if same and control == node.control else _like(node, inputs, control)
        nodes.append(made)
        copies[id(node)] = made
        for old, new in zip(node.outputs, made.outputs, strict=True):
            values[id(old)] = new
    outputs = [used(v, None) for v in graph.outputs]
    if len(nodes) == len(graph.nodes):
        return graph
    return Graph(graph.name, graph.inputs, nodes, outputs)


def _like(node: Node, inputs: Sequence[SymbolicTensor], control: tuple[Node, ...]) -> Node:
    return Node(
        node.op,
        inputs,
        node.attrs,
        node.name,
        [v.spec for v in node.outputs],
        control=control,
        origin=node.origin,
        graph=node.graph,
        device=node.device,
        source=node.source or node,
    )


class _Order:
    """What has to come before each node."""

    def __init__(self, graph: Graph) -> None:
        self._nodes = graph.nodes
        self._before: dict[int, list[Node]] = {}
        effect: Node | None = None
        for node in graph.nodes:
            needed = [*[v.node for v in node.inputs], *node.control]
            if node.op.stateful:  # effects keep their order
                needed += [effect] if effect is not None else []
                effect = node
            self._before[id(node)] = needed

    def before(self, first: Node, then: Node) -> None:
        """One node is to come before another, unless it needs it."""
        waiting, seen = [first], set[int]()
        while waiting:
            node = waiting.pop()
            if node is then:
                return
            if id(node) not in seen:
                seen.add(id(node))
                waiting += self._before[id(node)]
        self._before[id(then)].append(first)

    def nodes(self) -> list[Node]:
        """All nodes in such an order, otherwise as they were."""
        done: dict[int, Node] = {}
        for node in self._nodes:
            waiting = [node]
            while waiting:
                current = waiting[-1]
                missing = [n for n in self._before[id(current)] if id(n) not in done]
                if missing and id(current) not in done:
                    waiting += missing
                    continue
                waiting.pop()
                done.setdefault(id(current), current)
        return list(done.values())
