"""Recurrent cells of a native function: weights packed before a loop, tiles of products inside.

The columns that contribute to one element of the result, one of each gate, are adjacent. The nodes are
those of `passes/cell_fusion.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.memo import memoized
from intaglio.native.kernels import matmul, recurrent_cell
from intaglio.native.kernels.recurrent_cell import form_of
from intaglio.native.llvm.vectors import FLOAT, Unsupported
from intaglio.native.lowering.elementwise import named
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand, known
from intaglio.opdef import raw


def pack(w: FunctionLowering, body: Graph, state: Sequence[Any]) -> None:
    """Packs the weights of a loop's cells, before the loop."""
    operands = {id(v): operand for v, operand in zip(body.inputs, state, strict=True)}
    for node in body.nodes:
        if node.op is not raw._FusedCell:
            continue
        plan, weights = _plan(node.attrs["body"]), operands[id(_weights(node))]
        if not isinstance(weights, ArrayOperand):
            raise Unsupported("weights that are no tensor")
        pointer = w.scratch(plan.bytes)
        name = named(w, "pack", recurrent_cell.pack(plan))
        w.call_function(name, [w.pointer(weights)], [pointer], plan.pack_dims)
        w.packed[id(weights), plan.layout] = pointer


def _weights(node: Node) -> SymbolicTensor:
    """The weights of a cell: an input of its node."""
    body: Graph = node.attrs["body"]
    return node.inputs[_product_operands(body)[1]]


def _product_of(body: Graph) -> Node:
    return next(n for n in body.nodes if n.op is raw.MatMul)


def _product_operands(body: Graph) -> list[int]:
    """The inputs of a cell that are multiplied, as indices."""
    found = [id(v) for v in body.inputs]
    return [found.index(id(v)) for v in _product_of(body).inputs]


@memoized
def _plan(body: Graph) -> recurrent_cell.Plan:
    """The tiles of a cell."""
    form = form_of(_product_of(body), walk.uses(body))
    assert form is not None
    return recurrent_cell.planned(*form)


def written(w: FunctionLowering, node: Node, inputs: Sequence[Any]) -> list[ArrayOperand]:
    """_FusedCell."""
    body: Graph = node.attrs["body"]
    product, plan = _product_of(body), _plan(body)
    first, second = _product_operands(body)
    there = w.packed.get((id(inputs[second]), plan.layout))
    if there is None or any(not isinstance(h, ArrayOperand) for h in inputs):
        raise Unsupported("a cell whose weights are not packed")
    name = named(w, "cell", recurrent_cell.cell(body, product, plan))
    operands = {id(v): h for v, h in zip(body.inputs, inputs, strict=True)}
    others = [operands[id(v)] for v in recurrent_cell.others(body, product)]
    ins = [w.pointer(inputs[first]), there, *[w.pointer(h) for h in others]]
    results = [w.allocate(v, FLOAT, known(v.dims)) for v in node.outputs]
    # Rows are read until the last column is written.
    outs = [w.scratch(h.bytes) if h.pointer in ins else h.pointer for h in results]
    if plan.rows * plan.inner * plan.gates * plan.columns >= matmul.MIN_SHARED_MULTIPLICATIONS:
        name = w.on_all_threads(name, 1)
    w.call_function(name, ins, outs, plan.dims)
    for operand, pointer in zip(results, outs, strict=True):
        w.store(ArrayOperand(FLOAT, operand.shape, pointer=pointer), operand.pointer)
    w.long = True
    w.how = "one cell"
    return results
