"""Calls become the nodes of the function that they call."""

from __future__ import annotations

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.runtime import interpreter
from intaglio.trace.rebuild import Fuel, Rebuild

# Functions with more nodes than this, counted with what they call, stay calls when they are
# called more than once: their code is shared.
SHARED = 64
# Functions called once may have this many. Without a limit, functions that call each other
# in pairs would double the graph at each level.
MOST = 512


def inline_calls(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with calls replaced by the called graphs' nodes, to any depth."""
    if not any(n.op.control_flow == "call" for n in graph.nodes):
        return graph
    fuel = fuel or Fuel()
    counts: dict[int, int] = {}
    for node in graph.nodes:
        if node.op.control_flow == "call":
            counts[id(node.attrs["f"])] = counts.get(id(node.attrs["f"]), 0) + 1
    new, way = Rebuild(graph), interpreter.way_of(graph)
    for node in graph.nodes:
        current = new.copy(node)
        if node.op.control_flow != "call" or not _may_be_inlined(node.attrs["f"], way):
            new.keep(node, current)
            continue
        callee = _flat(node.attrs["f"])
        most = MOST if counts[id(node.attrs["f"])] == 1 else SHARED
        if len(callee.nodes) <= most and fuel.burn():
            new.replace(node, _inlined(current, callee, new))
        else:
            new.keep(node, current)
    return new.done()


def _may_be_inlined(callee: Graph, way: object) -> bool:
    """False for a graph that is to become a function otherwise than the one that calls it."""
    return not callee.opaque and interpreter.way_of(callee) in (None, way)


def _flat(graph: Graph) -> Graph:
    """The called graph with its own calls inlined, worked out once."""
    found = graph.derived.get(_flat)
    if found is None:
        found = graph.derived[_flat] = inline_calls(graph)
    return found


def _inlined(call: Node, callee: Graph, new: Rebuild) -> list[SymbolicTensor]:
    values = {id(a): b for a, b in zip(callee.inputs, call.inputs, strict=True)}
    arguments = {id(v.node) for v in callee.inputs}
    copies: dict[int, Node] = {}
    for node in callee.nodes:
        if id(node) in arguments:
            continue
        made = Node(
            node.op,
            [values[id(v)] for v in node.inputs],
            node.attrs,
            new.unique_name(f"{call.name}/{node.name}"),
            [v.spec for v in node.outputs],
            control=tuple([copies[id(c)] for c in node.control if id(c) in copies]) or call.control,
            origin=node.origin + call.origin,
            graph=call.graph,
            device=node.device,
            source=node.source or node,
        )
        copies[id(node)] = made
        values.update((id(a), b) for a, b in zip(node.outputs, made.outputs, strict=True))
        new.nodes.append(made)
    return [values[id(v)] for v in callee.outputs]
