"""Batch normalisations that are not fused into a layer: those in loops and branches."""

from __future__ import annotations

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.kernels import batch_normalization
from intaglio.native.kernels.normalization_layers import FORWARD, GRADIENTS, LAST, averaging_factor
from intaglio.native.kernels.sequence import Taking
from intaglio.native.llvm.vectors import FLOAT, Unsupported
from intaglio.native.lowering.function import FunctionLowering, Value
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering


@lowering(*FORWARD)
def normalization(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """A batch normalisation."""
    *rows, channels = shape = _shape(node, inputs)
    training, factor = node.attrs["is_training"], averaging_factor(node)
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
    results = stepped(w, node, run and Taking(run, *takes), inputs)
    if not training:
        results += [w.retain(inputs[i]) for i in (3, 4, 3, 4)]
    third = np.zeros((), np.float32)
    return results + [ArrayOperand(FLOAT, (), known=third) for _ in node.outputs[5:]]


@lowering(*GRADIENTS)
def gradient(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """The gradient of a batch normalisation."""
    *rows, channels = shape = _shape(node, inputs)
    attrs = node.attrs
    run = batch_normalization.gradient(
        int(np.prod(rows)), channels, shape, attrs["is_training"], attrs["epsilon"]
    )
    results = stepped(w, node, run and Taking(run, *range(5)), inputs)
    nothing = np.zeros(0, np.float32)
    return results + [ArrayOperand(FLOAT, (0,), known=nothing) for _ in node.outputs[3:]]


def _shape(node: Node, inputs: list[Value]) -> tuple[int, ...]:
    """The shape of the images. Raises Unsupported for images without kernels."""
    if any(not isinstance(h, ArrayOperand) or h.kind != FLOAT for h in inputs):
        raise Unsupported(f"{node.op.name} of {node.inputs[0].dtype.name}")
    if node.attrs["data_format"] not in LAST:
        raise Unsupported(f"{node.op.name} with channels first")
    return inputs[0].shape
