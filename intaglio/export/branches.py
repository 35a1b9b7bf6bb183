"""Branches and loops whose graphs are written again, with other inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.dtypes import DType
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec
from intaglio.optimize.partial_evaluation import graphs_of, with_graphs


def placeholder(new: Rewriter, dtype: DType, dims: Sequence[int]) -> SymbolicTensor:
    """A further input of the graph that is written."""
    attrs = {"dtype": dtype, "shape": tuple(dims)}
    name = new.unique_name("input")
    return new.add(Node(raw.Placeholder, (), attrs, name, [Spec(dtype, tuple(dims))])).outputs[0]


def closed(
    new: Rewriter, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor]
) -> Graph | None:
    """The graph that was written, with these inputs; None if it needs others."""
    graph = prune(Graph(name, inputs, new.nodes, outputs))
    there = {id(v.node) for v in graph.inputs}
    if any([n.op is raw.Placeholder and id(n) not in there for n in graph.nodes]):
        return None
    return graph


def with_bodies(
    new: Rewriter, node: Node, inputs: Sequence[Any], bodies: Sequence[Graph]
) -> Sequence[SymbolicTensor]:
    """The outputs of a branch with other graphs; the first of its inputs chooses among them."""
    return _copied(new, node, inputs, bodies, bodies[0].outputs)


def with_iterations(
    new: Rewriter, node: Node, inputs: Sequence[Any], cond: Graph, body: Graph
) -> Sequence[SymbolicTensor]:
    """The outputs of a loop with another condition and another body."""
    graphs = [{"cond": cond, "body": body}[name] for name, _ in graphs_of(node)]
    return _copied(new, node, inputs, graphs, body.outputs)


def _copied(
    new: Rewriter,
    node: Node,
    inputs: Sequence[Any],
    graphs: Sequence[Graph],
    outputs: Sequence[SymbolicTensor],
) -> Sequence[SymbolicTensor]:
    attrs = with_graphs(node, graphs)
    types = {
        "output_shapes": (),
        "Tin": tuple([v.dtype for v in inputs[1:]]),
        "Tout": tuple([v.dtype for v in outputs]),
    }
    attrs |= {k: v for k, v in types.items() if k in attrs}
    copy = derived(
        node,
        inputs,
        attrs=attrs,
        specs=[v.spec.like() for v in outputs],  # not their values
        control=new.control(node),
        name=new.unique_name(node.name),
    )
    return new.add(copy).outputs
