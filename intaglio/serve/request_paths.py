"""Whether a request chooses a file: data flow from a signature's inputs to inputs that name files.

A model may read its own assets, whose names are constants of the graph. Names that follow from what a
request sends would let it read, or write, whatever the server may.
"""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor


def node_with_path_from(graph: Graph, inputs: Sequence[SymbolicTensor]) -> Node | None:
    """The first node that takes the name of a file which depends on one of these inputs, or None.

    The graph of a call or a branch gets the last inputs of its node; what a loop carries is taken to
    depend on all of them.
    """
    dependent = set(map(id, inputs))
    for node in graph.nodes:
        reached = [id(v) in dependent for v in node.inputs]
        if not any(reached):
            continue
        for name, dependent_input in zip(node.op.input_names, reached, strict=False):
            if dependent_input and name in node.op.path_inputs:
                return node
        dependent.update(map(id, node.outputs))
        for inner in walk.attached(node):
            found = node_with_path_from(inner, _dependent_inputs(node, inner, reached))
            if found is not None:
                return found
    return None


def _dependent_inputs(node: Node, inner: Graph, reached: list[bool]) -> Sequence[SymbolicTensor]:
    count = len(inner.inputs)
    if node.op.control_flow not in ("call", "branch") or count > len(reached):
        return inner.inputs
    passed = reached[len(reached) - count :]
    return [v for v, dependent in zip(inner.inputs, passed, strict=True) if dependent]
