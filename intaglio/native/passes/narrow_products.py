"""Multiplies matrices of 8-bit integers that were cast to int32 as 8-bit ones, where the CPU can.

A sum of products of 8-bit integers in 32 bits is the same number both times.
"""

from __future__ import annotations

import numpy as np

from intaglio.base.dtypes import DType, int8, int32, uint8
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.native.kernels.narrow_matmul import form_of
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec

# The attributes of each op that say which operand is transposed.
_TRANSPOSED = {raw.MatMul: ("transpose_a", "transpose_b"), raw.BatchMatMulV2: ("adj_x", "adj_y")}
_NARROW = (int8, uint8)


@looks_for(lambda op: op in _TRANSPOSED)
def narrow_products(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with such products of the operands before their casts; the same graph if it has
    none."""
    if not any(_is_narrow(n) for n in graph.nodes):
        return graph
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    for node in graph.nodes:
        if not (_is_narrow(node) and fuel.burn()):
            new.keep(node)
            continue
        before = len(new.nodes)
        inputs = [_narrowed(new, node, v) for v in node.inputs]
        x, y = (node.attrs[name] for name in _TRANSPOSED[node.op])
        attrs = {"Tout": int32, "adj_x": x, "adj_y": y, "grad_x": False, "grad_y": False}
        waits = new.control(node)
        product = new.like(node, inputs, op=raw.BatchMatMulV3, attrs=attrs, control=waits)
        new.replace(node, product.outputs)
        if len(new.nodes) > before:
            new.absorb([node], new.nodes[-1])
    return prune(new.result())


def _is_narrow(node: Node) -> bool:
    """True for a product of int32 whose operands fit 8 bits, and for which the CPU has an
    instruction."""
    if node.op not in _TRANSPOSED or node.outputs[0].dtype is not int32:
        return False
    left, right = map(_kind, node.inputs)
    if left is None or right is None:
        return False
    return form_of(left.numpy, right.numpy, np.int32) is not None


def _kind(value: SymbolicTensor) -> DType | None:
    """The 8-bit dtype that a value was cast from, or that a constant's numbers fit; None if there
    is none."""
    node = value.node
    if node.op is raw.Cast and node.inputs[0].dtype in _NARROW:
        return node.inputs[0].dtype
    if node.op is raw.Const and node.attrs["value"].size:
        number = node.attrs["value"]
        for dtype in _NARROW:
            limits = np.iinfo(dtype.numpy)
            if limits.min <= number.min() and number.max() <= limits.max:
                return dtype
    return None


def _narrowed(new: Rewriter, node: Node, value: SymbolicTensor) -> SymbolicTensor:
    """The operand before its cast, or a constant of the narrow dtype."""
    if value.node.op is raw.Cast:
        return new.values(value.node.inputs)[0]
    dtype = _kind(value)
    assert dtype is not None
    number = value.node.attrs["value"].astype(dtype.numpy)
    attrs = {"value": number, "dtype": dtype}
    spec = Spec(dtype, number.shape)
    return new.like(node, [], op=raw.Const, attrs=attrs, specs=[spec], control=()).outputs[0]
