"""Loop-invariant code motion: reads of variables, and lists of invariant values for the loop's gradient.

A body without other effects that reads a variable reads the same value in every iteration: the read moves
before the loop. The gradient of a loop takes the values of each iteration from lists; instead of a list of
loop-invariant values it takes the value itself.
"""

from __future__ import annotations

from typing import Any

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import is_loop, looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import raw
from intaglio.optimize.loop_changes import LoopChange, changed
from intaglio.optimize.trip_count import index_of, stays


@looks_for(is_loop)
def hoist_invariants(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with invariant reads before its loops, and without lists of invariant values."""
    fuel = fuel or Fuel()
    graph = changed(graph, fuel, _reads, _read_before)
    graph = changed(graph, fuel, _items, _with_invariant_items)
    used = {id(v) for n in graph.nodes for v in n.inputs}
    used |= {id(v) for v in graph.outputs}

    loops = iter([n for n in graph.nodes if n.op.control_flow == "loop"])

    def pushes(loop: Node) -> list[SymbolicTensor]:
        before = next(loops)  # uses refer to the loop before the change
        return _unused_lists(loop, [id(v) in used for v in before.outputs])

    return changed(graph, fuel, pushes, _not_pushed)


# -- variables that are read ------------------------------------------------------------------


def _reads(loop: Node) -> list[tuple[Node, int]]:
    """The reads of a loop without other effects, with the index of the handle's loop variable."""
    body: Graph = loop.attrs["body"]
    found: list[tuple[Node, int]] = []
    if _has_effects(body) or _has_effects(loop.attrs["cond"]):
        return found
    after = {id(c) for n in body.nodes for c in n.control}
    for node in body.nodes:
        if node.op is not raw.ReadVariableOp or node.control or id(node) in after:
            continue
        index = index_of(body, node.inputs[0])
        if index is not None and stays(loop, index):
            found.append((node, index))
    return found


def _has_effects(graph: Graph) -> bool:
    """True if a graph has other effects than reads; calls and loops have those of their graphs."""
    return any(
        any(map(_has_effects, walk.attached(node)))
        if node.op.has_graphs
        else node.op.stateful and not node.op.droppable
        for node in graph.nodes
    )


def _read_before(new: Rewriter, node: Node, current: Node, found: list[tuple[Node, int]]) -> None:
    change = LoopChange(current)
    for read, index in found:
        value = raw.ReadVariableOp(current.inputs[index], dtype=read.attrs["dtype"])
        carried = change.carry(value)
        change.instead(read, lambda c=carried: [c])
    new.keep_extended(node, change.build())


# -- lists of what no iteration changes -------------------------------------------------------------


def _items(loop: Node) -> list[tuple[Node, int, SymbolicTensor, SymbolicTensor]]:
    """The nodes that pop an invariant item in every iteration: the node, the index of the list's loop
    variable, the item outside of the loop, and the list without any items."""
    body: Graph = loop.attrs["body"]
    users = walk.uses(body)
    found: list[tuple[Node, int, SymbolicTensor, SymbolicTensor]] = []
    for index, (inner, result) in enumerate(zip(body.inputs, body.outputs, strict=True)):
        pop = result.node
        if pop.op is not raw.TensorListPopBack or pop.inputs[0] is not inner:
            continue
        if pop.control or result is not pop.outputs[0] or len(users[id(inner)]) > 1:
            continue
        known = _pushed(loop.inputs[index])
        if known is not None and known[0].dims == pop.outputs[1].dims:
            found.append((pop, index, *known))
    return found


def _pushed(handle: SymbolicTensor) -> tuple[SymbolicTensor, SymbolicTensor] | None:
    """The invariant value that another loop pushes onto a list, and the list before it; None if it varies."""
    loop = handle.node
    if loop.op.control_flow != "loop":
        return None
    body: Graph = loop.attrs["body"]
    index = [v is handle for v in loop.outputs].index(True)
    push = body.outputs[index].node
    if push.op is not raw.TensorListPushBack or push.inputs[0] is not body.inputs[index]:
        return None
    item = index_of(body, push.inputs[1])
    before = loop.inputs[index]
    if item is None or not stays(loop, item) or before.node.op is not raw.EmptyTensorList:
        return None
    return loop.inputs[item], before


def _with_invariant_items(new: Rewriter, node: Node, current: Node, found: Any) -> None:
    inputs = list(current.inputs)
    for _, index, _, empty in found:
        inputs[index] = empty
    loop = derived(current, inputs, control=current.control)
    change = LoopChange(loop)
    for pop, _, item, _ in found:
        carried = change.carry(item)
        change.instead(pop, lambda c=carried, p=pop: [change.now(p.inputs[0]), c])
    new.keep_extended(node, change.build())


def _unused_lists(loop: Node, used: list[bool]) -> list[SymbolicTensor]:
    """The unused lists that iterations push onto, by the body's inputs."""
    body: Graph = loop.attrs["body"]
    cond: Graph = loop.attrs["cond"]
    users = walk.uses(body)
    seen = {id(v) for n in cond.nodes for v in n.inputs}
    return [
        inner
        for inner, inside, result, later in zip(
            body.inputs, cond.inputs, body.outputs, used, strict=True
        )
        if result.node.op is raw.TensorListPushBack
        and result.node.inputs[0] is inner
        and not later
        and id(inside) not in seen
        and len(users[id(inner)]) == 1
        and id(result) not in users
    ]


def _not_pushed(new: Rewriter, node: Node, current: Node, found: Any) -> None:
    change = LoopChange(current)
    for value in found:
        change.then(value, lambda g=value: g)
    new.keep_extended(node, change.build())
