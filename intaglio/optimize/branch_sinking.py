"""Sinks nodes into branches whose results differ in shape, up to nodes whose shape is known.

    y = a[:2] if c else a                 y = sum(a[:2]) if c else sum(a)
    z = sum(y)                       ->   z = y

In each branch the shapes are then known, as native code needs them. The nodes that move depend on such
results, up to values whose shape is known; nodes with effects in between move too, to keep their order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, derived, map_attached
from intaglio.opdef import raw
from intaglio.optimize.partial_evaluation import MAX_NODES, evaluated, graphs_of, with_graphs

# The stateful counterparts of the branch ops, for branches with effects.
_WITH_EFFECTS = {raw.StatelessIf: raw.If, raw.StatelessCase: raw.Case}
# Maximum number of rounds of evaluating the graph and extending a branch.
MAX_ROUNDS = 12


def evaluated_with_branches(
    graph: Graph, input_dims: Sequence[Any], kept: Collection[str] = ()
) -> Graph:
    """The graph evaluated for inputs of these shapes, with branches extended until all shapes are known.

    Ops named in `kept` stay where the shapes of their results depend on data.
    """
    found = evaluated(graph, input_dims, kept)
    for _ in range(MAX_ROUNDS):
        extended = sunk(found)
        if extended is found or _size(extended) > MAX_NODES:
            break
        found = evaluated(extended, [None] * len(extended.inputs), kept)
    return without_unused_results(found)


def without_unused_results(graph: Graph) -> Graph:
    """The graph without results of branches that are unused and have shapes that depend on data."""
    graph = map_attached(graph, lambda node, attribute, inner: without_unused_results(inner))
    used = {id(v) for v in graph.outputs} | {id(v) for n in graph.nodes for v in n.inputs}
    new, changed = Rewriter(graph), False
    for node in graph.nodes:
        kept = [v for v in node.outputs if id(v) in used or not _is_open(v)]
        if node.op.control_flow != "branch" or len(kept) == len(node.outputs):
            new.keep(node)
            continue
        places = [v.index for v in kept]
        bodies = [
            prune(Graph(g.name, g.inputs, g.nodes, [g.outputs[i] for i in places]))
            for _, g in graphs_of(node)
        ]
        attrs = with_graphs(node, bodies)
        types = {"output_shapes": (), "Tout": tuple([v.dtype for v in kept])}
        attrs |= {k: v for k, v in types.items() if k in attrs}
        inputs, control = new.values(node.inputs), new.control(node)
        specs = [v.spec for v in kept]
        reduced = new.add(derived(node, inputs, attrs=attrs, specs=specs, control=control))
        for old, value in zip(kept, reduced.outputs, strict=True):
            new.substitute(old, value)
        new.absorb([node], reduced)
        changed = True
    return prune(new.result()) if changed else graph


def sunk(graph: Graph) -> Graph:
    """The graph with the first branch whose results differ in shape extended; also in nested graphs."""
    graph = map_attached(graph, lambda node, attribute, inner: sunk(inner))
    for number, node in enumerate(graph.nodes):
        if node.op.control_flow == "branch" and any([_is_open(v) for v in node.outputs]):
            moved, below = _dependent(graph, number)
            if len(moved) > 1:
                return _extended(graph, node, moved, below)
    return graph


def _is_open(value: SymbolicTensor) -> bool:
    if value.dtype is variant:
        return True
    return value.dtype is not resource and not shapes.known(value.dims)


def _size(graph: Graph) -> int:
    inner = [g for n in graph.nodes if n.op.has_graphs for _, g in graphs_of(n)]
    return len(graph.nodes) + sum([_size(g) for g in inner])


def _dependent(graph: Graph, number: int) -> tuple[set[int], set[int]]:
    """The ids of the branch's node and of the nodes that move into it; and of all nodes after it."""
    first = graph.nodes[number]
    rest = graph.nodes[number:]
    moved = {id(first)}
    for node in rest[1:]:
        if any([_is_open(v) and id(v.node) in moved for v in node.inputs]):
            moved.add(id(node))
    while True:
        before = len(moved)
        below = set(moved)
        for node in rest:
            if any([id(n) in below for n in (*[v.node for v in node.inputs], *node.control)]):
                below.add(id(node))
        above = set(moved)
        for node in reversed(rest):
            if id(node) in above:
                above |= {id(v.node) for v in node.inputs} | {id(c) for c in node.control}
        moved |= below & above
        # The order of effects is kept.
        between = rest[: max(i for i, n in enumerate(rest) if id(n) in moved)]
        effects = {id(n) for n in between if n.op.stateful}
        if effects & (moved | below):
            moved |= effects
        if len(moved) == before:
            return moved, below


def _extended(graph: Graph, branch: Node, moved: set[int], below: set[int]) -> Graph:
    """The graph with nodes moved into the branch; those in `below` stay after it."""
    nodes = [n for n in graph.nodes if id(n) in moved and n is not branch]
    last = max(i for i, n in enumerate(graph.nodes) if id(n) in moved)
    used = {id(v) for v in graph.outputs}
    used |= {id(v) for n in graph.nodes if id(n) not in moved for v in n.inputs}
    results = [v for n in (branch, *nodes) for v in n.outputs if id(v) in used]
    taken: dict[int, SymbolicTensor] = {}
    own = {
        id(v) for v in branch.inputs[1:]
    }  # no duplicates: native code assumes that inputs do not alias
    for node in nodes:
        for value in node.inputs:
            outside = id(value.node) not in moved and value.node.op is not raw.Const
            if outside and id(value) not in own:
                taken.setdefault(id(value), value)
    bodies = [
        _body(part, branch, nodes, [*taken.values()], results) for _, part in graphs_of(branch)
    ]
    attrs = with_graphs(branch, bodies)
    types = {
        "output_shapes": (),
        "Tin": tuple([v.dtype for v in (*branch.inputs[1:], *taken.values())]),
        "Tout": tuple([v.dtype for v in results]),
    }
    attrs |= {k: v for k, v in types.items() if k in attrs}
    effects = any([n.op.stateful for n in nodes])
    new = Rewriter(graph)
    waiting: list[Node] = []
    for number, node in enumerate(graph.nodes):
        if id(node) not in moved:
            if number < last and id(node) in below:
                waiting.append(node)
            else:
                new.keep(node)
        if number == last:
            outside = [c for n in (branch, *nodes) for c in n.control if id(c) not in moved]
            holder = derived(
                branch,
                new.values([*branch.inputs, *taken.values()]),
                op=_WITH_EFFECTS.get(branch.op, branch.op) if effects else branch.op,
                attrs=attrs,
                specs=[v.spec for v in results],
                control=tuple(dict.fromkeys([*outside])),
            )
            new.add(new.copy(holder))
            extended = new.nodes[-1]
            for old, value in zip(results, extended.outputs, strict=True):
                new.substitute(old, value)
            new.absorb([branch, *nodes], extended)
            for one in waiting:
                new.keep(one)
    return prune(new.result())


def _body(
    part: Graph,
    branch: Node,
    nodes: Sequence[Node],
    taken: Sequence[SymbolicTensor],
    results: Sequence[SymbolicTensor],
) -> Graph:
    """A branch's graph extended by nodes, with further inputs and new results."""
    new = Rewriter(part)
    for node in part.nodes:
        new.keep(node)
    values = {id(a): b for a, b in zip(branch.inputs[1:], part.inputs, strict=True)}
    values.update((id(a), b) for a, b in zip(branch.outputs, part.outputs, strict=True))
    inputs = [*part.inputs]
    for value in taken:
        attrs = {"dtype": value.dtype, "shape": value.dims}
        name = new.unique_name("input")
        node = new.add(Node(raw.Placeholder, (), attrs, name, [value.spec]))
        inputs.append(node.outputs[0])
        values[id(value)] = node.outputs[0]
    copies: dict[int, Node] = {}
    # Control dependencies on a moved node become dependencies on the branch.
    effects = tuple([n for n in part.nodes if n.op.stateful])
    for node in nodes:
        operands: list[SymbolicTensor] = []
        for value in node.inputs:
            if id(value) not in values:  # a constant
                copied = new.add(derived(value.node, [], name=new.unique_name(value.node.name)))
                values[id(value)] = copied.outputs[value.index]
            operands.append(values[id(value)])
        control = [copies[id(c)] for c in node.control if id(c) in copies]
        if any([c is branch for c in node.control]):
            control += effects
        copy = new.add(
            derived(node, operands, control=tuple(control), name=new.unique_name(node.name))
        )
        copies[id(node)] = copy
        values.update((id(a), b) for a, b in zip(node.outputs, copy.outputs, strict=True))
    return Graph(part.name, inputs, new.nodes, [values[id(v)] for v in results])
