"""Handles that a branch, loop or call gets twice: a graph has one input for each resource.

A function that captures a variable which it is also called with has two inputs for it. Passes and machine
code take the resources of different inputs for different ones.
"""

from __future__ import annotations

import operator

from intaglio.base.dtypes import resource
from intaglio.ir import resources
from intaglio.ir.graph import Graph, Node
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, map_attached
from intaglio.runtime import interpreter


@looks_for(lambda op: op.has_graphs)
def share_handles(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with branches, bodies and called functions that use one input for each resource, to any depth.

    Results depend on it, so it takes no fuel.
    """
    # By the graph and its repeated inputs: nodes that share a graph still do afterwards.
    shared: dict[tuple[int, tuple[tuple[int, int], ...]], Graph] = {}

    def change(node: Node, name: str, nested: Graph) -> Graph:
        if nested.opaque:
            return nested
        instead = _repeated(node, nested)
        key = id(nested), tuple(instead.items())
        found = shared.get(key)
        if found is None:
            inner = _with_inputs(nested, instead) if instead else nested
            found = shared[key] = map_attached(inner, change)
            if found is not inner:
                interpreter.inherit(inner, found)
        return found

    return map_attached(graph, change)


def _repeated(node: Node, nested: Graph) -> dict[int, int]:
    """The inputs of a node's graph that are the same resource as an earlier one, which is the value."""
    handles = [i for i, v in enumerate(nested.inputs) if v.dtype is resource]
    if len(handles) < 2:
        return {}
    first = len(node.inputs) - len(nested.inputs)  # a graph's inputs are the last ones of its node
    found: dict[int, int] = {}
    instead: dict[int, int] = {}
    for index in handles:
        if node.op.control_flow == "loop" and not _stays(node, index):
            continue
        outer = resources.origin(node.inputs[first + index])
        earlier = found.setdefault(id(outer), index)
        if earlier != index:
            instead[index] = earlier
    return instead


def _stays(loop: Node, index: int) -> bool:
    """Whether a handle is the same in every iteration."""
    body: Graph = loop.attrs["body"]
    return resources.origin(body.outputs[index]) is body.inputs[index]


def _with_inputs(graph: Graph, instead: dict[int, int]) -> Graph:
    """The graph with one input where another one was used. It still has, and hands on, all of them."""
    new = Rewriter(graph)
    for index, earlier in instead.items():
        new.substitute(graph.inputs[index], graph.inputs[earlier])
    arguments = {id(v) for v in graph.inputs}
    for node in graph.nodes:
        new.keep(node)
    if all(map(operator.is_, new.nodes, graph.nodes)):
        return graph
    outputs = [v if id(v) in arguments else new.value(v) for v in graph.outputs]
    changed = Graph(graph.name, graph.inputs, new.nodes, outputs)
    interpreter.inherit(graph, changed)
    return changed
