"""Observed interpretation of graphs: an observer is called with the inputs and outputs of each node.

Debugging tools look at a run node by node. The graph is interpreted as usual, with its branches, bodies
and called graphs, but each kernel is followed by a call of the observer. It may raise, with the same
report as an error of the kernel (the user's line, the iteration of the loop), or return other results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.ir.graph import Graph, Node
from intaglio.runtime import interpreter

# Called with a node, its inputs and its outputs as flat lists of arrays; the result, unless None, replaces
# the outputs.
Observer = Callable[[Node, Sequence[Any], Sequence[Any]], Sequence[Any] | None]


def observed(
    graph: Graph, observer: Observer, wanted: Callable[[Node], bool] | None = None
) -> interpreter.Compiled:
    """The graph as a function of arrays that calls the observer after every node, or every `wanted` one.

    Graphs below it are observed too, except those that call themselves.
    """
    functions: dict[int, interpreter.Compiled] = {}

    def function(inner: Graph) -> interpreter.Compiled:
        found = functions.get(id(inner))
        if found is None:
            make = interpreter.compiled_with
            found = interpreter.compiled(inner) if inner.opaque else make(inner, kernel)
            functions[id(inner)] = found
        return found

    def run(inner: Graph, arrays: Sequence[Any]) -> list[Any]:
        return list(function(inner)(*arrays))

    def kernel(node: Node) -> Callable[..., Any] | None:
        op, count = node.op, len(node.inputs)
        is_seen = wanted is None or wanted(node)
        if op.kernel_fn is None or not (is_seen or op.has_graphs):
            return None

        def call(*arguments: Any) -> Any:
            arrays = arguments[:count]  # a further argument is memory for the result
            result = interpreter.call_kernel(op, arrays, node.attrs, node, run)
            if not is_seen:
                return result
            others = observer(node, arrays, interpreter.flat_result(op, result))
            return result if others is None else _grouped(node, others)

        return call

    return function(graph)


def _grouped(node: Node, flat: Sequence[Any]) -> Any:
    """Flat results as the op's kernel returns them."""
    op = node.op
    if op.has_list_outputs:
        grouped = op.sig.group_outputs(flat, node.attrs)
        return grouped[0] if op.result is None else grouped
    return flat[0] if op.result is None else tuple(flat)
