"""Keeps the indices of a pooling's maxima for its gradient, instead of the array that was pooled.

The gradients of Relu and of the pooling after it read four numbers for each one of the result: the
result of Relu stays in memory, and has left the caches when it is read. One byte is enough: which
of the four was the maximum, and whether Relu was zero there.
"""

from __future__ import annotations

from typing import NamedTuple

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.native.kernels.layers import pooling_gradient
from intaglio.native.passes.use_def import Users, is_large, users_of
from intaglio.opdef import door, raw


class _Layer(NamedTuple):
    """Relu, a pooling, and the gradients of both."""

    relu: Node
    pool: Node
    by_pool: Node
    by_relu: Node


@looks_for(lambda op: op is raw.MaxPoolGrad)
def keep_indices(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with such ops for every layer whose pooling gradient has a kernel."""
    fuel = fuel or Fuel()
    users = users_of(graph)
    awaited = {id(c) for n in graph.nodes for c in n.control}
    found: list[_Layer] = []
    for node in graph.nodes:
        if node.op is raw.MaxPoolGrad:
            layer = _layer(node, users)
            if layer is None or any(n.control or n.device or id(n) in awaited for n in layer):
                continue
            if is_large(node) and pooling_gradient(node) is not None and fuel.burn():
                found.append(layer)
    return _rewritten(graph, found) if found else graph


def _layer(by_pool: Node, users: Users) -> _Layer | None:
    """The nodes of a layer, if the result of Relu has no other users."""
    seen, most, _ = by_pool.inputs
    relu, pool = seen.node, most.node
    after = users.get(id(by_pool.outputs[0]), [])
    if relu.op is not raw.Relu or pool.op is not raw.MaxPool or len(after) != 1:
        return None
    (by_relu,) = after
    if by_relu is None or by_relu.op is not raw.ReluGrad:
        return None
    same = pool.inputs[0] is seen and by_relu.inputs[1] is seen
    same = same and by_relu.inputs[0] is by_pool.outputs[0]
    everybody = {id(pool), id(by_pool), id(by_relu)}
    if not same or {id(u) for u in users[id(seen)]} != everybody:
        return None
    attrs = ("ksize", "strides", "padding", "explicit_paddings", "data_format")
    if any(pool.attrs[a] != by_pool.attrs[a] for a in attrs):
        return None
    return _Layer(relu, pool, by_pool, by_relu)


def _rewritten(graph: Graph, found: list[_Layer]) -> Graph:
    """The graph with each pooling and its gradient replaced by those with indices."""
    replaced = {id(n) for layer in found for n in (layer.relu, layer.by_pool)}
    layers = {id(n): layer for layer in found for n in (layer.pool, layer.by_relu)}
    indices: dict[int, SymbolicTensor] = {}  # by the pooling
    new = Rewriter(graph)
    for node in graph.nodes:
        layer = layers.get(id(node))
        if id(node) in replaced:
            continue
        if layer is None:
            new.keep(node)
            continue
        new.root = node
        with door.pushed(new):
            if node is layer.pool:
                x = new.value(layer.relu.inputs[0])
                pooled, indices[id(node)] = raw._ReluMaxPool(x)
            else:
                d = new.value(layer.by_pool.inputs[2])
                pooled = raw._ReluMaxPoolGrad(indices[id(layer.pool)], d)
        new.replace(node, [pooled])
    return new.result()
