"""A graph for inputs of known shapes, out of one that leaves dimensions open."""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.base import shapes
from intaglio.base.shapes import Dims
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef.spec import Spec


def specialized(graph: Graph, given: Sequence[Dims]) -> Graph:
    """The graph for inputs of these shapes; what follows from them is known in it.

    Branches and bodies stay as they are. None leaves an input as it is.
    """
    values: dict[int, SymbolicTensor] = {}
    copies: dict[int, Node] = {}
    nodes: list[Node] = []
    inputs: list[SymbolicTensor] = []
    for value, dims in zip(graph.inputs, given, strict=True):
        spec = value.spec if dims is None else value.spec.like(shape=dims)
        attrs = {**value.node.attrs, "shape": spec.shape}
        made = _made(value.node, [], [spec], (), attrs)
        values[id(value)] = made.outputs[0]
        copies[id(value.node)] = made
        nodes.append(made)
        inputs.append(made.outputs[0])
    for node in graph.nodes:
        if id(node) in copies:
            continue
        taken = [values.get(id(v), v) for v in node.inputs]
        control = tuple([copies.get(id(c), c) for c in node.control])
        made = _made(node, taken, _specs(node, taken), control, node.attrs)
        copies[id(node)] = made
        nodes.append(made)
        for old, new in zip(node.outputs, made.outputs, strict=True):
            values[id(old)] = new
    outputs = [values[id(v)] for v in graph.outputs]
    return Graph(graph.name, inputs, nodes, outputs)


def _made(
    node: Node,
    inputs: Sequence[SymbolicTensor],
    specs: Sequence[Spec],
    control: tuple[Node, ...],
    attrs: dict[str, object],
) -> Node:
    return Node(
        node.op,
        inputs,
        attrs,
        node.name,
        specs,
        control=control,
        origin=node.origin,
        graph=node.graph,
        device=node.device,
        source=node.source or node,
    )


def _specs(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Spec]:
    """What is known of a node's outputs now."""
    old = [v.spec for v in node.outputs]
    if all(shapes.known(s.shape) and s.value is not None for s in old) or not inputs:
        return old
    try:
        new = node.op.output_specs([v.spec for v in inputs], node.attrs)
        return [
            n
            if o.shape is None
            else Spec(o.dtype, shapes.merge(o.shape, n.shape), n.value, n.partial)
            for o, n in zip(old, new, strict=True)
        ]
    except (ValueError, TypeError, KeyError):  # it fails when it runs, and says why
        return old
