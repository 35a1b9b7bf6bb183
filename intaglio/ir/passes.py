"""The pass driver, which the pipelines share: runs a list of passes over a graph.

A pass is a function of a graph and `Fuel` that returns the new graph, or the same one.
`INTAGLIO_FUEL=n` lets the first n rewrites of every graph happen, `INTAGLIO_VERIFY=1` checks the
graph after every pass, and `INTAGLIO_DUMP=folder` writes its text after each.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import Protocol

from intaglio.ir import text, verify, walk
from intaglio.ir.graph import Graph
from intaglio.ir.rewrite import Fuel, active_meter
from intaglio.opdef.op import Op

# Set by tests, or INTAGLIO_VERIFY=1: checks the graph after every pass.
VERIFY = os.environ.get("INTAGLIO_VERIFY") == "1"

Pass = Callable[[Graph, Fuel], Graph]


class GraphPass(Protocol):
    """A pass that may be called without fuel, which is unlimited then."""

    def __call__(self, graph: Graph, fuel: Fuel | None = None) -> Graph: ...


def looks_for(is_wanted: Callable[[Op], bool]) -> Callable[[GraphPass], GraphPass]:
    """Declares the ops that a pass looks for. A graph without any of them is returned unchanged.

    The predicate is called once for each op, so that a pass with nothing to do is skipped without a walk
    over the nodes. Under `VERIFY` skipped passes run nevertheless, and have to change nothing.
    """
    known: dict[Op, bool] = {}

    def declare(change: GraphPass) -> GraphPass:
        @functools.wraps(change)
        def run(graph: Graph, fuel: Fuel | None = None) -> Graph:
            for op in walk.own_ops(graph):
                found = known.get(op)
                if found is None:
                    found = known[op] = is_wanted(op)
                if found:
                    return change(graph, fuel)
            if VERIFY and change(graph, fuel) is not graph:
                raise verify.InvalidGraphError(
                    f"{run.__name__} changes {graph.name}, which has no op that it looks for"
                )
            return graph

        return run

    return declare


def is_loop(op: Op) -> bool:
    """True for loops, which several passes look for."""
    return op.control_flow == "loop"


def run(
    graph: Graph,
    steps: Iterable[tuple[str, Pass]],
    fuel: Fuel,
    stage: str = "",
    after: Callable[[Graph], None] | None = None,
) -> Graph:
    """The graph after all steps, each a name and a pass.

    `stage` distinguishes the files in the folder of INTAGLIO_DUMP from those of other pipelines. `after` is
    called with the graph after each step. Raises InvalidGraphError where `VERIFY` finds a graph
    that breaks a rule.
    """
    folder, prefix = os.environ.get("INTAGLIO_DUMP"), f"{stage}-" if stage else ""
    if folder:
        _dump(folder, graph, f"{prefix}0-traced")
    meter = active_meter()
    for number, (name, change) in enumerate(steps, 1):
        before, spent = graph, meter.spent if meter else 0
        graph = change(graph, fuel)
        if meter is not None:
            meter.step(stage, name, before, graph, spent)
        if after is not None:
            after(graph)
        if VERIFY:
            verify.verify(graph)
        if folder:
            _dump(folder, graph, f"{prefix}{number}-{name}")
    return graph


def _dump(folder: str, graph: Graph, step: str) -> None:
    os.makedirs(folder, exist_ok=True)
    label = "".join(c if c.isalnum() or c in "_-" else "_" for c in graph.name)
    written = os.path.join(folder, f"{label}.{step.replace(' ', '-')}.txt")
    with open(f"{written}.partial", "w", encoding="utf-8") as file:
        file.write(text.format_graph(graph))
    os.replace(f"{written}.partial", written)
