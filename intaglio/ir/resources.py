"""The effects of nodes on their resources, which follow from the op's traits or the graphs that it runs.

An op declares whether it `reads` and `writes` its resources. A branch, loop or call has the effects of the
nodes of its graphs. Unknown effects count as a read and a write.
"""

from __future__ import annotations

from collections.abc import Iterator

from intaglio.base.dtypes import resource
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.memo import memoized


def reads(node: Node, index: int) -> bool:
    """Whether a node may read the resource that is its input at this index."""
    return _does(node, index, "reads")


def writes(node: Node, index: int) -> bool:
    """Whether a node may write the resource that is its input at this index."""
    return _does(node, index, "writes")


def written(graph: Graph) -> frozenset[int]:
    """The indices of those inputs of a graph that are resources which it may write."""
    return _found(graph, "writes")


def origin(value: SymbolicTensor) -> SymbolicTensor:
    """The value that a handle aliases, looking through branches, loops and calls that pass handles on."""
    while True:
        before = _handed_on(value)
        if before is None:
            return value
        value = before


def _does(node: Node, index: int, effect: str) -> bool:
    if node.inputs[index].dtype is not resource:
        return False
    if not node.op.has_graphs:
        return getattr(node.op, effect)
    for graph in walk.attached(node):
        # The graph's inputs are the last inputs of the node.
        inner_index = index - (len(node.inputs) - len(graph.inputs))
        if graph.opaque or not 0 <= inner_index < len(graph.inputs):
            return True
        if graph.inputs[inner_index].dtype is not resource or inner_index in _found(graph, effect):
            return True
    return False


@memoized
def _found(graph: Graph, effect: str) -> frozenset[int]:
    """The inputs of a graph that its nodes read or write."""
    handles = {id(v): i for i, v in enumerate(graph.inputs) if v.dtype is resource}
    return frozenset(_effects(graph, handles, effect))


def _effects(graph: Graph, handles: dict[int, int], effect: str) -> Iterator[int]:
    for node in graph.nodes if handles else ():
        for index, value in enumerate(node.inputs):
            if value.dtype is not resource:
                continue
            if _does(node, index, effect):
                number = handles.get(id(origin(value)))
                # A handle of unknown origin may alias any of the inputs.
                yield from handles.values() if number is None else (number,)


def _handed_on(value: SymbolicTensor) -> SymbolicTensor | None:
    """The input that a handle aliases, if its node only passes it on; else None."""
    node = value.node
    if value.dtype is not resource or not node.inputs:
        return None
    index = value.value_index
    found: set[int] = set()
    for graph in walk.attached(node):
        if graph.opaque or len(graph.outputs) != len(node.outputs):
            continue  # the condition of a loop
        inner = origin(graph.outputs[index])
        indices = [i for i, v in enumerate(graph.inputs) if v is inner]
        found.add(indices[0] + len(node.inputs) - len(graph.inputs) if indices else -1)
    if len(found) != 1 or -1 in found:
        return None
    return node.inputs[found.pop()]
