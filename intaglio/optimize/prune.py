"""Leaves out what is neither needed nor an effect."""

from __future__ import annotations

from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.trace.rebuild import Rebuild


def prune(graph: Graph) -> Graph:
    """The graph without pure work that no output and no effect needs; inputs all stay."""
    live = {id(n) for n in walk.live_nodes(graph.nodes, graph.outputs)}
    live.update(id(v.node) for v in graph.inputs)
    if len(live) == len(graph.nodes):
        return graph
    new = Rebuild(graph)
    for node in graph.nodes:
        if id(node) in live:
            new.keep(node, new.copy(node))
        else:
            new.replace(node, node.outputs)
    return Graph(graph.name, graph.inputs, new.nodes, [new.value(v) for v in graph.outputs])
