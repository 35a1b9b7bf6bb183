"""Interpreted graphs: chains of elementwise ops on large arrays are fused into compiled loops.

The graph stays a list of kernels that Python calls. But where one elementwise op writes what
only another reads, one loop does both, with the bits of the ops' own kernels: only the time
differs, so it may begin at any call.
"""

from __future__ import annotations

import math
from typing import Any

from intaglio.base import later
from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.native import tiers

# Number of elements from which on fusing may be profitable; equal to `FEWEST` of `passes/elementwise_fusion.py`,
# which cannot be imported without the compiler.
MIN_FUSED_ELEMENTS = 1 << 12


def interpreted(graph: Graph, run: tiers.Run) -> tiers.Run:
    """The graph's function `run`, or a `Looped` that replaces it by fused loops once it has taken long."""
    graphs = [*walk.nested(graph), graph]
    return Looped(graph, run) if any(map(_has_large, graphs)) else run


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
