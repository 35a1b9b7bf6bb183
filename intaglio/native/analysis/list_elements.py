"""What elements a list has, by what a graph puts into it or takes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import DType
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor

# Ops that read a list and do not change it.
READERS = frozenset(
    ["TensorListGetItem", "TensorListLength", "TensorListElementShape", "TensorListGather"]
)


def element_of(graph: Graph, value: SymbolicTensor) -> tuple[DType | None, Any]:
    """Dtype and shape of what somebody puts into a list, or takes out of it."""
    dtype: DType | None = None
    for node in graph.nodes:
        for at, given in enumerate(node.inputs):
            if given is value:
                found, dims = _by_user(graph, node, at)
                dtype = found or dtype
                if shapes.known(dims):
                    return dtype, dims
    return dtype, None


def _by_user(graph: Graph, node: Node, at: int) -> tuple[DType | None, Any]:
    name = node.op.name
    if name in ITEMS:
        item = ITEMS[name](node)
        return item.dtype, item.dims
    if name == "TensorListStack":
        dims = node.outputs[0].dims
        return node.outputs[0].dtype, dims and dims[1:]
    if name in ("Identity", "TensorListResize"):
        return element_of(graph, node.outputs[0])
    found: DType | None = None
    for inner in walk.attached(node):
        first = len(node.inputs) - len(inner.inputs)  # conditions have no input of their own
        if at < first:
            return None, None
        inside = element_of(inner, inner.inputs[at - first])
        found = inside[0] or found
        if shapes.known(inside[1]):
            return inside
    if name in ("While", "StatelessWhile"):
        return element_of(graph, node.outputs[at])
    return found, None


# What of a node is an element of the list that it takes.
ITEMS: dict[str, Callable[[Node], SymbolicTensor]] = {
    "TensorListSetItem": lambda node: node.inputs[2],
    "TensorListPushBack": lambda node: node.inputs[1],
    "TensorListGetItem": lambda node: node.outputs[0],
    "TensorListPopBack": lambda node: node.outputs[1],
}
