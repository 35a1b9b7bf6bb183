"""Loops over elements that are Python functions (`ops/restricted.py`): a call of their kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.ir.graph import Node
from intaglio.native.kernels import restricted_python
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand, constant
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import late


@lowering(late._ElementLoops)
def element_loops(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Outputs, arrays of the function's own, inputs and numbers, one after the other."""
    attrs = node.attrs
    results = [
        w.allocate(v, w.kind(v), tuple(dims))
        for v, dims in zip(node.outputs, attrs["shapes"], strict=True)
    ]
    owned = [
        w.scratch(size * t.size)
        for size, t in zip(attrs["owned_sizes"], attrs["Towned"], strict=True)
    ]
    if attrs["refusal"]:
        w.code.do(f"store i64 0, ptr {owned[0]}, align 8")
    integers = attrs["integers"]
    dtypes = [*[v.dtype for v in node.outputs], *attrs["Towned"], *[v.dtype for v in node.inputs]]
    kinds = [f"{t.numpy.kind}{t.size}" for t in dtypes] + ["i64"] * len(integers)
    numbers = constant(np.array([*integers, 0], np.int64))
    pointers = [*[r.pointer for r in results], *owned, *map(w.pointer, [*inputs, numbers])]
    step = restricted_python.step(later.named(attrs["function"]), tuple(kinds))
    w.call_step(step, pointers, [w.scratch(8)])
    if attrs["refusal"]:
        w.guard(w.code.integer("icmp eq", w.code.load("i64", owned[0], 8), 0))
    w.long = True
    w.how = "kernel"
    return results
