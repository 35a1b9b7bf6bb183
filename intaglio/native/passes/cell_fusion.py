"""Fuses the matrix products of recurrent cells with their elementwise users, one node for each
cell.

The weights of such a product are loop invariant, so lowering packs them once before the loop
(`lowering/recurrent_cell.py`). A tile of the product holds all operands of the gates' elements in
its rows and columns, and the gates are computed while the tile is in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.dtypes import float32
from intaglio.ir import operand_shapes, walk
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Fuel
from intaglio.native.kernels.recurrent_cell import Form, form_of, starts_of, value_of
from intaglio.native.passes.elementwise_fusion import can_compile
from intaglio.native.passes.outlining import Cluster, is_number, is_parameter, outline
from intaglio.opdef import raw


def fuse_cells(body: Graph, fuel: Fuel | None = None) -> Graph:
    """A loop's body with a `_FusedCell` for each product by loop-invariant weights."""
    stay = {id(a) for a, b in zip(body.inputs, body.outputs, strict=True) if a is b}
    users = walk.uses(body)
    found: list[Cluster] = []
    for node in body.nodes:
        form = form_of(node, users) if _is_product(node, stay) else None
        if form is None:
            continue
        cluster = Cluster(1)
        cluster.nodes = _cell(body, node, form, found)
        found.append(cluster)
    return outline(body, found, raw._FusedCell, _is_part, fuel)


def _is_part(node: Node, index: int) -> bool:
    """True for inputs that become part of the body: single numbers, and parameters of ops on a
    gate."""
    return is_number(node, index) or is_parameter(node, index)


def _is_product(node: Node, stay: set[int]) -> bool:
    if node.op is not raw.MatMul or node.control or node.device:
        return False
    if node.attrs["transpose_a"] or node.attrs["transpose_b"]:
        return False
    a, b = node.inputs
    return id(b) in stay and a.dtype is float32 and a is not b


# -- what belongs to a cell --------------------------------------------------------------------


def _cell(body: Graph, product: Node, form: Form, others: Sequence[Cluster]) -> list[Node]:
    """The product, and the nodes computed from it element by element."""
    taken = {id(n) for c in others for n in c.nodes}
    inside: set[int] = {id(product.outputs[0])}
    # Clusters that depend on the cell, and are not part of it.
    outside = {
        id(v) for c in others if _needs(body, c, product) for n in c.nodes for v in n.outputs
    }
    nodes = [product]
    for node in body.nodes:
        needs = any(id(v) in inside or id(v) in outside for v in node.inputs)
        if node is product or not needs:
            continue
        if id(node) not in taken and _belongs(node, form, inside, outside):
            nodes.append(node)
            inside |= {id(v) for v in node.outputs}
        else:
            outside |= {id(v) for v in node.outputs}
    return nodes


def _needs(body: Graph, cluster: Cluster, product: Node) -> bool:
    """True if the cluster depends on the product, on any path."""
    needed = {id(product)}
    for node in body.nodes:
        if any(id(v.node) in needed for v in node.inputs):
            needed.add(id(node))
    return any(id(n) in needed for n in cluster.nodes)


def _belongs(node: Node, form: Form, inside: set[int], outside: set[int]) -> bool:
    """True if a node is elementwise on elements of the cell, or of operands of the same layout."""
    if node.op.stateful or node.control or node.device:
        return False
    if any(id(v) in outside for v in node.inputs):
        return False
    if any(v.dtype is not float32 for v in node.outputs):
        return False
    if form.gates > 1 and id(node.inputs[value_of(node)]) in inside:
        starts = starts_of(node, form.wide[1])
        if starts is not None:
            same = all(v.dims == form.narrow for v in node.outputs)
            whole = node.inputs[value_of(node)].dims == form.wide
            return same and whole and all(s % form.columns == 0 for s in starts)
    if "scalar" not in node.op.rules or len(node.outputs) != 1 or can_compile(node):
        return False
    if not operand_shapes.are_accepted(node):
        return False
    shape = node.outputs[0].dims
    if shape not in (form.wide, form.narrow):
        return False
    return all(
        v.dims == shape
        if id(v) in inside
        else is_number(node, i) or (v.dtype is float32 and _reaches(v.dims, shape))
        for i, v in enumerate(node.inputs)
    )


def _reaches(dims: Any, shape: Any) -> bool:
    """True for a value with the layout of a gate, a row that broadcasts, or a single number."""
    return dims in (shape, shape[1:], (1, *shape[1:]), ())
