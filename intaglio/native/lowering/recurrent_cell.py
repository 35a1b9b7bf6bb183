"""Products in loops with what becomes of them: the cells of recurrent networks.

The weights of such a product are the same in every turn, so they are packed once: the columns
that meet in one element of the result, of a gate each, lie side by side. A tile of the product
then has all that the elements of some rows and columns need, and they are computed while it is
in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.base.dtypes import float32
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.kernels import matmul, recurrent_cell
from intaglio.native.kernels.recurrent_cell import starts_of, value_of
from intaglio.native.llvm.vectors import FLOAT, Unsupported
from intaglio.native.lowering.elementwise import named
from intaglio.native.lowering.function import Writer
from intaglio.native.lowering.operands import Held, known
from intaglio.native.passes.elementwise_fusion import (
    Cluster,
    Rewrite,
    can_compile,
    clustered,
    is_number,
    plain,
)
from intaglio.opdef import raw

# Gates that fit into registers side by side, and multiplications from which on it is worth it.
MOST, WORTH = 4, 1 << 14


class Form(NamedTuple):
    """The sizes of a cell: rows, inner dimension, gates, columns of a gate."""

    rows: int
    inner: int
    gates: int
    columns: int

    @property
    def wide(self) -> tuple[int, int]:
        """The shape of the product."""
        return self.rows, self.gates * self.columns

    @property
    def narrow(self) -> tuple[int, int]:
        """The shape of a gate."""
        return self.rows, self.columns


def fuse(body: Graph) -> Graph:
    """A loop's body with a `_FusedCell` for each product by weights that stay."""
    stay = {id(a) for a, b in zip(body.inputs, body.outputs, strict=True) if a is b}
    users = walk.uses(body)
    found: list[Cluster] = []
    for node in body.nodes:
        form = _form(node, users) if _is_product(node, stay) else None
        if form is None:
            continue
        cluster = Cluster(1)
        cluster.nodes = _cell(body, node, form, found)
        found.append(cluster)
    return Rewrite(body, found, raw._FusedCell, _is_part).graph() if found else body


def _is_part(value: SymbolicTensor) -> bool:
    """True for constants that say what becomes of a gate."""
    node = value.node
    return is_number(value) or (node.op is raw.Const and value.dtype.is_integer)


def _is_product(node: Node, stay: set[int]) -> bool:
    if node.op is not raw.MatMul or node.control or node.device:
        return False
    if node.attrs["transpose_a"] or node.attrs["transpose_b"]:
        return False
    a, b = node.inputs
    return id(b) in stay and a.dtype is float32 and a is not b


def _form(node: Node, users: dict[int, list[Node]]) -> Form | None:
    """The sizes of a product's cell; None where they are not known, or small."""
    (rows, inner), (_, wide) = (v.dims or (None, None) for v in node.inputs)
    if not rows or not inner or not wide or rows * inner * wide < WORTH:
        return None
    gates = _gates(node, wide, users)
    return Form(rows, inner, gates, wide // gates)


def _gates(node: Node, wide: int, users: dict[int, list[Node]]) -> int:
    """Into how many parts a product is taken apart, after sums; 1 if it is not, or into many."""
    waiting, seen = [node.outputs[0]], set[int]()
    while waiting:
        value = waiting.pop()
        for user in users.get(id(value), []):
            made = user.outputs[0]
            width = made.dims[-1] if made.dims else None
            if starts_of(user, wide) is not None and width and wide % width == 0:
                return wide // width if wide // width <= MOST else 1
            if "scalar" in user.op.rules and made.dims == value.dims and id(made) not in seen:
                seen.add(id(made))
                waiting.append(made)
    return 1


# -- what belongs to a cell --------------------------------------------------------------------


def _cell(body: Graph, product: Node, form: Form, others: Sequence[Cluster]) -> list[Node]:
    """The product, and what is computed of it element by element."""
    taken = {id(n) for c in others for n in c.nodes}
    inside: set[int] = {id(product.outputs[0])}
    # What needs the cell, and is not of it.
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
    """True if a cell takes what is made of a product, by whatever way."""
    made = {id(product)}
    for node in body.nodes:
        if any(id(v.node) in made for v in node.inputs):
            made.add(id(node))
    return any(id(n) in made for n in cluster.nodes)


def _belongs(node: Node, form: Form, inside: set[int], outside: set[int]) -> bool:
    """True if a node is computed of the cell's elements, and of others that lie likewise."""
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
    shape = node.outputs[0].dims
    if shape not in (form.wide, form.narrow):
        return False
    return all(
        v.dims == shape
        if id(v) in inside
        else is_number(v) or (v.dtype is float32 and _reaches(v.dims, shape))
        for v in node.inputs
    )


def _reaches(dims: Any, shape: Any) -> bool:
    """True for a value that lies as a gate does, or is a row for all rows, or a number."""
    return dims in (shape, shape[1:], (1, *shape[1:]), ())


# -- writing them ------------------------------------------------------------------------------


def prepared(graph: Graph) -> Graph:
    """A loop's body as `clusters.prepared` has it, with cells."""
    found = graph.derived.get(prepared)
    if found is None:
        found = graph.derived[prepared] = clustered(fuse(plain(graph)))
    return found


def pack(w: Writer, body: Graph, state: Sequence[Any]) -> None:
    """Packs the weights of a loop's cells, before the loop."""
    places = {id(v): held for v, held in zip(body.inputs, state, strict=True)}
    for node in body.nodes:
        if node.op is not raw._FusedCell:
            continue
        plan, weights = _plan(node), places[id(_weights(node))]
        if not isinstance(weights, Held):
            raise Unsupported("weights that are no tensor")
        pointer = w.scratch(plan.bytes)
        name = named(w, "pack", recurrent_cell.pack(plan))
        w.call_function(name, [w.pointer(weights)], [pointer], plan.pack_dims)
        w.packed[id(weights), plan.layout] = pointer


def _weights(node: Node) -> SymbolicTensor:
    """The weights of a cell, as its node is given them."""
    body: Graph = node.attrs["body"]
    return node.inputs[_places(body)[1]]


def _product_of(body: Graph) -> Node:
    return next(n for n in body.nodes if n.op is raw.MatMul)


def _places(body: Graph) -> list[int]:
    """Which inputs of a cell are multiplied."""
    found = [id(v) for v in body.inputs]
    return [found.index(id(v)) for v in _product_of(body).inputs]


def _plan(node: Node) -> recurrent_cell.Plan:
    """The sizes of a cell's tiles."""
    body: Graph = node.attrs["body"]
    plan = body.derived.get(_plan)
    if plan is None:
        form = _form(_product_of(body), walk.uses(body))
        assert form is not None
        plan = body.derived[_plan] = recurrent_cell.planned(*form)
    return plan


def written(w: Writer, node: Node, inputs: Sequence[Any]) -> list[Held]:
    """_FusedCell."""
    body: Graph = node.attrs["body"]
    product, plan = _product_of(body), _plan(node)
    first, second = _places(body)
    there = w.packed.get((id(inputs[second]), plan.layout))
    if there is None or any(not isinstance(h, Held) for h in inputs):
        raise Unsupported("a cell whose weights are not packed")
    name = named(w, "cell", recurrent_cell.cell(body, product, plan))
    given = {id(v): h for v, h in zip(body.inputs, inputs, strict=True)}
    others = [given[id(v)] for v in recurrent_cell.others(body, product)]
    ins = [w.pointer(inputs[first]), there, *[w.pointer(h) for h in others]]
    made = [w.room(v, FLOAT, known(v.dims)) for v in node.outputs]
    # Rows are read until the last column is written.
    outs = [w.scratch(h.bytes) if h.pointer in ins else h.pointer for h in made]
    if plan.rows * plan.inner * plan.gates * plan.columns >= matmul.SHARED_FROM:
        name = w.on_all_threads(name, 1)
    w.call_function(name, ins, outs, plan.dims)
    for held, place in zip(made, outs, strict=True):
        w.store(Held(FLOAT, held.shape, pointer=place), held.pointer)
    w.long = True
    w.how = "one cell"
    return made
