"""Kernels of batch normalisations with Relu, and of their gradients.

The gradient recomputes where Relu was zero; of an incoming gradient that is one broadcast number,
only the number is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.kernels import batch_normalization
from intaglio.native.kernels.sequence import Taking, input_indices
from intaglio.opdef import raw
from intaglio.opdef.op import Op

Run = Callable[..., Any]

# The versions of the op, which differ in their reserved outputs.
FORWARD = (raw.FusedBatchNorm, raw.FusedBatchNormV2, raw.FusedBatchNormV3)
GRADIENTS = (raw.FusedBatchNormGrad, raw.FusedBatchNormGradV2, raw.FusedBatchNormGradV3)
LAST = ("NHWC", "NDHWC")


def dims_of(value: SymbolicTensor) -> tuple[int, ...]:
    """The dims of a value, which are known."""
    assert shapes.known(value.dims)
    return tuple(value.dims)


def _output_index(value: SymbolicTensor) -> int:
    """The index of a value among its node's outputs."""
    return [id(v) for v in value.node.outputs].index(id(value))


def averaging_factor(node: Node) -> float:
    """The weight of the batch's statistics in the running ones; 1 for the ops that have no such
    attribute."""
    return node.attrs.get("exponential_avg_factor", 1.0)


def _forward_kernel(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op in FORWARD]
    *rows, channels = shape = dims_of(node.outputs[0])
    attrs, relu = node.attrs, any(n.op is raw.Relu for n in body.nodes)
    order = [0 if v.node.op is raw.Relu else _output_index(v) for v in body.outputs]
    training = attrs["is_training"]
    factor = averaging_factor(node)
    run = batch_normalization.forward(
        int(np.prod(rows)), channels, shape, training, attrs["epsilon"], factor, relu, order
    )
    if run is None:
        return None
    x, scale, offset, mean, variance = node.inputs
    if training and factor == 1.0:  # the running statistics may be empty
        mean = variance = offset
    return Taking(run, *input_indices(body, x, scale, offset, mean, variance))


def _gradient_kernel(body: Graph) -> Run | None:
    (node,) = [n for n in body.nodes if n.op in GRADIENTS]
    passed = next((n for n in body.nodes if n.op is raw.ReluGrad), None)
    normal = next((n for n in body.nodes if n.op in FORWARD), None)
    *rows, channels = shape = dims_of(node.outputs[0])
    d, *operands = node.inputs[:5]
    beyond: list[SymbolicTensor] = []
    through = ""
    if passed is not None:
        d = passed.inputs[0]
        beyond = [passed.inputs[1] if normal is None else normal.inputs[2]]
        through = "results" if normal is None else "offset"
    same = d.node.op is raw.BroadcastTo
    attrs = node.attrs
    run = batch_normalization.gradient(
        int(np.prod(rows)), channels, shape, attrs["is_training"], attrs["epsilon"], through, same
    )
    if run is None:
        return None
    d = d.node.inputs[0] if same else d
    run.returning([run.result_numbers[_output_index(v)] for v in body.outputs])
    return Taking(run, *input_indices(body, d, *operands, *beyond))


KERNELS: dict[Op, Callable[[Graph], Run | None]] = {
    **dict.fromkeys(FORWARD, _forward_kernel),
    **dict.fromkeys(GRADIENTS, _gradient_kernel),
}
