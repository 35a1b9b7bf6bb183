"""Interpreted control flow with compiled graphs: for ops whose branches or bodies have a node without code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.ir.memo import memoized

Run = Callable[..., Any]


def kernel(node: Node, compiled: Callable[[Graph], Run]) -> Run | None:
    """The op's kernel with branches and bodies as `compiled` makes them; None for other ops.

    A node that a pass has fused is not control flow: without code its body is interpreted.
    """
    op, attrs = node.op, node.attrs
    if op.internal:
        return None
    order = op.kernel_order
    if ("service", "run") not in order or any(
        kind not in ("input", "attr") and (kind, key) != ("service", "run") for kind, key in order
    ):
        return None
    if any(graph.opaque for graph in walk.attached(node)):
        return None

    functions: dict[int, Run] = {}  # by the graphs' ids, which the node keeps

    def run(graph: Graph, arrays: Sequence[Any]) -> list[Any]:
        function = functions.get(id(graph))
        if function is None:
            function = functions[id(graph)] = _compiled(graph, compiled)
        return list(function(*arrays))

    def call(*arrays: Any) -> Any:
        values = op.sig.group(list(arrays), attrs) if op.has_lists else arrays
        arguments = [
            values[key] if kind == "input" else attrs[key] if kind == "attr" else run
            for kind, key in order
        ]
        return op.kernel_fn(*arguments)

    return call


@memoized
def _compiled(graph: Graph, compiled: Callable[[Graph], Run]) -> Run:
    return compiled(graph)
