"""Layers of networks with what comes after them, as one kernel each.

A convolution adds its bias, goes through Relu and is pooled while its results are in registers or
in cache; products and sums of channels are folded into it (`native/passes/convolution_folding.py`). The gradient of a
pooling of 2x2 goes through that of the Relu before it, and is summed for the bias: from the places
of the maxima (`native/passes/pooling_indices.py`), or from what was pooled where that is needed anyway. Batch
normalisations are those of `native/passes/normalization_fusion.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.kernels import reductions, selection
from intaglio.native.kernels.pooling import (
    covers,
    floored_gradient,
    placed_gradient,
    placed_maximum,
)
from intaglio.native.kernels.pooling_epilogue import Pooling
from intaglio.native.kernels.sequence import Chain, Taking
from intaglio.native.kernels.windows import Windows
from intaglio.native.passes import normalization_fusion
from intaglio.native.passes.convolution_folding import folded
from intaglio.native.passes.elementwise_fusion import Cluster, Rewrite
from intaglio.native.passes.pooling_indices import placed
from intaglio.native.passes.rematerialization import recomputed
from intaglio.native.passes.use_def import Users, is_large, only_user, places_of, users_of
from intaglio.opdef import raw
from intaglio.opdef.op import Op

Run = Callable[..., Any]


def fuse(graph: Graph) -> Graph:
    """The graph with a `_FusedLayers` node for each layer that has a kernel."""
    if not any(n.op in FINDERS for n in graph.nodes):
        return graph
    graph = folded(normalization_fusion.settled(graph))
    graph = recomputed(graph, normalization_fusion.has_relu)
    graph = placed(graph, users_of(graph), _has_places)
    users = users_of(graph)
    clusters: list[Cluster] = []
    taken: set[int] = set()
    for node in graph.nodes:
        find = FINDERS.get(node.op)
        if find is None or id(node) in taken:
            continue
        found = find(node, users)
        if found:
            clusters.append(Cluster(1))
            clusters[-1].nodes += found
            taken.update([id(n) for n in found])
    if not clusters:
        return graph
    return Rewrite(graph, clusters, raw._FusedLayers, _is_number).graph()


def _is_number(value: SymbolicTensor) -> bool:
    """True for the axes of a sum, which are part of a layer, and for what is nothing."""
    constant = value.node.op is raw.Const
    return constant and (value.dtype.is_integer or value.dims == (0,))


# -- convolutions -------------------------------------------------------------------------


ADDITIONS = frozenset([raw.BiasAdd, raw.AddV2, raw.Add])
POOLS = frozenset([raw.MaxPool, raw.AvgPool, raw._ReluMaxPool])


def _convolution(node: Node, users: Users) -> list[Node]:
    """A convolution, the addition of its bias, Relu, and a pooling of 2x2."""
    added = only_user(node.outputs[0], users)
    if not is_large(node) or added is None or added.op not in ADDITIONS:
        return []
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    if bias.dims != node.outputs[0].dims[-1:]:  # type: ignore[index]  # they are known
        return []
    layer = [node, added]
    following = only_user(added.outputs[0], users)
    if following is not None and following.op is raw.Relu:
        layer.append(following)
    seen = users.get(id(layer[-1].outputs[0]), [])
    for pool in seen:
        if pool is not None and _pools(pool):
            whole = len(seen) > 1
            if _convolve(node, True, _pooled_as(pool, whole)) is not None:
                return [*layer, pool]
    return layer if _convolve(node, True) is not None else []


def _pools(node: Node) -> bool:
    """True for what pools windows of 2x2 side by side that cover the images."""
    if node.op not in POOLS or node.control or node.device:
        return False
    return node.op is raw._ReluMaxPool or _covers(node)


def _covers(node: Node) -> bool:
    dims = node.inputs[0].dims
    assert shapes.known(dims)
    w = selection.windows(selection.pooled(node.attrs, dims))
    return w is not None and covers(w)


def _pooled_as(pool: Node, whole: bool) -> Pooling:
    return Pooling(pool.op is raw.AvgPool, pool.op is raw._ReluMaxPool, whole)


def _convolve(node: Node, floored: bool, pooling: Pooling | None = None) -> Run | None:
    x, filters = (v.dims for v in node.inputs)
    assert shapes.known(x)
    assert shapes.known(filters)
    along = selection.along_of(node.attrs, x, filters)
    g = None if along is None else selection.worthwhile(x, filters, along)
    return None if g is None else selection.finished(g, floored, pooling)


def _convolved(body: Graph) -> Run | None:
    nodes = {n.op: n for n in body.nodes}
    node = nodes[raw.Conv2D]
    (added,) = [n for n in body.nodes if n.op in ADDITIONS]
    pooling, pools = None, [n for n in body.nodes if n.op in POOLS]
    for pool in pools:
        whole = any(v.node is not pool for v in body.outputs)
        pooling = _pooled_as(pool, whole)
    floored = raw.Relu in nodes or raw._ReluMaxPool in nodes
    run = _convolve(node, floored, pooling)
    if run is None:
        return None
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    places = places_of(body, *node.inputs, bias)
    return Taking(run, *places, listed=pooling is None)


# -- gradients of pooling -------------------------------------------------------------------


def _pooled_gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a pooling, of the Relu before it, and its sum."""
    passed = only_user(node.outputs[0], users)
    if not is_large(node) or passed is None or passed.op is not raw.ReluGrad:
        return []
    if passed.inputs[0] is not node.outputs[0] or passed.inputs[1] is not node.inputs[0]:
        return []
    if _gradient(node) is None:
        return []
    return [node, passed, *_sums(passed, users)]


def _sums(node: Node, users: Users) -> list[Node]:
    """What sums a gradient up for the bias, if anything does."""
    seen = users.get(id(node.outputs[0]), [])
    return [user for user in seen if user is not None and _is_sum(user)][:1]


def _is_sum(node: Node) -> bool:
    """True for a sum over all but the channels."""
    if node.op is raw.BiasAddGrad:
        return node.attrs["data_format"] == "NHWC" and not node.control
    if node.op is not raw.Sum or node.attrs["keep_dims"] or node.control:
        return False
    axes = node.inputs[1].node
    return axes.op is raw.Const and sorted(axes.attrs["value"].reshape(-1).tolist()) == [0, 1, 2]


def _has_places(node: Node) -> bool:
    """True for the gradient of a pooling that may go by places."""
    return is_large(node) and _gradient(node) is not None


def _gradient(node: Node) -> Run | None:
    dims = node.inputs[0].dims
    assert shapes.known(dims)
    w = selection.windows(selection.pooled(node.attrs, dims))
    if w is None or any(v.dims != w.out_shape for v in node.inputs[1:]):
        return None
    return floored_gradient(w)


def _gradient_of_pooling(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op is raw.MaxPoolGrad]
    return _summed(body, node, _gradient(node), raw.ReluGrad)


def _summed(body: Graph, node: Node, run: Run | None, last: Op) -> Run | None:
    """What gives a gradient and its sums over every image, with these added if they are wanted."""
    dims = node.outputs[0].dims
    assert shapes.known(dims)
    total = reductions.reduction("sum", (dims[0], dims[3]), (0,), False)
    order = [int(v.node.op is not last) for v in body.outputs]
    if run is None or (1 in order and total is None):
        return None
    chain = Chain(len(body.inputs))
    made = chain.then(run, *places_of(body, *node.inputs))
    if 1 in order:
        made[1:] = chain.then(total, made[1])
    return chain.giving([made[i] for i in order])


def _pooled_in_place(node: Node, users: Users) -> list[Node]:
    """Relu and a pooling that keeps the places of maxima, where no convolution is before."""
    return [node] if _windows_of(node.inputs[0]) is not None else []


def _pooled_places(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op is raw._ReluMaxPool]
    w = _windows_of(node.inputs[0])
    return None if w is None else placed_maximum(w)


def _placed_gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a pooling by the places of the maxima, and its sum."""
    return [node, *_sums(node, users)]


def _gradient_by_places(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op is raw._ReluMaxPoolGrad]
    w = _windows_of(node.outputs[0])
    run = None if w is None else placed_gradient(w)
    return _summed(body, node, run, raw._ReluMaxPoolGrad)


def _windows_of(images: SymbolicTensor) -> Windows | None:
    """Windows of 2x2 side by side over images."""
    dims = images.dims
    assert shapes.known(dims)
    count, height, width, channels = dims
    return Windows(count, height, width, channels, height // 2, width // 2, 2, 2, 2, 2, 0, 0)


FINDERS: dict[Op, Callable[[Node, Users], list[Node]]] = {
    raw.Conv2D: _convolution,
    raw.MaxPoolGrad: _pooled_gradient,
    raw._ReluMaxPool: _pooled_in_place,
    raw._ReluMaxPoolGrad: _placed_gradient,
    **normalization_fusion.FINDERS,
}
KERNELS: dict[Op, Callable[[Graph], Run | None]] = {
    raw._ReluMaxPool: _pooled_places,
    raw._ReluMaxPoolGrad: _gradient_by_places,
    raw.Conv2D: _convolved,
    raw.MaxPoolGrad: _gradient_of_pooling,
    **normalization_fusion.KERNELS,
}


def kernel(body: Graph) -> Run | None:
    """The kernel of a layer: arrays to a list of arrays."""
    ops = {n.op for n in body.nodes}
    make = [make for op, make in KERNELS.items() if op in ops][-1]
    return make(body)
