"""Layers of networks with what comes after them, as one kernel each.

A convolution adds its bias and goes through Relu while its results are in cache, and so does a
batch normalisation. The gradient of a pooling of 2x2 goes through that of the Relu before it, and
is summed for the bias; that of a batch normalisation computes again where its Relu was zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native import entry, offers, reductions
from intaglio.native.chains import Chain, Taking
from intaglio.native.clusters import Cluster, Rewrite
from intaglio.native.maxima import Users, placed
from intaglio.native.pooled import Pooling
from intaglio.native.pooling import (
    covers,
    floored_gradient,
    placed_gradient,
    placed_maximum,
)
from intaglio.native.recomputing import recomputed
from intaglio.native.row_kernels import LONGEST
from intaglio.native.windows import Windows
from intaglio.op import raw
from intaglio.ops.batch_normalization import Floored, normalize, normalize_gradient

Run = Callable[..., Any]


def fuse(graph: Graph) -> Graph:
    """The graph with a `_FusedLayers` node for each layer that has a kernel."""
    graph = recomputed(graph, _has_kernels)
    graph = placed(graph, _users(graph), _has_places)
    users = _users(graph)
    clusters: list[Cluster] = []
    taken: set[int] = set()
    for node in graph.nodes:
        find = FINDERS.get(node.op.name)
        if find is None or id(node) in taken or not _large(node):
            continue
        found = find(node, users)
        if found:
            clusters.append(Cluster(1))
            clusters[-1].nodes += found
            taken.update([id(n) for n in found])
    if not clusters:
        return graph
    return Rewrite(graph, clusters, raw._FusedLayers, _is_number).graph()


def _users(graph: Graph) -> Users:
    """The nodes that take each value; None is the caller."""
    users: Users = {}
    for node in graph.nodes:
        for value in node.inputs:
            users.setdefault(id(value), []).append(node)
    for value in graph.outputs:
        users.setdefault(id(value), []).append(None)
    return users


def _is_number(value: SymbolicTensor) -> bool:
    """True for the axes of a sum, which are part of a layer."""
    return value.node.op.name == "Const" and value.dtype.is_integer


def _large(node: Node) -> bool:
    """True for a node on float32 images whose shapes are known, worth a kernel."""
    value = node.outputs[0]
    if node.control or node.device or value.dtype is not float32:
        return False
    if not all(shapes.known(v.dims) for v in node.inputs):
        return False
    return (value.spec.count or 0) >= entry.LARGE


def _only_user(value: SymbolicTensor, users: Users) -> Node | None:
    """The node that takes a value, if no other does."""
    found = users.get(id(value), [])
    node = found[0] if len(found) == 1 else None
    return node if node is not None and not node.control and not node.device else None


def _places(body: Graph, *values: SymbolicTensor) -> list[int]:
    """Which inputs of a layer some values are; two may be the same."""
    found = {id(v): i for i, v in enumerate(body.inputs)}
    return [found[id(v)] for v in values]


def _number(value: SymbolicTensor) -> int:
    """Which of its node's outputs a value is; tensors are compared by what they are."""
    return [id(v) for v in value.node.outputs].index(id(value))


# -- convolutions -------------------------------------------------------------------------


ADDITIONS = frozenset(["BiasAdd", "AddV2", "Add"])
POOLS = frozenset(["MaxPool", "AvgPool", "_ReluMaxPool"])


def _convolution(node: Node, users: Users) -> list[Node]:
    """A convolution, the addition of its bias, Relu, and a pooling of 2x2."""
    added = _only_user(node.outputs[0], users)
    if added is None or added.op.name not in ADDITIONS:
        return []
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    if bias.dims != node.outputs[0].dims[-1:]:  # type: ignore[index]  # they are known
        return []
    layer = [node, added]
    following = _only_user(added.outputs[0], users)
    if following is not None and following.op.name == "Relu":
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
    if node.op.name not in POOLS or node.control or node.device:
        return False
    return node.op.name == "_ReluMaxPool" or _covers(node)


def _covers(node: Node) -> bool:
    dims = node.inputs[0].dims
    assert shapes.known(dims)
    w = offers.windows(offers.pooled(node.attrs, dims))
    return w is not None and covers(w)


def _pooled_as(pool: Node, whole: bool) -> Pooling:
    return Pooling(pool.op.name == "AvgPool", pool.op.name == "_ReluMaxPool", whole)


def _convolve(node: Node, floored: bool, pooling: Pooling | None = None) -> Run | None:
    x, filters = (v.dims for v in node.inputs)
    assert shapes.known(x)
    assert shapes.known(filters)
    along = offers.along_of(node.attrs, x, filters)
    g = None if along is None else offers.worthwhile(x, filters, along)
    return None if g is None else offers.finished(g, floored, pooling)


def _convolved(body: Graph) -> Run | None:
    nodes = {n.op.name: n for n in body.nodes}
    node = nodes["Conv2D"]
    (added,) = [n for n in body.nodes if n.op.name in ADDITIONS]
    pooling, pools = None, [n for n in body.nodes if n.op.name in POOLS]
    for pool in pools:
        whole = any(v.node is not pool for v in body.outputs)
        pooling = _pooled_as(pool, whole)
    floored = bool({"Relu", "_ReluMaxPool"} & {*nodes})
    run = _convolve(node, floored, pooling)
    if run is None:
        return None
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    places = _places(body, *node.inputs, bias)
    return Taking(run, *places, listed=pooling is None)


# -- gradients of pooling -------------------------------------------------------------------


def _pooled_gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a pooling, of the Relu before it, and its sum."""
    passed = _only_user(node.outputs[0], users)
    if passed is None or passed.op.name != "ReluGrad":
        return []
    if passed.inputs[0] is not node.outputs[0] or passed.inputs[1] is not node.inputs[0]:  # fmt: skip
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
    if node.op.name == "BiasAddGrad":
        return node.attrs["data_format"] == "NHWC" and not node.control
    if node.op.name != "Sum" or node.attrs["keep_dims"] or node.control:
        return False
    axes = node.inputs[1].node
    return axes.op.name == "Const" and sorted(axes.attrs["value"].reshape(-1).tolist()) == [0, 1, 2]  # fmt: skip


def _has_places(node: Node) -> bool:
    """True for the gradient of a pooling that may go by places."""
    return _large(node) and _gradient(node) is not None


def _gradient(node: Node) -> Run | None:
    dims = node.inputs[0].dims
    assert shapes.known(dims)
    w = offers.windows(offers.pooled(node.attrs, dims))
    if w is None or any(v.dims != w.out_shape for v in node.inputs[1:]):
        return None
    return floored_gradient(w)


def _gradient_of_pooling(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op.name == "MaxPoolGrad"]
    return _summed(body, node, _gradient(node), "ReluGrad")


def _summed(body: Graph, node: Node, run: Run | None, last: str) -> Run | None:
    """What gives a gradient and its sums over every image, with these added if they are wanted."""
    dims = node.outputs[0].dims
    assert shapes.known(dims)
    total = reductions.reduction("Sum", (dims[0], dims[3]), (0,), False)
    order = [int(v.node.op.name != last) for v in body.outputs]
    if run is None or (1 in order and total is None):
        return None
    chain = Chain(len(body.inputs))
    made = chain.then(run, *_places(body, *node.inputs))
    if 1 in order:
        made[1:] = chain.then(total, made[1])
    return chain.giving([made[i] for i in order])


def _pooled_in_place(node: Node, users: Users) -> list[Node]:
    """Relu and a pooling that keeps the places of maxima, where no convolution is before."""
    return [node] if _windows_of(node.inputs[0]) is not None else []


def _pooled_places(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op.name == "_ReluMaxPool"]
    w = _windows_of(node.inputs[0])
    return None if w is None else placed_maximum(w)


def _placed_gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a pooling by the places of the maxima, and its sum."""
    return [node, *_sums(node, users)]


def _gradient_by_places(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op.name == "_ReluMaxPoolGrad"]
    w = _windows_of(node.outputs[0])
    run = None if w is None else placed_gradient(w)
    return _summed(body, node, run, "_ReluMaxPoolGrad")


def _windows_of(images: SymbolicTensor) -> Windows | None:
    """Windows of 2x2 side by side over images."""
    dims = images.dims
    assert shapes.known(dims)
    count, height, width, channels = dims
    return Windows(
        count, height, width, channels, height // 2, width // 2, 2, 2, 2, 2, 0, 0
    )


# -- batch normalisations -------------------------------------------------------------------


def _normal(node: Node) -> bool:
    """True for a batch normalisation, or its gradient, that has kernels."""
    dims = node.outputs[0].dims
    assert shapes.known(dims)
    return (
        node.attrs["is_training"]
        and node.attrs["data_format"] == "NHWC"
        and 1 < dims[-1] <= LONGEST
        and all(v.dtype is float32 for v in node.inputs)
    )


def _has_kernels(node: Node) -> bool:
    """True for the gradient of a batch normalisation after that of Relu."""
    return _large(node) and _normal(node) and _large(node.inputs[0].node)


def _normalization(node: Node, users: Users) -> list[Node]:
    """A batch normalisation and Relu; alone if only its statistics are wanted."""
    if not _normal(node):
        return []
    if id(node.outputs[0]) not in users:
        return [node]
    following = _only_user(node.outputs[0], users)
    if following is None or following.op.name != "Relu":
        return []
    taker = _only_user(following.outputs[0], users)
    if taker is not None and taker.op.name == "ReluGrad":
        return []  # it is part of the gradient
    return [node, following]


def _normalization_gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a batch normalisation, and that of the Relu after it."""
    before = node.inputs[0].node
    if before.op.name != "ReluGrad" or not _has_kernels(node):
        return []
    if _only_user(before.outputs[0], users) is not node:
        return []
    relu = before.inputs[1].node
    if relu.op.name == "Relu" and _only_user(relu.outputs[0], users) is before:
        normal = relu.inputs[0].node
        if normal.op.name == "FusedBatchNormV3" and _only_user(normal.outputs[0], users) is relu:  # fmt: skip
            return [normal, relu, before, node]
    return [before, node]


def _normalized(body: Graph) -> Run:
    (node,) = [n for n in body.nodes if n.op.name == "FusedBatchNormV3"]
    attrs, floored = node.attrs, any(n.op.name == "Relu" for n in body.nodes)
    order = [0 if v.node.op.name == "Relu" else _number(v) for v in body.outputs]

    places = _places(body, *node.inputs)

    def layer(*arrays: Any) -> list[Any]:
        x, scale, offset, mean, variance = (arrays[i] for i in places)
        made = normalize(
            x, scale, offset, mean, variance, attrs["epsilon"],
            attrs["exponential_avg_factor"], "NHWC", training=True, floored=floored,
            needed=0 in order,
        )  # fmt: skip
        made += (np.zeros((), np.float32),)
        return [made[i] for i in order]

    return layer


def _gradient_of_normalization(body: Graph) -> Run:
    nodes = {n.op.name: n for n in body.nodes}
    node, passed = nodes["FusedBatchNormGradV3"], nodes["ReluGrad"]
    order = [_number(v) for v in body.outputs]
    places = _places(body, passed.inputs[0], *node.inputs[1:5])
    normal = nodes.get("FusedBatchNormV3")
    beyond = _places(body, passed.inputs[1] if normal is None else normal.inputs[2])

    def layer(*arrays: Any) -> list[Any]:
        d, x, scale, mean, variance, through = (arrays[i] for i in (*places, *beyond))
        # Two kernels read it, which would copy what is broadcast each time.
        d = np.ascontiguousarray(d) if any(d.strides) else d
        floored = Floored(through, None) if normal is None else Floored(None, through)
        made = normalize_gradient(
            d, x, scale, mean, variance, node.attrs["epsilon"], "NHWC",
            training=True, floored=floored,
        )  # fmt: skip
        made += (np.zeros(0, np.float32),) * 2
        return [made[i] for i in order]

    return layer


FINDERS: dict[str, Callable[[Node, Users], list[Node]]] = {
    "Conv2D": _convolution,
    "MaxPoolGrad": _pooled_gradient,
    "_ReluMaxPool": _pooled_in_place,
    "_ReluMaxPoolGrad": _placed_gradient,
    "FusedBatchNormV3": _normalization,
    "FusedBatchNormGradV3": _normalization_gradient,
}
KERNELS: dict[str, Callable[[Graph], Run | None]] = {
    "_ReluMaxPool": _pooled_places,
    "_ReluMaxPoolGrad": _gradient_by_places,
    "Conv2D": _convolved,
    "MaxPoolGrad": _gradient_of_pooling,
    "FusedBatchNormV3": _normalized,
    "FusedBatchNormGradV3": _gradient_of_normalization,
}


def kernel(body: Graph) -> Run | None:
    """The kernel of a layer: arrays to a list of arrays."""
    names = {n.op.name for n in body.nodes}
    make = [make for name, make in KERNELS.items() if name in names][-1]
    return make(body)
