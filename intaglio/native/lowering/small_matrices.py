"""Factorisations and solutions of small matrices, by the kernels of `kernels/small_matrices.py`."""

from __future__ import annotations

import math
from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.kernels import small_matrices
from intaglio.native.kernels.small_matrices import MAX_ROWS, Form
from intaglio.native.llvm.target import FREESTANDING
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import raw

WHAT = {
    raw.Cholesky: "cholesky",
    raw.MatrixTriangularSolve: "triangular",
    raw.MatrixSolve: "solve",
    raw.MatrixInverse: "inverse",
    raw.MatrixDeterminant: "determinant",
}


@lowering(*WHAT)
def factorised(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Guarded: what LAPACK may reject, or has no defined result, is left to the interpreter if
    there is one."""
    kind, shape = inputs[0].kind, inputs[0].shape
    if kind.letter != "f" or kind.short:
        raise Unsupported(f"{node.op.name} of {node.outputs[0].dtype.name}")
    *batch, rows, own = shape if len(shape) > 1 else (0, 0)
    columns = inputs[1].shape[-1] if len(inputs) > 1 else rows
    fits = [x.shape[:-1] == shape[:-1] for x in inputs[1:]]
    if rows != own or not all(fits) or not 0 < max(rows, columns) <= MAX_ROWS or 0 in shape:
        raise Unsupported(f"{node.op.name} of {', '.join([str(x.shape) for x in inputs])}")
    if not columns:
        raise Unsupported("no elements")
    count, double = math.prod(batch), kind.bits == 64
    options = [bool(node.attrs.get(key)) for key in ("lower", "adjoint")]
    lanes = small_matrices.lanes_of(double, count)
    form = Form(WHAT[node.op], double, lanes, *options, complete=FREESTANDING)
    name = w.define(form.name, lambda: small_matrices.kernel(form, "internal "))
    pointers = [w.pointer(x) for x in inputs]
    size = () if form.what == "determinant" else (rows, columns)
    result = w.allocate(node.outputs[0], kind, (*batch, *size))
    flag = w.scratch(8)
    w.code.do(f"store i64 0, ptr {flag}, align 8")
    if count * rows * rows >= small_matrices.MIN_SHARED_ELEMENTS:
        name = shared(w, name, 1)
        w.long = True
    dims = small_matrices.dims_of(form, count, rows, columns)
    w.call_function(name, pointers, [result.pointer, flag], dims)
    w.guard(w.code.integer("icmp eq", w.code.load("i64", flag, 8), 0))
    w.how = "kernel"
    return [result]
