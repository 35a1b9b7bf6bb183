"""Loops over elements that are Python functions (`ops/restricted.py`), as calls of their kernels."""

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
from intaglio.ops.element_loops import layout_of


@lowering(late._ElementLoops)
def element_loops(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """The pointers of outputs, scratch arrays, inputs and numbers, in this order."""
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
    counts = len(results), len(owned), len(inputs), len(integers)
    letters = layout_of(*counts, attrs["layout"])
    pointers = [*map(w.pointer, inputs)]
    computed = bool({*letters} & {*"ND"})
    if computed:
        words = pointers.pop()
    else:
        words = w.pointer(constant(np.array([*integers, 0], np.int64)))
    started = pointers[letters.count("i") :]
    for number, start in zip(attrs["begun"], started, strict=True):
        size = str(results[number].count * node.outputs[number].dtype.size)
        w.code.copy(results[number].pointer, start, size)
    arrays = {
        "o": iter([(r.pointer, v.dtype) for r, v in zip(results, node.outputs, strict=True)]),
        "w": iter([*zip(owned, attrs["Towned"], strict=True)]),
        "i": iter([(p, v.dtype) for p, v in zip(pointers, node.inputs, strict=False)]),
    }
    kinds: list[str] = []
    passed: list[str] = []
    for letter in letters:
        if letter in arrays:
            pointer, dtype = next(arrays[letter])
            passed.append(pointer)
            kinds.append(f"{dtype.numpy.kind}{dtype.size}")
        else:
            kinds.append("double" if letter == "D" else "i64")
    step = restricted_python.step(later.named(attrs["function"]), tuple(kinds), attrs["rows"])
    w.call_step(step, [*passed, words], [w.scratch(8)])
    if attrs["refusal"]:
        w.guard(w.code.integer("icmp eq", w.code.load("i64", owned[0], 8), 0))
    w.long = True
    w.how = "kernel"
    return results
