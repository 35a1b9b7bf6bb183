"""Outlines the numeric cores of a graph: the regions between the ops that only the host executes.

A step that takes its batch from an iterator and prints its loss is one core between two parts of the host.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Fuel
from intaglio.native.passes.outlining import outline
from intaglio.native.passes.partitioning import (
    exclude_outer_lists,
    in_regions,
    is_constant,
    levels_of,
)
from intaglio.native.passes.region_borders import is_profitable
from intaglio.native.passes.use_def import Users, users_of
from intaglio.opdef import raw

# Number of ops from which on a region is worth a function of its own.
MIN_CORE_OPS = 4


def outline_cores(graph: Graph, on_host: Callable[[Node], bool], fuel: Fuel | None = None) -> Graph:
    """The graph with a `_Program` node for each numeric core.

    `on_host` says which nodes the host executes. Arithmetic that no op of the host needs is part of the last
    core that it may be part of, so that what stands before all of them is no core of its own.
    """
    outside = {id(n): "" for n in graph.nodes if n.op in (raw.Placeholder, raw.Const) or on_host(n)}
    exclude_outer_lists(graph, outside)
    users = users_of(graph)
    levels = levels_of(graph, outside)
    _sink(graph, outside, levels, users)
    ordered, regions = in_regions(graph, outside, levels)
    cores = [r for r in regions if _is_worthwhile(r.nodes) and is_profitable(r.nodes, users)]
    outlined = outline(ordered, cores, raw._Program, is_constant, fuel)
    # Outlining alone orders nodes topologically.
    return graph if outlined is ordered else outlined


def _sink(graph: Graph, outside: Container[int], levels: dict[int, int], users: Users) -> None:
    """Moves nodes without effects to the first region that needs them."""
    awaited = {id(c) for n in graph.nodes for c in n.control}
    for node in reversed(graph.nodes):
        if id(node) in outside or node.op.stateful or node.control or id(node) in awaited:
            continue
        takers = [u for v in node.outputs for u in users.get(id(v), ())]
        if takers and None not in takers:
            levels[id(node)] = min([levels[id(u)] for u in takers])


def _is_worthwhile(nodes: Sequence[Node]) -> bool:
    """Whether nodes, or their branches, bodies and called functions, are enough for a function of their own."""
    count = sum([not n.op.free for n in nodes])
    return count >= MIN_CORE_OPS or any(
        [_is_worthwhile(g.nodes) for n in nodes for g in walk.attached(n)]
    )
