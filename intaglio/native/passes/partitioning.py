"""Which parts of a graph become native functions, where not all of it can.

Nodes that have no code stay what they are. Every other node belongs to the region of a number:
how many times the path to it leaves and enters native code. Between nodes of one region no path
leads outside, so each region is one function, and they run in their order. Very large graphs are
cut into pieces by the same numbers.
"""

from __future__ import annotations

from collections.abc import Container

from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.native.passes.expansions import expand
from intaglio.native.passes.outlining import Cluster, outline
from intaglio.opdef import raw

# What LLVM takes grows faster than functions do: larger graphs become functions of so many nodes.
MAX_FUNCTION_NODES, NODES_PER_PIECE = 4000, 2000
# Under this key a graph has `derived` the ids of its nodes that no native function may have.
OUTSIDE = "outside of native functions"


def expand_large(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """A graph that is to be cut into pieces with simpler ops, for one op may be thousands."""
    return expand(graph, fuel) if len(graph.nodes) > MAX_FUNCTION_NODES else graph


def outline_regions(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_Program` node for each region that is worth a native function."""
    ordered, clusters = _split(graph, graph.derived.get(OUTSIDE, ()))
    outlined = outline(ordered, clusters, raw._Program, _is_constant, fuel)
    # Only outlining puts everything after what it needs.
    return graph if outlined is ordered else outlined


def _is_constant(node: Node, index: int) -> bool:
    return node.inputs[index].node.op is raw.Const


def _split(graph: Graph, excluded: Container[int]) -> tuple[Graph, list[Cluster]]:
    """The graph with its nodes in the order of regions, and the regions that are worth it."""
    levels: dict[int, int] = {}
    regions: dict[int, Cluster] = {}
    effects: Node | None = None
    pieces = len(graph.nodes) > MAX_FUNCTION_NODES
    for number, node in enumerate(graph.nodes):
        outside = id(node) in excluded
        before = [*[v.node for v in node.inputs], *node.control]
        if node.op.stateful:  # effects keep their order
            before += [effects] if effects is not None else []
            effects = node
        level = number // NODES_PER_PIECE if pieces else 0
        for other in before:
            there = levels[id(other)]
            entering = not outside and id(other) in excluded and other.inputs
            level = max(
                level, there + bool(entering or (not outside and _has_effects(other, excluded)))
            )
        levels[id(node)] = level
        if not outside:
            home = regions.setdefault(level, Cluster(1 << len(regions)))
            home.nodes.append(node)
    order = {id(n): i for i, n in enumerate(graph.nodes)}
    nodes = sorted(graph.nodes, key=lambda n: (levels[id(n)], id(n) in excluded, order[id(n)]))
    new = Rewriter(graph)
    for node in nodes:
        new.keep(node)
    return new.result(), [c for c in regions.values() if _worth_it(c)]


def _has_effects(node: Node, excluded: Container[int]) -> bool:
    return id(node) in excluded and node.op.stateful


def _worth_it(region: Cluster) -> bool:
    """True if a native function saves something."""
    return len(region.nodes) > 1 or not region.nodes[0].op.cheap
