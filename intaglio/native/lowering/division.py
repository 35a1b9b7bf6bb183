"""Quotients and remainders in native functions.

A guard fails where a division would trap: the interpreter raises the error, or returns NumPy's
result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.analysis.sizes import is_small
from intaglio.native.lowering.elementwise import alone, broadcast, loop
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.guards import none_zero
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.native.vector_math.division import OPS, divided


@lowering(*OPS)
def division(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """FloorDiv, FloorMod, TruncateDiv and their like."""
    shape, (_, divisor) = broadcast(inputs), inputs
    exact = divisor.kind.letter in "iu"
    if exact and (divisor.known is None or not np.all(divisor.known)):
        w.guard(none_zero(w, divisor))
    if not is_small(shape):
        return loop(w, node.outputs, alone(node), inputs, shape)
    x, y = (w.broadcast_lanes(h, shape) for h in inputs)
    s = w.builder(int(np.prod(shape)))
    return [w.in_registers(divided(s, node.op, x, y), shape)]
