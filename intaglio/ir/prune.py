"""Dead code elimination: removes nodes that are neither used nor effects."""

from __future__ import annotations

from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.ir.rewrite import Rewriter


def prune(graph: Graph) -> Graph:
    """The graph without pure nodes that neither outputs nor effects need; all inputs stay."""
    live = {id(n) for n in walk.live_nodes(graph.nodes, graph.outputs)}
    live.update(id(v.node) for v in graph.inputs)
    if len(live) == len(graph.nodes):
        return graph
    new = Rewriter(graph)
    for node in graph.nodes:
        if id(node) in live:
            new.keep(node)
        else:
            new.drop(node)
    return new.result()
