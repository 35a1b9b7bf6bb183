"""Ops on 16-bit floats that are computed as float32, and rounded once at the end.

Their NumPy kernels do the same. A rule for float32 is adapted to both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, float32
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import derived
from intaglio.native.lowering import elementwise
from intaglio.native.lowering.function import FunctionLowering, Rule, Value
from intaglio.native.lowering.operands import ArrayOperand, constant
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec


def as_single(rule: Rule) -> Rule:
    """The rule, extended to 16-bit floats."""

    def wide(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
        short = [isinstance(h, ArrayOperand) and h.kind.short for h in inputs]
        if not any(short):
            return rule(w, node, inputs)
        widened = [
            converted(w, h, v.dtype, float32) if s else h
            for h, v, s in zip(inputs, node.inputs, short, strict=True)
        ]
        singles = rule(w, _single(node), widened)
        how = w.how
        results = [
            converted(w, h, float32, v.dtype, v) if w.kind(v).short else h
            for h, v in zip(singles, node.outputs, strict=True)
        ]
        for operand, value in zip(singles, node.outputs, strict=True):
            if w.kind(value).short:
                w.release(operand)
        for operand, s in zip(widened, short, strict=True):
            if s:
                w.release(operand)
        w.how = how or w.how
        return results

    return wide


def converted(
    w: FunctionLowering,
    operand: ArrayOperand,
    dtype: DType,
    to: DType,
    value: SymbolicTensor | None = None,
) -> ArrayOperand:
    """An operand in another dtype; `value` is the graph's value of the result."""
    if operand.known is not None:
        return constant(np.asarray(operand.known).astype(to.numpy))
    (result,) = elementwise.carried_out(w, [value], _cast(dtype, to, operand.shape), [operand])
    return result


def _cast(dtype: DType, to: DType, shape: tuple[int, ...]) -> Graph:
    (placeholder,) = _placeholders([Spec(dtype, shape)])
    attrs = {"DstT": to, "Truncate": False}
    cast = Node(raw.Cast, [placeholder], attrs, "cast", [Spec(to, shape)])
    return Graph("cast", [placeholder], [placeholder.node, cast], cast.outputs)


def _placeholders(specs: Sequence[Spec]) -> list[SymbolicTensor]:
    return [
        Node(raw.Placeholder, (), {"dtype": s.dtype, "shape": s.shape}, f"input_{i}", [s]).outputs[
            0
        ]
        for i, s in enumerate(specs)
    ]


def _single(node: Node) -> Node:
    """The node with float32 instead of 16-bit floats."""

    def wide(spec: Spec) -> Spec:
        return Spec(float32, spec.shape) if _is_short(spec.dtype) else spec

    inputs: list[Any] = [
        _placeholders([wide(v.spec)])[0] if _is_short(v.dtype) else v for v in node.inputs
    ]
    return derived(node, inputs, specs=[wide(v.spec) for v in node.outputs])


def _is_short(dtype: DType) -> bool:
    return dtype.is_floating and dtype.size == 2
