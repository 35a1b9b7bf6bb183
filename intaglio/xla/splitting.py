"""A graph with a node that is no part of an XLA program, as what comes before it, the node, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from intaglio.ir.extraction import extracted
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw


class Part(NamedTuple):
    """Nodes of a graph as a graph of their own, between values of the whole graph."""

    graph: Graph
    takes: list[SymbolicTensor]
    gives: list[SymbolicTensor]


def split(graph: Graph, host: Node) -> tuple[Part | None, Part, Part | None]:
    """The nodes that do not wait for `host`, that node alone, and those that do; None without nodes.

    Nodes wait for what they take, for their control inputs, and stateful ones for each other.
    """
    before, after = _divided(graph, host)
    groups = [before, [host], after]
    users: list[set[int]] = [{id(v) for n in nodes for v in n.inputs} for nodes in groups]
    final = {id(v) for v in graph.outputs}
    parts: list[Part | None] = []
    for number, nodes in enumerate(groups):
        later = final.union(*users[number + 1 :])
        gives = [v for n in nodes for v in n.outputs if id(v) in later]
        if not nodes or not (gives or any([n.op.stateful for n in nodes])):
            parts.append(None)
            continue
        name = f"{graph.name}_{number}"
        parts.append(Part(*extracted(graph, nodes, gives, name, _takes_constant), gives))
    first, middle, last = parts
    assert middle is not None or host.op.droppable or not host.op.stateful
    return first, middle or Part(Graph("", [], [], []), [], []), last


def is_constant(value: SymbolicTensor) -> bool:
    """True for a constant: each part that takes it has its own."""
    return value.node.op is raw.Const


def _takes_constant(node: Node, index: int) -> bool:
    return is_constant(node.inputs[index])


def _divided(graph: Graph, host: Node) -> tuple[list[Node], list[Node]]:
    inputs = {id(v.node) for v in graph.inputs}
    before: list[Node] = []
    after: list[Node] = []
    waiting = {id(host)}
    effects_wait = False
    for node in graph.nodes:
        if node is host:
            effects_wait = node.op.stateful
        elif not (id(node) in inputs or node.op is raw.Const):
            needs: Sequence[Node] = [*[v.node for v in node.inputs], *node.control]
            if (effects_wait and node.op.stateful) or any([id(n) in waiting for n in needs]):
                waiting.add(id(node))
                effects_wait = effects_wait or node.op.stateful
                after.append(node)
            else:
                before.append(node)
    return before, after
