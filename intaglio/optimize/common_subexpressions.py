"""Common subexpression elimination."""

from __future__ import annotations

from typing import Any

from intaglio.ir.equality import attributes_key
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import raw


def share_subexpressions(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with one node for all pure nodes of equal op, attributes and inputs."""
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    first: dict[Any, Node] = {}
    for node in graph.nodes:
        current = new.copy(node)
        if node.op.stateful or node.op is raw.Placeholder:
            new.keep(node, current)
            continue
        key = _key(current)
        first_node = first.setdefault(key, current) if key is not None else current
        if first_node is not current and fuel.burn():
            new.replace(node, first_node.outputs)
        else:
            new.keep(node, current)
    return new.result()


def _key(node: Node) -> Any:
    """A key that is equal for nodes which compute the same; None if the node must not be shared."""
    inputs = node.inputs
    key = (
        node.op.name,
        tuple([id(v) for v in inputs]),
        attributes_key(node),
        tuple([id(c) for c in node.control]) if node.control else (),
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key
