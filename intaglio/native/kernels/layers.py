"""Kernels of `_FusedLayers` nodes: a layer of a network and the ops after it.

A convolution adds its bias, applies Relu and pools while its results are in registers or in cache.
The gradient of a 2x2 pooling includes that of the Relu before it, and its sum for the bias. Batch
normalisations are those of `native/kernels/normalization_layers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.kernels import normalization_layers, reductions, selection
from intaglio.native.kernels.pooling import (
    argmax_gradient,
    covers,
    maximum_with_argmax,
    relu_pooling_gradient,
)
from intaglio.native.kernels.pooling_epilogue import Pooling
from intaglio.native.kernels.sequence import Chain, Taking, input_indices
from intaglio.native.kernels.windows import Windows
from intaglio.opdef import raw
from intaglio.opdef.op import Op

Run = Callable[..., Any]

ADDITIONS = frozenset([raw.BiasAdd, raw.AddV2, raw.Add])
POOLS = frozenset([raw.MaxPool, raw.AvgPool, raw._ReluMaxPool])


def kernel(body: Graph) -> Run | None:
    """The kernel of a layer: arrays to a list of arrays; None if there is none."""
    ops = {n.op for n in body.nodes}
    make = [make for op, make in KERNELS.items() if op in ops][-1]
    return make(body)


# -- convolutions -------------------------------------------------------------------------


def convolution(node: Node, relu: bool, pooling: Pooling | None = None) -> Run | None:
    """The kernel of a convolution with its bias, Relu and a pooling after it; None if there is
    none."""
    x, filters = (v.dims for v in node.inputs)
    assert shapes.known(x)
    assert shapes.known(filters)
    along = selection.along_of(node.attrs, x, filters)
    g = None if along is None else selection.worthwhile(x, filters, along)
    return None if g is None else selection.finished(g, relu, pooling)


def pooling_after(pool: Node, whole: bool) -> Pooling:
    """The description of a pooling after a convolution; `whole` if the results before it are used
    too."""
    return Pooling(pool.op is raw.AvgPool, pool.op is raw._ReluMaxPool, whole)


def covers_images(pool: Node) -> bool:
    """True for a pooling of disjoint 2x2 windows that cover the images."""
    dims = pool.inputs[0].dims
    assert shapes.known(dims)
    w = selection.windows(selection.pooled(pool.attrs, dims))
    return w is not None and covers(w)


def _convolution(body: Graph) -> Run | None:
    nodes = {n.op: n for n in body.nodes}
    node = nodes[raw.Conv2D]
    (added,) = [n for n in body.nodes if n.op in ADDITIONS]
    pooling, pools = None, [n for n in body.nodes if n.op in POOLS]
    for pool in pools:
        whole = any(v.node is not pool for v in body.outputs)
        pooling = pooling_after(pool, whole)
    relu = raw.Relu in nodes or raw._ReluMaxPool in nodes
    run = convolution(node, relu, pooling)
    if run is None:
        return None
    bias = added.inputs[added.inputs[0] is node.outputs[0]]
    indices = input_indices(body, *node.inputs, bias)
    return Taking(run, *indices, listed=pooling is None)


# -- poolings and their gradients -----------------------------------------------------------


def pooling_gradient(node: Node) -> Run | None:
    """The kernel of a MaxPoolGrad and of the Relu before its pooling; None if there is none."""
    dims = node.inputs[0].dims
    assert shapes.known(dims)
    w = selection.windows(selection.pooled(node.attrs, dims))
    if w is None or any(v.dims != w.out_shape for v in node.inputs[1:]):
        return None
    return relu_pooling_gradient(w)


def windows_of(images: SymbolicTensor) -> Windows | None:
    """Disjoint 2x2 windows over images."""
    dims = images.dims
    assert shapes.known(dims)
    count, height, width, channels = dims
    return Windows(count, height, width, channels, height // 2, width // 2, 2, 2, 2, 2, 0, 0)


def _pooling_gradient(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op is raw.MaxPoolGrad]
    return _summed(body, node, pooling_gradient(node), raw.ReluGrad)


def _summed(body: Graph, node: Node, run: Run | None, last: Op) -> Run | None:
    """The kernel of a gradient and its sums over every image, which are then added if they are
    used."""
    dims = node.outputs[0].dims
    assert shapes.known(dims)
    total = reductions.reduction("sum", (dims[0], dims[3]), (0,), False)
    order = [int(v.node.op is not last) for v in body.outputs]
    if run is None or (1 in order and total is None):
        return None
    chain = Chain(len(body.inputs))
    results = chain.then(run, *input_indices(body, *node.inputs))
    if 1 in order:
        results[1:] = chain.then(total, results[1])
    return chain.returning([results[i] for i in order])


def _relu_pooling(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op is raw._ReluMaxPool]
    w = windows_of(node.inputs[0])
    return None if w is None else maximum_with_argmax(w)


def _relu_pooling_gradient(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op is raw._ReluMaxPoolGrad]
    w = windows_of(node.outputs[0])
    run = None if w is None else argmax_gradient(w)
    return _summed(body, node, run, raw._ReluMaxPoolGrad)


KERNELS: dict[Op, Callable[[Graph], Run | None]] = {
    raw._ReluMaxPool: _relu_pooling,
    raw._ReluMaxPoolGrad: _relu_pooling_gradient,
    raw.Conv2D: _convolution,
    raw.MaxPoolGrad: _pooling_gradient,
    **normalization_layers.KERNELS,
}
