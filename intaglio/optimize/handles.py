"""Removes duplicate handles among the inputs of graphs: each resource has one input.

A function that captures a variable which is also an argument has two inputs for it. Passes and native
code assume that the resources of different inputs do not alias.
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
    """The graph whose nested graphs, to any depth, use one input for each resource.

    It is necessary for correct results, so it takes no fuel.
    """
    # Memoized by graph and repeated inputs, so that nodes that share a graph still do.
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
    """The inputs of a node's graph that alias an earlier input, mapped to that input."""
    handles = [i for i, v in enumerate(nested.inputs) if v.dtype is resource]
    if len(handles) < 2:
        return {}
    # A graph's inputs are the last ones of its node; inference has checked that there are as many.
    operands = node.inputs[-len(nested.inputs) :]
    found: dict[int, int] = {}
    instead: dict[int, int] = {}
    for index in handles:
        if node.op.control_flow == "loop" and not _stays(node, index):
            continue
        outer = resources.origin(operands[index])
        earlier = found.setdefault(id(outer), index)
        if earlier != index:
            instead[index] = earlier
    return instead


def _stays(loop: Node, index: int) -> bool:
    """Whether a loop passes a handle on unchanged."""
    body: Graph = loop.attrs["body"]
    return resources.origin(body.outputs[index]) is body.inputs[index]


def _with_inputs(graph: Graph, instead: dict[int, int]) -> Graph:
    """The graph with uses of some inputs replaced by others. Its signature is unchanged."""
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
