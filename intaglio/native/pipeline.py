"""From an optimised graph to what runs: clusters are machine code, the rest is interpreted."""

from __future__ import annotations

import functools
from typing import Any

from intaglio.ir.graph import Graph
from intaglio.native.clusters import fuse
from intaglio.native.fused import FusedKernel
from intaglio.op.op import Op
from intaglio.runtime import interpreter


class _Kernels:
    """The service `native`: the kernel of each fused node, compiled when the node first runs."""

    def for_node(self, op: Op, attrs: dict[str, Any]) -> FusedKernel:
        """The kernel of a node of a graph."""
        return FusedKernel(attrs["body"])

    def for_call(self, op: Op, types: dict[str, Any], attrs: dict[str, Any]) -> Any:
        """What an eager call runs: the body as it is, for it runs but once."""
        return functools.partial(interpreter.run_graph, attrs["body"])


interpreter.SERVICES["native"] = _Kernels()


def compiled(graph: Graph) -> interpreter.Compiled:
    """The graph as a function of arrays, its elementwise parts in machine code."""
    return interpreter.compiled(fuse(graph))
