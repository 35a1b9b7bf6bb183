"""The passes between the optimizer and machine code in their order, each with the reason for it.

Lowering gets graphs that are ready, with their branches and bodies: it calls no pass.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import NamedTuple

from intaglio.ir import passes
from intaglio.ir.graph import Graph, Node
from intaglio.ir.passes import Pass
from intaglio.ir.rewrite import Fuel, map_attached
from intaglio.native.passes.cell_fusion import fuse_cells
from intaglio.native.passes.convolution_folding import fold_channels
from intaglio.native.passes.elementwise_fusion import fuse_elementwise, fuse_exact, fuse_worthwhile
from intaglio.native.passes.expansions import expand
from intaglio.native.passes.index_checks import check_indices_early
from intaglio.native.passes.index_slices import split_slices
from intaglio.native.passes.layer_fusion import fuse_layers
from intaglio.native.passes.list_order import own_lists, read_lists_first
from intaglio.native.passes.narrow_products import narrow_products
from intaglio.native.passes.normalization_fusion import replace_known_statistics
from intaglio.native.passes.partitioning import expand_large, outline_regions
from intaglio.native.passes.pooling_indices import keep_indices
from intaglio.native.passes.reduction_fusion import fuse_broadcast_reductions, fuse_reductions
from intaglio.native.passes.rematerialization import rematerialize
from intaglio.native.passes.rolls import wrap_rolled
from intaglio.native.passes.row_blocks import divide_rows
from intaglio.native.passes.row_fusion import fuse_rows
from intaglio.native.passes.store_forwarding import forward_stores
from intaglio.native.runtime.thread_pool import thread_count
from intaglio.ops.control_flow.branches_and_loops import KNOWN_TRIP_COUNT


class Graphs(enum.Flag):
    """The kinds of graphs that a step applies to."""

    # A called graph, before it is known which of its nodes can be native.
    CALLED = enum.auto()
    # A graph whose native regions become functions; the rest is interpreted.
    MIXED = enum.auto()
    # A graph that becomes one native function, with its branches, bodies and called functions.
    NATIVE = enum.auto()
    # An interpreted graph with machine code for elementwise ops: of any kind, or only such as gives
    # the bits of NumPy's kernels. Its branches and bodies become separate functions.
    INTERPRETED = enum.auto()
    EXACT = enum.auto()
    # The same, where all parts that give the bits of NumPy's kernels become functions.
    EXACT_REGIONS = enum.auto()


class Step(NamedTuple):
    """A pass: its name, the kinds of graphs it applies to, and which of the graphs nested in them."""

    name: str
    change: Pass
    graphs: Graphs
    # Whether the step applies to a graph, given the node that has the graph (None for the outermost
    # one) and the name of the attribute.
    applies: Callable[[Node | None, str], bool] = lambda node, attribute: True


# Trip count from which on packing the weights of cells before a loop is profitable.
MIN_ITERATIONS_TO_PACK = 4


def is_repeated_body(node: Node | None, attribute: str) -> bool:
    """True for the body of a loop that runs several times, as far as is known."""
    if node is None or attribute == "cond" or node.op.control_flow != "loop":
        return False
    return node.attrs.get(KNOWN_TRIP_COUNT, MIN_ITERATIONS_TO_PACK) >= MIN_ITERATIONS_TO_PACK


CALLED, MIXED, NATIVE = Graphs.CALLED, Graphs.MIXED, Graphs.NATIVE

LOWERING_PASSES: list[Step] = [
    # Before layers: only a normalisation whose statistics are unused can be a layer.
    Step("statistics", replace_known_statistics, CALLED),
    # Before layers: a convolution whose channels are scaled is one with other filters and a bias.
    Step("channels", fold_channels, CALLED),
    # Before layers: the copies of normalisation and Relu are part of the gradient's layer.
    Step("rematerialization", rematerialize, CALLED),
    # Before layers: a pooling that keeps indices is part of the layer of a convolution.
    Step("pooling indices", keep_indices, CALLED),
    # Before rows: ops that follow a layer's op become part of the layer.
    Step("layers", fuse_layers, CALLED),
    # Before rows: values broadcast along several axes would be stored for a kernel of rows.
    Step("broadcast reductions", fuse_broadcast_reductions, CALLED),
    # Before regions: a cluster of rows is one node, native or not.
    Step("rows", fuse_rows, CALLED),
    # Before regions, whose size is limited by the number of nodes.
    Step("large graphs", expand_large, CALLED),
    # Nodes with code become `_Program` nodes, whose bodies are NATIVE graphs.
    Step("regions", outline_regions, MIXED | Graphs.EXACT_REGIONS),
    # After regions: the remaining elementwise ops share kernels.
    Step("loops", fuse_worthwhile, MIXED | Graphs.INTERPRETED),
    # The same for graphs that must keep their bits.
    Step("exact loops", fuse_exact, Graphs.EXACT | Graphs.EXACT_REGIONS),
    # Before expansion: a sum takes the gradient of one index in place.
    Step("index slices", split_slices, NATIVE),
    # Early in a native function: the ops of an expression take part in all that follows.
    Step("expansion", expand, NATIVE),
    # Before elementwise fusion, which takes the casts.
    Step("narrow products", narrow_products, NATIVE),
    # After expansion, which may make reads and writes of variables.
    Step("store forwarding", forward_stores, NATIVE),
    # Before lists are ordered: reads of one list are independent of writes to another.
    Step("own lists", own_lists, NATIVE),
    # After store forwarding, which needs the order of effects.
    Step("list order", read_lists_first, NATIVE),
    # After the order is final, which the second body shares, and before fusion: its rules are about
    # single ops. The steps below apply to the second body, too.
    Step("row blocks", divide_rows, NATIVE),
    # Before elementwise fusion: a cell takes the elementwise ops that follow its product.
    Step("cells", fuse_cells, NATIVE, is_repeated_body),
    # Before elementwise fusion: ops whose results only reductions use need no loop of their own.
    Step("reductions", fuse_reductions, NATIVE),
    # After reductions, which take elementwise ops; before elementwise fusion, which takes the views.
    Step("rolls", wrap_rolled, NATIVE),
    # The remaining elementwise ops become loops.
    Step("elementwise", fuse_elementwise, NATIVE),
    # After fusion, which would drop checks, as nothing uses them. Only in the function itself: its nested
    # graphs run after its writes have begun.
    Step("index checks", check_indices_early, NATIVE, lambda node, attribute: node is None),
]


def run(graph: Graph, graphs: Graphs) -> Graph:
    """The graph after the steps that are for graphs of its kind."""
    steps = [_named(step) for step in LOWERING_PASSES if graphs in step.graphs]
    return passes.run(graph, steps, Fuel(), f"{graphs.name}".lower())


def ready(graph: Graph) -> Graph:
    """The graph of one native function as lowering takes it; memoized."""
    fuel = Fuel()
    key = (ready, thread_count(), fuel.amount)
    found = graph.derived.get(key)
    if found is None:
        found = graph.derived[key] = run(graph, NATIVE)
    return found


def apply(step: Step, graph: Graph, fuel: Fuel) -> Graph:
    """The graph after one step, a native function's with the graphs nested in it."""
    return _everywhere(step, graph, fuel) if NATIVE in step.graphs else step.change(graph, fuel)


def _named(step: Step) -> tuple[str, Pass]:
    return step.name, functools.partial(apply, step)


def _everywhere(
    step: Step, graph: Graph, fuel: Fuel, node: Node | None = None, attribute: str = ""
) -> Graph:
    """The graph after a step, with those nested in it, innermost first.

    `node` has the graph as this attribute; None is the outermost. Two nodes that share a graph
    still do.
    """

    def nested(node: Node, attribute: str, inner: Graph) -> Graph:
        if not node.op.control_flow:  # its graphs are not part of the function
            return inner
        # The result for one graph is valid wherever it is used, but not with less fuel.
        key = (apply, step.name, step.applies(node, attribute), thread_count())
        found = inner.derived.get(key) if fuel.amount < 0 else None
        if found is None:
            found = _everywhere(step, inner, fuel, node, attribute)
            if fuel.amount < 0:
                inner.derived[key] = found
        return found

    graph = map_attached(graph, nested)
    return step.change(graph, fuel) if step.applies(node, attribute) else graph
