"""Calls from native code to NumPy kernels, so that one op without code does not keep a loop from
being native.

Only ops without effects, and random ops, are called back. If a kernel fails, the native function
returns REFUSED, and the interpreter, which repeats the whole call, raises the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.memory import arrays_at, pointer_at
from intaglio.ir.graph import Node
from intaglio.native.analysis.sizes import numeric
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.operands import ArrayOperand, known
from intaglio.native.runtime.python_calls import REFUSED
from intaglio.opdef.spec import Spec
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES


def possible(node: Node, inputs: Sequence[Any]) -> bool:
    """True if the node's kernel may be called from native code."""
    op = node.op
    if op.has_graphs or op.kernel_fn is None or not node.outputs:
        return False
    # The only effect of a random op is on its stream, which can be reset.
    services = [key for kind, key in op.kernel_order if kind == "service"]
    if services != ["stream"] and (services or op.stateful):
        return False
    values = (*node.inputs, *node.outputs)
    return all(isinstance(h, ArrayOperand) for h in inputs) and all(
        numeric(v.dtype) for v in values
    )


def streams(node: Node) -> list[Any]:
    """The stream of random numbers that the node consumes, if it does."""
    if not node.op.is_random:
        return []
    return [interpreter.kept(node, SERVICES.stream)]


def result_shapes(node: Node, inputs: Sequence[ArrayOperand]) -> list[tuple[int, ...]]:
    """The shapes of the results. Raises Unsupported if they depend on data."""
    specs = [Spec(v.dtype, h.shape, h.known) for v, h in zip(node.inputs, inputs, strict=True)]
    try:
        found = node.op.output_specs(specs, node.attrs)
    except (ValueError, TypeError):
        raise Unsupported(f"{node.op.name} that fails") from None
    return [known(s.shape) for s in found]


def callback(
    node: Node, inputs: Sequence[ArrayOperand], shapes: Sequence[tuple[int, ...]]
) -> Callable[[int, int], int]:
    """The function of two tables of pointers, to inputs and outputs, that runs the node's kernel.

    `shapes` are those of the results. It returns 0, or REFUSED if the kernel raises an Exception.
    Others, such as KeyboardInterrupt, propagate.
    """
    operands = [
        h.known if h.known is not None else _operand(h.shape, v.dtype.numpy)
        for v, h in zip(node.inputs, inputs, strict=True)
    ]
    results = [
        _operand(shape, v.dtype.numpy) for shape, v in zip(shapes, node.outputs, strict=True)
    ]
    op, attrs = node.op, node.attrs

    def run(ins: int, outs: int) -> int:
        try:
            arrays = [a(ins, i) if callable(a) else a for i, a in enumerate(operands)]
            values = interpreter.flat_result(op, interpreter.call_kernel(op, arrays, attrs, node))
            for i, (result, value) in enumerate(zip(results, values, strict=True)):
                target = result(outs, i)
                if target.shape != np.shape(value):
                    return REFUSED
                target[...] = value
        except Exception:  # the interpreter raises it again
            return REFUSED
        return 0

    return run


def _operand(shape: tuple[int, ...], dtype: Any) -> Any:
    """A function of a table of pointers and an index: the array at that pointer."""
    array_at = arrays_at(shape, dtype)
    return lambda table, number: array_at(pointer_at(table + 8 * number))
