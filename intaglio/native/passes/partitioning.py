"""Which parts of a graph become native functions: the whole, wherever that is possible.

Nodes that have no code stay what they are. Every other node belongs to the region of a number:
how many times the way to it leaves and enters native code. Between nodes of one region no way
leads outside, so each region is one function, and they run in their order. Very large graphs are
cut into pieces by the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.kernels.node_selection import PARTS, kernel_of
from intaglio.native.kernels.sequence import has_steps
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.operands import numeric
from intaglio.native.lowering.registry import has_code, lacking
from intaglio.native.passes.decompositions import expression
from intaglio.native.passes.elementwise_fusion import Cluster, Rewrite, can_compile
from intaglio.native.passes.expansions import can_expand, expanded
from intaglio.native.program import Program
from intaglio.opdef import raw
from intaglio.ops.state.resource_variable import contents_of

# What LLVM takes grows faster than functions do: larger graphs become functions of so many nodes.
LARGEST, PIECE = 4000, 2000


class Regions:
    """A graph whose native parts are `_Program` nodes, and the programs of these.

    `whole` is the program that does everything, if one does.
    """

    def __init__(self, graph: Graph) -> None:
        if len(graph.nodes) > LARGEST:  # one op may be thousands
            graph = expanded(graph)
        self.graph = graph
        self.programs: dict[int, Program] = {}  # by the graph of each
        # Why nodes are no part of one, by node of the graph.
        self.reasons: dict[int, str] = {}
        named = {n.name: n for n in graph.nodes}
        for node in graph.nodes:
            reason = _obstacle(node)
            if reason:
                self.reasons[id(node)] = reason
        self.whole: Program | None = None
        self.rewritten = graph
        while not self._compiled(named):
            pass

    def _compiled(self, named: dict[str, Node]) -> bool:
        """Makes the programs; False if a node was in the way, which is known then."""
        graph, reasons = self.graph, self.reasons
        try:
            small = len(graph.nodes) <= LARGEST
            if small and not any(
                n.inputs or n.op.stateful for n in graph.nodes if id(n) in reasons
            ):
                self.whole = Program(graph)
                return True
            ordered, clusters = _split(graph, reasons)
            if clusters:
                rewrite = Rewrite(ordered, clusters, raw._Program, _is_constant)
                self.rewritten = rewrite.graph()
            bodies = [n.attrs["body"] for n in self.rewritten.nodes if n.op is raw._Program]
            self.programs = {id(body): Program(body) for body in bodies}
        except Unsupported as e:
            # Copies of a node have its name; nodes that are alike fail alike.
            blamed = named.get(e.node.name) if e.node is not None else None
            before = len(reasons)
            for node in graph.nodes:
                if blamed is None or _alike(node, blamed):
                    reasons.setdefault(id(node), str(e))
            self.rewritten, self.programs = graph, {}
            return len(reasons) == before
        return True


def _alike(node: Node, other: Node) -> bool:
    """True if nodes differ in nothing that decides whether they have code."""
    if node is other:
        return True
    return (
        node.op is other.op
        and [_form(v) for v in node.inputs] == [_form(v) for v in other.inputs]
        and node.attrs == other.attrs
    )


def _form(value: SymbolicTensor) -> tuple[Any, ...]:
    known = value.spec.value
    # What is known of a resource is what it holds.
    key = known.tobytes() if isinstance(known, np.ndarray) else id(known)
    return value.dtype, value.dims, key


def _is_constant(value: SymbolicTensor) -> bool:
    return value.node.op is raw.Const


def _obstacle(node: Node) -> str:
    """Why a node certainly has no native code; nothing if it may have."""
    op = node.op
    if op in (raw.Placeholder, raw.Const):
        return op.name
    if node.device:
        return f"{op.name} on a device of its own"
    if expression(node) is not None:
        return ""
    for value in (*node.inputs, *node.outputs):
        if value.dtype is resource:
            if not shapes.known(contents_of(value.spec).shape):
                return "a variable whose shape is not known"
        elif value.dtype is not variant and not numeric(value.dtype):
            return f"elements of type {value.dtype.name}"
    if op.name in PARTS and not has_steps(kernel_of(node)):
        return f"{op.name}, which is more than one kernel"
    if has_code(op) or can_expand(node):
        return "" if op.control_flow else _unknown(node) or lacking(node)
    if "scalar" not in op.rules or len(node.outputs) != 1:
        return op.name
    return can_compile(node) or _unknown(node)


def _unknown(node: Node) -> str:
    """What shape is not known."""
    for value in (*node.inputs, *node.outputs):
        if value.dtype in (variant, resource) or node.op is raw.TensorListStack:
            continue
        if value.dims == (0,) and value.node.op is raw.Const:
            continue  # the shape of a scalar
        if value.dims is not None and 0 in value.dims:
            return f"{value.name} has no elements"
        if not shapes.known(value.dims):
            return f"{value.name} has the shape {shapes.text(value.dims)}"
    return ""


def _split(graph: Graph, reasons: dict[int, str]) -> tuple[Graph, list[Cluster]]:
    """The graph with its nodes in the order of regions, and the regions that are worth it."""
    levels: dict[int, int] = {}
    regions: dict[int, Cluster] = {}
    effects: Node | None = None
    pieces = len(graph.nodes) > LARGEST
    for number, node in enumerate(graph.nodes):
        outside = id(node) in reasons
        before = [*[v.node for v in node.inputs], *node.control]
        if node.op.stateful:  # effects keep their order
            before += [effects] if effects is not None else []
            effects = node
        level = number // PIECE if pieces else 0
        for other in before:
            there = levels[id(other)]
            entering = not outside and id(other) in reasons and other.inputs
            level = max(
                level, there + bool(entering or (not outside and _has_effects(other, reasons)))
            )
        levels[id(node)] = level
        if not outside:
            home = regions.setdefault(level, Cluster(1 << len(regions)))
            home.nodes.append(node)
    order = {id(n): i for i, n in enumerate(graph.nodes)}
    nodes = sorted(graph.nodes, key=lambda n: (levels[id(n)], id(n) in reasons, order[id(n)]))
    ordered = Graph(graph.name, graph.inputs, nodes, graph.outputs)
    return ordered, [c for c in regions.values() if _worth_it(c)]


def _has_effects(node: Node, reasons: dict[int, str]) -> bool:
    return id(node) in reasons and node.op.stateful


def _worth_it(region: Cluster) -> bool:
    """True if a native function saves something."""
    return len(region.nodes) > 1 or not region.nodes[0].op.cheap
