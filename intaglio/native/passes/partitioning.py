"""Partitions a graph into native functions, where a single one cannot compute all of it.

Nodes without code remain nodes. Every other node belongs to a numbered region: the number of times
that paths to it leave native code. Between nodes of one region no path leads outside, so each
region is one function, and the functions run in the order of their numbers. Very large graphs are
divided by the same numbers.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, MutableMapping

from intaglio.base.dtypes import variant
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.native.passes.expansions import expand
from intaglio.native.passes.outlining import Cluster, outline
from intaglio.native.passes.region_borders import is_profitable, on_outer_lists, removable_moves
from intaglio.native.passes.use_def import users_of
from intaglio.opdef import raw

# LLVM's time grows faster than the size of a function: larger graphs are divided into functions of
# so many nodes.
MAX_FUNCTION_NODES, NODES_PER_PIECE = 4000, 2000
# The key under which `derived` of a graph has the ids of nodes that are excluded from native
# functions.
OUTSIDE = "outside of native functions"


def expand_large(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """Expands the ops of a graph that is to be divided, since one op may become thousands."""
    return expand(graph, fuel) if len(graph.nodes) > MAX_FUNCTION_NODES else graph


def outline_regions(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_Program` node for each region that is worth a native function."""
    excluded = graph.derived.get(OUTSIDE, ())
    ordered, regions = in_regions(graph, excluded, levels_of(graph, excluded))
    users = users_of(graph)
    clusters = [region for region in regions if is_profitable(region.nodes, users)]
    outlined = outline(ordered, clusters, raw._Program, is_constant, fuel)
    # Outlining alone orders nodes topologically.
    return graph if outlined is ordered else outlined


def is_constant(node: Node, index: int) -> bool:
    """True for an input that is a constant, which becomes part of a body."""
    return node.inputs[index].node.op is raw.Const


def exclude_outer_lists(graph: Graph, reasons: MutableMapping[int, str]) -> None:
    """Adds the ops on lists that come from outside of their region to `reasons`, by the ids of the
    nodes.

    A native function takes and returns a list as one array of all elements: a loop that is not
    native would copy the list in each iteration, to add an element. Control flow inside of a region
    amortises the copy.
    """
    if not any([v.dtype is variant for n in graph.nodes for v in n.inputs]):
        return
    found = True
    while found:  # each excluded node divides regions further
        regions = in_regions(graph, reasons, levels_of(graph, reasons))[1]
        found = {id(n) for region in regions for n in on_outer_lists(region.nodes)}
        reasons.update(dict.fromkeys(found, "a list from outside, of which a copy would be taken"))


def levels_of(graph: Graph, excluded: Container[int]) -> dict[int, int]:
    """The number of the region of each node, by the node's id; a node outside runs after the region of its number."""
    levels: dict[int, int] = {}
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
    return levels


def in_regions(
    graph: Graph, excluded: Container[int], levels: Mapping[int, int]
) -> tuple[Graph, list[Cluster]]:
    """The graph with its nodes in the order of regions, and the regions."""
    regions: dict[int, Cluster] = {}
    for node in graph.nodes:
        if id(node) not in excluded:
            home = regions.setdefault(levels[id(node)], Cluster(1 << len(regions)))
            home.nodes.append(node)
    first: set[int] = set()
    users = users_of(graph)
    for region in regions.values():
        left = removable_moves(region.nodes, users)
        region.nodes = [n for n in region.nodes if id(n) not in left]
        first |= left
    order = {id(n): i for i, n in enumerate(graph.nodes)}

    def position(node: Node) -> tuple[int, int, int]:
        """Within a level: operands of the region, the region, and users of its results."""
        key = id(node)
        return levels[key], 0 if key in first else 2 if key in excluded else 1, order[key]

    new = Rewriter(graph)
    for node in sorted(graph.nodes, key=position):
        new.keep(node)
    return new.result(), [*regions.values()]


def _has_effects(node: Node, excluded: Container[int]) -> bool:
    return id(node) in excluded and node.op.stateful
