"""Specialises a graph with open dimensions for known input shapes."""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.base import shapes
from intaglio.base.shapes import Dims
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef.spec import Spec


def specialized(graph: Graph, input_dims: Sequence[Dims]) -> Graph:
    """The graph for inputs of these shapes, with shapes inferred again from them.

    Branches and bodies are unchanged. None leaves an input unchanged.
    """
    new = Rewriter(graph)
    for value, dims in zip(graph.inputs, input_dims, strict=True):
        spec = value.spec
        if dims is not None:  # a variable keeps what is known of its contents
            spec = Spec(spec.dtype, dims, spec.value if isinstance(spec.value, Spec) else None)
        attrs = {**value.node.attrs, "shape": spec.shape}
        new.keep(value.node, derived(value.node, [], attrs=attrs, specs=[spec]))
    inputs = {id(v.node) for v in graph.inputs}
    for node in graph.nodes:
        if id(node) not in inputs:
            taken = new.values(node.inputs)
            specs = inferred(node, taken)
            new.keep(node, derived(node, taken, specs=specs, control=new.control(node)))
    return new.result()


def inferred(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Spec]:
    """The specs of a node's outputs, inferred for these inputs."""
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
    except (ValueError, TypeError, KeyError):  # the error is raised when the node runs
        return old
