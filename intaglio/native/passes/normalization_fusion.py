"""Fuses batch normalisations with the Relu after them, and their gradients with Relu's."""

from __future__ import annotations

from typing import cast

import numpy as np

from intaglio.base.dtypes import float32
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.native.kernels import batch_normalization
from intaglio.native.kernels.normalization_layers import FORWARD, GRADIENTS, LAST, dims_of
from intaglio.native.passes.use_def import Users, is_plain, only_user
from intaglio.opdef import raw


@looks_for(lambda op: op in FORWARD)
def replace_known_statistics(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with known values instead of the secondary outputs of normalisations.

    The statistics of inference are its inputs; the third reserved output is empty.
    """
    fuel = fuel or Fuel()
    new, users = Rewriter(graph), {id(v) for n in graph.nodes for v in n.inputs}
    users |= {id(v) for v in graph.outputs}
    for node in graph.nodes:
        now = new.keep(node)
        if node.op not in FORWARD or not fits(node) or not fuel.burn():
            continue
        if not node.attrs["is_training"]:
            for old, index in zip(node.outputs[1:5], (3, 4, 3, 4), strict=True):
                new.substitute(old, now.inputs[index])
        for old in node.outputs[5:]:
            if id(old) in users:
                new.record_beside(node)
                nothing = cast(SymbolicTensor, new.constant(np.zeros((), np.float32)))
                new.substitute(old, nothing)
    return new.result()


def fits(node: Node) -> bool:
    """True for a batch normalisation, or its gradient, that has kernels."""
    if not is_plain(node) or any(v.dtype is not float32 for v in node.inputs):
        return False
    *rows, channels = dims_of(node.outputs[0])
    count = int(np.prod(rows))
    return node.attrs["data_format"] in LAST and batch_normalization.fits(count, channels)


def has_relu(node: Node) -> bool:
    """True for the gradient of a batch normalisation whose operand is a gradient of Relu."""
    return fits(node) and is_plain(node.inputs[0].node)


def _normalization(node: Node, users: Users) -> list[Node]:
    """A batch normalisation, and the Relu after it; the normalisation alone if only its statistics
    are used."""
    if not fits(node) or _used_outputs(node, users, 5):
        return []
    if not _used_outputs(node, users, 0, 1):
        return [node]
    following = only_user(node.outputs[0], users)
    if following is None or following.op is not raw.Relu:
        return [node]
    taker = only_user(following.outputs[0], users)
    if taker is not None and taker.op is raw.ReluGrad:
        return []  # it is fused with the gradient
    return [node, following]


def _used_outputs(
    node: Node, users: Users, first: int, last: int | None = None
) -> list[SymbolicTensor]:
    """Those of the outputs from `first` to `last` that are used."""
    return [v for v in node.outputs[first:last] if id(v) in users]


def _gradient(node: Node, users: Users) -> list[Node]:
    """The nodes of a gradient's kernel: Relu's gradient before it, and a broadcast number as its
    operand.

    Relu and the normalisation are among them if only the gradients use them.
    """
    if not fits(node) or _used_outputs(node, users, 3):
        return []
    before = node.inputs[0].node
    if before.op is not raw.ReluGrad or only_user(before.outputs[0], users) is not node:
        return [*_number(node, 0, users), node]
    layer = [*_number(before, 0, users), before, node]
    relu = before.inputs[1].node
    if relu.op is raw.Relu and only_user(relu.outputs[0], users) is before:
        normal = relu.inputs[0].node
        alone = only_user(normal.outputs[0], users) is relu
        if normal.op in FORWARD and alone and not _used_outputs(normal, users, 1):
            return [normal, relu, *layer]
    return layer


def _number(node: Node, index: int, users: Users) -> list[Node]:
    """The BroadcastTo of a single number that is an input of a node, if there is one."""
    source = node.inputs[index].node
    if source.op is not raw.BroadcastTo or source.inputs[0].spec.count != 1:
        return []
    alone = only_user(source.outputs[0], users) is node
    constant = source.inputs[1].node.op is raw.Const
    return [source] if alone and constant and is_plain(source) else []


FINDERS = {**dict.fromkeys(FORWARD, _normalization), **dict.fromkeys(GRADIENTS, _gradient)}
