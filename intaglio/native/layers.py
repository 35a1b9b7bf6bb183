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
from intaglio.native.pooling import floored_gradient
from intaglio.native.recomputing import recomputed
from intaglio.native.row_kernels import LONGEST
from intaglio.op import raw
from intaglio.ops.batch_normalization import Floored, normalize, normalize_gradient

Run = Callable[..., Any]


def fuse(graph: Graph) -> Graph:
    """The graph with a `_FusedLayers` node for each layer that has a kernel."""
    graph = recomputed(graph, _has_kernels)
    users: dict[int, list[Node | None]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            users.setdefault(id(value), []).append(node)
    for value in graph.outputs:
        users.setdefault(id(value), []).append(None)
    clusters: list[Cluster] = []
    for node in graph.nodes:
        find = FINDERS.get(node.op.name)
        found = find(node, users) if find is not None and _large(node) else []
        if found:
            clusters.append(Cluster(1))
            clusters[-1].nodes += found
    if not clusters:
        return graph
    return Rewrite(graph, clusters, raw._FusedLayers, _is_number).graph()


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


def _only_user(
    value: SymbolicTensor, users: dict[int, list[Node | None]]
) -> Node | None:
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


def _convolution(node: Node, users: dict[int, list[Node | None]]) -> list[Node]:
    """A convolution, the addition of its bias, and Relu."""
    added = _only_user(node.outputs[0], users)
    if added is None or added.op.name not in ("BiasAdd", "AddV2", "Add"):
        return []
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    if bias.dims != node.outputs[0].dims[-1:] or _convolve(node, True) is None:  # type: ignore[index]  # they are known
        return []
    following = _only_user(added.outputs[0], users)
    if following is not None and following.op.name == "Relu":
        return [node, added, following]
    return [node, added]


def _convolve(node: Node, floored: bool) -> Run | None:
    x, filters = (v.dims for v in node.inputs)
    assert shapes.known(x)
    assert shapes.known(filters)
    along = offers.along_of(node.attrs, x, filters)
    g = None if along is None else offers.worthwhile(x, filters, along)
    return None if g is None else offers.finished(g, floored)


def _convolved(body: Graph) -> Run | None:
    nodes = {n.op.name: n for n in body.nodes}
    node = nodes["Conv2D"]
    run = _convolve(node, "Relu" in nodes)
    if run is None:
        return None
    added = nodes.get("BiasAdd") or nodes.get("AddV2") or nodes["Add"]
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    return Taking(run, *_places(body, *node.inputs, bias), listed=True)


# -- gradients of pooling -------------------------------------------------------------------


def _pooled_gradient(node: Node, users: dict[int, list[Node | None]]) -> list[Node]:
    """The gradient of a pooling, of the Relu before it, and its sum."""
    passed = _only_user(node.outputs[0], users)
    if passed is None or passed.op.name != "ReluGrad":
        return []
    if passed.inputs[0] is not node.outputs[0] or passed.inputs[1] is not node.inputs[0]:  # fmt: skip
        return []
    if _gradient(node) is None:
        return []
    sums = [
        user
        for user in users.get(id(passed.outputs[0]), [])
        if user is not None and _is_sum(user)
    ]
    return [node, passed, *sums[:1]]


def _is_sum(node: Node) -> bool:
    """True for a sum over all but the channels."""
    if node.op.name == "BiasAddGrad":
        return node.attrs["data_format"] == "NHWC" and not node.control
    if node.op.name != "Sum" or node.attrs["keep_dims"] or node.control:
        return False
    axes = node.inputs[1].node
    return axes.op.name == "Const" and sorted(axes.attrs["value"].reshape(-1).tolist()) == [0, 1, 2]  # fmt: skip


def _gradient(node: Node) -> Run | None:
    dims = node.inputs[0].dims
    assert shapes.known(dims)
    w = offers.windows(offers.pooled(node.attrs, dims))
    if w is None or any(v.dims != w.out_shape for v in node.inputs[1:]):
        return None
    return floored_gradient(w)


def _gradient_of_pooling(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op.name == "MaxPoolGrad"]
    run = _gradient(node)
    if run is None:
        return None
    dims = node.inputs[0].dims
    assert shapes.known(dims)
    total = reductions.reduction("Sum", (dims[0], dims[3]), (0,), False)
    order = [int(v.node.op.name != "ReluGrad") for v in body.outputs]
    if 1 in order and total is None:
        return None

    chain = Chain(len(body.inputs))
    made = chain.then(run, *_places(body, *node.inputs))
    if 1 in order:
        made[1:] = chain.then(total, made[1])
    return chain.giving([made[i] for i in order])


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


def _normalization(node: Node, users: dict[int, list[Node | None]]) -> list[Node]:
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


def _normalization_gradient(
    node: Node, users: dict[int, list[Node | None]]
) -> list[Node]:
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


FINDERS: dict[str, Callable[[Node, dict[int, list[Node | None]]], list[Node]]] = {
    "Conv2D": _convolution,
    "MaxPoolGrad": _pooled_gradient,
    "FusedBatchNormV3": _normalization,
    "FusedBatchNormGradV3": _normalization_gradient,
}
KERNELS: dict[str, Callable[[Graph], Run | None]] = {
    "Conv2D": _convolved,
    "MaxPoolGrad": _gradient_of_pooling,
    "FusedBatchNormV3": _normalized,
    "FusedBatchNormGradV3": _gradient_of_normalization,
}


def kernel(body: Graph) -> Run | None:
    """The kernel of a layer: arrays to a list of arrays."""
    make = [KERNELS[n.op.name] for n in body.nodes if n.op.name in KERNELS][-1]
    return make(body)
