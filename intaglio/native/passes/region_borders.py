"""Lists, views, operands and results at the borders of native regions, where a call has a cost."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from intaglio.base.dtypes import resource, variant
from intaglio.ir import resources
from intaglio.ir.graph import Node
from intaglio.native import cost_model
from intaglio.native.passes.use_def import Users
from intaglio.opdef import raw


def on_outer_lists(nodes: Sequence[Node]) -> Iterator[Node]:
    """The ops of a region on lists from outside of it, and on the lists derived from these."""
    inner = {id(n) for n in nodes}  # the nodes whose lists are the region's own
    for node in nodes:
        lists = [v for v in node.inputs if v.dtype is variant]
        if not node.op.control_flow and any([id(v.node) not in inner for v in lists]):
            inner.discard(id(node))
            yield node


def removable_moves(nodes: Sequence[Node], users: Users) -> set[int]:
    """The ids of a region's nodes that only move values from outside of it to the outside.

    The interpreter has views of arrays and variables, a native function would copy them. They may
    run before the region.
    """
    inner = {id(n) for n in nodes}
    moves = _moves_of_operands(nodes, inner)
    wanted: set[int] = set()
    for node in reversed(moves):
        taken_by = {id(u) for v in node.outputs for u in users.get(id(v), ())}
        # A function would copy a view that is not in C order for itself.
        is_operand = bool(taken_by & inner - wanted)
        if (taken_by - inner or taken_by & wanted) and not (is_operand and _changes_order(node)):
            wanted.add(id(node))
    found: set[int] = set()
    for node in moves:
        needed = [*[v.node for v in node.inputs], *node.control]
        if id(node) in wanted and all([id(n) not in inner - found for n in needed]):
            found.add(id(node))
    return found


def _moves_of_operands(nodes: Sequence[Node], inner: Container[int]) -> list[Node]:
    """The region's nodes that move values from outside of it, before it has written anything."""
    found: dict[int, Node] = {}
    has_written = False
    for node in nodes:
        has_written = has_written or (node.op.stateful and not _reads_variable(node))
        needed = [*[v.node for v in node.inputs], *node.control]
        if (
            _is_move(node)
            and not (node.op.stateful and has_written)
            and all([id(n) in found or id(n) not in inner for n in needed])
        ):
            found[id(node)] = node
    return [*found.values()]


def _changes_order(node: Node) -> bool:
    """True for a move whose result may be another order of elements, or a part of them."""
    return not (node.op.free or node.op.stateful)


def _reads_variable(node: Node) -> bool:
    """True for a node whose only effect is the read of a variable."""
    op = node.op
    return op.droppable and not op.writes and bool(node.inputs) and node.inputs[0].dtype is resource


def _is_move(node: Node) -> bool:
    """True if the interpreter has a view of an operand or a variable as the node's result."""
    if node.op.stateful:
        return node.op.cheap and _reads_variable(node)
    return (node.op.cheap or node.op.free) and bool(node.op.data_inputs)


def is_profitable(nodes: Sequence[Node], users: Users) -> bool:
    """True if a native function for a region's nodes costs less than the interpreter."""
    inner = {id(n) for n in nodes}
    operands = {
        id(v): v
        for n in nodes
        for v in n.inputs
        if id(v.node) not in inner and v.node.op is not raw.Const
    }
    results = [
        v
        for n in nodes
        for v in n.outputs
        if any([u is None or id(u) not in inner for u in users.get(id(v), ())])
    ]
    copied = sum([v.spec.count or 0 for v in results if _is_move(v.node)])
    written = {id(v) for n in nodes for i, v in enumerate(n.inputs) if _writes(n, i)}
    call = cost_model.native_call_seconds([*operands.values()], results, len(written), copied)
    return call < sum([cost_model.call_seconds(n) for n in nodes])


def _writes(node: Node, index: int) -> bool:
    return node.inputs[index].dtype is resource and resources.writes(node, index)
