"""`variable += x` as a read, an addition and an assignment, which join the loops around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.op import raw
from intaglio.op.op import Op
from intaglio.op.spec import Spec
from intaglio.ops.resource_variable import contents_of

UPDATES = {"AssignAddVariableOp": "AddV2", "AssignSubVariableOp": "Sub"}


def without_updates(graph: Graph) -> Graph:
    """The graph without updates; the same one if it has none."""
    if not any(_contents(n) for n in graph.nodes):
        return graph
    copies: dict[int, Node] = {}
    values: dict[int, SymbolicTensor] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        inputs = [values.get(id(v), v) for v in node.inputs]
        control = tuple([copies.get(id(c), c) for c in node.control])
        contents = _contents(node)
        if contents is not None:
            written = _written(node, inputs, control, contents)
        elif control == node.control and all(
            a is b for a, b in zip(inputs, node.inputs, strict=True)
        ):
            written = [node]
        else:
            specs = [v.spec for v in node.outputs]
            written = [_made(node, node.op, inputs, node.attrs, specs, control)]
        nodes += written
        copies[id(node)] = written[-1]
        for old, new in zip(node.outputs, written[-1].outputs, strict=True):
            values[id(old)] = new
    outputs = [values[id(v)] for v in graph.outputs]
    return Graph(graph.name, graph.inputs, nodes, outputs)


def _contents(node: Node) -> Spec | None:
    """What the variable of an update contains, if its shape is known."""
    if node.op.name not in UPDATES:
        return None
    contents = contents_of(node.inputs[0].spec)
    return contents if shapes.known(contents.shape) else None


def _written(
    node: Node,
    inputs: Sequence[SymbolicTensor],
    control: tuple[Node, ...],
    contents: Spec,
) -> list[Node]:
    handle, delta = inputs
    attrs = {"dtype": contents.dtype}
    read = _made(node, raw.ReadVariableOp, [handle], attrs, [contents], control)
    change = raw.find(UPDATES[node.op.name])
    total = _made(node, change, [read.outputs[0], delta], {}, [contents], ())
    attrs = {**raw.AssignVariableOp.defaults, **attrs}
    given = [handle, total.outputs[0]]
    return [read, total, _made(node, raw.AssignVariableOp, given, attrs, [], (read,))]


def _made(
    node: Node, op: Op, inputs: Any, attrs: dict[str, Any], specs: Sequence[Spec],
    control: tuple[Node, ...],
) -> Node:  # fmt: skip
    return Node(
        op, inputs, attrs, node.name, specs, control=control, origin=node.origin,
        graph=node.graph, device=node.device, source=node.source or node,
    )  # fmt: skip
