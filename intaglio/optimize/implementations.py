"""Implementation selection: calls of an interface's functions run the implementation for the CPU."""

from __future__ import annotations

from intaglio.ir import implementations, walk
from intaglio.ir.graph import Graph, Node
from intaglio.ir.memo import memoized
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived, map_attached
from intaglio.opdef import raw
from intaglio.runtime import interpreter


@looks_for(lambda op: op.has_graphs)
def select_implementations(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with calls of the functions that `implementations.chosen` names.

    A graph with `jit_compile=True` keeps its calls, to any depth: in TensorFlow XLA compiles it, without
    Grappler's selection.
    """
    if interpreter.compiler_of(graph) is not None:
        below = walk.nested(graph)
        return _as_named(graph) if any(map(implementations.siblings, below)) else graph
    fuel = fuel or Fuel()
    if not any([_other(node) is not None for node in graph.nodes]):
        return graph
    new = Rewriter(graph)
    for node in graph.nodes:
        other = _other(node)
        if other is None or not fuel.burn():
            new.keep(node)
            continue
        op = raw.StatefulPartitionedCall if other.stateful else node.op
        attrs = {**node.attrs, "f": other}
        inputs, control = new.values(node.inputs), new.control(node)
        new.keep(node, derived(node, inputs, op=op, attrs=attrs, control=control))
    return new.result()


def _other(node: Node) -> Graph | None:
    """The graph that a call runs instead of its own; None for all other nodes."""
    if node.op.control_flow != "call":
        return None
    named = node.attrs["f"]
    found = implementations.chosen(named)
    return None if found is named else found


def _as_named(graph: Graph) -> Graph:
    """The graph whose calls, to any depth, are of functions without an interface."""
    return map_attached(graph, lambda node, name, nested: _unmarked(nested))


@memoized
def _unmarked(graph: Graph) -> Graph:
    found = graph if graph.opaque else _as_named(graph)
    if found is graph and implementations.siblings(graph):
        found = Graph(graph.name, graph.inputs, graph.nodes, graph.outputs)
    if found is not graph:
        interpreter.inherit(graph, found)
    return found
