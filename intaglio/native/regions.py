"""The native regions of a graph: the whole graph where possible, else as many regions as it has.

Whether a node has code is certain only after lowering. So the programs are compiled; a node for which
lowering fails is left outside, and the graph is partitioned again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native import pipeline
from intaglio.native.analysis import exactness
from intaglio.native.analysis.sizes import numeric
from intaglio.native.kernels.node_selection import PARTS, kernel_of
from intaglio.native.kernels.sequence import has_steps
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.registry import has_code, lacking
from intaglio.native.passes import partitioning
from intaglio.native.passes.decompositions import expression
from intaglio.native.passes.elementwise_fusion import can_compile, is_elementwise, loop_keeps_bits
from intaglio.native.passes.expansions import can_expand
from intaglio.native.passes.store_forwarding import UPDATES
from intaglio.native.pipeline import Graphs
from intaglio.native.program import Program
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.ops.state.resource_variable import contents_of


class Regions:
    """A graph whose native parts are `_Program` nodes, and the programs of these.

    `whole` is the program of the whole graph, if it has one; else `mixed` is the graph that is
    interpreted, with `_Program` nodes, and with loops for the elementwise ops outside of them.
    """

    def __init__(self, graph: Graph, exact: bool = False) -> None:
        """With `exact` only what gives the bits of NumPy's kernels is native."""
        self.graph = graph
        self._graphs = Graphs.EXACT_REGIONS if exact else Graphs.MIXED
        self.programs: dict[int, Program] = {}  # by the graph of each
        # Why a node is in no program, by the id of the node in the graph.
        self.reasons: dict[int, str] = {}
        for node in graph.nodes:
            reason = obstacle(node)
            if exact and not keeps_bits(node):
                reason = reason or f"{node.op.name}, which rounds otherwise"
            if reason:
                self.reasons[id(node)] = reason
        self.whole: Program | None = None
        self.mixed = graph
        while not self._compiled():
            pass

    def _compiled(self) -> bool:
        """Compiles the programs; False if a node has no code, whose reason is added to `reasons`."""
        graph, reasons = self.graph, self.reasons
        try:
            small = len(graph.nodes) <= partitioning.MAX_FUNCTION_NODES
            if small and not any(
                n.inputs or n.op.stateful for n in graph.nodes if id(n) in reasons
            ):
                self.whole = Program(graph)
                return True
            partitioning.exclude_outer_lists(graph, reasons)
            self._partition(reasons)
            bodies = [n.attrs["body"] for n in self.mixed.nodes if n.op is raw._Program]
            self.programs = {id(body): Program(body) for body in bodies}
        except Unsupported as e:
            # Similar nodes would fail for the same reason.
            blamed = None if e.node is None else self._origin(e.node)
            before = len(reasons)
            for node in graph.nodes:
                if blamed is None or _is_similar(node, blamed):
                    reasons.setdefault(id(node), str(e))
            self.programs = {}
            if len(reasons) > before:
                return False
            self._partition({id(node): str(e) for node in graph.nodes})
        return True

    def _partition(self, outside: dict[int, str]) -> None:
        """Sets `mixed` to the graph partitioned with these nodes outside of all programs."""
        self.graph.derived[partitioning.OUTSIDE] = outside
        self.mixed = pipeline.run(self.graph, self._graphs)

    def _origin(self, node: Node) -> Node | None:
        """The node of the graph that a program's node was rewritten from, found by source and name."""
        source = node.source or node
        found = [n for n in self.graph.nodes if (n.source or n) is source]
        named = [n for n in found if node.name == n.name or node.name.startswith(f"{n.name}_")]
        return max(named, key=lambda n: len(n.name), default=found[0] if found else None)


def _is_similar(node: Node, other: Node) -> bool:
    """True if nodes are equal in everything that decides whether they have code."""
    if node is other:
        return True
    return (
        node.op is other.op
        and [_form(v) for v in node.inputs] == [_form(v) for v in other.inputs]
        and node.attrs == other.attrs
    )


def _form(value: SymbolicTensor) -> tuple[Any, ...]:
    known = value.spec.value
    # The dtype and shape that matter for a resource are those of its contents.
    key = known.tobytes() if isinstance(known, np.ndarray) else id(known)
    return value.dtype, value.dims, key


def may_have_code(op: Op) -> bool:
    """True if an op may have native code: its own, or that of ops which passes replace it by."""
    return has_code(op) or op in UPDATES


def may_be_native(op: Op) -> bool:
    """True if nodes of an op may run as native code, for some dtypes and shapes.

    Code of its own, an expression of other ops, an elementwise expression; graphs that it runs; and ops
    that cost nothing.
    """
    expressions = ("native", "decompose", "scalar")
    return (
        op.free
        or op.has_graphs
        or may_have_code(op)
        or any([rule in op.rules for rule in expressions])
    )


def keeps_bits(node: Node) -> bool:
    """True if native code of a node, its branches and bodies is bit for bit equal to the kernels.

    That includes functions of large arrays, whose kernels run the same machine code.
    """
    own = exactness.keeps_bits(node) or (is_elementwise(node.op) and loop_keeps_bits(node))
    return own and all([keeps_bits(n) for g in walk.attached(node) for n in g.nodes])


def obstacle(node: Node) -> str:
    """The reason why a node cannot have native code; "" if it may."""
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
    if may_have_code(op) or can_expand(node):
        return "" if op.control_flow else _unknown_shape(node) or lacking(node)
    if "scalar" not in op.rules or len(node.outputs) != 1:
        return op.name
    return can_compile(node) or _unknown_shape(node)


def _unknown_shape(node: Node) -> str:
    """The message about an input or output of unknown shape; "" if all are known."""
    for value in (*node.inputs, *node.outputs):
        if value.dtype in (variant, resource) or node.op is raw.TensorListStack:
            continue
        if value.dims == (0,) and value.node.op is raw.Const:
            continue  # the shape [] of a scalar
        if value.dims is not None and 0 in value.dims:
            return f"{value.name} has no elements"
        if not shapes.known(value.dims):
            return f"{value.name} has the shape {shapes.text(value.dims)}"
    return ""
