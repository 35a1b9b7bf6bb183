"""Which nodes of a trace run as machine code, by the names under which they were traced."""

from __future__ import annotations

from typing import Any

from intaglio.base import later
from intaglio.function.concrete import ConcreteFunction
from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.optimize.pipeline import optimize


def steps_of(trace: ConcreteFunction | None) -> list[Any]:
    """The steps of a trace that are machine code, each with its `node` and `how` it runs.

    There are none of a trace that is interpreted, or that the compiler fails on.
    """
    if trace is None or not trace.runs_native:
        return []
    try:
        rows = later.named("intaglio.native.report:rows")
        return [row for row in rows(optimize(trace.frozen)) if row.compiled]
    except Exception:  # there is no compiler, or it failed: the trace is interpreted
        return []


def machine_code(trace: ConcreteFunction | None) -> frozenset[str]:
    """The traced names of what is machine code; nothing for a trace that is interpreted."""
    names: set[str] = set()
    for node in [row.node for row in steps_of(trace)]:
        names.add(node.traced_name)
        for graph in walk.attached(node):
            names |= _names(graph)
    return frozenset(names)


def _names(graph: Graph) -> set[str]:
    graphs = [*walk.nested(graph), graph]
    return {n.traced_name for g in graphs for n in g.nodes}
