"""The passes in their order, each with its reason.

All keep results bit for bit except `implementations`, which selects other functions, and `hoisting` and
`accumulation`, which reassociate sums of products in loops. Graphs that these may change
(`changes_results`) are optimised before their first run, others when they are called again, so that
all calls of a trace give the same bits.
"""

from __future__ import annotations

from intaglio.ir import implementations, passes, walk
from intaglio.ir.graph import Graph, Node
from intaglio.ir.memo import memoized
from intaglio.ir.passes import Pass
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel, map_attached
from intaglio.opdef import raw
from intaglio.optimize.accumulation import gather_sums
from intaglio.optimize.algebra import ALGEBRA
from intaglio.optimize.broadcasts import BROADCASTS
from intaglio.optimize.common_subexpressions import share_subexpressions
from intaglio.optimize.fold import fold_constants
from intaglio.optimize.handles import share_handles
from intaglio.optimize.hoisting import hoist_products
from intaglio.optimize.implementations import select_implementations
from intaglio.optimize.inline import inline_calls
from intaglio.optimize.invariants import hoist_invariants
from intaglio.optimize.packs import cancel_packs
from intaglio.optimize.powers import shorten_powers
from intaglio.optimize.slice_sizes import fix_slice_sizes
from intaglio.optimize.trip_count import propagate_trip_counts
from intaglio.runtime import interpreter


def optimize_attached(graph: Graph, fuel: Fuel) -> Graph:
    """The graph with its branches, bodies and called functions after all passes, each once."""
    return map_attached(graph, lambda node, name, nested: _optimized(nested, fuel))


def _optimized(graph: Graph, fuel: Fuel) -> Graph:
    """A graph among a node's attributes after all passes."""
    if graph.opaque or interpreter.compiler_of(graph):
        return graph  # its own compiler calls the optimizer
    # Memoized, so that nodes that share a graph still do; the amount of fuel is part of the key.
    key = (optimize, fuel.amount)
    found = graph.derived.get(key)
    if found is None:
        found = graph.derived.setdefault(key, optimize(graph))
    return found


PASSES: list[tuple[str, Pass]] = [
    # First, so that no pass spends time on dead nodes.
    ("prune", lambda graph, fuel: prune(graph)),
    # Before all passes that ask which nodes read and write a resource, in this graph and nested ones.
    ("handles", share_handles),
    # Before the passes over called functions: functions that are not selected need none.
    ("implementations", select_implementations),
    # Before inlining: a function with several calls is optimised once.
    ("attached", optimize_attached),
    # Before the remaining passes, which do not look into calls.
    ("inline", inline_calls),
    # Folds shapes and hyperparameters into constants, which the algebra matches.
    ("fold", fold_constants),
    ("algebra", ALGEBRA.rewrite),
    # After the algebra, which removes nodes between ops and broadcasts; before sharing.
    ("broadcasts", BROADCASTS.rewrite),
    # After the algebra, which removes nodes between them.
    ("packs", cancel_packs),
    # After the algebra, which makes unlike expressions alike.
    ("share", share_subexpressions),
    # After sharing, which makes equal factors one value.
    ("powers", shorten_powers),
    # Before passes that look for variables that a loop does not change.
    ("invariants", hoist_invariants),
    # After folding, which makes the bounds of loops constant.
    ("trip counts", propagate_trip_counts),
    # After folding and trip counts: the sizes of slices follow from the ranges of loop counters.
    ("slice sizes", fix_slice_sizes),
    # After trip counts: each iteration takes another row.
    ("hoisting", hoist_products),
    # After the forward loops have determined the trip counts of their gradients' loops.
    ("accumulation", gather_sums),
    # Removes the nodes that the passes have left unused.
    ("prune again", lambda graph, fuel: prune(graph)),
]


def changes_results(graph: Graph) -> bool:
    """Whether a pass may change bits of results, so that the graph must be optimised before its first run."""
    return reassociates(graph) or implementations.has_choices(graph)


@memoized
def reassociates(graph: Graph) -> bool:
    """Whether a pass may change the order of floating-point sums: `hoist_products`, `gather_sums`.

    Both look for matrix products in loops; all other passes keep every bit.
    """
    return raw.MatMul in walk.all_ops(graph) and any(
        _multiplies(node) for g in (*walk.nested(graph), graph) for node in g.nodes
    )


def _multiplies(node: Node) -> bool:
    """True for a loop whose body, or a graph inside of it, multiplies matrices of floats."""
    body = node.attrs.get("body")
    return isinstance(body, Graph) and any(
        n.op is raw.MatMul and n.outputs[0].dtype.is_floating
        for g in (*walk.nested(body), body)
        for n in g.nodes
    )


def optimize(graph: Graph) -> Graph:
    """The graph after all passes. `INTAGLIO_DUMP=folder` writes it after each of them."""
    return passes.run(
        graph, PASSES, Fuel(), after=lambda optimized: interpreter.inherit(graph, optimized)
    )
