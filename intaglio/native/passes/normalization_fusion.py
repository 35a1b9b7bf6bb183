"""Batch normalisations as layers: with Relu after them, and with its gradient before theirs.

The gradient after Relu computes again where that was zero; of a gradient that is one number
everywhere only the number is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter
from intaglio.native.kernels import batch_normalization
from intaglio.native.kernels.sequence import Taking
from intaglio.native.llvm.vectors import FLOAT, Unsupported
from intaglio.native.lowering.function import Rule, Value, Writer
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import Held
from intaglio.native.passes.use_def import Users, is_plain, only_user, places_of

Run = Callable[..., Any]

# The versions of the op: they differ in what they keep besides.
FORWARD = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
GRADIENTS = ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
LAST = ("NHWC", "NDHWC")


def settled(graph: Graph) -> Graph:
    """The graph without uses of what normalisations give that is known without them.

    That is the third thing that they keep for gradients, which is nothing, and, with given
    statistics, these.
    """
    if not any(n.op.name in FORWARD for n in graph.nodes):
        return graph
    new, users = Rewriter(graph), {id(v) for n in graph.nodes for v in n.inputs}
    users |= {id(v) for v in graph.outputs}
    for node in graph.nodes:
        made = new.copy(node)
        new.keep(node, made)
        if node.op.name not in FORWARD or not fits(node):
            continue
        if not node.attrs["is_training"]:
            for old, given in zip(node.outputs[1:5], (3, 4, 3, 4), strict=True):
                new.substitute(old, made.inputs[given])
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
    *rows, channels = _dims(node.outputs[0])
    count = int(np.prod(rows))
    return node.attrs["data_format"] in LAST and batch_normalization.fits(count, channels)


def _dims(value: SymbolicTensor) -> tuple[int, ...]:
    assert shapes.known(value.dims)
    return tuple(value.dims)


def has_relu(node: Node) -> bool:
    """True for the gradient of a batch normalisation after that of Relu."""
    return fits(node) and is_plain(node.inputs[0].node)


def _normalization(node: Node, users: Users) -> list[Node]:
    """A batch normalisation, and Relu if it comes after it; of the statistics alone if only
    these are wanted."""
    if not fits(node) or _wanted(node, users, 5):
        return []
    if not _wanted(node, users, 0, 1):
        return [node]
    following = only_user(node.outputs[0], users)
    if following is None or following.op.name != "Relu":
        return [node]
    taker = only_user(following.outputs[0], users)
    if taker is not None and taker.op.name == "ReluGrad":
        return []  # it is part of the gradient
    return [node, following]


def _wanted(node: Node, users: Users, first: int, last: int | None = None) -> list[SymbolicTensor]:
    """Those of some of a node's outputs that somebody takes."""
    return [v for v in node.outputs[first:last] if id(v) in users]


def _gradient(node: Node, users: Users) -> list[Node]:
    """The gradient of a batch normalisation, that of the Relu after it, and what makes the same
    number of its gradients everywhere."""
    if not fits(node) or _wanted(node, users, 3):
        return []
    before = node.inputs[0].node
    if before.op.name != "ReluGrad" or only_user(before.outputs[0], users) is not node:
        return [*_number(node, 0, users), node]
    layer = [*_number(before, 0, users), before, node]
    relu = before.inputs[1].node
    if relu.op.name == "Relu" and only_user(relu.outputs[0], users) is before:
        normal = relu.inputs[0].node
        alone = only_user(normal.outputs[0], users) is relu
        if normal.op.name in FORWARD and alone and not _wanted(normal, users, 1):
            return [normal, relu, *layer]
    return layer


def _number(node: Node, place: int, users: Users) -> list[Node]:
    """What broadcasts a single number to an input of a node."""
    source = node.inputs[place].node
    if source.op.name != "BroadcastTo" or source.inputs[0].spec.count != 1:
        return []
    alone = only_user(source.outputs[0], users) is node
    constant = source.inputs[1].node.op.name == "Const"
    return [source] if alone and constant and is_plain(source) else []


def _numbered(value: SymbolicTensor) -> int:
    """Which of its node's outputs a value is; tensors are compared by what they are."""
    return [id(v) for v in value.node.outputs].index(id(value))


def _factor(node: Node) -> float:
    return node.attrs.get("exponential_avg_factor", 1.0)


def _forward_kernel(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op.name in FORWARD]
    *rows, channels = shape = _dims(node.outputs[0])
    attrs, floored = node.attrs, any(n.op.name == "Relu" for n in body.nodes)
    order = [0 if v.node.op.name == "Relu" else _numbered(v) for v in body.outputs]
    training = attrs["is_training"]
    factor = _factor(node)
    run = batch_normalization.forward(
        int(np.prod(rows)), channels, shape, training, attrs["epsilon"], factor, floored, order
    )
    if run is None:
        return None
    x, scale, offset, mean, variance = node.inputs
    if training and factor == 1.0:  # they may be nothing
        mean = variance = offset
    return Taking(run, *places_of(body, x, scale, offset, mean, variance))


def _gradient_kernel(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op.name in GRADIENTS]
    passed = next((n for n in body.nodes if n.op.name == "ReluGrad"), None)
    normal = next((n for n in body.nodes if n.op.name in FORWARD), None)
    *rows, channels = shape = _dims(node.outputs[0])
    d, *given = node.inputs[:5]
    beyond: list[SymbolicTensor] = []
    through = ""
    if passed is not None:
        d = passed.inputs[0]
        beyond = [passed.inputs[1] if normal is None else normal.inputs[2]]
        through = "results" if normal is None else "offset"
    same = d.node.op.name == "BroadcastTo"
    attrs = node.attrs
    run = batch_normalization.gradient(
        int(np.prod(rows)), channels, shape, attrs["is_training"], attrs["epsilon"], through, same
    )
    if run is None:
        return None
    d = d.node.inputs[0] if same else d
    run.giving([run.gives[_numbered(v)] for v in body.outputs])
    return Taking(run, *places_of(body, d, *given, *beyond))


# -- one alone, in a native function ----------------------------------------------------------


def normalized(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """A batch normalisation, where it is no layer: in loops and branches."""
    *rows, channels = shape = _known(node, inputs)
    training, factor = node.attrs["is_training"], _factor(node)
    run = batch_normalization.forward(
        int(np.prod(rows)),
        channels,
        shape,
        training,
        node.attrs["epsilon"],
        factor,
        wanted=range(5 if training else 1),
    )
    takes = (0, 1, 2, 2, 2) if training and factor == 1.0 else range(5)
    made = stepped(w, node, run and Taking(run, *takes), inputs)
    if not training:
        made += [w.also(inputs[i]) for i in (3, 4, 3, 4)]
    third = np.zeros((), np.float32)
    return made + [Held(FLOAT, (), known=third) for _ in node.outputs[5:]]


def gradient(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """The gradient of a batch normalisation, likewise."""
    *rows, channels = shape = _known(node, inputs)
    attrs = node.attrs
    run = batch_normalization.gradient(
        int(np.prod(rows)), channels, shape, attrs["is_training"], attrs["epsilon"]
    )
    made = stepped(w, node, run and Taking(run, *range(5)), inputs)
    nothing = np.zeros(0, np.float32)
    return made + [Held(FLOAT, (0,), known=nothing) for _ in node.outputs[3:]]


def _known(node: Node, inputs: list[Value]) -> tuple[int, ...]:
    """The shape of the images. Raises Unsupported for others than kernels are for."""
    if any(not isinstance(h, Held) or h.kind != FLOAT for h in inputs):
        raise Unsupported(f"{node.op.name} of {node.inputs[0].dtype.name}")
    if node.attrs["data_format"] not in LAST:
        raise Unsupported(f"{node.op.name} with channels first")
    return inputs[0].shape


RULES: dict[str, Rule] = {
    **dict.fromkeys(FORWARD, normalized),
    **dict.fromkeys(GRADIENTS, gradient),
}
FINDERS = {**dict.fromkeys(FORWARD, _normalization), **dict.fromkeys(GRADIENTS, _gradient)}
KERNELS: dict[str, Callable[[Graph], Run | None]] = {
    **dict.fromkeys(FORWARD, _forward_kernel),
    **dict.fromkeys(GRADIENTS, _gradient_kernel),
}
