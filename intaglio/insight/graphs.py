"""What can be looked at as a graph: functions, traces, graphs, and the text of one.

`graphs_of(target)` is where every view of this layer begins.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from intaglio.function.concrete import ConcreteFunction
from intaglio.function.polymorphic import Function
from intaglio.ir import text
from intaglio.ir.graph import Graph
from intaglio.trace import graph as recorded


class Titled(NamedTuple):
    """A graph with the name that it is shown by, and the trace that it is of, if any."""

    title: str
    graph: Graph
    trace: ConcreteFunction | None = None


def graphs_of(target: Any) -> list[Titled]:
    """The graphs of a function (one for each trace), a trace, a graph, or the text of a graph.

    Raises ValueError for a function without traces, TypeError for anything else, and
    GraphSyntaxError for a text that is no graph.
    """
    if isinstance(target, Function):
        return [_of_trace(trace, target.name) for trace in _traces(target)]
    if isinstance(target, ConcreteFunction):
        return [_of_trace(target, target.python_name)]
    if isinstance(target, recorded.FuncGraph):
        return [Titled(target.name, target.freeze_function())]
    if isinstance(target, recorded.Graph):
        target.get_operations()
        return [Titled("graph", target.freeze("graph", [], []))]
    if isinstance(target, Graph):
        return [Titled(target.name, target)]
    if isinstance(target, str):
        graph = text.parse(inspect.cleandoc(target))
        return [Titled(graph.name, graph)]
    raise TypeError(
        f"expected a tf.function, a trace of one, a graph or the text of a graph, "
        f"not {type(target).__name__}"
    )


MAX_COLUMNS = 400  # of a line of a graph's text in HTML: a constant may have a million numbers


def shortened(graph_text: str) -> str:
    """The text of a graph or node, long lines cut in the middle, for people to read."""
    half = MAX_COLUMNS // 2
    lines = [
        line if len(line) <= MAX_COLUMNS else f"{line[:half]} ... {line[-half:]}"
        for line in graph_text.splitlines()
    ]
    return "\n".join(lines)


def latest(target: Any) -> Titled:
    """The graph of `target`; of a function that of its last trace. Raises as `graphs_of`."""
    return graphs_of(target)[-1]


def _traces(function: Function) -> list[ConcreteFunction]:
    found = function._list_all_concrete_functions()
    if not found:
        raise ValueError(
            f"{function.name} has no trace yet: call it, or "
            f"{function.name}.get_concrete_function(...), first"
        )
    return found


def _of_trace(trace: ConcreteFunction, name: str) -> Titled:
    return Titled(f"{name}, trace {trace.number}", trace.frozen, trace)
