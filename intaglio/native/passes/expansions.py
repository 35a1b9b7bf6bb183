"""Ops that native functions see as several simpler ones, which then join loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import int32, variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.passes.decompositions import expression, inlined
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec

Expand = Callable[[Node, Sequence[SymbolicTensor]], list[Node]]


def expanded(graph: Graph) -> Graph:
    """The graph with such ops replaced; the same one if it has none."""
    if not any(can_expand(n) or "native" in n.op.rules for n in graph.nodes):
        return graph
    values: dict[int, SymbolicTensor] = {}
    copies: dict[int, Node] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        inputs = [values.get(id(v), v) for v in node.inputs]
        control = tuple([copies.get(id(c), c) for c in node.control])
        said = expression(node)
        if said is not None:
            made, results = inlined(node, expanded(said), inputs, control)
        elif can_expand(node):
            made = EXPANSIONS[node.op](node, inputs)
            results = made[-1].outputs
        elif control == node.control and all(
            a is b for a, b in zip(inputs, node.inputs, strict=True)
        ):
            made, results = [node], node.outputs
        else:
            made = [_like(node, node.op, inputs, control)]
            results = made[-1].outputs
        nodes += made
        copies[id(node)] = made[-1] if made else node
        for old, new in zip(node.outputs, results, strict=True):
            values[id(old)] = new
    outputs = [values.get(id(v), v) for v in graph.outputs]
    # What only the replaced ops took is not needed any more.
    live = {id(n) for n in walk.live_nodes(nodes, outputs)}
    live |= {id(v.node) for v in graph.inputs}
    nodes = [n for n in nodes if id(n) in live]
    return Graph(graph.name, graph.inputs, nodes, outputs)


def can_expand(node: Node) -> bool:
    """True if the node's op is one of them and its inputs have one known shape."""
    if node.op not in EXPANSIONS or len(node.inputs) < 2:
        return False
    if node.inputs[0].dtype is variant:
        return any(_is_element(v) for v in node.inputs)
    first = node.inputs[0].dims
    return shapes.known(first) and all(v.dims == first for v in node.inputs)


def _sum(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Node]:
    """AddN, from the first to the last as its kernel adds; of a row's gradient, in place."""
    if node.outputs[0].dtype is variant:
        return _list_sum(node, inputs)
    for total, row in (inputs, inputs[::-1]) if len(inputs) == 2 else ():
        axis = _row_axis(row.node)
        if axis is not None:
            _, begin, _, _, dy = row.node.inputs
            return [_like(node, raw._AddAt, [total, begin, dy], (), {"axis": axis})]
    made: list[Node] = []
    total = inputs[0]
    for value in inputs[1:]:
        made.append(_like(node, raw.AddV2, [total, value], ()))
        total = made[-1].outputs[0]
    return made


def _is_element(value: SymbolicTensor) -> bool:
    """True for a list of which one element is set: the gradient of reading it."""
    change = value.node
    if change.op is not raw.TensorListSetItem:
        return False
    made, item = change.inputs[0].node, change.inputs[2]
    return made.op is raw.TensorListReserve and item.dtype in raw.AddV2.T


def _list_sum(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Node]:
    """A list whose elements are what they were and what is added to them."""
    elements = [v for v in inputs if _is_element(v)]
    whole = [v for v in inputs if not _is_element(v)] or [elements.pop(0)]
    made: list[Node] = []
    if len(whole) > 1:
        attrs = {**node.attrs, "N": len(whole)}
        made.append(_like(node, node.op, whole, node.control, attrs))
    total = made[0].outputs[0] if made else whole[0]
    for element in elements:
        change = element.node
        reserve, index, item = change.inputs
        given = [total, index, reserve.node.inputs[0]]
        attrs = {"element_dtype": item.dtype}
        before = _like(change, raw.TensorListGetItem, given, (), attrs, item.spec)
        both = [before.outputs[0], item]
        after = _like(change, raw.AddV2, both, (), {}, item.spec)
        given = [total, index, after.outputs[0]]
        made += [before, after, _like(node, change.op, given, (), change.attrs)]
        total = made[-1].outputs[0]
    return made


def _row_axis(node: Node) -> int | None:
    """The axis of the index, for the gradient of `x[i]` or `x[:, i]`: zeros but for a row."""
    if node.op is not raw.StridedSliceGrad:
        return None
    _, begin, _, strides, _ = node.inputs
    if begin.dtype is not int32 or not shapes.known(begin.dims) or strides.node.op is not raw.Const:
        return None
    axis = begin.dims[0] - 1
    ones = (strides.node.attrs["value"] == 1).all()
    return axis if ones and is_index(node.attrs, axis) else None


def is_index(attrs: dict[str, Any], axis: int) -> bool:
    """True for the masks of a slice that takes an index of an axis and all of those before it."""
    before = (1 << axis) - 1
    return (
        attrs["shrink_axis_mask"] == 1 << axis
        and attrs["begin_mask"] == before
        and attrs["end_mask"] & before == before
        and not (attrs["ellipsis_mask"] or attrs["new_axis_mask"])
    )


def _like(
    node: Node,
    op: Op,
    inputs: Sequence[SymbolicTensor],
    control: tuple[Node, ...],
    attrs: dict[str, Any] | None = None,
    spec: Spec | None = None,
) -> Node:
    """A node in the other's place: with its attributes if it is of its op, and its specs by default."""
    if attrs is None:
        attrs = node.attrs if op is node.op else {}
    specs = [v.spec for v in node.outputs] if spec is None else [spec]
    return Node(
        op,
        inputs,
        attrs,
        node.name,
        specs,
        control=control,
        origin=node.origin,
        graph=node.graph,
        device=node.device,
        source=node.source or node,
    )


EXPANSIONS: dict[Op, Expand] = {raw.AddN: _sum, raw.AccumulateNV2: _sum}
