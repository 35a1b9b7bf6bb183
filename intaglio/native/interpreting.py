"""Interpreted graphs: chains of elementwise ops on large arrays are fused into compiled loops.

The graph stays a list of kernels that Python calls. But where one elementwise op writes what
only another reads, one loop does both, with the bits of the ops' own kernels: only the time
differs, so it may begin at any call. Where functions may be compiled, all parts of the graph that
give the same bits become native functions.
"""

from __future__ import annotations

import math
from typing import Any

from intaglio.base import later
from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.native import tiers
from intaglio.native.analysis.exactness import keeps_bits

# Number of elements from which on fusing may be profitable; equal to `FEWEST` of `passes/elementwise_fusion.py`,
# which cannot be imported without the compiler.
MIN_FUSED_ELEMENTS = 1 << 12
# Ops from which on the parts that give the same bits are worth functions of their own.
MIN_EXACT_OPS = 4


def interpreted(graph: Graph, run: tiers.Run, in_parts: bool = False) -> tiers.Run:
    """The graph's function `run`, or a `Looped` that replaces it by fused loops once it has taken long.

    With `in_parts` it is an `InParts`: native functions replace the parts that give the same bits.
    """
    graphs = [*walk.nested(graph), graph]
    if in_parts and sum(map(_count_of_exact, graphs)) >= MIN_EXACT_OPS:
        return InParts(graph, run)
    return Looped(graph, run) if any(map(_has_large, graphs)) else run


def _count_of_exact(graph: Graph) -> int:
    """How many nodes of a graph may have native code that gives the same bits."""
    return sum([keeps_bits(n) and not n.op.free and bool(n.inputs) for n in graph.nodes])


def _has_large(graph: Graph) -> bool:
    """True if an elementwise op has, or may have, a large result."""
    for node in graph.nodes:
        if "scalar" in node.op.rules and node.inputs:
            dims = node.outputs[0].dims
            if dims and math.prod([d for d in dims if d is not None]) >= MIN_FUSED_ELEMENTS:
                return True
    return False


class Looped(tiers.Timed):
    """Interprets a graph, and changes over to fused loops as soon as they are compiled."""

    def __init__(self, graph: Graph, run: tiers.Run) -> None:
        super().__init__(graph, run, _looped)

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        return "interpreted"

    def _ready(self, run: tiers.Run) -> None:
        self.run = run


def _looped(graph: Graph) -> Any:
    return later.named("intaglio.native.compilation:looped")(graph)


class InParts(tiers.Timed):
    """Changes over to native functions for the parts that give the same bits."""

    def __init__(self, graph: Graph, run: tiers.Run) -> None:
        super().__init__(graph, run, _exact)
        ops = walk.all_ops(graph)
        self._has_effects = any([op.stateful and not op.native_exact for op in ops])

    @property
    def native(self) -> bool:
        """False: the rest stays interpreted."""
        return False

    def _ready(self, run: tiers.Run) -> None:
        if self._has_effects:  # a call cannot be made twice, to compare
            self.run, self.agreed = run, True
        else:
            super()._ready(run)

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        parts = "the parts that give the same bits"
        if self.agreed:
            return f"interpreted, but for {parts}, which are compiled"
        return f"interpreted, and {parts} compiled if they take long"


def _exact(graph: Graph) -> Any:
    return later.named("intaglio.native.compilation:exact")(graph)
