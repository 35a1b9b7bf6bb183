"""Calls from native code back to NumPy: an op without code need not keep its loop from being native.

Only ops without effects are called so, and random ones. If one fails the native function refuses, and the
interpreter, which does everything again, says why.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.analysis.sizes import numeric
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.operands import Held, known
from intaglio.opdef.spec import Spec
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES

# Taking the interpreter's lock is part of such a function.
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def possible(node: Node, inputs: Sequence[Any]) -> bool:
    """True if the node may be called back."""
    op = node.op
    if op.has_graphs or op.kernel_fn is None or not node.outputs:
        return False
    # A random op has no effect but on its stream, which can go back.
    asked = [key for kind, key in op.kernel_order if kind == "service"]
    if asked != ["stream"] and (asked or op.stateful):
        return False
    values = (*node.inputs, *node.outputs)
    return all(isinstance(h, Held) for h in inputs) and all(numeric(v.dtype) for v in values)


def streams(node: Node) -> list[Any]:
    """The stream of random numbers that the node draws from, if it does."""
    if ("service", "stream") not in node.op.kernel_order:
        return []
    return [interpreter.kept(node, SERVICES.stream)]


def forms(node: Node, inputs: Sequence[Held]) -> list[tuple[int, ...]]:
    """The shapes of the results. Raises Unsupported if they depend on data."""
    specs = [Spec(v.dtype, h.shape, h.known) for v, h in zip(node.inputs, inputs, strict=True)]
    try:
        found = node.op.output_specs(specs, node.attrs)
    except (ValueError, TypeError):
        raise Unsupported(f"{node.op.name} that fails") from None
    return [known(s.shape) for s in found]


def callback(node: Node, inputs: Sequence[Held], shapes: Sequence[tuple[int, ...]]) -> Any:
    """The function of two tables of pointers that carries the node out; it gives 0 if that went well."""
    given = [
        h.known if h.known is not None else _array(h.shape, v.dtype.numpy)
        for v, h in zip(node.inputs, inputs, strict=True)
    ]
    results = [_array(shape, v.dtype.numpy) for shape, v in zip(shapes, node.outputs, strict=True)]
    op, attrs = node.op, node.attrs

    def run(ins: int, outs: int) -> int:
        try:
            arrays = [a(ins, i) if callable(a) else a for i, a in enumerate(given)]
            made = interpreter.flat_result(op, interpreter.call_kernel(op, arrays, attrs, node))
            for i, (place, value) in enumerate(zip(results, made, strict=True)):
                target = place(outs, i)
                if target.shape != np.shape(value):
                    return 1
                target[...] = value
        except Exception:  # the interpreter says what it is
            return 1
        return 0

    return _CALLBACK(run)


def _array(shape: tuple[int, ...], dtype: Any) -> Any:
    """A function of a table of pointers and a place in it: the array that lies there."""
    size = max(int(np.prod(shape)), 1) * dtype.itemsize
    kind = ctypes.c_char * size
    pointer = ctypes.c_void_p.from_address

    def at(table: int, number: int) -> Any:
        memory = kind.from_address(pointer(table + 8 * number).value)
        return np.ndarray(shape, dtype, memory)

    return at
