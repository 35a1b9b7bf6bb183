"""Lowers a graph to ONNX, node by node.

A value is a known array, a `Value` of the ONNX graph, or the handle of a variable. What follows from known
values is computed at once by the op's kernel. Every other op goes the first of these routes that it has:

- `rule`: the function in `intaglio.export.onnx.rules` that is registered with the op,
- `scalar`: the op's elementwise expression,
- `expression`: the op's expression in simpler ops, its rules `native` and `decompose`,
- `kernel`: for known shapes, what its NumPy kernel does with symbolic arrays, or a rule that libraries have
  for ops without code (`export/portable_rules.py`).

An op with none of them has no place in a model; the error names it, its line and the way out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.export import loop_rules, portable_rules
from intaglio.export.onnx import registry, scalars
from intaglio.export.onnx.builder import Builder
from intaglio.export.onnx.values import (
    ComplexValue,
    Operand,
    Unexportable,
    Value,
    Variable,
    is_complex,
    is_known,
)
from intaglio.export.rules import NoRule
from intaglio.export.signatures import ExportError
from intaglio.function import whole_graph
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw
from intaglio.opdef.op import Rule
from intaglio.opdef.spec import Spec
from intaglio.optimize.kernel_expressions import fitting, kernel_results, may_be_expressed
from intaglio.runtime import interpreter
from intaglio.trace.graph import record

ROUTES = ("rule", "scalar", "expression", "kernel")
# Results of known values with more elements are computed by the model, not stored in it.
MAX_FOLDED_ELEMENTS = 1 << 14
_NEEDS_LOOPS = (
    "it is an algorithm of loops over elements, which end when the data says so, and operators are not; "
    "intaglio.export_library writes such loops"
)
_REFUSED = (TypeError, ValueError, ArithmeticError, NotImplementedError, LookupError)


class UnexportableNode(ExportError):
    """An op that ONNX has no expression for, with its node and the reason."""

    def __init__(self, node: Node, reason: str) -> None:
        frame = node.frame
        where = f" ({frame.short})" if frame is not None else ""
        reach = whole_graph.reach(node)
        instead = (
            reach.instead.replace(", or without jit_compile=True", "")
            if reach is not None
            else "Compute it outside of the function and pass the result as an argument, or write it in "
            "ops that ONNX has, which docs/onnx.md lists"
        )
        super().__init__(
            f"{node.op.name} '{node.name}'{where} cannot be written as ONNX: {reason}. {instead}."
        )
        self.node = node
        self.reason = reason


class Lowering:
    """Lowers graphs into one builder; `used` receives the route of each node."""

    def __init__(self, builder: Builder, used: Callable[[Node, str], None] | None = None) -> None:
        self.builder = builder
        self._used = used

    def within(self) -> Lowering:
        """A lowering for a branch or body, with a builder of its own."""
        return Lowering(self.builder.within(), self._used)

    def run(self, graph: Graph, inputs: Sequence[Operand]) -> list[Operand]:
        """The outputs of a graph. Raises UnexportableNode."""
        values = {id(v): operand for v, operand in zip(graph.inputs, inputs, strict=True)}
        for node in graph.nodes:
            if node.op is raw.Const:
                values[id(node.outputs[0])] = node.attrs["value"]
            elif not (node.op is raw.Placeholder and id(node.outputs[0]) in values):
                found = self.evaluate(node, [values[id(v)] for v in node.inputs])
                values.update(zip(map(id, node.outputs), found, strict=True))
        return [values[id(v)] for v in graph.outputs]

    def evaluate(self, node: Node, inputs: Sequence[Operand]) -> list[Operand]:
        """The outputs of one node."""
        if _is_foldable(node, inputs):
            result = interpreter.call_kernel(node.op, inputs, node.attrs, node)
            return [np.asarray(v) for v in interpreter.flat_result(node.op, result)]
        outer = self.builder.label, self.builder.note
        frame = node.frame
        self.builder.label = node.name or node.op.name
        self.builder.note = frame.short if frame is not None else outer[1]
        try:
            return self._by_routes(node, inputs)
        finally:
            self.builder.label, self.builder.note = outer

    def _by_routes(self, node: Node, inputs: Sequence[Operand]) -> list[Operand]:
        reason = ""
        for route in ROUTES:
            written = len(self.builder.nodes)
            try:
                found = getattr(self, f"_by_{route}")(node, inputs)
            except (Unexportable, UnexportableNode) as e:
                if isinstance(e, UnexportableNode) and route not in ("expression", "kernel"):
                    raise
                del self.builder.nodes[written:]
                reason = reason or _reason_of(e)
                continue
            if found is not None:
                if self._used is not None:
                    self._used(node, route)
                return [_typed(v, t) for v, t in zip(found, node.outputs, strict=True)]
        raise UnexportableNode(node, reason or "there is no rule for it")

    def _by_rule(self, node: Node, inputs: Sequence[Operand]) -> list[Operand] | None:
        rule = registry.RULES.find(node.op)
        if any(map(is_complex, inputs)) or any(v.dtype.is_complex for v in node.outputs):
            rule = registry.COMPLEX_RULES.find(node.op) or (rule if node.op.has_graphs else None)
        return None if rule is None else self._outputs(rule, node, inputs)

    def by_real_rule(self, node: Node, inputs: Sequence[Operand]) -> list[Operand]:
        """The outputs of a node for the real or the imaginary parts of its inputs."""
        return self._outputs(registry.RULES[node.op.name], node, inputs)

    def _outputs(self, rule: Rule, node: Node, inputs: Sequence[Operand]) -> list[Operand]:
        result = rule.fn(*registry.arguments(rule, node, inputs, self))
        if result is None:
            return []
        if isinstance(result, (Value, ComplexValue)) or not isinstance(result, (tuple, list)):
            return [result]
        flat: list[Operand] = []
        for item in result:
            flat.extend(item) if isinstance(item, list) else flat.append(item)
        return flat

    def _by_scalar(self, node: Node, inputs: Sequence[Operand]) -> list[Operand] | None:
        if "scalar" not in node.op.rules or any(v.dtype.kind == "O" for v in inputs):
            return None
        return [scalars.expressed(node.op, self.builder, inputs, node.attrs)]

    def _by_expression(self, node: Node, inputs: Sequence[Operand]) -> list[Operand] | None:
        graph = expression(node, inputs)
        return None if graph is None else self.run(graph, inputs)

    def _by_kernel(self, node: Node, inputs: Sequence[Operand]) -> list[Operand] | None:
        graph = kernel_expression(node, inputs)
        if graph is None and loop_rules.OPS.has(node.op):
            raise Unexportable(_NEEDS_LOOPS)
        return None if graph is None else self.run(graph, inputs)


def _reason_of(refusal: Unexportable | UnexportableNode) -> str:
    """Why an op has no expression; of an expression it is the op in it that has none."""
    if not isinstance(refusal, UnexportableNode):
        return str(refusal)
    return f"its expression needs {refusal.node.op.name}, and {refusal.reason}"


def _typed(operand: Operand, tensor: Any) -> Operand:
    """An operand with what the graph knows of its shape."""
    if isinstance(operand, ComplexValue):
        return ComplexValue(_typed(operand.real, tensor), _typed(operand.imag, tensor))
    if not isinstance(operand, Value) or operand.is_sequence:
        return operand
    return operand._replace(dims=shapes.merge(operand.dims, tensor.dims))


def _is_foldable(node: Node, inputs: Sequence[Operand]) -> bool:
    op = node.op
    if op.stateful or op.has_graphs or op.kernel_fn is None or op.reaches_outside:
        return False
    if any(kind == "service" and key != "raises" for kind, key in op.kernel_order):
        return False
    return all(is_known(v) for v in inputs) and all(
        v.dtype.name not in ("variant", "resource") and (v.spec.count or 0) <= MAX_FOLDED_ELEMENTS
        for v in node.outputs
    )


def expression(node: Node, values: Sequence[Operand]) -> Graph | None:
    """The expression that replaces a node, as a graph of the node's inputs; None without a rule.

    `native` rules take inputs of known shapes. Raises Unexportable where the rule has no expression.
    """
    rules = node.op.rules
    if any(isinstance(v, Variable) or (isinstance(v, Value) and v.is_sequence) for v in values):
        return None
    fixed = all(is_known(v) or shapes.known(v.dims) for v in values)
    rule = rules.get("native") if fixed and "native" in rules else rules.get("decompose")
    if rule is None:
        if "native" in rules:
            raise Unexportable("its shapes must be known: give all dimensions in the signature")
        return None
    specs = [
        (t.dtype, tuple(v.shape) if is_known(v) else v.dims, "x")
        for t, v in zip(node.inputs, values, strict=True)
    ]

    def function(*tensors: Any) -> Any:
        for tensor, value in zip(tensors, values, strict=True):
            if is_known(value):
                tensor.spec = Spec(tensor.dtype, value.shape, np.asarray(value))
        names = node.op.known(tensors, node.attrs)
        return rule(**names | {name: names[name].spec for name in rule.specs})

    try:
        graph, result = record(function, node.op.name, specs)
    except _REFUSED as e:
        raise Unexportable(f"its expression in other ops: {e}") from e
    if result is NotImplemented:
        raise Unexportable("it has no expression in other ops for these attributes")
    found: Any = result if isinstance(result, (list, tuple)) else [result]
    graph.outputs.extend(found[: len(node.outputs)])
    return graph.freeze_function()


def kernel_expression(node: Node, values: Sequence[Operand]) -> Graph | None:
    """The same by a rule of `portable_rules`, or by what the op's kernel does with symbolic arrays.

    None where it needs more than shapes, or shapes are not known.
    """
    fixed = all(is_known(v) or (isinstance(v, Value) and shapes.known(v.dims)) for v in values)
    if not fixed or any(v.is_sequence for v in values if isinstance(v, Value)):
        return None
    specs = [
        (t.dtype, tuple(v.shape) if is_known(v) else v.dims, "x")
        for t, v in zip(node.inputs, values, strict=True)
    ]

    def function(*tensors: Any) -> Any:
        operands = [
            raw.Const(value=np.asarray(v), dtype=t.dtype) if is_known(v) else t
            for t, v in zip(tensors, values, strict=True)
        ]
        for rules in (portable_rules.OPS, portable_rules.WITHOUT_LOOPS):
            with contextlib.suppress(NoRule):
                return rules.apply(node, operands)
        return kernel_results(node, operands)

    if not may_be_expressed(node, shapes_known=True):
        return None
    try:
        graph, found = record(function, node.op.name, specs)
    except Exception:  # kernels are written for arrays: what is none may fail anywhere in them
        return None
    if not fitting(found, node):
        return None
    graph.outputs.extend(found)
    frozen = graph.freeze_function()
    forms = [(v.dtype, v.dims) for v in node.inputs]
    if any(
        n.op is node.op and forms == [(v.dtype, v.dims) for v in n.inputs] for n in frozen.nodes
    ):
        return None  # NumPy's function is the op itself
    return frozen
