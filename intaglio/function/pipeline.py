"""What a graph goes through between tracing and running."""

from __future__ import annotations

from intaglio.base.options import OPTIONS
from intaglio.ir.graph import Graph
from intaglio.optimize.pipeline import optimize
from intaglio.runtime import interpreter


def prepare(graph: Graph) -> Graph:
    """The graph as it runs: optimised, unless the user switched the passes off."""
    if OPTIONS.optimizer.get("disable_meta_optimizer"):
        return graph
    return optimize(graph)


interpreter.install_pipeline(prepare)
