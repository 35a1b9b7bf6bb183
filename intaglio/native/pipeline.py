"""From an optimised graph to what runs: what there is code for is machine code, the rest NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base.dtypes import float32
from intaglio.ir.graph import Graph, Node
from intaglio.native.clusters import fuse
from intaglio.native.fused import FusedKernel
from intaglio.native.matmul import MatMulKernel
from intaglio.runtime import interpreter


def compiled(graph: Graph) -> interpreter.Compiled:
    """The graph as a function of arrays."""
    return interpreter.compiled_with(fuse(graph), kernel_of)


def kernel_of(node: Node) -> Callable[..., Any] | None:
    """The node's machine code, a function of its inputs' arrays; None if it has none."""
    op, attrs = node.op, node.attrs
    if op.name == "_FusedElementwise":
        return FusedKernel(attrs["body"])
    # OpenBLAS is as good at what is read against its order.
    if op.name == "MatMul" and node.inputs[0].dtype is float32:
        if not attrs["transpose_b"]:
            return MatMulKernel(
                lambda a, b: interpreter.call_kernel(op, [a, b], attrs),
                attrs["transpose_a"],
            )
    return None
