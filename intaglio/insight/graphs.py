"""What can be looked at as a graph: functions, traces, graphs, and the text of one.

`graphs_of(thing)` is where every view of this layer begins.
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


def graphs_of(thing: Any) -> list[Titled]:
    """The graphs of a function (one for each trace), a trace, a graph, or the text of a graph.

    Raises ValueError for a function without traces, TypeError for anything else, and
    GraphSyntaxError for a text that is no graph.
    """
    if isinstance(thing, Function):
        return [_of_trace(trace, thing.name) for trace in _traces(thing)]
    if isinstance(thing, ConcreteFunction):
        return [_of_trace(thing, thing.python_name)]
    if isinstance(thing, recorded.FuncGraph):
        return [Titled(thing.name, thing.freeze_function())]
    if isinstance(thing, recorded.Graph):
        thing.get_operations()
        return [Titled("graph", thing.freeze("graph", [], []))]
    if isinstance(thing, Graph):
        return [Titled(thing.name, thing)]
    if isinstance(thing, str):
        graph = text.parse(inspect.cleandoc(thing))
        return [Titled(graph.name, graph)]
    raise TypeError(
        f"expected a tf.function, a trace of one, a graph or the text of a graph, "
        f"not {type(thing).__name__}"
    )


def latest(thing: Any) -> Titled:
    """The graph of `thing`; of a function that of its last trace. Raises as `graphs_of`."""
    return graphs_of(thing)[-1]


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
