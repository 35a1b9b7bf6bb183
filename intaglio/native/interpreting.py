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

# Elements of arrays whose ops may be worth it: as `FEWEST` of `passes/elementwise_fusion.py`, which needs the compiler.
MIN_FUSED_ELEMENTS = 1 << 12


def interpreted(graph: Graph, run: tiers.Run) -> tiers.Run:
    """The graph's function `run`, or what changes over to loops once it has taken long."""
    graphs = [*walk.nested(graph), graph]
    return Looped(graph, run) if any(map(_has_large, graphs)) else run


def _has_large(graph: Graph) -> bool:
    """True if some elementwise op makes a large array, as far as is known."""
    for node in graph.nodes:
        if "scalar" in node.op.rules and node.inputs:
            dims = node.outputs[0].dims
            if dims and math.prod([d for d in dims if d is not None]) >= MIN_FUSED_ELEMENTS:
                return True
    return False


class Looped(tiers.Timed):
    """Changes over to loops as soon as there are some."""

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
