"""Dtypes and shapes of lists' elements, inferred from the ops on the lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import DType
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.ops.control_flow.tensor_list import dims_of_form

# Ops that read a list and do not change it.
READERS = frozenset(
    [raw.TensorListGetItem, raw.TensorListLength, raw.TensorListElementShape, raw.TensorListGather]
)


def element_of(graph: Graph, value: SymbolicTensor) -> tuple[DType | None, Any]:
    """Dtype and shape of a list's elements, from the ops that read or write it."""
    dtype: DType | None = None
    for node in graph.nodes:
        for at, operand in enumerate(node.inputs):
            if operand is value:
                found, dims = _by_user(graph, node, at)
                dtype = found or dtype
                if shapes.known(dims):
                    return dtype, dims
    return dtype, None


def _by_user(graph: Graph, node: Node, at: int) -> tuple[DType | None, Any]:
    op = node.op
    if op in ITEMS:
        item = ITEMS[op](node)
        return item.dtype, item.dims
    if op is raw.TensorListStack:
        dims = node.outputs[0].dims
        return node.outputs[0].dtype, dims and dims[1:]
    if op in (raw.Identity, raw.TensorListResize):
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
    if op.control_flow == "loop":
        return element_of(graph, node.outputs[at])
    return found, None


# The output of the node that is an element of the list.
ITEMS: dict[Op, Callable[[Node], SymbolicTensor]] = {
    raw.TensorListSetItem: lambda node: node.inputs[2],
    raw.TensorListPushBack: lambda node: node.inputs[1],
    raw.TensorListGetItem: lambda node: node.outputs[0],
    raw.TensorListPopBack: lambda node: node.outputs[1],
}


def element_within(value: SymbolicTensor) -> Any:
    """The shape of a list's elements, from the ops that give the list; None if it is not known."""
    node = value.node
    item = _ELEMENTS.get(node.op)
    if item is not None and shapes.known(dims := item(node)):
        return dims
    if node.op in (*_CHANGES, raw.Identity):
        return element_within(node.inputs[0])
    for inner in walk.attached(node):
        if len(inner.outputs) == len(node.outputs):
            dims = element_within(inner.outputs[value.index])
            if shapes.known(dims):
                return dims
    return None


def _declared(node: Node) -> Any:
    form = node.inputs[0]
    return dims_of_form(form.node.attrs["value"]) if form.node.op is raw.Const else None


# Ops that give a list that they take, with other elements or fewer.
_CHANGES = (
    raw.TensorListSetItem, raw.TensorListPushBack, raw.TensorListPopBack, raw.TensorListResize,
)  # fmt: skip
# The shape of the elements that a node puts into a list.
_ELEMENTS: dict[Op, Callable[[Node], Any]] = {
    raw.TensorListSetItem: lambda node: node.inputs[2].dims,
    raw.TensorListPushBack: lambda node: node.inputs[1].dims,
    raw.TensorListFromTensor: lambda node: (node.inputs[0].dims or ())[1:],
    raw.TensorListReserve: _declared,
    raw.EmptyTensorList: _declared,
}
