"""From an optimised graph to what runs: what there is code for is machine code, the rest NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.ir.graph import Graph, Node
from intaglio.native.clusters import fuse
from intaglio.native.fused import FusedKernel
from intaglio.runtime import interpreter


def compiled(graph: Graph) -> interpreter.Compiled:
    """The graph as a function of arrays."""
    return interpreter.compiled_with(fuse(graph), kernel_of)


def kernel_of(node: Node) -> Callable[..., Any] | None:
    """The node's machine code, a function of its inputs' arrays; None if it has none."""
    if node.op.name == "_FusedElementwise":
        return FusedKernel(node.attrs["body"])
    return None
