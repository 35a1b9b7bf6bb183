"""From an optimised graph to what runs: what there is code for is machine code, the rest NumPy."""

from __future__ import annotations

from intaglio.ir.graph import Graph
from intaglio.native.clusters import fuse
from intaglio.native.kernels import kernel_of
from intaglio.runtime import interpreter


def compiled(graph: Graph) -> interpreter.Compiled:
    """The graph as a function of arrays."""
    return interpreter.compiled_with(fuse(graph), kernel_of)
