"""Use-def queries for passes."""

from __future__ import annotations

from intaglio.base import shapes
from intaglio.base.dtypes import float32
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.runtime import entry

# The users of each value, by its id; None is the caller.
Users = dict[int, list[Node | None]]


def users_of(graph: Graph) -> Users:
    """The users of every value of a graph."""
    users: Users = {}
    for node in graph.nodes:
        for value in node.inputs:
            users.setdefault(id(value), []).append(node)
    for value in graph.outputs:
        users.setdefault(id(value), []).append(None)
    return users


def only_user(value: SymbolicTensor, users: Users) -> Node | None:
    """The only user of a value, if it has one user."""
    found = users.get(id(value), [])
    node = found[0] if len(found) == 1 else None
    return node if node is not None and not node.control and not node.device else None


def is_plain(node: Node) -> bool:
    """True for a node on float32 images whose shapes are known."""
    if node.control or node.device or node.outputs[0].dtype is not float32:
        return False
    return all(shapes.known(v.dims) for v in (*node.inputs, node.outputs[0]))


def is_large(node: Node) -> bool:
    """The same, for a node large enough for all threads."""
    return is_plain(node) and (node.outputs[0].spec.count or 0) >= entry.MIN_PARALLEL_ELEMENTS
