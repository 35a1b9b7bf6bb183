"""Fuses layers of networks with the ops after them, into one kernel each.

A convolution is fused with its bias, Relu and a 2x2 pooling; the gradient of a pooling with that of
the Relu before it and the bias' sum; a batch normalisation with Relu. The kernels are those of
`native/kernels/layers.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from intaglio.ir.graph import Graph, Node
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel
from intaglio.native.kernels import layers
from intaglio.native.passes import normalization_fusion
from intaglio.native.passes.outlining import Cluster, is_parameter, outline
from intaglio.native.passes.use_def import Users, is_large, only_user, users_of
from intaglio.opdef import raw
from intaglio.opdef.op import Op


@looks_for(lambda op: op in FINDERS)
def fuse_layers(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_FusedLayers` node for each layer that has a kernel."""
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
    return outline(graph, clusters, raw._FusedLayers, _is_part, fuel)


def _is_part(node: Node, index: int) -> bool:
    """True for inputs that become part of the body: the axes of a sum, and empty arrays."""
    value = node.inputs[index]
    return is_parameter(node, index) or (value.node.op is raw.Const and value.dims == (0,))


# -- convolutions -------------------------------------------------------------------------


def _convolution(node: Node, users: Users) -> list[Node]:
    """A convolution, the addition of its bias, Relu, and a pooling of 2x2."""
    added = only_user(node.outputs[0], users)
    if not is_large(node) or added is None or added.op not in layers.ADDITIONS:
        return []
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    if bias.dims != node.outputs[0].dims[-1:]:  # type: ignore[index]  # dims are known
        return []
    layer = [node, added]
    following = only_user(added.outputs[0], users)
    if following is not None and following.op is raw.Relu:
        layer.append(following)
    seen = users.get(id(layer[-1].outputs[0]), [])
    for pool in seen:
        if pool is not None and _pools(pool):
            whole = len(seen) > 1
            if layers.convolution(node, True, layers.pooling_after(pool, whole)) is not None:
                return [*layer, pool]
    return layer if layers.convolution(node, True) is not None else []


def _pools(node: Node) -> bool:
    """True for a pooling of disjoint 2x2 windows that cover the images."""
    if node.op not in layers.POOLS or node.control or node.device:
        return False
    return node.op is raw._ReluMaxPool or layers.covers_images(node)


# -- gradients of pooling -------------------------------------------------------------------


def _pooling_gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a pooling, of the Relu before it, and the sum over it for the bias."""
    passed = only_user(node.outputs[0], users)
    if not is_large(node) or passed is None or passed.op is not raw.ReluGrad:
        return []
    if passed.inputs[0] is not node.outputs[0] or passed.inputs[1] is not node.inputs[0]:
        return []
    if layers.pooling_gradient(node) is None:
        return []
    return [node, passed, *_sums(passed, users)]


def _sums(node: Node, users: Users) -> list[Node]:
    """The sum of a gradient over all but the channels, for the bias, if there is one."""
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


def _relu_pooling(node: Node, users: Users) -> list[Node]:
    """Relu and a pooling that keeps the indices of maxima, without a convolution before them."""
    return [node] if layers.windows_of(node.inputs[0]) is not None else []


def _relu_pooling_gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a pooling by the indices of the maxima, and its sum."""
    return [node, *_sums(node, users)]


FINDERS: dict[Op, Callable[[Node, Users], list[Node]]] = {
    raw.Conv2D: _convolution,
    raw.MaxPoolGrad: _pooling_gradient,
    raw._ReluMaxPool: _relu_pooling,
    raw._ReluMaxPoolGrad: _relu_pooling_gradient,
    **normalization_fusion.FINDERS,
}
