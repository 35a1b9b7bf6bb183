"""Hoists the products of a tensor's rows by loop-invariant weights out of loops, as one product.

`x[t] @ w` in iteration t is row t of `x @ w`. Recurrent networks multiply their inputs in this form, and many
small products take longer than one large one. The op that selected the row of the inputs selects that of the
product. Weights that are multiplied transposed, as in gradients, are transposed before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from intaglio.base.dtypes import float32, float64
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import raw
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.optimize.loop_changes import LoopChange, changed
from intaglio.optimize.trip_count import index_of, stays, trip_count_of

# Maximum bytes of all hoisted products, and the number of rows from which on a product is large anyway.
MAX_HOISTED_BYTES = 1 << 26
MAX_SMALL_PRODUCT_ROWS = 512


# The masks that are 0 in a slice which selects a row.
OTHER_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask")


class Product(NamedTuple):
    """A product of a row: its node, the node that selects the row, the tensor of rows, the input of weights."""

    node: Node
    picks: Node
    rows: SymbolicTensor
    weights: int


def hoist_products(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with such products before its loops, where the loop multiplies every row."""
    return changed(graph, fuel, _found, _hoist)


def _found(loop: Node) -> tuple[list[Product], list[tuple[Node, int]]] | None:
    """The products of a loop's rows, and the other products by transposed weights."""
    products = _products(loop)
    transposed = _transposed(loop, products)
    return (products, transposed) if products or transposed else None


def _hoist(new: Rewriter, node: Node, current: Node, found: Any) -> None:
    new.keep_extended(node, _hoisted(current, *found))


def _products(loop: Node) -> list[Product]:
    body: Graph = loop.attrs["body"]
    trip_count = trip_count_of(loop)
    found: list[Product] = []
    for node in body.nodes if trip_count else ():
        if node.op is not raw.MatMul or node.attrs["transpose_a"] or node.control:
            continue
        x, w = node.inputs
        index = index_of(body, w)
        if index is None or not stays(loop, index) or x.dtype not in (float32, float64):
            continue
        rows = row_source(loop, x)
        if rows is not None and _is_profitable(rows, node, cast("int", trip_count)):
            found.append(Product(node, x.node, rows, index))
    return found


def _transposed(loop: Node, products: Sequence[Product]) -> list[tuple[Node, int]]:
    """The other products by transposed loop-invariant weights, with the index of the weights' input."""
    body: Graph = loop.attrs["body"]
    found: list[tuple[Node, int]] = []
    if trip_count_of(loop) in (0, 1):
        return found
    for node in body.nodes:
        if node.op is not raw.MatMul or not node.attrs["transpose_b"] or node.control:
            continue
        index = index_of(body, node.inputs[1])
        if index is None or not stays(loop, index):
            continue
        if all(p.node is not node for p in products):
            found.append((node, index))
    return found


def _is_profitable(rows: SymbolicTensor, node: Node, trip_count: int) -> bool:
    """True if all rows are multiplied, and the products fit into the limit on bytes."""
    dims, result = rows.dims, node.outputs[0].dims
    if dims is None or len(dims) != 3 or result is None or result[1] is None:
        return False
    if dims[0] is None or dims[2] is None or not 1 < dims[0] <= trip_count:
        return False
    count = 1 if dims[1] is None else dims[1]
    size = dims[0] * count * result[1] * rows.dtype.size
    return 0 < count <= MAX_SMALL_PRODUCT_ROWS and size <= MAX_HOISTED_BYTES


# The ops that select a row of a tensor, or of a list.
PICKS = (raw.StridedSlice, raw.TensorListGetItem, raw.TensorListPopBack)


def row_source(loop: Node, x: SymbolicTensor) -> SymbolicTensor | None:
    """The tensor, outside of the loop, whose row a value is in each iteration; else None."""
    body: Graph = loop.attrs["body"]
    picks = x.node
    op = picks.op
    if picks.control or op not in PICKS:
        return None
    index = index_of(body, picks.inputs[0])
    if index is None:
        return None
    tensor = loop.inputs[index]
    if op is raw.StridedSlice:
        return tensor if stays(loop, index) and _is_row(picks) else None
    if tensor.node.op is not raw.TensorListFromTensor:
        return None
    kept = body.outputs[index]
    same = picks.outputs[0] if op is raw.TensorListPopBack else body.inputs[index]
    return tensor.node.inputs[0] if kept is same else None


def _is_row(node: Node) -> bool:
    """True for `x[i]`."""
    single = node.inputs[1].dims == (1,) and node.attrs["shrink_axis_mask"] == 1
    return single and not any([node.attrs[m] for m in OTHER_MASKS])


# -- rewriting --------------------------------------------------------------------------------


def _hoisted(
    loop: Node, products: Sequence[Product], transposed: Sequence[tuple[Node, int]]
) -> Node:
    """The loop that selects rows of the products, which are computed before it."""
    change = LoopChange(loop)
    weights: dict[int, SymbolicTensor] = {}
    for node, index in transposed:
        if index not in weights:
            order = np.asarray([1, 0], np.int32)
            weights[index] = change.carry(raw.Transpose(loop.inputs[index], order))
        _multiply(change, node, weights[index])
    for product in products:
        picks, form = product.picks, element_form(product.node.outputs[0].spec)
        whole = _product_of_all_rows(product, loop.inputs[product.weights])
        if picks.op is raw.StridedSlice:
            handle, rest = change.carry(whole), list(picks.inputs[1:])
        else:
            handle = change.carry(raw.TensorListFromTensor(whole, form))
            rest = [*picks.inputs[1:-1], form]
        _select_row(change, product, handle, rest)
    return change.build()


def _select_row(
    change: LoopChange, product: Product, handle: SymbolicTensor, rest: Sequence[Any]
) -> None:
    """Replaces a product in the loop by the selection of its row."""
    picks = product.picks
    popped: list[Any] = []

    def record() -> list[Any]:
        operands = [change.now(v) if isinstance(v, SymbolicTensor) else v for v in rest]
        if picks.op is raw.StridedSlice:
            return [raw.StridedSlice(handle, *operands, **_masks(picks))]
        dtype = picks.attrs["element_dtype"]
        if picks.op is raw.TensorListGetItem:
            return [raw.TensorListGetItem(handle, *operands, element_dtype=dtype)]
        left, item = raw.TensorListPopBack(handle, *operands, element_dtype=dtype)
        popped.append(left)
        return [item]

    change.instead(product.node, record)
    if picks.op is raw.TensorListPopBack:
        change.then(handle, lambda: popped[0])


def _multiply(change: LoopChange, node: Node, weights: SymbolicTensor) -> None:
    """Replaces a product in the loop by one with weights that are transposed already."""
    transposed = node.attrs["transpose_a"]
    change.instead(
        node, lambda: [raw.MatMul(change.now(node.inputs[0]), weights, transpose_a=transposed)]
    )


def _masks(node: Node) -> dict[str, Any]:
    return {name: node.attrs[name] for name in (*OTHER_MASKS, "shrink_axis_mask")}


def _product_of_all_rows(product: Product, weights: SymbolicTensor) -> Any:
    """The product of all rows."""
    dims = cast("tuple[int, int | None, int]", product.rows.dims)
    rows = raw.Reshape(product.rows, np.asarray([-1, dims[2]], np.int32))
    transposed = product.node.attrs["transpose_b"]
    whole = raw.MatMul(rows, weights, transpose_b=transposed)
    form = [dims[0], *element_form(product.node.outputs[0].spec).tolist()]
    return raw.Reshape(whole, np.asarray(form, np.int32))
