"""Checks the indices of scatters before the first variable is written.

A native function that fails after it has written a variable has to restore it, so it would have to
write to a copy. If the indices do not depend on what is written, they are computed and checked
before the first write, and variables of any size are updated in place.
"""

from __future__ import annotations

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.ir import resources
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import raw
from intaglio.ops.state.resource_variable import contents_of


@looks_for(lambda op: bool(op.combines))
def check_indices_early(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_CheckIndices` before the first write for each scatter into a variable."""
    fuel = fuel or Fuel()
    first = next((i for i, n in enumerate(graph.nodes) if _writes(n)), None)
    if first is None:
        return graph
    before = {id(n) for n in graph.nodes[:first]}
    moved: dict[int, Node] = {}
    checks: list[tuple[Node, SymbolicTensor, tuple[int, ...]]] = []
    for node in graph.nodes[first:]:
        lengths = _lengths(node)
        if lengths is None:
            continue
        needed = _pure_ancestors(node.inputs[1], before | {*moved})
        if needed is not None and fuel.burn():
            moved.update((id(n), n) for n in needed)
            checks.append((node, node.inputs[1], lengths))
    if not checks:
        return graph
    new = Rewriter(graph)
    for node in graph.nodes[:first]:
        new.keep(node)
    for node in graph.nodes[first:]:
        if id(node) in moved:
            new.keep(node)
    for node, indices, lengths in checks:
        attrs = {"lengths": lengths}
        new.add(
            derived(
                node,
                [new.value(indices)],
                op=raw._CheckIndices,
                attrs=attrs,
                specs=[],
                name=new.unique_name(f"{node.name}/check"),
            )
        )
    for node in graph.nodes[first:]:
        if id(node) not in moved:
            new.keep(node)
    return new.result()


def _writes(node: Node) -> bool:
    return any(resources.writes(node, i) for i in range(len(node.inputs)))


def _lengths(node: Node) -> tuple[int, ...] | None:
    """The bounds of the indices of a scatter into a variable: the lengths of the indexed axes."""
    names = node.op.input_names
    if not node.op.combines or len(names) != 3 or node.inputs[0].dtype is not resource:
        return None
    contents, at = contents_of(node.inputs[0].spec).shape, node.inputs[1].dims
    if not shapes.known(contents) or not shapes.known(at) or 0 in at:
        return None
    # One index for each row, or one for each axis where the op takes coordinates.
    depth = at[-1] if "bad_indices_policy" in node.attrs and at else 1
    return tuple(contents[:depth]) if 0 < depth <= len(contents) else None


def _pure_ancestors(value: SymbolicTensor, before: set[int]) -> list[Node] | None:
    """The nodes that compute a value, in any order; None if one of them may not be moved."""
    found: dict[int, Node] = {}
    waiting = [value.node]
    while waiting:
        node = waiting.pop()
        if id(node) in before or id(node) in found:
            continue
        lists = any(v.dtype is variant for v in node.inputs)
        if node.op.stateful or node.control or node.op.has_graphs or lists:
            return None
        found[id(node)] = node
        waiting += [v.node for v in node.inputs]
    return [*found.values()]
