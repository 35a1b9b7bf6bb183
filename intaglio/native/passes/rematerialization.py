"""Recomputes Relu for the gradient of a batch normalisation and Relu.

Where Relu was zero is seen in its result, which is one more array to read, twice. It follows from
the inputs of the normalisation too, which the gradient reads in any case: the gradient gets a copy
of the two ops, and a result of Relu without other users is never written.
"""

from __future__ import annotations

from intaglio.ir.graph import Graph, Node
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.native.passes.normalization_fusion import has_relu
from intaglio.native.passes.use_def import Users, users_of
from intaglio.opdef import raw

# Pairs (input of the gradient, output of the normalisation) that must be the same value.
KEPT = ((3, 3), (4, 4))


@looks_for(lambda op: op is raw.FusedBatchNormGradV3)
def rematerialize(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with copies of normalisation and Relu for each gradient that has a kernel."""
    fuel = fuel or Fuel()
    users = users_of(graph)
    found: dict[int, tuple[Node, Node]] = {}
    for node in graph.nodes:
        if node.op is raw.FusedBatchNormGradV3 and has_relu(node):
            pair = _layer(node, users)
            if pair is not None and fuel.burn():
                found[id(node.inputs[0].node)] = pair
    return _rewritten(graph, found, users) if found else graph


def _layer(gradient: Node, users: Users) -> tuple[Node, Node] | None:
    """The normalisation and the Relu that belong to a gradient whose operand is a gradient of Relu."""
    before = gradient.inputs[0].node
    if before.op is not raw.ReluGrad or users[id(before.outputs[0])] != [gradient]:
        return None
    relu = before.inputs[1].node
    if relu.op is not raw.Relu:
        return None
    normal = relu.inputs[0].node
    if normal.op is not raw.FusedBatchNormV3 or relu.inputs[0] is not normal.outputs[0]:
        return None
    same = [gradient.inputs[i] is normal.inputs[i - 1] for i in (1, 2)]
    same += [gradient.inputs[i] is normal.outputs[o] for i, o in KEPT]
    same += [
        gradient.attrs[a] == normal.attrs[a] for a in ("epsilon", "is_training", "data_format")
    ]
    plain = not any(n.control or n.device for n in (gradient, before, relu, normal))
    return (normal, relu) if all(same) and plain else None


def _rewritten(graph: Graph, found: dict[int, tuple[Node, Node]], users: Users) -> Graph:
    """The graph with a copy of the pair before each gradient of Relu."""
    needless = _needless(graph, found, users)
    new = Rewriter(graph)
    for node in graph.nodes:
        pair = found.get(id(node))
        if id(node) in needless:
            new.drop(node)
        elif pair is None:
            new.keep(node)
        else:
            normal, relu = pair
            for stays in pair:
                new.record_beside(stays)
            again = new.like(normal, new.values(normal.inputs))
            inputs = new.values(node.inputs)
            inputs[1] = new.like(relu, again.outputs[:1]).outputs[0]
            new.keep(node, derived(node, inputs))
    return new.result()


def _needless(graph: Graph, found: dict[int, tuple[Node, Node]], users: Users) -> set[int]:
    """The ids of Relus whose only users are the gradients, and on which no control input depends."""
    awaited = {id(c) for n in graph.nodes for c in n.control}
    return {
        id(relu)
        for _, relu in found.values()
        if all(u is not None and id(u) in found for u in users[id(relu.outputs[0])])
        and id(relu) not in awaited
    }
