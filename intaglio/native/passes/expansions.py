"""Expands ops into several simpler ones, which elementwise loops can then fuse."""

from __future__ import annotations

from collections.abc import Callable

from intaglio.base import shapes
from intaglio.base.dtypes import int32, variant
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.native.passes.decompositions import expression
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.ops.array.slicing import is_index

Expand = Callable[[Rewriter, Node], SymbolicTensor]


@looks_for(lambda op: op in EXPANSIONS or "native" in op.rules)
def expand(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with such ops replaced and dead nodes removed; the same graph if it has none."""
    expressions = {id(n): found for n in graph.nodes if (found := expression(n)) is not None}
    if not expressions and not any(can_expand(n) for n in graph.nodes):
        return graph
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    for node in graph.nodes:
        said, before = expressions.get(id(node)), len(new.nodes)
        if said is not None and fuel.burn():
            new.replace(node, _inlined(new, node, expand(said, fuel)))
        elif said is None and can_expand(node) and fuel.burn():
            new.replace(node, [EXPANSIONS[node.op](new, node)])
        else:
            new.keep(node)
            continue
        if len(new.nodes) > before:
            new.absorb([node], new.nodes[-1])
    return prune(new.result())


def _inlined(new: Rewriter, node: Node, said: Graph) -> list[SymbolicTensor]:
    """The values of the expression that replaces a node."""

    def copy(part: Node, inputs: list[SymbolicTensor], control: tuple[Node, ...]) -> Node:
        specs = [v.spec for v in part.outputs]
        waits = new.control(node)
        return new.like(node, inputs, op=part.op, attrs=part.attrs, specs=specs, control=waits)

    return new.splice(said, new.values(node.inputs), copy)


def can_expand(node: Node) -> bool:
    """True if the node's op has an expansion and its inputs have one known shape."""
    if node.op not in EXPANSIONS or len(node.inputs) < 2:
        return False
    if node.inputs[0].dtype is variant:
        return any(_is_element(v) for v in node.inputs)
    first = node.inputs[0].dims
    return shapes.known(first) and all(v.dims == first for v in node.inputs)


def _sum(new: Rewriter, node: Node) -> SymbolicTensor:
    """AddN, from the first operand to the last, as its kernel adds; gradients of a row are added in
    place."""
    if node.outputs[0].dtype is variant:
        return _list_sum(new, node)
    inputs = new.values(node.inputs)
    for total, row in (inputs, inputs[::-1]) if len(inputs) == 2 else ():
        axis = _row_axis(row.node)
        if axis is not None:
            _, begin, _, _, dy = row.node.inputs
            attrs = {"axis": axis}
            return new.like(node, [total, begin, dy], op=raw._AddAt, attrs=attrs).outputs[0]
    total = inputs[0]
    for value in inputs[1:]:
        total = new.like(node, [total, value], op=raw.AddV2).outputs[0]
    return total


def _is_element(value: SymbolicTensor) -> bool:
    """True for a list of which one element is set: the gradient of reading an element."""
    change = value.node
    if change.op is not raw.TensorListSetItem:
        return False
    source, item = change.inputs[0].node, change.inputs[2]
    return source.op is raw.TensorListReserve and item.dtype in raw.AddV2.T


def _list_sum(new: Rewriter, node: Node) -> SymbolicTensor:
    """The list with the other operands added to its elements."""
    inputs = new.values(node.inputs)
    elements = [v for v in inputs if _is_element(v)]
    whole = [v for v in inputs if not _is_element(v)] or [elements.pop(0)]
    total = whole[0]
    if len(whole) > 1:
        attrs = {**node.attrs, "N": len(whole)}
        total = new.like(node, whole, attrs=attrs, control=new.control(node)).outputs[0]
    for element in elements:
        change = element.node
        reserve, index, item = change.inputs
        attrs = {"element_dtype": item.dtype}
        list_inputs, specs = [total, index, reserve.node.inputs[0]], [item.spec]
        before = new.like(node, list_inputs, op=raw.TensorListGetItem, attrs=attrs, specs=specs)
        both = [before.outputs[0], item]
        after = new.like(node, both, op=raw.AddV2, specs=specs)
        list_inputs = [total, index, after.outputs[0]]
        total = new.like(node, list_inputs, op=change.op, attrs=change.attrs).outputs[0]
    return total


def _row_axis(node: Node) -> int | None:
    """The axis of the index, for the gradient of `x[i]` or `x[:, i]`: zeros except for one row."""
    if node.op is not raw.StridedSliceGrad:
        return None
    _, begin, _, strides, _ = node.inputs
    if begin.dtype is not int32 or not shapes.known(begin.dims) or strides.node.op is not raw.Const:
        return None
    axis = begin.dims[0] - 1
    ones = (strides.node.attrs["value"] == 1).all()
    return axis if ones and is_index(node.attrs, axis) else None


EXPANSIONS: dict[Op, Expand] = {raw.AddN: _sum, raw.AccumulateNV2: _sum}
