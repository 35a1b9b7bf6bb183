"""Sums of matrix products that a loop accumulates become one product after the loop.

The gradient of a weight that every iteration multiplies by is such a sum: `total += x.T @ d`. The factors
of all iterations are stacked: the sum of the products is the product of the stacks. That is one large
product instead of many small ones, and no iteration reads and writes an array of the weights' size. An unknown
number of rows is accepted where it is certainly the same in all iterations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32, float64
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import raw
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.optimize.equal_rows import has_equal_rows
from intaglio.optimize.loop_changes import LoopChange, changed
from intaglio.optimize.trip_count import trip_count_of

# Maximum bytes of a stack, so that a program that loops to save memory still does.
MAX_STACK_BYTES = 1 << 26
# The assumed number of rows where it is not known.
UNKNOWN_ROWS_ESTIMATE = 64


class Sum(NamedTuple):
    """A loop variable to which each iteration adds a product, or the sum of some rows."""

    output_index: int
    node: Node


def gather_sums(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with such sums moved behind their loops, where the trip count is known."""
    return changed(graph, fuel, _found, _gathered)


# -- analysis --------------------------------------------------------------------------------


def _found(loop: Node) -> tuple[list[Sum], int] | None:
    """The sums of a loop, and its trip count."""
    trip_count = trip_count_of(loop)
    sums = _sums(loop, trip_count) if trip_count is not None and trip_count > 1 else []
    return (sums, trip_count) if sums and trip_count is not None else None


def _sums(loop: Node, trip_count: int) -> list[Sum]:
    """The accumulated sums of products, or of rows, that the loop itself does not use."""
    body: Graph = loop.attrs["body"]
    uses = walk.uses(body)
    for value in body.outputs:
        uses.setdefault(id(value), []).append(value.node)
    products: list[Sum] = []
    sums: list[Sum] = []
    for index in range(len(body.outputs)):
        node = _accumulated_term(loop, index, uses)
        if node is not None and _is_product(node, trip_count):
            products.append(Sum(index, node))
        elif node is not None and _is_sum(node):
            sums.append(Sum(index, node))
    products = _with_equal_rows(loop, products)
    stacked = {id(v) for s in products for v in s.node.inputs}
    return [*products, *[s for s in sums if id(s.node.inputs[0]) in stacked]]


def _accumulated_term(loop: Node, index: int, uses: dict[int, list[Node]]) -> Node | None:
    """The node of the only term that each iteration adds to a loop variable, if that is its only use."""
    body: Graph = loop.attrs["body"]
    cond: Graph = loop.attrs["cond"]
    total, before = body.outputs[index], body.inputs[index]
    change = total.node
    if change.op not in (raw.AddN, raw.AddV2, raw.Add) or len(change.inputs) != 2:
        return None
    if all(v is not before for v in change.inputs) or change.control:
        return None
    if total.dtype not in (float32, float64):
        return None
    added = change.inputs[change.inputs[0] is before]
    alone = len(uses[id(before)]) == len(uses[id(added)]) == len(uses[id(total)]) == 1
    seen = any(v is cond.inputs[index] for n in cond.nodes for v in n.inputs)
    if not alone or seen or added.dims != before.dims or not shapes.known(added.dims):
        return None
    return added.node if not added.node.control else None


def _is_product(node: Node, trip_count: int) -> bool:
    """True for `x.T @ d` whose stacks are within `MAX_STACK_BYTES`."""
    if node.op is not raw.MatMul or node.attrs["transpose_b"] or not node.attrs["transpose_a"]:
        return False
    size = node.outputs[0].dtype.size * trip_count
    for dims in [v.dims for v in node.inputs]:
        if dims is None or not dims[1]:
            return False
        if math.prod([dims[0] or UNKNOWN_ROWS_ESTIMATE, dims[1], size]) > MAX_STACK_BYTES:
            return False
    return True


def _with_equal_rows(loop: Node, products: Sequence[Sum]) -> list[Sum]:
    """The products whose operands have the same number of rows in every iteration.

    The two operands of a product have as many rows as each other: what is certain of one is certain of
    the other, and of what that is multiplied by.
    """
    certain = {id(v) for s in products for v in s.node.inputs if has_equal_rows(loop, v)}
    left, found = [*products], list[Sum]()
    while True:
        joined = [s for s in left if any(id(v) in certain for v in s.node.inputs)]
        if not joined:
            return sorted(found, key=lambda s: s.output_index)
        certain |= {id(v) for s in joined for v in s.node.inputs}
        found += joined
        left = [s for s in left if s not in joined]


def _is_sum(node: Node) -> bool:
    """True for a sum over rows."""
    if node.op is raw.BiasAddGrad:
        dims = node.inputs[0].dims
        return node.attrs["data_format"] == "NHWC" and len(dims or ()) == 2
    if node.op is not raw.Sum or node.attrs["keep_dims"]:
        return False
    axes = node.inputs[1].node
    return axes.op is raw.Const and axes.attrs["value"].reshape(-1).tolist() == [0]


# -- rewriting --------------------------------------------------------------------------------


def _gathered(new: Rewriter, old: Node, loop: Node, found: tuple[list[Sum], int]) -> None:
    """Records a loop that stacks the factors, and the products of the stacks after it."""
    sums, trip_count = found
    body: Graph = loop.attrs["body"]
    parts: dict[int, SymbolicTensor] = {}
    for s in sums:
        values = s.node.inputs if s.node.op is raw.MatMul else s.node.inputs[:1]
        parts.update((id(v), v) for v in values)
    change = LoopChange(loop)
    for value in parts.values():
        limit = np.asarray(trip_count, np.int32)
        empty = raw.EmptyTensorList(element_form(value.spec), limit, element_dtype=value.dtype)
        handle = change.carry(empty)
        change.then(handle, lambda h=handle, v=value: raw.TensorListPushBack(h, change.now(v)))
    for s in sums:
        before = body.inputs[s.output_index]
        change.then(before, lambda v=before: v)
    node = change.build()
    new.keep_extended(old, node)
    first = len(loop.outputs)
    stacks = {
        key: _stack(node.outputs[first + i], value, trip_count)
        for i, (key, value) in enumerate(parts.items())
    }
    for s in sums:
        taken = [stacks.get(id(v), v) for v in s.node.inputs]
        if s.node.op is raw.MatMul:
            total = raw.MatMul(*taken, transpose_a=True)
        elif s.node.op is raw.BiasAddGrad:
            total = raw.BiasAddGrad(taken[0])
        else:
            total = raw.Sum(taken[0], np.asarray([0], np.int32))
        start = loop.inputs[s.output_index]
        new.substitute(
            old.outputs[s.output_index], total if _is_zero(start) else raw.AddV2(start, total)
        )


def _stack(handle: SymbolicTensor, value: SymbolicTensor, trip_count: int) -> Any:
    """The values of a list, concatenated along the rows."""
    form = element_form(value.spec)
    stacked = raw.TensorListStack(handle, form, element_dtype=value.dtype, num_elements=trip_count)
    return raw.Reshape(stacked, np.asarray([-1, *form.tolist()[1:]], np.int32))


def _is_zero(value: SymbolicTensor) -> bool:
    """True for zeros: a constant, or the result of Fill."""
    node = value.node
    if node.op is raw.Fill:
        node = node.inputs[1].node
    return node.op is raw.Const and not np.any(node.attrs["value"])
